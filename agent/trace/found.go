package trace

import (
	"fmt"
	"strings"
	"time"
)

// FlakeFile is the certificate of a flake: FlakeData, for programs.
const FlakeFile = "flake.json"

// FlakeVersion is the version of flake.json that this program writes.
const FlakeVersion = 1

// FlakeData is the certificate of a flake: what the runs of the same files showed, and what this machine remembers of the same
// tests on them.
type FlakeData struct {
	Version int         `json:"version"`
	Tree    string      `json:"tree"` // that every run was made on
	Command string      `json:"command"`
	Runs    []FlakeRun  `json:"runs"`
	Tests   []FlakeTest `json:"tests"` // red in some runs and not in others, the check itself first; at most 50
	More    int         `json:"more"`  // further such tests
	Prior   string      `json:"prior"` // of a test's rate of failing; "" when nothing could be remembered
}

// FlakeRun is one run of the untouched root.
type FlakeRun struct {
	N          int      `json:"n"`
	Mode       string   `json:"mode"`
	Color      string   `json:"color"`
	Seed       int64    `json:"seed"` // of the tests' order; 0 is the runner's own order
	TZ         string   `json:"tz"`   // "" is the machine's
	Seconds    float64  `json:"seconds"`
	Red        []string `json:"red"`                   // ids, at most 50
	ThrownAway string   `json:"thrown_away,omitempty"` // why it does not count
	Report     string   `json:"report"`                // folder of its raw output
}

// FlakeTest is one test that differs from run to run.
type FlakeTest struct {
	ID    string    `json:"id"` // of the check itself as in "[check] unit"
	Red   []int     `json:"red"`
	Green []int     `json:"green"`
	With  string    `json:"with,omitempty"` // what its red goes with in these runs, if with anything
	Here  FlakeRate `json:"here"`
	Trees int       `json:"other_trees"` // of the same repository that it ran on before
	Mixed int       `json:"other_mixed"` // of those, on which it both failed and passed
}

// FlakeRate is how often a test failed on these very files, this job and those before, and what that says of its rate.
type FlakeRate struct {
	Runs  int     `json:"runs"`
	Fails int     `json:"fails"`
	Mean  float64 `json:"mean"` // the chance that the next run is red
	Low   float64 `json:"low"`  // 5% of the posterior lies below
	High  float64 `json:"high"` // and 5% above
}

// ReducedData is the smallest that was found to show the red.
type ReducedData struct {
	Finding string   `json:"finding"`
	Command string   `json:"command,omitempty"` // seen to show it; "" when none smaller than the check was
	Tests   int      `json:"tests"`             // that the command names
	Of      int      `json:"of"`                // that it began with
	Runs    int      `json:"runs"`              // made to find it
	Excerpt []string `json:"excerpt,omitempty"` // fewest lines of the output that are read as this finding
	Lines   int      `json:"lines"`             // that they are taken from
	Why     string   `json:"why,omitempty"`     // why it may not be the smallest
}

// BisectData says which commit turned a finding red.
type BisectData struct {
	Finding string       `json:"finding"`
	Commit  string       `json:"commit,omitempty"`  // the first that is red; "" when it was not found
	Subject string       `json:"subject,omitempty"` // of its message
	When    *time.Time   `json:"when,omitempty"`
	Left    int          `json:"left"` // commits that may be the first red one; 1 when it was found, 0 when no green one is known
	Steps   []BisectStep `json:"steps"`
	Why     string       `json:"why,omitempty"` // why it was not found
}

// BisectStep is one commit that was looked at.
type BisectStep struct {
	Commit  string  `json:"commit"`
	Color   string  `json:"color"` // red: the finding is there; green: it is not; unknown: the check could not be judged
	Seconds float64 `json:"seconds"`
	Why     string  `json:"why,omitempty"`
}

func flakeText(f FlakeData) string {
	red := 0
	for _, r := range f.Runs {
		if r.Color == "red" {
			red++
		}
	}
	text := fmt.Sprintf("red in %d of %s of the same files", red, count(len(f.Runs), "run"))
	for i, t := range f.Tests {
		if i == 3 {
			return text + "; …"
		}
		text += "; " + flakeTestText(t)
	}
	return text
}

// flakeTestText is one test's line of a certificate.
func flakeTestText(t FlakeTest) string {
	text := fmt.Sprintf("%s red in %d and green in %d", oneLine(t.ID, 120), len(t.Red), len(t.Green))
	if t.Here.Runs > 0 {
		text += fmt.Sprintf(", %s", RateText(t.Here))
	}
	if t.With != "" {
		text += ", with " + oneLine(t.With, 60)
	}
	return text
}

