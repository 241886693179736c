package syntax_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// spell writes a use as In> Before.Name() :Type, with a ~ where what leads to it is the function's own.
func spell(u syntax.Use) string {
	s := u.Name
	if u.Before != "" {
		s = u.Before + "." + s
	}
	if u.Called {
		s += "()"
	}
	if u.Type != "" {
		s += " :" + u.Type
	}
	if u.Local {
		s += " ~"
	}
	if u.In != "" {
		s = u.In + "> " + s
	}
	return s
}

func spelled(t testing.TB, src string, o syntax.Outline) []string {
	t.Helper()
	uses := slices.Clone(o.Uses)
	slices.SortStableFunc(uses, func(a, b syntax.Use) int { return cmp.Compare(a.Start, b.Start) })
	var out []string
	for _, u := range uses {
		if !strings.HasPrefix(src[u.Start:], u.Name) || strings.Count(src[:u.Start], "\n")+1 != u.Line {
			t.Errorf("%+v is not where it says", u)
		}
		out = append(out, spell(u))
	}
	return out
}

func outlined(t testing.TB, name, src string) syntax.Outline {
	t.Helper()
	o, err := grammar(t, name).Outline([]byte(src))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, src)
	}
	return o
}

// trap is a text and the uses in it.
type trap struct{ about, src, want string }

func traps(t *testing.T, name string, rows []trap) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.about, func(t *testing.T) {
			got := strings.Join(spelled(t, row.src, outlined(t, name, row.src)), "; ")
			if got != row.want {
				t.Errorf("%s\ngot  %s\nwant %s", row.src, got, row.want)
			}
		})
	}
}

func TestUsesOfPython(t *testing.T) {
	traps(t, "a.py", []trap{
		{"parameters and locals", "def f(a, *b, c=D, **e):\n    g = a + b\n    return g(c, e)\n", "f> D"},
	})
}

// golden is everything that an outline says, a line each.
func golden(t testing.TB, src string, o syntax.Outline) string {
	var b strings.Builder
	if o.Package != "" {
		fmt.Fprintf(&b, "package %s\n", o.Package)
	}
	if o.Default != "" {
		fmt.Fprintf(&b, "default %s\n", o.Default)
	}
	for _, i := range o.Imports {
		fmt.Fprintf(&b, "import %q %q as %q in %q exported %v L%d\n", i.From, i.Name, i.As, i.In, i.Exported, i.Line)
	}
	for _, s := range o.Supers {
		fmt.Fprintf(&b, "super %s: %s L%d\n", s.Of, s.Name, s.Line)
	}
	for _, u := range spelled(t, src, o) {
		fmt.Fprintf(&b, "use %s\n", u)
	}
	return b.String()
}

func TestGoldenUses(t *testing.T) {
	for _, name := range append([]string{"shop.go.txt"}, shops...) {
		src := sample(t, name)
		got := golden(t, src, outlined(t, strings.TrimSuffix(name, ".txt"), src))
		path := filepath.Join("testdata", name+".uses")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := gocmp.Diff(sample(t, name+".uses"), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOutlineOfWhatDoesNotParse(t *testing.T) {
	for _, name := range []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.rs", "A.java"} {
		o, err := grammar(t, name).Outline([]byte("(]"))
		var e *syntax.Error
		if !errors.As(err, &e) || len(o.Symbols)+len(o.Uses) > 0 {
			t.Errorf("%s: %v %v", name, o, err)
		}
	}
}
