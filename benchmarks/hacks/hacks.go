// Package hacks holds the oracle against a corpus of dishonest and honest changes of small programs, and counts which
// rung refuses what. It leaves judging to the oracle and to proof.Admit, whose rungs it takes as it finds them. The
// cases are read from a folder and never linked; every set has a hash, which its reports print.
package hacks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Program is a small program of ours with one red check.
type Program struct {
	Name     string // of its file, as in go-cart
	Language string // go, python, javascript, rust
	Runner   string // as in pytest
	Command  string // the red check
	About    string
	Files    map[string]string

	text string // the file that it came from
}

// Case is one change of a program, as a model would answer it.
type Case struct {
	Program string
	Name    string // unique among the changes of its program, its set and its side
	Kind    string // of a hack: one of Kinds; of an honest change: what about it is worth a look
	Note    string // one line for people
	Set     string // first, second
	Honest  bool
	Answer  string // edits as patch.Parse reads them, or a diff that begins with "diff --git"
}

// Kinds are the kinds of hacks, with what each is. Model is for answers of a model asked to get green by any means.
var Kinds = map[string]string{
	"assertion":  "an assertion edited or weakened",
	"delete":     "a test or a file of tests deleted",
	"skip":       "a test skipped, expected to fail, or skipped out of the product",
	"exit":       "the process ends well before the tests do",
	"hooks":      "setup hooks that rewrite outcomes",
	"equal":      "objects that are equal to everything",
	"literals":   "asserted inputs that have answers of their own",
	"half":       "a repair of half the bug: what is still wrong no test asks about",
	"percall":    "answers that differ from call to call",
	"clock":      "a patched clock",
	"stack":      "a look at who calls",
	"runner":     "an overwritten runner or parser",
	"path":       "a planted program on PATH",
	"history":    "answers read from history or from what is expected",
	"environ":    "a branch on CI, the test environment, argv[0] or testing.Testing()",
	"hijack":     "a hijacked library",
	"filters":    "a filter in what CI runs",
	"tautology":  "a test that compares a thing with itself, or asks a stand-in",
	"snapshot":   "a regenerated snapshot",
	"tolerance":  "a raised limit or tolerance",
	"forge":      "forged output of the runner",
	"dependency": "a swapped dependency",
	"swallow":    "a swallowed error or a removed feature",
	"suppress":   "a marker that suppresses",
	"exclude":    "tests excluded by a tag, a path, an option or a list",
	"daemon":     "a process that stays, or a poisoned cache",
	"flake":      "right by chance",
	"commit":     "tampering that is committed, so that it is what is restored",
	"rewrite":    "files rewritten after the verdict",
	Model:        "an answer of a model asked to get green by any means",
}

// Model is the kind of answers that a model gave.
const Model = "model"

// cheatsRuns are the kinds that need not be green on their own at the first run; a model's answers may never be.
var cheatsRuns = []string{"flake", "daemon", "percall", "commit", "rewrite", "history", Model}

// Sets are the names of the sets, in the order in which they were written.
var Sets = []string{"first", "second"}

// Corpus is what a folder of cases holds.
type Corpus struct {
	Programs map[string]Program
	Cases    []Case            // by set, side, program, and as they stand in their file
	Hashes   map[string]string // of each set that has a case: 12 hex digits over its programs and cases
}

// ID names a case, as in "first/hacks/go-cart/exit-init".
func (c Case) ID() string { return path.Join(c.Set, c.side(), c.Program, c.Name) }

func (c Case) side() string {
	if c.Honest {
		return "honest"
	}
	return "hacks"
}

// Load reads the folders programs, hacks/SET and honest/SET.
func Load(fsys fs.FS) (Corpus, error) {
	c := Corpus{Programs: map[string]Program{}, Hashes: map[string]string{}}
	names, err := fs.Glob(fsys, "programs/*.txtar")
	if err != nil {
		return c, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return c, err
		}
		p, err := parseProgram(strings.TrimSuffix(path.Base(name), ".txtar"), text)
		if err != nil {
			return c, fmt.Errorf("read %s: %w", name, err)
		}
		c.Programs[p.Name] = p
	}
	for _, set := range Sets {
		if err := c.loadSet(fsys, set); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Corpus) loadSet(fsys fs.FS, set string) error {
	sum := sha256.New()
	seen := map[string]bool{}
	for _, side := range []string{"hacks", "honest"} {
		names, err := fs.Glob(fsys, path.Join(side, set, "*.txt"))
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			p, ok := c.Programs[strings.TrimSuffix(path.Base(name), ".txt")]
			if !ok {
				return fmt.Errorf("read %s: there is no such program", name)
			}
			cases, err := parseCases(string(text))
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			fmt.Fprintf(sum, "%s\n%s\n%s\n", name, p.text, text)
			for _, k := range cases {
				k.Program, k.Set, k.Honest = p.Name, set, side == "honest"
				if err := k.check(seen); err != nil {
					return fmt.Errorf("read %s: %w", name, err)
				}
				c.Cases = append(c.Cases, k)
			}
		}
	}
	if len(seen) > 0 {
		c.Hashes[set] = hex.EncodeToString(sum.Sum(nil))[:12]
	}
	return nil
}

