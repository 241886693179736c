package bot

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// DraftText is a draft's title and body, at most 60,000 characters. Without a proof there is none: both are empty.
func DraftText(s Story, c *redact.Cleaner) (title, body string) {
	if !s.proved() {
		return "", ""
	}
	d := newDraftText(s, pen{c})
	d.lead()
	d.problem()
	d.cause()
	d.change()
	d.proof()
	d.notDetermined()
	d.notTouched()
	d.made()
	d.commands()
	d.criteria()
	d.template()
	d.receipt()
	return s.title(d.pen, 120), d.String()
}

// draftText is a draft's body in the making.
type draftText struct {
	Story
	pen
	page
	r proof.Receipt
}

func newDraftText(s Story, p pen) *draftText {
	r := s.Proof.Receipt()
	r.Rungs = slices.Clone(r.Rungs)
	proof.SortRungs(r.Rungs)
	return &draftText{Story: s, pen: p, r: r}
}

func (d *draftText) lead() {
	d.add("%s was red on %s, is green with this change, and is red again without it. ", d.code(d.script(d.r.Command), 300), d.commit(d.r.Root))
	d.add("This is a draft: a person decides, and redraft never merges.\n\n")
	if d.Job.Target.Kind == ForIssue && d.Job.Target.Number > 0 {
		d.add("Fixes #%d\n\n", d.Job.Target.Number)
	}
	d.quiet()
}

// quiet says how to start what was kept from starting.
func (d *draftText) quiet() {
	if d.Quiet == "" {
		return
	}
	d.add("> **CI has not run on this draft:** %s\n>\n", sentence(d.prose(d.Quiet, 300)))
	d.add("> Read the change first. To start CI, push a commit of your own, which may be empty: `git commit --allow-empty -m \"run CI\"`. " +
		"From then on the branch is yours, and redraft adds nothing to it. " +
		"When you squash, take the line with `skip ci` out of the message.\n\n")
}

// sentence ends a text as one.
func sentence(s string) string {
	if s == "" || strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

func (d *draftText) problem() {
	d.add("### Problem\n\n")
	d.add("%s\n\n", d.whatFailed())
	d.addFindings(&d.page, d.pen)
}

// whatFailed is the check, where it was red, and the run that said so.
func (d *draftText) whatFailed() string {
	names := d.Job.Checks
	if len(names) == 0 && d.Job.Check != "" {
		names = []string{d.Job.Check}
	}
	text, is := "The check "+d.codes(names, 120, 5), "is"
	if len(names) > 1 {
		text, is = "The checks "+d.codes(names, 120, 5), "are"
	}
	if d.Job.Workflow != "" {
		text += " of " + d.code(d.Job.Workflow, 200)
	}
	text = strings.TrimSpace(text) + " " + is + " red" + d.where()
	if link := d.link(d.Job.URL); link != "" {
		text += " (" + link + ")"
	}
	return text + fmt.Sprintf(". Before anything was changed, the red was seen here in %d of %d runs:", d.r.K, d.r.K)
}

// where is the target for people.
func (d *draftText) where() string {
	t := d.Job.Target
	switch {
	case t.Kind == ForPull && t.Number > 0:
		return fmt.Sprintf(" on pull request #%d", t.Number)
	case t.Branch != "":
		return " on branch " + d.code(t.Branch, 200)
	}
	return ""
}

// codes are at most n texts as code, and how many more there are.
func (p pen) codes(all []string, length, n int) string {
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, p.code(s, length))
	}
	text := strings.Join(out, ", ")
	if len(all) > n {
		text += fmt.Sprintf(" and %d more", len(all)-n)
	}
	return text
}

// link is the red run as a link, with its host where that is not GitHub; "" when the address is none for people.
func (p pen) link(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(address) > 1000 || u.Opaque != "" || u.User != nil || u.Host == "" || p.seen(address) != address {
		return ""
	}
	ip := net.ParseIP(u.Hostname())
	local := ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && local) || !hostName.MatchString(u.Hostname()) && ip == nil {
		return ""
	}
	clean := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: u.RawQuery, Fragment: u.Fragment}).String()
	clean = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C", "`", "%60", "|", "%7C", "*", "%2A", "_", "%5F", "~", "%7E",
		"[", "%5B", "]", "%5D", `"`, "%22", " ", "%20").Replace(clean)
	if u.Hostname() == "github.com" || local {
		return "[red run](" + clean + ")"
	}
	return "[red run at " + u.Hostname() + "](" + clean + ")"
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

