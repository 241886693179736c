package patch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
)

// fenced makes an edit the way a model is asked to write it.
func fenced(header, body string) string { return header + "\n```go\n" + body + "```\n" }

func TestParse(t *testing.T) {
	const body = "func F() {}\n"
	one := func(addr string, line int) patch.Set {
		return patch.Set{{File: "a.go", Addr: addr, Body: []byte(body), Line: line}}
	}
	for _, tt := range []struct {
		name, answer string
		want         patch.Set
		codes        string
	}{
		{"above the fence", fenced("# edit: a.go :: F", body), one("F", 1), ""},
		{"first line in the fence", "Sure!\n\n```go\n# edit: a.go :: F\n" + body + "```\n", one("F", 4), ""},
		{"both", "# edit: a.go :: F\n```\n// edit: a.go :: F\n" + body + "```\n", one("F", 3), ""},
		{"slashes", fenced("// edit: a.go :: F", body), one("F", 1), ""},
		{"dashes", fenced("-- edit: a.go :: F", body), one("F", 1), ""},
		{"comment of HTML", fenced("<!-- edit: a.go :: F -->", body), one("F", 1), ""},
		{"comment of C", fenced("/* edit: a.go :: * */", body), one("*", 1), ""},
		{"bold", fenced("**edit: a.go :: F**", body), one("F", 1), ""},
		{"bold and whole", fenced("**edit: a.go :: ***", body), one("*", 1), ""},
		{"heading and code", fenced("### `edit: a.go :: F`", body), one("F", 1), ""},
		{"no comment sign", fenced("Edit: a.go :: F", body), one("F", 1), ""},
		{"no spaces", fenced("#edit:a.go::F", body), one("F", 1), ""},
		{"quoted parts", fenced("# edit: `a.go` :: `F`", body), one("F", 1), ""},
		{"remark behind", fenced("# edit: a.go :: F (off by one)", body), one("F", 1), ""},
		{"blank line between", "# edit: a.go :: F\n\n\n```go\n" + body + "```", one("F", 1), ""},
		{"words between", "# edit: a.go :: F\nHere it is:\n```go\n" + body + "```", one("F", 1), ""},
		{"four backticks", "# edit: a.go :: F\n````\n" + body + "````\n", one("F", 1), ""},
		{"tildes", "# edit: a.go :: F\n~~~ go\n" + body + "~~~~\n", one("F", 1), ""},
		{"CRLF", strings.ReplaceAll(fenced("# edit: a.go :: F", body), "\n", "\r\n"), one("F", 1), ""},
		{"in a list", "1. Do:\n   # edit: a.go :: F\n   ```go\n   func F() {}\n   ```\n", one("F", 2), ""},
		{"same twice", fenced("# edit: a.go :: F", body) + fenced("# edit: a.go :: F", body), one("F", 1), ""},
		{"thoughts", "<think>\n" + fenced("# edit: a.go :: G", body) + "</think>\n" + fenced("# edit: a.go :: F", body), one("F", 7), ""},
		{"prose fence before", "```\n$ go test\n```\n" + fenced("# edit: a.go :: F", body), one("F", 4), ""},
		{"open fence before", "```\n" + "text\n" + "# edit: a.go :: F\n~~~\n" + body + "~~~\n", one("F", 3), ""},

		{"receiver", fenced("# edit: a.go :: (*T).F", body), one("T.F", 1), ""},
		{"call", fenced("# edit: a.go :: F()", body), one("F", 1), ""},
		{"keyword", fenced("# edit: a.go :: func F", body), one("F", 1), ""},
		{"type parameters", fenced("# edit: a.go :: T[K].F", body), one("T.F", 1), ""},
		{"lines", fenced("# edit: a.go :: L3-L9", body), one("L3-L9", 1), ""},
		{"lines without the second L", fenced("# edit: a.go :: L3-9", body), one("L3-L9", 1), ""},
		{"lines with spaces", fenced("# edit: a.go :: L3 - L9", body), one("L3-L9", 1), ""},
		{"one line", fenced("# edit: a.go :: L3", body), one("L3", 1), ""},
		{"insert", fenced("# edit: a.go :: +L3", body), one("+L3", 1), ""},
		{"create", fenced("# edit: a.go :: +F", body), one("+F", 1), ""},
		{"create a method", fenced("# edit: a.go :: T.+F", body), one("+T.F", 1), ""},
		{"create a method, other way", fenced("# edit: a.go :: +T.F", body), one("+T.F", 1), ""},

		{"empty answer", "", nil, "no_edit"},
		{"prose", "I would change F.\n\n```go\nfunc F() {}\n```\n", nil, "no_edit"},
		{"thoughts without end", "<think>\n" + fenced("# edit: a.go :: G", body), nil, "no_edit"},
		{"not closed", "# edit: a.go :: F\n```go\n" + body, nil, "unclosed"},
		{"not closed, header inside", "```go\n# edit: a.go :: F\n" + body, nil, "unclosed"},
		{"closed too short", "# edit: a.go :: F\n````go\n" + body + "```\n", nil, "unclosed"},
		{"no address", fenced("# edit: a.go", body), nil, "bad_header"},
		{"bad address", fenced("# edit: a.go :: a-b", body), nil, "bad_header"},
		{"no file", fenced("# edit: :: F", body), nil, "bad_header"},
		{"no fence", "# edit: a.go :: F\n" + body, nil, "no_body"},
		{"two in a fence", fenced("# edit: a.go :: F", body+"// edit: a.go :: G\nfunc G() {}\n"), nil, "bad_header"},
		{"two headers", "# edit: b.go :: F\n```go\n# edit: a.go :: F\n" + body + "```\n", one("F", 3), "no_body"},
		{"far from its fence", "# edit: a.go :: F\nx\ny\nz\nw\n```\n" + body + "```\n", nil, "no_body"},
		{"too long", strings.Repeat("x", 1<<20+1), nil, "limits"},
		{"one good, one cut off", fenced("# edit: a.go :: F", body) + "# edit: a.go :: G\n```go\nfunc G", one("F", 1), "unclosed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, slips := patch.Parse(tt.answer)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if codes := codesOf(slips); codes != tt.codes {
				t.Errorf("slips %q, want %q: %v", codes, tt.codes, slips)
			}
		})
	}
}

