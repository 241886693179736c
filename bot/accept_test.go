package bot

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decided are the whole ways of events: what GitHub says, what comes of it, and the calls that it took.
var decided = []struct {
	name  string
	event string
	edit  func(w *world, e *Event) // nil leaves both as they are
	want  string
	calls string // names; not looked at if empty, "none" for none
}{
	// Checks: the place decides.
	{"a red pull request", "workflow_run.red", nil, "start " + pullKey, "Repo Tip Tip File PullsOf Message Checks Drafts Permission"},
	{"by its check run", "check_run.red", nil, "start " + pullKey, ""},
	{"by its suite", "check_suite.red", nil, "start " + pullKey, ""},
	{"by a status", "status.red", nil, "start " + pullKey, ""},
	{"a red default branch", "workflow_run.main", nil, "start " + mainKey, "Repo Tip File PullsOf Message Checks Drafts"},
	{"the oldest of two pull requests", "workflow_run.red", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Number = 4
		w.pulls[4] = p
	}, "start 7/pull/4/" + ciFile, ""},
	{"a merge that the list left out", "workflow_run.red", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Merge = ""
		w.pulls[5] = p
	}, "start " + pullKey, "Repo Tip Tip File PullsOf Message Checks Drafts Permission Pull"},
	{"a third party", "status.red", func(w *world, e *Event) {
		w.checks[featureSHA] = []Check{thirdParty("ci/jenkins", "error"), thirdParty("cov", "failure"), thirdParty("slow", "")}
	}, "start 7/pull/5/check:ci/jenkins start 7/pull/5/check:cov", ""},
	{"two workflows", "check_run.red", func(w *world, e *Event) {
		w.checks[featureSHA] = append(redCI(), Check{Name: "lint", Title: "Lint", Workflow: ".github/workflows/a.yml@main", Done: true, Conclusion: "failure"})
	}, "start 7/pull/5/.github/workflows/a.yml start " + pullKey, ""},
	{"at most three", "check_run.red", func(w *world, e *Event) {
		for _, n := range []string{"d", "c", "b", "a"} {
			w.checks[featureSHA] = append(w.checks[featureSHA], thirdParty(n, "failure"))
		}
	}, "start " + pullKey + " start 7/pull/5/check:a start 7/pull/5/check:b", ""},
	{"what GitHub runs by itself", "check_run.red", func(w *world, e *Event) {
		w.checks[featureSHA] = []Check{{Name: "Analyze", Title: "CodeQL", Workflow: "dynamic/github-code-scanning/codeql", Done: true, Conclusion: "failure"}}
	}, "start 7/pull/5/check:dynamic/github-code-scanning/codeql", ""},
	{"a status wakes for what the branch is now", "status.red", func(w *world, e *Event) {
		w.tips["feature"] = mainSHA
	}, "start " + pullKey, ""},
	{"a new red head updates its draft, however many are open", "workflow_run.red", func(w *world, e *Event) {
		w.drafts = []Draft{draft(31, pullKey), draft(32, "7/pull/1/x"), draft(33, "7/pull/2/x")}
	}, "start " + pullKey, ""},
	{"only as many as a day has room for", "workflow_run.red", func(w *world, e *Event) {
		w.checks[featureSHA] = append(redCI(), thirdParty("cov", "failure"))
		w.today = 9
	}, "start " + pullKey, ""},
	{"a listed workflow by its file's name", "workflow_run.red", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {workflows: [ci.yml]}\n"
		w.checks[featureSHA] = append(redCI(), thirdParty("cov", "failure"))
	}, "start " + pullKey, ""},
	{"a bot's pull request where the operator wants them", "workflow_run.red", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Author = Account{ID: 3, Login: "dependabot[bot]", Bot: true}
		w.pulls[5], w.op.Bots = p, true
	}, "start " + pullKey, "Repo Tip Tip File PullsOf Message Checks Drafts"},

	{"green", "workflow_run.green", nil, "skip green", "none"},
	{"of a fork", "workflow_run.fork", nil, "skip fork", "none"},
	{"a fork's branch of the same name, by its suite", "check_suite.red", func(w *world, e *Event) {
		e.Check.SHA, e.Check.Pulls, e.Check.HeadRepo = olderSHA, nil, 0
	}, "skip moved", "Repo Tip"},
	{"no branch, as of forks", "check_suite.red", func(w *world, e *Event) { e.Check.Branch = "" }, "skip fork", "none"},
	{"a status of no tip", "status.red", func(w *world, e *Event) { e.Check.Branch = "" }, "skip moved", "none"},
	{"cancelled", "workflow_run.red", func(w *world, e *Event) { e.Check.Conclusion = "cancelled" }, "skip green", "none"},
	{"not complete", "workflow_run.red", func(w *world, e *Event) { e.Check.Done = false }, "skip running", "none"},
	{"another action", "check_run.red", func(w *world, e *Event) { e.Action = "rerequested" }, "skip not_for_us", "none"},
	{"a leg is red, another runs", "check_run.red", func(w *world, e *Event) {
		w.checks[featureSHA][2].Done = false
	}, "skip running", "Repo Tip Tip File PullsOf Message Checks"},
	{"green again by now", "check_run.red", func(w *world, e *Event) {
		w.checks[featureSHA] = []Check{thirdParty("x", "success")}
	}, "skip green", ""},
	{"our own check alone is red", "check_run.red", func(w *world, e *Event) {
		w.checks[featureSHA] = []Check{{Name: "guard", App: 42, Done: true, Conclusion: "failure"}, {Name: "redraft", Done: true, Conclusion: "failure"}}
	}, "skip green", ""},
	{"the head moved", "workflow_run.red", func(w *world, e *Event) { w.tips["feature"] = olderSHA }, "skip moved", "Repo Tip"},
	{"the branch is gone", "workflow_run.red", func(w *world, e *Event) { delete(w.tips, "feature") }, "skip gone", "Repo Tip"},
	{"archived", "workflow_run.red", func(w *world, e *Event) { w.repo.Archived = true }, "skip gone", "Repo"},
	{"the name is another repository's", "workflow_run.red", func(w *world, e *Event) { w.repo.ID = 8 }, "skip gone", "Repo"},
	{"not listed, as the event says", "workflow_run.red", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {workflows: [Release]}\n"
	}, "skip not_listed", "Repo Tip Tip File"},
	{"not listed, as the checks say", "check_run.red", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {workflows: [Release]}\n"
	}, "skip not_listed", ""},
	{"a branch that gets none", "workflow_run.red", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {never-branches: [\"feat*\"]}\n"
	}, "skip never_branch", "Repo Tip Tip File"},
	{"a glob that is none", "workflow_run.red", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {never-branches: [\"[\"]}\n"
	}, "skip bad_configuration", ""},
	{"a wrong configuration", "workflow_run.red", func(w *world, e *Event) { w.files[mainSHA] = "version: 2\n" }, "skip bad_configuration", ""},
	{"dependabot", "workflow_run.red", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Author = Account{ID: 3, Login: "dependabot[bot]", Bot: true}
		w.pulls[5] = p
	}, "skip bot", "Repo Tip Tip File PullsOf"},
	{"vetoed", "workflow_run.red", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Labels = []string{"redraft", "Redraft:Skip"}
		w.pulls[5] = p
	}, "skip vetoed", ""},
	{"a commit of ours, merged by a person", "workflow_run.red", func(w *world, e *Event) {
		w.messages = map[string]string{featureSHA: ours}
	}, "skip own_work", "Repo Tip Tip File PullsOf Message"},
	{"a draft for this very commit", "workflow_run.red", func(w *world, e *Event) {
		d := draft(31, "7/pull/5/check:other")
		d.Root = featureSHA
		w.drafts = []Draft{d}
	}, "skip already_open", ""},
	{"a draft that a person took up", "workflow_run.red", func(w *world, e *Event) {
		d := draft(31, pullKey)
		d.Ready = true
		w.drafts = []Draft{d}
	}, "skip already_open", ""},
	{"a draft for this very commit, from before there was a pull request", "workflow_run.red", func(w *world, e *Event) {
		d := draft(31, "7/branch/feature/"+ciFile)
		d.Root = featureSHA
		w.drafts = []Draft{d}
	}, "skip already_open", ""},
	{"drafts that persons took up leave room", "workflow_run.red", func(w *world, e *Event) {
		w.drafts = []Draft{draft(32, "7/pull/1/x"), draft(33, "7/pull/2/x"), draft(34, "7/pull/3/x")}
		w.drafts[2].Ready = true
		for i := range w.drafts {
			w.drafts[i].Base = "elsewhere"
		}
	}, "start " + pullKey, ""},
	{"a draft of a branch leaves no room for its other workflow", "workflow_run.main", func(w *world, e *Event) {
		w.checks[mainSHA] = append(redCI(), thirdParty("cov", "failure"))
		w.drafts = []Draft{draft(32, mainKey), draft(33, "7/pull/2/x"), draft(34, "7/pull/3/x")}
		w.drafts[0].Base = "main"
	}, "start " + mainKey, ""},
	{"a merge queue's branch", "workflow_run.red", func(w *world, e *Event) { e.Check.Branch = "gh-readonly-queue/main/pr-5-x" }, "skip never_branch", "none"},
	{"too many drafts", "workflow_run.red", func(w *world, e *Event) {
		w.drafts = []Draft{draft(32, "7/pull/1/x"), draft(33, "7/pull/2/x"), draft(34, "")}
	}, "skip too_many", ""},
	{"too many jobs", "workflow_run.red", func(w *world, e *Event) { w.today = 10 }, "skip too_many", "Repo Tip Tip File"},
	{"a limit that the repository lowers", "workflow_run.red", func(w *world, e *Event) {
		w.files[mainSHA], w.today = "version: 1\nlimits: {per-day: 2}\n", 2
	}, "skip too_many", ""},
	{"a limit that the operator lowers", "workflow_run.red", func(w *world, e *Event) { w.op.Limits.PerDay, w.today = 1, 1 }, "skip too_many", ""},
	{"may not read checks", "workflow_run.red", func(w *world, e *Event) {
		w.no = map[string]error{"Checks": &HubError{Class: Forbidden, Permission: "checks: read"}}
	}, "skip not_allowed", ""},

	// A green head closes what it makes needless.
	{"green by itself", "workflow_run.green", greenHead, "close 31", "Repo Tip PullsOf Checks Drafts Message"},
	{"green by itself, and the draft is from before there was a pull request", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.drafts[0].Key, w.known = "7/branch/feature/"+ciFile, []string{"branch/feature"}
	}, "close 31", ""},
	{"green, but another is not complete", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.checks[featureSHA] = append(w.checks[featureSHA], thirdParty("slow", ""))
	}, "skip running", "Repo Tip PullsOf Checks"},
	{"green, but another was cancelled", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.checks[featureSHA] = append(w.checks[featureSHA], thirdParty("slow", "cancelled"))
	}, "skip green", ""},
	{"green, and a person works on the draft", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.messages = nil
	}, "skip green", ""},
	{"green, and a person took the draft up", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.drafts[0].Ready = true
	}, "skip green", ""},
	{"green, and the draft is closed", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.drafts[0].Open = false
	}, "skip green", ""},
	{"green, of a head that was", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.tips["feature"] = olderSHA
	}, "skip moved", ""},
	{"a green branch, by a status", "status.red", func(w *world, e *Event) {
		greenHead(w, e)
		e.Check.Conclusion, w.known = "success", []string{"branch/feature"}
	}, "close 31", ""},
	{"a skipped check alone is not green", "workflow_run.green", func(w *world, e *Event) {
		greenHead(w, e)
		w.checks[featureSHA] = []Check{thirdParty("x", "skipped")}
	}, "skip green", ""},

	// Labels: the sender decides.
	{"a label on a pull request", "pull_request.labeled", nil, "start " + pullKey, "Repo Tip File Permission Pull Checks Drafts"},
	{"a label where the head is ours", "pull_request.labeled", func(w *world, e *Event) {
		w.messages = map[string]string{featureSHA: ours}
	}, "start " + pullKey, ""},
	{"a label after a push", "pull_request.labeled", func(w *world, e *Event) { e.Pull.Head.SHA = olderSHA }, "start " + pullKey, ""},
	{"another label", "pull_request.labeled", func(w *world, e *Event) { e.Label = "bug" }, "skip not_listed", "Repo Tip File"},
	{"a label of the configuration's", "pull_request.labeled", func(w *world, e *Event) {
		w.files[mainSHA], e.Label = "version: 1\ntriggers: {labels: [fix-it]}\n", "Fix-It"
		p := w.pulls[5]
		p.Labels = []string{"fix-it"}
		w.pulls[5] = p
	}, "start " + pullKey, ""},
	{"the default label where others are listed", "pull_request.labeled", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {labels: [fix-it]}\n"
	}, "skip not_listed", ""},
	{"nothing red", "pull_request.labeled", func(w *world, e *Event) { w.checks[featureSHA] = nil }, "skip green told", ""},
	{"still running", "pull_request.labeled", func(w *world, e *Event) { w.checks[featureSHA][0].Done = false }, "skip running told", ""},
	{"by triage", "pull_request.labeled", func(w *world, e *Event) { e.Sender.Login = "tim" }, "skip no_write", "Repo Tip File Permission"},
	{"by nobody known", "pull_request.labeled", func(w *world, e *Event) { e.Sender.Login = "eve" }, "skip no_write", ""},
	{"by a bot", "pull_request.labeled", func(w *world, e *Event) { e.Sender.Bot = true }, "skip bot", "none"},
	{"by nobody", "pull_request.labeled", func(w *world, e *Event) { e.Sender = Account{} }, "skip malformed", "none"},
	{"without a name", "pull_request.labeled", func(w *world, e *Event) { e.Label = "" }, "skip malformed", "none"},
	{"by us", "pull_request.labeled", func(w *world, e *Event) { e.Sender = Account{ID: 4, Login: "redraft[bot]", Bot: true} }, "skip own_work", "none"},
	{"on our draft", "pull_request.labeled", func(w *world, e *Event) { e.Pull.Head.Branch = "redraft/pull-5" }, "skip own_work", "none"},
	{"on a fork's pull request", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Head.Repo = 8
		w.pulls[5] = p
	}, "skip fork told", "Repo Tip File Permission Pull"},
	{"on a fork's pull request that the operator allows", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Head.Repo = 0
		w.pulls[5], w.op.Forks = p, true
	}, "skip fork told", ""},
	{"on dependabot's", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Author.Bot = true
		w.pulls[5] = p
	}, "skip bot told", ""},
	{"beside a veto", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Labels = append(p.Labels, "redraft:skip")
		w.pulls[5] = p
	}, "skip vetoed told", ""},
	{"taken off again", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.Labels = nil
		w.pulls[5] = p
	}, "skip gone", ""},
	{"closed meanwhile", "pull_request.labeled", func(w *world, e *Event) {
		p := w.pulls[5]
		p.State = "closed"
		w.pulls[5] = p
	}, "skip gone told", ""},
	{"deleted meanwhile", "pull_request.labeled", func(w *world, e *Event) { delete(w.pulls, 5) }, "skip gone told", ""},
	{"closed before", "pull_request.labeled", func(w *world, e *Event) { e.Pull.State = "closed" }, "skip gone", "none"},
	{"a wrong configuration is told", "pull_request.labeled", func(w *world, e *Event) { w.files[mainSHA] = "x" }, "skip bad_configuration told", "Repo Tip File Permission"},
	{"a branch that gets none is told", "pull_request.labeled", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {never-branches: [feature]}\n"
	}, "skip never_branch told", ""},
	{"too many jobs is told", "pull_request.labeled", func(w *world, e *Event) { w.today = 10 }, "skip too_many told", ""},
	{"a draft for this very commit is told", "pull_request.labeled", func(w *world, e *Event) {
		d := draft(31, pullKey)
		d.Root = featureSHA
		w.drafts = []Draft{d}
	}, "skip already_open told", ""},
	{"diagnose", "pull_request.labeled", diagnosing, "start " + pullKey, ""},
	{"diagnose what has a draft", "pull_request.labeled", func(w *world, e *Event) {
		diagnosing(w, e)
		d := draft(31, pullKey)
		d.Root = featureSHA
		w.drafts = []Draft{d}
	}, "start " + pullKey, ""},
	{"diagnose, asked by somebody who may not write", "pull_request.labeled", func(w *world, e *Event) {
		diagnosing(w, e)
		w.may[alice.Login] = "triage"
	}, "skip no_write", ""},
	{"reproduce", "issues.labeled", func(w *world, e *Event) { e.Label = "redraft:reproduce" }, "skip not_for_us", "none"},
	{"the veto is put on", "pull_request.labeled", func(w *world, e *Event) { e.Label = "redraft:skip" }, "cancel pull/5 cancelled", "none"},
	{"the veto is taken off", "pull_request.unlabeled", func(w *world, e *Event) { e.Label = "redraft:skip" }, "skip not_for_us", "none"},
	{"the label is taken off", "pull_request.unlabeled", nil, "cancel pull/5 cancelled", "Repo Tip File"},
	{"another label is taken off", "pull_request.unlabeled", func(w *world, e *Event) { e.Label = "bug" }, "skip not_listed", "Repo Tip File"},
	{"we take the label off", "pull_request.unlabeled", func(w *world, e *Event) { e.Sender.Login = "redraft[bot]" }, "skip own_work", "none"},
	{"a new head", "pull_request.synchronize", nil, "cancel pull/5 superseded", "none"},
	{"a new head of a fork", "pull_request.synchronize", func(w *world, e *Event) { e.Pull.Head.Repo = 8 }, "skip fork", "none"},
	{"a new head of a fork's branch that is called like ours", "pull_request.synchronize", func(w *world, e *Event) {
		e.Pull.Head.Repo, e.Pull.Head.Branch = 8, "redraft/x"
	}, "skip fork", "none"},
	{"a new head of our draft", "pull_request.synchronize", func(w *world, e *Event) { e.Pull.Head.Branch = "redraft/x" }, "skip own_work", "none"},
	{"closed", "pull_request.closed", nil, "cancel pull/5 cancelled", "none"},
	{"a person closes our draft", "pull_request.closed", func(w *world, e *Event) { e.Pull.Head.Branch = "redraft/x" }, "skip own_work", "none"},
	{"opened", "pull_request.closed", func(w *world, e *Event) { e.Action = "opened" }, "skip not_for_us", "none"},

	// Issues.
	{"a label on an issue", "issues.labeled", nil, "start " + issueKey, "Repo Tip File Permission Issue Checks Drafts Permission"},
	{"an issue names a run", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "see https://github.com/ACME/widget/actions/runs/3001/job/4."
		w.checks[mainSHA] = append(redCI(), Check{Name: "lint", Title: "Lint", Workflow: ".github/workflows/a.yml", Done: true, Conclusion: "failure"})
	}, "start " + issueKey, "Repo Tip File Permission Issue Run Checks Drafts Permission"},
	{"an issue names a run of another branch", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "https://github.com/acme/widget/actions/runs/3001"
		w.checks[mainSHA] = nil
	}, "start " + issueKey, ""},
	{"an issue names what is green by now", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "https://github.com/acme/widget/actions/runs/3001"
		w.checks[mainSHA] = redCI()[2:3]
	}, "skip green told", ""},
	{"an issue names what runs again", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "https://github.com/acme/widget/actions/runs/3001"
		w.checks[mainSHA][0].Done = false
	}, "skip running told", ""},
	{"an issue names a run that is not there", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "https://github.com/acme/widget/actions/runs/3002"
	}, "start " + issueKey, ""},
	{"an issue names a fork's run", "issues.labeled", func(w *world, e *Event) {
		e.Issue.Body = "https://github.com/acme/widget/actions/runs/3001"
		w.runs[3001] = Check{Workflow: ".github/workflows/evil.yml", Done: true, Conclusion: "failure", HeadRepo: 8}
	}, "start " + issueKey, ""},
	{"an issue names a configured check", "issues.labeled", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\nchecks: {unit: {run: go test ./...}}\n"
		e.Issue.Body = "Totals.\n\n- **Check:** `unit`\r\n"
	}, "start 7/issue/9/check:unit", "Repo Tip File Permission Issue Drafts Permission"},
	{"an issue, and nothing red", "issues.labeled", func(w *world, e *Event) { w.checks[mainSHA] = nil }, "start 7/issue/9/check:", ""},
	{"an issue by who asks", "issues.labeled", func(w *world, e *Event) {
		i := w.issues[9]
		i.Author = alice
		w.issues[9] = i
	}, "start " + issueKey, "Repo Tip File Permission Issue Checks Drafts"},
	{"an issue that is closed", "issues.labeled", func(w *world, e *Event) {
		i := w.issues[9]
		i.State = "closed"
		w.issues[9] = i
	}, "skip gone told", ""},
	{"an issue with a veto", "issues.labeled", func(w *world, e *Event) {
		i := w.issues[9]
		i.Labels = append(i.Labels, "redraft:skip")
		w.issues[9] = i
	}, "skip vetoed told", ""},
	{"a default branch that gets none", "issues.labeled", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {never-branches: [main]}\n"
	}, "skip never_branch told", ""},
	{"an issue event of a pull request", "issues.labeled", func(w *world, e *Event) { e.Issue.Pull = true }, "skip not_for_us", "none"},
	{"an issue is unlabeled", "issues.labeled", func(w *world, e *Event) { e.Action = "unlabeled" }, "cancel issue/9 cancelled", ""},
	{"an issue is closed", "issues.closed", nil, "cancel issue/9 cancelled", "none"},
	{"an issue is edited", "issues.closed", func(w *world, e *Event) { e.Action = "edited" }, "skip not_for_us", "none"},
	{"no default branch", "issues.labeled", func(w *world, e *Event) { delete(w.tips, "main") }, "skip gone", "Repo Tip"},

	// Commands.
	{"/redraft on a pull request", "issue_comment.pull", nil, "start " + pullKey, "Repo Tip File Permission Pull Checks Drafts"},
	{"/redraft on an issue", "issue_comment.issue", nil, "start " + issueKey, ""},
	{"/redraft by a reader", "issue_comment.pull", by(bob), "skip no_write", "Repo Tip File Permission"},
	{"/redraft by a maintainer", "issue_comment.pull", by(Account{ID: 5, Login: "mia"}), "start " + pullKey, ""},
	{"/redraft by an admin", "issue_comment.pull", by(Account{ID: 6, Login: "root"}), "start " + pullKey, ""},
	{"/redraft by a bot", "issue_comment.pull", by(Account{ID: 7, Login: "x[bot]", Bot: true}), "skip bot", "none"},
	{"/redraft by us", "issue_comment.pull", func(w *world, e *Event) { e.Comment.App = 42 }, "skip own_work", "none"},
	{"/redraft for another", "issue_comment.pull", func(w *world, e *Event) { e.Comment.Author = bob }, "skip malformed", "none"},
	{"edited into a command", "issue_comment.pull", func(w *world, e *Event) { e.Action = "edited" }, "skip not_for_us", "none"},
	{"a comment", "issue_comment.pull", saying("please /redraft"), "skip no_command", "none"},
	{"commands are off", "issue_comment.pull", func(w *world, e *Event) {
		w.files[mainSHA] = "version: 1\ntriggers: {commands: false}\n"
	}, "skip not_listed", "Repo Tip File"},
	{"commands are not mentioned", "issue_comment.pull", func(w *world, e *Event) { w.files[mainSHA] = "version: 1\n" }, "start " + pullKey, ""},
	{"/redraft accept", "issue_comment.issue", saying("/redraft accept 0123456789ab"), "skip nothing_to_accept told", "Repo Tip File Permission"},
	{"/redraft accept by a reader", "issue_comment.issue", func(w *world, e *Event) {
		saying("/redraft accept 0123456789ab")(w, e)
		by(bob)(w, e)
	}, "skip no_write", ""},
	{"/redraft stop", "issue_comment.pull", saying("/redraft stop"), "cancel pull/5 cancelled", "Repo Tip File Permission Pull"},
	{"/redraft stop on an issue", "issue_comment.issue", saying("/redraft stop"), "cancel issue/9 cancelled", "Repo Tip File Permission"},
	{"/redraft stop where the configuration is wrong", "issue_comment.pull", func(w *world, e *Event) {
		w.files[mainSHA] = "version: no\n"
		saying("/redraft stop")(w, e)
	}, "cancel pull/5 cancelled", ""},
	{"/redraft stop by a reader", "issue_comment.pull", func(w *world, e *Event) {
		saying("/redraft stop")(w, e)
		by(bob)(w, e)
	}, "skip no_write", ""},
	{"/redraft explain", "issue_comment.pull", saying("/redraft explain"), "explain pull/5", ""},
	{"/redraft retry though a draft is open", "issue_comment.pull", func(w *world, e *Event) {
		d := draft(31, pullKey)
		d.Root = featureSHA
		w.drafts = []Draft{d}
		saying("/redraft retry")(w, e)
	}, "start " + pullKey, ""},
	{"too many words", "issue_comment.pull", saying("/redraft retry " + strings.Repeat("é", 201)), "skip no_command told", "Repo Tip File Permission"},
	{"retry under our draft", "issue_comment.pull", underDraft(pullKey, "/redraft retry", "feature"), "start " + pullKey, "Repo Tip File Permission Pull Drafts Pull Checks Drafts"},
	{"retry under our draft of a branch", "issue_comment.pull", underDraft(mainKey, "/redraft retry", "main"), "start " + mainKey, "Repo Tip File Permission Pull Drafts Tip Checks Drafts"},
	{"retry under our draft of an issue", "issue_comment.pull", underDraft(issueKey, "/redraft retry", "main"), "start " + issueKey, ""},
	{"retry under our draft of another workflow", "issue_comment.pull", underDraft("7/pull/5/check:x", "/redraft retry", "feature"), "skip green told", ""},
	{"start under our draft", "issue_comment.pull", underDraft(pullKey, "/redraft", "feature"), "skip own_work told", ""},
	{"stop under our draft", "issue_comment.pull", underDraft(pullKey, "/redraft stop", "feature"), "cancel pull/5 cancelled", "Repo Tip File Permission Pull Drafts"},
	{"explain under our draft of a branch", "issue_comment.pull", underDraft(mainKey, "/redraft explain", "main"), "explain branch/main", ""},
	{"retry under a draft of no target", "issue_comment.pull", underDraft("8/pull/5/x", "/redraft retry", "feature"), "skip own_work told", ""},
	{"retry under a draft for ours", "issue_comment.pull", underDraft("7/branch/redraft/x/check:c", "/redraft retry", "redraft/x"), "skip own_work told", ""},
	{"a branch like ours that is no draft", "issue_comment.pull", func(w *world, e *Event) {
		underDraft(pullKey, "/redraft retry", "feature")(w, e)
		w.drafts = nil
	}, "skip own_work told", ""},
	{"retry after the target was closed", "issue_comment.pull", func(w *world, e *Event) {
		underDraft(pullKey, "/redraft retry", "feature")(w, e)
		p := w.pulls[5]
		p.State = "closed"
		w.pulls[5] = p
	}, "skip gone told", ""},
}

