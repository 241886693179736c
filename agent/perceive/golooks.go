package perceive

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
)

// looks is what some files of a Go package look like to a file of it, or to those that import it. What one file's
// names mean depends on all types, constants and variables, and on those functions that it names, or that a variable
// is made by; not on bodies, comments or other functions.
type looks struct {
	x      *Index
	fixed  digest              // of types, constants, variables, and the functions that make variables
	funcs  map[uint32][]uint64 // shapes of functions and methods by name
	shown  []uint64            // shapes of those that others see
	sight  digest              // of what others see
	always map[uint32]bool     // names in the values of variables
}

// gather gives the looks of files.
func (x *Index) gather(files []int32) *looks {
	l := &looks{x: x, funcs: map[uint32][]uint64{}, always: map[uint32]bool{}}
	h := sha256.New()
	for _, i := range files {
		l.add(h, x.files[i].record)
	}
	for _, n := range l.names(l.always) {
		writeAll(h, l.funcs[n])
	}
	copy(l.fixed[:], h.Sum(nil))
	l.sight = l.api()
	return l
}

func (l *looks) add(h hash.Hash, r *record) {
	h.Write([]byte(l.x.words.text(r.pack)))
	variable := make([]bool, len(r.symbols)+1)
	for i, s := range r.symbols {
		switch l.x.words.text(s.kind) {
		case "func", "method":
			l.funcs[s.name] = append(l.funcs[s.name], s.shape)
			if s.exported {
				l.shown = append(l.shown, s.shape)
			}
			continue
		case "var", "const":
			variable[i+1] = true
		}
		writeAll(h, []uint64{s.shape})
	}
	for _, u := range r.uses {
		if int(u.in) < len(variable) && variable[u.in] {
			l.always[u.name] = true
		}
	}
}

// names are those of a set that functions have, in an order that is the same in every run.
func (l *looks) names(set map[uint32]bool) (out []uint32) {
	for n := range set {
		if l.funcs[n] != nil {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b uint32) int { return compareTexts(l.x.words, a, b) })
	return out
}

func writeAll(h hash.Hash, all []uint64) {
	var b [8]byte
	for _, v := range all {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
}

// api is the digest of what others see.
func (l *looks) api() digest {
	h := sha256.New()
	h.Write(l.fixed[:])
	writeAll(h, l.shown)
	var d digest
	copy(d[:], h.Sum(nil))
	return d
}

// key is the digest of all that decides what a file's names mean.
func (l *looks) key(e *entry, needs []byte, system string) digest {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(e.path), {0}, e.record.hash[:], l.fixed[:], needs, {0}, []byte(system), {0}} {
		h.Write(part)
	}
	mentioned := map[uint32]bool{}
	for _, n := range e.record.mentions {
		if l.funcs[n] != nil {
			mentioned[n] = true
		}
	}
	for _, n := range l.names(mentioned) {
		writeAll(h, l.funcs[n])
	}
	var d digest
	copy(d[:], h.Sum(nil))
	return d
}