func codesOf(slips []*patch.Slip) string {
	var codes []string
	for _, s := range slips {
		codes = append(codes, s.Code)
	}
	return strings.Join(codes, " ")
}

func TestParseKeepsBodies(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"shorter fence inside", "# edit: a.md :: *\n````\n```go\nx\n```\n````\n", "```go\nx\n```\n"},
		{"edit inside a longer fence", "# edit: a.md :: *\n````\n# edit: b.go :: F\n````\n", "# edit: b.go :: F\n"},
		{"empty", "# edit: a.md :: L1\n```\n```\n", ""},
		{"blank line", "# edit: a.md :: L1\n```\n\n```\n", "\n"},
		{"white space", "# edit: a.md :: L1\n```\n  x \t\n\t\n```\n", "  x \t\n\t\n"},
		{"invalid UTF-8", "# edit: a.md :: L1\n```\n\xff\xfe\n```\n", "\xff\xfe\n"},
		{"CR of its own", "# edit: a.md :: L1\n```\na\r\nb\n```\n", "a\r\nb\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, slips := patch.Parse(tt.answer)
			if len(got) != 1 || got[0].File != "a.md" || string(got[0].Body) != tt.want {
				t.Errorf("got %+v %v, want %q", got, slips, tt.want)
			}
		})
	}
}

func TestParseFileNames(t *testing.T) {
	for _, name := range []string{"a b.go", "app/[id]/page.go", "@scope/x+y.go", "dir/ünï.go", "a:b.go", "x::y.go"} {
		got, slips := patch.Parse(fenced("# edit: "+name+" :: F", "x\n"))
		if len(got) != 1 || got[0].File != name || got[0].Addr != "F" {
			t.Errorf("%s: got %+v %v", name, got, slips)
		}
	}
}

