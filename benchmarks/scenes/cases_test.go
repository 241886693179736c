package scenes_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// data is a folder of public inputs with three usable Python cases.
func data(t *testing.T) string {
	t.Helper()
	var lines []string
	for _, c := range []struct{ name, lines, known string }{
		{"late", "9", ""}, {"early", "3", ""}, {"marshmallow", "1", ""}, {"sick", "1", `"t.py::other"`}, {"middle", "5", ""},
	} {
		lines = append(lines, `{"package":"`+c.name+`","bad":"1","good":"2","python":"3.11","files":["m.py"],"pytest":"pytest","red":["t.py::x"],"known_failures":[`+
			c.known+`],"changed_lines":`+c.lines+`}`)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tasks", "pypackages.json"), []byte("["+strings.Join(lines, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ids(cases []scenes.Case) (out []string) {
	for _, c := range cases {
		out = append(out, c.ID)
	}
	return out
}

// TestCases: the smallest repairs of both languages in turn, and none that cannot get green.
func TestCases(t *testing.T) {
	cases, err := scenes.Cases(data(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 4 || cases[0].Language != "go" || cases[0].Lines > cases[2].Lines {
		t.Fatalf("got %v, want two of each language in turn", ids(cases))
	}
	if d := cmp.Diff([]string{"early@1", "middle@1"}, []string{cases[1].ID, cases[3].ID}); d != "" {
		t.Errorf("of Python (-want +got):\n%s", d)
	}
	if cases, err = scenes.Cases(data(t), 100); err != nil || len(cases) < 40 || slices.Contains(ids(cases), "sick@1") || slices.Contains(ids(cases), "marshmallow@1") {
		t.Errorf("all: %v, %v", ids(cases), err)
	}
	if _, err := scenes.Cases(t.TempDir(), 1); err == nil {
		t.Error("a folder without cases is no error")
	}
}

func TestPick(t *testing.T) {
	all := []scenes.Case{{ID: "example.com/good@v1", Language: "go"}, {ID: "good@1", Language: "python"}, {ID: "other@2", Language: "python"}}
	for _, tt := range []struct{ patterns, want []string }{
		{nil, ids(all)}, {[]string{"go"}, ids(all[:1])}, {[]string{"good"}, ids(all[:2])}, {[]string{"@2", "go"}, []string{all[0].ID, all[2].ID}},
	} {
		if got, err := scenes.Pick(all, tt.patterns); err != nil || cmp.Diff(tt.want, ids(got)) != "" {
			t.Errorf("Pick %q: got %v, %v; want %v", tt.patterns, ids(got), err, tt.want)
		}
	}
	if _, err := scenes.Pick(all, []string{"good", "absent"}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a pattern that fits nothing: %v", err)
	}
}
