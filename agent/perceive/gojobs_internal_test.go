package perceive

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A large tree, whose packages leave memory one by one, has the edges of a small one.
func TestDropsTyped(t *testing.T) {
	tree := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n")}}
	const packages = 12
	for i := range packages {
		text := fmt.Sprintf("package p%d\n\ntype T struct{ Next int }\n\nfunc (T) Go() T { return T{} }\n", i)
		if i > 0 { // a method of what is two packages away is used
			text = fmt.Sprintf("package p%d\n\nimport \"example.com/m/p%d\"\n\ntype T struct{ Next p%d.T }\n\nfunc (t T) Go() T { t.Next.Next = t.Next.Go().Next; return t }\n", i, i-1, i-1)
		}
		tree[fmt.Sprintf("p%d/a.go", i)] = &fstest.MapFile{Data: []byte(text)}
		tree[fmt.Sprintf("p%d/a_test.go", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "package p%d\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/p%d\"\n)\n\nfunc TestGo(t *testing.T) { _ = T{}.Go(); _ = p%d.T{}.Next }\n", i, packages-1-i, packages-1-i)}
	}
	edges := func(keep int) []Edge {
		x, err := NewIndex(t.Context(), tree, IndexOptions{Workers: 3})
		if err != nil {
			t.Fatal(err)
		}
		x.recallUnits()
		fresh, err := x.typeUnits(t.Context(), keep)
		if err != nil {
			t.Fatal(err)
		}
		if left := len(x.world.packages) + len(x.world.bare); (keep == 0) != (left == 0) {
			t.Errorf("keeping %d: %d are left in memory", keep, left)
		}
		x.bindAll(fresh)
		return x.Edges()
	}
	kept, dropped := edges(keepTyped), edges(0)
	if diff := cmp.Diff(kept, dropped, cmp.AllowUnexported(Definition{})); diff != "" || len(kept) < 5*packages {
		t.Errorf("%d edges (-kept +dropped):\n%s", len(kept), diff)
	}
}
