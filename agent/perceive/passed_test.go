package perceive_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// A package that gives on everything of many modules, each with many imports of its own, still says where a name comes from.
func TestStarsOfManyModules(t *testing.T) {
	tree := fstest.MapFS{"use.py": {Data: []byte("import pack as p\n\n\ndef f():\n    return p.last()\n")}}
	var all strings.Builder
	for i := range 100 {
		fmt.Fprintf(&all, "from pack.m%d import *\n", i)
		tree[fmt.Sprintf("pack/m%d.py", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("import os\n", 40) + fmt.Sprintf("\n\ndef f%d():\n    pass\n", i))}
	}
	tree["pack/__init__.py"] = &fstest.MapFile{Data: []byte(all.String() + "from pack.end import *\n")}
	tree["pack/end.py"] = &fstest.MapFile{Data: []byte("def last():\n    pass\n")}
	x, err := perceive.NewIndex(t.Context(), tree, perceive.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := x.Find("last").Exact
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	if refs := x.Refs(found[0]); len(refs) != 1 || refs[0].File != "use.py" || refs[0].Line != 5 || refs[0].Rule != "import" {
		t.Errorf("got %+v, want the call of line 5", refs)
	}
}
