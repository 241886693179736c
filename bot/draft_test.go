package bot

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

const cart = `package cart

// Total is the sum of all prices.
func Total(prices []int) int {
	total := 0
	for i := 1; i < len(prices); i++ {
		total += prices[i]
	}
	return total
}
`

// mechanicStory: the mechanic repaired a test that is red on branch main.
func mechanicStory(t *testing.T) Story {
	p := prove(t, claim{
		command: "go test ./...", dir: ".", pkg: "example.com/shop/cart", red: []string{"example.com/shop/cart.TestTotal"},
		file: "cart/cart.go", old: cart, new: strings.Replace(cart, "i := 1", "i := 0", 1), by: "mechanic",
	})
	s := &script{}
	s.begin("go test ./...", ".")
	s.runs("see", 4)
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "red", Class: "assertion", Passed: 1, Skipped: 1, Command: "go test -run '^(TestTotal)$' ./cart",
		Findings: []trace.Finding{{ID: "example.com/shop/cart.TestTotal", Kind: "test", Status: "fail", File: "cart/cart_test.go", Line: 31, Got: "90", Want: "100", Message: "Total() = 90, want 100"}}})
	s.add(0, trace.TypeCandidate, trace.CandidateData{Edit: "compare", File: "cart/cart.go", Line: 6, Score: 0.8, Got: "red"})
	s.add(0, trace.TypeCandidate, trace.CandidateData{Edit: "constant", File: "cart/cart.go", Line: 6, Score: 0.7, Got: "green"})
	s.add(0, trace.TypePatch, trace.PatchData{By: "mechanic", Diff: string(p.Diff()), Tree: p.Receipt().Tree, Why: `constant at cart/cart.go:6: "1" becomes "0"`})
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "judge", Color: "green", Passed: 2, Skipped: 1})
	s.runs("confirm", 4)
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "confirm", Color: "green", Passed: 2, Skipped: 1})
	s.add(0, trace.TypeStop, trace.Stop{Reason: trace.Fixed, Text: "`go test ./...` was red 3x and is green 4x with the change."})
	return s.tell(Story{Proof: p, Evidence: "20261129-090000-cafe", Job: Job{
		Key: "4242/branch/main/.github/workflows/ci.yml", Repo: Repo{ID: 4242, Owner: "acme", Name: "shop"}, Target: Target{Kind: ForBranch, Branch: "main"},
		Root: rootSHA, Base: baseSHA, Workflow: ".github/workflows/ci.yml", Checks: []string{"unit"}, URL: redRun, Trigger: "check_run",
	}})
}

const parser = `package parse

import "strings"

// Pair splits a line at its first equals sign.
func Pair(line string) (key, value string) {
	i := strings.Index(line, "=")
	return line[:i], line[i+1:]
}
`

const repaired = `package parse

import "strings"

// Pair splits a line at its first equals sign; a line without one is a key.
func Pair(line string) (key, value string) {
	i := strings.Index(line, "=")
	if i < 0 {
		return strings.TrimSpace(line), ""
	}
	key = strings.TrimSpace(line[:i])
	value = strings.TrimSpace(line[i+1:])
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	return key, value
}

// Pairs are all pairs of a text, without its blank lines and comments.
func Pairs(text string) map[string]string {
	pairs := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value := Pair(line)
		pairs[key] = value
	}
	return pairs
}
`

