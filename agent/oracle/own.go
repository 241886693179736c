package oracle

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxOwn is how many names of modules are kept of a root.
const maxOwn = 500

// ownModules are the modules that a root has itself, sorted: what Python finds beside the check and at the top, what Ruby
// finds in lib there, and the packages of Java's sources. A check that misses one of them is red, and no machine lacks
// anything. What lies in src only an installation puts on the path, so that it may well be the machine that lacks it. So may
// it where a project says how it is installed: a module that lies there and is not found is not on the path, and "shop."
// says that only one below it is missing from the root.
func ownModules(root fs.FS, dir string) []string {
	var own []string
	for _, at := range slices.Compact([]string{".", path.Clean(dir)}) {
		end := ""
		if installable(root, at) {
			end = "."
		}
		for _, m := range modules(root, at, ".py") {
			own = append(own, m+end)
		}
		own = append(own, modules(root, path.Join(at, "lib"), ".rb")...)
	}
	own = append(own, javaPackages(root)...)
	slices.Sort(own)
	own = slices.Compact(own)
	return own[:min(len(own), maxOwn)]
}

// installable says whether a folder holds what pip installs. https://packaging.python.org/en/latest/specifications/pyproject-toml/
func installable(root fs.FS, dir string) bool {
	return slices.ContainsFunc([]string{"pyproject.toml", "setup.py", "setup.cfg"}, func(name string) bool {
		_, err := fs.Stat(root, path.Join(dir, name))
		return err == nil
	})
}

// maxLooked is how many entries of a tree are looked at for Java's packages.
const maxLooked = 20_000

// javaPackages are the packages below every src/main/java and its like.
// https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html
func javaPackages(root fs.FS) []string {
	var out []string
	looked := 0
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{".git", "node_modules", "target", "build"}, d.Name()) {
				return fs.SkipDir
			}
			return nil // what cannot be read holds no source
		}
		below, ok := sourceFolder(path.Dir(name))
		if pkg := strings.ReplaceAll(below, "/", "."); ok && slices.Contains([]string{".java", ".kt"}, path.Ext(name)) && !slices.Contains(out, pkg) {
			out = append(out, pkg)
		}
		return nil
	})
	return out
}

// sourceFolder is what lies below src/NAME/java or src/NAME/kotlin.
func sourceFolder(dir string) (below string, ok bool) {
	parts := strings.Split(dir, "/")
	for i := 2; i < len(parts)-1; i++ {
		if (parts[i] == "java" || parts[i] == "kotlin") && parts[i-2] == "src" {
			return strings.Join(parts[i+1:], "/"), true
		}
	}
	return "", false
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
