package oracle

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxOwn is how many names of modules are kept of a root.
const maxOwn = 500

// ownModules are the modules that a root has itself, sorted: what Python finds beside the check and at the top, and what Ruby
// finds in lib there. A check that misses one of them is red, and no machine lacks anything. What lies in src only an
// installation puts on the path, so that it may well be the machine that lacks it.
func ownModules(root fs.FS, dir string) []string {
	var own []string
	for _, at := range slices.Compact([]string{".", path.Clean(dir)}) {
		own = append(own, modules(root, at, ".py")...)
		own = append(own, modules(root, path.Join(at, "lib"), ".rb")...)
	}
	slices.Sort(own)
	own = slices.Compact(own)
	return own[:min(len(own), maxOwn)]
}

// ownOnce are the root's modules, whatever tree is run: a change makes nothing its own.
func (o *Oracle) ownOnce() []string {
	o.ownIs.Do(func() { o.own = ownModules(o.Root, slash(o.Check.Dir)) })
	return o.own
}

// modules are the files of a folder that end so, without their ends, and its folders that hold such a file.
func modules(root fs.FS, at, end string) []string {
	entries, err := fs.ReadDir(root, at)
	if err != nil {
		return nil // there is none
	}
	var out []string
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), end)
		if e.IsDir() {
			inside, err := fs.ReadDir(root, path.Join(at, name))
			is = err == nil && slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return !e.IsDir() && strings.HasSuffix(e.Name(), end) })
		}
		if is && name != "" && !strings.HasPrefix(name, ".") {
			out = append(out, name)
		}
	}
	return out
}
