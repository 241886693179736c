package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// filled is the command with defaults for its zero limits. Memory stays zero: the tier measures what is free.
func (c Command) filled() Command {
	if c.Wall <= 0 {
		c.Wall = 10 * time.Minute
	}
	if c.Pids <= 0 {
		c.Pids = 512
	}
	if c.Disk <= 0 {
		c.Disk = 4 << 30
	}
	if c.Output <= 0 {
		c.Output = 64 << 20
	}
	c.Read, c.Write = cleaned(c.Read), cleaned(c.Write)
	return c
}

func cleaned(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Clean(p) // "" becomes ".", which is refused as relative
	}
	return out
}

// name is the command for error messages.
func (c Command) name() string {
	if len(c.Argv) == 0 {
		return "a command"
	}
	return filepath.Base(c.Argv[0])
}

// check refuses what no tier could confine.
func (c Command) check() error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errors.New("argv is empty")
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return errors.New("an argument holds a NUL byte")
		}
	}
	for _, kv := range c.Env {
		if i := strings.IndexByte(kv, '='); i <= 0 || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("environment entry %q is not KEY=value", kv)
		}
	}
	for _, p := range slices.Concat(c.Read, c.Write) {
		if err := checkPath(p); err != nil {
			return err
		}
	}
	for _, s := range slices.Concat(c.Argv, c.Env, c.Read, c.Write, []string{c.Dir}) {
		if !utf8.ValidString(s) { // an order is JSON, which would turn it into another name
			return fmt.Errorf("%q is not UTF-8", s)
		}
	}
	return c.checkDir()
}

// tooWide are folders that hold more than one job's files: who asks for one of them made a mistake.
var tooWide = []string{"/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/var", "/Users", "/private"}

func checkPath(p string) error {
	if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
		return fmt.Errorf("path %q is not absolute", p)
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return fmt.Errorf("path to give: %w", err)
	}
	if slices.Contains(tooWide, p) || slices.Contains(tooWide, real) {
		return fmt.Errorf("path %s is too wide to give to a command", p)
	}
	return nil
}

func (c Command) checkDir() error {
	if !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("working directory %q is not absolute", c.Dir)
	}
	dir := filepath.Clean(c.Dir)
	if !slices.ContainsFunc(slices.Concat(c.Read, c.Write), func(p string) bool { return within(p, dir) }) {
		return fmt.Errorf("working directory %s lies under no path of the command", dir)
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !fi.IsDir() {
		return fmt.Errorf("working directory %s is not a directory", dir)
	}
	return nil
}

// within says whether path is dir or lies below it; both are clean and absolute.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// env is the command's environment with TMPDIR where it was missing.
func (c Command) env(tmp string) []string {
	for _, kv := range c.Env {
		if strings.HasPrefix(kv, "TMPDIR=") {
			return c.Env
		}
	}
	return append(slices.Clone(c.Env), "TMPDIR="+tmp)
}
