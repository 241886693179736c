package scenes_test

import (
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// TestAimed: an answer aims at what the repair changes, whether or not it lands and in whatever way it names it.
func TestAimed(t *testing.T) {
	const src = "package m\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int {\n\treturn 2\n}\n"
	tree := fstest.MapFS{"m.go": {Data: []byte(src)}, "n.go": {Data: []byte(src)}}
	fix := map[string][]byte{"m.go": []byte("package m\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int {\n\treturn 3\n}\n"), "new.go": []byte("package m\n")}
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"its function":        {"```go\n# edit: m.go :: G\nfunc G() int {\n\treturn 2\n}\n```\n", true},
		"that does not parse": {"```go\n# edit: m.go :: G\nfunc G( {\n```\n", true},
		"another function":    {"```go\n# edit: m.go :: F\nfunc F() int {\n\treturn 3\n}\n```\n", false},
		"another file":        {"```go\n# edit: n.go :: G\nfunc G() int {\n\treturn 3\n}\n```\n", false},
		"its line":            {"```go\n# edit: m.go :: L8\n\treturn 4\n```\n", true},
		"its lines":           {"```go\n# edit: m.go :: L7-L9\nfunc G() int { return 3 }\n```\n", true},
		"other lines":         {"```go\n# edit: m.go :: L1-L4\npackage m\n```\n", false},
		"by its old text":     {"m.go\n<<<<<<< SEARCH\n\treturn 2\n=======\n\treturn 3\n>>>>>>> REPLACE\n", true},
		"no such function":    {"```go\n# edit: m.go :: H\nfunc H() {}\n```\n", false},
		"no such file":        {"```go\n# edit: new.go :: *\npackage m\n```\n", false},
		"the whole file":      {"```go\n# edit: m.go :: *\npackage m\n```\n", false},
		"prose":               {"The cause is G.", false},
	} {
		if got := scenes.Aimed(tt.text, tree, fix); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
