package registry

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// project answers for one project of a Python index, in the form that the client can read.
func (x *exchange) project(name string) {
	u := x.p.upstream["pypi"]
	accept := "text/html"
	if wantsJSON(x.r.Header.Get("Accept")) {
		accept = pypiJSON + ", application/vnd.pypi.simple.v1+html; q=0.2, text/html; q=0.01"
	}
	a, b, err := x.page(u, u.at(name+"/"), accept)
	kind := "text/html; charset=utf-8"
	if err == nil && a.status == http.StatusOK {
		if strings.HasPrefix(a.kind, pypiJSON) {
			kind = pypiJSON
			b, err = x.p.rewriteFiles(b, a.url)
		} else {
			b = x.p.rewriteLinks(b, a.url)
		}
	}
	switch {
	case err != nil:
		x.failed(err)
	case a.status != http.StatusOK:
		x.passed(a)
	default:
		x.give(kind, b)
	}
}

// rewriteFiles lets every file of a JSON page be asked of us. Hashes stay as they are.
func (p *Proxy) rewriteFiles(b []byte, page *url.URL) ([]byte, error) {
	var doc object
	var files []object
	if json.Unmarshal(b, &doc) != nil || doc == nil || json.Unmarshal(doc["files"], &files) != nil {
		return nil, refusal("the project's page has no list of files")
	}
	for _, f := range files {
		var target string
		if json.Unmarshal(f["url"], &target) == nil {
			f["url"] = marshal(p.link("pypi", target, page))
		}
	}
	doc["files"] = marshal(files)
	return marshal(doc), nil
}

// kept are the attributes of a link that clients read.
// https://packaging.python.org/en/latest/specifications/simple-repository-api/#base-html-api
var kept = []string{"href", "data-requires-python", "data-dist-info-metadata", "data-core-metadata", "data-yanked", "data-gpg-sig"}

// rewriteLinks makes a page of the links alone, each to be asked of us, its hash kept in the fragment.
func (p *Proxy) rewriteLinks(b []byte, page *url.URL) []byte {
	var out bytes.Buffer
	out.WriteString("<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" content=\"1.0\"></head><body>\n")
	tokens, in := html.NewTokenizer(bytes.NewReader(b)), false
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		t := tokens.Token()
		switch {
		case kind == html.StartTagToken && t.Data == "a":
			in = true
			out.WriteString(p.anchor(t, page).String())
		case kind == html.EndTagToken && t.Data == "a" && in:
			in = false
			out.WriteString("</a><br>\n")
		case kind == html.TextToken && in:
			out.WriteString(html.EscapeString(t.Data))
		}
	}
	out.WriteString("</body></html>\n")
	return out.Bytes()
}

func (p *Proxy) anchor(t html.Token, page *url.URL) html.Token {
	var attrs []html.Attribute
	for _, a := range t.Attr {
		if !slices.Contains(kept, a.Key) {
			continue
		}
		if a.Key == "href" {
			a.Val = p.link("pypi", a.Val, page)
		}
		attrs = append(attrs, a)
	}
	t.Attr = attrs
	return t
}
