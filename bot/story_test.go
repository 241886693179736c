package bot

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// golden holds a text against a file of testdata, after it was read as another program understands Markdown: nothing of a
// stranger's is live in it. Long blocks of code are in the file without their middle.
func golden(t *testing.T, name, got string) {
	t.Helper()
	checked := got
	if before, rest, ok := strings.Cut(got, templateText); ok {
		_, after, _ := strings.Cut(rest, "\n---\n")
		checked = before + after
	}
	for _, what := range append(alive(t, checked), unclean(checked)...) {
		t.Error(what)
	}
	got = shortened(got)
	file := filepath.Join("testdata", name+".golden.md")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

var block = regexp.MustCompile("(?ms)^(`{3,})[a-z]*\n.*?^`{3,}\n")

// shortened is a text without the middle of its long blocks of code.
func shortened(md string) string {
	return block.ReplaceAllStringFunc(md, func(b string) string {
		all := strings.SplitAfter(b, "\n")
		if len(all) < 250 {
			return b
		}
		return strings.Join(all[:8], "") + fmt.Sprintf("(%d lines of this block are not in this file)\n", len(all)-14) + strings.Join(all[len(all)-6:], "")
	})
}

// claim is a change that is to be proved, told by what it does: everything else is the same in each test.
type claim struct {
	command, dir string
	pkg          string   // import path of the tests
	red          []string // tests that the change turns green
	file         string
	old, new     string
	by           string
	gaps         []string
	blind        bool // no reader understands the runner
}

const (
	rootSHA = "1f3a9c0047d2b86e15a0c9f3d4e5b6a7c8d9e0f1"
	baseSHA = "5d41402abc4b2a76b9719d911017c592aa11bb22"
	redRun  = "https://github.com/acme/shop/actions/runs/4711"
)

// prove makes the evidence of a claim and has it admitted.
func prove(t *testing.T, c claim) *proof.Proof {
	t.Helper()
	root := fstest.MapFS{"go.mod": {Data: []byte("module example.com/shop\n\ngo 1.26\n")}, "cart_test.go": {Data: []byte("package cart\n")}}
	if c.old != "" {
		root[c.file] = &fstest.MapFile{Data: []byte(c.old)}
	}
	f := patch.FileChange{Path: c.file, Old: []byte(c.old), New: []byte(c.new), Created: c.old == "", Mode: 0o644}
	change := patch.Change{Files: []patch.FileChange{f}}
	diff := change.Diff()
	rootTree, tree := treeID(t, root), treeID(t, change.Overlay(root))
	d2, oracle := proof.OracleFiles(root, change.Overlay(root), patch.Policy{})
	r := proof.Receipt{
		Version: proof.ReceiptVersion, Job: "20261129-090000-cafe", Repo: "acme/shop", Root: rootSHA, RootTree: rootTree, Base: baseSHA, Tree: tree,
		Diff: proof.Sum(diff), Check: "go-test", Command: c.command, Dir: c.dir, Fingerprint: "f", K: 3, Trusted: !c.blind, Findings: c.red,
		Oracle: oracle, Rungs: append([]proof.Rung{d2}, proof.Unbuilt()...), Tier: "bubblewrap", By: c.by, Gaps: c.gaps, Risk: change.Risk(root, patch.Policy{}).String(),
		Made: time.Date(2026, 11, 29, 9, 4, 12, 0, time.UTC), Evidence: map[string]string{},
	}
	evidence := fstest.MapFS{proof.PatchFile: {Data: diff}}
	for _, run := range runs(c, rootTree, tree) {
		files, err := run.Files([]byte(run.stdout), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range files {
			evidence[name], r.Evidence[name] = &fstest.MapFile{Data: b}, proof.Sum(b)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	evidence[proof.ReceiptFile] = &fstest.MapFile{Data: b}
	p, err := proof.Admit(evidence, root, proof.Policy{
		Root: r.Root, RootTree: rootTree, Base: r.Base, Fingerprint: "f", Sandboxes: []string{"bubblewrap"}, Risk: proof.MaxRisk,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type recordedRun struct {
	proof.RunRecord
	stdout string
}

// runs are those of one proof: plain and three instrumented ones of the root and of the change, and one without the change.
func runs(c claim, rootTree, tree string) (all []recordedRun) {
	add := func(phase, tree string, n int, green bool) {
		r := recordedRun{RunRecord: proof.RunRecord{Phase: phase, N: n, Mode: proof.Instrumented, Command: c.command, Dir: c.dir, Tree: tree,
			Place: fmt.Sprintf("/copies/%s-%d", phase, n), Cache: phase, Module: "example.com/shop", Tier: "bubblewrap"}}
		if !green {
			r.Exit = 1
		}
		if n == 1 && phase != "revert" || c.blind {
			r.Mode, r.stdout = proof.Plain, plainOutput(c, green)
		} else {
			r.stdout = stream(c, green)
		}
		if phase == "confirm" && n == 4 {
			r.Cache = "base"
		}
		all = append(all, r)
	}
	for n := range 4 {
		add("see", rootTree, n+1, false)
		add("confirm", tree, n+1, true)
	}
	add("revert", rootTree, 1, false)
	return all
}

func plainOutput(c claim, green bool) string {
	switch {
	case c.blind:
		return ""
	case green:
		return "ok  \t" + c.pkg + "\t0.001s\n"
	}
	return "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\t" + c.pkg + "\t0.001s\nFAIL\n"
}

// stream is what go test -json says of the claim's tests and two others.
func stream(c claim, green bool) string {
	var b strings.Builder
	line := func(action, test, output string) {
		e := map[string]string{"Action": action, "Package": c.pkg}
		for k, v := range map[string]string{"Test": test, "Output": output} {
			if v != "" {
				e[k] = v
			}
		}
		j, _ := json.Marshal(e)
		b.Write(append(j, '\n'))
	}
	test := func(name, end string) {
		line("run", name, "")
		line("output", name, fmt.Sprintf("--- %s: %s (0.00s)\n", strings.ToUpper(end), name))
		line(end, name, "")
	}
	end := map[bool]string{true: "pass", false: "fail"}[green]
	line("start", "", "")
	for _, id := range c.red {
		test(strings.TrimPrefix(id, c.pkg+"."), end)
	}
	test("TestAnother", "pass")
	test("TestOld", "skip")
	line("output", "", strings.ToUpper(end)+"\n")
	line(end, "", "")
	return b.String()
}

func treeID(t *testing.T, fsys fs.FS) string {
	t.Helper()
	id, err := patch.TreeID(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// script is a trace that is told line by line.
type script struct{ events []trace.Event }

func (s *script) add(turn int, kind string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, 11, 29, 9, 0, 3*len(s.events), 0, time.UTC)
	s.events = append(s.events, trace.Event{TS: at, Seq: len(s.events) + 1, Job: "20261129-090000-cafe", Turn: turn, Type: kind, Data: b})
}

// begin is the job as accepted, with the command that it is about.
func (s *script) begin(command, dir string) {
	set, _ := json.Marshal(map[string]any{"checks": []map[string]string{{"id": "go-test", "run": command, "dir": dir, "provenance": "configured"}}})
	s.add(0, trace.TypeEvent, trace.Job{Version: 1, ID: "20261129-090000-cafe", Repo: "acme/shop", Target: "branch main", Trigger: "check_run",
		Root: rootSHA, Base: baseSHA, Checks: set, Check: "go-test"})
}

func (s *script) runs(phase string, n int) {
	for i := range n {
		s.add(0, trace.TypeRun, trace.RunData{Phase: phase, N: i + 1, Mode: "instrumented", Command: "go test ./...", Tier: "bubblewrap", Color: "red"})
	}
}

func (s *script) ask(turn int, tier, model, base, reply string) {
	s.add(turn, trace.TypeRequest, trace.RequestData{Tier: tier, Model: model, BaseURL: base})
	s.add(turn, trace.TypeReply, trace.ReplyData{Model: model, Text: reply, Finish: "stop", Prompt: 1840, Cached: 512, Output: 120, Seconds: 4})
}

// tell puts the trace into a story.
func (s *script) tell(story Story) Story {
	story.Events, story.Status = s.events, trace.StatusOf(s.events, false)
	return story
}
