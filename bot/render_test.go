package bot

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var github = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

var (
	// mention and reference are what GitHub looks for in rendered text that is not code.
	mention   = regexp.MustCompile(`@[A-Za-z0-9]`)
	reference = regexp.MustCompile(`(?i)[a-z0-9/.-]*#[0-9]+|\bgh-[0-9]+`)
	ourHTML   = regexp.MustCompile(`^(?:</?details>|<summary>[A-Za-z0-9 ,]+</summary>|<!-- redraft:[a-z]+=[A-Za-z0-9/._:%-]+ -->|\s)*$`)
	codeTag   = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	anyTag    = regexp.MustCompile(`<[^>]*>`)
)

// alive says what in a text another program than ours finds live, besides what is ours; empty if nothing.
func alive(t *testing.T, md string) (found []string) {
	t.Helper()
	source := []byte(md)
	doc := github.Parser().Parse(text.NewReader(source))
	raw := func(lines *text.Segments) string { return string(lines.Value(source)) }
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			found = append(found, "image "+string(n.Destination))
		case *ast.Link:
			if d := string(n.Destination); d != redRun {
				found = append(found, "link to "+d)
			}
		case *ast.AutoLink:
			found = append(found, "address "+string(n.URL(source)))
		case *ast.HTMLBlock:
			h := raw(n.Lines())
			if n.HasClosure() {
				h += string(n.ClosureLine.Value(source))
			}
			if !ourHTML.MatchString(h) {
				found = append(found, "HTML "+h)
			}
		case *ast.RawHTML:
			found = append(found, "inline HTML "+raw(n.Segments))
		case *ast.Heading:
			if h := string(n.Lines().Value(source)); !headings[h] {
				found = append(found, "heading "+h)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(found, readable(t, source)...)
}

var headings = map[string]bool{"Problem": true, "Cause": true, "Change": true, "Proof": true, "Not determined": true, "Not touched": true,
	"How it was made": true, "What you can say": true, "For a person to check": true}

// readable looks for mentions and references in what a reader sees outside code.
func readable(t *testing.T, source []byte) (found []string) {
	var out bytes.Buffer
	if err := github.Convert(source, &out); err != nil {
		t.Fatal(err)
	}
	seen := html.UnescapeString(anyTag.ReplaceAllString(codeTag.ReplaceAllString(out.String(), "<code>"), "\x00"))
	if m := mention.FindString(seen); m != "" {
		found = append(found, "mention "+m)
	}
	for _, m := range reference.FindAllString(seen, -1) {
		if m != "#7" && m != "#12" && m != "#31" { // the job's own pull request, issue and draft
			found = append(found, "reference "+m)
		}
	}
	return found
}

// unclean says what no text of ours may hold.
func unclean(s string) (found []string) {
	if !utf8.ValidString(s) {
		found = append(found, "bytes that are no UTF-8")
	}
	for _, r := range s {
		if unicode.Is(unicode.Cf, r) || r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			found = append(found, fmt.Sprintf("character %U", r))
			break
		}
	}
	if strings.Contains(s, token) {
		found = append(found, "a token")
	}
	if a, b := strings.Count(s, "<details>"), strings.Count(s, "</details>"); a != b {
		found = append(found, fmt.Sprintf("%d details that begin and %d that end", a, b))
	}
	return found
}

// templateText is what a repository's own template brings, which may hold what no other text may.
const templateText = "\n---\n\n## "

// TestAlive: the test above can fail.
func TestAlive(t *testing.T) {
	for md, want := range map[string]string{
		"![a](https://x.example/y)":           "image",
		"[a](https://x.example/y)":            "link",
		"see https://x.example/y":             "address",
		"a <b>c</b>":                          "inline HTML",
		"<script>\nx\n</script>":              "HTML",
		"<details>\n<summary><b>x</summary>":  "HTML",
		"<!-- redraft:key=a\nb -->":           "HTML",
		"thanks @octocat":                     "mention",
		"fixes #99":                           "reference",
		"fixes o/r#12":                        "reference",
		"### Merged":                          "heading",
		"`@octocat #99 <b>` and @ 99 and #12": "",
	} {
		if got := strings.Join(alive(t, md), "; "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: got %q, want %q", md, got, want)
		}
	}
	for _, s := range []string{"a\u202eb", "a\x1b[31m", "a\xff", "<details>", token} {
		if len(unclean(s)) == 0 {
			t.Errorf("%q passes for clean", s)
		}
	}
}

// rendered is a text as HTML.
func rendered(t *testing.T, md string) string {
	t.Helper()
	var out bytes.Buffer
	if err := github.Convert([]byte(md), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
