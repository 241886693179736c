package syntax_test

import (
	"testing"

	"github.com/redraft-dev/redraft/agent/syntax"
)

func TestNormal(t *testing.T) {
	for _, row := range []struct {
		name, file, a, b string
		same             bool
	}{
		{"one line or three", "a.go", "func F() int { return 1 }", "func F() int {\n\treturn 1\n}\n", true},
		{"comments", "a.go", "// old\nvar x = 1", "/* new */ var x = 1 // more\n", true},
		{"an operator", "a.go", "x := a < b", "x := a <= b", false},
		{"a string's spaces", "a.go", `x := "a  b"`, `x := "a b"`, false},
		{"a name", "a.go", "x := ab", "x := a b", false},
		{"a directive", "a.go", "//go:noinline\nfunc F() {}", "func F() {}", false},
		{"CRLF", "a.go", "x := 1\r\ny := 2\r\n", "x := 1\ny := 2\n", true},
		{"other text", "a.txt", "a \nb\t\n\n", "a\nb\n", true},
		{"other text's indent", "a.txt", "  a", "a", false},
	} {
		got := string(syntax.Normal(row.file, []byte(row.a))) == string(syntax.Normal(row.file, []byte(row.b)))
		if got != row.same {
			t.Errorf("%s: got the same %v, want %v", row.name, got, row.same)
		}
	}
}
