package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// contest is one tree and all that is measured on it.
type contest struct {
	*bench
	tree
	rounds int
	copies int // files of a large tree, 0 for a small one
	ways   []*way
}

// way is one thing that is measured.
type way struct {
	name   string
	ready  func() error // before each time
	start  func(context.Context) (reply, error)
	once   bool // slow: in the first round only
	all    []reply
	failed string
}

// slowest is how long one process may take.
const slowest = 15 * time.Minute

// lay makes the contest's tree and names its ways.
func (c *contest) lay(ctx context.Context) (err error) {
	language := c.language
	if c.tree, err = c.small(ctx, language); err != nil {
		return err
	}
	if c.copies > 0 {
		if c.tree, err = c.large(c.tree, c.copies); err != nil {
			return err
		}
	}
	for _, how := range []string{"plain", "typed"} {
		name, kept := map[string]string{"plain": "outlines", "typed": "typed"}[how], c.kept(how)
		if how == "typed" && language != "go" {
			continue
		}
		c.add("redraft, cold, "+name, func() error { return os.RemoveAll(kept) }, c.ours(how, kept))
		c.add("redraft, warm, "+name, nil, c.ours(how, kept))
	}
	how := "plain"
	if language == "go" {
		how = "typed"
	}
	c.add(changeWay, nil, c.ours("change", c.kept(how)))
	c.add("universal-ctags", nil, c.ctags)
	c.others()
	return nil
}

// kept is the cache that a cold index leaves and the warm ones after it find.
func (c *contest) kept(how string) string {
	return c.cache + "-" + filepath.Base(c.dir) + "-" + how
}

func (c *contest) add(name string, ready func() error, start func(context.Context) (reply, error)) *way {
	w := &way{name: name, ready: ready, start: start}
	c.ways = append(c.ways, w)
	return w
}

// others are aider and ast. A ranked map of many copies of the same names has as many edges as the square of the copies, so
// that it is not asked of a large tree.
func (c *contest) others() {
	tags := filepath.Join(c.dir, ".aider.tags.cache.v4")
	forget := func() error { return os.RemoveAll(tags) }
	touch := func() error {
		name, now := "", time.Now()
		err := filepath.Walk(c.dir, func(file string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() && filepath.Ext(file) == endings[c.language] {
				name = file
			}
			return err
		})
		if err != nil {
			return err
		}
		return os.Chtimes(name, now, now)
	}
	ways := []*way{
		c.add("aider tags, cold", forget, c.drive("tags")),
		c.add("aider tags, warm", nil, c.drive("tags")),
		c.add("aider tags, one file changed", touch, c.drive("tags")),
	}
	if c.copies == 0 {
		ways = append(ways, c.add("aider map, warm", nil, c.drive("map")), c.add("aider map, cold", forget, c.drive("map")))
	}
	if c.language == "python" {
		ways = append(ways, c.add("Python's ast", nil, c.drive("ast")))
	}
	for _, w := range ways {
		w.once = c.copies > 0
	}
}

// turn measures every way once. Warm ways find what the cold ones before them left.
func (c *contest) turn(ctx context.Context, round int) error {
	for _, w := range c.ways {
		if w.failed != "" || w.once && round > 0 {
			continue
		}
		if w.ready != nil {
			if err := w.ready(); err != nil {
				return err
			}
		}
		r, err := w.start(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			w.failed = err.Error()
		default:
			w.all = append(w.all, r)
		}
	}
	return nil
}

// ours is an index of ours in a process of its own.
func (c *contest) ours(how, cache string) func(context.Context) (reply, error) {
	return func(ctx context.Context) (reply, error) {
		return reported(ctx, c.exe, "child", how, c.dir, cache, c.grammars())
	}
}

// grammars is where the compiled grammars are kept, as the commands keep them.
func (b *bench) grammars() string { return filepath.Join(filepath.Dir(b.cache), "grammars") }

func (c *contest) drive(what string) func(context.Context) (reply, error) {
	return func(ctx context.Context) (reply, error) {
		return reported(ctx, c.python, c.driver, what, c.dir)
	}
}

// ctags is measured from its start to its end: a few milliseconds of that are the start.
func (c *contest) ctags(ctx context.Context) (reply, error) {
	tags := c.cache + ".tags"
	begin := time.Now()
	r, _, err := process(ctx, "ctags", "--options=NONE", "--recurse", "--fields=+neKS", "--sort=no", "-f", tags, c.dir)
	r.Seconds = time.Since(begin).Seconds()
	if err != nil {
		return r, err
	}
	text, err := os.ReadFile(tags)
	r.Symbols = bytes.Count(text, []byte("\n")) - bytes.Count(text, []byte("\n!_")) - 1
	return r, err
}

// reported runs a process whose last line is its reply.
func reported(ctx context.Context, argv ...string) (reply, error) {
	r, out, err := process(ctx, argv...)
	if err != nil {
		return r, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &r); err != nil {
		return r, fmt.Errorf("read what %s says: %w", filepath.Base(argv[0]), err)
	}
	return r, nil
}

// process runs one, and knows its peak of memory. Linux counts in it what this process holds, which is little.
func process(ctx context.Context, argv ...string) (r reply, out []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = &said
	out, err = cmd.Output()
	switch {
	case ctx.Err() != nil:
		return r, nil, fmt.Errorf("over %v", slowest)
	case err != nil:
		return r, nil, fmt.Errorf("%w: %s", err, said.Bytes()[max(0, said.Len()-300):])
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak, r.CPU = int64(u.Maxrss), computed(u)
		if runtime.GOOS != "darwin" { // there it is bytes: https://man.freebsd.org/cgi/man.cgi?query=getrusage, Apple's the same
			r.peak <<= 10
		}
	}
	return r, out, nil
}
