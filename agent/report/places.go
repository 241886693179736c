package report

import (
	"path"
	"strings"
)

// places tells where in the tree a package or a printed file name lies.
type places struct {
	dir    string // absolute tree with a slash at its end, or empty
	sub    string // folder that the command ran in, relative; "" for the tree
	module string // path of the module in sub, or empty
}

func newPlaces(r Run) places {
	p := places{module: r.Module}
	if r.Dir != "" {
		p.dir = strings.TrimRight(strings.ReplaceAll(r.Dir, `\`, "/"), "/") + "/"
	}
	if sub := path.Clean("/" + strings.ReplaceAll(r.Subdir, `\`, "/")); sub != "/" {
		p.sub = sub[1:]
	}
	return p
}

// relative makes a file name as a tool printed it relative to the tree; one outside stays as it is.
func (p *places) relative(file string) string {
	file = cut(clean(strings.ReplaceAll(cut(file, maxID), `\`, "/")), maxID)
	if in, ok := p.inTree(file); ok {
		return in
	}
	if path.IsAbs(file) || len(file) > 1 && file[1] == ':' {
		return path.Clean(file)
	}
	joined := path.Join(p.sub, file)
	if strings.HasPrefix(joined, "../") {
		return path.Clean(file)
	}
	return joined
}

// inTree gives the relative name of an absolute file, or of one that -trimpath put the import path before.
func (p *places) inTree(file string) (string, bool) {
	if p.dir != "" {
		if rest, ok := strings.CutPrefix(path.Clean(file), p.dir); ok {
			return rest, true
		}
	}
	if rest, ok := strings.CutPrefix(file, p.module+"/"); ok && p.module != "" {
		return path.Join(p.sub, rest), true
	}
	return "", false
}

// folder is where a package lies, or false when the module's path is not known.
func (p *places) folder(pkg string) (string, bool) {
	pkg = strings.TrimSuffix(pkg, "_test")
	if p.module == "" {
		return "", false
	}
	if pkg == p.module {
		return p.sub, true
	}
	rest, ok := strings.CutPrefix(pkg, p.module+"/")
	return path.Join(p.sub, rest), ok
}

// inPackage names a file that a test of pkg logged from: go test prints the last element alone.
func (p *places) inPackage(pkg, file string) string {
	if strings.ContainsAny(file, `/\`) {
		return p.relative(file)
	}
	if dir, ok := p.folder(pkg); ok {
		return path.Join(dir, file)
	}
	return clean(file)
}

// learn takes the module's path from a package whose folder is known: the import path ends with the folder.
func (p *places) learn(pkg, file string) {
	if p.module != "" || pkg == "" || strings.HasPrefix(pkg, "_") || path.IsAbs(file) {
		return
	}
	dir := path.Dir(path.Clean(file))
	if p.sub != "" {
		rest, ok := strings.CutPrefix(dir+"/", p.sub+"/")
		if !ok {
			return
		}
		dir = path.Clean(rest)
	}
	pkg = strings.TrimSuffix(pkg, "_test")
	switch module, ok := strings.CutSuffix(pkg, "/"+dir); {
	case strings.HasPrefix(dir, ".."):
	case dir == ".":
		p.module = pkg
	case ok:
		p.module = module
	}
}
