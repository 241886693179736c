package proof

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// FixerPhase is the phase of the runs in which the project's own tools wrote on copies of the root. They count for no colour.
const FixerPhase = "fixer"

// Kinds of fixers.
const (
	FixesFormat  = "format"
	FixesLint    = "lint"
	FixesTidy    = "tidy"
	FixesCodegen = "codegen"
)

// Fixer is a command of the project's own that writes what its check asks for.
type Fixer struct {
	Tool string   `json:"tool"`
	Kind string   `json:"kind"` // format, lint, tidy, codegen
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`           // relative to the tree
	Bin  string   `json:"bin,omitempty"` // folder of the tree that tools are looked for in first
}

// sameFixer compares what is run.
func sameFixer(a, b Fixer) bool {
	return a.Tool == b.Tool && a.Kind == b.Kind && a.Dir == b.Dir && a.Bin == b.Bin && slices.Equal(a.Argv, b.Argv)
}

// fixed is what the tools wrote in protected files, the same in every copy of the root that they ran on, at least two. The
// error is a *Refusal.
func (r Receipt) fixed(runs []Recorded) (map[string]string, error) {
	copies := map[string][]Recorded{}
	for _, run := range runs {
		if run.Phase == FixerPhase {
			copies[run.Place] = append(copies[run.Place], run)
		}
	}
	if len(r.Fixers) == 0 && len(copies) == 0 {
		return nil, nil
	}
	if len(r.Fixers) == 0 || len(copies) < 2 {
		return nil, refuse("evidence_missing", "%d tools are named, and they ran on %d copies of the root", len(r.Fixers), len(copies))
	}
	var wrote map[string]string
	one := false // a copy was looked at; what was written there may be nothing
	for place, in := range copies {
		slices.SortFunc(in, func(a, b Recorded) int { return a.N - b.N })
		if len(in) != len(r.Fixers) {
			return nil, refuse("evidence_missing", "%d of %d tools ran on the copy %s", len(in), len(r.Fixers), place)
		}
		for i, run := range in {
			if run.Command != patch.Line(r.Fixers[i].Argv) || run.Dir != path.Clean(r.Fixers[i].Dir) || run.Tier != r.Tier || run.Tree != r.RootTree {
				return nil, refuse("evidence_tampered", "run fixer-%d is of another tool, folder, sandbox or tree than the receipt's", run.N)
			}
		}
		last := in[len(in)-1].Wrote
		if one && !maps.Equal(wrote, last) {
			return nil, refuse("not_proven", "the tools did not write the same twice")
		}
		wrote, one = last, true
	}
	return wrote, nil
}

// FixedFiles are the protected files that may change, each to what the tools wrote there: those that a finding names, manifests
// for a tidier and files that say themselves that they are generated for a generator. findings are the failing results of the root.
func FixedFiles(root fs.FS, fixers []Fixer, wrote map[string]string, findings []report.Result) map[string]patch.Fixed {
	out := map[string]patch.Fixed{}
	for name, sum := range wrote {
		for _, f := range fixers {
			if f.concerns(root, name, findings) {
				out[name] = patch.Fixed{Tool: f.Tool, Sum: sum, Same: !slices.ContainsFunc(fixers, func(f Fixer) bool { return f.Kind != FixesFormat })}
				break
			}
		}
	}
	return out
}

// concerns says whether a tool has business with a protected file.
func (f Fixer) concerns(root fs.FS, name string, findings []report.Result) bool {
	switch f.Kind {
	case FixesTidy:
		return slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum", "cargo.lock"}, strings.ToLower(path.Base(name)))
	case FixesCodegen:
		return generated(root, name)
	}
	return slices.ContainsFunc(findings, func(r report.Result) bool {
		return r.File == name && (r.Kind == report.Format || r.Kind == report.Lint)
	})
}

// generated says whether a file's head says that a tool owns it. https://go.dev/s/generatedcode, and @generated elsewhere.
func generated(root fs.FS, name string) bool {
	b, err := fs.ReadFile(root, name)
	head := b[:min(len(b), 1024)]
	return err == nil && (bytes.Contains(head, []byte("generated")) && bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated")))
}

// failures are the failing results of the runs of the root that count.
func failures(runs []Recorded) []report.Result {
	var out []report.Result
	for _, r := range runs {
		if r.Phase == "see" && r.ThrownAway == "" {
			out = append(out, r.Report.Findings()...)
		}
	}
	return out
}

// openFixed opens a policy to what the recorded runs of the project's own tools wrote, as far as the admitting side has them run. The
// error is a *Refusal.
func (r Receipt) openFixed(root fs.FS, runs []Recorded, policy Policy) (patch.Policy, error) {
	p := policy.Patch
	wrote, err := r.fixed(runs)
	if err != nil || len(r.Fixers) == 0 {
		return p, err
	}
	if !slices.EqualFunc(r.Fixers, policy.Fixers, sameFixer) {
		return p, refuse("plan_changed", "the tools that wrote in protected files are not those that this repository lets write there")
	}
	p.Fixed = FixedFiles(root, r.Fixers, wrote, failures(runs))
	return p, nil
}
