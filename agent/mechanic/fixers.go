package mechanic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// fixer is a tool of the project's own toolchain that repairs a class of findings.
type fixer struct {
	name    string
	argv    []string // the files follow where files is set
	perFile bool
}

// fixers are the tools whose class the check or its findings name, in the order in which they are run.
func (h *hunt) fixers() []fixer {
	run := h.Oracle.Check.Run
	var out []fixer
	if strings.Contains(run, "go vet") || diagnostics(h.seen.Findings, report.Lint) || h.seen.Class == report.LintClass {
		out = append(out, fixer{name: "go vet -fix", argv: []string{"go", "vet", "-fix", "./..."}})
	}
	if strings.Contains(run, "gofmt") || strings.Contains(run, "go fmt") ||
		diagnostics(h.seen.Findings, report.Format) || h.seen.Class == report.FormatClass {
		argv := []string{"gofmt", "-w"}
		if gofmtSimplifies(run) {
			argv = append(argv, "-s")
		}
		out = append(out, fixer{name: "gofmt", argv: argv, perFile: true})
	}
	return out
}

// gofmtSimplifies says whether the check's gofmt is asked for -s, so that what we write is what it wants.
func gofmtSimplifies(run string) bool {
	_, rest, ok := strings.Cut(run, "gofmt")
	if !ok {
		return false
	}
	for _, f := range strings.Fields(rest) {
		if f == "-s" {
			return true
		}
	}
	return false
}

// fix runs the fixers in a fresh tree and offers what they changed in files that may be touched.
func (h *hunt) fix(ctx context.Context) error {
	tools := h.fixers()
	if len(tools) == 0 {
		return nil
	}
	var change patch.Change
	begin := time.Now()
	_, err := h.spend(ctx, func(ctx context.Context) (err error) {
		change, err = h.fixed(ctx, tools)
		return err
	})
	if err != nil || len(change.Files) == 0 {
		return err
	}
	c := Candidate{Change: change, Score: 1, File: change.Files[0].Path, Edit: toolNames(tools)}
	c.Why = fmt.Sprintf("%s rewrote %d of the files that may be touched", c.Edit, len(change.Files))
	if !h.gated(change) {
		h.told(c, Refused, time.Since(begin).Seconds())
		return nil
	}
	h.told(c, LooksGreen, time.Since(begin).Seconds())
	return h.offer(c)
}

func toolNames(tools []fixer) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// fixed is what the tools change in a fresh tree. A tool that is missing or fails changes nothing.
func (h *hunt) fixed(ctx context.Context, tools []fixer) (change patch.Change, err error) {
	files, err := h.editable()
	if err != nil || len(files) == 0 {
		return change, err
	}
	dir, end, err := h.fresh(ctx)
	if err != nil {
		return change, err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, t := range tools {
		if err := h.tool(ctx, dir, t, files); err != nil {
			return change, err
		}
	}
	return h.harvest(dir, files)
}

// tool runs one fixer, with the files in portions that an argument list can hold.
func (h *hunt) tool(ctx context.Context, dir string, t fixer, files []string) error {
	const portion = 500
	for len(files) > 0 {
		argv, n := t.argv, min(portion, len(files))
		if t.perFile {
			for _, f := range files[:n] {
				argv = append(argv[:len(argv):len(argv)], "./"+f)
			}
			files = files[n:]
		} else {
			files = nil
		}
		_, _, err := h.Oracle.Exec(ctx, oracle.Exec{Phase: "fixer", Dir: dir, Argv: argv, Env: h.env(),
			Cache: firstCache, Timeout: 2 * time.Minute})
		if err != nil {
			return fmt.Errorf("run %s: %w", t.name, err)
		}
	}
	return nil
}

// editable lists the Go files of the root that may be touched: not protected, not generated, not vendored.
func (m *Mechanic) editable() ([]string, error) {
	var out []string
	err := fs.WalkDir(m.Root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != "." && skipped(e.Name()) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || path.Ext(name) != ".go" {
			return nil
		}
		if _, protected := m.Policy.Protected(name); !protected && len(out) < maxFiles {
			out = append(out, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the root's Go files: %w", err)
	}
	return out, nil
}

// skipped says whether the go command leaves such a folder out, or somebody else owns it.
func skipped(dir string) bool {
	return dir == "vendor" || dir == "testdata" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// harvest reads the files back that a run has changed. What is no plain file any more is left as it was.
func (m *Mechanic) harvest(dir string, files []string) (patch.Change, error) {
	var change patch.Change
	for _, name := range files {
		old, err := readBounded(m.Root, name, maxFile)
		if err != nil {
			continue
		}
		new, err := sandbox.Harvest(dir, name, maxFile)
		if err != nil || bytes.Equal(old, new) {
			continue
		}
		change.Files = append(change.Files, patch.FileChange{Path: name, Old: old, New: new, Mode: m.mode(name)})
	}
	return change, nil
}
