package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
)

// benchCmd holds this program against cases of its source tree.
func (a *app) benchCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "hold this program against cases that lie in a folder"}
	cmd.AddCommand(a.benchHacksCmd(), a.benchSpellingsCmd(), a.benchSceneCmd())
	return cmd
}

// benchFlags are those of redraft bench hacks.
type benchFlags struct {
	cases   string
	only    []string
	width   int
	runs    int
	timeout time.Duration
	out     string
	list    bool
	every   bool
	ask     int
	baseURL string
	model   string
	set     string
}

func (a *app) benchHacksCmd() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "hacks",
		Short: "count which rung refuses which hack, and which honest change",
		Long: "hacks takes every case of a corpus through the gate, the rungs and the admission, in the jail, and prints which of them\n" +
			"refuses what: alone and added up, by kind and by language, with every exception by its name.\n" +
			"With --ask it asks a model on this machine to get the programs' checks green by any means, and keeps the answers that are changes of it.\n" +
			"Exit: 0 no hack accepted and no honest change refused, 1 some were, 2 usage, 3 our side failed.",
		Example: "  redraft bench hacks --only go-cart\n  redraft bench hacks --only first --json\n  redraft bench hacks --ask 20 --base-url http://127.0.0.1:8080/v1",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchHacks(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.cases, "cases", "", "folder of the cases (benchmarks/cases of the source tree around this folder if empty)")
	fl.StringSliceVar(&f.only, "only", nil, "programs, kinds, languages, sets, or names of cases with * (all if empty)")
	fl.IntVar(&f.width, "width", 0, "programs at a time (the number of CPUs if zero)")
	fl.IntVar(&f.runs, "runs", 0, "runs that a colour needs (3, as for any quick check, if zero)")
	fl.DurationVar(&f.timeout, "timeout", 0, "how long one run of a check may take (2m if zero)")
	fl.StringVar(&f.out, "out", "", "file to which every outcome is added; cases that stand in it are not run again")
	fl.BoolVar(&f.every, "every", false, "ask every rung, also after one that refused: slower, and shows each alone")
	fl.BoolVar(&f.list, "list", false, "print the cases and run none")
	fl.IntVar(&f.ask, "ask", 0, "ask a model this many times for each program of --only instead of running cases")
	fl.StringVar(&f.baseURL, "base-url", "", "with --ask: address of a model server on this machine")
	fl.StringVar(&f.model, "model", "", "with --ask: id of the model there (its only one if empty)")
	fl.StringVar(&f.set, "set", "second", "with --ask: set to which answers are added")
	return cmd
}

func (a *app) benchHacks(ctx context.Context, f benchFlags) error {
	dir, err := casesDir(f.cases)
	if err != nil {
		return usage("%w", err)
	}
	corpus, err := hacks.Load(os.DirFS(dir))
	if err != nil {
		return usage("%w", err)
	}
	b, done, err := a.hackBench(corpus, f)
	if err != nil {
		return err
	}
	defer done()
	if f.ask > 0 {
		return a.askForHacks(ctx, b, dir, f)
	}
	cases, err := corpus.Pick(f.only)
	if err != nil {
		return usage("--only: %w", err)
	}
	if f.list {
		for _, c := range cases {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-46s %-10s %s\n", c.ID(), c.Kind, c.Note)))
		}
		return nil
	}
	return a.runHacks(ctx, b, cases, f)
}

// casesDir is the folder of the cases: the one named, or the one of the source tree around the working folder.
func casesDir(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	dir, err := os.Getwd()
	for err == nil {
		cases := filepath.Join(dir, "benchmarks", "cases")
		if info, err := os.Stat(filepath.Join(cases, "programs")); err == nil && info.IsDir() {
			return cases, nil
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
		} else {
			err = errors.New("there is no benchmarks/cases in this folder or above it: name the folder with --cases")
		}
	}
	return "", err
}

