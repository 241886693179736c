package mechanic

import (
	"go/format"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/report"
)

const crooked = "package p\n\nfunc  F(a int)int {\nreturn   a+1 }\n"

func TestGofmt(t *testing.T) {
	root := fstest.MapFS{
		"go.mod":          file("module example.com/p\n\ngo 1.22\n"),
		"p.go":            file(crooked),
		"sub/good.go":     file("package sub\n"),
		"p_test.go":       file("package  p\n"),
		"testdata/bad.go": file("package  bad\n"),
	}
	w := enter(t, root, `test -z "$(gofmt -l p.go sub)"`)
	c, offered := w.repair(t)
	if c.Edit != "gofmt" || offered != 1 {
		t.Fatalf("got %q of %d candidates, want the change of gofmt", c.Edit, offered)
	}
	want, err := format.Source([]byte(crooked))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Change.Files) != 1 || c.Change.Files[0].Path != "p.go" {
		t.Fatalf("changed %+v, want p.go alone", c.Change.Files)
	}
	if diff := cmp.Diff(string(want), string(c.Change.Files[0].New)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVetFix(t *testing.T) {
	root := fstest.MapFS{
		"go.mod": file("module example.com/p\n\ngo 1.22\n"),
		"p.go":   file("package p\n\nfunc F(n int) string { return string(n) }\n"),
	}
	w := enter(t, root, "go vet ./...")
	c, _ := w.repair(t)
	if c.Edit != "go vet" || !strings.Contains(string(c.Change.Diff()), "+func F(n int) string { return fmt.Sprint(n) }") {
		t.Fatalf("got %q: %s", c.Edit, c.Change.Diff())
	}
}

func TestFixersOfAClass(t *testing.T) {
	lint := []report.Result{{ID: "vet:printf:p.go", Kind: report.Lint}}
	own := []Fixer{{Tool: "ruff check", Kind: lints}}
	tests := []struct {
		own  []Fixer
		seen oracle.Verdict
		want string
	}{
		{nil, oracle.Verdict{Findings: []report.Result{{Kind: report.Test}}}, ""},
		{own, oracle.Verdict{Findings: []report.Result{{Kind: report.Test}}}, ""},
		{own, oracle.Verdict{Findings: []report.Result{{Kind: report.Test, ID: "[exit]"}}}, "ruff check"},
		{nil, oracle.Verdict{Findings: lint}, "go vet"},
		{own, oracle.Verdict{Findings: lint}, "ruff check"},
		{nil, oracle.Verdict{Class: report.FormatClass}, "gofmt"},
	}
	for _, tt := range tests {
		h := &hunt{Mechanic: &Mechanic{Oracle: &oracle.Oracle{}, Fixers: tt.own}, seen: tt.seen}
		if got := toolNames(h.fixers()); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.seen, got, tt.want)
		}
	}
}
