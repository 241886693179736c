package perceive_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/redraft-dev/redraft/agent/perceive"
)

var update = flag.Bool("update", false, "write the edges that are found as those that are wanted")

// indexOf indexes a tree.
func indexOf(t testing.TB, tree fs.FS, cache string) *perceive.Index {
	t.Helper()
	x, err := perceive.NewIndex(context.Background(), tree, perceive.IndexOptions{Cache: cache, System: "linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Types(context.Background()); err != nil {
		t.Fatal(err)
	}
	return x
}

// told is all that an index says of its edges.
func told(x *perceive.Index) string {
	var b strings.Builder
	for _, e := range x.Edges() {
		fmt.Fprintf(&b, "%s:%d %s %s -> %s %s [%s] %s\n", e.File, e.Line, e.Kind, e.From, e.To.File, e.To.Name, e.Rule, e.Text)
	}
	s := x.Stats()
	for _, n := range s.Examples {
		fmt.Fprintf(&b, "blind %s:%d %s, %d candidates\n", n.File, n.Line, n.Name, n.Candidates)
	}
	for _, o := range s.Outside {
		fmt.Fprintf(&b, "outside %s\n", o)
	}
	for _, r := range s.Refused {
		fmt.Fprintf(&b, "refused %s: %s\n", r.File, r.Why)
	}
	for _, p := range s.Packages {
		fmt.Fprintf(&b, "package %s %s\n", p.Folder, p.Typed())
	}
	return b.String()
}

// TestGraphs: every edge of one small tree a language.
func TestGraphs(t *testing.T) {
	names, err := filepath.Glob("testdata/graph/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d trees: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := txtar.FS(a)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".txtar") + ".edges"
			got := told(indexOf(t, tree, ""))
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("edges (-want +got):\n%s", d)
			}
		})
	}
}
