package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// The paths that are answered, by ecosystem. Whatever matches none of them is refused.
var (
	// https://go.dev/ref/mod#goproxy-protocol
	goModule = regexp.MustCompile(`^/go/([A-Za-z0-9!~._/-]+/(?:@latest|@v/(?:list|[A-Za-z0-9!~.+_-]+\.(?:info|mod|zip))))$`)
	goSum    = regexp.MustCompile(`^/go/sumdb/([a-z0-9.-]+)/(supported|latest|lookup/[A-Za-z0-9!~._/@+-]+|tile/[0-9a-z./]+)$`)
	// https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md
	npmFile    = regexp.MustCompile(`^/npm/((?:@[A-Za-z0-9~._-]+/)?[A-Za-z0-9~._][A-Za-z0-9~._-]*/-/(?:@[A-Za-z0-9~._-]+/)?[A-Za-z0-9~._+-]+\.tgz)$`)
	npmPackage = regexp.MustCompile(`^/npm/((?:@[A-Za-z0-9~._-]+/)?[A-Za-z0-9~._][A-Za-z0-9~._-]*)(/[A-Za-z0-9.+_-]+)?$`)
	// https://packaging.python.org/en/latest/specifications/simple-repository-api/
	pypiProject = regexp.MustCompile(`^/pypi/simple/([A-Za-z0-9._-]+)/?$`)
	// https://doc.rust-lang.org/cargo/reference/registry-index.html
	crateIndex = regexp.MustCompile(`^/crates/((?:[12]|3/[a-z0-9_-]|[a-z0-9_-]{2}/[a-z0-9_-]{2})/[a-z0-9_-]{1,64})$`)
	crateFile  = regexp.MustCompile(`^/crates/dl/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9.+-]{1,100})/download$`)
	// Files that an index page links to, at hosts of the same ecosystem.
	linked = regexp.MustCompile(`^/f/(npm|pypi)/([A-Za-z0-9.:-]+)(/.+)$`)
)

const binary = "application/octet-stream"

// route finds what is asked for.
func (x *exchange) route() {
	up := x.p.upstream
	if m := goModule.FindStringSubmatch(x.path); m != nil && !strings.HasPrefix(m[1], "sumdb/") {
		x.file(up["go"], up["go"].at(m[1]), binary)
	} else if m := goSum.FindStringSubmatch(x.path); m != nil {
		x.checksum(m[1], m[2])
	} else if m := npmFile.FindStringSubmatch(x.path); m != nil {
		x.file(up["npm"], up["npm"].at(m[1]), binary)
	} else if m := npmPackage.FindStringSubmatch(x.path); m != nil {
		x.packument(m[1], m[2])
	} else if m := pypiProject.FindStringSubmatch(x.path); m != nil {
		x.project(m[1])
	} else if x.path == "/crates/config.json" {
		x.give("application/json", []byte(fmt.Sprintf(`{"dl":%q}`, x.p.here("/crates/dl/{crate}/{version}/download"))))
	} else if m := crateIndex.FindStringSubmatch(x.path); m != nil {
		x.file(up["crates"], up["crates"].at(m[1]), "text/plain")
	} else if m := crateFile.FindStringSubmatch(x.path); m != nil {
		x.crate(m[1], m[2])
	} else if m := linked.FindStringSubmatch(x.path); m != nil {
		x.file(up[m[1]], &url.URL{Scheme: "https", Host: m[2], Path: m[3]}, binary)
	} else {
		x.refuse(http.StatusNotFound, "no registry has such a path")
	}
}

// at is an address below an upstream's base.
func (u *upstream) at(rest string) *url.URL {
	to := *u.base
	to.Path += rest
	return &to
}

// here is an address of ours as the command sees it.
func (p *Proxy) here(path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", p.opt.Port, path)
}

// checksum answers for Go's checksum database: through the module proxy where that serves it, else from the database itself.
// Its answers are signed, so that it does not matter who carries them.
func (x *exchange) checksum(name, what string) {
	u := x.p.upstream["go"]
	if name != checksums {
		x.refuse(http.StatusNotFound, "no such checksum database")
		return
	}
	to := u.at("sumdb/" + name + "/" + what)
	if !x.sumThere() {
		to = &url.URL{Scheme: "https", Host: checksums, Path: "/" + what}
		if !permitted(to, u.hosts) {
			x.refuse(http.StatusNotFound, "the upstream of Go modules serves no checksum database")
			return
		}
		if what == "supported" {
			x.give("text/plain", nil)
			return
		}
	}
	x.file(u, to, binary)
}

// sumThere asks the module proxy once whether it serves the checksum database.
func (x *exchange) sumThere() bool {
	x.p.mu.Lock()
	known := x.p.sum
	x.p.mu.Unlock()
	if known != nil {
		return *known
	}
	u := x.p.upstream["go"]
	a, err := x.ask(u, u.at("sumdb/"+checksums+"/supported"), "", "identity")
	if err != nil {
		return false
	}
	a.body.Close()
	there := a.status == http.StatusOK
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.p.sum = &there
	return there
}

