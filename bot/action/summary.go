package action

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
)

// longestSummary is what GitHub takes of one step's summary.
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions#step-isolation-and-limits
const longestSummary = 1 << 20

// Setting is one value that counted, and who said it.
type Setting struct{ Name, Value, From string }

// summarise adds the run's page to the job's summary.
func (r *Run) summarise(res Result) error {
	name := r.getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return errors.New("GITHUB_STEP_SUMMARY is not set")
	}
	var have int64
	if info, err := os.Stat(name); err == nil {
		have = info.Size()
	}
	text := r.page(res)
	if have+int64(len(text)) >= longestSummary {
		return fmt.Errorf("it has %d bytes already, and GitHub takes %d", have, longestSummary)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file("step-summary", text)
}

// page is the run as Markdown. The texts of the jobs come from bot, clean as they are for a check run.
func (r *Run) page(res Result) string {
	var b strings.Builder
	if res.Skip != "" {
		fmt.Fprintf(&b, "## redraft: no job began\n\n`%s`: %s\n\n", res.Skip, r.clean.Markdown(sentence(res.Text)))
	}
	if r.In.DryRun && res.Skip == "" {
		b.WriteString("## redraft: a dry run\n\n")
		for _, j := range res.Jobs {
			fmt.Fprintf(&b, "- a job for %s at `%.12s` would begin: %s\n", r.clean.Markdown(j.Target.String()), j.Root, r.clean.Markdown(redact.Clip(strings.Join(j.Checks, ", "), 500)))
		}
		b.WriteString("\n")
	}
	for _, e := range res.Ends {
		fmt.Fprintf(&b, "## redraft: %s\n\n", r.clean.Markdown(redact.Clip(e.Check.Title, 300)))
		if e.Draft != nil {
			fmt.Fprintf(&b, "[Draft #%d](%s), on branch `%s`.\n\n", e.Draft.Number, e.Draft.URL, e.Draft.Branch)
		}
		b.WriteString(strings.TrimSpace(redact.Clip(e.Check.Summary, 65_000)) + "\n\n")
	}
	b.WriteString("<details>\n<summary>What counted, and who said it</summary>\n\n| setting | value | from |\n|---|---|---|\n")
	for _, s := range r.settings() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Name, r.cell(s.Value), s.From)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// cell is a value in a table.
func (r *Run) cell(s string) string {
	s = strings.Join(strings.Fields(redact.Clip(r.clean.Terminal(s), 500)), " ")
	if s == "" {
		return "none"
	}
	return strings.ReplaceAll(r.clean.Markdown(s), "|", "\\|")
}

const (
	fromInput = "the workflow's input"
	fromFile  = "`" + plan.FileName + "`"
	fromOwner = "the runner's configuration"
	byDefault = "default"
)

// settings are the values that counted: inputs over the default branch's configuration, both below the runner's own.
func (r *Run) settings() []Setting {
	in, f := r.In, r.policy
	all := []Setting{
		{"mode", in.Mode + map[bool]string{true: ", dry run"}[in.DryRun], from(in.Mode != "auto" || in.DryRun, fromInput, byDefault)},
		{"check", cmp.Or(in.Check, checksOf(f)), from(in.Check != "", fromInput, from(len(f.Checks) > 0, fromFile, "found in the repository"))},
		{"setup commands", strings.Join(in.Over(f).Setup, "; "), from(len(in.Setup) > 0, fromInput, from(len(f.Setup) > 0, fromFile, byDefault))},
		{"branch prefix", cmp.Or(in.Prefix, f.Publish.BranchPrefix, "redraft/"), from(in.Prefix != "", fromInput, from(f.Publish.BranchPrefix != "", fromFile, byDefault))},
		{"labels of the draft", strings.Join(in.Over(f).Publish.Labels, ", "), from(len(in.Labels) > 0, fromInput, from(len(f.Publish.Labels) > 0, fromFile, byDefault))},
	}
	result := r.Bot.Operator.Limits.Under(in.Over(f).Limits)
	for _, l := range []struct {
		name                       string
		input, file, owner, result int
	}{
		{"turns", in.Turns, f.Limits.Turns, r.Owner.Turns, result.Turns}, {"minutes", in.Minutes, f.Limits.Minutes, r.Owner.Minutes, result.Minutes},
		{"files", 0, f.Limits.Files, r.Owner.Files, result.Files}, {"lines", 0, f.Limits.Lines, r.Owner.Lines, result.Lines},
		{"open drafts", 0, f.Limits.OpenDrafts, r.Owner.OpenDrafts, result.OpenDrafts}, {"drafts a day", 0, f.Limits.PerDay, r.Owner.PerDay, result.PerDay},
	} {
		who := byDefault // of those who say the number that counts, whoever has the most to say
		switch l.result {
		case l.owner:
			who = fromOwner
		case l.file:
			who = fromFile
		case l.input:
			who = fromInput
		}
		all = append(all, Setting{l.name, fmt.Sprint(l.result), who})
	}
	return append(append(all, r.models()...), r.Settings...)
}

func from(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func checksOf(f plan.File) string {
	var all []string
	for _, c := range f.Checks {
		all = append(all, c.ID+": "+c.Run)
	}
	return strings.Join(all, "; ")
}

// models are what was asked for by name, else what the runner has.
func (r *Run) models() (all []Setting) {
	f := r.In.Over(r.policy)
	for tier, name := range map[string]string{"small": f.Small, "big": f.Big} {
		if name != "" {
			all = append(all, Setting{tier + " model", name, from(name == r.In.Model || name == r.In.Big, fromInput, fromFile)})
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, m := range r.Bot.Repair.Models {
		all = append(all, Setting{m.Tier + " model", cmp.Or(m.Name, m.Model), fromOwner})
	}
	if len(all) == 0 {
		all = []Setting{{"models", "whatever answers on the runner", byDefault}}
	}
	return all
}
