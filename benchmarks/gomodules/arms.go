package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/benchmarks"
)

// Outcome is what became of one arm in one case.
type Outcome struct {
	Arm     string  `json:"arm"`
	Word    string  `json:"word"` // red: exact, listed, differs; others: proved, or the stop's reason; refused, failed
	Text    string  `json:"text,omitempty"`
	OK      bool    `json:"ok"` // as it must be; an arm that is only reported is always ok unless our side failed
	Seconds float64 `json:"seconds"`
}

// arm is one way of solving cases.
type arm struct {
	name  string
	short string // what its column counts
	run   func(b *bench, ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error)
}

// prepared is a case as a repository.
type prepared struct {
	repo string
	fix  map[string][]byte
}

// arms in the order in which they are run and shown.
var arms = append([]arm{
	{"red", "reproduced", (*bench).red},
	{"fix", "proved", (*bench).fix},
	{"cheats", "stopped", (*bench).allCheats},
	{"mechanic", "repaired", (*bench).mechanic},
	{"small", "repaired", (*bench).small},
	{"github", "drafted", (*bench).drafted},
	{"github-cheats", "stopped", (*bench).undrafted},
	{"github-small", "drafted", (*bench).draftedByModel},
}, oneByOne()...)

// oneByOne is every cheat as an arm of its own; the arm cheats tries them all in one job.
func oneByOne() (all []arm) {
	for _, ch := range cheats {
		all = append(all, arm{ch.name, "stopped", func(b *bench, ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
			return b.cheat(ctx, c, p, []cheat{ch}, 2)
		}})
	}
	return all
}

// red sees the check through explain-red and holds the findings against the case's list.
func (b *bench) red(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	var said struct {
		Verdict, Class string
		Findings       []struct{ ID string }
	}
	if err := b.redraft(ctx, p.repo, &said, "explain-red", "--check", benchmarks.GoCheck, "--evidence", b.evidence(c, "red")); err != nil {
		return Outcome{}, err
	}
	var ids []string
	for _, f := range said.Findings {
		ids = append(ids, f.ID)
	}
	if said.Verdict != "red" {
		return Outcome{Word: said.Verdict, Text: said.Class}, nil
	}
	if differs := c.Reproduced(ids); differs != "" {
		return Outcome{Word: "differs", Text: differs}, nil
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(c.Red, id) }) {
		return Outcome{Word: "listed", Text: fmt.Sprintf("%d red, all %d of the cut list among them", len(ids), len(c.Red)), OK: true}, nil
	}
	return Outcome{Word: "exact", OK: true}, nil
}

// fix answers with the released repair, which must be proved and stand in the branch to the byte.
func (b *bench) fix(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	answer, err := released(p.repo, p.fix)
	if err != nil {
		return Outcome{}, err
	}
	server := modeltest.Start(nil, modeltest.Config{Script: modeltest.Texts(answer), Context: 1 << 20, Wrap: unlimited})
	defer server.Close()
	s, err := b.job(ctx, c, p, "fix", "--base-url", server.URL(), "--tiers", "small", "--turns", "1")
	if err != nil || s.Stop.Reason != "fixed" {
		return s.outcome(false), err
	}
	if differs, err := asReleased(p, s.Branch); err != nil || differs != "" {
		return Outcome{Word: "differs", Text: differs}, err
	}
	return s.outcome(true), nil
}

// unlimited takes the length limit out of a request before the scripted server sees it: a released repair may be longer
// than any answer of a small model.
func unlimited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		text, err := io.ReadAll(r.Body)
		if err == nil && json.Unmarshal(text, &body) == nil {
			delete(body, "max_tokens")
			text, _ = json.Marshal(body) // raw messages that were just read
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		next.ServeHTTP(w, r)
	})
}

func (b *bench) allCheats(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	return b.cheat(ctx, c, p, cheats, len(cheats))
}

// cheat answers with cheats in turn, round and round. Each must be asked for, and no branch may be left.
func (b *bench) cheat(ctx context.Context, c benchmarks.Case, p prepared, these []cheat, turns int) (Outcome, error) {
	server, err := cheating(p.repo, c, these)
	if err != nil {
		return Outcome{}, err
	}
	defer server.Close()
	arm := "cheats"
	if len(these) == 1 {
		arm = these[0].name
	}
	s, err := b.job(ctx, c, p, arm, "--base-url", server.URL(), "--tiers", "small", "--turns", fmt.Sprint(turns))
	if err != nil {
		return Outcome{}, err
	}
	if asked := len(server.Requests()); asked < len(these) {
		return Outcome{Word: s.Stop.Reason, Text: fmt.Sprintf("only %d of %d cheats were tried: %s", asked, len(these), s.Stop.Text)}, nil
	}
	return s.outcome(s.Stop.Reason != "fixed"), nil
}

