package scenes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// TestMain lets this binary be the shim of the sandbox.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// cart is a red check of two files. Its test speaks of a fixture that only the tests section shows.
var cart = map[string]string{
	"cart.py":      "def total(n):\n    return n + 1\n\n\ndef other():\n    return total(1)\n",
	"test_cart.py": "import os\nimport unittest\n\nimport cart\n\n\nclass TestCart(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(cart.total(3), 5, 'two more, ' + os.urandom(8).hex())\n",
}

const (
	right = "```python\n# edit: cart.py :: total\ndef total(n):\n    return n + 2\n```\n"
	wrong = "```python\n# edit: cart.py :: total\ndef total(n):\n    return n + 3\n```\n"
)

func cartCase(t *testing.T, files map[string]string) scenes.Case {
	t.Helper()
	dir, fix := t.TempDir(), map[string][]byte{"cart.py": []byte(strings.Replace(cart["cart.py"], "n + 1", "n + 2", 1))}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return scenes.Case{
		ID: "cart@1", Language: "python", Check: "python3 -m unittest",
		Reproduced: func(ids []string) string {
			if len(ids) != 1 || !strings.Contains(ids[0], "test_total") {
				return fmt.Sprintf("red is %q", ids)
			}
			return ""
		},
		Lay: func(context.Context, string) (scenes.Tree, error) { return scenes.Tree{Dir: dir, Fix: fix}, nil },
	}
}

