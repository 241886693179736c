package sandboxtest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// testLeft: what a command leaves deceives nobody who comes after it.
func (w *world) testLeft(t *testing.T) {
	w.testLitter(t)
	testSwaps(t, w.tally)
	w.tally.run(t, "E24 E25", "a hostile tree", w.testPlanted)
	w.tally.run(t, "E33", "forged ending", w.testForged)
	w.tally.run(t, "E38", "options", w.testOptions)
	w.testKernels(t)
	w.tally.run(t, "E38", "hostile paths", w.testPaths)
	for name, id := range map[string]string{"task_for_pid": "E11", "defaults": "E26", "open": "E27", "osascript": "E27", "Apple Events": "E27", "security": "E28"} {
		w.tally.run(t, id, name, func(t *testing.T) { w.tally.refuse(t, id, "macOS has this, and this is Linux") })
	}
}

// testLitter: each thing that lies in the tree is seen there, and then the host's reader refuses it at once.
func (w *world) testLitter(t *testing.T) {
	dir := filepath.Join(w.tree, "litter")
	must(t, os.Mkdir(dir, 0o755))
	if res := w.run(t, w.command("leave", dir)); res.Exit != 0 {
		t.Fatalf("it could not be left: %s", show(res))
	}
	for _, l := range []struct{ ids, name, wrong string }{
		{"E32", "fifo", "not a regular file"},
		{"E32", "socket", "open socket"},
		{"E32", "device", "not a regular file"},
		{"E32", "zero", "too many levels"},
		{"E32", "link", "too many levels"},
		{"E32", "loop", "too many levels"},
		{"E32", "folder/passwd", "not a directory"},
		{"E32", "report", "not a regular file"},
		{"E32", "closed", "more than"},
		{"E22 E32", "twice", "2 names"},
	} {
		w.tally.run(t, l.ids, "left: "+l.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, l.name)); errors.Is(err, fs.ErrNotExist) {
				if l.name != "device" && l.name != "socket" { // these the tier itself may keep from being made
					t.Fatal("it was not left")
				}
				return
			}
			start := time.Now()
			b, err := sandbox.Harvest(dir, l.name, 1<<20)
			if err == nil || b != nil || !strings.Contains(err.Error(), l.wrong) && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("got %d bytes, error %v, want one that says %q", len(b), err, l.wrong)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	if b, err := sandbox.Harvest(dir, "plain", 4); err != nil || string(b) != "plai" {
		t.Errorf("the plain file reads %q, %v", b, err)
	}
}

// testPlanted: a tree that a command made hostile is read by the host, and nothing in it is started. That the program
// fires is seen by starting it.
func (w *world) testPlanted(t *testing.T) {
	dir, mark := filepath.Join(w.tree, "planted"), filepath.Join(t.TempDir(), "mark")
	must(t, os.Mkdir(dir, 0o755))
	if res := w.run(t, w.command("plant", dir, mark)); res.Exit != 0 {
		t.Fatalf("it could not be planted: %s", show(res))
	}
	for name := range runners {
		if _, err := sandbox.Harvest(dir, name, 1<<20); err != nil {
			t.Error(err)
		}
	}
	if res := w.run(t, w.shell("cd planted && ./fire.sh </dev/null")); res.Exit != 0 {
		t.Errorf("the program does not run inside: %s", show(res))
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it fired")
	}
	if err := exec.Command(filepath.Join(dir, "fire.sh")).Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the program does not fire outside either: %v", err)
	}
}

// testForged: who writes an ending into every descriptor that there is does not change how it ended.
func (w *world) testForged(t *testing.T) {
	cmd := exec.Command(w.exe, probeMarker, "forge")
	r, end, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd.ExtraFiles = []*os.File{end}
	_ = cmd.Run()
	end.Close()
	forged := make([]byte, 64)
	if n, err := r.Read(forged); err != nil || !bytes.HasPrefix(forged[:n], []byte(`{"Failure":""`)) {
		t.Fatalf("the control forges nothing: %q, %v", forged[:n], err)
	}
	if res := w.run(t, w.command("forge")); res.Exit != 1 || res.Limit != "" {
		t.Errorf("a forged ending was believed: %s", show(res))
	}
}

// testOptions: what cannot be opened is an error, never a weaker tier in its place.
func (w *world) testOptions(t *testing.T) {
	tier, missing := w.box.Tier(), filepath.Join(w.home, "missing")
	for name, o := range map[string]sandbox.Options{
		"no such tier":             {Tier: "strong"},
		"tier none, unasked":       {Tier: sandbox.Unconfined},
		"another tier is no leave": {Tier: sandbox.Unconfined, Allow: []sandbox.Tier{tier}},
		"shim is missing":          {Tier: tier, Shim: []string{missing}},
		"shim is relative":         {Tier: tier, Shim: []string{"shim"}},
		"shim is another program":  {Tier: tier, Shim: []string{"/bin/true"}},
		"shim forks and ends":      {Tier: tier, Shim: []string{"/bin/sh", "-c", "exit 0 #"}},
		"no folder for runs":       {Tier: tier, TmpDir: missing},
		"a file for runs":          {Tier: tier, TmpDir: filepath.Join(w.home, canaries[0])},
		"a name with NUL for runs": {Tier: tier, TmpDir: "/tmp\x00"},
	} {
		if box, err := sandbox.Open(o); err == nil {
			t.Errorf("%s: opened tier %s", name, box.Tier())
		}
	}
	if _, err := new(sandbox.Sandbox).Run(t.Context(), w.shell("true")); err == nil {
		t.Error("a sandbox that was not opened ran something")
	}
}

