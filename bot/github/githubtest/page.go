package githubtest

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	stdhtml "html"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed page.css
var pageCSS string

// markdown shows texts as GitHub does: GitHub's Markdown, with the few elements of HTML that a body may hold. What those
// could do besides is kept from happening by the page's policy, which lets nothing but its own style in.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// pagePolicy lets a page hold text and its own style, and nothing else: bodies are anybody's text.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// shown is what a page shows.
type shown struct {
	Title, Repo, Kind, State, By, Head, Base string
	Number                                   int
	Body                                     string // HTML
	Comments                                 []shownComment
	Checks                                   []Check
}

type shownComment struct {
	By   string
	Body string // HTML
}

// show answers a browser at a pull request's or an issue's address: title and body as they read, checks, and who wrote
// what below.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || !slices.Contains([]string{"pull", "issues"}, parts[2]) {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	n, _ := strconv.Atoi(parts[3])
	v, ok := s.shown(parts[0], parts[1], n)
	if !ok {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	var b bytes.Buffer
	if err := v.node().Render(&b); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	_, _ = w.Write(b.Bytes())
}

// shown finds what there is to show of an issue or a pull request of a public repository.
func (s *Server) shown(owner, name string, n int) (v shown, ok bool) {
	s.mu.Lock()
	repo := s.names[fold(owner, name)]
	if repo == nil || repo.private || repo.issue(n) == nil {
		s.mu.Unlock()
		return v, false
	}
	is := repo.issue(n)
	v = shown{Title: is.title, Repo: repo.full(), Kind: "issue", State: is.state, By: is.author.login, Number: is.number, Body: rendered(is.body)}
	for _, k := range is.comments {
		v.Comments = append(v.Comments, shownComment{k.author.login, rendered(k.body)})
	}
	isPull := is.pull != nil
	s.mu.Unlock()
	if p, ok := repo.Pull(n); isPull && ok {
		v.Kind, v.Head, v.Base = "pull request", p.Head, p.Base
		if p.Draft {
			v.Kind = "draft pull request"
		}
		if p.Merged {
			v.State = "merged"
		}
		v.Checks = append(repo.Checks(p.HeadSHA), repo.Checks(p.BaseSHA)...)
	}
	return v, true
}

// node is the page of an issue or a pull request.
func (v shown) node() g.Node {
	return h.Doctype(h.HTML(h.Lang("en"), h.Head(
		h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.TitleEl(g.Text(v.Title+" · "+v.Repo)), h.StyleEl(g.Raw("\n"+pageCSS)),
	), h.Body(
		h.Header(
			h.H1(g.Text(v.Title+" "), h.Span(g.Textf("#%d", v.Number))),
			h.P(h.Class("soft"), h.Span(h.Class("tag"), g.Text(v.State)), g.Textf("%s in %s by %s", v.Kind, v.Repo, v.By),
				g.If(v.Head != "", g.Group{g.Text(": "), h.Code(g.Text(v.Head)), g.Text(" into "), h.Code(g.Text(v.Base))})),
		),
		h.Main(
			shownComment{v.By, v.Body}.node(), g.Map(v.Comments, shownComment.node),
			g.If(len(v.Checks) > 0, g.Group{h.H2(g.Text("Checks")), h.Ul(h.Class("checks"), g.Text("\n"), g.Map(v.Checks, checkNode))}),
		),
		h.Footer(g.Text("A stand-in for GitHub on this machine. Nothing here is on the internet.")),
	)))
}

func (c shownComment) node() g.Node {
	return h.Article(h.P(h.B(g.Text(c.By))), h.Div(g.Raw(c.Body)), g.Text("\n"))
}

func checkNode(c Check) g.Node {
	title := ""
	if c.Title != "" {
		title = ": " + c.Title
	}
	return h.Li(h.B(h.Class(c.Conclusion), g.Text(cmp.Or(c.Conclusion, c.Status))), g.Text(" "+c.Name+" "),
		h.Span(h.Class("soft"), g.Textf("on %.12s%s", c.SHA, title)), g.Text("\n"))
}

// rendered is a text's Markdown as HTML.
func rendered(text string) string {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return fmt.Sprintf("<pre>%s</pre>", stdhtml.EscapeString(text))
	}
	return b.String()
}
