package trace

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// allowed are the elements of a view; no other one ever stands in it.
var allowed = strings.Fields("html head meta title style body main h1 h2 h3 p strong ul li b section div pre span ol time details summary table thead tbody tr th td")

// elements are the names of a page's elements and of their attributes, in order.
func elements(t *testing.T, page []byte) (names []string, attrs map[string]bool) {
	t.Helper()
	attrs = map[string]bool{}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return names, attrs
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			names = append(names, tok.Data)
			for _, a := range tok.Attr {
				attrs[a.Key] = true
			}
		}
	}
}

func TestViewOfGoldenJobs(t *testing.T) {
	for _, job := range jobs {
		events, _, err := Read(filepath.Join("testdata", job, FileName))
		if err != nil {
			t.Fatal(err)
		}
		var b, again bytes.Buffer
		if err := View(&b, events); err != nil {
			t.Fatal(err)
		}
		_ = View(&again, events)
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: another page the second time", job)
		}
		checkPage(t, b.Bytes())
		if !strings.Contains(b.String(), "20261129-090000-"+job) {
			t.Errorf("%s: the page does not name its job", job)
		}
	}
}

// checkPage says that a page holds our own elements only, asks for nothing outside itself, and is clean.
func checkPage(t *testing.T, page []byte) {
	t.Helper()
	names, attrs := elements(t, page)
	for _, n := range names {
		if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+n+" ") {
			t.Errorf("an element %q", n)
		}
	}
	for a := range attrs {
		if a == "src" || a == "href" || a == "style" || strings.HasPrefix(a, "on") {
			t.Errorf("an attribute %q", a)
		}
	}
	if regexp.MustCompile(`url\(|@import`).Match(page) {
		t.Error("the style asks for something outside")
	}
	if !cleanText(string(page)) {
		t.Error("a control character")
	}
}

func TestViewShowsWhatAPersonAsks(t *testing.T) {
	events, _, _ := Read(filepath.Join("testdata", "fixed", FileName))
	var b bytes.Buffer
	if err := View(&b, events); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<pre>90</pre>", "<pre>100</pre>", "prompt: user", `<span class="add">`, "red again without the patch", "turn 3"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// TestViewIsNoPlaceForMarkup puts markup into every text that a trace can hold.
func TestViewIsNoPlaceForMarkup(t *testing.T) {
	evil := `</pre></style><script>alert(1)</script><img src=x onerror=y>" onclick="z`
	events := lines(
		0, TypeEvent, Job{ID: evil, Repo: evil, Target: evil, Trigger: evil, Root: evil},
		0, TypeVerdict, VerdictData{Phase: "see", Color: evil, Class: evil, Text: evil, Findings: []Finding{{ID: evil, File: evil, Got: evil, Want: evil, Message: evil}}},
		1, TypeRequest, RequestData{Tier: evil, Model: evil, BaseURL: evil, Body: json.RawMessage(mustJSON(map[string]string{"prompt": evil}))},
		1, TypeReply, ReplyData{Text: evil, Finish: evil}, 1, TypePatch, PatchData{By: evil, Diff: "+" + evil},
		0, TypeRung, RungData{ID: evil, Status: evil, Text: evil}, 0, evil, StepData{Text: evil},
		0, TypeStop, Stop{Reason: Reason(evil), Class: evil, Text: evil, Next: evil})
	for i := range events {
		events[i].Job = evil
	}
	var b bytes.Buffer
	if err := View(&b, events); err != nil {
		t.Fatal(err)
	}
	checkPage(t, b.Bytes())
}
