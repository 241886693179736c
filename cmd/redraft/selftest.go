package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// selftestCmd takes the whole real path against a built-in scripted model.
func (a *app) selftestCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "selftest",
		Short: "the whole real path against a built-in scripted model: no network, no key, no spend",
		Long: "selftest makes a little repository in a temporary folder, starts a scripted model on a loopback port, and takes the red check\n" +
			"to a proved patch through the real git, the real sandbox and the real proof. The script slips once and answers wrongly once on the way.\n" +
			"Exit: 0 all as expected, 1 not, 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.selftest(cmd.Context()) },
	}
}

// selftestFiles is the repository: a sum that forgets its last element.
var selftestFiles = map[string][]byte{
	"go.mod": []byte("module example.com/selftest\n\ngo 1.21\n"),
	"sum.go": []byte(`// Package selftest adds numbers up.
package selftest

// Sum is the sum of all of xs.
func Sum(xs []int) int {
	total := 0
	for i := 0; i < len(xs)-1; i++ {
		total += xs[i]
	}
	return total
}
`),
	"sum_test.go": []byte(`package selftest

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]int{1, 2, 3}); got != 6 {
		t.Errorf("Sum(1, 2, 3): got %d, want %d", got, 6)
	}
}

func TestSumOfNothing(t *testing.T) {
	if got := Sum(nil); got != 0 {
		t.Errorf("Sum(): got %d, want %d", got, 0)
	}
}
`),
}

const fence = "```"

// selftestScript slips (the test), then is wrong, then is right.
var selftestScript = []string{
	"The test is wrong.\n\n" + fence + "go\n# edit: sum_test.go :: TestSum\nfunc TestSum(t *testing.T) {}\n" + fence + "\n",
	"Start at one.\n\n" + fence + "go\n# edit: sum.go :: Sum\n// Sum is the sum of all of xs.\nfunc Sum(xs []int) int {\n\ttotal := 1\n\tfor i := 0; i < len(xs)-1; i++ {\n\t\ttotal += xs[i]\n\t}\n\treturn total\n}\n" + fence + "\n",
	"The loop stops before the last element.\n\n" + fence + "go\n# edit: sum.go :: Sum\n// Sum is the sum of all of xs.\nfunc Sum(xs []int) int {\n\ttotal := 0\n\tfor i := 0; i < len(xs); i++ {\n\t\ttotal += xs[i]\n\t}\n\treturn total\n}\n" + fence + "\n",
}

func (a *app) selftest(ctx context.Context) error {
	parent, err := os.MkdirTemp("", "redraft-selftest-")
	if err != nil {
		return ourSide(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "repo")
	if err := worktree.Init(ctx, dir, selftestFiles, "A sum and its tests"); err != nil {
		return ourSide(err)
	}
	server := modeltest.New(nil, modeltest.Texts(selftestScript...))
	defer server.Close()
	s, err := a.begin(ctx, dir, fixFlags{tiers: "small", baseURL: server.URL()})
	if err != nil {
		return err
	}
	s.evidence = filepath.Join(parent, "evidence")
	ui := a.newScreen()
	seen := map[string]int{}
	out, err := s.job(a, fixFlags{seed: 1}, "selftest", func(e trace.Event) { seen[e.Type]++; ui.event(e) }).Do(ctx)
	if err != nil {
		return a.endOf(ctx, out, err)
	}
	return a.selftestResult(ui, s, seen, out.Stop, out.Where, len(server.Requests()))
}

// selftestResult holds what happened against what the script must lead to.
func (a *app) selftestResult(ui *screen, s *setting, seen map[string]int, stop trace.Stop, where string, asked int) error {
	var wrong []string
	expect := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	expect(stop.Reason == trace.Fixed, fmt.Sprintf("the job stopped as %s: %s", stop.Reason, stop.Text))
	expect(asked == 3, fmt.Sprintf("the model was asked %d times, not 3", asked))
	expect(seen[trace.TypeSlip] == 1, "the edit of the test was not refused")
	expect(where != "", "no branch was left")
	expect(a.verifyQuietly(s.evidence) == nil, "the evidence does not verify")
	if a.json {
		a.printJSON(map[string]any{"ok": len(wrong) == 0, "wrong": wrong, "stop": stop})
	} else {
		fmt.Fprint(a.out, a.clean.Terminal(trace.ProofTable(ui.last())))
		for _, w := range wrong {
			fmt.Fprintf(a.out, "wrong: %s\n", a.clean.Terminal(w))
		}
		if len(wrong) == 0 {
			fmt.Fprintf(a.out, "selftest: git, sandbox, model wire, edits, oracle and proof work on this machine\n")
		}
	}
	if len(wrong) > 0 {
		return stopped()
	}
	return nil
}

// verifyQuietly is verify without a word.
func (a *app) verifyQuietly(dir string) error {
	quiet := *a
	quiet.out = discard{}
	return quiet.verify(context.Background(), dir, verifyFlags{}) // it runs nothing
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