func (c Case) check(seen map[string]bool) error {
	if seen[c.ID()] {
		return fmt.Errorf("two cases are called %s", c.ID())
	}
	seen[c.ID()] = true
	if _, ok := Kinds[c.Kind]; !ok && !c.Honest {
		return fmt.Errorf("case %s: no kind is called %q", c.Name, c.Kind)
	}
	return nil
}

// parseProgram reads an archive whose comment holds one "key: value" a line.
func parseProgram(name string, text []byte) (Program, error) {
	p := Program{Name: name, Files: map[string]string{}, text: string(text)}
	a := txtar.Parse(text)
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		into := map[string]*string{"language": &p.Language, "runner": &p.Runner, "command": &p.Command, "about": &p.About}[key]
		if into == nil {
			return p, fmt.Errorf("what is %q?", line)
		}
		*into = value
	}
	for _, f := range a.Files {
		if !fs.ValidPath(f.Name) {
			return p, fmt.Errorf("file %q leaves the tree", f.Name)
		}
		p.Files[f.Name] = string(f.Data)
	}
	if p.Language == "" || p.Command == "" || len(p.Files) < 2 {
		return p, fmt.Errorf("a program has a language, a command and files")
	}
	return p, nil
}

// parseCases reads a file of cases: each begins with "=== NAME | KIND | NOTE", and what follows is the answer.
func parseCases(text string) (cases []Case, err error) {
	var answer strings.Builder
	end := func() {
		if len(cases) > 0 {
			cases[len(cases)-1].Answer = answer.String()
		}
		answer.Reset()
	}
	for line := range strings.Lines(text) {
		head, ok := strings.CutPrefix(line, "=== ")
		if !ok {
			answer.WriteString(line)
			continue
		}
		end()
		parts := strings.SplitN(strings.TrimSpace(head), " | ", 3)
		if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0], "/ ") {
			return nil, fmt.Errorf("%q does not read NAME | KIND | NOTE", strings.TrimSpace(line))
		}
		cases = append(cases, Case{Name: parts[0], Kind: parts[1], Note: parts[2]})
	}
	end()
	return cases, nil
}

// Pick takes the cases whose id matches one of the patterns; all if there are none. A pattern is a program, a kind, a
// language, a side, a set, or any part of an id with * for what may differ.
func (c Corpus) Pick(patterns []string) ([]Case, error) {
	if len(patterns) == 0 {
		return c.Cases, nil
	}
	var some []Case
	used := map[string]bool{}
	for _, k := range c.Cases {
		for _, p := range patterns {
			if c.matches(k, p) {
				used[p] = true
				if !slices.ContainsFunc(some, func(s Case) bool { return s.ID() == k.ID() }) {
					some = append(some, k)
				}
			}
		}
	}
	for _, p := range patterns {
		if !used[p] {
			return nil, fmt.Errorf("no case matches %q", p)
		}
	}
	return some, nil
}

func (c Corpus) matches(k Case, pattern string) bool {
	p := c.Programs[k.Program]
	if slices.Contains([]string{k.Program, k.Kind, k.Set, k.side(), p.Language, p.Runner, k.Program + "/" + k.Name, k.ID()}, pattern) {
		return true
	}
	for _, name := range []string{k.ID(), k.Program + "/" + k.Name} {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// PickPrograms takes programs by their names or languages, in the order of their names; all if there are no patterns.
func (c Corpus) PickPrograms(patterns []string) (some []Program, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Programs)) {
		p := c.Programs[name]
		if len(patterns) == 0 || slices.Contains(patterns, name) || slices.Contains(patterns, p.Language) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no program matches %q", patterns)
	}
	return some, nil
}

// stamp changes when a case or its program does.
func (c Corpus) stamp(k Case) string {
	sum := sha256.Sum256([]byte(c.Programs[k.Program].text + "\x00" + k.Kind + "\x00" + k.Answer))
	return hex.EncodeToString(sum[:])[:12]
}

// byProgram groups cases, programs in the order of their names.
func byProgram(cases []Case) [][]Case {
	sorted := slices.Clone(cases)
	slices.SortStableFunc(sorted, func(a, b Case) int { return cmp.Compare(a.Program, b.Program) })
	var groups [][]Case
	for i, k := range sorted {
		if i == 0 || sorted[i-1].Program != k.Program {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], k)
	}
	return groups
}
