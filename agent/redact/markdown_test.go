package redact

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

func TestMarkdown(t *testing.T) {
	c := New()
	for in, want := range map[string]string{
		"plain words, a & b, 3 * 4":    "plain words, a & b, 3 * 4",
		"snake_case and C:\\dir":       "snake_case and C:\\dir",
		"thanks @user.":                "thanks `@user`.",
		"fixes #12, closes o/r#3":      "fixes `#12`, closes `o/r#3`",
		"resolves GH-7":                "resolves `GH-7`",
		"(see https://x.y/z?a=1&b=2)":  "(see `https://x.y/z?a=1&b=2`)",
		"www.evil.com me@evil.com":     "`www.evil.com` `me@evil.com`",
		"<!-- hidden --></details><b>": "&lt;!-- hidden --&gt;&lt;/details&gt;&lt;b&gt;",
		"[a](http://b) ![c](d)":        "\\[a\\](`http://b`) !\\[c\\](d)",
		"&#64;user &commat;user &amp;": "`&#64;user` &amp;commat;user &amp;",
		"\\@user \\#12":                "\\\\`@user` \\\\`#12`",
		"```go\nx\n```":                "\\`\\`\\`go\nx\n\\`\\`\\`",
		"# Proof\n- # Proof\n---\n===": "\\# Proof\n- \\# Proof\n\\---\n\\===",
		"| a | b |\n|---|---|":         "\\| a \\| b \\|\n\\|---\\|---\\|",
		"/merge\n  /lgtm cancel\na/b":  "\\/merge\n  \\/lgtm cancel\na/b",
		"**bold** __init__ ~~x~~ $x$":  "\\*\\*bold\\*\\* \\_\\_init\\_\\_ \\~\\~x\\~\\~ \\$x\\$",
		"`@user` stays, `x` does not":  "`@user` stays, \\`x\\` does not",
		"@\u200buser":                  "`@user`",
		"ends with \\":                 "ends with \\\\",
	} {
		if got := c.Markdown(in); got != want {
			t.Errorf("Markdown(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

var github = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// mention and reference are what GitHub looks for in rendered text that is not code.
var (
	mention   = regexp.MustCompile(`@[A-Za-z0-9]`)
	reference = regexp.MustCompile(`#[0-9]|(?i:\bgh-[0-9])`)
)

// alive renders a text as another program understands Markdown, and says what of it is live; empty if nothing.
func alive(md string) string {
	source := []byte(md)
	problem := ""
	doc := github.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.CodeSpan, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.FencedCodeBlock, *ast.Heading,
			*ast.Emphasis, *ast.Blockquote, *ast.ThematicBreak, *xast.Table, *xast.Strikethrough, *xast.Footnote, *xast.TaskCheckBox:
			problem = n.Kind().String()
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	if problem != "" {
		return problem
	}
	var out bytes.Buffer
	if err := github.Convert(source, &out); err != nil {
		return err.Error()
	}
	prose := regexp.MustCompile(`(?s)<code>.*?</code>`).ReplaceAllString(out.String(), "<code>")
	for _, node := range strings.FieldsFunc(unescape(prose), func(r rune) bool { return r == 0 }) {
		if m := mention.FindString(node) + reference.FindString(node); m != "" {
			return "rendered text " + node
		}
	}
	return ""
}

// unescape gives the text nodes of rendered HTML, apart by NUL.
func unescape(s string) string {
	s = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s, "\x00")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(s)
}

// TestNothingLives renders what Markdown gives of hostile texts, and looks for anything live.
func TestNothingLives(t *testing.T) {
	if alive("hi @user") == "" || alive("[x](http://y)") == "" || alive("a\n===") == "" || alive("&#64;user") == "" || alive("`@user` #a") != "" {
		t.Fatal("the test cannot tell live from dead")
	}
	bits := []string{"@user", "@", "user", "#12", "#", "12", "gh-", "7", "`", "``", "```", "\\", "\\\\", "<", "<b>", "</details>", "<!--", "-->", ">", "&",
		"&lt;", "&amp;", "#64;", "&#64;", "&commat;", "*", "**", "_", "__", "[", "]", "](", "(", ")", "!", "http://x.y", "://", "www.", "x.y", "\n", "\n\n", " ", "    ", "\t",
		"|", "|-|", "~", "~~", "# ", "-", "- ", "---", "===", "=", "1. ", "+ ", "/merge", "a", "b ", ":", ":-:", "$", "$`", "mailto:", "me@x.yz", "[^1]", "[x]: y", ".", ",", "'", "\"", "{", "\u200b", "é"}
	c := New()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		for range 1 + r.IntN(16) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		in := b.String()
		out := c.Markdown(in)
		if m := alive(out); m != "" {
			t.Fatalf("seed %d: Markdown(%q) = %q is live: %s", seed, in, out, m)
		}
		if again := c.Markdown(out); again != out {
			t.Fatalf("seed %d: not idempotent: %q, %q, %q", seed, in, out, again)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("fixes #12 `@user` \\`<b>\n# x\n[a](b)")
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 4096 {
			t.Skip()
		}
		if out := New().Markdown(in); alive(out) != "" {
			t.Fatalf("Markdown(%q) = %q is live: %s", in, out, alive(out))
		}
	})
}