// greenHead is a pull request that went green while a draft of ours waits for it.
func greenHead(w *world, _ *Event) {
	w.checks[featureSHA] = []Check{thirdParty("a", "success"), thirdParty("b", "skipped"), thirdParty("redraft", "failure")}
	w.drafts = []Draft{draft(31, pullKey), draft(32, "7/pull/6/x")}
	w.drafts[1].Base = "elsewhere"
	w.messages = map[string]string{draftSHA: ours}
	w.known = []string{"pull/5"}
}

func by(a Account) func(*world, *Event) {
	return func(_ *world, e *Event) { e.Sender, e.Comment.Author = a, a }
}

func saying(body string) func(*world, *Event) {
	return func(_ *world, e *Event) { e.Comment.Body = body }
}

// underDraft is a comment under draft 31, which goes against base.
func underDraft(key, body, base string) func(*world, *Event) {
	return func(w *world, e *Event) {
		e.Issue.Number, e.Comment.Body = 31, body
		d := draft(31, key)
		d.Base, d.Root = base, featureSHA
		w.drafts = []Draft{draft(30, "7/pull/6/x"), d}
		w.tips["redraft/x"] = olderSHA
		w.pulls[31] = Pull{Number: 31, State: "open", Author: Account{Login: "redraft[bot]", Bot: true}, Head: Tip{7, "redraft/pull-5", draftSHA}, Base: Tip{7, base, featureSHA}}
	}
}