func TestParseSearchReplace(t *testing.T) {
	block := "<<<<<<< SEARCH\na\nb\n=======\nc\n>>>>>>> REPLACE\n"
	want := patch.Edit{File: "dir/a.go", Addr: patch.Fit, Old: []byte("a\nb\n"), Body: []byte("c\n")}
	for name, answer := range map[string]string{
		"name above the fence":      "dir/a.go\n```go\n" + block + "```\n",
		"bold name above the fence": "**`dir/a.go`**:\n\n```go\n" + block + "```\n",
		"name in a sentence":        "Change dir/a.go like this:\n```go\n" + block + "```\n",
		"name in the fence":         "```go\ndir/a.go\n" + block + "```\n",
		"header":                    "# edit: dir/a.go :: *\n```go\n" + block + "```\n",
		"no fence":                  "dir/a.go\n" + block,
	} {
		t.Run(name, func(t *testing.T) {
			got, slips := patch.Parse(answer)
			if len(got) != 1 || len(slips) > 0 {
				t.Fatal(got, slips)
			}
			got[0].Line = 0
			if diff := cmp.Diff(want, got[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("two blocks", func(t *testing.T) {
		got, _ := patch.Parse("dir/a.go\n```\n" + block + "<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE\n```\n")
		if len(got) != 2 || string(got[1].Old) != "d\n" || len(got[1].Body) != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("new file", func(t *testing.T) {
		got, _ := patch.Parse("new.go\n```\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```\n")
		if len(got) != 1 || got[0].Addr != "*" || string(got[0].Body) != "x\n" {
			t.Errorf("%+v", got)
		}
	})
	for name, answer := range map[string]string{
		"unclosed":   "a.go\n```\n<<<<<<< SEARCH\na\n```\n",
		"unclosed 2": "a.go\n<<<<<<< SEARCH\na\n=======\nb\n",
		"bad_header": "```\n" + block + "```\n",
	} {
		if got, slips := patch.Parse(answer); len(got) > 0 || codesOf(slips) != strings.TrimSuffix(name, " 2") {
			t.Errorf("%s: %+v %v", name, got, slips)
		}
	}
}

func TestParseDiffFence(t *testing.T) {
	answer := "Fix:\n```diff\n--- a/x.go\n+++ b/x.go\n@@ -1,99 +7,3 @@ func F() {\n a\n-b\n+c\n\n@@ ... @@\n-d\n--- a/y.go\n+++ b/y.go\n+e\n f\n--- /dev/null\n+++ b/n.go\n@@ -0,0 +1 @@\n+package n\n```\n"
	got, slips := patch.Parse(answer)
	if len(slips) > 0 {
		t.Error(slips)
	}
	for i := range got {
		got[i].Line = 0
	}
	want := patch.Set{
		{File: "x.go", Addr: patch.Fit, Old: []byte("a\nb\n"), Body: []byte("a\nc\n")},
		{File: "x.go", Addr: patch.Fit, Old: []byte("d\n")},
		{File: "y.go", Addr: patch.Fit, Old: []byte("f\n"), Body: []byte("e\nf\n")},
		{File: "n.go", Addr: "*", Body: []byte("package n\n")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for answer, code := range map[string]string{
		"```diff\n-a\n+b\n```\n": "bad_header",
		"```diff\n--- a/x.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n```\n": "bad_diff",
		"```diff\nnothing\n```\n":                                      "no_edit",
	} {
		if got, slips := patch.Parse(answer); len(got) > 0 || codesOf(slips) != code {
			t.Errorf("%q: %+v %v, want %s", answer, got, slips, code)
		}
	}
	got, _ = patch.Parse("# edit: x.go :: F\n```diff\n-a\n+b\n```\n")
	if len(got) != 1 || got[0].File != "x.go" || got[0].Addr != patch.Fit {
		t.Errorf("%+v", got)
	}
}

func TestParseIsBounded(t *testing.T) {
	for name, answer := range map[string]string{
		"openers":  strings.Repeat("```go\n", 1<<15),
		"headers":  strings.Repeat("# edit: a :: b\n", 1<<13),
		"leaders":  strings.Repeat("*", 1<<20),
		"edits":    strings.Repeat("# edit: a :: b\n```\nx\n```\n", 5000),
		"searches": strings.Repeat("<<<<<<< SEARCH\n", 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			set, slips := patch.Parse(answer)
			if len(set) > 400 || len(slips) > 401 {
				t.Errorf("%d edits, %d slips", len(set), len(slips))
			}
		})
	}
}

// FuzzParse holds that whatever a model says is read without a panic, and that what is found can be found again.
func FuzzParse(f *testing.F) {
	f.Add(fenced("# edit: a.go :: F", "x\n"))
	f.Add("```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n")
	f.Add("a.go\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
	f.Add("<think>\n</think>\n~~~\n// edit: a :: L1-2\n\n~~~")
	f.Fuzz(func(t *testing.T, answer string) {
		set, slips := patch.Parse(answer)
		if len(set) == 0 && len(slips) == 0 {
			t.Fatal("neither an edit nor a slip")
		}
		for _, e := range set {
			if n := len(e.Body); e.File == "" || e.Addr == "" || e.Line < 1 || n > 0 && e.Body[n-1] != '\n' {
				t.Fatalf("%+v", e)
			}
			if (e.Addr == patch.Fit) != (e.Old != nil) {
				t.Fatalf("%+v", e)
			}
		}
		for _, s := range slips {
			if again, _ := patch.Parse(s.Error()); len(again) > 0 {
				t.Fatalf("the slip %q reads as an edit", s.Error())
			}
		}
	})
}
