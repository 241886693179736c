// Package openapi knows GitHub's own description of its API, as far as redraft calls it, and says what of a request, an answer
// or a webhook's payload does not fit. It leaves serving to githubtest and is linked into tests alone, since the validator
// is large. It knows more than the description in one way: a field or query parameter that the description does not name is
// wrong in a request, although the description's schemas let it pass.
package openapi

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed description.json.gz
var packed []byte

// Exceptions are what the description has wrong or does not know, each with its reason. Keys are as in Description.Calls, or
// an answer's status after one.
var Exceptions = map[string]string{
	"POST /repos/{owner}/{repo}/issues/{issue_number}/labels": "GitHub takes a bare array of names too, and go-github's AddLabelsToIssue sends one",
	"GET /app/installations 200":                              "it wants the account to be a user and an enterprise at once; judged as GET /app/installations/{installation_id}",
	"/repositories/{id}":                                      "GitHub redirects a renamed repository's calls there; they are judged as those below /repos/{owner}/{repo}",
	"null":                                                    "an empty body: ghinstallation sends null for a token that is not narrowed",
}

// Description is what GitHub says of its API.
type Description struct {
	doc   *openapi3.T
	calls []call
}

// call is one operation of it.
type call struct {
	method, path string
	item         *openapi3.PathItem
	op           *openapi3.Operation
}

// Load reads the description, once a process.
var Load = sync.OnceValues(func() (*Description, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the description: %w", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack the description: %w", err)
	}
	openapi3.SchemaErrorDetailsDisabled = true // a schema in full would hide what is wrong
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	d := &Description{doc: doc}
	list := doc.Paths.Value("/app/installations").Get.Responses.Status(http.StatusOK).Value.Content.Get("application/json")
	list.Schema.Value.Items = doc.Components.Schemas["installation"] // exception "GET /app/installations 200"
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			d.calls = append(d.calls, call{method, path, item, op})
		}
	}
	slices.SortFunc(d.calls, func(a, b call) int { return strings.Compare(a.path+" "+a.method, b.path+" "+b.method) })
	return d, nil
})

// Source is where the description comes from: package, version, licence, file, sha256.
func (d *Description) Source() map[string]any {
	source, _ := d.doc.Info.Extensions["x-source"].(map[string]any)
	return source
}

// Calls are the operations that it knows, as in "GET /repos/{owner}/{repo}".
func (d *Description) Calls() []string {
	var all []string
	for _, c := range d.calls {
		all = append(all, c.method+" "+c.path)
	}
	return all
}

// Events are the webhooks that it knows, as in "pull-request-opened".
func (d *Description) Events() []string {
	var all []string
	for name := range d.doc.Components.Schemas {
		if event, ok := strings.CutPrefix(name, "webhook-"); ok && !strings.HasPrefix(event, "config") {
			all = append(all, event)
		}
	}
	slices.Sort(all)
	return all
}

// Body is the schema of a call's body, nil if it takes none; call is as Calls has it.
func (d *Description) Body(name string) *openapi3.Schema {
	for _, c := range d.calls {
		if c.method+" "+c.path == name {
			return c.body()
		}
	}
	return nil
}

func (c call) body() *openapi3.Schema {
	if c.op.RequestBody == nil {
		return nil
	}
	media := c.op.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return nil
	}
	return media.Schema.Value
}

// Name is a request's call, as Calls has it, or "".
func (d *Description) Name(r *http.Request) string {
	if c, _ := d.find(r); c != nil {
		return c.method + " " + c.path
	}
	return ""
}

// find is the most literal of the calls that a request's path fits, and what stands for its parameters.
func (d *Description) find(r *http.Request) (*call, map[string]string) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3")
	if rest, ok := strings.CutPrefix(path, "/repositories/"); ok {
		_, rest, deeper := strings.Cut(rest, "/")
		path = "/repos/owner/repo"
		if deeper {
			path += "/" + rest
		}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var best *call
	var found map[string]string
	most := -1
	for i, c := range d.calls {
		pattern := strings.Split(strings.Trim(c.path, "/"), "/")
		params, ok := fit(pattern, parts)
		if literal := len(pattern) - strings.Count(c.path, "{"); ok && c.method == r.Method && literal > most {
			best, found, most = &d.calls[i], params, literal
		}
	}
	return best, found
}

// long are the parameters that hold slashes.
var long = []string{"branch}", "path}", "ref}"}

func fit(pattern, parts []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, p := range pattern {
		last := i == len(pattern)-1
		name, ok := strings.CutPrefix(p, "{")
		switch {
		case i >= len(parts):
			params["path"] = "/" // the root folder
			return params, ok && last && name == "path}"
		case !ok && p != parts[i]:
			return nil, false
		case !ok:
			continue
		}
		text := parts[i]
		if last && slices.Contains(long, name) {
			text, parts = strings.Join(parts[i:], "/"), parts[:i+1]
		}
		text, err := url.PathUnescape(text)
		if err != nil {
			return nil, false
		}
		params[strings.TrimSuffix(name, "}")] = text
	}
	return params, len(parts) == len(pattern)
}

func (d *Description) input(r *http.Request, body []byte) (*call, *openapi3filter.RequestValidationInput, error) {
	c, params := d.find(r)
	if c == nil {
		return nil, nil, fmt.Errorf("%s %s: the description knows no such call", r.Method, r.URL.Path)
	}
	r = r.Clone(context.Background())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if len(body) > 0 && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return c, &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params,
		Route:   &routers.Route{Spec: d.doc, Path: c.path, PathItem: c.item, Method: c.method, Operation: c.op},
		Options: &openapi3filter.Options{MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}, nil
}

