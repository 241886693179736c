package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// benchSceneFlags are those of redraft bench scene.
type benchSceneFlags struct {
	data, work, baseURL, model, out string
	only, arms                      []string
	seeds, tokens, answer, each     int
	timeout                         time.Duration
	list, prepare, reach            bool
}

func (a *app) benchSceneCmd() *cobra.Command {
	var f benchSceneFlags
	cmd := &cobra.Command{
		Use:   "scene",
		Short: "measure which sections of a scene help a model",
		Long: "scene lays red checks of public Go modules and Python packages out, and asks a model on this machine to repair them: with all that a\n" +
			"first turn shows, without each section, and with the skeleton. It records every answer and prints what landed and what it solved.\n" +
			"One prompt is asked once, whatever arms show it. What stands in the file of answers is not asked again; without --base-url nothing is\n" +
			"asked and the file's table is printed. A case that is not red here as it should be is told and left out. With --reach no model is\n" +
			"needed: it prints what scenes show of the released repairs, and for how many the first address that they offer is right; what was seen\n" +
			"of a case before is not run again.\n\n" +
			"reach is the share of the places of the released repair that the prompts show; aimed are the answers that edit what it changes,\n" +
			"landed or not. only with and only without count the cases that are solved with a section and not without it, and the other way\n" +
			"round; p is how likely such a difference is by chance. Packages come from the Go module proxy and the Python package index, and\n" +
			"are kept.\n" +
			"Arms: " + strings.Join(scenes.Sections, ", ") + ".\n\nExit: 0 done, 1 with --prepare: a case is not red here, 2 usage, 3 our side failed.",
		Example: "  redraft bench scene --prepare\n  redraft bench scene --reach --tokens 6912\n  redraft bench scene --out answers.jsonl --base-url http://127.0.0.1:8080/v1\n  redraft bench scene --out answers.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchScene(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.data, "data", "", "folder of the public inputs, with tasks/pypackages.json (the variable REDRAFT_DATA if empty)")
	fl.StringVar(&f.work, "work", "", "folder in which prepared cases are kept (bench in the state folder if empty)")
	fl.StringVar(&f.baseURL, "base-url", "", "address of a model server on this machine; none is asked if empty")
	fl.StringVar(&f.model, "model", "", "id of the model there (its only one if empty)")
	fl.StringVar(&f.out, "out", "", "file of answers, to which new ones are added")
	fl.StringSliceVar(&f.only, "only", nil, "go, python, or parts of cases' names (all if empty)")
	fl.StringSliceVar(&f.arms, "arms", nil, "sections to switch (every one if empty)")
	fl.IntVar(&f.seeds, "seeds", 1, "answers for each case and arm; the first is greedy")
	fl.IntVar(&f.tokens, "tokens", 3000, "budget of a scene in tokens")
	fl.IntVar(&f.answer, "answer", 1024, "tokens of an answer at most")
	fl.IntVar(&f.each, "each", scenes.PerLanguage, "cases of each language, those with the smallest repairs")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long one run of a check may take")
	fl.BoolVar(&f.list, "list", false, "print the cases and prepare none")
	fl.BoolVar(&f.prepare, "prepare", false, "prepare the cases and see their red, and ask nobody")
	fl.BoolVar(&f.reach, "reach", false, "print what scenes show of the repairs, and ask nobody")
	cmd.MarkFlagsMutuallyExclusive("list", "prepare", "reach", "base-url")
	return cmd
}

// valid says what is wrong with the flags.
func (f benchSceneFlags) valid() error {
	for _, name := range f.arms {
		if !slices.Contains(scenes.Sections, name) {
			return usage("--arms: no arm is called %q; there are %s", name, strings.Join(scenes.Sections, ", "))
		}
	}
	if f.seeds < 1 || f.tokens < 1 || f.answer < 1 || f.each < 1 {
		return usage("--seeds, --tokens, --answer and --each must be above zero")
	}
	if f.out == "" && !f.list && !f.prepare && !f.reach {
		return usage("--out: name the file of answers")
	}
	return nil
}

func (a *app) benchScene(ctx context.Context, f benchSceneFlags) error {
	if err := f.valid(); err != nil {
		return err
	}
	if f.list || f.prepare || f.reach {
		cases, err := a.sceneCases(f)
		switch {
		case err != nil:
			return err
		case f.list:
			return a.listScenes(cases)
		case f.reach:
			return a.viewScenes(ctx, f, cases)
		}
		return a.prepareScenes(ctx, f, cases)
	}
	answers, err := readAnswers(f.out, f.baseURL != "", scenes.Read)
	if err != nil {
		return err
	}
	if f.baseURL != "" {
		if answers, err = a.askScenes(ctx, f, answers); err != nil {
			return err
		}
	}
	return a.showSceneTable(scenes.Rows(answers))
}

func (a *app) showSceneTable(rows []scenes.Row) error {
	if a.json {
		a.printJSON(append([]scenes.Row{}, rows...))
		return nil
	}
	var text strings.Builder
	if err := scenes.Print(&text, rows); err != nil {
		return ourSide(err)
	}
	fmt.Fprint(a.out, a.clean.Terminal(text.String()))
	return nil
}

// sceneCases are the cases that the flags choose.
func (a *app) sceneCases(f benchSceneFlags) ([]scenes.Case, error) {
	data := orElse(f.data, a.getenv("REDRAFT_DATA"))
	if data == "" {
		return nil, usage("find the cases: REDRAFT_DATA is not set; name the folder of public inputs with --data")
	}
	cases, err := scenes.Cases(data, f.each)
	if err != nil {
		return nil, usage("find the cases: %w", err)
	}
	if cases, err = scenes.Pick(cases, f.only); err != nil {
		return nil, usage("--only: %w", err)
	}
	return cases, nil
}

// sceneLine is a case as --list and --prepare print it.
type sceneLine struct {
	Case     string  `json:"case"`
	Language string  `json:"language"`
	Lines    int     `json:"changed_lines"`
	Check    string  `json:"check"`
	Red      *bool   `json:"red,omitempty"` // as it should be; nothing where it was not looked
	Why      string  `json:"why,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
}

func lineOf(c scenes.Case) sceneLine {
	return sceneLine{Case: c.ID, Language: c.Language, Lines: c.Lines, Check: c.Check}
}

func (a *app) listScenes(cases []scenes.Case) error {
	all := []sceneLine{}
	for _, c := range cases {
		all = append(all, lineOf(c))
		if !a.json {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-42s %-7s %3d lines  %s\n", c.ID, c.Language, c.Lines, c.Check)))
		}
	}
	if a.json {
		a.printJSON(all)
	}
	return nil
}

// sceneBench is what runs the cases; done removes what it leaves behind.
func (a *app) sceneBench(f benchSceneFlags) (b *scenes.Bench, done func(), err error) {
	h, done, err := a.hackBench(hacks.Corpus{}, benchFlags{runs: 1, timeout: f.timeout})
	if err != nil {
		return nil, nil, err
	}
	work := orElse(f.work, filepath.Join(h.State, "bench"))
	if work, err = filepath.Abs(work); err != nil {
		done()
		return nil, nil, usage("--work: %w", err)
	}
	return &scenes.Bench{Hacks: *h, Work: work, Budget: f.tokens, Tokens: f.answer, Arms: f.arms, Seeds: f.seeds}, done, nil
}

// prepareScenes sees the red of every case, so that a later run starts at once.
func (a *app) prepareScenes(ctx context.Context, f benchSceneFlags, cases []scenes.Case) error {
	b, done, err := a.sceneBench(f)
	if err != nil {
		return err
	}
	defer done()
	all, red := []sceneLine{}, 0
	for _, c := range cases {
		line, start := lineOf(c), time.Now()
		stage, _, err := b.Open(ctx, c)
		if err == nil {
			err = stage.Close()
		}
		if ctx.Err() != nil {
			return ourSide(context.Cause(ctx))
		}
		ok := err == nil
		line.Red, line.Seconds = &ok, time.Since(start).Seconds()
		word := "red"
		if ok {
			red++
		} else {
			word, line.Why = "not red", err.Error()
		}
		all = append(all, line)
		if !a.json {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-7s %5.1f s  %-42s %s\n", word, line.Seconds, c.ID, firstLine(line.Why))))
		}
	}
	if a.json {
		a.printJSON(all)
	} else {
		fmt.Fprintf(a.out, "%d of %d cases are red here as they should be.\n", red, len(all))
	}
	if red < len(all) {
		return stopped()
	}
	return nil
}

// viewScenes prints what the scenes of cases show, and asks nobody.
func (a *app) viewScenes(ctx context.Context, f benchSceneFlags, cases []scenes.Case) error {
	b, done, err := a.sceneBench(f)
	if err != nil {
		return err
	}
	defer done()
	b.LeftOut = func(c scenes.Case, why error) {
		fmt.Fprint(a.err, a.clean.Terminal(fmt.Sprintf("left out: %s: %v\n", c.ID, why)))
	}
	all, reach, first := []scenes.View{}, 0.0, 0
	err = b.View(ctx, cases, func(v scenes.View) {
		all, reach = append(all, v), reach+v.Reach
		points := "elsewhere"
		if v.First {
			first++
			points = "right"
		}
		if !a.json {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%5d tokens  reach %3.0f %%  first address %-9s  %s\n", v.Tokens, 100*v.Reach, points, v.Case)))
		}
	})
	if err != nil {
		return ourSide(err)
	}
	if a.json {
		a.printJSON(all)
		return nil
	}
	fmt.Fprintf(a.out, "Scenes of %d tokens show %.1f %% of the places that the repairs of %d cases change; the first address is right for %d.\n",
		f.tokens, 100*reach/float64(max(1, len(all))), len(all), first)
	return nil
}

// askScenes asks for what is not known yet and returns all answers.
func (a *app) askScenes(ctx context.Context, f benchSceneFlags, known []scenes.Answer) ([]scenes.Answer, error) {
	cases, err := a.sceneCases(f)
	if err != nil {
		return nil, err
	}
	m, err := model.Dial(ctx, model.Endpoint{Name: "asked", BaseURL: f.baseURL, Model: f.model})
	if err != nil {
		return nil, usage("--base-url: %w", err)
	}
	b, done, err := a.sceneBench(f)
	if err != nil {
		return nil, err
	}
	defer done()
	b.Model, b.ID, b.Count = m, modelName(m.ID()), m.Tokens
	var lost error
	out := 0
	b.LeftOut = func(c scenes.Case, why error) {
		out++
		fmt.Fprint(a.err, a.clean.Terminal(fmt.Sprintf("left out: %s: %v\n", c.ID, why)))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.On = func(got scenes.Answer) {
		known = append(known, got)
		line, err := json.Marshal(got)
		if err == nil {
			err = addText(f.out, string(line)+"\n")
		}
		if lost = err; err != nil {
			cancel(fmt.Errorf("record an answer: %w", err)) // an answer that is not kept was asked for nothing
		}
		a.tellScene(got)
	}
	if err := errors.Join(b.Run(ctx, cases, known), lost); err != nil {
		return known, ourSide(err)
	}
	if out > 0 {
		fmt.Fprintf(a.err, "%d of %d cases are left out.\n", out, len(cases))
	}
	return known, nil
}

// tellScene prints one answer while others are still asked for.
func (a *app) tellScene(got scenes.Answer) {
	if a.json {
		return
	}
	became, cost := "solved", fmt.Sprintf("%4d+%4d tokens  %5.1f s", got.Prompt, got.Output, got.Seconds)
	switch {
	case !got.Landed:
		became = got.Slip
	case !got.Solved:
		became = "landed"
	}
	if got.From != "" {
		cost = "the prompt of " + got.From
	}
	fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-42s %-10s seed %d  %-26s  %s\n", got.Case, got.Arm, got.Seed, cost, became)))
}
