package bot

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/bot/queue"
)

// listener is a hub that remembers what it was told to say.
type listener struct {
	Hub
	said    []string
	removed []string
	err     error
}

func (l *listener) Comment(_ context.Context, _ Repo, _ int, marker, body string) (string, error) {
	l.said = append(l.said, marker+"\n"+body)
	return "", l.err
}

func (l *listener) RemoveLabel(_ context.Context, _ Repo, _ int, label string) error {
	l.removed = append(l.removed, label)
	return l.err
}

// memory is a queue of plain values.
type memory struct {
	Queue
	last     queue.Job
	ok       bool
	notes    []string
	submits  []queue.Job
	answers  queue.Submission
	cancels  []string
	canceled int
}

func (m *memory) Note(_ context.Context, delivery, outcome, text string) error {
	m.notes = append(m.notes, delivery+" "+outcome+": "+text)
	return nil
}

func (m *memory) Last(context.Context, string) (queue.Job, bool, error) { return m.last, m.ok, nil }

func (m *memory) Submit(_ context.Context, j queue.Job) (string, queue.Submission, error) {
	m.submits = append(m.submits, j)
	if j.Again {
		return "again", queue.Added, nil
	}
	return m.last.ID, m.answers, nil
}

func (m *memory) Cancel(_ context.Context, target, _, why string) (int, error) {
	m.cancels = append(m.cancels, target+" "+why)
	return m.canceled, nil
}

func (m *memory) Get(context.Context, string) ([]byte, error)           { return nil, nil }
func (m *memory) Since(context.Context, string, time.Time) (int, error) { return 0, nil }

func testBot(l *listener, m *memory) *Bot {
	return &Bot{Hub: l, Queue: m, Clean: redact.New(), Log: slog.New(slog.DiscardHandler)}
}

// A person who asked and gets a no is told, in words that are nobody's markup, and the label by which they asked goes.
func TestTell(t *testing.T) {
	e := Event{Repo: Repo{ID: 1, Owner: "o", Name: "r"}, Action: "labeled", Label: "redraft", Issue: &Issue{Number: 3}}
	for _, row := range []struct {
		name    string
		skip    Skip
		err     error
		said    int
		removed []string
		fails   bool
	}{
		{"nobody asked", Skip{Reason: Green, Text: "green"}, nil, 0, nil, false},
		{"somebody asked", Skip{Reason: Green, Text: "<b>@everyone</b> closes #1", Tell: true}, nil, 1, []string{"redraft"}, false},
		{"we may not say it", Skip{Reason: Green, Text: "green", Tell: true}, &HubError{Class: Forbidden}, 1, nil, false},
		{"GitHub is away", Skip{Reason: Green, Text: "green", Tell: true}, &HubError{Class: Unavailable}, 1, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := &listener{err: row.err}
			err := testBot(l, &memory{}).tell(t.Context(), e, &row.skip)
			if (err != nil) != row.fails || len(l.said) != row.said || !slices.Equal(l.removed, row.removed) {
				t.Errorf("said %q, removed %q, %v", l.said, l.removed, err)
			}
			for _, s := range l.said {
				if strings.Contains(s, "<b>") || strings.Contains(s, " @everyone") {
					t.Errorf("live markup: %s", s)
				}
			}
		})
	}
}

func TestCanWrite(t *testing.T) {
	for permission, want := range map[string]bool{"admin": true, "maintain": true, "write": true, "triage": false, "read": false, "none": false, "": false, "Admin": false} {
		if CanWrite(permission) != want {
			t.Errorf("%q: %v, want %v", permission, !want, want)
		}
	}
}

