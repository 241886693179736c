// Command mutants breaks the program's own promises, one small break at a time, in a copy of the tree, and runs the test
// that must notice. It leaves what is worth breaking to the table in mutants.go. A break that no test notices, or that
// no longer fits the code, is a failure of this command.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, mutants, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Mutant is one small break of the code.
type Mutant struct {
	Name     string // what the broken program does, in a few words
	Promise  string // which promise or rung it breaks, as in "D0" or "promise 3"
	File     string // from the top of the tree, with slashes
	Old, New string // Old stands in File exactly once
	Test     string // package whose test must fail, as in "./agent/proof"
	Run      string // regular expression of the tests, as go test -run takes it
}

// errMissed says that a break went unnoticed.
var errMissed = errors.New("no test noticed")

// run applies the mutants one after the other. Exit: 0 all were caught, 1 not, 2 usage, 3 our side failed.
func run(ctx context.Context, table []Mutant, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("mutants", flag.ContinueOnError)
	fl.SetOutput(stderr)
	tree := fl.String("tree", ".", "top of the tree")
	only := fl.String("run", "", "regular expression: only mutants whose promise or name it matches")
	timeout := fl.Duration("timeout", 3*time.Minute, "of one mutant")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	wanted, err := regexp.Compile(*only)
	if err != nil || fl.NArg() > 0 {
		fmt.Fprintln(stderr, "mutants: --run takes a regular expression, and there are no arguments")
		return 2
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	defer os.RemoveAll(dir)
	if err := copyTree(dir, *tree); err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	caught, total := 0, 0
	whole := map[string]error{} // what each test says of the tree as it is
	for _, m := range table {
		if !wanted.MatchString(m.Promise + " " + m.Name) {
			continue
		}
		total++
		start := time.Now()
		key := m.Test + " " + m.Run
		if _, known := whole[key]; !known {
			whole[key] = m.whole(ctx, dir, *timeout)
		}
		err := whole[key]
		if err == nil {
			err = m.try(ctx, dir, *timeout)
		}
		if ctx.Err() != nil {
			fmt.Fprintln(stderr, "mutants: interrupted")
			return 3
		}
		word := "caught"
		if err != nil {
			word = "MISSED: " + err.Error()
		} else {
			caught++
		}
		fmt.Fprintf(stdout, "%-10s %-50s %5.1fs  %s\n", m.Promise, m.Name, time.Since(start).Seconds(), word)
	}
	fmt.Fprintf(stdout, "mutants: %d caught of %d\n", caught, total)
	if caught < total {
		return 1
	}
	return 0
}

// try breaks the copy, wants a red test, and mends the copy again. The error says why the mutant does not count as caught.
func (m Mutant) try(ctx context.Context, dir string, timeout time.Duration) (err error) {
	name := filepath.Join(dir, filepath.FromSlash(m.File))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return fmt.Errorf("%q stands %d times in %s, not once", m.Old, n, m.File)
	}
	if err := os.WriteFile(name, bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), 0o644); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.WriteFile(name, text, 0o644)) }()
	out, failed, timedOut := m.test(ctx, dir, timeout)
	return verdict(out, failed, timedOut)
}

// whole runs the mutant's test on the tree as it is: a test that is red there notices nothing.
func (m Mutant) whole(ctx context.Context, dir string, timeout time.Duration) error {
	out, failed, timedOut := m.test(ctx, dir, timeout)
	if err := errors.Join(failed, timedOut); err != nil {
		return fmt.Errorf("its test is red without it: %w: %s", err, tail(out))
	}
	return nil
}

func (m Mutant) test(ctx context.Context, dir string, timeout time.Duration) (out string, failed, timedOut error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", m.Run, m.Test)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second
	b, failed := cmd.CombinedOutput()
	return string(b), failed, ctx.Err()
}

// verdict holds what go test said against what a caught mutant looks like: a test that ran and failed. A break that does
// not compile, or a pattern that matches nothing, proves nothing.
func verdict(out string, failed, timedOut error) error {
	switch {
	case timedOut != nil:
		return nil // a test that no longer ends is red as well
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return fmt.Errorf("does not compile: %s", tail(out))
	case failed == nil && strings.Contains(out, "no tests to run"):
		return errors.New("no test is called so")
	case failed == nil:
		return errMissed
	case !strings.Contains(out, "--- FAIL: ") && !strings.Contains(out, "panic: "):
		return fmt.Errorf("no named test failed: %s", tail(out))
	}
	return nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-400):]
}

// copyTree copies the tree without what git keeps or a build left.
func copyTree(dst, src string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git" && d.IsDir(), rel == "dist", rel == ".cache":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dst, rel), 0o755)
		case !d.Type().IsRegular() || d.Name() == ".git" || rel == "redraft":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dst, rel), text, info.Mode().Perm()|0o600)
	})
}
