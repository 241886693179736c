package report

import (
	"strings"
	"testing"
)

func TestGotWant(t *testing.T) {
	for _, tt := range []struct{ text, got, want string }{
		{"got 1, want 2", "1", "2"},
		{"got 1; want 2", "1", "2"},
		{"got 1 want 2", "1", "2"},
		{"got: 1, want: 2", "1", "2"},
		{"got = 1, want = 2", "1", "2"},
		{"Total(3): got 1, want 2", "1", "2"},
		{"want 2, got 1", "1", "2"},
		{"want 2 but got 1", "1", "2"},
		{"wanted 2, have 1", "1", "2"},
		{"expected 2, got 1", "1", "2"},
		{"expected 2 but got 1", "1", "2"},
		{"expected: 2, actual: 1", "1", "2"},
		{"Expected 2, received 1.", "1", "2"},
		{"expected value to be 2, got 1", "1", "2"},
		{"Total(3) = 1; want 2", "1", "2"},
		{"Total(3) = 1, want 2", "1", "2"},
		{"Total(a=3) = 1, wanted 2", "1", "2"},
		{"Parse(\"x = y\") = \"p = q\"; want \"r\"", `"p = q"`, `"r"`},
		{"Parse() error = bad, wantErr true", "bad", "true"},
		{"Parse() returned 1, expected 2", "1", "2"},
		{"len is 1, want 2", "1", "2"},
		{`Range 2 - 3 rewritten as ">= 2" instead of expected ">= 3"`, `">= 2"`, `">= 3"`},
		{"Glob(`a - b`) = [1] - should have been [2]", "[1]", "[2]"},
		{"Len() = 1, should be 2", "1", "2"},
		{"(got 1, want 2)", "1", "2"},
		{"f(x) [got 1, want f(2)]", "1", "f(2)"},
		{`got "a, want b", want "c"`, `"a, want b"`, `"c"`},
		{`expected "got nothing", got "x"`, `"x"`, `"got nothing"`},
		{"expected error, got nil", "nil", "error"},
		{"expected error but got nil", "nil", "error"},
		{"got error bad thing, want nil", "error bad thing", "nil"},
		{"unexpected result: got [1 2], want [1 3]", "[1 2]", "[1 3]"},
		{"got  [1 2]\nwant [1 3]", "[1 2]", "[1 3]"},
		{"\ngot:  1\nwant: 2", "1", "2"},
		{"\n got: 1\nwant: 2", "1", "2"},
		{"Boxes():\n  got  = 1\n  want = 2", "1", "2"},
		{"got:\n  a\n  b\nwant:\n  a\n  c\n", "a\nb", "a\nc"},
		{"expected:\n2\nactual:\n1", "1", "2"},
		{"... obtained int = 1\n... expected int = 2", "1", "2"},
		{"diff (-want +got):\n  x\n- a\n+ b\n", "b", "a"},
		{"diff (-got +want):\n  x\n- a\n+ b\n", "a", "b"},
		{"(- want, + got)\n- a\n+ b", "b", "a"},
		{"(-expected +actual):\n  {\n-\u00a0\t1,\n+\u00a0\t2,\n  }", "2", "1"},
		{"--- want\n+++ got\n@@ -1 +1 @@\n-a\n+b", "b", "a"},
		{"assertion failed: 1 (got int) != 2 (want int): why", "1", "2"},
		{"a != b // told apart", "a", "b"},
		{"Expected\n    <int>: 1\nto equal\n    <int>: 2", "<int>: 1", "<int>: 2"},
		{"Expected\n    <bool>: false\nto be true", "<bool>: false", "to be true"},
		{"\n\tError Trace:\t/tree/a_test.go:1\n\tError:      \tNot equal: \n\t            \texpected: 1\n\t            \tactual  : 2\n\tTest:       \tTestA\n", "2", "1"},
		{"\n\tError Trace:\ta_test.go:1\n\tError:\t\tNot equal: \n\t\t\texpected: 1\n\t\t\treceived: 2\n", "2", "1"},
		{"\n\tError Trace:\ta.go:1\n\tError:      \tShould be false\n", "true", "false"},

		{"boom", "", ""},
		{"unexpected error: bad", "", ""},
		{"we got here", "", ""},
		{"gotten wanton", "", ""},
		{"", "", ""},
		{"diff:\n- a\n+ b", "", ""},
	} {
		if got, want := gotWant(tt.text); got != tt.got || want != tt.want {
			t.Errorf("gotWant(%q) = %q, %q; want %q, %q", tt.text, got, want, tt.got, tt.want)
		}
	}
}

// Values stay bounded and the time linear, whatever the text.
func TestGotWantIsBounded(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("got want ", 1<<16), strings.Repeat(`"`, 1<<20), strings.Repeat("`\"\\", 1<<18),
		strings.Repeat(" = ", 1<<18) + ", want 1", strings.Repeat("got:\n", 1<<16), strings.Repeat("-a\n+b\n", 1<<16) + "(-want +got)\n",
	} {
		if got, want := gotWant(s); len(got)+len(want) > 8*maxMessage {
			t.Errorf("gotWant(%.20q…) is %d and %d bytes", s, len(got), len(want))
		}
	}
}
