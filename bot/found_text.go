package bot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/trace"
)

const flakesShown = 10

// tellFlake is the certificate of a flake: what differed from run to run, and what this machine remembers of the same files.
func (s Story) tellFlake(g *page, p pen, f trace.FlakeData) {
	for i, t := range f.Tests {
		if i == flakesShown {
			g.add("- … %s more\n", counted(len(f.Tests)-i+f.More, "test"))
			break
		}
		what := fmt.Sprintf("- %s: red in %s, green in %s", p.code(t.ID, 160), inRuns(t.Red), inRuns(t.Green))
		if t.With != "" {
			what += "; red with " + p.talk(t.With, 100)
		}
		if t.Here.Runs > 0 {
			what += "; on these files " + trace.RateText(t.Here)
		}
		g.add("%s\n", what)
	}
	g.add("\n")
	var b strings.Builder
	for _, r := range f.Runs {
		order, zone := "the runner's own order", "this machine's time zone"
		if r.Seed != 0 {
			order = "order " + strconv.FormatInt(r.Seed, 10)
		}
		if r.TZ != "" {
			zone = p.line(r.TZ, 40)
		}
		fmt.Fprintf(&b, "run %d, %s: %s, %s, %s, %.1f s\n", r.N, p.line(r.Mode, 20), word(r.Color), order, zone, r.Seconds)
	}
	g.fold("The runs", "", b.String())
	if f.Prior != "" {
		g.add("The chances are of a rate under the prior %s, given every run of these very files on this machine; in brackets 5%% and 95%% of it.\n\n", p.code(f.Prior, 40))
	}
}

// inRuns is the numbers of runs, as in "runs 1 and 3".
func inRuns(all []int) string {
	switch len(all) {
	case 0:
		return "none"
	case 1:
		return fmt.Sprintf("run %d", all[0])
	}
	var out []string
	for _, n := range all[:min(len(all), 10)] {
		out = append(out, strconv.Itoa(n))
	}
	if len(all) > 10 {
		return "runs " + strings.Join(out, ", ") + " and more"
	}
	return "runs " + strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// tellFound is the smallest output that shows the red, and the commit that is suspected of it.
func (s Story) tellFound(g *page, p pen) {
	if r := s.Status.Reduced; r != nil && len(r.Excerpt) > 0 {
		g.add("What shows it, %d of %s of the output:\n\n%s\n", len(r.Excerpt), counted(r.Lines, "line"), p.fence("", strings.Join(r.Excerpt, "\n"), 3000))
	}
	b := s.Status.Bisect
	switch {
	case b == nil:
	case b.Commit != "":
		g.add("Suspect: %s, %s, is the first commit on which it is red (%s looked at).\n\n", p.commit(b.Commit), p.code(b.Subject, 120), counted(len(b.Steps), "commit"))
	case b.Left > 1:
		g.add("Suspect: one of %s turned it red; %s (%s looked at).\n\n", counted(b.Left, "commit"), p.prose(b.Why, 200), counted(len(b.Steps), "commit"))
	default:
		g.add("No commit is suspected: %s (%s looked at).\n\n", p.prose(b.Why, 200), counted(len(b.Steps), "commit"))
	}
}