// RateText is a rate in words, as in "3 of 9 runs here so far: the next is red with 36% (15% to 61%)".
func RateText(r FlakeRate) string {
	return fmt.Sprintf("%d of %s so far: the next is red with %.0f%% (%.0f%% to %.0f%%)", r.Fails, count(r.Runs, "run"), 100*r.Mean, 100*r.Low, 100*r.High)
}

func reducedText(r ReducedData) string {
	text := oneLine(r.Finding, 120)
	if r.Command != "" {
		text += fmt.Sprintf(" is red with %s (%d of %s)", oneLine(r.Command, 200), r.Tests, count(r.Of, "test"))
	}
	if len(r.Excerpt) > 0 {
		text += fmt.Sprintf(", read from %d of %s", len(r.Excerpt), count(r.Lines, "line"))
	}
	if r.Why != "" {
		text += ": " + oneLine(r.Why, 200)
	}
	return text
}

// BisectText is what a bisect came to, in one sentence.
func BisectText(b BisectData) string {
	looked := count(len(b.Steps), "commit") + " looked at"
	switch {
	case b.Commit != "":
		return fmt.Sprintf("%s is the first red commit: %s (%s)", short(b.Commit), oneLine(b.Subject, 120), looked)
	case b.Left > 1:
		return fmt.Sprintf("one of %s turned it red; %s (%s)", count(b.Left, "commit"), oneLine(b.Why, 200), looked)
	}
	return fmt.Sprintf("no suspect commit: %s (%s)", oneLine(b.Why, 200), looked)
}

// writeFound adds to a summary what a job without a proof found out.
func (s *story) writeFound(b *strings.Builder) {
	if s.flake != nil {
		s.writeFlake(b, *s.flake)
	}
	if r := s.reduced; r != nil {
		b.WriteString("## The smallest that shows it\n\n")
		if r.Command != "" {
			fmt.Fprintf(b, "%s is red with %d of %s:\n\n%s\n", code(word(r.Finding)), r.Tests, count(r.Of, "test"), fence("sh", r.Command))
		}
		if len(r.Excerpt) > 0 {
			fmt.Fprintf(b, "In %d of %s of the output:\n\n%s\n", len(r.Excerpt), count(r.Lines, "line"), fence("", clipLines(visible(strings.Join(r.Excerpt, "\n")), 40)))
		}
		if r.Why != "" {
			b.WriteString(prose(r.Why) + "\n\n")
		}
	}
	if s.bisect != nil {
		fmt.Fprintf(b, "## Suspect commit\n\n%s\n\n| commit | the finding | time |\n|---|---|---|\n", prose(BisectText(*s.bisect)))
		for _, step := range s.bisect.Steps {
			fmt.Fprintf(b, "| %s | %s%s | %s |\n", short(step.Commit), colorOf(step.Color), comma(prose(oneLine(step.Why, 120))), seconds(step.Seconds))
		}
		b.WriteString("\n")
	}
}

func (s *story) writeFlake(b *strings.Builder, f FlakeData) {
	b.WriteString("## Certificate of the flake\n\n| run | colour | order | time zone | time | red |\n|---|---|---|---|---|---|\n")
	for _, r := range f.Runs {
		order, zone := "the runner's", "the machine's"
		if r.Seed != 0 {
			order = fmt.Sprintf("seed %d", r.Seed)
		}
		if r.TZ != "" {
			zone = r.TZ
		}
		fmt.Fprintf(b, "| %d %s | %s%s | %s | %s | %s | %s |\n", r.N, prose(r.Mode), colorOf(r.Color), comma(prose(oneLine(r.ThrownAway, 120))), order, prose(zone), seconds(r.Seconds), redIDs(r.Red))
	}
	b.WriteString("\n")
	for _, t := range f.Tests {
		fmt.Fprintf(b, "- %s\n", prose(flakeTestText(t)))
	}
	if f.More > 0 {
		fmt.Fprintf(b, "- … and %s more\n", count(f.More, "test"))
	}
	if f.Prior != "" {
		fmt.Fprintf(b, "\nThe chances are those of a rate under the prior %s, given all runs of these very files on this machine; in brackets 5%% and 95%% of it.\n", prose(f.Prior))
	}
	fmt.Fprintf(b, "\nFor programs: `%s`.\n\n", FlakeFile)
}

func redIDs(ids []string) string {
	const shown = 3
	var out []string
	for i, id := range ids {
		if i == shown {
			out = append(out, fmt.Sprintf("%d more", len(ids)-shown))
			break
		}
		out = append(out, code(oneLine(id, 80)))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.ReplaceAll(strings.Join(out, ", "), "|", `\|`)
}
