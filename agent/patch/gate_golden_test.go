package patch_test

import (
	"errors"
	"flag"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
)

var update = flag.Bool("update", false, "write the golden verdicts anew")

// TestGateGolden holds every verdict of the gate, to the word, against one file for all systems.
func TestGateGolden(t *testing.T) {
	root := slipTree()
	var out strings.Builder
	say := func(name, diff string) {
		c, err := patch.Gate(root, []byte(diff), patch.Policy{})
		var s *patch.Slip
		switch {
		case errors.As(err, &s):
			fmt.Fprintf(&out, "%s: %s: %s\n", name, s.Code, s)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			for _, f := range c.Files {
				fmt.Fprintf(&out, "%s: lands on %s, %d bytes, mode %v, created %v, deleted %v\n", name, f.Path, len(f.New), f.Mode, f.Created, f.Deleted)
			}
		}
	}
	for _, c := range gateCases {
		say(c.name, c.diff)
	}
	for _, name := range escapes {
		say(fmt.Sprintf("escape %.80q", name), newFile(name, "x"))
	}
	for _, why := range slices.Sorted(keys(protectedPaths)) {
		for _, name := range strings.Fields(protectedPaths[why]) {
			say("protected "+strconv.QuoteToASCII(name), newFile(name, "x"))
		}
	}
	golden := filepath.Join("testdata", "gate.golden")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(out.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(out.String(), "\n"); n < 200 {
		t.Errorf("%d verdicts", n)
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestGateIsOfNoSystem holds that no file of the gate, or of the grammars it asks, is for one system alone, and that what
// judges neither knows which system it runs on nor asks it for anything.
func TestGateIsOfNoSystem(t *testing.T) {
	knows := []string{"runtime", "os", "os/exec", "path/filepath", "syscall", "net"}
	judges := []string{"gate.go", "path.go", "protect.go", "protected.go", "readdiff.go", "root.go", "diff.go", "lines.go", "fixed.go", "source.go", "symbol.go", "body.go", "resolve.go"}
	seen := 0
	for _, dir := range []string{".", "../syntax"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 10 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range f.Comments {
				for _, c := range g.List {
					if constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) {
						t.Errorf("%s has %s", name, c.Text)
					}
				}
			}
			for _, system := range []string{"linux", "darwin", "windows", "unix", "amd64", "arm64"} {
				if strings.HasSuffix(name, "_"+system+".go") {
					t.Errorf("%s is for one system", name)
				}
			}
			if dir != "." || !slices.Contains(judges, name) {
				continue
			}
			seen++
			for _, imp := range f.Imports {
				if p, _ := strconv.Unquote(imp.Path.Value); slices.Contains(knows, p) {
					t.Errorf("%s imports %s", name, p)
				}
			}
		}
	}
	if seen != len(judges) {
		t.Errorf("%d of %d files found", seen, len(judges))
	}
}

// TestGateReadsBytesAlone holds that the verdict hangs on nothing that two file systems may say otherwise: not on times, on
// the order in which a folder is listed, or on modes beyond the executable bit.
func TestGateReadsBytesAlone(t *testing.T) {
	plain, odd := slipTree(), slipTree()
	for _, f := range odd {
		if f.Mode.IsRegular() {
			f.Mode |= 0o066
		}
	}
	for _, c := range gateCases {
		a, errA := patch.Gate(plain, []byte(c.diff), patch.Policy{})
		b, errB := patch.Gate(backwards{odd}, []byte(c.diff), patch.Policy{})
		if fmt.Sprint(errA) != fmt.Sprint(errB) || len(a.Files) != len(b.Files) {
			t.Errorf("%s: %v, and %v", c.name, errA, errB)
		}
	}
}

// backwards lists its folders the wrong way round.
type backwards struct{ fs.FS }

func (b backwards) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.FS, name)
	slices.Reverse(entries)
	return entries, err
}