func TestDecide(t *testing.T) {
	for _, tt := range decided {
		t.Run(tt.name, func(t *testing.T) {
			w, e := newWorld(), event(t, tt.event)
			if tt.edit != nil {
				tt.edit(w, &e)
			}
			d, no := w.decide(t, e)
			if got := said(d, no); got != tt.want {
				t.Errorf("got %s (%v), want %s", got, no, tt.want)
			}
			want := strings.TrimPrefix(tt.calls, "none")
			if got := strings.Join(w.calls, " "); tt.calls != "" && got != want {
				t.Errorf("calls %q, want %q", got, want)
			}
			if no != nil && (no.Text == "" || strings.ContainsAny(no.Text[len(no.Text)-1:], ".\n")) {
				t.Errorf("the reason reads %q", no.Text)
			}
		})
	}
}

// Every reason is given by some event, save those that only the queue knows.
func TestReasons(t *testing.T) {
	rest := []Reason{NotForUs, Malformed, Green, Running, FromFork, FromBot, NoWrite, OwnWork, Vetoed, NotListed, NeverBranch, Moved, Gone,
		NoCommand, NothingToAccept, AlreadyOpen, TooMany, BadPolicy, NotAllowed}
	for _, tt := range decided {
		if reason, ok := strings.CutPrefix(strings.TrimSuffix(tt.want, " told"), "skip "); ok {
			rest = slices.DeleteFunc(rest, func(r Reason) bool { return string(r) == reason })
		}
	}
	if len(rest) != 0 {
		t.Errorf("no event is skipped as %v", rest)
	}
}

