package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/report"
)

// TestLeft: of what lies about after a run, its own reports are taken and nothing else.
func TestLeft(t *testing.T) {
	tree, reports := t.TempDir(), t.TempDir()
	now := time.Now()
	put := func(name, text string, at time.Time) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	surefire := filepath.Join(tree, "core", "target", "surefire-reports")
	put(filepath.Join(surefire, "TEST-a.B.xml"), "its own", now)
	put(filepath.Join(surefire, "TEST-old.xml"), "of another run", now.Add(-time.Hour))
	put(filepath.Join(surefire, "TEST-new.xml"), "of the future", now.Add(time.Hour))
	put(filepath.Join(surefire, "other.xml"), "no report", now)
	put(filepath.Join(tree, "node_modules", "target", "surefire-reports", "TEST-x.xml"), "a package's", now)
	put(filepath.Join(tree, "out", "r.json"), "named by the configuration, secret", now)
	put(filepath.Join(reports, "pytest.xml"), "asked for", now)
	put(filepath.Join(reports, "big.xml"), strings.Repeat("x", maxLeftBytes+1), now)
	secret := filepath.Join(t.TempDir(), "secret")
	put(secret, "outside", now)
	if err := os.Symlink(secret, filepath.Join(reports, "link.xml")); err != nil {
		t.Fatal(err)
	}
	o := &Oracle{Check: plan.Check{Run: "mvn test", Report: "out/*.json"}, Clean: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }}
	got := map[string]string{}
	for _, f := range o.left(reports, tree, now.Add(-time.Second), now.Add(time.Second)) {
		got[f.Name] = string(f.Data)
	}
	want := map[string]string{"core/target/surefire-reports/TEST-a.B.xml": "its own", "out/r.json": "named by the configuration, ***", "pytest.xml": "asked for"}
	if len(got) != len(want) {
		t.Errorf("got %v", keys(got))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: got %.40q, want %q", name, got[name], text)
		}
	}
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// TestAsked finds the literal that an assertion asks for, and none where it cannot be told.
func TestAsked(t *testing.T) {
	for _, row := range []struct {
		file, line, want string
		to               string // the line with the other literal; unchanged if none is found
	}{
		{"a_test.py", `    assert f(2) == 4`, "4", `    assert f(2) == 5`},
		{"a_test.py", `    self.assertEqual(f("a"), "b")  # "b"`, "'b'", `    self.assertEqual(f("a"), "b~")  # "b"`},
		{"a_test.py", `    assert f(4) == 4`, "4", ""},
		{"a_test.py", `    assert f(x) == y`, "4", ""},
		{"a_test.py", `    check(f(2), 4)`, "4", ""},
		{"a_test.py", `    assert f(2) == (`, "4", ""},
		{"a_test.py", `    assert ok(2) == True`, "True", `    assert ok(2) == False`},
		{"a.test.js", `  expect(f(1)).toBe(2.5);`, "2.5", `  expect(f(1)).toBe(3.5);`},
		{"tests/a.rs", `    assert_eq!(f(1), "x");`, `"x"`, `    assert_eq!(f(1), "x~");`},
	} {
		text := "first\n" + row.line + "\nlast\n"
		got := ""
		if l, ok := asked(report.Result{File: row.file, Line: 2, Want: row.want}, text); ok {
			got = strings.Split(text[:l.at]+l.other()+text[l.at+len(l.text):], "\n")[1]
		}
		if got != row.to {
			t.Errorf("%s: got %q, want %q", row.line, got, row.to)
		}
	}
}

func TestAskedGo(t *testing.T) {
	head := "package m\n\nfunc TestX(t *testing.T) {\n"
	for _, row := range []struct{ body, want, from, to string }{
		{"\tif got := f(2); got != 4 {\n\t\tt.Errorf(\"got %d, want %d\", got, 4)\n\t}\n", "4", "got != 4", "got != 5"},
		{"\tassert.Equal(t, 7, f(2))\n\t_ = 0\n", "7", "t, 7", "t, 8"},
		{"\tfor _, c := range []int{3} {\n\t\tt.Error(f(c), 3)\n\t}\n", "3", "{3}", "{4}"},
		{"\tif f(3) != 3 {\n\t\tt.Error(3)\n\t}\n", "3", "", ""},
	} {
		text := head + row.body + "}\n"
		l, ok := asked(report.Result{File: "x_test.go", Line: 5, Want: row.want}, text)
		got := ""
		if ok {
			got = text[:l.at] + l.other() + text[l.at+len(l.text):]
		}
		if want := strings.Replace(text, row.from, row.to, 1); ok != (row.from != "") || ok && got != want {
			t.Errorf("%s: got %q", row.body, got)
		}
	}
}
