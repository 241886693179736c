package bot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/plan"
)

// The world of these tests: acme/widget, where pull request 5 of alice is red, and so is main.
const (
	mainSHA    = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	featureSHA = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	mergeSHA   = "cccccccccccccccccccccccccccccccccccccccc"
	olderSHA   = "dddddddddddddddddddddddddddddddddddddddd"
	draftSHA   = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
	ciFile     = ".github/workflows/ci.yml"
)

var (
	us     = Self{App: 42, Login: "redraft[bot]"}
	widget = Repo{ID: 7, Owner: "acme", Name: "widget", Installation: 99}
	alice  = Account{ID: 1, Login: "alice"}
	bob    = Account{ID: 2, Login: "bob"}
	ours   = "redraft: green\n\nRedraft-Run: j1\nRedraft-Receipt: sha256:" + strings.Repeat("0", 64) + "\n"
)

// world is a GitHub of plain values that only answers: a write would be a call of a nil Hub.
type world struct {
	Hub
	repo     RepoFacts
	may      map[string]string // permission by login
	pulls    map[int]Pull
	issues   map[int]Issue
	tips     map[string]string // commit by branch
	messages map[string]string // by commit; "work" if missing
	checks   map[string][]Check
	runs     map[int64]Check
	jobs     map[int64][]RunJob // by run
	files    map[string]string  // by commit
	drafts   []Draft
	no       map[string]error // by call
	calls    []string

	op    Operator
	known []string // keys of targets
	today int
}

func newWorld() *world {
	pull := Pull{Number: 5, State: "open", Author: alice, Head: Tip{7, "feature", featureSHA}, Base: Tip{7, "main", mainSHA}, Merge: mergeSHA, Labels: []string{"redraft"}}
	issue := Issue{Number: 9, State: "open", Author: bob, Labels: []string{"Redraft"}}
	return &world{
		repo:   RepoFacts{Repo: Repo{ID: 7, Owner: "acme", Name: "widget"}, Default: "main", Private: true},
		may:    map[string]string{"alice": "write", "bob": "read", "mia": "maintain", "root": "admin", "tim": "triage"},
		pulls:  map[int]Pull{5: pull},
		issues: map[int]Issue{9: issue},
		tips:   map[string]string{"main": mainSHA, "feature": featureSHA},
		checks: map[string][]Check{featureSHA: redCI(), mainSHA: redCI()},
		runs:   map[int64]Check{3001: {ID: 3001, Workflow: ciFile, Done: true, Conclusion: "failure", SHA: featureSHA, HeadRepo: 7}},
		files:  map[string]string{},
	}
}

// redCI is a matrix of three, of which two are red.
func redCI() []Check {
	leg := func(id int64, name, conclusion string) Check {
		return Check{ID: id, Name: name, Workflow: ciFile, Title: "CI", App: 15368, Done: true, Conclusion: conclusion, URL: fmt.Sprintf("https://github.com/acme/widget/runs/%d", id)}
	}
	return []Check{leg(3, "test (windows)", "timed_out"), leg(1, "test (linux)", "failure"), leg(2, "test (macos)", "success"),
		{ID: 8, Name: "redraft", App: 42, Done: true, Conclusion: "neutral"}}
}

func thirdParty(name, conclusion string) Check {
	return Check{Name: name, Done: conclusion != "", Conclusion: conclusion, URL: "https://ci.example/" + name}
}

// draft is an open one of ours for pull request 5, whose branch stood elsewhere then.
func draft(number int, key string) Draft {
	return Draft{Number: number, Open: true, Branch: "redraft/pull-5", Head: draftSHA, Base: "feature", Key: key, Root: olderSHA}
}

const pullKey, mainKey, issueKey = "7/pull/5/" + ciFile, "7/branch/main/" + ciFile, "7/issue/9/" + ciFile

func (w *world) call(name string) error {
	w.calls = append(w.calls, name)
	return w.no[name]
}

func find[K comparable, V any](w *world, name string, m map[K]V, k K) (V, error) {
	v, ok := m[k]
	if err := w.call(name); err != nil || ok {
		return v, err
	}
	return v, &HubError{Class: NotFound, Doing: name, Status: 404}
}

