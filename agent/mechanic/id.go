package mechanic

import (
	"io/fs"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// testID is a Go test's id taken apart.
type testID struct {
	dir  string // of its package, relative to the root
	name string // TestName/sub
}

// top is the name of the test function.
func (t testID) top() string {
	top, _, _ := strings.Cut(t.name, "/")
	return top
}

// pattern is what -test.run needs to run this test and no other.
func (t testID) pattern() string {
	parts := strings.Split(t.name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// splitID takes import/path.TestName/sub apart. Both halves may hold dots and slashes, so the directory decides.
func splitID(root fs.FS, module, id string) (testID, bool) {
	for i, r := range id {
		if r != '.' || !isTestName(id[i+1:]) {
			continue
		}
		dir := "."
		if pkg := id[:i]; pkg != module {
			rest, ok := strings.CutPrefix(pkg, module+"/")
			if !ok || module == "" || !fs.ValidPath(rest) {
				continue
			}
			dir = rest
		}
		if info, err := fs.Stat(root, dir); err == nil && info.IsDir() {
			return testID{dir: dir, name: id[i+1:]}, true
		}
	}
	return testID{}, false
}

func isTestName(s string) bool {
	for _, prefix := range []string{"Test", "Example", "Fuzz"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// failing takes the test findings apart; ids that are no Go test of the module are left out.
func (m *Mechanic) failing(findings []report.Result) []testID {
	var out []testID
	for _, f := range findings {
		if f.Kind != report.Test {
			continue
		}
		if id, ok := splitID(m.Root, m.Module, f.ID); ok {
			out = append(out, id)
		}
	}
	return out
}

// passing are the tests of the given directories that were seen passing.
func (m *Mechanic) passing(ids []string, dirs []string) []testID {
	var out []testID
	for _, id := range ids {
		if t, ok := splitID(m.Root, m.Module, id); ok && slices.Contains(dirs, t.dir) {
			out = append(out, t)
		}
	}
	return out
}

// dirsOf are the packages of tests, each once, sorted.
func dirsOf(tests []testID) []string {
	var out []string
	for _, t := range tests {
		if !slices.Contains(out, t.dir) {
			out = append(out, t.dir)
		}
	}
	sort.Strings(out)
	return out
}