// Request says what is wrong with a request.
func (d *Description) Request(r *http.Request, body []byte) error {
	if trimmed := bytes.TrimSpace(body); bytes.Equal(trimmed, []byte("null")) {
		body = []byte("{}") // exception "null"
	} else if strings.HasSuffix(d.Name(r), "/labels") && bytes.HasPrefix(trimmed, []byte("[")) {
		body = slices.Concat([]byte(`{"labels":`), trimmed, []byte("}")) // exception of labels
	}
	c, in, err := d.input(r, body)
	if err != nil {
		return err
	}
	var wrong []error
	for name := range r.URL.Query() {
		if c.op.Parameters.GetByInAndName("query", name) == nil && c.item.Parameters.GetByInAndName("query", name) == nil {
			wrong = append(wrong, fmt.Errorf("query parameter %s: the description does not know it", name))
		}
	}
	switch schema := c.body(); {
	case len(body) == 0:
		if schema != nil && len(schema.Required) > 0 {
			wrong = append(wrong, errors.New("no body"))
		}
		in.Options.ExcludeRequestBody = true
	case schema == nil:
		if string(bytes.TrimSpace(body)) != "{}" {
			wrong = append(wrong, errors.New("a body where none is known"))
		}
		in.Options.ExcludeRequestBody = true
	default:
		var v any
		if err := json.Unmarshal(body, &v); err == nil {
			wrong = append(wrong, unknown(schema, v, "")...)
		}
	}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		wrong = append(wrong, err)
	}
	return doing("request "+c.method+" "+r.URL.Path, wrong)
}

// Answer says what is wrong with the answer to a request.
func (d *Description) Answer(r *http.Request, status int, header http.Header, body []byte) error {
	c, in, err := d.input(r, nil)
	if err != nil {
		return err
	}
	if status == http.StatusNotModified || status == http.StatusNoContent {
		if len(body) > 0 {
			return fmt.Errorf("answer %d of %s %s: it has a body", status, r.Method, r.URL.Path)
		}
		return nil
	}
	var wrong []error
	if c.op.Responses.Status(status) == nil && status < 300 {
		wrong = append(wrong, errors.New("the description knows no such status"))
	}
	if status >= 300 {
		wrong = append(wrong, d.complaint(body)...)
	}
	if err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: in.Options,
	}); err != nil {
		wrong = append(wrong, err)
	}
	return doing(fmt.Sprintf("answer %d of %s %s", status, r.Method, r.URL.Path), wrong)
}

// complaint judges a no of any status, listed or not.
func (d *Description) complaint(body []byte) []error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return []error{err}
	}
	if err := d.doc.Components.Schemas["basic-error"].Value.VisitJSON(v); err != nil {
		return []error{err}
	}
	return nil
}

// Event says what is wrong with a webhook's payload; name is the X-GitHub-Event.
func (d *Description) Event(name string, payload []byte) error {
	var v map[string]any
	if err := json.Unmarshal(payload, &v); err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	key := "webhook-" + name
	if action, ok := v["action"].(string); ok {
		key += "-" + action
	}
	key = strings.ReplaceAll(key, "_", "-")
	schema := d.doc.Components.Schemas[key]
	if schema == nil {
		return fmt.Errorf("event %s: the description has no %s", name, key)
	}
	if err := schema.Value.VisitJSON(any(v), openapi3.MultiErrors()); err != nil {
		return fmt.Errorf("event %s: %w", key, err)
	}
	return nil
}

// unknown finds the fields that a schema does not name, at any depth.
func unknown(s *openapi3.Schema, v any, at string) (wrong []error) {
	if len(s.OneOf) > 0 {
		for i, one := range s.OneOf {
			if w := unknown(one.Value, v, at); i == 0 || len(w) < len(wrong) {
				wrong = w
			}
		}
		return wrong
	}
	switch v := v.(type) {
	case map[string]any:
		if len(s.Properties) == 0 {
			return nil
		}
		for name, x := range v {
			p := s.Properties[name]
			if p == nil {
				wrong = append(wrong, fmt.Errorf("field %s%s: the description does not know it", at, name))
				continue
			}
			wrong = append(wrong, unknown(p.Value, x, at+name+"/")...)
		}
	case []any:
		for _, x := range v {
			if s.Items != nil {
				wrong = append(wrong, unknown(s.Items.Value, x, at)...)
			}
		}
	}
	return wrong
}

func doing(what string, wrong []error) error {
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, errors.Join(wrong...))
}

// Watch judges calls as they are made: give its Observe to a server, and ask for Err at the end.
type Watch struct {
	mu    sync.Mutex
	wrong []error
	seen  map[string]int
}

// Observe judges one call: the request if it was accepted, and the answer always. It fits githubtest's Server.Observe.
func (w *Watch) Observe(r *http.Request, body []byte, status int, header http.Header, answer []byte) {
	d, err := Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.wrong = append(w.wrong, err)
		return
	}
	if w.seen == nil {
		w.seen = map[string]int{}
	}
	w.seen[d.Name(r)]++
	if status < 300 {
		if err := d.Request(r, body); err != nil {
			w.wrong = append(w.wrong, err)
		}
	}
	if err := d.Answer(r, status, header, answer); err != nil {
		w.wrong = append(w.wrong, err)
	}
}

// Seen is how often each call was made.
func (w *Watch) Seen() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// Err is all that was wrong so far.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.wrong...)
}
