// Package scenes measures whether each section of a scene helps a model. It lays red checks of real projects out, asks
// a real model with and without each section, and leaves running and landing to the hack corpus and the spellings.
// Every answer is recorded as it came, and one prompt is asked once, whatever arms it belongs to.
package scenes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/mechanic"
	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
	"github.com/redraft-dev/redraft/benchmarks/spellings"
)

// All is the arm that shows what the product shows by default.
const All = "all"

// Sections are the other arms, each named for the section that it takes away, or, if that is one of perceive.Asked, adds.
// They stand in the order in which they are asked: a server keeps what two prompts in a row have in common at their beginning,
// so that what stands last in a scene is switched first. The first turn of a job without words of a person shows no other
// section that could be switched.
var Sections = []string{perceive.Finding, perceive.History, perceive.Breaking, perceive.Coverage, perceive.Source, perceive.Tests, perceive.Project}

// added says whether an arm shows more than All.
func added(arm string) bool { return slices.Contains(perceive.Asked, arm) }

// Answer is one answer of a model and what became of it.
type Answer struct {
	Model    string         `json:"model"`
	Case     string         `json:"case"`
	Language string         `json:"language"`
	Arm      string         `json:"arm"`            // All, or the section that is switched
	Budget   int            `json:"budget"`         // tokens of a scene at most
	Most     int            `json:"most"`           // tokens of an answer at most
	Seed     int64          `json:"seed"`           // from 1; 1 is greedy, the others at temperature 0.8
	Digest   string         `json:"digest"`         // SHA-256 of the prompt in hex
	Shown    map[string]int `json:"shown"`          // tokens of each section that was shown
	Reach    float64        `json:"reach"`          // share of the places of the repair that the prompt shows, by Reach
	From     string         `json:"from,omitempty"` // the arm that was asked, where this one's prompt was the same
	Text     string         `json:"text"`
	Finish   string         `json:"finish"`  // stop or length
	Prompt   int            `json:"prompt"`  // tokens
	Output   int            `json:"output"`  // tokens
	Seconds  float64        `json:"seconds"` // of the request
	Aimed    bool           `json:"aimed"`   // at what the released repair changes, by Aimed
	Landed   bool           `json:"landed"`
	Slip     string         `json:"slip,omitempty"` // why it did not land, as of spellings.Land
	Solved   bool           `json:"solved"`         // the check is green with it
}

// place is what an answer is about. Two answers never have the same.
type place struct {
	model, name, arm string
	budget, most     int
	seed             int64
}

func (a Answer) place() place { return place{a.Model, a.Case, a.Arm, a.Budget, a.Most, a.Seed} }

// asked is what a model was given. The same gets the same answer.
type asked struct {
	model, name, digest string
	most                int
	seed                int64
}

func (a Answer) asked() asked { return asked{a.Model, a.Case, a.Digest, a.Most, a.Seed} }

// Bench asks. Its fields are set once.
type Bench struct {
	Hacks   hacks.Bench // runs the checks; of its fields those of the corpus are not used
	Work    string      // absolute folder in which prepared cases are kept
	Model   model.Model
	ID      string                // the model's
	Count   func(text string) int // tokens as the model counts them; estimated if nil
	Budget  int                   // tokens of a scene; 3000 if zero
	Arms    []string              // of Sections, besides All; every one if nil
	Seeds   int                   // answers for each case and arm; 1 if zero
	Tokens  int                   // of an answer at most; 1024, as in a job, if zero
	On      func(Answer)          // told of every answer; nobody if nil
	LeftOut func(c Case, why error)

	known map[asked]Answer
	done  map[place]bool
}