func start1(t *testing.T, w *world, e Event) Job {
	t.Helper()
	d, no := w.decide(t, e)
	if len(d.Start) != 1 {
		t.Fatalf("got %s (%v), want one job", said(d, no), no)
	}
	return d.Start[0]
}

func TestJobs(t *testing.T) {
	legs := []string{"test (linux)", "test (windows)"}
	pull := Job{Key: pullKey, Repo: widget, Target: Target{ForPull, 5, "feature"}, Root: featureSHA, Merge: mergeSHA, Onto: mainSHA, Base: featureSHA, Policy: mainSHA,
		Workflow: ciFile, Checks: legs, URL: "https://github.com/acme/widget/runs/1", Trigger: "workflow_run", Delivery: "d-workflow_run.red", Sender: alice}
	if diff := cmp.Diff(pull, start1(t, newWorld(), event(t, "workflow_run.red"))); diff != "" {
		t.Errorf("of a check (-want +got):\n%s", diff)
	}

	pull.Trigger, pull.Delivery, pull.Label, pull.Asked = "pull_request", "d-pull_request.labeled", "redraft", true
	if diff := cmp.Diff(pull, start1(t, newWorld(), event(t, "pull_request.labeled"))); diff != "" {
		t.Errorf("of a label (-want +got):\n%s", diff)
	}

	e := event(t, "issue_comment.pull")
	e.Comment.Body = " /redraft retry  look at\tthe \u202ezero\x00 case \n"
	pull.Trigger, pull.Delivery, pull.Label, pull.Words, pull.Retry = "issue_comment", "d-issue_comment.pull", "", "look at the zero case", true
	if diff := cmp.Diff(pull, start1(t, newWorld(), e)); diff != "" {
		t.Errorf("of a command (-want +got):\n%s", diff)
	}

	issue := Job{Key: issueKey, Repo: widget, Target: Target{ForIssue, 9, "main"}, Root: mainSHA, Body: digest([]byte("The total of nothing is 1.\n")), Base: mainSHA,
		Policy: mainSHA, Workflow: ciFile, Checks: legs, URL: pull.URL, Trigger: "issues", Delivery: "d-issues.labeled", Sender: alice, Label: "redraft", Asked: true, Strange: true}
	if diff := cmp.Diff(issue, start1(t, newWorld(), event(t, "issues.labeled"))); diff != "" {
		t.Errorf("of an issue (-want +got):\n%s", diff)
	}

	branch := Job{Key: mainKey, Repo: widget, Target: Target{ForBranch, 0, "main"}, Root: mainSHA, Base: mainSHA, Policy: mainSHA, Workflow: ciFile, Checks: legs,
		URL: pull.URL, Trigger: "workflow_run", Delivery: "d-workflow_run.main", Sender: alice}
	if diff := cmp.Diff(branch, start1(t, newWorld(), event(t, "workflow_run.main"))); diff != "" {
		t.Errorf("of a branch (-want +got):\n%s", diff)
	}
}

