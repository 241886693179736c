package openapi

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T) *Description {
	t.Helper()
	d, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSource: the file is the one that the README describes, and says itself where it comes from.
func TestSource(t *testing.T) {
	d := load(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := d.Source()
	for _, want := range []string{
		fmt.Sprintf("%x", sha256.Sum256(packed)), fmt.Sprint(s["sha256"]), fmt.Sprintf("`%v` %v, `%v`", s["package"], s["version"], s["file"]),
		fmt.Sprintf("| licence | %v,", s["licence"]), fmt.Sprintf("| size | %d bytes", len(packed)),
	} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("README.md does not hold %q", want)
		}
	}
	if len(packed) > 900<<10 {
		t.Errorf("got %d bytes, want it small", len(packed))
	}
}

// TestJudges shows that each kind of wrong is seen, and that the same call without it is not.
func TestJudges(t *testing.T) {
	d := load(t)
	request := func(method, path, body string) error {
		r, err := http.NewRequest(method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return d.Request(r, []byte(body))
	}
	answer := func(method, path string, status int, body string) error {
		r, err := http.NewRequest(method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d.Answer(r, status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, []byte(body))
	}
	const comments, label = "/repos/o/r/issues/1/comments", `{"id":1,"node_id":"x","url":"https://example.com","name":"n","description":null,"color":"fff","default":false}`
	for what, x := range map[string]struct {
		err error
		bad string // "" is good
	}{
		"good request":         {request("POST", comments, `{"body":"b"}`), ""},
		"below /api/v3":        {request("POST", "/api/v3"+comments, `{"body":"b"}`), ""},
		"by id":                {request("POST", "/repositories/1/issues/1/comments", `{"body":"b"}`), ""},
		"no field":             {request("POST", comments, `{}`), `"body" is missing`},
		"no body":              {request("POST", comments, ``), "no body"},
		"mistaken field":       {request("POST", comments, `{"body":1}`), "must be a string"},
		"unknown field":        {request("POST", comments, `{"body":"b","x":1}`), "field x"},
		"unknown nested field": {request("POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","output":{"title":"t","summary":"s","annotations":[{"path":"p","start_line":1,"end_line":1,"annotation_level":"notice","message":"m","x":1}]}}`), "field output/annotations/x"},
		"unknown query":        {request("GET", "/repos/o/r/pulls?x=1", ""), "query parameter x"},
		"known query":          {request("GET", "/repos/o/r/pulls?state=all&page=2", ""), ""},
		"mistaken query":       {request("GET", "/repos/o/r/pulls?state=some", ""), "state"},
		"mistaken number":      {request("GET", "/repos/o/r/pulls/seven", ""), "pull_number"},
		"unknown call":         {request("PUT", "/repos/o/r/pulls/1/merge", "{}"), "knows no such call"},
		"other words":          {request("DELETE", "/installation/token", `{"x":1}`), "a body where none is known"},
		"bare labels":          {request("POST", "/repos/o/r/issues/1/labels", `["a"]`), ""},
		"bare numbers":         {request("POST", "/repos/o/r/issues/1/labels", `[1]`), "labels"},
		"null for a token":     {request("POST", "/app/installations/1/access_tokens", "null\n"), ""},
		"branch with a slash":  {request("GET", "/repos/o/r/branches/redraft/pull-7", ""), ""},
		"ref with a slash":     {request("GET", "/repos/o/r/commits/redraft%2Fpull-7/check-runs?filter=latest", ""), ""},
		"root folder":          {request("GET", "/repos/o/r/contents/?ref=main", ""), ""},

		"good answer":         {answer("POST", "/repos/o/r/labels", 201, label), ""},
		"answer lacks":        {answer("POST", "/repos/o/r/labels", 201, `{"id":1}`), "missing"},
		"answer is mistaken":  {answer("POST", "/repos/o/r/labels", 201, strings.Replace(label, `"fff"`, "3", 1)), "must be a string"},
		"other status":        {answer("POST", "/repos/o/r/labels", 202, label), "no such status"},
		"good no":             {answer("POST", "/repos/o/r/labels", 403, `{"message":"m","documentation_url":"u"}`), ""},
		"no without words":    {answer("POST", "/repos/o/r/labels", 403, `{"message":3}`), "must be a string"},
		"nothing that speaks": {answer("GET", "/repos/o/r/pulls", 304, "x"), "has a body"},

		"no payload":    {d.Event("issues", []byte(`5`)), "event issues"},
		"unknown event": {d.Event("issues", []byte(`{"action":"sung"}`)), "has no webhook-issues-sung"},
		"half an event": {d.Event("issues", []byte(`{"action":"opened"}`)), "missing"},
	} {
		if x.bad == "" && x.err != nil || x.bad != "" && (x.err == nil || !strings.Contains(x.err.Error(), x.bad)) {
			t.Errorf("%s: got %v, want %q", what, x.err, x.bad)
		}
	}
}

// TestPayloads holds the description against payloads that GitHub published itself, of the events that the fake sends: most fit, old ones
// lack fields that were added since.
func TestPayloads(t *testing.T) {
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA names no folder of real payloads")
	}
	d := load(t)
	files, err := filepath.Glob(filepath.Join(data, "webhooks", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d payloads, %v", len(files), err)
	}
	fit, unfit := 0, 0
	for _, f := range files {
		name, rest, _ := strings.Cut(filepath.Base(f), ".")
		action, _, _ := strings.Cut(rest, ".")
		if action == "x" {
			action = ""
		}
		event := strings.TrimSuffix(strings.ReplaceAll(name+"-"+action, "_", "-"), "-")
		if d.doc.Components.Schemas["webhook-"+event] == nil {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Event(name, bytes.TrimSpace(text)); err == nil {
			fit++
		} else {
			unfit++
		}
	}
	t.Logf("%d fit, %d do not", fit, unfit)
	if fit <= unfit {
		t.Error("most do not fit")
	}
}
