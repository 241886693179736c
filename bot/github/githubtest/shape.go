package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// shape is what a body may hold: the fields of GitHub's description that are served here, and no other.
type shape map[string]field

// field is one of them.
type field struct {
	kind  string   // string, integer, boolean, time, strings, integers, object, objects
	must  bool     // it cannot be left out
	words []string // what a string may be; anything if nil
	of    shape    // of an object, or of each one of objects
}

func text(words ...string) field { return field{kind: "string", words: words} }

func (f field) required() field { f.must = true; return f }

var (
	flag    = field{kind: "boolean"}
	integer = field{kind: "integer"}

	commentShape = shape{"body": text().required()}
	labelsShape  = shape{"labels": {kind: "strings", must: true}}
	newPullShape = shape{
		"title": text(), "head": text().required(), "base": text().required(), "body": text(), "maintainer_can_modify": flag, "draft": flag,
	}
	editPullShape  = shape{"title": text(), "body": text(), "state": text("open", "closed"), "base": text(), "maintainer_can_modify": flag}
	reviewersShape = shape{"reviewers": {kind: "strings"}}
	newLabelShape  = shape{"name": text().required(), "color": text(), "description": text()}
	tokenShape     = shape{
		"repositories": {kind: "strings"}, "repository_ids": {kind: "integers"}, "permissions": {kind: "object", of: permissionShape},
	}
	annotationShape = shape{
		"path": text().required(), "start_line": integer.required(), "end_line": integer.required(), "start_column": integer, "end_column": integer,
		"annotation_level": text("notice", "warning", "failure").required(), "message": text().required(), "title": text(), "raw_details": text(),
	}
	conclusions = text("action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out")

	newCheckShape  = checkShape(true)
	editCheckShape = checkShape(false)
)

// checkShape is a check run's; a new one must have a name and a commit, and says its output whole.
func checkShape(new bool) shape {
	s := shape{
		"name": text(), "details_url": text(), "external_id": text(), "status": text("queued", "in_progress", "completed"),
		"started_at": {kind: "time"}, "conclusion": conclusions, "completed_at": {kind: "time"},
	}
	output := shape{
		"title": text(), "summary": text().required(), "text": text(), "annotations": {kind: "objects", of: annotationShape},
	}
	if new {
		s["name"], s["head_sha"] = text().required(), text().required()
		output["title"] = text().required()
	}
	s["output"] = field{kind: "object", of: output}
	return s
}

// permissionShape are the permissions of repositories, and the organisations' that an App like ours might ask for.
var permissionShape = permissions(`actions administration checks contents deployments environments issues members metadata
	organization_administration organization_plan packages pages pull_requests repository_hooks secrets security_events
	single_file statuses workflows`)

func permissions(names string) shape {
	s := shape{}
	for _, name := range strings.Fields(names) {
		s[name] = text("read", "write")
	}
	s["workflows"], s["organization_plan"] = text("write"), text("read")
	return s
}

// readBody decodes a body and refuses every field that is missing, mistaken or unknown.
func (c *call) readBody() error {
	c.body = obj{}
	if len(bytes.TrimSpace(c.raw)) == 0 {
		return c.fits()
	}
	d := json.NewDecoder(bytes.NewReader(c.raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return &no{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	if _, err := d.Token(); err != io.EOF {
		return &no{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	if list, bare := v.([]any); bare && c.route.body["labels"].kind != "" {
		v = obj{"labels": list} // GitHub takes the array itself too, and go-github sends that
	}
	if v == nil {
		v = obj{} // ghinstallation says null where it has nothing to say
	}
	body, ok := v.(obj)
	if !ok {
		return &no{status: http.StatusBadRequest, message: "Body should be a JSON object"}
	}
	c.body = body
	return c.fits()
}

func (c *call) fits() error {
	if wrong := c.route.body.check("", c.body); len(wrong) > 0 {
		return invalidf("Invalid request.\n\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// check says what is wrong with an object, in GitHub's words.
func (s shape) check(at string, v obj) (wrong []string) {
	for _, name := range slices.Sorted(mapKeys(v)) {
		f, known := s[name]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%q is not a permitted key.", at+name))
			continue
		}
		wrong = append(wrong, f.check(at+name, v[name])...)
	}
	for _, name := range slices.Sorted(mapKeys(s)) {
		if _, given := v[name]; s[name].must && !given {
			wrong = append(wrong, fmt.Sprintf("%q wasn't supplied.", at+name))
		}
	}
	return wrong
}

func (f field) check(at string, v any) []string {
	isNot := func(what string) []string {
		said, _ := json.Marshal(v)
		return []string{fmt.Sprintf("For 'properties/%s', %s is not %s.", at, clip(string(said), 100), what)}
	}
	switch f.kind {
	case "string", "time":
		t, ok := v.(string)
		if !ok {
			return isNot("a string")
		}
		if len(f.words) > 0 && !slices.Contains(f.words, t) {
			return isNot("a member of " + strings.Join(f.words, ", "))
		}
		if _, err := time.Parse(time.RFC3339, t); f.kind == "time" && err != nil {
			return isNot("a date-time")
		}
	case "integer":
		if n, ok := v.(json.Number); !ok || strings.ContainsAny(n.String(), ".eE") {
			return isNot("an integer")
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return isNot("a boolean")
		}
	case "object":
		o, ok := v.(obj)
		if !ok {
			return isNot("an object")
		}
		return f.of.check(at+"/", o)
	default:
		return f.checkList(at, v, isNot)
	}
	return nil
}

// checkList looks at each item of strings, integers or objects.
func (f field) checkList(at string, v any, isNot func(string) []string) (wrong []string) {
	list, ok := v.([]any)
	if !ok {
		return isNot("an array")
	}
	item := field{kind: strings.TrimSuffix(f.kind, "s"), of: f.of}
	for i, x := range list {
		wrong = append(wrong, item.check(fmt.Sprintf("%s/%d", at, i), x)...)
	}
	return wrong
}

func (c *call) text(name string) string { s, _ := c.body[name].(string); return s }

func (c *call) yes(name string) bool { b, _ := c.body[name].(bool); return b }

// given is a field's text and whether it was there.
func (c *call) given(name string) (string, bool) { s, ok := c.body[name].(string); return s, ok }

func (c *call) list(name string) []string {
	list, _ := c.body[name].([]any)
	var all []string
	for _, x := range list {
		s, _ := x.(string)
		all = append(all, s)
	}
	return all
}