// What may come from someone without write is strange: its draft's CI does not start by itself.
func TestStrange(t *testing.T) {
	for _, tt := range []struct {
		author Account
		want   bool
	}{{alice, false}, {bob, true}, {Account{}, true}, {Account{ID: 8, Login: "renovate[bot]", Bot: true}, true}} {
		w := newWorld()
		w.op.Bots = true
		p := w.pulls[5]
		p.Author = tt.author
		w.pulls[5] = p
		if j := start1(t, w, event(t, "workflow_run.red")); j.Strange != tt.want {
			t.Errorf("of %q: strange %v, want %v", tt.author.Login, j.Strange, tt.want)
		}
	}
}

// A merge that GitHub made of another head says nothing about this one.
func TestMergeOfThisHead(t *testing.T) {
	w := newWorld()
	p := w.pulls[5]
	p.Head.SHA = olderSHA
	w.pulls[5] = p
	if j := start1(t, w, event(t, "workflow_run.red")); j.Merge != "" || j.Root != featureSHA {
		t.Errorf("merge %q of root %q, want none of %q", j.Merge, j.Root, featureSHA)
	}
}

// One red run, and a label beside it, send many events: all of them are one job's.
func TestOneKey(t *testing.T) {
	keys := map[string][]string{}
	for _, name := range []string{"workflow_run.red", "check_suite.red", "check_run.red", "status.red", "pull_request.labeled", "issue_comment.pull"} {
		j := start1(t, newWorld(), event(t, name))
		keys[j.Key+" "+j.Root] = append(keys[j.Key+" "+j.Root], name)
	}
	if len(keys) != 1 {
		t.Errorf("one red run has the keys %v", keys)
	}
}