// testPaths: names that look like options, orders or nonsense are names.
func (w *world) testPaths(t *testing.T) {
	long := w.tree
	for len(long) < 3900 {
		long = filepath.Join(long, strings.Repeat("n", 100))
	}
	for _, name := range []string{`quote'"` + "`$(touch x)`", "--ro-bind", "--bind /etc /etc", "line\nbreak", `back\slash`, "space ", "-", "%s%n", "\x1b[31m", "עברית\u202e", long} {
		dir := name
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(w.tree, "paths", name)
		}
		must(t, os.MkdirAll(dir, 0o755))
		c := w.shell("pwd; echo x >here")
		c.Dir, c.Write, c.Read = dir, []string{dir}, nil
		res, err := w.box.Run(t.Context(), c)
		if err != nil {
			t.Errorf("%.40q: %v", name, err)
			continue
		}
		_, there := os.Stat(filepath.Join(dir, "here"))
		if res.Exit != 0 || string(res.Stdout) != dir+"\n" || there != nil {
			t.Errorf("%.40q: %s, %v", name, show(res), there)
		}
	}
	c := w.shell("true")
	c.Dir, c.Write = filepath.Join(w.tree, "paths", "\xff\xfe"), append(c.Write, filepath.Join(w.tree, "paths", "\xff\xfe"))
	must(t, os.Mkdir(c.Dir, 0o755))
	if _, err := w.box.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a name of other bytes: %v", err)
	}
	c = w.shell("true")
	c.Write = append(c.Write, w.tree+strings.Repeat("/n", 2500))
	if _, err := w.box.Run(t.Context(), c); err == nil || len(err.Error()) > 20000 {
		t.Errorf("a path of 5,000 characters: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.tree, "paths", "x")); err == nil {
		t.Error("a name was run")
	}
}

// bound is a way of taking more than a command may.
type bound struct {
	id, name, limit string
	args            []string
	set             func(*sandbox.Command)
	gap             string // where the tier's Gaps say this, it may go unseen
}

func (w *world) bounds() []bound {
	return []bound{
		{"E16", "every processor", "wall", []string{"spin"}, func(c *sandbox.Command) { c.Wall = 500 * time.Millisecond }, ""},
		{"E14", "empty files", "disk", []string{"flood", "files", w.tree, "4000"}, func(c *sandbox.Command) { c.Disk = 1 << 20 }, ""},
		{"E14", "names of one file", "disk", []string{"flood", "names", w.tree, "1000"}, func(c *sandbox.Command) { c.Disk = 1 << 20 }, ""},
		{"E15", "a file without a name", "memory", []string{"hide", "200"}, func(c *sandbox.Command) { c.Memory = 64 << 20 }, gapWatch},
	}
}

// testBounds: what takes more than it may is ended, whatever of.
func (w *world) testBounds(t *testing.T) {
	for _, b := range w.bounds() {
		w.tally.run(t, b.id, b.name, func(t *testing.T) {
			t.Parallel()
			c := w.command(b.args...)
			b.set(&c)
			res := w.run(t, c)
			if b.gap != "" && res.Limit == "" && slices.Contains(w.box.Gaps(), b.gap) {
				w.tally.gap(b.id)
				return
			}
			if res.Limit != b.limit {
				t.Errorf("want limit %s: %s", b.limit, show(res))
			}
		})
	}
	w.tally.run(t, "E33", "endless output", w.testOutput)
}

// testOutput: of a long line little is kept. How long it is takes nothing of ours but time: 10 GB where REDRAFT_LARGE is set.
func (w *world) testOutput(t *testing.T) {
	t.Parallel()
	size := 1 << 30
	switch {
	case w.box.Tier() != sandbox.Bubblewrap || testing.Short(): // the capture is the same one
		size = 1 << 27
	case os.Getenv("REDRAFT_LARGE") != "":
		size = 10_000_000_000
	}
	c := w.command("pour", strconv.Itoa(size))
	c.Output, c.Wall = 1<<20, 5*time.Minute
	res := w.run(t, c)
	if res.Exit != 0 || !res.Truncated || len(res.Stdout) > 1<<20+100 {
		t.Errorf("%d bytes became %d, truncated %v: exit %d %s", size, len(res.Stdout), res.Truncated, res.Exit, res.Limit)
	}
	t.Logf("%d bytes in %s", size, res.Wall.Round(time.Millisecond))
}
