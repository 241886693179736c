package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var tested = regexp.MustCompile(`<!-- tested: (.*?) -->`)

// TestClaims makes sure that every line of the security page that says what a process holds names tests that there are.
func TestClaims(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(b), "## What each process holds\n")
	section, _, ends := strings.Cut(section, "\n## ")
	if !ok || !ends {
		t.Fatal("docs/security.md has no such section")
	}
	n := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		n++
		m := tested.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no test is named by %q", line)
			continue
		}
		for one := range strings.SplitSeq(m[1], "; ") {
			dir, name, _ := strings.Cut(one, " ")
			if !hasTest(t, filepath.Join("..", "..", dir), name) {
				t.Errorf("there is no %s in %s", name, dir)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d claims", n)
	}
}

// hasTest says whether a folder's package has a test of a name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if name != "" && strings.Contains(string(b), "\nfunc "+name+"(t *testing.T) {") {
			return true
		}
	}
	return false
}