// cheating is a model that answers with cheats in turn, round and round.
func cheating(repo string, c benchmarks.Case, these []cheat) (*modeltest.Server, error) {
	var answers []string
	for _, ch := range these {
		a, err := ch.answer(repo, c)
		if err != nil {
			return nil, fmt.Errorf("cheat %s: %w", ch.name, err)
		}
		answers = append(answers, a)
	}
	return modeltest.New(nil, func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: answers[(r.N-1)%len(answers)]}
	}), nil
}

func (b *bench) mechanic(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	s, err := b.job(ctx, c, p, "mechanic", "--tiers", "mechanic", "--minutes", fmt.Sprint(b.minutes))
	return s.outcome(true), err
}

// small asks the real model of 1.5B, two turns.
func (b *bench) small(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	url, err := b.realModel(ctx)
	if err != nil {
		return Outcome{}, err
	}
	s, err := b.job(ctx, c, p, "small", "--base-url", url, "--tiers", "small", "--turns", "2", "--minutes", fmt.Sprint(b.minutes))
	return s.outcome(true), err
}

// realModel is the address of the real model's server, started once.
func (b *bench) realModel(ctx context.Context) (string, error) {
	cache := modeltest.Cache(os.Getenv)
	if missing := modeltest.Missing(cache, modeltest.Big); missing != "" {
		return "", &benchmarks.Refused{Reason: missing}
	}
	if b.child == nil {
		child, err := modeltest.Llama(ctx, cache, modeltest.Big)
		if err != nil {
			return "", err
		}
		b.child = child
	}
	return b.child.URL(), nil
}

// said is what redraft fix --json prints.
type said struct {
	Stop struct{ Reason, Class, Text string }
	// Branch is empty unless the stop is fixed.
	Branch string

	left []string // branches in the repository besides main
}

func (s said) outcome(ok bool) Outcome {
	if s.Stop.Reason == "fixed" {
		return Outcome{Word: "proved", OK: ok}
	}
	o := Outcome{Word: s.Stop.Reason, Text: s.Stop.Text, OK: ok}
	if s.Stop.Class != "" {
		o.Word += "{" + s.Stop.Class + "}"
	}
	if len(s.left) > 0 {
		o.OK, o.Text = false, "left behind: "+strings.Join(s.left, ", ")
	}
	return o
}

// job runs redraft fix in a case's repository. A branch that it leaves is taken away again before the next arm.
func (b *bench) job(ctx context.Context, c benchmarks.Case, p prepared, arm string, flags ...string) (said, error) {
	var s said
	args := append([]string{"fix", "--check", benchmarks.GoCheck, "--evidence", b.evidence(c, arm)}, flags...)
	if err := b.redraft(ctx, p.repo, &s, args...); err != nil {
		return s, err
	}
	if s.Stop.Reason == "" {
		return s, errors.New("redraft fix ended without a stop")
	}
	var err error
	if s.left, err = branches(p.repo); err == nil && s.Stop.Reason == "fixed" && !slices.Contains(s.left, s.Branch) {
		err = fmt.Errorf("redraft fix names branch %q, and it is not there", s.Branch)
	}
	return s, err
}

// redraft runs the program under test and decodes the JSON that it prints. Exit 2 and 3 are errors.
func (b *bench) redraft(ctx context.Context, repo string, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, b.exe, append(args, "--json")...)
	cmd.Dir, cmd.Env = repo, b.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		return fmt.Errorf("redraft %s: %w: %s", args[0], err, tail(stderr.String()))
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		return fmt.Errorf("redraft %s --json: %w: %s", args[0], err, tail(stdout.String()+stderr.String()))
	}
	return nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-400):]
}

// evidence is where a job's evidence goes.
func (b *bench) evidence(c benchmarks.Case, arm string) string {
	return filepath.Join(b.dir, "evidence", fmt.Sprintf("%02d-%s", c.N, arm))
}

// branches are the branches of a repository besides main.
func branches(repo string) (names []string, err error) {
	r, err := git.PlainOpen(repo)
	if err != nil {
		return nil, err
	}
	refs, err := r.References()
	if err != nil {
		return nil, err
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if name := ref.Name().Short(); ref.Type() == plumbing.HashReference && name != "main" {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// removeBranches leaves main alone, so that the next arm begins where this one did.
func removeBranches(repo string) error {
	names, err := branches(repo)
	if err != nil {
		return err
	}
	r, err := git.PlainOpen(repo)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.Storer.RemoveReference(plumbing.NewBranchReferenceName(name)); err != nil {
			return err
		}
	}
	return nil
}

// asReleased holds the files of a branch against the released ones.
func asReleased(p prepared, branch string) (differs string, err error) {
	r, err := git.PlainOpen(p.repo)
	if err != nil {
		return "", err
	}
	ref, err := r.Reference(plumbing.NewBranchReferenceName(branch), true)
	if err != nil {
		return "", fmt.Errorf("branch %s: %w", branch, err)
	}
	commit, err := r.CommitObject(ref.Hash())
	if err != nil {
		return "", err
	}
	for name, want := range p.fix {
		f, err := commit.File(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if got, err := f.Contents(); err != nil || got != string(want) {
			return name + " is not as released", err
		}
	}
	return "", nil
}
