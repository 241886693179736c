package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/queue"
)

// Story is what every text about a job is written from. All strings in it are strangers' texts until a cleaner saw them.
type Story struct {
	Job      Job
	State    queue.State   // how far the job is; if "", it is under way until Status has a stop
	Status   trace.Status  // of the evidence
	Events   []trace.Event // the lines that Status was made of; without them no cause is told, and no try one by one
	Proof    *proof.Proof  // nil without one
	Template string        // the repository's pull request template, "" if none
	Criteria []string      // acceptance criteria and out-of-scope lines of the issue, as a person's checklist
	Quiet    string        // why the commit was pushed so that the draft's own CI does not start, and "" when it does
	Draft    *Draft        // the draft that was opened or stands, nil without one
	Evidence string        // where the operator finds it: the job's id, never a path
	Artifact bool          // the evidence lies in the artifacts of a workflow's run
	Workflow bool          // the job is part of a workflow's run, which no comment can end
}

// ended says whether the job came to its end, whatever came of it.
func (s Story) ended() bool {
	return s.State == queue.Closed || s.State == "" && s.Status.Stop != nil
}

// proved says whether there is a proof of the job, and not only somebody's word.
func (s Story) proved() bool { return s.Proof.Valid() }

// stop is the job's end; its zero means that none was written.
func (s Story) stop() trace.Stop {
	if s.Status.Stop == nil {
		return trace.Stop{}
	}
	return *s.Status.Stop
}

// verdict is the last verdict of a phase, nil if there is none.
func (s Story) verdict(phase string) *trace.VerdictData {
	for i := len(s.Status.Verdicts) - 1; i >= 0; i-- {
		if v := &s.Status.Verdicts[i].VerdictData; v.Phase == phase {
			return v
		}
	}
	return nil
}

// findings are what was red on the root: with a proof those of its claim alone, the strongest first.
func (s Story) findings() []trace.Finding {
	v := s.verdict("see")
	if v == nil {
		return nil
	}
	if !s.proved() || !s.Proof.Receipt().Trusted {
		return v.Findings
	}
	claim := s.Proof.Receipt().Findings
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f trace.Finding) bool { return !slices.Contains(claim, f.ID) })
}

// command is the check that the job is about: the receipt's, else the one that the plan marks; ok is false when neither says.
func (s Story) command() (run, dir string, ok bool) {
	if s.proved() {
		r := s.Proof.Receipt()
		return r.Command, r.Dir, true
	}
	for _, c := range s.Status.Commands {
		if c.Red {
			return c.Run, c.Dir, true
		}
	}
	return "", "", false
}

// run is the job's id: the receipt's, else the evidence's.
func (s Story) run() string {
	switch {
	case s.proved() && s.Proof.Receipt().Job != "":
		return s.Proof.Receipt().Job
	case s.Status.Job != nil:
		return *s.Status.Job
	}
	return s.Evidence
}

