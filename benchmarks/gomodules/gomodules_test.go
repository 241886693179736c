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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/benchmarks"
)

// This test binary is also the program under test: what it then does is told by $REDRAFT_FAKE.
func TestMain(m *testing.M) {
	if fake := os.Getenv("REDRAFT_FAKE"); fake != "" && len(os.Args) > 1 && slices.Contains([]string{"fix", "explain-red", "selftest"}, os.Args[1]) {
		os.Exit(beRedraft(fake))
	}
	os.Exit(m.Run())
}

// beRedraft asks the model it is given until its turns are spent, then says the word: a stop's reason, "branch" (a
// proof whose branch holds the released file), "bad branch", "red", "silent", "crash".
func beRedraft(word string) int {
	flags := map[string]string{}
	for i := 2; i+1 < len(os.Args); i += 2 {
		flags[os.Args[i]] = os.Args[i+1]
	}
	turns, _ := strconv.Atoi(flags["--turns"])
	for range turns {
		resp, err := http.Post(flags["--base-url"]+"/chat/completions", "application/json", strings.NewReader(`{"model":"scripted","stream":true,"max_tokens":8,"messages":[{"role":"user","content":"?"}]}`))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		io.Copy(os.Stderr, resp.Body)
		resp.Body.Close()
	}
	switch word {
	case "crash":
		fmt.Fprintln(os.Stderr, "disk full")
		return 3
	case "silent":
		fmt.Println("{}")
	case "red":
		fmt.Println(`{"verdict":"red","findings":[{"id":"example.com/half.TestHalf"}]}`)
	case "branch", "bad branch":
		text := good
		if word == "bad branch" {
			text = broken
		}
		if err := writeBranch(".", "redraft/fix-1", text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		fmt.Println(`{"stop":{"reason":"fixed"},"branch":"redraft/fix-1"}`)
	default:
		fmt.Printf(`{"stop":{"reason":%q,"text":"said so"}}`, word)
		return 1
	}
	return 0
}

const (
	broken = "package half\n\nfunc Half(n int) int { return n - 2 }\n"
	good   = "package half\n\nfunc Half(n int) int { return n / 2 }\n"
)

// halfCase is a case by hand, prepared without the go command.
var halfCase = benchmarks.Case{N: 7, Module: "example.com/half", Files: []string{"half.go"}, Red: []string{"example.com/half.TestHalf"}}

func prepareHalf(t *testing.T) prepared {
	t.Helper()
	dir := t.TempDir()
	if _, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: plumbing.Main}}); err != nil {
		t.Fatal(err)
	}
	test := "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(8) != 4 {\n\t\tt.Error(\"no half\")\n\t}\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "half_test.go"), []byte(test), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeBranch(dir, "main", broken); err != nil {
		t.Fatal(err)
	}
	return prepared{dir, map[string][]byte{"half.go": []byte(good)}}
}

// writeBranch puts a commit of one text of half.go on a branch and leaves the checkout on main.
func writeBranch(dir, branch, text string) error {
	r, err := git.PlainOpen(dir)
	if err != nil {
		return err
	}
	w, err := r.Worktree()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "half.go"), []byte(text), 0o600); err != nil {
		return err
	}
	if _, err := w.Add("half.go"); err != nil {
		return err
	}
	if _, err := w.Add("half_test.go"); err != nil {
		return err
	}
	before, _ := r.Reference(plumbing.Main, true) // none before the first commit
	id, err := w.Commit("half", &git.CommitOptions{AllowEmptyCommits: true, Author: &object.Signature{Name: "a", Email: "a@localhost", When: time.Unix(0, 0)}})
	if err != nil || before == nil {
		return err
	}
	if err := r.Storer.SetReference(plumbing.NewHashReference(plumbing.NewBranchReferenceName(branch), id)); err != nil {
		return err
	}
	return w.Reset(&git.ResetOptions{Commit: before.Hash(), Mode: git.HardReset})
}

