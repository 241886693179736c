package oracle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// opened is the policy for a claim's diff. Where the diff touches protected files and the project lets its own tools write
// there, the tools run on two fresh copies of the root, and what both times came out the same is what may stand there.
func (o *Oracle) opened(ctx context.Context, diff []byte, findings []report.Result) (patch.Policy, []Run, error) {
	if len(o.Fixers) == 0 {
		return o.Policy, nil, nil
	}
	var s *patch.Slip
	if _, err := patch.Gate(o.Root, diff, o.Policy); !errors.As(err, &s) || s.Code != patch.IsProtected {
		return o.Policy, nil, nil
	}
	var runs []Run
	var wrote map[string]string
	for range 2 {
		in, err := o.fixerRuns(ctx)
		if err != nil {
			return o.Policy, nil, err
		}
		runs = append(runs, in...)
		wrote = in[len(in)-1].Wrote
	}
	return o.Opened(wrote, findings), runs, nil
}

// Opened is the policy under which the protected files that the project's own tools wrote, each by its SHA-256, may stand as they
// wrote them, as far as the findings or the files themselves make them the tools' business.
func (o *Oracle) Opened(wrote map[string]string, findings []report.Result) patch.Policy {
	p := o.Policy
	if len(o.Fixers) > 0 {
		p.Fixed = proof.FixedFiles(o.Root, o.Fixers, wrote, findings)
	}
	return p
}

// fixerRuns runs the project's own tools one after the other on one fresh copy of the root.
func (o *Oracle) fixerRuns(ctx context.Context) (runs []Run, err error) {
	dir, remove, err := o.Trees.Fresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy the root: %w", err)
	}
	defer remove(context.WithoutCancel(ctx)) //nolint:errcheck // the start-up reaper takes what stays
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	copied := patch.DirFS(root)
	id, err := patch.TreeID(copied, o.Links)
	if err != nil {
		return nil, fmt.Errorf("hash a copy: %w", err)
	}
	for _, f := range o.Fixers {
		r, err := o.run(ctx, request{phase: proof.FixerPhase, mode: proof.Plain, dir: dir, sub: f.Dir, argv: f.Argv, asCheck: true,
			env: o.FixerEnv(f.Kind, f.Bin, dir), cache: "confirm", tree: id, keep: true})
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	runs[len(runs)-1].Wrote, err = o.wrote(copied)
	return runs, err
}

// FixerEnv is what a fixer's run in a tree has in its environment besides the check's: bin is a folder of the tree that tools are
// looked for in first, none if empty.
func (o *Oracle) FixerEnv(kind, bin, dir string) []string {
	var env []string
	if bin != "" {
		path, ok := o.Check.Env["PATH"]
		if !ok {
			path = newEnviron(o.Needs.Env).get("PATH")
		}
		env = append(env, "PATH="+filepath.Join(dir, filepath.FromSlash(bin))+string(os.PathListSeparator)+path)
	}
	if kind == proof.FixesTidy {
		env = append(env, "GOFLAGS=-mod=mod")
	}
	return env
}

// wrote are the protected files of a copy that are not the root's, by SHA-256. One that is gone, or no plain file any more, is
// left out: a tool may not take it away.
func (o *Oracle) wrote(copied fs.FS) (map[string]string, error) {
	out := map[string]string{}
	err := fs.WalkDir(o.Root, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if _, protected := o.Policy.Protected(name); !protected || !d.Type().IsRegular() {
			return nil
		}
		old, err := fs.ReadFile(o.Root, name)
		if err != nil {
			return err
		}
		info, err := fs.Lstat(copied, name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFixed {
			return nil //nolint:nilerr // left out
		}
		now, err := fs.ReadFile(copied, name)
		if err == nil && string(now) != string(old) {
			out[name] = proof.Sum(now)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at what the tools wrote: %w", err)
	}
	return out, nil
}

const maxFixed = 8 << 20