// Fingerprint names a failure: sha256 hex over the command, its folder and the sorted findings. A person who closes a draft
// says no to it.
func Fingerprint(r proof.Receipt) string {
	dir := r.Dir
	if dir == "" {
		dir = "."
	}
	b, _ := json.Marshal(append([]string{r.Command, dir}, slices.Sorted(slices.Values(r.Findings))...)) // strings alone: no error
	return digest(b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

const (
	defaultPrefix = "redraft/"
	slugLength    = 40
)

// Branch is the one branch of a job's target, as in "redraft/pull-7" or "redraft/branch-main-unit". Two targets never share
// a name: where the words alone could be another target's too, six digits of a hash follow them.
func Branch(j Job, prefix string) string {
	if prefix == "" {
		prefix = defaultPrefix
	}
	if j.Target.Kind != ForBranch {
		return fmt.Sprintf("%s%s-%d", prefix, j.Target.Kind, j.Target.Number)
	}
	what, plain := workflowSlug(j)
	branch := slug(j.Target.Branch)
	name := prefix + "branch-" + branch + "-" + what
	if plain && branch == j.Target.Branch {
		return name
	}
	which := []string{j.Target.Branch, j.Workflow}
	if j.Workflow == "" {
		which = append(which, j.Check)
	}
	b, _ := json.Marshal(which) // strings alone: no error
	return name + "-" + digest(b)[:6]
}

// hashLike is what the end of a name with a hash looks like.
var hashLike = regexp.MustCompile(`^[0-9a-f]{6}$`)

// workflowSlug names the workflow or check of a job; plain says that no other workflow has this name. A hyphen in it would
// leave open where the branch's name ends.
func workflowSlug(j Job) (what string, plain bool) {
	if j.Workflow == "" {
		if j.Check == "" {
			return "check", false
		}
		return slug(j.Check), false
	}
	base := j.Workflow[strings.LastIndex(j.Workflow, "/")+1:]
	what = slug(strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml"))
	return what, j.Workflow == ".github/workflows/"+what+".yml" && !strings.Contains(what, "-") && !hashLike.MatchString(what)
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a text in lower case letters, digits and single hyphens, at most 40 of them: any part of a branch's name may
// be one. https://git-scm.com/docs/git-check-ref-format
func slug(s string) string {
	if len(s) > 4*slugLength {
		s = s[:4*slugLength]
	}
	s = strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if len(s) > slugLength {
		s = strings.Trim(s[:slugLength], "-")
	}
	if s == "" {
		return "x"
	}
	return s
}

// pen writes strangers' texts for one reader each: prose and code of Markdown, a fenced block, a commit or a title.
type pen struct{ clean *redact.Cleaner }

// enough is how much of one text is looked at: more than any text shows of it.
const enough = 256 << 10

// seen is a text without secrets, controls and what is hidden.
func (p pen) seen(s string) string {
	if len(s) > enough {
		s = redact.Clip(s, enough)
	}
	return p.clean.Terminal(s)
}

// line is a text on one line of at most n bytes.
func (p pen) line(s string, n int) string {
	s = strings.Join(strings.Fields(p.seen(s)), " ")
	if len(s) <= n {
		return s
	}
	n = max(0, n-len("…"))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " ") + "…"
}

// prose is a text as plain words of Markdown, without anything live in it.
func (p pen) prose(s string, n int) string { return p.clean.Markdown(p.line(s, n)) }

// talk is prose whose code stays code: what stands between two ticks of the text.
func (p pen) talk(s string, n int) string {
	pieces := strings.Split(p.line(s, n), "`")
	if len(pieces)%2 == 0 {
		return p.prose(s, n) // one tick has no other
	}
	text := ""
	for i, piece := range pieces {
		switch {
		case i%2 == 0:
			piece = p.clean.Markdown(piece)
		case strings.TrimSpace(piece) != "":
			piece = p.code(piece, n)
		}
		if strings.HasSuffix(text, "`") && strings.HasPrefix(piece, "`") {
			text += " " // two pieces of code that touch would be one
		}
		text += piece
	}
	return text
}

// htmlLike is what readers of Markdown, and programs that only look for it, might take for markup of ours.
var htmlLike = regexp.MustCompile(`(?i)<(!--|!\[|/?\s*(?:details|summary))`)

// still parts what looks like markup even inside code, where it is none.
func still(s string) string { return htmlLike.ReplaceAllString(s, "< $1") }

// code is a text as a code span that it cannot leave, "(empty)" if there is none.
func (p pen) code(s string, n int) string {
	s = still(p.line(s, n))
	if s == "" {
		return "(empty)"
	}
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// cell is code within a table's row. https://github.github.com/gfm/#tables-extension-
func (p pen) cell(s string, n int) string {
	return strings.NewReplacer(`\|`, `\ \|`, `|`, `\|`).Replace(p.code(s, n))
}

// script is a command on one line.
func (p pen) script(s string) string { return strings.Join(lines(strings.TrimSpace(p.seen(s))), " ; ") }

// fence is a text as a fenced block of at most n bytes.
func (p pen) fence(language, s string, n int) string {
	return redact.FenceAs(language, redact.Clip(still(p.seen(s)), n))
}

// bareWords are what GitHub acts on in commits and titles, where there is no code to hide them in: mentions, references and
// addresses, which closing keywords need, and the markers that keep CI from starting.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
// https://docs.github.com/en/actions/managing-workflow-runs/skipping-workflow-runs
var bareWords = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`@([A-Za-z0-9])`), "@ $1"},
	{regexp.MustCompile(`#([0-9])`), "# $1"},
	{regexp.MustCompile(`(?i)\b(gh)-([0-9])`), "$1 $2"},
	{regexp.MustCompile(`://`), ": //"},
	{regexp.MustCompile(`(?i)\[([^\[\]]{0,40}\b(?:skip|no|ci)\b[^\[\]]{0,40})\]`), "($1)"},
	{regexp.MustCompile(`(?i)skip-checks`), "skip checks"},
}

// bare is a text on one line of at most n bytes that GitHub does nothing with, wherever it stands.
func (p pen) bare(s string, n int) string {
	s = still(p.line(s, n))
	for _, w := range bareWords {
		s = w.find.ReplaceAllString(s, w.with)
	}
	return s
}

var commitID = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// commit is a commit's id, short, which GitHub makes a link of; code if it is none.
func (p pen) commit(sha string) string {
	if commitID.MatchString(sha) {
		return sha[:12]
	}
	return p.code(sha, 40)
}

const unknown = "unknown"

var oneWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,30}$`)

// word is one of the words that this program has for kinds, classes, colours, tiers and rungs, with blanks for underscores;
// "unknown" is any other text.
func word(s string) string {
	if !oneWord.MatchString(s) {
		return unknown
	}
	return strings.ReplaceAll(s, "_", " ")
}

// lines are a text's lines, without the last line end.
func lines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// counted is a number with its noun: "1 line", "3 lines".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
