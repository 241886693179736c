package patch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"testing/fstest"
)

// A protected file changes to what a tool wrote there, byte for byte, and to nothing else.
func TestFixed(t *testing.T) {
	old, laid, other := "package p\nvar  A=1\n", "package p\n\nvar A = 1\n", "package p\n\nvar A = 2\n"
	root := fstest.MapFS{}
	for _, name := range []string{"a_test.go", "go.sum", ".github/workflows/ci.yml", "check.sh", "own/x_test.go"} {
		root[name] = &fstest.MapFile{Data: []byte(old), Mode: 0o644}
	}
	for _, tt := range []struct {
		name, file, new string
		fixed           map[string]Fixed
		lands           bool
	}{
		{"as the tool wrote it", "a_test.go", laid, map[string]Fixed{"a_test.go": {"gofmt", sum(laid), true}}, true},
		{"no tool", "a_test.go", laid, nil, false},
		{"another file's tool", "a_test.go", laid, map[string]Fixed{"go.sum": {"gofmt", sum(laid), true}}, false},
		{"not as the tool wrote it", "a_test.go", other, map[string]Fixed{"a_test.go": {"gofmt", sum(laid), true}}, false},
		{"not as the linter wrote it", "a_test.go", other, map[string]Fixed{"a_test.go": {"vet", sum(laid), false}}, false},
		{"a formatter that changed the program", "a_test.go", other, map[string]Fixed{"a_test.go": {"gofmt", sum(other), true}}, false},
		{"a linter that changed the program", "a_test.go", other, map[string]Fixed{"a_test.go": {"vet", sum(other), false}}, true},
		{"a lockfile", "go.sum", other, map[string]Fixed{"go.sum": {"go mod tidy", sum(other), false}}, true},
		{"a formatter where no grammar can tell", "go.sum", other, map[string]Fixed{"go.sum": {"x", sum(other), true}}, false},
		{"a workflow", ".github/workflows/ci.yml", laid, map[string]Fixed{".github/workflows/ci.yml": {"x", sum(laid), false}}, false},
		{"the check's own script", "check.sh", laid, map[string]Fixed{"check.sh": {"shfmt", sum(laid), false}}, false},
		{"protected by name", "own/x_test.go", laid, map[string]Fixed{"own/x_test.go": {"gofmt", sum(laid), true}}, false},
	} {
		policy := Policy{Fixed: tt.fixed, Oracle: []string{"check.sh"}, Protect: []string{"own/**"}}
		change := Change{Files: []FileChange{{Path: tt.file, Old: []byte(old), New: []byte(tt.new), Mode: 0o644}}}
		got, err := Gate(root, change.Diff(), policy)
		var s *Slip
		if tt.lands != (err == nil) || err != nil && !errors.As(err, &s) {
			t.Errorf("%s: %v, want it to land: %v", tt.name, err, tt.lands)
		}
		if err == nil && got.Risk(root, policy) != R2 {
			t.Errorf("%s: class %s, want R2", tt.name, got.Risk(root, policy))
		}
	}
}

func sum(s string) string {
	b := sha256.Sum256([]byte(s))
	return hex.EncodeToString(b[:])
}