// bench asks a scripted model.
func bench(t *testing.T, s *modeltest.Server) *scenes.Bench {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("REFUSED: no python3: %v", err)
	}
	dir := t.TempDir()
	box, err := sandbox.Open(sandbox.Options{TmpDir: dir})
	if err != nil {
		t.Skipf("REFUSED: no sandbox: %v", err)
	}
	m, err := model.Dial(t.Context(), model.Endpoint{BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	return &scenes.Bench{
		Hacks: hacks.Bench{Box: box, State: t.TempDir(), Dir: dir, Getenv: os.Getenv, Runs: 1}, Work: t.TempDir(), Model: m, ID: m.ID(),
		LeftOut: func(c scenes.Case, why error) { t.Errorf("%s is left out: %v", c.ID, why) },
	}
}

// scripted answers by what a prompt shows: right with the failing test, wrong without it, and nothing where it is sampled.
func scripted(r modeltest.Request) modeltest.Reply {
	switch p := r.Prompt(); {
	case r.Temperature > 0:
		return modeltest.Reply{Text: "I cannot."}
	case strings.Contains(p, "two more") && strings.Contains(p, "assertEqual(cart.total(3)"):
		return modeltest.Reply{Text: right}
	default:
		return modeltest.Reply{Text: wrong}
	}
}

// run asks about a case with two sections switched, twice each, but for what is known.
func run(t *testing.T, b *scenes.Bench, c scenes.Case, known []scenes.Answer) (got []scenes.Answer) {
	t.Helper()
	b.Arms, b.Seeds = []string{perceive.Tests, perceive.History}, 2
	b.On = func(a scenes.Answer) { got = append(got, a) }
	if err := b.Run(t.Context(), []scenes.Case{c}, known); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestRun: one prompt is asked once, and an answer knows what became of it.
func TestRun(t *testing.T) {
	s := modeltest.New(t, scripted)
	got := run(t, bench(t, s), cartCase(t, cart), nil)
	type line struct {
		Arm    string
		Seed   int64
		From   string
		Landed bool
		Slip   string
		Solved bool
	}
	var lines []line
	prompts := map[string]bool{}
	for _, a := range got {
		lines = append(lines, line{a.Arm, a.Seed, a.From, a.Landed, a.Slip, a.Solved})
		prompts[fmt.Sprint(a.Digest, a.Seed)] = true
		if a.Reach != 1 {
			t.Errorf("%s: %v of the line to be repaired is shown, want all of it", a.Arm, a.Reach)
		}
		if a.Prompt == 0 || a.Output == 0 || a.Budget != 3000 || a.Shown[perceive.Task] == 0 || (a.Shown[perceive.Tests] > 0) != (a.Arm != perceive.Tests) {
			t.Errorf("%s, seed %d: %d and %d tokens, budget %d, shown %v", a.Arm, a.Seed, a.Prompt, a.Output, a.Budget, a.Shown)
		}
	}
	want := []line{
		{scenes.All, 1, "", true, "", true},
		{scenes.All, 2, "", false, "no_edit", false},
		{perceive.History, 1, scenes.All, true, "", true},
		{perceive.History, 2, scenes.All, false, "no_edit", false},
		{perceive.Tests, 1, "", true, "", false},
		{perceive.Tests, 2, "", false, "no_edit", false},
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Fatalf("answers (-want +got):\n%s", d)
	}
	if n := len(s.Requests()); n != 4 || n != len(prompts) {
		t.Errorf("%d requests for %d prompts, want 4", n, len(prompts))
	}
}

// TestResumed: what is known is not asked again.
func TestResumed(t *testing.T) {
	s := modeltest.New(t, scripted)
	b, c := bench(t, s), cartCase(t, cart)
	got := run(t, b, c, nil)
	asked := map[string]string{}
	for _, a := range got {
		asked[a.Arm] = a.Digest
	}
	resumed := append(slices.Clone(got[:2]), got[4]) // all of All, and one of the arm without tests
	before := len(s.Requests())
	got = run(t, b, c, resumed)
	if n := len(s.Requests()) - before; len(got) != 3 || n != 1 {
		t.Errorf("resumed: %d answers and %d requests more, want 3 and 1", len(got), n)
	}
	for _, a := range got {
		if a.Digest != asked[a.Arm] {
			t.Errorf("resumed: the prompt of %s is another", a.Arm)
		}
	}
	c.Lay = func(context.Context, string) (scenes.Tree, error) { panic("nothing is left to be asked") }
	run(t, b, c, append(resumed, got...))
}

// TestLeftOut: a case that is not its red is told and asks nobody.
func TestLeftOut(t *testing.T) {
	s := modeltest.New(t, nil)
	b := bench(t, s)
	green := map[string]string{"cart.py": strings.Replace(cart["cart.py"], "n + 1", "n + 2", 1), "test_cart.py": cart["test_cart.py"]}
	other := map[string]string{"cart.py": cart["cart.py"], "test_cart.py": strings.Replace(cart["test_cart.py"], "test_total", "test_other", 1)}
	absent := scenes.Case{ID: "absent@1", Lay: func(context.Context, string) (scenes.Tree, error) {
		return scenes.Tree{}, errors.New("REFUSED: no such version")
	}}
	var why []string
	b.LeftOut = func(_ scenes.Case, err error) { why = append(why, err.Error()) }
	if err := b.Run(t.Context(), []scenes.Case{cartCase(t, green), cartCase(t, other), absent}, nil); err != nil {
		t.Fatal(err)
	}
	for i, part := range []string{"not red here", "test_other", "no such version"} {
		if i >= len(why) || !strings.Contains(why[i], part) {
			t.Errorf("left out %d: %q, want %q", i, why, part)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// TestView: a scene's reach and first address are told without a model, the second time without a run.
func TestView(t *testing.T) {
	b := bench(t, modeltest.New(t, nil))
	b.Model = nil
	c := cartCase(t, cart)
	for range 2 {
		var got []scenes.View
		if err := b.View(t.Context(), []scenes.Case{c}, func(v scenes.View) { got = append(got, v) }); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Tokens == 0 {
			t.Fatalf("%+v, want one view with tokens", got)
		}
		got[0].Tokens = 0
		if d := cmp.Diff([]scenes.View{{Case: "cart@1", Language: "python", Budget: 3000, Reach: 1, First: true}}, got); d != "" {
			t.Errorf("views (-want +got):\n%s", d)
		}
		b.Hacks = hacks.Bench{} // nothing can run with it
	}
}
