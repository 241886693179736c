package scenes_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

func TestReach(t *testing.T) {
	const before = "import a\n\ndef one():\n    return 1\n\ndef two():\n    x = 2\n    return x\n\ndef three():\n    pass\n    pass\n"
	tree := fstest.MapFS{"m.py": {Data: []byte(before)}}
	for _, tt := range []struct {
		name, prompt, after string
		want                float64
	}{
		{"the line itself", "text\n    return 1\n", replaced(before, "return 1", "return 7"), 1},
		{"another line", "    return x\n", replaced(before, "return 1", "return 7"), 0},
		{"one of two", "def two():\n    x = 2\n", replaced(before, "    return x\n", "    return 7\n", "def one():", "def 1():", "x = 2", "x = 3"), 1.0 / 3},
		{"a part of the line", "return 1, 2\n", replaced(before, "return 1", "return 7"), 0},
		{"above an insertion", "    x = 2\n", replaced(before, "x = 2\n", "x = 2\n    x += 1\n"), 1},
		{"below an insertion", "    return x\n", replaced(before, "x = 2\n", "x = 2\n    x += 1\n"), 0},
		{"at the top", "", "import b\n" + before, 1},
		{"lines that are there twice", "", replaced(before, "    pass\n    pass\n", "    fail\n    fail\n"), 1},
		{"nothing changes", "", before, 1},
	} {
		if got := scenes.Reach(tt.prompt, tree, map[string][]byte{"m.py": []byte(tt.after), "new.py": []byte("x = 1234\n")}); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func replaced(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
