package patch

import (
	"slices"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Merge lays later over earlier: an edit of the same file and address replaces the earlier one, the others stay,
// in the order in which they first came. The whole of a file replaces every earlier edit of it. A revision that
// cannot be read as code never replaces one that can.
func Merge(earlier, later Set) Set {
	out := slices.Clone(earlier)
	for _, e := range later {
		i := slices.IndexFunc(out, func(o Edit) bool { return o.key() == e.key() })
		switch {
		case i >= 0 && out[i].reads() == yes && e.reads() == no:
			continue
		case i >= 0:
			out[i] = e
		default:
			out = append(out, e)
		}
		if e.Addr == "*" {
			out = slices.DeleteFunc(out, func(o Edit) bool { return o.File == e.File && o.Addr != "*" })
		}
	}
	return out
}

type editKey struct{ file, addr, old string }

// key is what an edit is about: edits of one key replace each other.
func (e Edit) key() editKey {
	if a, ok := parseAddr(e.Addr); ok {
		return editKey{e.File, a.String(), string(e.Old)}
	}
	return editKey{e.File, e.Addr, string(e.Old)}
}

type answerable int

const (
	maybe answerable = iota // it depends on what stands around it
	yes
	no
)

// reads says whether an edit's body parses by itself, where that can be told.
func (e Edit) reads() answerable {
	g, ok := syntax.For(e.File)
	a, known := parseAddr(e.Addr)
	if !ok || !known {
		return maybe
	}
	var err error
	switch a.kind {
	case whole:
		err = g.Parse(e.Body)
	case symbol, create:
		_, err = g.Fragment(e.Body)
	default:
		return maybe
	}
	if err != nil {
		return no
	}
	return yes
}
