package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/worktree"
)

func TestMain(m *testing.M) {
	sandbox.Main() // the test binary is the sandbox's shim as well
	if exe := os.Getenv(plainExe); exe != "" {
		repairExe = func() string { return exe }
	}
	if len(os.Args) > 2 && (os.Args[1] == "repair" || os.Args[1] == "registry") || os.Getenv("REDRAFT_TEST_MAIN") != "" {
		main() // the process that a job starts is this binary under its own name
	}
	if os.Getenv("REDRAFT_TEST_SERVE") != "" {
		serveForTest()
		os.Exit(exitFailed)
	}
	testscript.Main(built{m}, map[string]func(){"redraft": scripted})
}

// scripted is redraft in a script: where the tests have the race detector, the build that has none. What it runs in parallel runs with the
// detector in the tests of its packages, and in those of this one that start it as REDRAFT_TEST_MAIN.
func scripted() {
	if exe := os.Getenv(plainExe); raced && exe != "" {
		err := syscall.Exec(exe, append([]string{"redraft"}, os.Args[1:]...), os.Environ())
		fmt.Fprintln(os.Stderr, "start redraft:", err)
		os.Exit(exitFailed)
	}
	main()
}

// plainExe names, in the environment of a redraft that a test starts, the program of its repair processes: this one if empty.
const plainExe = "REDRAFT_TEST_EXE"

// built runs the tests with a build of redraft that has no race detector, if the tests have one: its processes are started often and
// are long at starting and at ending, and what a repair process does is tested with the detector in the packages it is made of.
type built struct{ m *testing.M }

func (b built) Run() int {
	if !raced {
		return b.m.Run()
	}
	dir, err := os.MkdirTemp("", "redraft-plain-")
	if err == nil {
		defer os.RemoveAll(dir)
		exe := filepath.Join(dir, "redraft")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err == nil {
			repairExe = func() string { return exe }
			err = os.Setenv(plainExe, exe)
		} else {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build redraft:", err)
		return 1
	}
	return b.m.Run()
}

// testEnv is what a redraft that a test starts needs to know in its environment.
func testEnv() []string {
	if !raced {
		return nil
	}
	return []string{plainExe + "=" + os.Getenv(plainExe), "GORACE=atexit_sleep_ms=0"} // a second, else: https://go.dev/doc/articles/race_detector#Options
}

// testState is kept between runs of the tests so that the toolchain base is compiled once on a machine.
func testState() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("redraft-test-%d", os.Getuid()))
}

// barePath is where git and the usual tools are, and nothing else: where there is no Go to be found, no job copies its
// build cache, and a check that is a grep takes no longer than a grep.
func barePath(t testing.TB) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("REFUSED: git is not installed")
	}
	return strings.Join([]string{filepath.Dir(git), "/usr/bin", "/bin"}, string(os.PathListSeparator))
}

// needBox says REFUSED where no sandbox tier works.
func needBox(t testing.TB) {
	t.Helper()
	if _, err := sandbox.Open(sandbox.Options{}); err != nil {
		t.Skipf("REFUSED: no sandbox tier works on this machine: %v", err)
	}
}

// linkBase gives a state folder of a test the toolchain bases that all tests share.
func linkBase(state string) error {
	shared := filepath.Join(testState(), "bases")
	for _, dir := range []string{shared, state} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return os.Symlink(shared, filepath.Join(state, "bases"))
}

// TestScripts runs the binary as a user would, on little repositories.
func TestScripts(t *testing.T) {
	needBox(t)
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":  cmdRepo,
			"model": cmdModel,
			"exits": cmdExits,
			"clean": cmdClean,
		},
	})
}

// setupScript gives a script a home of its own, the tools of this machine, and the shared toolchain base.
func setupScript(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := linkBase(filepath.Join(home, ".local", "state", "redraft")); err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("GOCACHE", filepath.Join(home, "gocache"))
	e.Setenv("GOMODCACHE", filepath.Join(home, "gomod"))
	e.Setenv("GOFLAGS", "")
	for _, kv := range testEnv() {
		k, v, _ := strings.Cut(kv, "=")
		e.Setenv(k, v)
	}
	e.Setenv("REDRAFT_CONFIG", "")
	e.Values["servers"] = &[]*modeltest.Server{}
	e.Defer(func() {
		for _, s := range *e.Values["servers"].(*[]*modeltest.Server) {
			s.Close()
		}
	})
	return nil
}

// cmdRepo makes the folder named first a repository with one commit of what lies in it.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	files := map[string][]byte{}
	ts.Check(filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	}))
	ts.Check(worktree.Init(context.Background(), dir, files, "a repository"))
}

// cmdModel starts a scripted model server and sets MODEL to its address. The first word is how it behaves, the others are
// files that hold its answers.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	var replies []modeltest.Reply
	for _, f := range args[1:] {
		replies = append(replies, modeltest.Reply{Text: ts.ReadFile(f)})
	}
	if len(replies) == 0 {
		replies = []modeltest.Reply{{Text: "I do not know."}}
	}
	for i := range replies {
		switch args[0] {
		case "answers":
		case "hangs":
			replies[i].Hang = true
		case "garbage":
			replies[i].Garbage = true
		case "dies":
			replies[i].DieIn = 2
		case "long":
			replies[i].Finish = "length"
		default:
			ts.Fatalf("model %s: no such behaviour", args[0])
		}
	}
	s := modeltest.New(nil, modeltest.Replies(replies...))
	list := ts.Value("servers").(*[]*modeltest.Server)
	*list = append(*list, s)
	ts.Setenv("MODEL", s.URL())
}

// cmdExits runs redraft and asks for an exact exit status: exits 1 redraft fix …
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = -1
		if e, ok := err.(interface{ ExitCode() int }); ok {
			got = e.ExitCode()
		}
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// cmdClean asks that no tree, and no branch but those named, is left.
func cmdClean(ts *testscript.TestScript, neg bool, args []string) {
	state := filepath.Join(ts.Getenv("HOME"), ".local", "state", "redraft")
	left, err := os.ReadDir(filepath.Join(state, "trees"))
	if err == nil && len(left) > 0 {
		ts.Fatalf("%d trees are left in %s", len(left), filepath.Join(state, "trees"))
	}
	refs := filepath.Join(ts.MkAbs(args[0]), ".git", "refs", "heads", "redraft")
	names, _ := os.ReadDir(refs)
	var got []string
	for _, n := range names {
		got = append(got, "redraft/"+n.Name())
	}
	if strings.Join(got, " ") != strings.Join(args[1:], " ") {
		ts.Fatalf("branches: got %v, want %v", got, args[1:])
	}
}