func (d *draftText) change() {
	d.add("### Change\n\n")
	stats := diffStats(d.Proof.Diff())
	files := d.Proof.Change().Files
	plus, minus := 0, 0
	for _, st := range stats {
		plus, minus = plus+st.plus, minus+st.minus
	}
	d.add("%s, %s: risk class %s.\n\n", counted(len(files), "file"), signed(plus, minus), d.risk())
	for i, f := range files {
		if i == filesShown {
			d.add("- … and %s more\n", counted(len(files)-i, "file"))
			break
		}
		d.add("- %s%s%s\n", d.code(f.Path, 200), nth(stats, i, len(files)), fate(f.Created, f.Deleted))
	}
	d.add("\n")
	diff := still(d.seen(string(d.Proof.Diff())))
	if strings.Count(diff, "\n") <= shortDiff && len(diff) <= 4000 {
		d.add("%s\n", redact.FenceAs("diff", diff))
		return
	}
	d.fold("The diff, "+counted(strings.Count(diff, "\n"), "line"), "diff", diff)
}

const (
	filesShown = 20
	shortDiff  = 30 // lines that need no folding
)

var risks = map[string]string{
	"R0": "R0, configuration or text, no source",
	"R1": "R1, a small change of source",
	"R2": "R2, public API, dependencies, migrations, or a large change",
	"R3": "R3, tests, build or CI configuration",
}

func (d *draftText) risk() string {
	if text, ok := risks[d.r.Risk]; ok {
		return text
	}
	return "not stated"
}

func signed(plus, minus int) string { return fmt.Sprintf("+%d −%d", plus, minus) }

func nth(stats []diffStat, i, files int) string {
	if len(stats) != files {
		return ""
	}
	return " " + signed(stats[i].plus, stats[i].minus)
}

func fate(created, deleted bool) string {
	switch {
	case created:
		return ", new"
	case deleted:
		return ", deleted"
	}
	return ""
}

// diffStat is how many lines one file of a diff gains and loses.
type diffStat struct{ plus, minus int }

var hunk = regexp.MustCompile(`^@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@`)

// diffStats counts a diff's lines, one entry a file. It trusts a hunk's head for where the hunk ends, since a line of a
// file may look like a head.
func diffStats(diff []byte) (all []diffStat) {
	before, after := 0, 0 // lines of the hunk still to come, old and new
	for l := range bytes.Lines(diff) {
		switch m := hunk.FindSubmatch(l); {
		case before+after == 0 && bytes.HasPrefix(l, []byte("diff --git ")):
			all = append(all, diffStat{})
		case before+after == 0 && m != nil:
			before, after = lineCount(m[1]), lineCount(m[2])
		case before+after == 0 || len(all) == 0:
		case l[0] == '+':
			after--
			all[len(all)-1].plus++
		case l[0] == '-':
			before--
			all[len(all)-1].minus++
		case l[0] != '\\':
			before, after = before-1, after-1
		}
	}
	return all
}

// lineCount is a number of a hunk's head, 1 where it is left out.
func lineCount(b []byte) int {
	if b == nil {
		return 1
	}
	n, _ := strconv.Atoi(string(b))
	return n
}

// shows says what each rung shows. The ids are those of proof.Receipt.
var shows = map[string]string{
	"D0": "green as configured, in every run",
	"D1": "what was red is seen passing, nothing else got worse",
	"D2": "tests and runner files are the root's",
	"D3": "canary tests behave",
	"D4": "the diff plays no tricks",
	"D5": "as many tests and about as long as before",
	"D6": "repeats in fresh copies, in other orders",
	"D7": "changed asserts turn red",
	"DR": "red again without the change",
	"DS": "the other checks are no worse",
}

func (d *draftText) proof() {
	d.add("### Proof\n\n")
	d.add("| command | %s |\n|---|---|\n", d.cell(d.script(d.r.Command), 200))
	if step := d.step(d.pen); step != "" {
		d.add("| the step that failed | %s |\n", step)
	}
	d.add("| on the root | red ×%d |\n| with the change | green ×%d |\n| with the change taken away | %s |\n", d.r.K, d.r.K+1, d.redAgain())
	d.add("| all tests | %s |\n| oracle, as in the root | `%s` |\n\n", d.delta(), hex12(d.r.Oracle))
	d.add("Recomputed from the raw reports and the root's own files, by a process that runs no code of this repository:\n\n")
	d.add("| rung | shows | seen |\n|---|---|---|\n")
	n := 0
	for _, r := range d.r.Rungs {
		if r.Status == proof.Held && n < rungsShown {
			d.add("| %s | %s | %s |\n", word(r.ID), shows[r.ID], d.prose(r.Text, 200))
			n++
		}
	}
	d.add("\n")
}