func testBench(t *testing.T, fake string) *bench {
	t.Helper()
	return &bench{exe: os.Args[0], dir: t.TempDir(), env: append(os.Environ(), "REDRAFT_FAKE="+fake), minutes: 1}
}

func TestArms(t *testing.T) {
	for _, tt := range []struct {
		arm, fake string
		word      string
		ok        bool
		err       string
	}{
		{"red", "red", "exact", true, ""},
		{"red", "crash", "", false, "disk full"},
		{"fix", "branch", "proved", true, ""},
		{"fix", "bad branch", "differs", false, ""},
		{"fix", "not_proven", "not_proven", false, ""},
		{"fix", "crash", "", false, "disk full"},
		{"cheats", "exhausted", "exhausted", true, ""},
		{"cheats", "branch", "proved", false, ""},
		{"exit", "exhausted", "exhausted", true, ""},
		{"long", "branch", "proved", false, ""},
		{"mechanic", "branch", "proved", true, ""},
		{"mechanic", "exhausted", "exhausted", true, ""},
		{"mechanic", "silent", "", false, "without a stop"},
	} {
		t.Run(tt.arm+" "+tt.fake, func(t *testing.T) {
			p := prepareHalf(t)
			o, err := armOf(t, tt.arm).run(testBench(t, tt.fake), context.Background(), halfCase, p)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q in it", err, tt.err)
			}
			if err == nil && (o.Word != tt.word || o.OK != tt.ok) {
				t.Errorf("got %q %v, want %q %v", o.Word, o.OK, tt.word, tt.ok)
			}
			if err := removeBranches(p.repo); err != nil {
				t.Fatal(err)
			}
			if left, err := branches(p.repo); err != nil || len(left) > 0 {
				t.Errorf("got branches %v (%v) after the arm, want main alone", left, err)
			}
		})
	}
}

func armOf(t *testing.T, name string) arm {
	t.Helper()
	for _, a := range arms {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no arm %s", name)
	return arm{}
}

func TestAProofIsAskedForEveryCheat(t *testing.T) {
	b := testBench(t, "exhausted")
	o, err := b.cheat(context.Background(), halfCase, prepareHalf(t), cheats, 3)
	if err != nil || o.OK || !strings.Contains(o.Text, "only 3 of 5") {
		t.Errorf("got %+v (%v), want it to tell that cheats were left out", o, err)
	}
}

func TestWarm(t *testing.T) {
	if err := testBench(t, "red").warm(context.Background()); err != nil {
		t.Errorf("got %v, want a warm bench", err)
	}
	if err := testBench(t, "crash").warm(context.Background()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v, want the program's own words", err)
	}
}

func TestInterruptedIsNoOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := arm{name: "stop", run: func(*bench, context.Context, benchmarks.Case, prepared) (Outcome, error) {
		cancel()
		return Outcome{}, context.Canceled
	}}
	if row := testBench(t, "red").arms(ctx, halfCase, prepareHalf(t), []arm{armOf(t, "red"), stop, armOf(t, "red")}); len(row) != 1 || row[0].Word != "exact" {
		t.Errorf("got %+v, want the outcome before the interruption alone", row)
	}
}

