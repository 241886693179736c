// Package spellings measures in which spelling a model's edits land best: addressed, whole file or SEARCH/REPLACE. It
// asks a real model about the same red programs in each, and leaves programs and runs to the hack corpus, from which
// they come. Every answer is recorded as it came, so that anybody can land it again without a model.
package spellings

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
)

// Spellings of edits that were measured. The product asks for Addressed ones.
const (
	Addressed = "addressed"
	Whole     = "whole"
	Search    = "search"
)

// All are the spellings, the one that is asked for by the product first.
var All = []string{Addressed, Whole, Search}

//go:embed prompts/whole.md
var whole string

//go:embed prompts/search.md
var search string

// Rules is the product's task section, asking for edits in a spelling.
func Rules(spelling string) string {
	switch spelling {
	case Whole:
		return agent.RulesFor(whole)
	case Search:
		return agent.RulesFor(search)
	}
	return agent.Rules()
}

// Form shows the form of an answer in a spelling, with a file and an address of it.
func Form(spelling, file, addr string) string {
	switch spelling {
	case Whole:
		return fmt.Sprintf("Give the corrected file, whole, in this form:\n\n```\n# edit: %s :: *\n…\n```\n", file)
	case Search:
		return fmt.Sprintf("Give the change in this form:\n\n%s\n<<<<<<< SEARCH\n…\n=======\n…\n>>>>>>> REPLACE\n", file)
	}
	return perceive.Form(file, addr)
}

// Answer is one answer of a model and what became of it.
type Answer struct {
	Model    string  `json:"model"`
	Program  string  `json:"program"`
	Language string  `json:"language"`
	Spelling string  `json:"spelling"`
	Seed     int64   `json:"seed"` // from 1; 1 is greedy, the others at temperature 0.8
	Text     string  `json:"text"`
	Finish   string  `json:"finish"`         // stop or length
	Prompt   int     `json:"prompt"`         // tokens
	Output   int     `json:"output"`         // tokens
	Seconds  float64 `json:"seconds"`        // of the request
	Landed   bool    `json:"landed"`         // it became a change of the tree
	Slip     string  `json:"slip,omitempty"` // why it did not: a code of package patch, or too_long
	Solved   bool    `json:"solved"`         // the check is green with it
}

func (a Answer) key() string {
	return fmt.Sprintf("%s %s %s %d", a.Model, a.Program, a.Spelling, a.Seed)
}

// Bench asks. Its fields are set once.
type Bench struct {
	Hacks  *hacks.Bench
	Model  model.Model
	ID     string       // the model's
	Seeds  int          // answers for each program and spelling; 4 if zero
	Tokens int          // of an answer at most; 900 if zero
	On     func(Answer) // told of every answer; nobody if nil
}

// Run asks about programs in every spelling, but for what is known already.
func (b *Bench) Run(ctx context.Context, programs []hacks.Program, known []Answer) error {
	done := map[string]bool{}
	for _, a := range known {
		done[a.key()] = true
	}
	for _, p := range programs {
		if err := b.program(ctx, p, done); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) program(ctx context.Context, p hacks.Program, done map[string]bool) (err error) {
	var stage *hacks.Stage
	defer func() {
		if stage != nil {
			err = errors.Join(err, stage.Close())
		}
	}()
	for _, spelling := range All {
		for seed := range int64(cmp.Or(max(b.Seeds, 0), 4)) {
			a := Answer{Model: b.ID, Program: p.Name, Language: p.Language, Spelling: spelling, Seed: seed + 1}
			if done[a.key()] {
				continue
			}
			if stage == nil {
				if stage, err = b.Hacks.Open(ctx, p); err != nil {
					return fmt.Errorf("lay out %s: %w", p.Name, err)
				}
			}
			if err := b.one(ctx, stage, p, &a); err != nil {
				return err
			}
			if b.On != nil {
				b.On(a)
			}
		}
	}
	return nil
}

// one asks once and tries the answer.
func (b *Bench) one(ctx context.Context, stage *hacks.Stage, p hacks.Program, a *Answer) error {
	temperature := 0.0
	if a.Seed > 1 {
		temperature = 0.8
	}
	start := time.Now()
	reply, err := b.Model.Complete(ctx, model.Request{
		Messages:    []model.Message{{Role: "user", Content: Question(p, stage, a.Spelling)}},
		Temperature: temperature, Seed: a.Seed, MaxTokens: cmp.Or(max(b.Tokens, 0), 900),
	})
	if err != nil {
		return fmt.Errorf("ask about %s: %w", p.Name, err)
	}
	a.Text, a.Finish, a.Prompt, a.Output, a.Seconds = reply.Text, reply.Finish, reply.Usage.Prompt, reply.Usage.Output, time.Since(start).Seconds()
	change, slip := Land(stage.Root(), stage.Policy(), *a)
	if a.Slip = slip; slip != "" {
		return nil
	}
	a.Landed = true
	color, err := stage.Try(ctx, change)
	a.Solved = color == report.Green
	return err
}

// Land makes an answer into a change of a tree, or says by its code why it does not become one. Nothing runs.
func Land(root fs.FS, policy patch.Policy, a Answer) (change patch.Change, slip string) {
	if a.Finish == "length" {
		return change, "too_long"
	}
	set, slips := patch.Parse(a.Text)
	if len(set) == 0 {
		if len(slips) > 0 {
			return change, slips[0].Code
		}
		return change, "no_edit"
	}
	change, _, err := patch.Resolve(root, set, policy)
	var s *patch.Slip
	if errors.As(err, &s) {
		return change, s.Code
	}
	if err != nil {
		return change, "not_text"
	}
	return change, ""
}

// Question shows a program whole, what its check says, and asks for a repair in a spelling, with the product's own words.
func Question(p hacks.Program, stage *hacks.Stage, spelling string) string {
	var b strings.Builder
	b.WriteString(Rules(spelling) + "\n")
	likely := ""
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		fmt.Fprintf(&b, "%s:\n%s\n", name, perceive.Fence("", p.Files[name]))
		if _, protected := stage.Policy().Protected(name); !protected && (likely == "" || len(p.Files[name]) > len(p.Files[likely])) {
			likely = name
		}
	}
	r := stage.Sight().Runs[0].Result
	said := strings.TrimSpace(string(r.Stdout) + string(r.Stderr))
	fmt.Fprintf(&b, "`%s` says:\n%s\n", p.Command, perceive.Fence("", perceive.Clean(said, 1500)))
	b.WriteString(Form(spelling, likely, likely+" :: NAME"))
	return b.String()
}
