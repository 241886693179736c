package main

import (
	"testing"
	"testing/fstest"
)

func TestHoldsGo(t *testing.T) {
	for name, want := range map[string]bool{"a.py": false, "Makefile": false, "go.sum": false, "x.go/readme": false, "go.mod": true, "tools/go.work": true, "deep/er/main.go": true} {
		if got := holdsGo(fstest.MapFS{name: {Data: []byte("x")}, "README.md": {}}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
