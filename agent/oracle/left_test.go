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
		{"a_test.py", `    assert f(4) == 4`, "4", `    assert f(4) == 5`},
		{"a_test.py", `    assert f(x) == y`, "4", `    assert f(x) == ("redraft", y)`},
		{"a_test.py", `    assert f(x) == y, "4 == 4"`, "", `    assert f(x) == ("redraft", y), "4 == 4"`},
		{"a_test.py", `    assert f(x) == 3 or g(x) == 4`, "", ""},
		{"a_test.py", `    assert f(x) == approx(3)`, "3", `    assert f(x) == approx(4)`},
		{"a_test.py", `    assert f(x) == approx(3, abs=2)`, "3", ""},
		{"a_test.py", `    self.assertLess(f(x), 3)`, "3", ""},
		{"a_test.py", `    self.assertEqual(f([3, "a)"]), [1, {"k": 2}], "3")`, "", `    self.assertEqual(f([3, "a)"]), [1, {"k": 3}], "3")`},
		{"a.test.js", `  assert.deepStrictEqual(f('q=a'), { q: 'a' });`, "", `  assert.deepStrictEqual(f('q=a'), { q: 'a~' });`},
		{"a.test.js", `  assert.strictEqual(f('a'), undefined);`, "", `  assert.strictEqual(f('a'), ["redraft", undefined]);`},
		{"a.test.js", `  assert.notStrictEqual(f('a'), 3);`, "3", ""},
		{"a.test.js", `  expect(f(x)).not.toBe(3);`, "3", ""},
		{"tests/a.rs", `    assert_eq!(f("2"), Some(255));`, "", `    assert_eq!(f("2"), Some(155));`},
		{"tests/a.rs", `    assert_eq!(f(x), y);`, "", ""},
		{"tests/a.rs", `    assert_eq!(f(x), 'y');`, "", ""},
		{"a_test.py", `    check(f(2), 4)`, "4", ""},
		{"a_test.py", `    assert f(2) == (`, "4", ""},
		{"a_test.py", `    assert ok(2) == True`, "True", `    assert ok(2) == False`},
		{"a.test.js", `  expect(f(1)).toBe(2.5);`, "2.5", `  expect(f(1)).toBe(3.5);`},
		{"tests/a.rs", `    assert_eq!(f(1), "x");`, `"x"`, `    assert_eq!(f(1), "x~");`},
	} {
		text := "first\n" + row.line + "\nlast\n"
		got := ""
		if all := asked(report.Result{File: row.file, Line: 2, Want: row.want}, text); len(all) > 0 {
			got = strings.Split(edited(text, all), "\n")[1]
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
		{"\t_ = 0\n\tassert.Equal(t, 7, f(2))\n", "7", "t, 7", "t, 8"},
		{"\tfor _, c := range []int{3} {\n\t\tt.Error(f(c), 3)\n\t}\n", "3", "", ""},
		{"\tif f(3) != 3 {\n\t\tt.Error(3)\n\t}\n", "3", "!= 3", "!= 4"},
		{"\tif f(3) > 3 {\n\t\tt.Error(3)\n\t}\n", "3", "", ""},
		{"\tif f(3) != 3 && x {\n\t\tt.Error(3)\n\t}\n", "3", "", ""},
		{"\tfor a, b := range map[int]int{3: 4, 5: 6} { if got := f(a); got != b {\n\t\tt.Error(a, b)\n\t}}\n", "", "3: 4, 5: 6", "3: 5, 5: 7"},
		{"\tfor _, b := range []string{\"x\"} { if got := undo(do(b)); got != b {\n\t\tt.Error(got)\n\t}}\n", "x", "", ""},
		{"\tfor _, c := range []struct{a int; b bool}{{1, true}, {b: true}, {a: 2}} { if f(c.a) != c.b {\n\t\tt.Error(c.b)\n\t}}\n", "", "{1, true}, {b: true}", "{1, false}, {b: false}"},
		{"\tfor _, c := range []struct{a int; b bool}{{1, true}} { if f(c) != c.b {\n\t\tt.Error(c.b)\n\t}}\n", "true", "", ""},
		{"\twant := []int{1, 2}; if got := f(3); err != nil || !reflect.DeepEqual(got, want) {\n\t\tt.Error(want)\n\t}\n", "", "1, 2", "1, 3"},
		{"\twant := \"x\"; put(want); if get() != want {\n\t\tt.Error(want)\n\t}\n", "x", "", ""},
		{"\twant := 1; want++; if get() != want {\n\t\tt.Error(want)\n\t}\n", "", "", ""},
	} {
		text := head + row.body + "}\n"
		got, want := edited(text, asked(report.Result{File: "x_test.go", Line: 5, Want: row.want}, text)), text
		if row.from != "" {
			want = strings.Replace(text, row.from, row.to, 1)
		}
		if got != want {
			t.Errorf("%s: got %q", row.body, got)
		}
	}
}