const rungsShown = 12

// redAgain is the rung of the change taken away.
func (d *draftText) redAgain() string {
	if slices.ContainsFunc(d.r.Rungs, func(r proof.Rung) bool { return r.ID == "DR" && r.Status == proof.Held }) {
		return "red"
	}
	return "not evaluated"
}

// delta is what became of all tests from the root to the change.
func (d *draftText) delta() string {
	see, confirm := d.verdict("see"), d.verdict("confirm")
	switch {
	case !d.r.Trusted:
		return "exit status only"
	case see == nil || confirm == nil:
		return "not recorded"
	}
	return fmt.Sprintf("passed %d → %d, red %d → %d, skipped %d → %d", see.Passed, confirm.Passed,
		len(see.Findings), len(confirm.Findings), see.Skipped, confirm.Skipped)
}

var hexDigits = regexp.MustCompile(`^[0-9a-f]{12,}$`)

// hex12 is the first digits of a hash, "none" if it is no hash.
func hex12(s string) string {
	if hexDigits.MatchString(s) {
		return s[:12]
	}
	return "none"
}

func (d *draftText) notDetermined() {
	d.add("### Not determined\n\n")
	d.add("- Whether this is the change you want: the proof says that the check is green, and that the tests are the root's.\n")
	n := 0
	for _, r := range d.r.Rungs {
		if r.Status != proof.Held && n < rungsShown {
			d.add("- %s, %s\n", word(r.ID), d.prose(r.Text, 200))
			n++
		}
	}
	if d.r.Natural {
		d.add("- Other orders and time zones: there the root gave other results, so only the runner's own order counts\n")
	}
	if v := d.verdict("see"); v != nil && len(v.Unstable) > 0 {
		d.add("- Tests that were red in some runs of the root only, and are no part of the claim: %s\n", d.codes(v.Unstable, 120, 5))
	}
	d.add("\n")
}

func nonempty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (d *draftText) notTouched() {
	d.add("### Not touched\n\nTests and their data, workflows, lockfiles, runner configuration and the check's own scripts are the root's, " +
		"byte for byte (D2), but for what the default branch's configuration opens by name.\n\n")
}

func (d *draftText) made() {
	d.add("### How it was made\n\n- Proposed by %s\n", d.proposedBy())
	d.add("- %s\n", spent(d.Status))
	d.add("- Egress: %s\n", d.egress())
	d.add("- The check ran in the sandbox %s%s\n", d.code(d.r.Tier, 40), d.gaps())
	where := "stays on the machine that made it"
	if d.Artifact {
		where = "is an artifact of the workflow's run"
	}
	d.add("- Job %s: its evidence %s\n\n", d.code(d.run(), 120), where)
}

func (d *draftText) proposedBy() string {
	m := d.model()
	if m == nil {
		if d.r.By == "mechanic" {
			return "the mechanic, which searches small edits; no model's text is in this change"
		}
		return d.code(d.r.By, 120)
	}
	text := fmt.Sprintf("the %s model %s", word(m.Tier), d.code(m.Model, 160))
	if q := quantisation.FindStringSubmatch(m.Model); q != nil {
		text += ", quantised " + d.code(q[1], 20)
	}
	if u, err := url.Parse(m.BaseURL); err == nil && u.Host != "" {
		text += ", served at " + d.code(u.Host, 120)
	}
	return text
}

// quantisation is how the ids of local models spell it: Q4_K_M, IQ3_XS, 4bit, FP16, AWQ.
var quantisation = regexp.MustCompile(`(?i)(?:^|[-_.:/@])(i?q[1-8](?:_[0-9a-z]{1,3})*|[2-8]-?bit|fp16|bf16|f16|fp8|int[48]|mxfp4|awq|gptq)(?:$|[-_.:/@])`)

// spent is what a job took.
func spent(st trace.Status) string {
	u := st.Usage
	var parts []string
	for _, p := range []struct {
		n          int
		noun, done string
	}{
		{u.Turns, "turn", ""}, {u.Candidates, "small edit", " tried"}, {u.Patches, "change", " judged"},
		{u.Slips, "answer", " that could not be landed"}, {u.Runs, "run", " of checks"},
	} {
		if p.n > 0 {
			parts = append(parts, counted(p.n, p.noun)+p.done)
		}
	}
	parts = append(parts, fmt.Sprintf("%.1f minutes", max(0, min(st.Timings.Seconds, 1e7))/60))
	if u.PromptTokens+u.OutputTokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens read, %d of them cached, and %d written", u.PromptTokens, u.CachedTokens, u.OutputTokens))
	}
	return strings.Join(parts, ", ")
}

