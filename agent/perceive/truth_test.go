package perceive_test

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/go/packages"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// judged are the packages of this project whose edges are held against what go/types says with every import at hand.
var judged = []string{"agent/patch", "agent/syntax", "agent/perceive", "agent/redact"}

// meant is a name on a line and the place that go/types gives for it.
type meant struct {
	file string
	line int
	to   string
}

// ownTree is the index of a part of this project: the judged packages and two files of a command.
var ownTree = sync.OnceValues(func() (*perceive.Index, error) {
	tree := fstest.MapFS{}
	globs := []string{"../../go.mod", "../../cmd/redraft/find.go", "../../cmd/redraft/indexed.go"}
	for _, dir := range judged {
		globs = append(globs, "../../"+dir+"/*.go")
	}
	for _, glob := range globs {
		names, err := filepath.Glob(glob)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("%s: no files: %w", glob, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			tree[strings.TrimPrefix(name, "../../")] = &fstest.MapFile{Data: text}
		}
	}
	x, err := perceive.NewIndex(context.Background(), tree, perceive.IndexOptions{})
	if err != nil {
		return nil, err
	}
	return x, x.Types(context.Background())
})

// TestOwnTree: of this project's own edges none is wrong, and few are missing, although the index reads nothing from
// outside the tree.
func TestOwnTree(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	truth, members := truthOf(t, root)
	x, err := ownTree()
	if err != nil {
		t.Fatal(err)
	}
	wrong, right, found := 0, 0, map[meant]bool{}
	for _, e := range x.Edges() {
		m := meant{e.File, e.Line, e.To.File + " " + e.To.Name}
		found[m] = found[m] || e.Kind == "inherits"
		if !inJudged(e.File) || e.Kind == "import" || e.Kind == "inherits" {
			continue
		}
		if !truth[m] && !members[m] {
			if wrong++; wrong < 20 {
				t.Errorf("wrong: %s:%d %s -> %s %s [%s] %s", e.File, e.Line, e.Kind, e.To.File, e.To.Name, e.Rule, e.Text)
			}
			continue
		}
		right++
		found[m] = true
	}
	missing := 0
	for m := range truth {
		if !found[m] {
			missing++
			if missing < 10 {
				t.Logf("missing: %s:%d -> %s", m.file, m.line, m.to)
			}
		}
	}
	t.Logf("%d edges right, %d wrong; %d of %d true ones missing", right, wrong, missing, len(truth))
	if right < 3000 || missing*500 > len(truth) {
		t.Errorf("%d edges right, %d of %d missing", right, missing, len(truth))
	}
}

func inJudged(file string) bool {
	for _, dir := range judged {
		if filepath.ToSlash(filepath.Dir(file)) == dir && !strings.HasSuffix(file, "_test.go") {
			return true
		}
	}
	return false
}

// truthOf types the packages with all they import. members are uses of fields and of interfaces' methods, which the
// index has as uses of their types.
func truthOf(t *testing.T, root string) (truth, members map[meant]bool) {
	t.Helper()
	fset := token.NewFileSet()
	var patterns []string
	for _, dir := range judged {
		patterns = append(patterns, "./"+dir)
	}
	all, err := packages.Load(&packages.Config{
		Context: context.Background(), Dir: root, Fset: fset,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	if err != nil {
		t.Skipf("REFUSED: the packages cannot be typed here: %v", err)
	}
	truth, members = map[meant]bool{}, map[meant]bool{}
	for _, p := range all {
		if len(p.Errors) > 0 {
			t.Skipf("REFUSED: %s does not type-check: %v", p.PkgPath, p.Errors[0])
		}
		for id, obj := range p.TypesInfo.Uses {
			at := fset.PositionFor(id.Pos(), false)
			to, member := addressOf(fset, root, obj)
			file, err := filepath.Rel(root, at.Filename)
			if err != nil || to == "" {
				continue
			}
			m := meant{filepath.ToSlash(file), at.Line, to}
			if member {
				members[m] = true
			} else {
				truth[m] = true
			}
		}
	}
	if len(truth) < 3000 {
		t.Fatalf("go/types told of %d uses only", len(truth))
	}
	return truth, members
}

// addressOf is an object as the index names it: file, then name or Container.name; "" for what is not of the tree's
// top level. Objects of other packages come from export data, whose positions have lines only, which is enough.
func addressOf(fset *token.FileSet, root string, obj types.Object) (to string, member bool) {
	if obj.Pkg() == nil || !strings.HasPrefix(obj.Pkg().Path(), "github.com/redraft-dev/redraft/") {
		return "", false
	}
	file, err := filepath.Rel(root, fset.PositionFor(obj.Pos(), false).Filename)
	if err != nil {
		return "", false
	}
	file = filepath.ToSlash(file)
	switch o := obj.(type) {
	case *types.Func:
		recv := o.Origin().Signature().Recv()
		if recv == nil {
			return file + " " + o.Name(), false
		}
		named := namedOf(recv.Type())
		switch {
		case named == nil:
			return "", false
		case types.IsInterface(recv.Type()):
			return file + " " + named.Obj().Name(), true
		}
		return file + " " + named.Obj().Name() + "." + o.Name(), false
	case *types.Var:
		if o.IsField() {
			owner := fieldOwner(obj.Pkg(), o.Origin())
			return strings.TrimSpace(file + " " + owner), true
		}
	case *types.PkgName:
		return "", false
	}
	if obj.Parent() != obj.Pkg().Scope() {
		return "", false
	}
	return file + " " + obj.Name(), false
}

func namedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// fieldOwner is the package's type or variable in whose declaration a field stands.
func fieldOwner(p *types.Package, field *types.Var) string {
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if _, isType := obj.(*types.TypeName); !isType && namedOf(obj.Type()) != nil {
			continue
		}
		if hasField(obj.Type(), field, 0) {
			return name
		}
	}
	return ""
}

func hasField(t types.Type, field *types.Var, depth int) bool {
	if depth > 6 {
		return false
	}
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		return depth == 0 && hasField(u.Underlying(), field, depth+1)
	case *types.Pointer:
		return hasField(u.Elem(), field, depth+1)
	case *types.Slice:
		return hasField(u.Elem(), field, depth+1)
	case *types.Array:
		return hasField(u.Elem(), field, depth+1)
	case *types.Map:
		return hasField(u.Elem(), field, depth+1) || hasField(u.Key(), field, depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if f == field || hasField(f.Type(), field, depth+1) {
				return true
			}
		}
	}
	return false
}

// TestKnownEdges: some edges of this project's own tree that a reader can check.
func TestKnownEdges(t *testing.T) {
	x, err := ownTree()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ from, to string }{
		{"NewIndex", "Index.load"},         // same package
		{"Look.Scene", "Look.said"},        // a method of the receiver
		{"app.findSymbol", "app.absent"},   // another file of the package
		{"app.symbolsNamed", "Index.Find"}, // another package, through an embedded field
		{"Grammar.Outline", "Grammar.readable"},
		{"golang.symbols", "parseGo"},
	} {
		if !uses(x, row.from, row.to) {
			t.Errorf("%s does not use %s", row.from, row.to)
		}
	}
	if found := x.Find("parseGo").Exact; len(found) != 1 || x.Blast(found[0]).Symbols < 5 {
		t.Errorf("parseGo: %v", found)
	}
}

func uses(x *perceive.Index, from, to string) bool {
	for _, d := range x.Find(to).Exact {
		for _, e := range x.Refs(d) {
			if e.From.Name == from {
				return true
			}
		}
	}
	return false
}