// Nothing of ours starts anything: neither our branch's red checks, nor our check, comment, label or closed draft.
func TestLoop(t *testing.T) {
	for _, name := range []string{"workflow_run.red", "check_suite.red", "check_run.red", "status.red"} {
		for what, edit := range map[string]func(*Event){
			"branch": func(e *Event) { e.Check.Branch = "redraft/pull-5" },
			"prefix": func(e *Event) { e.Check.Branch = "bots/pull-5" },
			"App":    func(e *Event) { e.Check.App = 42 },
			"name":   func(e *Event) { e.Check.Name = "redraft" },
		} {
			w, e, self := newWorld(), event(t, name), us
			self.Prefix = "bots/"
			edit(&e)
			_, err := Gather(t.Context(), w, e, self, w.op, nil, nil)
			if no, ok := err.(*Skip); !ok || no.Reason != OwnWork || len(w.calls) != 0 {
				t.Errorf("%s, our %s: %v after %v, want %s after no call", name, what, err, w.calls, OwnWork)
			}
		}
	}
}

// With a plain token we are a person's account: what that person asks for counts, and what we take off does not.
func TestPlainToken(t *testing.T) {
	self := Self{Login: "alice"}
	if no := Sift(event(t, "pull_request.labeled"), self); no != nil {
		t.Errorf("a label of the token's owner: %v", no)
	}
	if no := Sift(event(t, "issue_comment.pull"), self); no != nil {
		t.Errorf("a command of the token's owner: %v", no)
	}
	if no := Sift(event(t, "pull_request.unlabeled"), self); no == nil || no.Reason != OwnWork {
		t.Errorf("a label that we may have taken off: %v", no)
	}
}