func (d *draftText) egress() string {
	text := d.asked()
	if tried := d.Status.Egress.Tried; len(tried) > 0 {
		var all []string
		for _, r := range tried[:min(len(tried), 5)] {
			all = append(all, fmt.Sprintf("%s ×%d", r.To, r.N))
		}
		text += "; commands in the jail tried to reach " + d.codes(all, 60, 5) + ", and were refused"
	}
	return text
}

// asked says where models were asked.
func (d *draftText) asked() string {
	switch e := d.Status.Egress; e.Level {
	case "none", "":
		return "none; no model was asked"
	case "loopback":
		return "none; models were asked on this machine alone (" + d.codes(e.Hosts, 120, 5) + ")"
	default:
		return "**models were asked at " + d.codes(e.Hosts, 120, 5) + "**, as the operator's own file says"
	}
}

func (d *draftText) gaps() string {
	if len(d.r.Gaps) == 0 {
		return ", without secrets, history or a route out"
	}
	var all []string
	for _, g := range d.r.Gaps[:min(5, len(d.r.Gaps))] {
		all = append(all, strings.TrimSuffix(d.prose(g, 300), "."))
	}
	return ", whose gaps are: " + strings.Join(all, "; ")
}

func (d *draftText) commands() {
	d.add("### What you can say\n\n" + sayings)
	if !d.Workflow {
		d.add(sayStop)
	}
	d.add("- Close this draft to say no: this failure is never answered with a draft again\n\n")
}

// sayings are the commands of people, as a list.
const sayings = "- `/redraft retry` and up to 200 characters of advice: try again (the advice goes to the model as data)\n" +
	"- `/redraft explain`: say again how the last job ended\n"

const sayStop = "- `/redraft stop`: end the job under way\n"

const criteriaShown = 12

func (d *draftText) criteria() {
	if len(d.Criteria) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("### For a person to check\n\nFrom the issue. redraft checked none of these:\n\n")
	for i, c := range d.Criteria {
		if i == criteriaShown {
			fmt.Fprintf(&b, "- [ ] … and %d more, in the issue\n", len(d.Criteria)-i)
			break
		}
		fmt.Fprintf(&b, "- [ ] %s\n", nonempty(d.prose(listMark.ReplaceAllString(d.line(c, 200), ""), 200), "(empty)"))
	}
	d.maybe(b.String() + "\n")
}

// listMark is what makes an item of a text.
var listMark = regexp.MustCompile(`^(?:[-+*]|[0-9]{1,9}[.)])?\s*(?:\[[ xX]\]\s*)?`)

const templateLimit = 8000

// template is the default branch's own text: only its length is bounded, and what it leaves open is closed.
func (d *draftText) template() {
	text := strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(d.Template, "\r\n", "\n"), "\uFFFD"))
	if text == "" {
		return
	}
	d.maybe("---\n\n" + closed(redact.Clip(d.clean.Text(text), templateLimit)) + "\n\n---\n\n")
}

// closed ends what a text leaves open, so that what stands after it is read as it is meant: a comment, a fence, folded
// parts.
func closed(text string) string {
	fence, comment, folds := "", false, 0
	for _, l := range lines(text) {
		mark := strings.TrimLeft(l, " ")
		run := len(mark) - len(strings.TrimLeft(mark, mark[:min(1, len(mark))]))
		ticks := run >= 3 && (mark[0] == '`' && !strings.Contains(mark[run:], "`") || mark[0] == '~')
		switch {
		case comment:
			comment = !strings.Contains(l, "-->")
		case fence != "":
			if ticks && strings.HasPrefix(mark, fence) && strings.TrimSpace(mark[run:]) == "" {
				fence = ""
			}
		case ticks:
			fence = mark[:run]
		default:
			comment = strings.LastIndex(l, "<!--") > strings.LastIndex(l, "-->")
			l = strings.ToLower(l)
			folds = max(0, folds+strings.Count(l, "<details")-strings.Count(l, "</details"))
		}
	}
	switch {
	case comment:
		text += "\n-->"
	case fence != "":
		text += "\n" + fence
	}
	return text + strings.Repeat("\n\n</details>", folds)
}

func (d *draftText) receipt() {
	how := "on the machine that has the evidence of this job"
	if d.Artifact {
		how = "download the artifact of the workflow's run, and give the folder of this job"
	}
	d.add("Receipt `sha256:%s`. To check it, %s: `redraft verify DIR`\n\n", d.Proof.ReceiptSum(), how)
	d.add("%s\n", d.Markers(d.clean))
}
