package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/worktree"
)

// initFlags are the flags of init.
type initFlags struct {
	form   string
	runsOn []string // found if empty
	yes    bool
}

func (a *app) initCmd() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "write .github/redraft.yml and a workflow for this repository, after asking",
		Long: "init looks at the files of this checkout, shows what it found and where, shows the two files that it would write at the\n" +
			"top of the repository, and writes them after a yes: both or neither. It changes no file that exists, commits nothing\n" +
			"and asks no network. The forms, as in .github/workflows/examples:\n" +
			"  failed-workflow  answers a red run, in one job\n" +
			"  label            answers the label redraft and the comment /redraft, in one job\n" +
			"  schedule         looks at the default branch every night\n" +
			"  same-job         a step for a job that exists: it is printed, and .github/redraft.yml alone is written\n" +
			"  two-job          answers red runs, labels and comments; what repairs has no token that can write\n" +
			"With --json nothing is asked: without --yes nothing is written either.\n" +
			"Exit: 0 written, 1 declined, 2 usage, as when a file is there already, 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return ourSide(err)
			}
			return a.init(cmd.Context(), dir, f)
		},
	}
	cmd.Flags().StringVar(&f.form, "form", formTwoJob, "one of "+strings.Join(forms, ", "))
	cmd.Flags().StringSliceVar(&f.runsOn, "runs-on", nil, "labels of the runner that repairs, as in self-hosted,macOS,ARM64 (those in the workflows here if empty, else this machine's)")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "write without asking")
	return cmd
}

// begun is what init prints with --json.
type begun struct {
	Repository string    `json:"repository"`
	Form       string    `json:"form"`
	Found      found     `json:"found"`
	Files      []newFile `json:"files"`
	Step       string    `json:"step,omitempty"` // of same-job, to be added by a person
	Written    []string  `json:"written"`
	Next       []string  `json:"next"`
}

func (a *app) init(ctx context.Context, dir string, f initFlags) error {
	if !slices.Contains(forms, f.form) {
		return usage("--form %s is none of %s", f.form, strings.Join(forms, ", "))
	}
	repo, err := inspectForInit(ctx, dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(repo.Dir)
	if err != nil {
		return ourSide(fmt.Errorf("open %s: %w", repo.Dir, err))
	}
	defer root.Close()
	if err := vacant(root, f.paths()); err != nil {
		return usage("%w", err)
	}
	b := begun{Repository: repo.Dir, Form: f.form, Written: []string{}}
	if b.Found, err = a.find(ctx, repo, root, f.runsOn); err != nil {
		return err
	}
	if b.Files, b.Step, err = b.Found.files(f.form); err != nil {
		return ourSide(fmt.Errorf("make the files: %w", err))
	}
	b.Next = b.Found.next(f.form, repo.Branch)
	return a.offer(ctx, root, b, f)
}

// paths are the files that init would write.
func (f initFlags) paths() []string {
	if f.form == formSameJob {
		return []string{plan.FileName}
	}
	return []string{plan.FileName, workflowPath}
}

// inspectForInit is the checkout that dir lies in; it need not have a commit yet.
func inspectForInit(ctx context.Context, dir string) (worktree.Repo, error) {
	git, err := worktree.OpenGit("")
	if err != nil {
		return worktree.Repo{}, ourSide(err)
	}
	repo, err := worktree.Inspect(ctx, git, dir)
	switch {
	case errors.Is(err, worktree.ErrNoCommits):
		return repo, nil
	case ctx.Err() != nil:
		return repo, ourSide(err)
	case err != nil:
		return repo, uninspected(err)
	}
	return repo, nil
}

// offer shows the files, asks, and writes them after a yes.
func (a *app) offer(ctx context.Context, root *os.Root, b begun, f initFlags) error {
	yes := f.yes
	if !a.json {
		a.showBegun(b)
		if !yes {
			var err error
			if yes, err = a.ask(ctx, "Write "+strings.Join(f.paths(), " and ")+"?"); err != nil {
				return ourSide(err)
			}
		}
	}
	if yes {
		if err := writeNew(root, b.Files); err != nil {
			return notWritten(err)
		}
		b.Written = f.paths()
	}
	if a.json {
		a.printJSON(b)
	} else {
		a.showWritten(b)
	}
	if !yes {
		return stopped()
	}
	return nil
}

// notWritten tells a file that came meanwhile from a disk that takes none.
func notWritten(err error) error {
	err = fmt.Errorf("%w; nothing was written", err)
	if errors.Is(err, os.ErrExist) {
		return usage("%w", err)
	}
	return ourSide(err)
}

// ask reads one line; only y and yes, in either case, are a yes. The end of the input is a no.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.out, "%s [y/N] ", question)
	line := make(chan string, 1)
	go func() { // a read cannot be interrupted: after Ctrl-C this one ends with the process
		s, _ := bufio.NewReader(io.LimitReader(a.stdin, 1<<10)).ReadString('\n') // cut off or not, what came is the answer
		line <- s
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return false, context.Cause(ctx)
	case s := <-line:
		if !strings.HasSuffix(s, "\n") {
			fmt.Fprintln(a.out)
		}
		s = strings.ToLower(strings.TrimSpace(s))
		return s == "y" || s == "yes", nil
	}
}

