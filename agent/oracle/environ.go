package oracle

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// environ is an environment under construction, in order, each key once.
type environ struct {
	keys []string
	vals map[string]string
}

func newEnviron(pairs []string) *environ {
	e := &environ{vals: map[string]string{}}
	for _, kv := range pairs {
		e.setPair(kv)
	}
	return e
}

func (e *environ) setPair(kv string) {
	if k, v, ok := strings.Cut(kv, "="); ok {
		e.set(k, v)
	}
}

func (e *environ) set(k, v string) {
	if _, there := e.vals[k]; !there {
		e.keys = append(e.keys, k)
	}
	e.vals[k] = v
}

// add appends a word to a variable that holds several.
func (e *environ) add(k, word string) { e.set(k, strings.TrimSpace(e.get(k)+" "+word)) }

// prepend puts a folder in front of a list of them.
func (e *environ) prepend(k, dir string) {
	if old := e.get(k); old != "" {
		dir += string(filepath.ListSeparator) + old
	}
	e.set(k, dir)
}

func (e *environ) drop(names ...string) {
	e.keys = slices.DeleteFunc(e.keys, func(k string) bool { return slices.Contains(names, k) })
	for _, k := range names {
		delete(e.vals, k)
	}
}

func (e *environ) get(k string) string { return e.vals[k] }

func (e *environ) list() []string {
	out := make([]string, 0, len(e.keys))
	for _, k := range e.keys {
		out = append(out, k+"="+e.vals[k])
	}
	return out
}

// slash is a folder relative to the tree in the one spelling that records use.
func slash(dir string) string { return path.Clean(filepath.ToSlash(dir)) }

// write lists the paths a run may write, without empty ones.
func write(paths ...string) []string {
	var out []string
	for _, p := range paths {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