func (a *app) hackBench(corpus hacks.Corpus, f benchFlags) (*hacks.Bench, func(), error) {
	state, err := a.stateDir()
	if err != nil {
		return nil, nil, ourSide(err)
	}
	dir, err := os.MkdirTemp("", "redraft-bench-")
	if err != nil {
		return nil, nil, ourSide(err)
	}
	done := func() { _ = os.RemoveAll(dir) } // a folder of the system's own for what is temporary
	box, err := sandbox.Open(sandbox.Options{Tier: sandbox.Tier(a.config.Sandbox.Tier), TmpDir: dir})
	if err != nil {
		done()
		return nil, nil, usage("%w", err)
	}
	b := &hacks.Bench{
		Corpus: corpus, Box: box, State: state, Dir: dir, Getenv: a.getenv, Width: f.width, Runs: f.runs, Timeout: f.timeout, Clean: a.clean.Text,
		Every: f.every,
	}
	return b, done, nil
}

// runHacks runs the cases that do not stand in the file of outcomes yet, and prints the tables of all.
func (a *app) runHacks(ctx context.Context, b *hacks.Bench, cases []hacks.Case, f benchFlags) error {
	all, left, err := b.Known(f.out, cases)
	if err != nil {
		return usage("--out: %w", err)
	}
	b.On = func(o hacks.Outcome) {
		if f.out != "" {
			err = errors.Join(err, addLine(f.out, o))
		}
		if !a.json {
			fmt.Fprint(a.out, a.clean.Terminal(o.Line()))
		}
	}
	start := time.Now()
	fresh, ended := b.Run(ctx, left)
	if err = errors.Join(err, ended); err != nil {
		return ourSide(err)
	}
	r := hacks.NewReport(b.Corpus, append(all, fresh...))
	r.Sandbox, r.Seconds = string(b.Box.Tier()), time.Since(start).Seconds()
	if a.json {
		a.printJSON(r)
	} else {
		var text strings.Builder
		r.Print(&text)
		fmt.Fprint(a.out, a.clean.Terminal(text.String()))
	}
	return benchEnd(r)
}

// benchEnd is the exit status: 1 when a hack was accepted or an honest change refused, 3 when a case could not be run.
func benchEnd(r hacks.Report) error {
	bad := false
	for _, t := range r.Tables {
		if len(t.Failed) > 0 {
			return ourSide(fmt.Errorf("%d cases could not be run", len(t.Failed)))
		}
		bad = bad || len(t.Accepted) > 0 || len(t.RefusedHonest) > 0 || len(t.Invalid) > 0
	}
	if bad {
		return stopped()
	}
	return nil
}

// readAnswers reads a file of recorded answers, which need not be there yet where a model is asked.
func readAnswers[T any](name string, asks bool, read func([]byte) ([]T, error)) ([]T, error) {
	raw, err := os.ReadFile(name)
	if err != nil && (!asks || !errors.Is(err, fs.ErrNotExist)) {
		return nil, usage("read the answers: %w", err)
	}
	answers, err := read(raw)
	if err != nil {
		return nil, usage("read %s: %w", name, err)
	}
	return answers, nil
}

// modelName is a model's id, without the folder where a server names the file of its weights: records are compared between machines.
func modelName(id string) string {
	if path.IsAbs(id) {
		return path.Base(id)
	}
	return id
}

func addLine(name string, o hacks.Outcome) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return addText(name, string(line)+"\n")
}

// addText adds to the end of a file, which is made when it is not there.
func addText(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// askForHacks asks a model about programs and adds its green answers to a set.
func (a *app) askForHacks(ctx context.Context, b *hacks.Bench, dir string, f benchFlags) error {
	programs, err := b.Corpus.PickPrograms(f.only)
	if err != nil {
		return usage("--only: %w", err)
	}
	m, err := model.Dial(ctx, model.Endpoint{Name: "asked", BaseURL: f.baseURL, Model: f.model})
	if err != nil {
		return usage("--base-url: %w", err)
	}
	for _, p := range programs {
		name := filepath.Join(dir, "hacks", f.set, p.Name+".txt")
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), b.Ask(ctx, m, p, f.ask, func(got hacks.Answer) {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%s, seed %d: %s\n", p.Name, got.Seed, orElse(got.Why, "green"))))
			if got.Lands {
				err = errors.Join(err, addText(name, got.Case(m.ID())))
			}
		}))
		if err != nil {
			return ourSide(err)
		}
	}
	if err != nil {
		return ourSide(err)
	}
	return nil
}
