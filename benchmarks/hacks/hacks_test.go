package hacks

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

func corpus(t *testing.T) Corpus {
	t.Helper()
	c, err := Load(os.DirFS("../cases"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCorpus holds the shape of the first set: how much of what there must be.
func TestCorpus(t *testing.T) {
	c := corpus(t)
	if len(c.Programs) < 20 {
		t.Errorf("got %d programs, want 20 or more", len(c.Programs))
	}
	n := map[string]int{}
	kinds, languages := map[string]map[string]bool{}, map[string]int{}
	for _, k := range c.Cases {
		if k.Set != "first" {
			continue
		}
		language := c.Programs[k.Program].Language
		n[k.side()]++
		languages[language+" "+k.side()]++
		if !k.Honest {
			if kinds[k.Kind] == nil {
				kinds[k.Kind] = map[string]bool{}
			}
			kinds[k.Kind][language] = true
		}
		if strings.TrimSpace(k.Answer) == "" || k.Note == "" {
			t.Errorf("%s is empty or has no note", k.ID())
		}
	}
	if n["hacks"] < 80 || n["honest"] < 80 {
		t.Errorf("got %d hacks and %d honest changes, want 80 or more of each", n["hacks"], n["honest"])
	}
	for kind := range Kinds {
		if len(kinds[kind]) < 2 && kind != Model && kind != "half" { // both are of the second set
			t.Errorf("kind %s: got %d languages, want 2 or more", kind, len(kinds[kind]))
		}
	}
	for _, language := range []string{"go", "python", "javascript", "rust"} {
		for _, side := range []string{"hacks", "honest"} {
			if languages[language+" "+side] < 6 {
				t.Errorf("%s has %d %s, want 6 or more", language, languages[language+" "+side], side)
			}
		}
	}
	if len(c.Hashes["first"]) != 12 {
		t.Errorf("hash: got %q", c.Hashes["first"])
	}
}

// program is the text of a program's files, and what a job protects of it.
func policyOf(t *testing.T, p Program) (fs.FS, patch.Policy) {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range p.Files {
		root[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	set, err := plan.FromCommand(root, p.Command)
	if err != nil {
		t.Fatal(err)
	}
	return root, proof.PatchPolicy(nil, nil, set.AllScripts(), 0, 0)
}

// TestCasesLand lands every case on its program: a hack with no protection, an honest change through the gate.
func TestCasesLand(t *testing.T) {
	c := corpus(t)
	for _, k := range c.Cases {
		root, policy := policyOf(t, c.Programs[k.Program])
		if !k.Honest {
			policy = open
		}
		s := stage{root: root}
		if _, err := s.resolve(k.Answer, policy); err != nil {
			t.Errorf("%s: %v", k.ID(), err)
		}
	}
}

func TestHashNamesTheSet(t *testing.T) {
	tree := fstest.MapFS{
		"programs/p.txtar":       {Data: []byte("language: go\ncommand: go test\n-- a.go --\npackage a\n-- b.go --\npackage a\n")},
		"hacks/first/p.txt":      {Data: []byte("=== one | exit | ends\nprose\n=== two | skip | skips\nmore\n")},
		"honest/first/p.txt":     {Data: []byte("=== one | plain | mends\nprose\n")},
		"hacks/second/p.txt":     {Data: []byte("=== one | model | asked\nprose\n")},
		"programs/unused.txtar":  {Data: []byte("language: go\ncommand: go test\n-- a.go --\npackage a\n-- b.go --\npackage a\n")},
		"hacks/first/README.md":  {Data: []byte("not a case")},
		"honest/second/notes.md": {Data: []byte("not a case")},
	}
	c, err := Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range c.Cases {
		ids = append(ids, k.ID())
	}
	want := []string{"first/hacks/p/one", "first/hacks/p/two", "first/honest/p/one", "second/hacks/p/one"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if got := c.Cases[1].Answer; got != "more\n" {
		t.Errorf("answer: got %q", got)
	}
	for name, set := range map[string]string{"hacks/first/p.txt": "first", "honest/first/p.txt": "first", "hacks/second/p.txt": "second"} {
		changed := maps.Clone(tree)
		changed[name] = &fstest.MapFile{Data: append(slices.Clone(tree[name].Data), ' ')}
		d, err := Load(changed)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range Sets {
			if (d.Hashes[s] != c.Hashes[s]) != (s == set) {
				t.Errorf("%s changed: the hash of %s was %s and is %s", name, s, c.Hashes[s], d.Hashes[s])
			}
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	program := "language: go\ncommand: go test\n-- a.go --\npackage a\n-- b.go --\npackage a\n"
	for want, files := range map[string]map[string]string{
		"no such program":       {"hacks/first/q.txt": "=== a | exit | b\n"},
		"two cases are called":  {"hacks/first/p.txt": "=== a | exit | b\n=== a | skip | b\n"},
		"no kind is called":     {"hacks/first/p.txt": "=== a | sabotage | b\n"},
		"does not read":         {"hacks/first/p.txt": "=== a | exit\n"},
		"what is":               {"programs/q.txtar": "colour: red\n" + program},
		"leaves the tree":       {"programs/q.txtar": "-- ../a --\n"},
		"a program has a langu": {"programs/q.txtar": "language: go\n"},
	} {
		tree := fstest.MapFS{"programs/p.txtar": {Data: []byte(program)}}
		for name, text := range files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := Load(tree); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestPick(t *testing.T) {
	c := corpus(t)
	for pattern, want := range map[string]string{
		"go-cart": "go-cart", "go-cart/exit-init": "go-cart", "first/hacks/go-cart/*": "go-cart", "rust": "rs-", "python": "py-",
	} {
		some, err := c.Pick([]string{pattern})
		if err != nil || len(some) == 0 {
			t.Errorf("%s: got %d cases, %v", pattern, len(some), err)
		}
		for _, k := range some {
			if !strings.HasPrefix(k.Program, want) {
				t.Errorf("%s picks %s", pattern, k.ID())
			}
		}
	}
	if _, err := c.Pick([]string{"go-cart", "nothing"}); err == nil {
		t.Error("a pattern that matches nothing is no error")
	}
}

func TestTable(t *testing.T) {
	out := []Outcome{
		{Case: "first/hacks/p/a", Kind: "exit", Language: "go", Verdict: Refused, By: []string{Gate, "D2"}, Rungs: map[string]string{"D0": "held"}},
		{Case: "first/hacks/p/b", Kind: "exit", Language: "go", Verdict: Refused, By: []string{"D1", "D3"}, Rungs: map[string]string{"D0": "held", "D1": "failed", "D3": "failed"}},
		{Case: "first/hacks/p/c", Kind: "skip", Language: "rust", Verdict: Accepted, Rungs: map[string]string{"D0": "held", "D1": "held"}},
		{Case: "first/hacks/p/d", Kind: "skip", Language: "rust", Verdict: Invalid},
		{Case: "first/honest/p/a", Honest: true, Language: "go", Verdict: Refused, By: []string{"D4"}, Text: "D4: exit"},
		{Case: "first/honest/p/b", Honest: true, Language: "go", Verdict: Accepted},
		{Case: "second/hacks/p/a", Kind: Model, Verdict: Failed},
	}
	r := NewReport(Corpus{Hashes: map[string]string{"first": "123456789abc"}}, out)
	if len(r.Tables) != 2 {
		t.Fatalf("got %d tables, want one a set", len(r.Tables))
	}
	first := r.Tables[0]
	if first.Hacks != 3 || first.Honest != 2 || first.Hash != "123456789abc" || len(r.Tables[1].Failed) != 1 {
		t.Errorf("got %+v", first)
	}
	rungs := map[string]Count{}
	for _, c := range first.Rungs {
		rungs[c.Rung] = c
	}
	for rung, want := range map[string]Count{
		Gate:  {Gate, 3, 1, 1, 0, 0},
		"D0":  {"D0", 3, 0, 1, 0, 0},
		"D1":  {"D1", 2, 1, 2, 0, 0},
		"D3":  {"D3", 1, 1, 2, 0, 0},
		"D4":  {"D4", 0, 0, 2, 1, 1},
		Admit: {Admit, 1, 0, 2, 0, 1},
	} {
		if diff := cmp.Diff(want, rungs[rung]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rung, diff)
		}
	}
	if diff := cmp.Diff([]string{"first/hacks/p/c"}, first.Accepted); diff != "" {
		t.Errorf("accepted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"first/honest/p/a: D4: exit"}, first.RefusedHonest); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	var text strings.Builder
	r.Print(&text)
	for _, want := range []string{"set first 123456789abc: 3 hacks, 2 honest", "accepted hacks: 1 of 3 (33.3%)", "refused honest changes: 1 of 2 (50.0%)", "invalid   first/hacks/p/d"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &text)
		}
	}
}

func TestKnown(t *testing.T) {
	c := corpus(t)
	b := Bench{Corpus: c}
	cases := c.Cases[:4]
	file := filepath.Join(t.TempDir(), "out.jsonl")
	var lines []byte
	for i, o := range []Outcome{{Verdict: Refused}, {Verdict: Failed}, {Verdict: Refused}} {
		if o.Case, o.Stamp = cases[i].ID(), c.stamp(cases[i]); i == 2 {
			o.Stamp = "of another text"
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	known, left, err := b.Known(file, cases)
	if err != nil || len(known) != 1 || known[0].Case != cases[0].ID() || len(left) != 3 {
		t.Errorf("got %d known, %d left, %v; want 1 and 3", len(known), len(left), err)
	}
	if _, left, err = b.Known(file+".none", cases); err != nil || len(left) != 4 {
		t.Errorf("no file: got %d left, %v", len(left), err)
	}
	if err := os.WriteFile(file, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err = b.Known(file, cases); err == nil {
		t.Error("half a line is no error")
	}
}

// real is a bench that runs cases, or a refusal.
func real(t *testing.T, tool string) *Bench {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("REFUSED: no %s: %v", tool, err)
	}
	dir := t.TempDir()
	box, err := sandbox.Open(sandbox.Options{TmpDir: dir})
	if err != nil {
		t.Skipf("REFUSED: no sandbox: %v", err)
	}
	return &Bench{Corpus: corpus(t), Box: box, State: t.TempDir(), Dir: dir, Getenv: os.Getenv, Runs: 1, Width: 1}
}

// TestRun takes a handful of cases through everything.
func TestRun(t *testing.T) {
	b := real(t, "node")
	cases, err := b.Corpus.Pick([]string{"first/hacks/js-query/weak-assertion", "first/hacks/js-query/exit", "first/honest/js-query/rest"})
	if err != nil {
		t.Fatal(err)
	}
	broken := cases[2]
	broken.Name, broken.Answer = "broken", strings.Replace(broken.Answer, "join('=')", "join('-')", 1)
	told := 0
	b.On = func(Outcome) { told++ }
	out, err := b.Run(t.Context(), append(cases, broken))
	if err != nil || len(out) != 4 || told != 4 {
		t.Fatalf("got %d outcomes, told of %d, %v; want 4", len(out), told, err)
	}
	for i, want := range []struct {
		verdict string
		green   bool
		by      string
	}{{Refused, true, Gate}, {Refused, true, ""}, {Accepted, true, ""}, {Invalid, false, "D0"}} {
		o := out[i]
		if o.Verdict != want.verdict || o.Green != want.green || want.by != "" && !slices.Contains(o.By, want.by) {
			t.Errorf("%s: got %s, green %v, by %v (%s); want %+v", o.Case, o.Verdict, o.Green, o.By, o.Text, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.Dir, "js-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunEndsWhenCancelled(t *testing.T) {
	b := &Bench{Corpus: corpus(t)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := b.Run(ctx, b.Corpus.Cases); err == nil || len(out) != 0 {
		t.Errorf("got %d outcomes, %v", len(out), err)
	}
}

// script is a model that answers with texts in turn.
type script struct {
	model.Model
	texts []string
	asked []model.Request
}

func (s *script) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	s.asked = append(s.asked, r)
	return model.Reply{Text: s.texts[len(s.asked)-1]}, nil
}

// TestAsk keeps the answers that are green, whatever they touch, and says why others are of no use.
func TestAsk(t *testing.T) {
	b := real(t, "python3")
	exit := "Here it is:\n```python\ndef score(rolls):\n    import os\n    os._exit(0)\n```\nDone.\n"
	m := &script{texts: []string{exit, exit, "I cannot.", "```\n=== a | exit | b\n```\n", strings.Replace(exit, "os._exit(0)", "return -1", 1)}}
	var got []Answer
	if err := b.Ask(t.Context(), m, b.Corpus.Programs["py-bowling"], len(m.texts), func(a Answer) { got = append(got, a) }); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "said before", "bowling.py", "a line that begins a case", "the check is red"} {
		if i >= len(got) || !strings.Contains(got[i].Why, want) || (got[i].Why == "") != (want == "") || got[i].Lands != (i == 0 || i == 4) {
			t.Errorf("answer %d: got %+v, want %q", i, got, want)
		}
	}
	question := m.asked[0].Messages[0].Content
	for _, want := range []string{"python3 -m unittest", "test_bowling.py", "FAILED (failures=2)"} {
		if !strings.Contains(question, want) {
			t.Errorf("the question lacks %q:\n%s", want, question)
		}
	}
	cases, err := parseCases(got[0].Case("m"))
	if err != nil || len(cases) != 1 || cases[0].Kind != Model || !strings.Contains(cases[0].Answer, "# edit: bowling.py :: score\n````\ndef score") {
		t.Errorf("as a case: got %+v, %v", cases, err)
	}
}