// crate finds where the index says that its files are.
func (x *exchange) crate(name, version string) {
	u := x.p.upstream["crates"]
	dl, err := x.crateFiles(u)
	if err != nil {
		x.failed(err)
		return
	}
	if !strings.Contains(dl, "{crate}") && !strings.Contains(dl, "{version}") {
		dl += "/{crate}/{version}/download"
	}
	low := strings.ToLower(name)
	dl = strings.NewReplacer("{crate}", name, "{version}", url.PathEscape(version), "{prefix}", prefix(name), "{lowerprefix}", prefix(low)).Replace(dl)
	to, err := url.Parse(dl)
	if err != nil || strings.ContainsAny(dl, "{}") {
		x.failed(refusal("the index says that files are at " + clip(dl, 200)))
		return
	}
	x.file(u, to, binary)
}

// crateFiles is the template of the index's config.json, read once.
func (x *exchange) crateFiles(u *upstream) (string, error) {
	x.p.mu.Lock()
	dl := x.p.dl
	x.p.mu.Unlock()
	if dl != "" {
		return dl, nil
	}
	a, b, err := x.page(u, u.at("config.json"), "application/json")
	if err != nil {
		return "", err
	}
	var config struct{ DL string }
	if a.status != http.StatusOK || json.Unmarshal(b, &config) != nil || config.DL == "" {
		return "", refusal("the index has no config.json that says where files are")
	}
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.p.dl = config.DL
	return config.DL, nil
}

// prefix is the folder of a crate in an index.
func prefix(name string) string {
	switch len(name) {
	case 1, 2:
		return fmt.Sprint(len(name))
	case 3:
		return "3/" + name[:1]
	}
	return name[:2] + "/" + name[2:4]
}

// packument answers for an npm package, or for one version of it: files are asked of us.
func (x *exchange) packument(name, version string) {
	u := x.p.upstream["npm"]
	to := u.at(name + version)
	if strings.HasPrefix(name, "@") {
		to.RawPath = u.base.EscapedPath() + strings.Replace(name, "/", "%2f", 1) + version
	}
	accept := "application/json"
	if strings.Contains(x.r.Header.Get("Accept"), npmShort) {
		accept = npmShort + "; q=1.0, application/json; q=0.8"
	}
	a, b, err := x.page(u, to, accept)
	if err == nil && a.status == http.StatusOK {
		b, err = x.p.rewritePackument(b, a.url)
	}
	switch {
	case err != nil:
		x.failed(err)
	case a.status != http.StatusOK:
		x.passed(a)
	case strings.HasPrefix(a.kind, npmShort):
		x.give(npmShort, b)
	default:
		x.give("application/json", b)
	}
}

const npmShort = "application/vnd.npm.install-v1+json"

// object is a JSON object whose values are kept as they are.
type object = map[string]json.RawMessage

// rewritePackument lets every tarball be asked of us. Integrity hashes stay as they are.
func (p *Proxy) rewritePackument(b []byte, page *url.URL) ([]byte, error) {
	var doc object
	if json.Unmarshal(b, &doc) != nil || doc == nil {
		return nil, refusal("the package's page is no JSON object")
	}
	if raw, ok := doc["versions"]; ok {
		var versions map[string]object
		if json.Unmarshal(raw, &versions) != nil {
			return nil, refusal("the package's versions are no JSON objects")
		}
		for _, v := range versions {
			p.rewriteDist(v, page)
		}
		doc["versions"] = marshal(versions)
	}
	p.rewriteDist(doc, page)
	return marshal(doc), nil
}

func (p *Proxy) rewriteDist(version object, page *url.URL) {
	var dist object
	var tarball string
	if json.Unmarshal(version["dist"], &dist) != nil || json.Unmarshal(dist["tarball"], &tarball) != nil {
		return
	}
	dist["tarball"] = marshal(p.link("npm", tarball, page))
	version["dist"] = marshal(dist)
}

// marshal is JSON with no HTML in mind.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // of values that came from JSON: cannot be
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// link is the address under which we answer for a link of a page. One to another host stays what it is: it leads nowhere.
func (p *Proxy) link(eco, target string, page *url.URL) string {
	to, err := page.Parse(target)
	if err != nil || !permitted(to, p.upstream[eco].hosts) || to.RawQuery != "" || !plain(to.Path) {
		return target
	}
	out := url.URL{Path: "/f/" + eco + "/" + hostOf(to) + to.Path, Fragment: to.Fragment}
	return p.here(out.String())
}

// wantsJSON says which form of a PyPI page a client asks for.
func wantsJSON(accept string) bool {
	return slices.ContainsFunc(strings.Split(accept, ","), func(a string) bool {
		kind, _, _ := strings.Cut(strings.TrimSpace(a), ";")
		return kind == pypiJSON
	})
}

const pypiJSON = "application/vnd.pypi.simple.v1+json"