// A delivery that cannot be read, or that nothing answers, is done with at once; one that GitHub gets in the way of is
// handled again.
func TestHandle(t *testing.T) {
	m := &memory{}
	b := testBot(&listener{}, m)
	for _, d := range []queue.Delivery{{ID: "1", Event: "check_run", Payload: []byte("{")}, {ID: "2", Event: "star", Payload: []byte("{}")}} {
		if err := b.Handle(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	if len(m.notes) != 2 || !strings.HasPrefix(m.notes[0], "1 malformed: ") || !strings.HasPrefix(m.notes[1], "2 not_for_us: ") {
		t.Errorf("notes: %q", m.notes)
	}
	for class, again := range map[Class]bool{Unavailable: true, RateLimited: true, BadAuth: true, Forbidden: false, NotFound: false} {
		if _, _, err := b.outcome(t.Context(), Event{}, Did{}, &HubError{Class: class}); (err != nil) != again {
			t.Errorf("%s: handled again: %v, want %v", class, err != nil, again)
		}
	}
}

// The same delivery, handled again after a kill, makes no second job; a head that was pushed away and is back makes one.
func TestSubmitOnce(t *testing.T) {
	args := []byte(`{"key":"1/branch/main/ci","delivery":"d-1"}`)
	superseded := []byte(`{"stop":{"reason":"superseded","text":"x"}}`)
	for _, row := range []struct {
		name    string
		job     Job
		end     []byte
		submits int
		queued  int
	}{
		{"the same delivery", Job{Key: "1/branch/main/ci", Delivery: "d-1"}, nil, 0, 0},
		{"another delivery of what is done", Job{Key: "1/branch/main/ci", Delivery: "d-2"}, nil, 1, 0},
		{"a head that is back", Job{Key: "1/branch/main/ci", Delivery: "d-2"}, superseded, 2, 1},
		{"a person asks again", Job{Key: "1/branch/main/ci", Delivery: "d-2", Asked: true}, nil, 1, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := &memory{last: queue.Job{ID: "j-1", Args: args, State: queue.Closed, End: row.end}, ok: true, answers: queue.Done}
			var did Did
			if err := testBot(&listener{}, m).submit(t.Context(), row.job, &did); err != nil {
				t.Fatal(err)
			}
			if len(m.submits) != row.submits || len(did.Queued) != row.queued {
				t.Errorf("%d submits, %q queued; want %d and %d", len(m.submits), did.Queued, row.submits, row.queued)
			}
		})
	}
}

// A job that never began takes its label with it when it is cancelled, unless a person took it off.
func TestCancelTakesTheLabel(t *testing.T) {
	c := Cancel{Target: Target{Kind: ForIssue, Number: 3}, Reason: "cancelled", Why: "closed"}
	for _, row := range []struct {
		action string
		began  time.Time
		want   int
	}{{"closed", time.Time{}, 1}, {"unlabeled", time.Time{}, 0}, {"closed", time.Unix(1, 0), 0}} {
		l, m := &listener{}, &memory{last: queue.Job{Args: []byte(`{"label":"redraft"}`), Began: row.began, State: queue.Received}, ok: true, canceled: 1}
		n, err := testBot(l, m).cancel(t.Context(), Event{Action: row.action}, c)
		if n != 1 || err != nil || len(l.removed) != row.want {
			t.Errorf("%s, began %v: %d cancelled, %v, labels taken %q", row.action, !row.began.IsZero(), n, err, l.removed)
		}
	}
}

// What GitHub says no to for good is a stop that names what to change; what it can get over, and our own failures, are tried
// again until they are an end.
func TestExcuse(t *testing.T) {
	w := &work{Bot: testBot(&listener{}, &memory{}), q: queue.Job{Attempt: 1}}
	for class, reason := range map[Class]string{NoDrafts: "needs_configuration", NoPulls: "needs_configuration", Forbidden: "needs_configuration", Unavailable: "", RateLimited: ""} {
		out, err := w.excuse(t.Context(), jobOutcome(), &HubError{Class: class, Doing: "open a draft"})
		if (err != nil) != (reason == "") || err == nil && (string(out.Stop.Reason) != reason || out.Stop.Next == "" || out.Proof != nil) {
			t.Errorf("%s: %+v, %v", class, out.Stop, err)
		}
	}
	w.q.Attempt = 3
	if out, err := w.excuse(t.Context(), jobOutcome(), errors.New("the disk is full")); err != nil || out.Stop.Reason != "infra" || strings.Contains(out.Stop.Text, "disk") {
		t.Errorf("the third failure: %+v, %v", out.Stop, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&queue.Cause{Text: "superseded: a new commit"})
	if out, err := w.excuse(ctx, jobOutcome(), context.Canceled); err != nil || out.Stop.Reason != "superseded" || out.Stop.Text != "a new commit" {
		t.Errorf("superseded: %+v, %v", out.Stop, err)
	}
	down, stop := context.WithCancel(t.Context())
	stop()
	w.q.Attempt = 1
	if _, err := w.excuse(down, jobOutcome(), context.Canceled); err == nil {
		t.Error("the server goes down, and the job is not put back")
	}
}

func jobOutcome() job.Outcome { return job.Outcome{} }
