package githubtest

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

//go:embed page.html
var pageText string

var pageForm = template.Must(template.New("page").Parse(pageText))

// markdown shows texts as GitHub does: GitHub's Markdown, with the few elements of HTML that a body may hold. What those
// could do besides is kept from happening by the page's policy, which lets nothing but its own style in.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// pagePolicy lets a page hold text and its own style, and nothing else: bodies are anybody's text.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// shown is what a page shows.
type shown struct {
	Title, Repo, Kind, State, By, Head, Base string
	Number                                   int
	Body                                     template.HTML
	Comments                                 []shownComment
	Checks                                   []Check
}

type shownComment struct {
	By   string
	Body template.HTML
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
	if err := pageForm.Execute(&b, v); err != nil {
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

func rendered(text string) template.HTML {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return template.HTML(fmt.Sprintf("<pre>%s</pre>", template.HTMLEscapeString(text)))
	}
	return template.HTML(b.String())
}
