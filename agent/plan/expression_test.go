package plan

import (
	"errors"
	"strings"
	"testing"
)

func worldOfExpressions() scope {
	matrix := newObject()
	matrix.set("os", "ubuntu-latest")
	matrix.set("node", 20.0)
	matrix.set("py", 3.10)
	matrix.set("flag", false)
	nested := newObject()
	nested.set("name", "deep")
	matrix.set("list", []any{"a", "b", nested})
	gh := newObject()
	gh.set("ref", "refs/heads/Main")
	return scope{"matrix": matrix, "github": open{gh, "github"}, "env": newObject(), "inputs": newObject()}
}

// The values are those of GitHub's own evaluator:
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
func TestExpressions(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"matrix.os", "ubuntu-latest"},
		{"matrix.OS", "ubuntu-latest"},
		{"matrix['os']", "ubuntu-latest"},
		{"matrix.node", "20"},
		{"matrix.py", "3.1"},
		{"matrix.none", ""},
		{"matrix.none.deeper", ""},
		{"matrix.list[1]", "b"},
		{"matrix.list[9]", ""},
		{"matrix.list[2].name", "deep"},
		{"join(matrix.list.*.name, '|')", "deep"},
		{"join(fromJSON('[1,true,null,\"x\"]'), '-')", "1-true--x"},
		{"join('x')", "x"},
		{"matrix.flag", "false"},
		{"!matrix.flag", "true"},
		{"!''", "true"},
		{"'it''s'", "it's"},
		{"0x10", "16"},
		{"-1.5", "-1.5"},
		{"1e3", "1000"},
		{"null", ""},
		{"'a' == 'A'", "true"},
		{"'1' == 1", "true"},
		{"'' == 0", "true"},
		{"'x' == 0", "false"},
		{"null == 0", "true"},
		{"true == 1", "true"},
		{"fromJSON('{}') == fromJSON('{}')", "false"},
		{"'x' < 1", "false"},
		{"2 > 1 && 1 >= 1 && 0 < 1 && 1 <= 1 && 1 != 2", "true"},
		{"matrix.flag && 'yes' || 'no'", "no"},
		{"false && secrets.TOKEN", "false"},
		{"matrix.os || secrets.TOKEN", "ubuntu-latest"},
		{"contains('Hello', 'ELL')", "true"},
		{"contains(fromJSON('[\"a\",\"B\"]'), 'b')", "true"},
		{"contains(fromJSON('[\"a\"]'), 'ab')", "false"},
		{"startsWith(github.ref, 'refs/heads/main')", "true"},
		{"endsWith(github.ref, 'x')", "false"},
		{"format('{0}-{1}-{{x}}', matrix.os, 1)", "ubuntu-latest-1-{x}"},
		{"fromJSON('{\"b\":1,\"a\":[2]}').a[0]", "2"},
		{"toJSON(fromJSON('{\"b\":1,\"a\":[]}'))", "{\n  \"b\": 1,\n  \"a\": []\n}"},
		{"always() && success()", "true"},
		{"env.NOPE", ""},
		{"inputs.nope", ""},
	} {
		got, err := worldOfExpressions().text("<${{ " + tt.in + " }}>")
		if err != nil || got != "<"+tt.want+">" {
			t.Errorf("%s = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

// What only a run knows is named, and never guessed.
func TestUnknownExpressions(t *testing.T) {
	for _, tt := range []struct{ in, asks string }{
		{"secrets.TOKEN", "secrets.token"},
		{"secrets.TOKEN || 'x'", "secrets.token"},
		{"steps.a.outputs.b", "steps.a.outputs.b"},
		{"needs.x.result == 'success'", "needs.x.result"},
		{"vars.X", "vars.x"},
		{"github.head_ref", "github.head_ref"},
		{"github.event.issue.title", "github.event.issue.title"},
		{"toJSON(github)", "github"},
		{"hashFiles('**/go.sum')", "hashFiles()"},
		{"failure()", "failure()"},
		{"nosuch(1)", "nosuch()"},
		{"format('{3}', 1)", "a format without its argument"},
		{"fromJSON('{')", "fromJSON of what is no JSON"},
		{"job.status", "job.status"},
	} {
		_, err := worldOfExpressions().text("${{ " + tt.in + " }}")
		var u *Unplanned
		if !errors.As(err, &u) || u.Reason != BadExpression || u.What != tt.in || u.Asks != tt.asks {
			t.Errorf("%s: %+v, want an unknown %s", tt.in, u, tt.asks)
		}
	}
	for _, in := range []string{"${{ a +", "${{ + }}", "${{ }}", "${{ matrix.list }} x", strings.Repeat("x${{ (((", 3), "${{ " + strings.Repeat("(", 5000) + " }}"} {
		_, err := worldOfExpressions().text(in)
		var u *Unplanned
		if !errors.As(err, &u) || u.Text == "" || len(u.Text) > 500 {
			t.Errorf("%.20s: %v, want a reason", in, err)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"matrix.os", "contains(matrix.list.*.name, 'a') && !env.X || format('{0}', 1e9)", "fromJSON('[1,{\"a\":null}]')[1].a", "'}}'", "secrets.X"} {
		f.Add("a ${{ " + s + " }} b")
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := worldOfExpressions().text(s)
		var u *Unplanned
		if err != nil && (!errors.As(err, &u) || len(u.Text) > 1000) {
			t.Errorf("%q: %v is no reason", s, err)
		}
		if err == nil && !strings.Contains(s, "${{") && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
