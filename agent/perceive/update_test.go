package perceive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// goTree is a module whose packages are made of parts that can be put in and taken out. A package imports those with smaller numbers.
type goTree struct {
	random *rand.Rand
	fs     fstest.MapFS
	parts  map[string]map[string]bool // of a file
}

const goPackages = 6

// parts are what a file of Go may have besides its package clause and its imports.
var goParts = []struct{ name, text string }{
	{"remark", "// One\n// remark of\n// many lines.\n\n"},
	{"second", "type U struct {\n\tName string\n\tOther int\n}\n\n"},
	{"type", "type T struct {\n\tNext int\n\tName string\n}\n\n"},
	{"method", "func (t T) Go() T { t.Next++; return t }\n\n"},
	{"hidden", "func help(t T) int { return t.Next }\n\n"},
	{"shown", "func Help(t T) int { return t.Go().Next }\n\n"},
	{"variable", "var Zero = T{Name: \"zero\"}\n\n"},
	{"broken", "func (\n"},
}

func (g *goTree) write(dir int, file string) {
	name := fmt.Sprintf("p%d/%s", dir, file)
	have := g.parts[name]
	if have == nil {
		delete(g.fs, name)
		return
	}
	pack := fmt.Sprintf("p%d", dir)
	if have["outer"] {
		pack += "_test"
	}
	text := "package " + pack + "\n\n"
	for i := range goPackages {
		if have[fmt.Sprint("import ", i)] {
			text += fmt.Sprintf("import \"example.com/m/p%d\"\n", i)
		}
	}
	for _, p := range goParts {
		if have[p.name] {
			text += p.text
		}
	}
	for i := range goPackages {
		if have[fmt.Sprint("import ", i)] {
			text += fmt.Sprintf("func use%[1]d%[2]s(a p%[1]d.T) string { a.Next = p%[1]d.Zero.Go().Next + p%[1]d.Help(a); return a.Name }\n\nfunc other%[1]d%[2]s(b p%[1]d.U) string { return b.Name }\n\n", i, file[:1])
		}
	}
	g.fs[name] = &fstest.MapFile{Data: []byte(text)}
}

// step changes one file and answers with its name.
func (g *goTree) step() string {
	dir := g.random.IntN(goPackages)
	file := []string{"a.go", "b.go", "c_test.go", "d_test.go"}[g.random.IntN(4)]
	name := fmt.Sprintf("p%d/%s", dir, file)
	have := g.parts[name]
	switch {
	case have == nil:
		g.parts[name] = map[string]bool{}
		if file == "a.go" {
			g.parts[name] = map[string]bool{"type": true, "method": true, "second": true, "shown": true, "variable": true}
		}
		if file == "d_test.go" {
			g.parts[name]["outer"] = true
		}
	case g.random.IntN(12) == 0:
		g.parts[name] = nil
	case g.random.IntN(3) == 0 && (dir > 0 || file == "d_test.go"):
		other := g.random.IntN(max(1, dir+1))
		if other == dir && file != "d_test.go" {
			other = dir - 1
		}
		key := fmt.Sprint("import ", other)
		have[key] = !have[key]
	case file == "a.go":
		key := goParts[g.random.IntN(len(goParts))].name
		have[key] = !have[key]
	default:
		have["remark"] = !have["remark"]
	}
	g.write(dir, file)
	return name
}

// TestUpdateGo changes a module in many ways, and asks after each whether the index says what a new one says: only packages from which
// the change can be seen are looked at again.
func TestUpdateGo(t *testing.T) {
	for seed := range uint64(8) {
		g := &goTree{random: rand.New(rand.NewPCG(seed, 1)), fs: fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n\ngo 1.22\n")}}, parts: map[string]map[string]bool{}}
		for range 40 {
			g.step()
		}
		x := indexOf(t, g.fs, "")
		for n := range 60 {
			names := []string{g.step()}
			if g.random.IntN(4) == 0 {
				names = append(names, g.step())
			}
			if err := x.Update(context.Background(), names...); err != nil {
				t.Fatal(err)
			}
			if err := x.Types(context.Background()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(told(indexOf(t, g.fs, "")), told(x)); d != "" {
				t.Fatalf("seed %d, change %d of %v (-new +updated):\n%s\n%s", seed, n, names, d, g.text(names[0]))
			}
		}
	}
}

func (g *goTree) text(name string) string {
	if f := g.fs[name]; f != nil {
		return string(f.Data)
	}
	return "gone"
}

// TestTypesStopped: what was known of a file's types is bound again, though the typing of another was stopped.
func TestTypesStopped(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	a, b := "package a\n\ntype T struct{ N int }\n\nfunc F(t T) int { return t.N }\n", "package b\n\ntype T struct{ N int }\n\nfunc F(t T) int { return t.N }\n"
	tree := fstest.MapFS{"go.mod": file("module m\n"), "a/a.go": file(a), "b/b.go": file(b)}
	x := indexOf(t, tree, "")
	for _, step := range []struct{ name, text string }{{"a/a.go", a + "\n// More.\n"}, {"a/a.go", a}, {"b/b.go", b + "\n// More.\n"}} {
		tree[step.name] = file(step.text)
		if err := x.Update(t.Context(), step.name); err != nil {
			t.Fatal(err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := x.Types(stopped); err == nil {
		t.Error("a stopped typing ended well")
	}
	if err := x.Types(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(told(indexOf(t, tree, "")), told(x)); d != "" {
		t.Errorf("after a stopped typing (-new +updated):\n%s", d)
	}
}
