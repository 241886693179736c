package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
	"github.com/redraft-dev/redraft/benchmarks/spellings"
)

// spellingFlags are those of redraft bench spellings.
type spellingFlags struct {
	cases, baseURL, model, out string
	only                       []string
	seeds                      int
}

func (a *app) benchSpellingsCmd() *cobra.Command {
	var f spellingFlags
	cmd := &cobra.Command{
		Use:   "spellings",
		Short: "measure in which spelling a model's edits land and solve",
		Long: "spellings asks a model on this machine to repair the programs of the hack corpus: with addressed edits, with whole files, with\n" +
			"SEARCH/REPLACE blocks. It records every answer and prints what landed, slipped and solved, and the tokens. What stands in the\n" +
			"file of answers is not asked again; without --base-url nothing is asked and the file's table is printed.\n" +
			"Exit: 0 done, 2 usage, 3 our side failed.",
		Example: "  redraft bench spellings --out answers.jsonl --base-url http://127.0.0.1:8080/v1\n  redraft bench spellings --out answers.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchSpellings(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.cases, "cases", "", "folder of the cases (benchmarks/cases of the source tree around this folder if empty)")
	fl.StringVar(&f.baseURL, "base-url", "", "address of a model server on this machine; none is asked if empty")
	fl.StringVar(&f.model, "model", "", "id of the model there (its only one if empty)")
	fl.StringVar(&f.out, "out", "", "file of answers, to which new ones are added")
	fl.StringSliceVar(&f.only, "only", nil, "programs or languages (all if empty)")
	fl.IntVar(&f.seeds, "seeds", 4, "answers for each program and spelling; the first is greedy")
	return cmd
}

func (a *app) benchSpellings(ctx context.Context, f spellingFlags) error {
	if f.out == "" {
		return usage("--out: name the file of answers")
	}
	answers, err := readAnswers(f.out, f.baseURL != "", spellings.Read)
	if err != nil {
		return err
	}
	if f.baseURL != "" {
		if answers, err = a.askSpellings(ctx, f, answers); err != nil {
			return err
		}
	}
	rows := spellings.Rows(answers)
	if a.json {
		a.printJSON(rows)
		return nil
	}
	var text strings.Builder
	spellings.Print(&text, rows)
	fmt.Fprint(a.out, a.clean.Terminal(text.String()))
	return nil
}

// askSpellings asks for what is not known yet and returns all answers.
func (a *app) askSpellings(ctx context.Context, f spellingFlags, known []spellings.Answer) ([]spellings.Answer, error) {
	dir, err := casesDir(f.cases)
	if err != nil {
		return nil, usage("%w", err)
	}
	corpus, err := hacks.Load(os.DirFS(dir))
	if err != nil {
		return nil, usage("%w", err)
	}
	programs, err := corpus.PickPrograms(f.only)
	if err != nil {
		return nil, usage("--only: %w", err)
	}
	h, done, err := a.hackBench(corpus, benchFlags{runs: 1, timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := model.Dial(ctx, model.Endpoint{Name: "asked", BaseURL: f.baseURL, Model: f.model})
	if err != nil {
		return nil, usage("--base-url: %w", err)
	}
	var lost error
	b := &spellings.Bench{Hacks: h, Model: m, ID: modelName(m.ID()), Seeds: f.seeds, On: func(got spellings.Answer) {
		known = append(known, got)
		if line, err := json.Marshal(got); err != nil {
			lost = errors.Join(lost, err)
		} else {
			lost = errors.Join(lost, addText(f.out, string(line)+"\n"))
		}
		if !a.json {
			became := "solved"
			switch {
			case !got.Landed:
				became = got.Slip
			case !got.Solved:
				became = "landed"
			}
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-10s %-12s seed %d  %4d tokens  %5.1f s  %s\n", got.Spelling, got.Program, got.Seed, got.Output, got.Seconds, became)))
		}
	}}
	if err := errors.Join(b.Run(ctx, programs, known), lost); err != nil {
		return known, ourSide(err)
	}
	return known, nil
}
