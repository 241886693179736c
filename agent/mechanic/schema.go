package mechanic

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A schema is one build for many candidates: each is a renamed copy of the function it edits, and a function of the
// original's name calls the copy whose number the environment asks for, the original if none. One compilation
// takes the place of hundreds, and one candidate costs one start of a test binary.
type schema struct {
	project *project
	list    []Candidate
	out     map[int]bool               // candidates that are left out: they do not compile
	files   map[string][]*ast.FuncDecl // functions to be replaced, by file, in the file's order
	edits   map[*ast.FuncDecl][]int    // indexes into list
	vars    map[string][]int           // candidates that change how a package begins, by file
	lines   map[string][]span          // where the copies of one writing stand
}

// maxSchema bounds the bytes of all copies: a compiler's time is no less bounded than ours.
const maxSchema = 8 << 20

// span is the lines of a file that one candidate's copy takes, from 1.
type span struct{ from, to, candidate int }

// mutantFile holds the variable that dispatchers switch on, one in every package with candidates.
const mutantFile = "redraft_mutant.go"

// asks is the environment variable that chooses a candidate: its index plus one.
const asks = "REDRAFT_MUTANT"

// newSchema takes the candidates that can be switched; the others are returned.
func newSchema(p *project, list []Candidate) (s *schema, rest []Candidate) {
	s = &schema{project: p, out: map[int]bool{}, files: map[string][]*ast.FuncDecl{}, edits: map[*ast.FuncDecl][]int{},
		vars: map[string][]int{}}
	size := 0
	for _, c := range list {
		src, e := p.find(c.File), c.edit
		switch {
		case src == nil || size > maxSchema || usesC(src):
			rest = append(rest, c)
			continue
		case switchable(e.fn):
			if s.edits[e.fn] == nil {
				s.files[c.File] = append(s.files[c.File], e.fn)
			}
			s.edits[e.fn] = append(s.edits[e.fn], len(s.list))
			size += int(e.fn.End() - e.fn.Pos())
		case s.assignable(e):
			s.vars[c.File] = append(s.vars[c.File], len(s.list))
			size += int(e.spec.End() - e.spec.Pos())
		default:
			rest = append(rest, c)
			continue
		}
		s.list = append(s.list, c)
	}
	for name := range s.vars {
		if s.files[name] == nil {
			s.files[name] = []*ast.FuncDecl{} // to be written, without a function replaced
		}
	}
	for _, fns := range s.files {
		sort.Slice(fns, func(i, j int) bool { return fns[i].Pos() < fns[j].Pos() })
	}
	return s, rest
}

// switchable says whether a function can stand behind another that calls it. One that recovers cannot: recover
// works only in the very function that was deferred.
func switchable(fn *ast.FuncDecl) bool {
	if fn == nil || fn.Body == nil || fn.Name.Name == "_" || fn.Recv == nil && (fn.Name.Name == "init" || fn.Name.Name == "main") {
		return false
	}
	if fn.Doc != nil {
		for _, c := range fn.Doc.List {
			if strings.HasPrefix(c.Text, "//go:") || strings.HasPrefix(c.Text, "//export ") {
				return false
			}
		}
	}
	if fn.Type.TypeParams != nil {
		for _, name := range fieldNames(fn.Type.TypeParams) {
			if name == "_" {
				return false
			}
		}
	}
	return !recovers(fn.Body)
}

// usesC says whether a file is cgo's, whose text is rewritten once more before it is compiled.
func usesC(src *source) bool {
	return slices.ContainsFunc(src.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// assignable says whether an edit lies in the initial values of package-level variables: then they can be assigned
// anew when the program begins.
func (s *schema) assignable(e edit) bool {
	if e.spec == nil || !e.variable || len(e.spec.Values) == 0 {
		return false
	}
	from, to := s.values(e.spec)
	return from <= e.from && e.to <= to
}

// values is where the initial values of a declaration stand, in bytes.
func (s *schema) values(spec *ast.ValueSpec) (from, to int) {
	return s.project.offset(spec.Values[0].Pos()), s.project.offset(spec.Values[len(spec.Values)-1].End())
}

func recovers(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && (id.Name == "recover" || id.Name == "Caller" || id.Name == "Callers") {
			found = true
		}
		_, literal := n.(*ast.FuncLit)
		return !literal && !found
	})
	return found
}