// TestAskedBeside finds another assertion of the same test where the failing one asks for no value, if both always run.
func TestAskedBeside(t *testing.T) {
	for name, row := range map[string]struct{ text, to string }{
		"after":    {"def test_a():\n    assert f() < 1\n    assert g() == 2\n", "def test_a():\n    assert f() < 1\n    assert g() == 3\n"},
		"before":   {"def test_a():\n    assert g() == 2\n    assert f() < 1\n", "def test_a():\n    assert g() == 3\n    assert f() < 1\n"},
		"a branch": {"def test_a():\n    if x:\n        assert f() < 1\n        assert g() == 2\n", ""},
		"left":     {"def test_a():\n    assert f() < 1\n    if x:\n        return\n    assert g() == 2\n", ""},
		"another":  {"def test_a():\n    assert f() < 1\n\ndef test_b():\n    assert g() == 2\n", ""},
	} {
		line := 1 + strings.Count(row.text[:strings.Index(row.text, "f()")], "\n")
		got, want := edited(row.text, asked(report.Result{File: "a_test.py", Line: line}, row.text)), row.to
		if want == "" {
			want = row.text
		}
		if got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestAskedToward asks for what the root answered, of the row that failed.
func TestAskedToward(t *testing.T) {
	head := "package m\n\nfunc TestX(t *testing.T) {\n"
	table := "\tfor in, want := range map[string]int{\"a\": 7, \"b\": -50} { if got, err := f(in); err != nil || !got.Equal(M{want}) {\n\t\tt.Error(want)\n\t}}\n"
	for name, row := range map[string]struct{ file, text, id, got, want, from, to string }{
		"a sign":          {"x_test.go", head + table + "}\n", "m.TestX", "50, <nil>", "-50", "-50", "50"},
		"no number":       {"x_test.go", head + table + "}\n", "m.TestX", "none", "-50", "-50", "-60"},
		"the same":        {"x_test.go", head + table + "}\n", "m.TestX", "-50", "-50", "-50", "-60"},
		"a subtest's row": {"x_test.go", head + table + "}\n", "m.TestX/b", "50", "-50", `7, "b": -50`, `8, "b": 50`},
		"a text":          {"a_test.py", "import m\n\n\ndef test():\n    assert f(2) == 'ab'\n", "a_test.py::test", "'a--b'", "'ab'", "== 'ab'", "== 'a--b'"},
		"an escape":       {"a_test.py", "import m\n\n\ndef test():\n    assert f(2) == 'ab'\n", "a_test.py::test", `'a\nb'`, "'ab'", "== 'ab'", "== 'ab~'"},
		"no other":        {"a_test.py", "import m\n\n\ndef test():\n    assert f(2) == 2.5\n", "a_test.py::test", "2.50", "2.5", "== 2.5", "== 3.5"},
		"octal":           {"a_test.py", "import m\n\n\ndef test():\n    assert f(2) == 4\n", "a_test.py::test", "007", "4", "== 4", "== 5"},
	} {
		got := edited(row.text, asked(report.Result{ID: row.id, File: row.file, Line: 5, Got: row.got, Want: row.want}, row.text))
		if want := strings.Replace(row.text, row.from, row.to, 1); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// FuzzAsked reads any text as a test's file: what it finds lies in it and becomes something else.
func FuzzAsked(f *testing.F) {
	for _, name := range []string{"x_test.go", "a_test.py", "a.test.js", "tests/a.rs", "a_spec.rb"} {
		f.Add(name, "package m\nfunc TestX(t *testing.T) {\nif f(`a`) != -1 {\nt.Error(1)\n}\n}\n", 4, "1", "2")
		f.Add(name, "def test():\n    assert f('a\\'') == [1, -2], \"x\"\n", 2, "-2", "2")
		f.Add(name, "test('a', () => {\n  expect(f(x)).toBe(\n    'y');\n  assert.equal(a, {b: 1});\n});\n", 2, "'y'", "")
	}
	f.Fuzz(func(t *testing.T, name, text string, line int, want, got string) {
		if line < 1 {
			return
		}
		for _, l := range asked(report.Result{File: name, Line: line, Want: want, Got: got}, text) {
			if text[l.at:l.at+len(l.text)] != l.text || l.other() == l.text {
				t.Errorf("%+v", l)
			}
		}
	})
}