// The default branch is the one that it is now, and so is the configuration.
func TestRenamedDefaultBranch(t *testing.T) {
	w := newWorld()
	w.repo.Default, w.tips["trunk"] = "trunk", olderSHA
	w.files[mainSHA] = "version: 1\ntriggers: {labels: [old]}\n"
	w.files[olderSHA] = "version: 1\ntriggers: {labels: [redraft]}\n"
	if j := start1(t, w, event(t, "pull_request.labeled")); j.Policy != olderSHA {
		t.Errorf("the policy is of %s, want the new default branch's", j.Policy)
	}
	w.repo.Repo = Repo{ID: 7, Owner: "corp", Name: "gadget"}
	if j := start1(t, w, event(t, "pull_request.labeled")); j.Repo != (Repo{7, "corp", "gadget", 99}) || j.Key != pullKey {
		t.Errorf("after a transfer the job is of %+v under %s", j.Repo, j.Key)
	}
}

// What GitHub can get over is no decision.
func TestHubErrors(t *testing.T) {
	for _, class := range []Class{Unavailable, RateLimited, BadAuth} {
		for _, call := range []string{"Repo", "Tip", "File", "PullsOf", "Message", "Checks", "Drafts", "Permission"} {
			w := newWorld()
			w.no = map[string]error{call: &HubError{Class: class}}
			_, err := Gather(t.Context(), w, event(t, "workflow_run.red"), us, w.op, nil, nil)
			var h *HubError
			if !errors.As(err, &h) || h.Class != class || w.calls[len(w.calls)-1] != call {
				t.Errorf("%s of %s: got %v after %v", class, call, err, w.calls)
			}
		}
	}
}

// A key can be read back, whatever the branch and the check are called.
func TestKeys(t *testing.T) {
	long := strings.Repeat("n", 300)
	for _, c := range []Check{{Workflow: ciFile}, {Workflow: ".github/workflows/my ci.yml@refs/heads/main"}, {Workflow: "dynamic/pages/build"}, {Name: "a/.github/workflows/b"},
		{Name: "a/check:b"}, {Name: ""}, {Name: long}, {Workflow: ".github/workflows/" + long}, {Workflow: ".github/workflows/a/b.yml"}} {
		g := groupOf(c)
		if len(g.id) > longestName {
			t.Errorf("a group's id has %d bytes", len(g.id))
		}
		for _, want := range []Target{{ForBranch, 0, "main"}, {ForBranch, 0, "check/dynamic/github/workflows"}, {ForPull, 5, "b"}, {ForIssue, 9, "main"}} {
			if got, ok := (Draft{Key: jobKey(7, want, g.id), Base: want.Branch}).target(7); !ok || got != want {
				t.Errorf("%q reads as %+v, want %+v", jobKey(7, want, g.id), got, want)
			}
		}
	}
	if groupOf(Check{Name: long}).id == groupOf(Check{Name: long + "x"}).id {
		t.Error("two checks with long names are one")
	}
	for _, key := range []string{"", "7", "7/pull", "7/pull/5", "7/pull/x/c", "7/pull/-5/c", "7/pull/0/c", "7/pull/99999999999/c", "8/pull/5/c", "7/branch/main", "7/branch//check:c", "7/tag/v1/c", "77/pull/5/c"} {
		if got, ok := (Draft{Key: key}).target(7); ok {
			t.Errorf("%q reads as %+v", key, got)
		}
	}
}

// What this machine cannot remember now is asked again later, and is no no.
func TestMemoryErrors(t *testing.T) {
	disk := errors.New("disk")
	forgets := func(context.Context, Repo, Target) (bool, error) { return false, disk }
	if _, err := Gather(t.Context(), newWorld(), event(t, "workflow_run.green"), us, Operator{}, forgets, nil); err != disk {
		t.Errorf("drafts: got %v", err)
	}
	counts := func(context.Context, Repo) (int, error) { return 0, disk }
	if _, err := Gather(t.Context(), newWorld(), event(t, "workflow_run.red"), us, Operator{}, nil, counts); err != disk {
		t.Errorf("jobs: got %v", err)
	}
}

// decideAny is Accept with the promises that hold for whatever event and facts there are.
func decideAny(t *testing.T, e Event, f Facts) {
	t.Helper()
	d, no := Accept(e, us, f)
	again, no2 := Accept(e, us, f)
	if diff := cmp.Diff(d, again); diff != "" || (no == nil) != (no2 == nil) || no != nil && *no != *no2 {
		t.Errorf("Accept is not sure: %v, then %v\n%s", no, no2, diff)
	}
	if no != nil && len(d.Start)+len(d.Cancel)+len(d.Close) != 0 {
		t.Errorf("%v, and yet %s", no, said(d, nil))
	}
	for _, j := range d.Start {
		p := f.Pull
		switch {
		case j.Target.Kind == ForPull && (p.Fork() || p.State != "open" || p.Author.Bot && !f.Policy.Bots || hasLabel(p.Labels, vetoLabel)):
			t.Errorf("a job for pull request %+v", *p)
		case j.Target.Kind == ForIssue && (f.Issue.State != "open" || hasLabel(f.Issue.Labels, vetoLabel)):
			t.Errorf("a job for issue %+v", *f.Issue)
		case ownBranch(j.Target.Branch, us) || e.Check == nil && !writer(f.Permission) || f.Repo.Archived || f.Repo.ID != e.Repo.ID || f.Policy.Broken != nil:
			t.Errorf("a job %+v", j)
		case e.Check != nil && (f.Ours || e.Check.HeadRepo != 0 && e.Check.HeadRepo != e.Repo.ID || e.Name != "status" && e.Check.SHA != j.Root):
			t.Errorf("a job of check %+v", *e.Check)
		case j.Root == "" || j.Root != j.Base || j.Key == "" || j.Trigger != e.Name || j.Repo.ID != e.Repo.ID:
			t.Errorf("a job that pins too little: %+v", j)
		}
		if back, ok := (Draft{Key: j.Key, Base: j.Target.Branch}).target(e.Repo.ID); !ok || back != j.Target {
			t.Errorf("key %q reads as %+v, want %+v", j.Key, back, j.Target)
		}
	}
	if len(d.Start) > mostJobs {
		t.Errorf("%d jobs of one event", len(d.Start))
	}
}