func fieldNames(list *ast.FieldList) (out []string) {
	for _, f := range list.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// write writes the schema's files into a tree that holds the root's text.
func (s *schema) write(root *os.Root) error {
	s.lines = map[string][]span{}
	dirs := map[string]string{}
	for name, fns := range s.files {
		src := s.project.find(name)
		if err := put(root, name, s.file(src, fns), 0o644); err != nil {
			return err
		}
		dirs[src.dir] = src.file.Name.Name
	}
	for dir, pkg := range dirs {
		text := "package " + pkg + "\n\nimport (\n\tredraftos \"os\"\n\tredraftdebug \"runtime/debug\"\n)\n\n" +
			"var redraftMutant = func() (n int) {\n\tfor _, c := range redraftos.Getenv(\"" + asks + "\") {\n\t\tn = n*10 + int(c-'0')\n\t}\n" +
			"\tredraftdebug.SetMaxStack(128 << 20)\n\treturn n\n}()\n"
		if err := put(root, path.Join(dir, mutantFile), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is a source with its functions renamed, and the dispatchers and copies behind its end.
func (s *schema) file(src *source, fns []*ast.FuncDecl) []byte {
	var out strings.Builder
	done := 0
	for _, fn := range fns {
		at := s.project.offset(fn.Name.End())
		out.Write(src.text[done:at])
		out.WriteString(copyName("", 0))
		done = at
	}
	out.Write(src.text[done:])
	line := strings.Count(out.String(), "\n") + 1
	add := func(text string) (from, to int) {
		from = line + 2
		line += 2 + strings.Count(text, "\n")
		out.WriteString("\n\n" + text)
		return from, line
	}
	for _, fn := range fns {
		var alive []int
		for _, i := range s.edits[fn] {
			if !s.out[i] {
				alive = append(alive, i)
			}
		}
		add(s.dispatcher(src, fn, alive))
		for _, i := range alive {
			from, to := add(s.copy(src, fn, i))
			s.lines[src.path] = append(s.lines[src.path], span{from, to, i})
		}
	}
	for _, i := range s.vars[src.path] {
		if !s.out[i] {
			from, to := add(s.initial(src, i))
			s.lines[src.path] = append(s.lines[src.path], span{from, to, i})
		}
	}
	return []byte(out.String() + "\n")
}

// copyName is the name of a candidate's copy; number 0 is the original.
func copyName(name string, number int) string { return name + "_redraft" + strconv.Itoa(number) }

// copy is the function with one edit made, under its own name.
func (s *schema) copy(src *source, fn *ast.FuncDecl, i int) string {
	e := s.list[i].edit
	from, to, name := s.project.offset(fn.Pos()), s.project.offset(fn.End()), s.project.offset(fn.Name.End())
	e.from, e.to = max(e.from, name), min(e.to, to)
	return string(src.text[from:name]) + copyName("", i+1) + string(src.text[name:e.from]) + e.text + string(src.text[e.to:to])
}

// initial assigns variables as a candidate has them begin.
func (s *schema) initial(src *source, i int) string {
	e := s.list[i].edit
	from, to := s.values(e.spec)
	var names []string
	for _, n := range e.spec.Names {
		names = append(names, n.Name)
	}
	return "func init() {\n\tif redraftMutant == " + strconv.Itoa(i+1) + " {\n\t\t" + strings.Join(names, ", ") + " = " +
		string(src.text[from:e.from]) + e.text + string(src.text[e.to:to]) + "\n\t}\n}"
}

// dispatcher has the function's name and signature, and calls the copy that is asked for.
func (s *schema) dispatcher(src *source, fn *ast.FuncDecl, alive []int) string {
	params, args := s.params(src, fn.Type.Params)
	head, call := "func ", "%s"
	if fn.Recv != nil && len(fn.Recv.List) == 1 {
		head += "(redraftR " + s.text(src, fn.Recv.List[0].Type) + ") "
		call = "redraftR.%s"
	}
	head += fn.Name.Name
	if tp := fn.Type.TypeParams; tp != nil {
		head += s.text(src, tp)
		call += "[" + strings.Join(fieldNames(tp), ", ") + "]"
	}
	head += "(" + params + ")"
	call += "(" + args + ")"
	if r := fn.Type.Results; r != nil && len(r.List) > 0 {
		head += " " + s.text(src, r)
		call = "return " + call
	} else {
		call += "; return"
	}
	var b strings.Builder
	b.WriteString(head + " {\n\tswitch redraftMutant {\n")
	for _, i := range alive {
		fmt.Fprintf(&b, "\tcase %d:\n\t\t"+call+"\n", i+1, copyName(fn.Name.Name, i+1))
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t"+call+"\n\t}\n}", copyName(fn.Name.Name, 0))
	return b.String()
}

// params are a dispatcher's parameters, each with a name of our own, and the arguments that hand them on.
func (s *schema) params(src *source, list *ast.FieldList) (params, args string) {
	var p, a []string
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			name := "redraftP" + strconv.Itoa(len(p))
			p = append(p, name+" "+s.text(src, f.Type))
			if _, variadic := f.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			a = append(a, name)
		}
	}
	return strings.Join(p, ", "), strings.Join(a, ", ")
}

// text is a node as it stands in a file.
func (s *schema) text(src *source, n ast.Node) string {
	return string(src.text[s.project.offset(n.Pos()):s.project.offset(n.End())])
}

var compileError = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+)(?::\d+)?: `)

// exclude leaves out the candidates in whose copies the compiler found errors; ok is false when it found none there,
// or found one elsewhere.
func (s *schema) exclude(output []byte) (ok bool) {
	for _, m := range compileError.FindAllSubmatch(output, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		c := s.copyAt(path.Clean(string(m[1])), line)
		if c < 0 {
			return false
		}
		s.out[c] = true
		ok = true
	}
	return ok
}

func (s *schema) copyAt(file string, line int) int {
	list := s.lines[file]
	at := sort.Search(len(list), func(i int) bool { return list[i].to >= line })
	if at < len(list) && list[at].from <= line {
		return list[at].candidate
	}
	return -1
}

// restore makes a tree that write has written to the root's text again.
func (s *schema) restore(root *os.Root) error {
	for name := range s.files {
		src := s.project.find(name)
		if err := put(root, name, src.text, 0o644); err != nil {
			return err
		}
		if err := root.RemoveAll(path.Join(src.dir, mutantFile)); err != nil {
			return fmt.Errorf("restore a tree: %w", err)
		}
	}
	return nil
}

// build compiles the tests of the packages against the schema, in a lane whose files are the root's again afterwards. It
// gives the binaries' names, or none when the schema does not compile for a reason that is not a candidate's.
func (h *hunt) build(ctx context.Context, s *schema, l lane, pkgs []string) (names []string, err error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, fmt.Errorf("open a tree: %w", err)
	}
	defer root.Close()
	defer func() { err = errors.Join(err, s.restore(root)) }()
	const rounds = 8
	for range rounds {
		if err := s.write(root); err != nil {
			return nil, err
		}
		names, output, err := h.binaries(ctx, l, pkgs)
		if err != nil || names != nil {
			return names, err
		}
		if !s.exclude(output) {
			break
		}
	}
	return nil, nil
}

// binaries compiles the tests of packages, or gives the compiler's words.
func (h *hunt) binaries(ctx context.Context, l lane, pkgs []string) (names []string, output []byte, err error) {
	for _, pkg := range pkgs {
		ok, output, err := h.compile(ctx, l, pkg, "-vet=off", "-gcflags="+h.Module+"/...=-e")
		if err != nil || !ok {
			return nil, output, err
		}
		names = append(names, binaryName(pkg))
	}
	return names, nil, nil
}