// mostRows is how many rows of a kind are shown, where the kind is for a person's information alone.
const mostRows = 8

func (a *app) showBegun(b begun) {
	var s strings.Builder
	fmt.Fprintf(&s, "redraft: %s, form %s\n\n", b.Repository, b.Form)
	b.Found.rows(func(what, text, from string) {
		fmt.Fprintf(&s, "%-11s %s\n", what, text)
		if from != "" && from != text {
			fmt.Fprintf(&s, "            from %s\n", from)
		}
	})
	for _, f := range b.Files {
		fmt.Fprintf(&s, "\n%s\n%s", f.Path, indented(f.Text))
	}
	if b.Step != "" {
		fmt.Fprintf(&s, "\nTo add by hand, to the job that runs the check\n%s", indented(b.Step))
	}
	fmt.Fprintln(&s)
	fmt.Fprint(a.out, a.clean.Terminal(s.String()))
}

// rows tells what was found, thing by thing.
func (f found) rows(row func(what, text, from string)) {
	for _, c := range f.Checks {
		row("check", c.text(), c.from())
	}
	if len(f.Checks) == 0 {
		row("check", "none found: write it under checks in "+plan.FileName, "")
	}
	row("runner", flow(f.RunsOn.Labels), f.RunsOn.From)
	row("branch", orElse(f.Branch.Name, "not known"), f.Branch.From)
	var others []string
	for _, w := range f.Workflows {
		if w.Why == "" {
			row("answers", w.Name, w.Path)
		} else {
			others = append(others, w.Path+": "+w.Why)
		}
	}
	for _, text := range others[:min(len(others), mostRows)] {
		row("not taken", text, "")
	}
	if n := len(others) - mostRows; n > 0 {
		row("not taken", fmt.Sprintf("and %d more", n), "")
	}
	for _, s := range f.Steps[:min(len(f.Steps), mostRows)] {
		row("also run", s.Run, s.From)
	}
	if n := len(f.Steps) - mostRows; n > 0 {
		row("also run", fmt.Sprintf("and %d more", n), "")
	}
}

// indented sets a text off from what is said about it.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("  | "+line, " \n") + "\n")
	}
	return b.String()
}

func (a *app) showWritten(b begun) {
	if len(b.Written) == 0 {
		fmt.Fprintln(a.out, "Nothing was written.")
		return
	}
	var s strings.Builder
	fmt.Fprintf(&s, "Written: %s\n\nNext\n", strings.Join(b.Written, ", "))
	for i, n := range b.Next {
		fmt.Fprintf(&s, "%d. %s\n", i+1, n)
	}
	fmt.Fprint(a.out, a.clean.Terminal(s.String()))
}