// modelStory: a model repaired several tests of a pull request, at the third try.
func modelStory(t *testing.T) Story {
	pkg := "example.com/shop/parse"
	p := prove(t, claim{
		command: "go test -race ./...", dir: ".", pkg: pkg, red: []string{pkg + ".TestPair", pkg + ".TestPair/no_sign", pkg + ".TestPair/quoted", pkg + ".TestPairs"},
		file: "parse/parse.go", old: parser, new: repaired, by: "small",
	})
	s := &script{}
	s.begin("go test -race ./...", ".")
	s.runs("see", 4)
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "red", Class: "panic", Passed: 1, Skipped: 1, Command: "go test -run '^(TestPair|TestPairs)$' ./parse",
		Unstable: []string{pkg + ".TestClock"},
		Findings: []trace.Finding{
			{ID: pkg + ".TestPair/no_sign", Kind: "test", Status: "error", File: "parse/parse.go", Line: 8, Message: panicText},
			{ID: pkg + ".TestPair/quoted", Kind: "test", Status: "fail", File: "parse/parse_test.go", Line: 24, Got: `"\"a b\""`, Want: `"a b"`},
			{ID: pkg + ".TestPairs", Kind: "test", Status: "fail", File: "parse/parse_test.go", Line: 41, Got: "map[a:1\n  b: 2]", Want: "map[a:1\n  b:2]"},
			{ID: pkg + ".TestClock", Kind: "test", Status: "fail", File: "parse/clock_test.go", Line: 3},
		}})
	const model, base = "qwen2.5-coder-7b-instruct-q4_k_m", "http://127.0.0.1:8080/v1"
	s.ask(1, "small", model, base, "The test is wrong.\n\n# edit: parse/parse_test.go :: TestPair\n```go\n```\n")
	s.add(1, trace.TypeSlip, trace.SlipData{Code: "protected", File: "parse/parse_test.go", Text: "It is a test."})
	s.ask(2, "small", model, base, "An index of -1.\n```go\n# edit: parse/parse.go :: Pair\n```\n")
	s.add(2, trace.TypePatch, trace.PatchData{By: "small", Tree: "77", Landings: []string{"parse/parse.go Pair L6-L9 [2 of 4 lines rewritten]"}, Why: "parse/parse.go Pair L6-L9 [2 of 4 lines rewritten]"})
	s.add(2, trace.TypeVerdict, trace.VerdictData{Phase: "cheap", Color: "red", Findings: []trace.Finding{{ID: pkg + ".TestPair/quoted", Got: `"\"a b\""`}}})
	s.ask(3, "small", model, base, "`strings.Index` gives -1 when the line has no `=`, and slicing with it panics. Values are not trimmed either. "+
		"Quotes stay in the value. A fourth sentence is one too many.\n\n```go\n# edit: parse/parse.go :: Pair\n…\n```\n")
	s.add(3, trace.TypePatch, trace.PatchData{By: "small", Diff: string(p.Diff()), Tree: p.Receipt().Tree, Why: "parse/parse.go Pair L6-L9 [4 of 4 lines rewritten, 24 added]"})
	s.add(3, trace.TypeVerdict, trace.VerdictData{Phase: "judge", Color: "green", Passed: 5, Skipped: 1})
	s.runs("confirm", 4)
	s.add(3, trace.TypeVerdict, trace.VerdictData{Phase: "confirm", Color: "green", Passed: 5, Skipped: 1})
	s.add(3, trace.TypeStop, trace.Stop{Reason: trace.Fixed})
	return s.tell(Story{
		Proof: p, Evidence: "20261129-090000-cafe", Quiet: "the change adds a line that reads the environment",
		Template: "## What\n\n<!-- Say what changes -->\n\n- [ ] I have read the [guide](https://example.com/guide)\r\n",
		Job: Job{
			Key: "4242/pull/7/.github/workflows/ci.yml", Repo: Repo{ID: 4242, Owner: "acme", Name: "shop"}, Target: Target{Kind: ForPull, Number: 7, Branch: "quotes"},
			Root: rootSHA, Base: baseSHA, Workflow: ".github/workflows/ci.yml", Checks: []string{"unit (1.25)", "unit (1.26)"}, URL: redRun, Trigger: "workflow_run",
		}})
}

const panicText = `panic: runtime error: slice bounds out of range [:-1] [recovered]
	panic: runtime error: slice bounds out of range [:-1]

goroutine 21 [running]:
testing.tRunner.func1.2({0x5332c0, 0xc0000b4060})
	testing/testing.go:1734 +0x21c
testing.tRunner.func1()
	testing/testing.go:1737 +0x35e
panic({0x5332c0?, 0xc0000b4060?})
	runtime/panic.go:787 +0x132
example.com/shop/parse.Pair(...)
	parse/parse.go:8
example.com/shop/parse.TestPair.func1(0xc0000c2a80)
	parse/parse_test.go:19 +0x9d
testing.tRunner(0xc0000c2a80, 0xc0000b6018)
	testing/testing.go:1792 +0xf4
created by testing.(*T).Run in goroutine 20
	testing/testing.go:1851 +0x413
exit status 2
FAIL	example.com/shop/parse	0.006s
FAIL`

// issueStory: a labelled issue whose check no reader understands.
func issueStory(t *testing.T) Story {
	p := prove(t, claim{
		command: "make check", dir: "services/api", blind: true, file: "services/api/limits.toml", old: "burst = 0\n", new: "burst = 10\n", by: "big",
		gaps: []string{"UDP is not refused by this kernel's Landlock"},
	})
	s := &script{}
	s.begin("make check", "services/api")
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "red", Class: "assertion"})
	s.ask(4, "big", "qwen3-coder-30b-a3b-mlx-4bit", "https://models.example.com/v1", "```toml\n# edit: services/api/limits.toml :: L1\nburst = 10\n```\n")
	s.add(4, trace.TypePatch, trace.PatchData{By: "big", Tree: p.Receipt().Tree, Why: "services/api/limits.toml L1 [1 of 1 lines rewritten]"})
	s.add(4, trace.TypeStop, trace.Stop{Reason: trace.Fixed})
	return s.tell(Story{
		Proof: p, Evidence: "20261129-090000-cafe",
		Criteria: []string{"A burst of ten requests is answered", "- [ ] Out of scope: the limit per day", "3. `burst` is documented"},
		Job: Job{Key: "4242/issue/12/", Repo: Repo{ID: 4242, Owner: "acme", Name: "shop"}, Target: Target{Kind: ForIssue, Number: 12, Branch: "main"},
			Root: rootSHA, Base: baseSHA, Check: "api", Trigger: "issues", Label: "redraft"},
	})
}

