package patch_test

import (
	"encoding/json"
	"errors"
	"go/build"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// TestRetypingChangesNothing types every definition of some packages of Go's own library again, each in one of the
// ways in which models do: to the byte, without its comment, between blank lines, in CRLF. Not a byte may change.
func TestRetypingChangesNothing(t *testing.T) {
	g, _ := syntax.For("x.go")
	tried := 0
	for _, dir := range []string{"container/list", "text/tabwriter", "net/url"} {
		files, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil || strings.HasSuffix(name, "_test.go") {
				continue
			}
			symbols, err := g.Symbols(data)
			if err != nil {
				t.Fatal(name, err)
			}
			for _, s := range symbols {
				tried++
				text := string(data[s.Start:s.End])
				head := strings.Join(strings.SplitAfter(text, "\n")[s.Head-s.First:], "")
				ways := []string{text, head, "\n" + text + "\n\n", strings.ReplaceAll(head, "\n", "\r\n")}
				retyped(t, string(data), s, ways[tried%len(ways)])
			}
		}
	}
	if tried < 100 {
		t.Skipf("REFUSED: %d definitions of Go's library found in %s", tried, build.Default.GOROOT)
	}
}

func retyped(t *testing.T, data string, sym syntax.Symbol, body string) {
	t.Helper()
	c, _, err := patch.Resolve(tree("x.go", data), patch.Set{edit("x.go", sym.String(), body)}, patch.Policy{})
	var s *patch.Slip
	if !errors.As(err, &s) || s.Code != patch.NothingChanged && s.Code != patch.Ambiguous {
		t.Errorf("%s as %q: %v\n%s", sym, body, err, c.Diff())
	}
}

// TestFixesOfTheWorldAreNotProtected holds the protection against what people changed to repair real red checks.
func TestFixesOfTheWorldAreNotProtected(t *testing.T) {
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA names no folder")
	}
	for _, set := range []string{"gomodules.json", "pypackages.json"} {
		text, err := os.ReadFile(filepath.Join(data, "tasks", set))
		if err != nil {
			t.Skip("REFUSED:", err)
		}
		var tasks []struct{ Files []string }
		if err := json.Unmarshal(text, &tasks); err != nil || len(tasks) < 30 {
			t.Fatal(set, len(tasks), err)
		}
		for _, task := range tasks {
			for _, name := range task.Files {
				name = path.Clean(strings.TrimPrefix(name, "+"))
				if why, protected := (patch.Policy{}).Protected(name); protected {
					t.Errorf("%s: %s is protected: %s", set, name, why)
				}
			}
		}
	}
}