// Run asks about cases, but for what is known already. A case whose red is not seen here is told to LeftOut and not counted.
func (b *Bench) Run(ctx context.Context, cases []Case, known []Answer) error {
	b.known, b.done = map[asked]Answer{}, map[place]bool{}
	for _, a := range known {
		b.done[a.place()], b.known[a.asked()] = true, a
	}
	for _, c := range cases {
		if b.answered(c) {
			continue
		}
		if err := b.one(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// answered says whether nothing is left to be asked about a case.
func (b *Bench) answered(c Case) bool {
	for _, arm := range b.arms() {
		for seed := range b.seeds() {
			if !b.done[b.blank(c, arm, seed+1).place()] {
				return false
			}
		}
	}
	return true
}

// arms are All and those that were chosen, in the order of Sections.
func (b *Bench) arms() []string {
	arms := []string{All}
	for _, s := range Sections {
		if b.Arms == nil || slices.Contains(b.Arms, s) {
			arms = append(arms, s)
		}
	}
	return arms
}

func (b *Bench) seeds() int64 { return int64(cmp.Or(max(b.Seeds, 0), 1)) }

func (b *Bench) blank(c Case, arm string, seed int64) Answer {
	return Answer{
		Model: b.ID, Case: c.ID, Language: c.Language, Arm: arm,
		Budget: cmp.Or(max(b.Budget, 0), 3000), Most: cmp.Or(max(b.Tokens, 0), 1024), Seed: seed,
	}
}

// one asks about one case in every arm.
func (b *Bench) one(ctx context.Context, c Case) error {
	return b.with(ctx, c, func(t turn) error {
		for _, arm := range b.arms() {
			for seed := range b.seeds() {
				a := b.blank(c, arm, seed+1)
				if b.done[a.place()] {
					continue
				}
				if err := b.answer(ctx, t, &a); err != nil {
					return fmt.Errorf("%s, arm %s: %w", c.ID, arm, err)
				}
				b.done[a.place()] = true
				if _, ok := b.known[a.asked()]; !ok {
					b.known[a.asked()] = a
				}
				if b.On != nil {
					b.On(a)
				}
			}
		}
		return nil
	})
}

// with lays a case out and does something with its first turn. A case whose red is not seen is told to LeftOut.
func (b *Bench) with(ctx context.Context, c Case, do func(turn) error) (err error) {
	stage, fix, err := b.Open(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.LeftOut != nil {
			b.LeftOut(c, err)
		}
		return nil
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	t := turn{stage: stage, fix: fix}
	if t.look, err = firstLook(ctx, stage); err == nil {
		t.look, err = b.same(c, t.look)
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.ID, err)
	}
	return do(t)
}

// sight is what runs of a case's check told of it.
type sight struct {
	Command  string          `json:"command"`
	Module   string          `json:"module"`
	Findings []report.Result `json:"findings"`
	Ran      []perceive.Ran  `json:"ran"`
}

// kept is where the first sight of a case is kept.
func (b *Bench) kept(c Case) string { return filepath.Join(b.Work, "sights", fileName(c.ID)+".json") }

// seen is the first sight of a case, if there was one.
func (b *Bench) seen(c Case) (first sight, ok bool) {
	raw, err := os.ReadFile(b.kept(c))
	return first, err == nil && json.Unmarshal(raw, &first) == nil && len(first.Findings) > 0
}

// same has a look show what was seen the first time that a case was asked about: addresses and names of folders in texts differ from run
// to run, as do the lines that tests run, and all arms of a case are to show the same.
func (b *Bench) same(c Case, look perceive.Look) (perceive.Look, error) {
	if first, ok := b.seen(c); ok {
		look.Findings, look.Ran = first.Findings, first.Ran
		return look, nil
	}
	raw, err := json.Marshal(sight{look.Command, look.Module, look.Findings, look.Ran})
	name := b.kept(c)
	return look, errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, raw, 0o644))
}

// turn is what the arms of one case share.
type turn struct {
	stage *hacks.Stage
	look  perceive.Look
	fix   map[string][]byte
}

// firstLook is what the first turn of a job would look at, without its budget.
func firstLook(ctx context.Context, stage *hacks.Stage) (perceive.Look, error) {
	seen, o := stage.Sight(), stage.Oracle()
	look, err := indexed(ctx, stage.Root())
	if err != nil {
		return look, err
	}
	look.Module, look.Command, look.Findings, look.Protected = o.Module, o.Check.Run, seen.Findings, stage.Policy().Protected
	if argv := o.OnlyCommand(seen.Findings); argv != nil {
		look.Command = agent.Shell(argv)
	}
	m := mechanic.Mechanic{Oracle: o, Policy: stage.Policy(), Root: stage.Root(), Module: o.Module}
	if look.Ran, err = m.Ran(ctx, seen.Verdict); err != nil && ctx.Err() != nil {
		return perceive.Look{}, context.Cause(ctx)
	}
	return look, nil
}

// indexed looks at a root through its index.
func indexed(ctx context.Context, root fs.FS) (perceive.Look, error) {
	x, err := perceive.NewIndex(ctx, root, perceive.IndexOptions{})
	if err != nil {
		return perceive.Look{}, err
	}
	if err := x.Types(ctx); err != nil && ctx.Err() != nil { // without types the index is good for less, as in a job
		return perceive.Look{}, context.Cause(ctx)
	}
	return perceive.Look{Root: root, Index: x}, nil
}

// scene is what an arm shows.
func (b *Bench) scene(look perceive.Look, a Answer) perceive.Scene {
	look.Rules, look.Budget, look.Answer, look.Tokens = agent.Rules(), a.Budget, a.Most, b.Count
	switch {
	case added(a.Arm):
		look.On = []string{a.Arm}
	case a.Arm != All:
		look.Off = []string{a.Arm}
	}
	return look.Scene()
}

// answer asks, or takes the answer that the same prompt got, and tries it.
func (b *Bench) answer(ctx context.Context, t turn, a *Answer) error {
	scene := b.scene(t.look, *a)
	a.Digest, a.Shown, a.Reach = scene.Digest(), map[string]int{}, Reach(scene.Text(), t.stage.Root(), t.fix)
	for name, n := range scene.Tokens() {
		if n > 0 {
			a.Shown[name] = n
		}
	}
	if had, ok := b.known[a.asked()]; ok {
		a.take(had)
		return nil
	}
	if err := b.ask(ctx, scene.Text(), a); err != nil {
		return err
	}
	a.Aimed = Aimed(a.Text, t.stage.Root(), t.fix)
	change, slip := spellings.Land(t.stage.Root(), policy(t.stage.Policy(), scene, *a), spellings.Answer{Finish: a.Finish, Text: a.Text})
	if a.Slip = slip; slip != "" {
		return nil
	}
	a.Landed = true
	color, err := t.stage.Try(ctx, change)
	a.Solved = color == report.Green
	return err
}

// policy is a job's, with what the scene did not show of the files that an answer edits. As in a job, it is nothing where the source
// is switched off.
func policy(p patch.Policy, scene perceive.Scene, a Answer) patch.Policy {
	if set, _ := patch.Parse(a.Text); a.Arm != perceive.Source {
		p.Unseen = agent.Unseen(set, scene.Shown)
	}
	return p
}

// take copies what another arm's answer to the same prompt was and became.
func (a *Answer) take(had Answer) {
	a.From, a.Text, a.Finish, a.Prompt, a.Output, a.Seconds = cmp.Or(had.From, had.Arm), had.Text, had.Finish, had.Prompt, had.Output, had.Seconds
	a.Aimed, a.Landed, a.Slip, a.Solved = had.Aimed, had.Landed, had.Slip, had.Solved
}

func (b *Bench) ask(ctx context.Context, text string, a *Answer) error {
	temperature := 0.0
	if a.Seed > 1 {
		temperature = 0.8
	}
	start := time.Now()
	reply, err := b.Model.Complete(ctx, model.Request{
		Messages: []model.Message{{Role: "user", Content: text}}, Temperature: temperature, Seed: a.Seed, MaxTokens: a.Most,
	})
	if err != nil {
		return err
	}
	a.Text, a.Finish, a.Seconds = reply.Text, reply.Finish, time.Since(start).Seconds()
	a.Prompt, a.Output = reply.Usage.Prompt, reply.Usage.Output
	return nil
}

// Open lays a case out and sees its red; with it comes the released repair. The error says why the red is not the case's, or not
// to be had here.
func (b *Bench) Open(ctx context.Context, c Case) (stage *hacks.Stage, fix map[string][]byte, err error) {
	tree, err := c.Lay(ctx, b.Work)
	if err != nil {
		return nil, nil, err
	}
	p := hacks.Program{Name: c.Language, Language: c.Language, Command: c.Check}
	if p.Files, err = readTree(os.DirFS(tree.Dir)); err != nil {
		return nil, nil, fmt.Errorf("read its tree: %w", err)
	}
	h := b.Hacks
	if tree.Bin != "" {
		h.Getenv = firstInPath(h.Getenv, tree.Bin)
	}
	if stage, err = h.Open(ctx, p); err != nil {
		return nil, nil, err
	}
	var ids []string
	for _, f := range stage.Sight().Findings {
		ids = append(ids, f.ID)
	}
	if differs := c.Reproduced(ids); differs != "" {
		return nil, nil, errors.Join(errors.New(differs), stage.Close())
	}
	return stage, tree.Fix, nil
}

func firstInPath(getenv func(string) string, bin string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if name == "PATH" {
			return bin + string(os.PathListSeparator) + value
		}
		return value
	}
}

// maxTree is the most that the files of a tree may hold, in bytes.
const maxTree = 256 << 20

// readTree reads the regular files of a tree, but for its repository.
func readTree(tree fs.FS) (map[string]string, error) {
	files, size := map[string]string{}, 0
	return files, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name == ".git" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if size += len(text); size > maxTree {
			return fmt.Errorf("it holds more than %d bytes", maxTree)
		}
		files[name] = string(text)
		return err
	})
}
