package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/queue"
)

// shown is a check run as a text. What GitHub shows as it is stands in a fence.
func shown(c CheckRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, done %v, %q\n%s\n", c.Title, c.SHA, c.Done, c.Conclusion, c.DetailsURL)
	for _, a := range c.Annotations {
		fmt.Fprintf(&b, "%s:%d: %s\n%s\n", a.Path, a.Line, a.Title, a.Message)
	}
	return redact.FenceAs("", b.String()) + "\n" + c.Summary
}

func TestCheckText(t *testing.T) {
	running := unprovedStory(stops[0])
	running.Status, running.Events, running.State = trace.Status{}, nil, queue.Reproduced
	drafted := modelStory(t)
	drafted.Draft = &Draft{Number: 31, URL: "https://github.com/acme/shop/pull/31"}
	hostile := hostileStory(t)
	hostile.Proof, hostile.Status.Stop.Reason = nil, trace.Infra
	for name, row := range map[string]struct {
		story      Story
		done       bool
		conclusion string
		title      string
	}{
		"running":   {running, false, "", "repairing: the red was seen here"},
		"drafted":   {drafted, true, "success", "draft #31: TestPair and 3 more pass"},
		"dry":       {mechanicStory(t), true, "neutral", "proved, no draft: TestTotal passes"},
		"exhausted": {unprovedStory(stops[9]), true, "neutral", "no repair found: no draft"},
		"flaky":     {unprovedStory(stops[2]), true, "neutral", "flaky: no draft"},
		"infra":     {unprovedStory(stops[8]), true, "neutral", "this machine could not do it (out of memory): no draft"},
		"hostile":   {hostile, true, "neutral", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := CheckText(row.story, redact.New())
			if c.Done != row.done || c.Conclusion != row.conclusion || row.title != "" && c.Title != row.title {
				t.Errorf("got done %v, %q, %q", c.Done, c.Conclusion, c.Title)
			}
			if c.SHA != rootSHA || c.Key != row.story.Job.Key {
				t.Errorf("it is of %s, %s", c.SHA, c.Key)
			}
			if len(c.Summary) > limit || len(c.Annotations) > annotationsShown || len(c.Title) > 255 {
				t.Errorf("%d bytes, %d annotations, a title of %d", len(c.Summary), len(c.Annotations), len(c.Title))
			}
			golden(t, "check-"+name, shown(c))
		})
	}
}

// TestCheckBegins: a check is under way until its job has a stop, or is closed.
func TestCheckBegins(t *testing.T) {
	for _, row := range []struct {
		state queue.State
		stop  *trace.Stop
		done  bool
	}{
		{"", nil, false}, {queue.Proved, nil, false}, {queue.Publishing, &stops[0], false},
		{"", &stops[1], true}, {queue.Closed, &stops[1], true}, {queue.Closed, nil, true},
	} {
		c := CheckText(Story{State: row.state, Status: trace.Status{Stop: row.stop}}, redact.New())
		if c.Done != row.done || c.Title == "" || c.Done != (c.Conclusion == "neutral") {
			t.Errorf("%q with %v: got %+v", row.state, row.stop, c)
		}
	}
	for _, s := range []queue.State{queue.Received, queue.Authorised, queue.Pinned, queue.Prepared, queue.Reproduced, queue.Proposed, queue.Proved, queue.Publishing, queue.Published} {
		if progress[s] == "" {
			t.Errorf("nothing is said of %s", s)
		}
	}
}

// TestAnnotations: only places that can be in the repository are remarked on, and few of them.
func TestAnnotations(t *testing.T) {
	s := unprovedStory(stops[9])
	v := &s.Status.Verdicts[0].VerdictData
	v.Findings = nil
	for _, file := range []string{"", "/etc/passwd", "../x.go", "a/../b.go", ".", "a\x00.go", "a\u202eb.go"} {
		v.Findings = append(v.Findings, trace.Finding{ID: "bad", File: file, Line: 1})
	}
	v.Findings = append(v.Findings, trace.Finding{ID: "no line", File: "a.go"}, trace.Finding{ID: "good", File: "a b.go", Line: 3})
	got := CheckText(s, redact.New()).Annotations
	if len(got) != 1 || got[0] != (Annotation{Path: "a b.go", Line: 3, Title: "good", Message: "red, without a message"}) {
		t.Errorf("got %+v", got)
	}
	for range 50 {
		v.Findings = append(v.Findings, trace.Finding{ID: "more", File: "a.go", Line: 1})
	}
	if got := CheckText(s, redact.New()).Annotations; len(got) != annotationsShown {
		t.Errorf("got %d", len(got))
	}
}
