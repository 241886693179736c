package mechanic

import (
	"go/ast"
	"math"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/report"
)

// profile gives three blocks of m/a.go, the third inside the second; ran says which a test ran.
func profileOf(ran [3]int) string {
	digit := func(n int) string { return string(rune('0' + n)) }
	return "mode: set\n" +
		"example.com/m/a.go:1.10,3.5 1 " + digit(ran[0]) + "\n" +
		"example.com/m/a.go:5.1,20.2 4 " + digit(ran[1]) + "\n" +
		"example.com/m/a.go:8.10,9.12 1 " + digit(ran[2]) + "\n"
}

func TestSuspicion(t *testing.T) {
	s := newSpectrum("example.com/m")
	for _, red := range [][3]int{{1, 1, 0}, {0, 1, 0}} {
		if !s.add(profileOf(red), true) {
			t.Fatal("a good profile was not counted")
		}
	}
	s.add(profileOf([3]int{1, 0, 1}), false)
	s.add(profileOf([3]int{1, 0, 1}), false)
	for _, tt := range []struct {
		file      string
		line, col int
		want      float64
	}{
		{"a.go", 2, 1, 1 / math.Sqrt(2*3)}, // one of two failing, two passing
		{"a.go", 1, 9, 0},                  // before the block
		{"a.go", 1, 10, 1 / math.Sqrt(2*3)},
		{"a.go", 3, 5, 0},  // a block's end is outside it
		{"a.go", 6, 1, 1},  // both failing, none passing
		{"a.go", 8, 11, 0}, // the inner block counts, which no failing test ran
		{"a.go", 12, 1, 1}, // the outer again
		{"b.go", 2, 1, 0},
	} {
		if got := s.suspicion(tt.file, tt.line, tt.col); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s:%d.%d: got %v, want %v", tt.file, tt.line, tt.col, got, tt.want)
		}
	}
}

func TestSpectrumLeavesOutWhatItCannotRead(t *testing.T) {
	s := newSpectrum("example.com/m")
	for _, text := range []string{"", "mode: set\n", "not a profile", "mode: set\nexample.com/m/a.go:x.1,2.2 1 1\n"} {
		if s.add(text, true) {
			t.Errorf("%q was counted", text)
		}
	}
	s.add("mode: set\nexample.com/m/../../etc/a.go:1.1,2.2 1 1\nother.org/x/a.go:1.1,2.2 1 1\n", true)
	if len(s.blocks) != 0 {
		t.Errorf("files outside the module were counted: %v", s.blocks)
	}
}

func TestNearest(t *testing.T) {
	id := func(names ...string) (out []testID) {
		for _, n := range names {
			out = append(out, testID{dir: ".", name: n})
		}
		return out
	}
	red := id("TestParse/empty", "TestWalk")
	green := id("TestOther", "TestOther/x", "TestParse/full", "TestWalkAll", "TestParse")
	want := id("TestParse/full", "TestWalkAll", "TestOther")
	if diff := cmp.Diff(want, nearest(green, red, 9), cmp.AllowUnexported(testID{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := nearest(green, red, 1); len(got) != 1 {
		t.Errorf("got %d tests, want 1", len(got))
	}
}

func TestSplitID(t *testing.T) {
	root := fstest.MapFS{"a.v1/b/x.go": {}, "x.go": {}, "Test.d/x.go": {}}
	for id, want := range map[string]testID{
		"example.com/m.TestX":                   {".", "TestX"},
		"example.com/m/a.v1/b.TestX/sub.Test/y": {"a.v1/b", "TestX/sub.Test/y"},
		"example.com/m/Test.d.ExampleF":         {"Test.d", "ExampleF"},
		"example.com/m/gone.TestX":              {},
		"example.org/m.TestX":                   {},
		"example.com/m.[build]":                 {},
		"example.com/m/../../etc.TestX":         {},
	} {
		got, ok := splitID(root, "example.com/m", id)
		if got != want || ok != (want != testID{}) {
			t.Errorf("%s: got %v %v, want %v", id, got, ok, want)
		}
	}
	if got := (testID{".", "TestX/a(b)/c"}).pattern(); got != `^TestX$/^a\(b\)$/^c$` {
		t.Errorf("pattern %s", got)
	}
}

const ladder = `package m

var step = 2

func Top(n int) int { return middle(n) + 1 }

func middle(n int) int { return n * step }

func apart(n int) int { return n - 1 }
`

func TestWithoutCoverageTheTestsSourceSuspects(t *testing.T) {
	root := fstest.MapFS{"a.go": {Data: []byte(ladder)},
		"a_test.go": {Data: []byte("package m\nimport \"testing\"\nfunc TestTop(t *testing.T) { if Top(1) != 3 { t.Fail() } }\n")}}
	p := load(root, "example.com/m", []string{"."})
	x := suspect(p, newSpectrum("example.com/m"), []testID{{".", "TestTop"}}, nil)
	got := map[string]float64{}
	for fn, w := range x.funcs {
		got[fn.Name.Name] = w
	}
	if diff := cmp.Diff(map[string]float64{"Top": .8, "middle": .6}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, e := range ranked(x, func(*source) bool { return true }) {
		if e.line == 9 {
			t.Errorf("an edit of what the test does not reach: %+v", e)
		}
	}
	if x.declared(&ast.ValueSpec{Names: []*ast.Ident{ast.NewIdent("step")}}) == 0 {
		t.Error("a variable that a suspect uses is not suspected")
	}
}

func TestTraceSuspects(t *testing.T) {
	p := load(fstest.MapFS{"in/a.go": {Data: []byte(ladder)}}, "example.com/m", []string{"in"})
	trace := "panic: x\n\ngoroutine 1 [running]:\nm.middle()\n\t/somewhere/tree/in/a.go:7 +0x1d\nm.Top()\n\t/somewhere/tree/in/a.go:5 +0x1\n" +
		"\t/usr/lib/go/src/testing/testing.go:1689 +0x1\n\t/x/a.go:99999999999999999999\n"
	x := suspect(p, newSpectrum("example.com/m"), []testID{{"in", "TestNone"}}, []report.Result{{Trace: trace}})
	inner, outer := x.at(edit{file: "in/a.go", line: 7}), x.at(edit{file: "in/a.go", line: 5})
	if !(inner > outer && outer > 0) || x.at(edit{file: "in/a.go", line: 9}) != 0 {
		t.Errorf("got %v for the innermost frame, %v for the next", inner, outer)
	}
}

func TestGuarded(t *testing.T) {
	text := "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", func(tt *testing.T) { panic(1) })\n}\n\nfunc helper(n int, other *mine.T) {}\n"
	p := load(fstest.MapFS{"a_test.go": {Data: []byte(text)}}, "example.com/m", []string{"."})
	s := p.find("a_test.go")
	want := "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {defer func() { if e := recover(); e != nil { t.Fatal(e) } }();\n" +
		"\tt.Run(\"x\", func(tt *testing.T) {defer func() { if e := recover(); e != nil { tt.Fatal(e) } }(); panic(1) })\n}\n\nfunc helper(n int, other *mine.T) {}\n"
	if diff := cmp.Diff(want, string(guarded(s, p))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
