package perceive

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Stats is what an index holds and what it cannot tell.
type Stats struct {
	Files       int            `json:"files"`
	Generated   int            `json:"generated"` // of them, files that say a program wrote them
	Symbols     int            `json:"symbols"`
	Edges       int            `json:"edges"`
	Kinds       map[string]int `json:"kinds"`        // edges by kind
	Rules       map[string]int `json:"rules"`        // edges by the rule that bound them
	Blind       int            `json:"blind"`        // uses that two definitions or more could be meant by
	Examples    []Blind        `json:"examples"`     // the first of them
	Outside     []string       `json:"outside"`      // imports of what the tree does not hold, each once
	OutsideUses int            `json:"outside_uses"` // uses of what those hold
	Refused     []Refused      `json:"refused"`      // files that could not be read
	Skipped     map[string]int `json:"skipped"`      // what was not looked at, by reason
	Packages    []GoPackage    `json:"packages,omitempty"`
}

// Refused is a file of which nothing is known, and why.
type Refused struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// GoPackage says how far go/types came with a package of Go.
type GoPackage struct {
	Folder string `json:"folder"`
	Files  int    `json:"files"`
	Done   int    `json:"typed"` // files that were typed
	Open   int    `json:"open"`  // names that were left to the other rules, since their types come from outside
	Why    string `json:"why,omitempty"`
}

// Typed is that in words.
func (p GoPackage) Typed() string {
	switch {
	case p.Done == 0:
		return "not typed: " + cmp.Or(p.Why, "not asked for")
	case p.Done < p.Files:
		return fmt.Sprintf("%d of %d files typed, %d names left to other rules: %s", p.Done, p.Files, p.Open, p.Why)
	}
	return fmt.Sprintf("typed, %d names left to other rules", p.Open)
}

// maxExamples is how many blind spots are told one by one.
const maxExamples = 20

// Stats counts.
func (x *Index) Stats() Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := Stats{Kinds: map[string]int{}, Rules: map[string]int{}, Skipped: x.read}
	away := map[string]bool{}
	for _, e := range x.ordered() {
		s.add(x, e)
		for _, o := range e.outside {
			away[x.words.text(o.from)] = true
		}
	}
	for name := range away {
		s.Outside = append(s.Outside, name)
	}
	slices.Sort(s.Outside)
	s.Packages = x.goPackages()
	return s
}

func (s *Stats) add(x *Index, e *entry) {
	s.Files++
	if e.record.generated {
		s.Generated++
	}
	s.Symbols += len(e.nodes)
	s.Edges += len(e.edges)
	for _, g := range e.edges {
		s.Kinds[g.kind.String()]++
		s.Rules[g.rule.String()]++
	}
	s.Blind += len(e.blind)
	for _, b := range e.blind[:min(len(e.blind), maxExamples-len(s.Examples))] {
		s.Examples = append(s.Examples, Blind{x.words.text(b.name), e.path, int(b.line), int(b.candidates)})
	}
	s.OutsideUses += e.beyond
	if e.record.refused != 0 {
		s.Refused = append(s.Refused, Refused{e.path, x.words.text(e.record.refused)})
	}
}

func (x *Index) goPackages() (out []GoPackage) {
	all := map[string]*GoPackage{}
	for _, e := range x.ordered() {
		if e.record.family != goFamily {
			continue
		}
		dir := path.Dir(e.path)
		p := all[dir]
		if p == nil {
			p = &GoPackage{Folder: dir}
			all[dir] = p
		}
		p.Files++
		if e.typing != nil {
			p.Done++
			p.Open += len(e.typing.open)
		} else if p.Why == "" {
			p.Why = e.typed
		}
	}
	for _, p := range all {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b GoPackage) int { return strings.Compare(a.Folder, b.Folder) })
	return out
}

// BlindTo is how many uses of a definition's name may mean it or another, and so are no edges.
func (x *Index) BlindTo(d Definition) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.symbolOf(d.node)
	if !ok {
		return 0
	}
	family := x.files[x.nodes[d.node].file].record.family
	for _, e := range x.files {
		for _, b := range e.blind {
			if b.name == s.name && e.record.family == family {
				n++
			}
		}
	}
	return n
}
