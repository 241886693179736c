package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

// testHostileCommands: what cannot be confined is an error before anything runs.
func (w *world) testHostileCommands(t *testing.T) {
	missing := filepath.Join(w.tree, "missing")
	for name, change := range map[string]func(*sandbox.Command){
		"no argv":             func(c *sandbox.Command) { c.Argv = nil },
		"NUL in an argument":  func(c *sandbox.Command) { c.Argv = append(c.Argv, "a\x00b") },
		"no directory":        func(c *sandbox.Command) { c.Dir = missing },
		"relative directory":  func(c *sandbox.Command) { c.Dir = "." },
		"directory elsewhere": func(c *sandbox.Command) { c.Dir = w.home },
		"directory above":     func(c *sandbox.Command) { c.Dir = w.tree + "/.." },
		"read is missing":     func(c *sandbox.Command) { c.Read = append(c.Read, missing) },
		"write is missing":    func(c *sandbox.Command) { c.Write = append(c.Write, missing) },
		"the whole machine":   func(c *sandbox.Command) { c.Read = append(c.Read, "/") },
		"all homes":           func(c *sandbox.Command) { c.Write = append(c.Write, "/Users/") },
		"odd environment":     func(c *sandbox.Command) { c.Env = append(c.Env, "=x") },
	} {
		t.Run(name, func(t *testing.T) {
			c := w.shell("touch " + filepath.Join(w.tree, "ran"))
			change(&c)
			if res, err := w.box.Run(t.Context(), c); err == nil {
				t.Errorf("no error: %s", show(res))
			}
			if _, err := os.Lstat(filepath.Join(w.tree, "ran")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// testPrograms: how programs begin and end is told as a shell tells it, and names with odd bytes are names.
func (w *world) testPrograms(t *testing.T) {
	odd := filepath.Join(w.tree, "-D X=1\n\") (allow default) ;$(x)")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"true", "sandbox-exec"} { // E40
		if err := os.WriteFile(filepath.Join(w.tree, name), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", w.tree+":"+os.Getenv("PATH"))
	with := func(argv ...string) sandbox.Command { c := w.shell(""); c.Argv = argv; return c }
	relative := with("true")
	relative.Env = []string{"PATH=.:" + filepath.Base(w.tree) + "::/usr/bin:/bin"}
	inOdd := with("pwd", "-P")
	inOdd.Dir, inOdd.Write = odd, []string{odd}
	input := with("cat")
	input.Stdin = strings.NewReader("in\x00put")
	for _, tt := range []struct {
		name   string
		c      sandbox.Command
		exit   int
		stdout string
		stderr string
	}{
		{"exit status", with("sh", "-c", "exit 3"), 3, "", ""},
		{"not there", with("no-such-program"), 127, "", "command not found"},
		{"a directory", with(w.tree), 126, "", "permission denied"},
		{"planted in the tree", relative, 0, "", ""},
		{"relative path", with("./true"), 9, "", ""},
		{"odd folder", inOdd, 0, odd + "\n", ""},
		{"input", input, 0, "in\x00put", ""},
		{"no input", with("cat"), 0, "", ""},
		{"both streams", with("sh", "-c", "echo out; echo err >&2"), 0, "out\n", "err\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := w.run(t, tt.c)
			if res.Exit != tt.exit || string(res.Stdout) != tt.stdout || !strings.Contains(string(res.Stderr), tt.stderr) || res.Limit != "" || res.Truncated {
				t.Errorf("got %s\nwant exit %d, %q, %q", show(res), tt.exit, tt.stdout, tt.stderr)
			}
		})
	}
	if res := w.run(t, with("sh", "-c", "kill -ABRT $$")); res.Exit != -1 || res.Signal != "SIGABRT" {
		t.Errorf("killed by a signal: %s", show(res))
	}
}

// testTemp: a run has a temporary folder that no other run sees, and that is gone afterwards.
func (w *world) testTemp(t *testing.T) {
	res := w.run(t, w.shell(`echo x >"$TMPDIR/mark" && mkdir -m 0 "$TMPDIR/closed" && echo "$TMPDIR"`))
	if res.Exit != 0 {
		t.Fatalf("no temporary folder: %s", show(res))
	}
	dir := strings.TrimSpace(string(res.Stdout))
	if _, err := os.Lstat(filepath.Join(dir, "mark")); err == nil {
		t.Errorf("%s outlives its run", dir)
	}
	if res := w.run(t, w.shell(`ls -A "$TMPDIR"; ls "`+dir+`/mark" 2>/dev/null`)); strings.Contains(string(res.Stdout), "mark") {
		t.Errorf("a run sees another's files: %s", show(res))
	}
}

// testStreams: what is long keeps its head and its tail in little memory; what is odd is kept as it is.
func (w *world) testStreams(t *testing.T) {
	c := w.shell(`echo first; head -c 30000000 /dev/zero; echo; echo last`)
	c.Output = 1 << 20
	res := w.run(t, c)
	if !res.Truncated || len(res.Stdout) > 1<<20+100 {
		t.Errorf("30 MB became %d bytes, truncated %v", len(res.Stdout), res.Truncated)
	}
	if !bytes.HasPrefix(res.Stdout, []byte("first\n\x00")) || !bytes.HasSuffix(res.Stdout, []byte("\x00\nlast\n")) {
		t.Errorf("neither the head nor the tail was kept: %s", show(res))
	}
	line := strings.Repeat("x", 1<<20)
	c = w.shell("cat; printf 'a\\000\\033[31m\\342\\200\\256b'")
	c.Stdin = strings.NewReader(line)
	if res := w.run(t, c); res.Truncated || string(res.Stdout) != line+"a\x00\x1b[31m\u202eb" {
		t.Errorf("a long line and odd bytes became %d bytes", len(res.Stdout))
	}
}

// testLimits: each limit ends what goes past it, and is named.
func (w *world) testLimits(t *testing.T) {
	for _, tt := range []struct {
		name, limit string
		args        []string
		set         func(*sandbox.Command)
	}{
		{"E17 E18 signals ignored, stopped", "wall", []string{"stubborn"}, func(c *sandbox.Command) { c.Wall = time.Second }},
		{"E13 fork bomb", "pids", []string{"bomb"}, func(c *sandbox.Command) { c.Pids = 20 }},
		{"E15 memory", "memory", []string{"hog", "400"}, func(c *sandbox.Command) { c.Memory = 100 << 20 }},
		{"E14 disk", "disk", []string{"fill", w.tree, "40"}, func(c *sandbox.Command) { c.Disk = 16 << 20 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := w.command(tt.args...)
			tt.set(&c)
			start := time.Now()
			res := w.run(t, c)
			if res.Limit != tt.limit || res.Signal != "SIGKILL" || res.Exit != -1 {
				t.Errorf("want limit %s: %s", tt.limit, show(res))
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	c := w.shell("head -c 20000000 /dev/zero >big")
	c.Disk = 1 << 20
	if res := w.run(t, c); res.Exit == 0 {
		t.Errorf("one file grew past the disk limit: %s", show(res))
	}
	t.Run("E16 spin", func(t *testing.T) {
		c := w.shell("while :; do :; done")
		c.Wall = time.Second
		if res := w.run(t, c); res.Limit != "wall" {
			t.Errorf("want limit wall: %s", show(res))
		}
	})
}

// testSurvivors: a daemon that left its family, and a chain of processes faster than any list of them, are dead when Run
// returns. Without a sandbox the chain can outlive, and that is a gap.
func (w *world) testSurvivors(t *testing.T) {
	kinds := []string{"daemon", "chain"}
	if w.box.Tier() == sandbox.Unconfined {
		kinds = nil
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			mark := filepath.Join(w.tree, kind)
			start := time.Now()
			res := w.run(t, w.command(kind, mark))
			if res.Exit != 0 {
				t.Fatalf("it did not come up: %s", show(res))
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("its open stdout held Run for %s", took)
			}
			w.still(t, mark)
		})
	}
}

// still checks that a file is not written any more and that no process names it.
func (w *world) still(t *testing.T, mark string) {
	t.Helper()
	before, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, []byte("sealed"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	if after, err := os.ReadFile(mark); err != nil || string(after) != "sealed" {
		t.Errorf("%s was written after the run: %q, before %q", mark, after, before)
	}
	if n := naming(mark); n > 0 {
		t.Errorf("%d processes alive", n)
	}
}

// naming counts the processes of this user whose arguments hold a text.
func naming(text string) int {
	list, _ := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	n := 0
	for _, p := range list {
		if argsOf(int(p.Proc.P_pid), text) == nil {
			n++
		}
	}
	return n
}

func (w *world) testCancel(t *testing.T) {
	mark := filepath.Join(w.tree, "cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the operator said so")
	go func() {
		_ = waitFor(mark)
		cancel(why)
	}()
	c := w.shell(`"$0" "$@"; sleep 100`)
	c.Argv = append(c.Argv, w.exe, probeMarker, "daemon", mark)
	start := time.Now()
	if _, err := w.box.Run(ctx, c); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause", err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	if w.box.Tier() != sandbox.Unconfined {
		w.still(t, mark)
	}
	if _, err := w.box.Run(ctx, w.shell("true")); !errors.Is(err, why) {
		t.Errorf("error %v of a run that never began, want the cause", err)
	}
}

// testCallerKilled: nothing lives on when the process that called Run is killed, nor when the warden is as well.
func (w *world) testCallerKilled(t *testing.T) {
	if w.box.Tier() == sandbox.Unconfined {
		t.Skip("REFUSED: a daemon may outlive an unconfined run, which is a gap")
	}
	mark := filepath.Join(w.tree, "orphan")
	cmd := exec.Command(w.exe, probeMarker, "run", string(w.box.Tier()), mark)
	cmd.Env = []string{"TMPDIR=" + w.tree, "PATH=/usr/bin:/bin"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := waitFor(mark)
	_ = cmd.Process.Kill()
	waited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(waited) }()
	if err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for range 200 {
		if naming(mark) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := naming(mark); n > 0 {
		t.Errorf("%d processes alive 2 s after their caller was killed", n)
	}
	<-waited
}

// testWardenKilled: when the process outside that watches a run is killed, the one inside ends the run.
func (w *world) testWardenKilled(t *testing.T) {
	mark := filepath.Join(w.tree, "unwatched")
	failed := make(chan error, 1)
	go func() {
		_, err := w.box.Run(t.Context(), w.command("daemon", mark))
		failed <- err
	}()
	c := w.shell(`"$0" "$@"; sleep 100`)
	c.Argv = append(c.Argv, w.exe, probeMarker, "daemon", mark)
	if err := <-failed; err != nil { // the first run shows that it comes up
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := w.box.Run(t.Context(), c)
		failed <- err
	}()
	if err := waitFor(mark); err != nil {
		t.Fatal(err)
	}
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if int(p.Eproc.Ppid) == os.Getpid() && argsOf(int(p.Proc.P_pid), "redraft-sandbox-shim") == nil {
			_ = unix.Kill(int(p.Proc.P_pid), unix.SIGKILL)
		}
	}
	if err := <-failed; err == nil {
		t.Error("a run whose warden was killed had a result")
	}
	for range 200 {
		if naming(mark) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.still(t, mark)
}

func (w *world) testConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			res, err := w.box.Run(t.Context(), w.shell(fmt.Sprintf("echo %d; exit %d", i, i)))
			if err != nil || res.Exit != i || string(res.Stdout) != strconv.Itoa(i)+"\n" {
				t.Errorf("run %d: %v, %s", i, err, show(res))
			}
		})
	}
	wg.Wait()
}
