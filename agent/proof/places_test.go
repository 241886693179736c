package proof_test

import (
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

func TestPlaced(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{"src/test/java/com/example/ATest.java", "one/src/com/example/B.java", "two/src/com/example/B.java", "C.java", "build/com/example/D.java", "src/com/example/D.java", "lib/shop.py"} {
		tree[name] = &fstest.MapFile{}
	}
	for file, want := range map[string]string{
		"com/example/ATest.java": "src/test/java/com/example/ATest.java", "ATest.java": "src/test/java/com/example/ATest.java", "com/example/B.java": "com/example/B.java",
		"C.java": "C.java", "com/example/D.java": "src/com/example/D.java", "shop.py": "shop.py", "": "", "../x.java": "../x.java", "Test.java": "Test.java",
	} {
		in := []report.Result{{ID: "x", File: file, Line: 3}}
		if got := proof.Placed(tree, in); got[0].File != want || got[0].Line != 3 || in[0].File != file {
			t.Errorf("%q: got %q, want %q", file, got[0].File, want)
		}
	}
}