func TestLeftBehind(t *testing.T) {
	p := prepareHalf(t)
	if err := writeBranch(p.repo, "redraft/fix-2", broken); err != nil {
		t.Fatal(err)
	}
	o, err := testBench(t, "exhausted").cheat(context.Background(), halfCase, p, cheats, len(cheats))
	if err != nil || o.OK || !strings.Contains(o.Text, "redraft/fix-2") {
		t.Errorf("got %+v (%v), want it to tell of the branch left behind", o, err)
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct {
		name, old, fixed string
		want             []lines
	}{
		{"same", "a\nb\n", "a\nb\n", nil},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", []lines{{"L2-L2", "B\n"}}},
		{"more lines", "a\nb\nc\n", "a\nB\nB\nc\n", []lines{{"L2-L2", "B\nB\n"}}},
		{"inserted", "a\nc\n", "a\nb\nc\n", []lines{{"+L2", "b\n"}}},
		{"appended", "a\n", "a\nb\n", []lines{{"+L2", "b\n"}}},
		{"removed", "a\nb\nc\n", "a\nc\n", []lines{{"L2-L2", ""}}},
		{"two places", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", []lines{{"L1-L1", "A\n"}, {"L5-L5", "E\n"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ranges(tt.old, tt.fixed); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestReleasedLands holds the scripted answer against the one reader of answers.
func TestReleasedLands(t *testing.T) {
	for _, tt := range []struct{ name, old, fixed string }{
		{"one line", "package p\n\nvar a = 1\n", "package p\n\nvar a = 2\n"},
		{"a function goes", "package p\n\nfunc a() {}\n\nfunc b() {}\n", "package p\n\nfunc b() {}\n"},
		{"a function comes first", "package p\n\nfunc b() {}\n", "package p\n\nfunc a() {}\n\nfunc b() {}\n"},
		{"a function comes last", "package p\n\nfunc b() {}\n", "package p\n\nfunc b() {}\n\nfunc c() {}\n"},
		{"many places", "package p\n\nvar a = 1\n\nvar b = 1\n\nvar c = 1\n", "package p\n\nvar a = 2\n\nvar b = 1\nvar d = 1\n\nvar c = 2\n"},
		{"backticks", "package p\n\nvar a = 1\n", "package p\n\n// ``````\nvar a = 2\n"},
		{"all of it", "package p\n\nvar a = 1\n", "package q\n\nimport \"os\"\n\nvar _ = os.Args\n"},
		{"a new file", "", "package p\n\nvar a = 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.old != "" {
				if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(tt.old), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			answer, err := released(dir, map[string][]byte{"a.go": []byte(tt.fixed)})
			if err != nil {
				t.Fatal(err)
			}
			set, slips := patch.Parse(answer)
			change, _, err := patch.Resolve(os.DirFS(dir), set, patch.Policy{})
			if err != nil || len(slips) > 0 || len(change.Files) != 1 {
				t.Fatalf("got %v and slips %v for\n%s", err, slips, answer)
			}
			if got := string(change.Files[0].New); got != tt.fixed {
				t.Errorf("got %q, want %q", got, tt.fixed)
			}
		})
	}
}

// TestCheatsAreWellFormed keeps a cheat from being stopped for a wrong reason: what has a form must parse, and what a
// gate would pass must land.
func TestCheatsAreWellFormed(t *testing.T) {
	p := prepareHalf(t)
	for name, want := range map[string]string{"test": "protected", "same": "nothing_changed", "prose": "no_edit", "exit": "", "long": "unclosed"} {
		i := slices.IndexFunc(cheats, func(c cheat) bool { return c.name == name })
		answer, err := cheats[i].answer(p.repo, halfCase)
		if err != nil {
			t.Fatal(err)
		}
		set, slips := patch.Parse(answer)
		got := ""
		if len(set) == 0 && len(slips) > 0 {
			got = slips[0].Code
		}
		if len(set) > 0 {
			_, _, err := patch.Resolve(os.DirFS(p.repo), set, patch.Policy{})
			var slip *patch.Slip
			if errors.As(err, &slip) {
				got = slip.Code
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("cheat %s: got slip %q, want %q", name, got, want)
		}
	}
}

func TestEditOutgrowsFences(t *testing.T) {
	got := edit("a.go", "*", "````\n")
	if want := "`````go\n# edit: a.go :: *\n````\n`````\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLocation(t *testing.T) {
	for _, tt := range []struct{ module, red, dir, name string }{
		{"example.com/m", "example.com/m.TestA", ".", "TestA"},
		{"example.com/m/v2", "example.com/m/v2/lexer/internal.TestA/x.y/z", "lexer/internal", "TestA"},
		{"example.com/m", "example.com/m/yaml.v3.ExampleB", "yaml.v3", "ExampleB"},
	} {
		dir, name := location(benchmarks.Case{Module: tt.module, Red: []string{tt.red}})
		if dir != tt.dir || name != tt.name {
			t.Errorf("%s: got %s %s, want %s %s", tt.red, dir, name, tt.dir, tt.name)
		}
	}
	cases, err := benchmarks.GoModules()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if dir, name := location(c); !filepath.IsLocal(dir) || !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Example") {
			t.Errorf("%s: got %q %q for %s", c, dir, name, c.Red[0])
		}
	}
}

func TestPick(t *testing.T) {
	all := make([]benchmarks.Case, 5)
	for i := range all {
		all[i].N = i
	}
	for list, want := range map[string]string{"": "01234", "3": "3", "0,2-4": "0234", "4,1": "41"} {
		got, err := pick(all, list)
		var ns string
		for _, c := range got {
			ns += strconv.Itoa(c.N)
		}
		if err != nil || ns != want {
			t.Errorf("%q: got %s (%v), want %s", list, ns, err, want)
		}
	}
	for _, list := range []string{"5", "-1", "3-1", "x", "1,,2", "0-9"} {
		if _, err := pick(all, list); err == nil {
			t.Errorf("%q: got no error", list)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--arms", "luck"}, {"--cases", "999"}, {"7"}, {"--nothing"}} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%v: got exit %d, %q, %q, want 2 and a sentence on standard error", args, code, stdout.String(), stderr.String())
		}
	}
}

func TestExitAndTable(t *testing.T) {
	row := func(outcomes ...Outcome) Report {
		return Report{Set: "abc", Rows: []Row{{N: 3, Case: halfCase, Outcomes: outcomes}}}
	}
	differs := Outcome{Arm: "red", Word: "differs", Text: "red beyond the list: m.T"}
	for _, tt := range []struct {
		name string
		r    Report
		exit int
		want string
	}{
		{"all well", row(Outcome{Arm: "red", Word: "exact", OK: true}, Outcome{Arm: "fix", Word: "proved", OK: true}), 0, "fix proved 0.0s"},
		{"not proved", row(Outcome{Arm: "red", Word: "exact", OK: true}, Outcome{Arm: "fix", Word: "not_proven", Text: "D1 failed"}), 1, "      fix: D1 failed"},
		{"not proved where the red differs", row(differs, Outcome{Arm: "fix", Word: "not_proven"}), 0, "red !differs"},
		{"a cheat accepted where the red differs", row(differs, Outcome{Arm: "cheats", Word: "proved"}), 1, "cheats !proved"},
		{"our side failed where the red differs", row(differs, Outcome{Arm: "fix", Word: "failed"}), 1, "fix !failed"},
		{"refused", Report{Rows: []Row{{Case: halfCase, Refused: "no network"}}}, 0, "REFUSED: no network"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := exit(tt.r); got != tt.exit {
				t.Errorf("got exit %d, want %d", got, tt.exit)
			}
			var b bytes.Buffer
			printRow(&b, tt.r.Rows[0])
			if !strings.Contains(b.String(), tt.want) {
				t.Errorf("got %q, want %q in it", b.String(), tt.want)
			}
		})
	}
	var b bytes.Buffer
	printTotals(&b, row(Outcome{Arm: "red", OK: true}, Outcome{Arm: "mechanic", Word: "exhausted", OK: true}), arms[:4])
	for _, want := range []string{"set gomodules abc", "red       reproduced 1 of 1", "mechanic  repaired 0 of 1", "fix       proved 0 of 0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("totals: got %q, want %q in it", b.String(), want)
		}
	}
}

func TestUnlimited(t *testing.T) {
	var got string
	h := unlimited(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
	}))
	req, _ := http.NewRequest("POST", "/", strings.NewReader(`{"max_tokens":8,"seed":1}`))
	h.ServeHTTP(nil, req)
	var body map[string]int
	if err := json.Unmarshal([]byte(got), &body); err != nil || len(body) != 1 || body["seed"] != 1 {
		t.Errorf("got %s (%v), want the request without its limit", got, err)
	}
}
