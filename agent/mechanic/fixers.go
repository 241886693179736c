package mechanic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Fixer is a command of the project's own that writes what its check asks for.
type Fixer struct {
	Tool string   // as in "gofmt"
	Kind string   // format, lint, tidy or codegen
	Argv []string // as it is, no shell
	Dir  string   // relative to the root; the root itself if empty
	Bin  string   // folder of the tree that tools are looked for in first; none if empty
}

// Kinds of fixers.
const (
	formats   = "format"
	lints     = "lint"
	tidies    = "tidy"
	generates = "codegen"
)

// fixers are the tools whose class the check or its findings name, in the order in which they are run: the check's own first,
// and where it hides them the Go toolchain's.
func (h *hunt) fixers() []Fixer {
	if !h.fixable() {
		return nil
	}
	if len(h.Fixers) > 0 {
		return h.Fixers
	}
	var out []Fixer
	if diagnostics(h.seen.Findings, report.Lint) || h.seen.Class == report.LintClass {
		out = append(out, Fixer{Tool: "go vet", Kind: lints, Argv: []string{"go", "vet", "-fix", "./..."}})
	}
	if diagnostics(h.seen.Findings, report.Format) || h.seen.Class == report.FormatClass {
		out = append(out, Fixer{Tool: "gofmt", Kind: formats, Argv: []string{"gofmt", "-w", "."}})
	}
	return out
}

// fixable says whether a tool's rewriting may be what the check asks for: a diagnostic was found, or nobody knows what was.
func (h *hunt) fixable() bool {
	return slices.ContainsFunc(h.seen.Findings, func(f report.Result) bool {
		return f.Kind == report.Lint || f.Kind == report.Format || f.Kind == report.Typecheck || f.ID == "[exit]"
	}) || len(h.seen.Findings) == 0
}

// fix runs the fixers in a fresh tree and offers what they changed in files that may be touched: all of them together, then what
// the formatters alone changed, since a linter's fix can break what compiled.
func (h *hunt) fix(ctx context.Context) error {
	tools := h.fixers()
	if len(tools) == 0 {
		return nil
	}
	if err := h.fixWith(ctx, tools); err != nil {
		return err
	}
	layout := slices.DeleteFunc(slices.Clone(tools), func(f Fixer) bool { return f.Kind != formats })
	if len(layout) == 0 || len(layout) == len(tools) {
		return nil
	}
	return h.fixWith(ctx, layout)
}

func (h *hunt) fixWith(ctx context.Context, tools []Fixer) error {
	var change patch.Change
	var policy patch.Policy
	begin := time.Now()
	_, err := h.spend(ctx, func(ctx context.Context) (err error) {
		change, policy, err = h.fixed(ctx, tools)
		return err
	})
	if err != nil || len(change.Files) == 0 {
		return err
	}
	c := Candidate{Change: change, Score: 1, File: change.Files[0].Path, Edit: toolNames(tools)}
	c.Why = fmt.Sprintf("%s rewrote %d of the files that may be touched", c.Edit, len(change.Files))
	if _, err := patch.Gate(h.Root, change.Diff(), policy); err != nil {
		h.told(c, Refused, time.Since(begin).Seconds())
		return nil
	}
	h.told(c, LooksGreen, time.Since(begin).Seconds())
	return h.offer(c)
}

func toolNames(tools []Fixer) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Tool)
	}
	return strings.Join(names, ", ")
}

// fixed is what the tools change in a fresh tree, and the policy under which it may land. A tool that is missing or fails changes
// nothing.
func (h *hunt) fixed(ctx context.Context, tools []Fixer) (change patch.Change, policy patch.Policy, err error) {
	dir, end, err := h.fresh(ctx)
	if err != nil {
		return change, policy, err
	}
	defer func() { err = errors.Join(err, end()) }()
	before, err := files(dir)
	if err != nil {
		return change, policy, err
	}
	for _, t := range tools {
		if err := h.tool(ctx, dir, t); err != nil {
			return change, policy, err
		}
	}
	after, err := files(dir)
	if err != nil {
		return change, policy, err
	}
	made := slices.ContainsFunc(tools, func(t Fixer) bool { return t.Kind == generates || t.Kind == tidies })
	all, err := h.harvest(dir, rewritten(before, after), made)
	if err != nil {
		return change, policy, err
	}
	change, policy = h.touchable(all)
	return change, policy, nil
}

// touchable is a change without the protected files in it, but for those that the project lets its own tools write.
func (h *hunt) touchable(all patch.Change) (patch.Change, patch.Policy) {
	wrote := map[string]string{}
	for _, f := range all.Files {
		if _, protected := h.Policy.Protected(f.Path); protected && !f.Created {
			sum := sha256.Sum256(f.New)
			wrote[f.Path] = hex.EncodeToString(sum[:])
		}
	}
	policy := h.Policy
	policy.Fixed = h.Oracle.Opened(wrote, h.seen.Findings).Fixed
	return patch.Change{Files: slices.DeleteFunc(all.Files, func(f patch.FileChange) bool {
		_, protected := h.Policy.Protected(f.Path)
		_, fixed := policy.Fixed[f.Path]
		return protected && !fixed
	})}, policy
}

// tool runs one fixer.
func (h *hunt) tool(ctx context.Context, dir string, t Fixer) error {
	env := append(h.env(), h.Oracle.FixerEnv(t.Kind, t.Bin, dir)...)
	_, _, err := h.Oracle.Exec(ctx, oracle.Exec{Phase: "fix", Dir: dir, Subdir: t.Dir, Argv: t.Argv, Env: env, Cache: firstCache, Timeout: 2 * time.Minute})
	if err != nil {
		return fmt.Errorf("run %s: %w", t.Tool, err)
	}
	return nil
}

// stamp tells whether a file was written since: tools that rewrite a file in place change its size or its time.
type stamp struct {
	size int64
	when time.Time
}

// files are the regular files of a tree with their stamps, what other people own left out.
func files(dir string) (map[string]stamp, error) {
	out := map[string]stamp{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != dir && skipped(e.Name()) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away while we looked
		}
		rel, err := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = stamp{info.Size(), info.ModTime()}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list a tree's files: %w", err)
	}
	return out, nil
}

// rewritten are the files that are new or have another stamp, sorted, at most as many as are ever read of a root.
func rewritten(before, after map[string]stamp) []string {
	var out []string
	for name, is := range after {
		if was, there := before[name]; !there || was != is {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxFiles)]
}

// skipped says whether tools leave such a folder out, or somebody else owns it.
func skipped(dir string) bool {
	return slices.Contains([]string{"vendor", "node_modules", "testdata", "target", "__pycache__", "dist", "build"}, dir) || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// harvest reads the files back that a run has changed, and those that it made where made says so. What is no plain file any more
// is left as it was.
func (m *Mechanic) harvest(dir string, names []string, made bool) (patch.Change, error) {
	var change patch.Change
	for _, name := range names {
		old, err := readBounded(m.Root, name, maxFile)
		created := errors.Is(err, fs.ErrNotExist)
		if err != nil && !(created && made) || created && strings.HasPrefix(path.Base(name), ".") {
			continue
		}
		new, err := sandbox.Harvest(dir, name, maxFile)
		if err != nil || !created && bytes.Equal(old, new) {
			continue
		}
		change.Files = append(change.Files, patch.FileChange{Path: name, Old: old, New: new, Created: created, Mode: m.mode(name)})
	}
	return change, nil
}