// TestAcceptAny decides about shaken facts; they are seeded, so that a breach can be looked at again.
func TestAcceptAny(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob("testdata/events/*.red.json")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	names := []string{"workflow_run.green", "workflow_run.main", "workflow_run.fork", "pull_request.labeled", "pull_request.unlabeled", "issues.labeled", "issue_comment.pull", "issue_comment.issue"}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	started := 0
	for range 5_000 {
		e := eventOnce(t, names[r.IntN(len(names))])
		f := shaken(r)
		shakeEvent(r, &e)
		decideAny(t, e, f)
		if d, _ := Accept(e, us, f); len(d.Start) > 0 {
			started++
		}
	}
	if started < 150 {
		t.Errorf("only %d of 5,000 began a job: they show little", started)
	}
}

var read = map[string]Event{}

// eventOnce is event, read once; what it points at is the caller's.
func eventOnce(t *testing.T, name string) Event {
	if _, ok := read[name]; !ok {
		read[name] = event(t, name)
	}
	e := read[name]
	e.Check, e.Pull, e.Issue, e.Comment = clone(e.Check), clone(e.Pull), clone(e.Issue), clone(e.Comment)
	return e
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func pick[T any](r *rand.Rand, usual T, others ...T) T {
	if r.IntN(12) != 0 || len(others) == 0 {
		return usual
	}
	return others[r.IntN(len(others))]
}

func shakeEvent(r *rand.Rand, e *Event) {
	e.Sender = pick(r, e.Sender, bob, Account{Login: us.Login, Bot: true}, Account{})
	if c := e.Check; c != nil {
		c.Branch = pick(r, c.Branch, "", "redraft/x", "main")
		c.HeadRepo = pick(r, c.HeadRepo, 8)
		c.SHA = pick(r, c.SHA, olderSHA)
	}
	if e.Pull != nil {
		e.Pull.Head.Branch = pick(r, e.Pull.Head.Branch, "redraft/x")
	}
	if e.Comment != nil {
		e.Comment.Author = e.Sender
		e.Comment.Body = pick(r, "/redraft retry x", "/redraft", "/redraft stop", "/redraft accept 0123456789ab", "hello")
		e.Issue.Number = pick(r, e.Issue.Number, 31)
	}
}

// shaken are facts of which some are not as they should be.
func shaken(r *rand.Rand) Facts {
	w := newWorld()
	f := Facts{Repo: w.repo, PolicySHA: mainSHA, Permission: pick(r, "write", "read", ""), Author: pick(r, "write", "none"), Ours: pick(r, false, true),
		Open: r.IntN(4), Today: r.IntN(11), Checks: redCI()}
	f.Repo.ID, f.Repo.Archived = pick(r, f.Repo.ID, 8), pick(r, false, true)
	f.Policy.Broken = pick(r, nil, errors.New("broken"))
	f.Tip = pick(r, Tip{7, "feature", featureSHA}, Tip{7, "redraft/x", featureSHA}, Tip{})
	if r.IntN(3) == 0 {
		f.Tip = Tip{7, "main", mainSHA}
	}
	if r.IntN(4) != 0 {
		p := w.pulls[5]
		p.State, p.Author.Bot = pick(r, "open", "closed"), pick(r, false, true)
		p.Head = pick(r, f.Tip, Tip{8, "feature", featureSHA}, Tip{7, "redraft/x", featureSHA}, Tip{})
		p.Labels = pick(r, p.Labels, []string{vetoLabel, "redraft"}, nil)
		p.Number = pick(r, p.Number, 6, 31)
		f.Pull = &p
	}
	if r.IntN(4) != 0 {
		i := w.issues[9]
		i.State, i.Labels = pick(r, "open", "closed"), pick(r, i.Labels, []string{vetoLabel}, nil)
		f.Issue = &i
	}
	for i := range f.Checks {
		f.Checks[i].Done, f.Checks[i].Workflow = pick(r, true, false), pick(r, ciFile, "", "odd/x.yml")
	}
	if r.IntN(3) == 0 {
		d := draft(31, pick(r, pullKey, mainKey, issueKey, "7/branch/redraft/x/check:c", "7/pull/5/check:", "x"))
		d.Ready, d.Root, d.Open = pick(r, false, true), pick(r, olderSHA, featureSHA), pick(r, true, false)
		f.Drafts = []Draft{d}
	}
	return f
}

// FuzzDecide decides about whatever a webhook may hold, with facts of any shape.
func FuzzDecide(f *testing.F) {
	files, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for i, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		kind, _, _ := strings.Cut(filepath.Base(file), ".")
		f.Add(kind, payload, uint64(i))
	}
	f.Fuzz(func(t *testing.T, kind string, payload []byte, seed uint64) {
		e, err := Decode(kind, "d", payload)
		if err != nil {
			if no, ok := err.(*Skip); !ok || no.Reason != Malformed && no.Reason != NotForUs {
				t.Fatalf("Decode: %v", err)
			}
			return
		}
		Sift(e, us)
		decideAny(t, e, shaken(rand.New(rand.NewPCG(seed, 1))))
	})
}

// diagnosing puts the label on that asks for a diagnosis alone.
func diagnosing(w *world, e *Event) {
	e.Label = "redraft:diagnose"
	p := w.pulls[5]
	p.Labels = append(p.Labels, e.Label)
	w.pulls[5] = p
}

// TestDiagnosing: a label or a command asks for a diagnosis, and nothing else does.
func TestDiagnosing(t *testing.T) {
	w, e := newWorld(), event(t, "pull_request.labeled")
	diagnosing(w, &e)
	if j := start1(t, w, e); !j.Diagnose || j.Label != "redraft:diagnose" || !j.Asked {
		t.Errorf("by the label: %+v", j)
	}
	e = event(t, "issue_comment.pull")
	e.Comment.Body = "/redraft diagnose"
	if j := start1(t, newWorld(), e); !j.Diagnose {
		t.Errorf("by the command: %+v", j)
	}
	if j := start1(t, newWorld(), event(t, "pull_request.labeled")); j.Diagnose {
		t.Error("by another label")
	}
}