const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"

// hostile is markup, mentions, closing keywords, hidden characters and a secret in one text.
const hostile = "</details></summary><!-- @octocat --> fixes #99, closes o/r#1 ](javascript:x) ![i](https://evil.example/i.png) **b** " +
	"<script>x</script> `a` | b ||| \u202egnp.exe\u202c\u200b \x1b[31mred\x1b[0m [x]: https://evil.example\n# heading\n```\n~~~\n---\n/merge\n::error::x\r\n" +
	"<!-- redraft:key=evil -->\n[skip ci] " + token

// hostileStory has a stranger's text in every place that one can reach, each long.
func hostileStory(t *testing.T) Story {
	id := "example.com/shop/cart.TestTotal/" + strings.NewReplacer("\n", "_", "\r", "", " ", "_", "\x1b", "").Replace(hostile) // as the reader has it
	p := prove(t, claim{
		command: "go test ./... # " + hostile, dir: ".", pkg: "example.com/shop/cart", red: []string{"example.com/shop/cart.TestTotal", id},
		file: "cart/cart.go", old: cart, new: cart + "\n// " + strings.ReplaceAll(hostile, "\n", "\n// ") + "\n" + strings.Repeat("// ü``` </details>\n", 1000),
		by: "small", gaps: []string{hostile, hostile},
	})
	s := &script{}
	s.begin("go test ./... # "+hostile, hostile)
	big := strings.Repeat("ü"+hostile, 300) // about 100 KB
	f := trace.Finding{ID: id, Kind: hostile, Status: "fail", File: hostile, Line: 3, Got: big, Want: big, Message: big}
	findings := []trace.Finding{f}
	for i := range 50 {
		g := f
		g.ID, g.Got, g.Want, g.Message = fmt.Sprintf("%s%d", id, i), hostile, hostile, hostile
		findings = append(findings, g)
	}
	s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "red", Class: hostile, Findings: findings, Unstable: []string{hostile, hostile}, Command: hostile, Text: hostile})
	s.ask(1, "small", hostile, "https://user:secret@evil.example/v1", hostile+". "+hostile)
	s.add(1, trace.TypePatch, trace.PatchData{By: "small", Tree: p.Receipt().Tree, Why: hostile, Landings: []string{hostile}})
	s.add(1, trace.TypeVerdict, trace.VerdictData{Phase: "judge", Color: hostile, Findings: findings[:1]})
	s.add(1, trace.TypeStop, trace.Stop{Reason: trace.Fixed, Class: hostile, Text: hostile, Next: hostile})
	story := s.tell(Story{Proof: p, Evidence: hostile, Quiet: hostile, Template: "## Ours\n\n```\nnever closed <!-- nor this <details>\n", Criteria: []string{hostile, hostile}, Job: Job{
		Key: hostile, Target: Target{Kind: ForBranch, Branch: hostile}, Root: rootSHA, Base: baseSHA,
		Workflow: hostile, Checks: []string{hostile, hostile}, Check: hostile, URL: "javascript:alert(1)//" + redRun, Label: hostile, Words: hostile,
	}})
	// Without a reader's say all findings are shown, whatever the claim is.
	story.Status.Verdicts[0].Findings = append(story.Status.Verdicts[0].Findings, f)
	return story
}

func stories(t *testing.T) map[string]Story {
	return map[string]Story{"mechanic": mechanicStory(t), "model": modelStory(t), "issue": issueStory(t), "hostile": hostileStory(t)}
}

func TestDraftText(t *testing.T) {
	for name, s := range stories(t) {
		t.Run(name, func(t *testing.T) {
			title, body := DraftText(s, redact.New())
			if n := utf8.RuneCountInString(body); n >= 60000 {
				t.Errorf("the body has %d characters", n)
			}
			if h := rendered(t, body); !strings.Contains(h, "<p>Receipt <code>sha256:") || strings.Contains(h, "&lt;!-- redraft:receipt") {
				t.Error("the receipt is not shown, or the markers are")
			}
			golden(t, "draft-"+name, redact.FenceAs("", title)+"\n"+body)
		})
	}
}

func TestNoProofNoDraft(t *testing.T) {
	s := mechanicStory(t)
	s.Proof = nil
	if title, body := DraftText(s, redact.New()); title+body+CommitText(s, redact.New(), false) != "" {
		t.Errorf("a draft without a proof: %q, %q", title, body)
	}
}
