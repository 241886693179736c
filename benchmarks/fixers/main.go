// Command fixers runs the cases of benchmarks/cases/fixers: checks that a formatter, a linter's own fix, go mod tidy or a generator
// turns green. Each becomes a repository, `redraft fix --tiers mechanic` repairs it without a model, and what was proved is held
// against what the tool itself writes when it is run by hand. A tool that is not on PATH makes its cases REFUSED.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/tools/txtar"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/worktree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Case is one check and the files on which it is red.
type Case struct {
	Name      string
	Check     string
	Tool      string
	Protected bool // the repair lies in a protected file, which the case's configuration opens to the project's own tools
	Files     map[string][]byte
}

// Outcome is what became of a case.
type Outcome struct {
	Name    string  `json:"name"`
	Word    string  `json:"word"` // proved, wrong, REFUSED, or the reason of the stop
	Text    string  `json:"text,omitempty"`
	Seconds float64 `json:"seconds"`
}

// opened is the configuration under which a project's own tools may rewrite protected files.
const opened = "version: 1\nprotect:\n  fixers: true\n"

// run is the program. Exit: 0 nothing wrong was proved, 1 something was, 2 usage, 3 our side failed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("fixers", flag.ContinueOnError)
	fl.SetOutput(stderr)
	dir := fl.String("cases", filepath.Join("benchmarks", "cases", "fixers"), "folder of the cases")
	only := fl.String("only", "", "cases whose name holds this")
	exe := fl.String("exe", "", "the program under test (built from this tree if empty)")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	cases, err := Read(*dir, *only)
	if err != nil || len(cases) == 0 {
		fmt.Fprintln(stderr, errors.Join(err, fmt.Errorf("%d cases in %s", len(cases), *dir)))
		return 2
	}
	tmp, err := os.MkdirTemp("", "fixers-*")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	defer os.RemoveAll(tmp)
	if *exe, err = built(ctx, *exe, tmp); err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	counts := map[string]int{}
	for _, c := range cases {
		if ctx.Err() != nil {
			return 3
		}
		begin := time.Now()
		o := solve(ctx, *exe, filepath.Join(tmp, c.Name), c)
		o.Seconds = time.Since(begin).Seconds()
		counts[o.Word]++
		fmt.Fprintf(stdout, "%-26s %-14s %5.1f s  %s\n", c.Name, o.Word, o.Seconds, o.Text)
	}
	tried := len(cases) - counts["REFUSED"]
	fmt.Fprintf(stdout, "\n%d cases, %d REFUSED: proved %d of %d, wrong %d\n", len(cases), counts["REFUSED"], counts["proved"], tried, counts["wrong"])
	if counts["wrong"] > 0 {
		return 1
	}
	return 0
}

// built is the program under test, absolute.
func built(ctx context.Context, exe, tmp string) (string, error) {
	if exe != "" {
		return filepath.Abs(exe)
	}
	exe = filepath.Join(tmp, "redraft")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", exe, "github.com/redraft-dev/redraft/cmd/redraft").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program under test: %w: %s", err, out)
	}
	return exe, nil
}

