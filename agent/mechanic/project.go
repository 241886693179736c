package mechanic

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Bounds on what is read of a root: it is somebody else's text.
const (
	maxFile  = 1 << 20 // bytes of one Go file
	maxFiles = 3000    // Go files in all
)

// source is one Go file of the root, parsed.
type source struct {
	path string // relative to the root
	dir  string
	test bool
	text []byte
	file *ast.File
}

// project is the part of a module that some packages are made of: their files and the module's own packages
// that those import.
type project struct {
	root   fs.FS
	module string
	fset   *token.FileSet
	dirs   map[string][]*source // by directory, sorted by path
	count  int
}

// load reads the packages in dirs and everything of the module that they import, tests of dirs included. What
// cannot be read or parsed is left out.
func load(root fs.FS, module string, dirs []string) *project {
	p := &project{root: root, module: module, fset: token.NewFileSet(), dirs: map[string][]*source{}}
	for queue := dirs; len(queue) > 0; {
		dir := queue[0]
		queue = queue[1:]
		if _, done := p.dirs[dir]; done {
			continue
		}
		p.dirs[dir] = p.read(dir)
		for _, s := range p.dirs[dir] {
			if !s.test || slices.Contains(dirs, dir) {
				queue = append(queue, p.imports(s.file)...)
			}
		}
	}
	return p
}

// read parses the files of one directory that this machine's toolchain would build.
func (p *project) read(dir string) []*source {
	entries, err := fs.ReadDir(p.root, dir)
	if err != nil {
		return nil
	}
	match := matcher(p.root)
	var out []*source
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".go") || p.count >= maxFiles {
			continue
		}
		name := path.Join(dir, e.Name())
		if ok, err := match.MatchFile(dir, e.Name()); err != nil || !ok {
			continue
		}
		text, err := readBounded(p.root, name, maxFile)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		p.count++
		out = append(out, &source{path: name, dir: dir, test: strings.HasSuffix(name, "_test.go"), text: text, file: f})
	}
	return out
}

// matcher is the build context of this machine, reading from root instead of the disk.
func matcher(root fs.FS) *build.Context {
	c := build.Default
	c.JoinPath = path.Join
	c.OpenFile = func(name string) (io.ReadCloser, error) { return root.Open(name) }
	return &c
}

func readBounded(root fs.FS, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fs.ErrInvalid
	}
	return b, err
}

// imports are the directories of the module's own packages that a file imports.
func (p *project) imports(f *ast.File) []string {
	var out []string
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if dir, ok := p.dirOf(name); ok {
			out = append(out, dir)
		}
	}
	return out
}

// dirOf is the directory of one of the module's import paths.
func (p *project) dirOf(importPath string) (string, bool) {
	if p.module == "" {
		return "", false
	}
	if importPath == p.module {
		return ".", true
	}
	rest, ok := strings.CutPrefix(importPath, p.module+"/")
	return rest, ok && fs.ValidPath(rest)
}

// importPath is the import path of a directory of the module.
func (p *project) importPath(dir string) string { return path.Join(p.module, dir) }

// packages are the directories that hold non-test files, sorted.
func (p *project) packages() []string {
	var out []string
	for dir, files := range p.dirs {
		for _, s := range files {
			if !s.test {
				out = append(out, dir)
				break
			}
		}
	}
	sort.Strings(out)
	return out
}

// find is the source of a path, or nil.
func (p *project) find(name string) *source {
	for _, s := range p.dirs[path.Dir(name)] {
		if s.path == name {
			return s
		}
	}
	return nil
}

// each calls f with every source, in a stable order.
func (p *project) each(f func(*source)) {
	dirs := make([]string, 0, len(p.dirs))
	for dir := range p.dirs {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		for _, s := range p.dirs[dir] {
			f(s)
		}
	}
}

// offset is where pos lies in the file's bytes, whatever //line directives say.
func (p *project) offset(pos token.Pos) int { return p.fset.PositionFor(pos, false).Offset }

// place is the line and column of pos, whatever //line directives say.
func (p *project) place(pos token.Pos) (line, col int) {
	at := p.fset.PositionFor(pos, false)
	return at.Line, at.Column
}

// generated says whether a tool owns a file.
func (s *source) generated() bool { return ast.IsGenerated(s.file) }
