package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
		"relative read":       func(c *sandbox.Command) { c.Read = append(c.Read, "etc") },
		"the whole machine":   func(c *sandbox.Command) { c.Read = append(c.Read, "/") },
		"all of /etc":         func(c *sandbox.Command) { c.Write = append(c.Write, "/etc/") },
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
	odd := filepath.Join(w.tree, "--bind\n ;$(x)")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(w.tree, "true")
	if err := os.WriteFile(planted, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	with := func(argv ...string) sandbox.Command { c := w.shell(""); c.Argv = argv; return c }
	relative := with("true")
	relative.Env = []string{"PATH=.:" + filepath.Base(w.tree) + "::/usr/bin:/bin"}
	inOdd := with("pwd")
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
		{"not there, by path", with("/no/such/program"), 127, "", "no such program"},
		{"a directory", with(w.tree), 126, "", "permission denied"},
		{"planted in the tree", relative, 0, "", ""}, // E40
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

// testStreams: what is long keeps its head and its tail in little memory; what is odd is kept as it is (E33).
func (w *world) testStreams(t *testing.T) {
	c := w.shell(`echo first; head -c 1000000000 /dev/zero; echo; echo last`)
	c.Output = 1 << 20
	res := w.run(t, c)
	if !res.Truncated || len(res.Stdout) > 1<<20+100 {
		t.Errorf("1 GB became %d bytes, truncated %v", len(res.Stdout), res.Truncated)
	}
	if !bytes.HasPrefix(res.Stdout, []byte("first\n\x00")) || !bytes.HasSuffix(res.Stdout, []byte("\x00\nlast\n")) {
		t.Errorf("head %q, tail %q", res.Stdout[:10], res.Stdout[len(res.Stdout)-10:])
	}
	if !bytes.Contains(res.Stdout, []byte("\n[998951436 bytes left out]\n")) {
		t.Error("no marker with the right number")
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
		{"E17 signals ignored, stopped", "wall", []string{"stubborn"}, func(c *sandbox.Command) { c.Wall = 300 * time.Millisecond }}, // and E18
		{"E13 fork bomb", "pids", []string{"bomb"}, func(c *sandbox.Command) { c.Pids = 20 }},
		{"E15 memory", "memory", []string{"hog", "400"}, func(c *sandbox.Command) { c.Memory = 100 << 20 }},
		{"E15 memory of children", "memory", []string{"hogs", "400"}, func(c *sandbox.Command) { c.Memory = 100 << 20 }},
		{"E14 disk", "disk", []string{"fill", w.tree, "40"}, func(c *sandbox.Command) { c.Disk = 16 << 20 }},
		{"E14 inodes", "disk", []string{"inodes", w.tree}, func(c *sandbox.Command) { c.Disk = 1 << 20 }},
		{"E14 disk, too deep to name", "disk", []string{"deep", w.tree, "40"}, func(c *sandbox.Command) { c.Disk = 16 << 20 }},
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
	w.testHiddenMemory(t)
	w.testStubborn(t)
}

// testHiddenMemory: memory that no process maps is counted, or cannot be had, or is a gap that is told.
func (w *world) testHiddenMemory(t *testing.T) {
	capped := strings.Contains(w.box.Gaps()[0], "capped by the kernel")
	for _, kind := range []string{"memfd", "shmfile"} {
		t.Run("E15 memory by "+kind, func(t *testing.T) {
			if kind == "memfd" && !capped {
				t.Skip("REFUSED: no control groups here, and the watchdog sees none of it: the gap is told")
			}
			c := w.command(kind, "400")
			c.Memory, c.Wall = 100<<20, 15*time.Second
			res := w.run(t, c)
			if denied := kind == "shmfile" && res.Exit == 1; !denied && res.Limit != "memory" {
				t.Errorf("want limit memory: %s", show(res))
			}
		})
	}
	_ = os.Remove("/dev/shm/hog")
}

// testStubborn: streams that are closed are no end, a thousand threads are no crowd, and what stops itself does not outlive
// its parent.
func (w *world) testStubborn(t *testing.T) {
	if res := w.run(t, w.shell("exec <&- >&- 2>&-; sleep 0.2; exit 3")); res.Exit != 3 || res.Limit != "" {
		t.Errorf("streams closed: %s", show(res))
	}
	if res := w.run(t, w.command("threads", "1000")); res.Exit != 0 || res.Limit != "" || len(res.Refused) > 0 {
		t.Errorf("a thousand threads: %s", show(res))
	}
	mark := filepath.Join(w.tree, "stopped")
	c := w.shell(`"$0" "$@" & while ! grep -q '(.*) T' /proc/$!/stat 2>/dev/null; do sleep 0.1; i=$((i+1)); [ $i -gt 10 ] && exit 0; done; exit 0`)
	c.Argv = append(c.Argv, w.exe, probeMarker, "stubborn", mark)
	start := time.Now()
	if res := w.run(t, c); res.Exit != 0 {
		t.Errorf("stopped: %s", show(res))
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("a stopped process held Run for %s", took)
	}
	if n := naming(mark); n > 0 {
		t.Errorf("%d stopped processes alive", n)
	}
}

// testSurvivors: a daemon that left its family, and a chain of processes faster than any list of them, are dead when
// Run returns (E19, E20).
func (w *world) testSurvivors(t *testing.T) {
	for _, kind := range []string{"daemon", "chain"} {
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

// naming counts the processes whose command line holds a text.
func naming(text string) int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	n := 0
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if bytes.Contains(b, []byte(text)) {
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
	w.still(t, mark)
	if _, err := w.box.Run(ctx, w.shell("true")); !errors.Is(err, why) {
		t.Errorf("error %v of a run that never began, want the cause", err)
	}
}

// testCallerKilled: nothing lives on when the process that called Run is killed.
func (w *world) testCallerKilled(t *testing.T) {
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

func (w *world) testConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := w.shell(fmt.Sprintf("echo %d; exit %d", i, i))
			res, err := w.box.Run(t.Context(), c)
			if err != nil || res.Exit != i || string(res.Stdout) != strconv.Itoa(i)+"\n" {
				t.Errorf("run %d: %v, %s", i, err, show(res))
			}
		})
	}
	wg.Wait()
}

func init() { // attempts of this file alone
	for name, p := range map[string]probe{
		"hogs":    func(a []string) error { return hogs(number(a[0])) },
		"memfd":   func(a []string) error { return memfd(number(a[0])) },
		"shmfile": func(a []string) error { return shmFile(number(a[0])) },
		"inodes":  func(a []string) error { return inodes(a[0]) },
		"deep":    func(a []string) error { return deep(a[0], number(a[1])) },
		"threads": func(a []string) error { return threads(number(a[0])) },
	} {
		attempts[name] = p
	}
}

// hogs takes memory in eight children, none of which takes much.
func hogs(mb int) error {
	for range 8 {
		if err := again("hog", strconv.Itoa(mb/8)).Start(); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// memfd takes memory that no process maps.
func memfd(mb int) error {
	fd, err := unix.MemfdCreate("hog", 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1<<20)
	for range mb {
		if _, err := unix.Write(fd, b); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// shmFile takes memory through a folder of the machine's that lies in it.
func shmFile(mb int) error {
	f, err := os.Create("/dev/shm/hog")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	b := make([]byte, 1<<20)
	for range mb {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// inodes makes empty files without end.
func inodes(dir string) error {
	for i := 0; ; i++ {
		if err := os.WriteFile(filepath.Join(dir, "inode-"+strconv.Itoa(i)), nil, 0o600); err != nil {
			return err
		}
	}
}

// deep fills a disk below more folders than a path can name.
func deep(dir string, mb int) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	name := strings.Repeat("d", 200)
	for range 30 {
		if err := os.Mkdir(name, 0o700); err != nil {
			return err
		}
		if err := os.Chdir(name); err != nil {
			return err
		}
	}
	return fill(".", mb)
}

// threads has many threads in one process.
func threads(n int) error {
	var up sync.WaitGroup
	up.Add(n)
	for range n {
		go func() {
			runtime.LockOSThread()
			up.Done()
			select {}
		}()
	}
	up.Wait()
	return nil
}