// Read gives the cases of a folder, sorted by name.
func Read(dir, only string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		if !strings.Contains(filepath.Base(name), only) {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := parse(strings.TrimSuffix(filepath.Base(name), ".txtar"), b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func parse(name string, b []byte) (Case, error) {
	a := txtar.Parse(b)
	c := Case{Name: name, Files: map[string][]byte{}}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "check":
			c.Check = value
		case "tool":
			c.Tool = value
		case "protected":
			c.Protected = value == "yes"
		case "":
		default:
			return c, fmt.Errorf("what is %q?", key)
		}
	}
	for _, f := range a.Files {
		c.Files[f.Name] = f.Data
	}
	if c.Check == "" || c.Tool == "" || len(c.Files) == 0 {
		return c, errors.New("check, tool or files are missing")
	}
	return c, nil
}

// solve makes the repository, has it repaired, and holds the branch against the tool's own hand.
func solve(ctx context.Context, exe, dir string, c Case) Outcome {
	o := Outcome{Name: c.Name}
	tree := fstest.MapFS{}
	for name, data := range c.Files {
		tree[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	tools := plan.Fixers(tree, plan.Check{Run: c.Check})
	for _, f := range tools {
		if _, err := exec.LookPath(f.Argv[0]); err != nil {
			o.Word, o.Text = "REFUSED", f.Argv[0]+" is not on PATH"
			return o
		}
	}
	said, err := repaired(ctx, exe, dir, c)
	if err != nil {
		o.Word, o.Text = "failed", err.Error()
		return o
	}
	if o.Word, o.Text = said.Stop.Reason, said.Stop.Text; o.Word != "fixed" {
		return o
	}
	differs, err := byHand(ctx, dir, c, tools, said.Branch)
	o.Word, o.Text = "proved", ""
	if err != nil || differs != "" {
		o.Word, o.Text = "wrong", differs
		if err != nil {
			o.Text = err.Error()
		}
	}
	return o
}

// said is what redraft fix prints with --json.
type said struct {
	Stop   struct{ Reason, Text string }
	Branch string
}

func repaired(ctx context.Context, exe, dir string, c Case) (s said, err error) {
	files := c.Files
	if c.Protected {
		files = map[string][]byte{plan.FileName: []byte(opened)}
		for name, data := range c.Files {
			files[name] = data
		}
	}
	if err := worktree.Init(ctx, filepath.Join(dir, "repo"), files, "one"); err != nil {
		return s, err
	}
	cmd := exec.CommandContext(ctx, exe, "fix", "--check", c.Check, "--tiers", "mechanic", "--json", "--evidence", filepath.Join(dir, "evidence"))
	cmd.Dir = filepath.Join(dir, "repo")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(dir), "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "REDRAFT_CONFIG=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		return s, fmt.Errorf("redraft fix: %w: %s", err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		return s, fmt.Errorf("redraft fix --json: %w: %s", err, stdout.String())
	}
	return s, nil
}

// byHand runs the tools on a plain copy, and says how the branch differs from what they wrote.
func byHand(ctx context.Context, dir string, c Case, tools []plan.Fixer, branch string) (differs string, err error) {
	hand := filepath.Join(dir, "hand")
	if err := worktree.Init(ctx, hand, c.Files, "one"); err != nil {
		return "", err
	}
	for _, f := range tools {
		cmd := exec.CommandContext(ctx, f.Argv[0], f.Argv[1:]...)
		cmd.Dir = filepath.Join(hand, filepath.FromSlash(f.Dir))
		_ = cmd.Run() // a linter exits with 1 when something is left; what it wrote counts
	}
	files, err := branchFiles(filepath.Join(dir, "repo"), branch)
	if err != nil {
		return "", err
	}
	var bad []string
	for name := range c.Files {
		want, err := os.ReadFile(filepath.Join(hand, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if files[name] != string(want) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	if len(bad) > 0 {
		return "not as the tool writes it by hand: " + strings.Join(bad, ", "), nil
	}
	return "", nil
}

// branchFiles are the files of a branch.
func branchFiles(repo, branch string) (map[string]string, error) {
	r, err := git.PlainOpen(repo)
	if err != nil {
		return nil, err
	}
	ref, err := r.Reference(plumbing.NewBranchReferenceName(branch), true)
	if err != nil {
		return nil, fmt.Errorf("branch %s: %w", branch, err)
	}
	commit, err := r.CommitObject(ref.Hash())
	if err != nil {
		return nil, err
	}
	iter, err := commit.Files()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = iter.ForEach(func(f *object.File) error {
		text, err := f.Contents()
		out[f.Name] = text
		return err
	})
	return out, err
}
