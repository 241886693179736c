package patch

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Class is the risk of a change.
type Class int

const (
	R0 Class = iota // configuration, pins, paths: no file of a programming language
	R1              // a small change of source
	R2              // public API, dependencies, migrations, or more than BigChange lines
	R3              // tests, the oracle, CI, build and linter configuration
)

// BigChange is the number of changed lines above which a change of source is R2.
const BigChange = 200

func (c Class) String() string { return [...]string{"R0", "R1", "R2", "R3"}[c] }

// Risk classifies a change: the highest class of any of its files. A protected file that the policy opened counts
// as what it is: R3 for what belongs to the oracle, R2 for manifests and lockfiles. A Go file is R2 when it
// adds, removes or changes the signature of an exported name that other modules can import. root is what the
// change was made to; only the change itself is read.
func (c Change) Risk(root fs.FS, policy Policy) Class {
	class, lines := R0, 0
	for _, f := range c.Files {
		class = max(class, f.risk(policy))
		for _, r := range diffLines(splitLines(f.Old), splitLines(f.New)) {
			lines += r.To - r.From + r.NewTo - r.NewFrom
		}
	}
	if lines > BigChange {
		class = max(class, R2)
	}
	return class
}

func (f FileChange) risk(policy Policy) Class {
	if _, ok := policy.fixes(f.Path); ok {
		return R2
	}
	folded := foldPath(f.Path)
	for _, script := range policy.Oracle {
		if foldPath(path.Clean(script)) == folded {
			return R3
		}
	}
	for _, rules := range [][]rule{neverOpen, byDefault} {
		if r, ok := matching(rules, folded); ok {
			return r.class
		}
	}
	switch {
	case migrations.matches(folded) || f.changesAPI():
		return R2
	case settings.matches(folded):
		return R0
	}
	return R1
}

var (
	migrations = rule{under: words(`migrations migration migrate alembic flyway liquibase`), names: words(`*.sql schema.rb schema.prisma`)}
	settings   = rule{names: words(`*.yml *.yaml *.toml *.json *.json5 *.jsonc *.ini *.cfg *.conf *.properties *.env *.xml *.md *.rst *.txt *.adoc *.csv *.tsv`)}
)

// changesAPI says whether a Go file defines other exported names, or the same ones with other signatures, in a
// package that other modules can import.
func (f FileChange) changesAPI() bool {
	g, ok := syntax.For(f.Path)
	if !ok || slices.Contains(strings.Split(path.Dir(f.Path), "/"), "internal") {
		return false
	}
	return !maps.Equal(api(g, f.Old), api(g, f.New))
}

// api is the exported names of a file with their signatures. A program has none, nor has a text that does not
// parse; methods count with their type.
func api(g syntax.Grammar, src []byte) map[string]string {
	if packageMain(src) {
		return nil
	}
	all, err := g.Symbols(src)
	if err != nil {
		return nil
	}
	names := map[string]string{}
	for _, s := range all {
		if s.Exported && (s.Container == "" || s.Container[0] >= 'A' && s.Container[0] <= 'Z' || s.Container[0] >= 0x80) {
			names[s.String()] = s.Signature
		}
	}
	return names
}

func packageMain(src []byte) bool {
	for l := range bytes.Lines(bytes.TrimPrefix(src, bom)) {
		if f := bytes.Fields(l); len(f) > 0 && string(f[0]) == "package" {
			return len(f) > 1 && string(f[1]) == "main"
		}
	}
	return false
}
