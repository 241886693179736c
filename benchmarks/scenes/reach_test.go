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
		{"the line with the one above", "text\ndef one():\n    return 1\n", replaced(before, "return 1", "return 7"), 1},
		{"the line with the one below", "return 1\n\n  def two():\n", replaced(before, "return 1", "return 7"), 1},
		{"the line among others", "return 1\nreturn x\n", replaced(before, "return 1", "return 7"), 0},
		{"another line", "def two():\n    x = 2\n    return x\n", replaced(before, "return 1", "return 7"), 0},
		{"one of two", "def two():\n    x = 2\n", replaced(before, "return 1", "return 7", "x = 2", "x = 3"), 0.5},
		{"a part of the line", "def one():\n    return 1, 2\n", replaced(before, "return 1", "return 7"), 0},
		{"around an insertion", "    x = 2\n    return x\n", replaced(before, "x = 2\n", "x = 2\n    x += 1\n"), 1},
		{"above an insertion", "def two():\n    x = 2\n", replaced(before, "x = 2\n", "x = 2\n    x += 1\n"), 0},
		{"a line that is there twice", "def three():\n    pass\n", replaced(before, "    pass\n    pass\n", "    fail\n    pass\n"), 1},
		{"line ends alone", "", strings.ReplaceAll(before, "\n", "\r\n"), 0},
		{"line ends and a line", "def one():\n    return 1\n", strings.ReplaceAll(replaced(before, "return 1", "return 7"), "\n", "\r\n"), 1},
		{"nothing changes", before, before, 0},
	} {
		if got := scenes.Reach(tt.prompt, tree, map[string][]byte{"m.py": []byte(tt.after), "new.py": []byte("x = 1234\n")}); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func replaced(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