func (w *world) Repo(context.Context, Repo) (RepoFacts, error) { return w.repo, w.call("Repo") }
func (w *world) Permission(_ context.Context, _ Repo, login string) (string, error) {
	if p := w.may[login]; p != "" {
		return p, w.call("Permission")
	}
	return "none", w.call("Permission")
}
func (w *world) Pull(_ context.Context, _ Repo, n int) (Pull, error) {
	return find(w, "Pull", w.pulls, n)
}
func (w *world) PullsOf(_ context.Context, _ Repo, branch string) (all []Pull, err error) {
	for _, p := range w.pulls {
		if p.Head.Branch == branch && p.State == "open" && !p.Fork() {
			all = append(all, p)
		}
	}
	return all, w.call("PullsOf")
}
func (w *world) Issue(_ context.Context, _ Repo, n int) (Issue, error) {
	return find(w, "Issue", w.issues, n)
}
func (w *world) Tip(_ context.Context, _ Repo, branch string) (Tip, error) {
	sha, err := find(w, "Tip", w.tips, branch)
	return Tip{7, branch, sha}, err
}
func (w *world) Message(_ context.Context, _ Repo, sha string) (string, error) {
	if m := w.messages[sha]; m != "" {
		return m, w.call("Message")
	}
	return "work", w.call("Message")
}
func (w *world) Checks(_ context.Context, _ Repo, sha string) ([]Check, error) {
	if err := w.call("Checks"); err != nil {
		return nil, err
	}
	return w.checks[sha], nil
}
func (w *world) Run(_ context.Context, _ Repo, id int64) (Check, error) {
	return find(w, "Run", w.runs, id)
}
func (w *world) File(_ context.Context, _ Repo, path, sha string) ([]byte, error) {
	if path != plan.FileName {
		return nil, fmt.Errorf("nothing asks for %s", path)
	}
	text, err := find(w, "File", w.files, sha)
	return []byte(text), err
}
func (w *world) Drafts(_ context.Context, _ Repo, branch string) (all []Draft, err error) {
	for _, d := range w.drafts {
		if branch == "" || d.Branch == branch {
			all = append(all, d)
		}
	}
	return all, w.call("Drafts")
}

// decide is the whole way of one event.
func (w *world) decide(t *testing.T, e Event) (Decision, *Skip) {
	t.Helper()
	known := func(_ context.Context, r Repo, target Target) (bool, error) {
		for _, k := range w.known {
			if k == target.Key() {
				return true, nil
			}
		}
		return false, nil
	}
	began := func(context.Context, Repo) (int, error) { return w.today, nil }
	f, err := Gather(t.Context(), w, e, us, w.op, known, began)
	if err == nil {
		return Accept(e, us, f)
	}
	no, ok := err.(*Skip)
	if !ok {
		t.Fatal(err)
	}
	if d, _ := Accept(e, us, f); len(d.Start) > 0 {
		t.Errorf("Gather said %v, and yet Accept started %v", no, d.Start)
	}
	return Decision{}, no
}

// event is one of testdata/events.
func event(t *testing.T, name string) Event {
	t.Helper()
	payload, err := os.ReadFile(filepath.Join("testdata", "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(name, ".")
	e, err := Decode(kind, "d-"+name, payload)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// said is a decision in one line.
func said(d Decision, no *Skip) string {
	var all []string
	if no != nil {
		all = append(all, "skip "+string(no.Reason))
		if no.Tell {
			all = append(all, "told")
		}
	}
	for _, j := range d.Start {
		all = append(all, "start "+j.Key)
	}
	for _, c := range d.Cancel {
		all = append(all, "cancel "+c.Target.Key()+" "+c.Reason)
	}
	for _, c := range d.Close {
		all = append(all, fmt.Sprintf("close %d", c.Draft.Number))
	}
	if d.Explain != nil {
		all = append(all, "explain "+d.Explain.Key())
	}
	return strings.Join(all, " ")
}
