package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/bot"
)

// Call is one kind of call that may leave this program. There is no other.
type Call struct {
	Method string
	Path   string // below the API's base: {number} and {id} are digits, {sha} is hex, {x...} is one segment or more, any other {x} is one
	App    bool   // signed with the App's key; all others carry a token
	Needs  string // the least permissions, as in "issues: write, pull_requests: write"; "" where none is asked for
	Body   string // the keys that its body may hold: "key?" may be missing, "key=a|b" holds one of these; "" for no body
	Why    string
}

// op names a call by its place in the table.
type op int

const (
	getApp op = iota
	getHookConfig
	listInstallations
	getInstallation
	mintToken
	revokeToken
	getUser
	getOrg
	getRepo
	getMoved
	getActionsSetting
	getPermission
	getPull
	listPulls
	openPull
	editPull
	askReviewers
	getIssue
	listComments
	addComment
	editComment
	putLabels
	dropLabel
	getBranch
	getCommit
	getFile
	listCheckRuns
	addCheckRun
	editCheckRun
	getStatus
	listRuns
	getRun
	listJobs
)

const (
	ofIssue   = "issues: read, pull_requests: read"   // a number may be either, and each wants its own
	intoIssue = "issues: write, pull_requests: write" // likewise
)

// table is the closed list. No call in it merges, approves, reviews, makes a draft ready, or moves a branch or a tag:
// branches are pushed by git, and what a draft becomes is for people.
var table = [...]Call{
	getApp:            {"GET", "/app", true, "", "", "who we are, and whether the key is the App's"},
	getHookConfig:     {"GET", "/app/hook/config", true, "", "", "the doctor: where events are sent, and whether signed"},
	listInstallations: {"GET", "/app/installations", true, "", "", "the doctor: what each installation grants"},
	getInstallation:   {"GET", "/repos/{owner}/{repo}/installation", true, "", "", "what is granted here, before any work"},
	mintToken:         {"POST", "/app/installations/{id}/access_tokens", true, "", "repository_ids? repositories? permissions", "a token for one repository and one operation"},
	revokeToken:       {"DELETE", "/installation/token", false, "", "", "a token's end, after its operation"},
	getUser:           {"GET", "/user", false, "", "", "whose plain token it is"},
	getOrg:            {"GET", "/orgs/{org}", false, "organization_plan: read", "", "whether its private repositories have drafts; asked where that is granted"},

	getRepo:           {"GET", "/repos/{owner}/{repo}", false, "metadata: read", "", "the repository as it is now"},
	getMoved:          {"GET", "/repositories/{id}", false, "metadata: read", "", "where GitHub sends who asks for a renamed repository"},
	getActionsSetting: {"GET", "/repos/{owner}/{repo}/actions/permissions/workflow", false, "administration: read", "", "whether Actions may open pull requests; asked with plain tokens, where it may be refused"},
	getPermission:     {"GET", "/repos/{owner}/{repo}/collaborators/{user}/permission", false, "metadata: read", "", "whether the sender may write"},

	getPull:      {"GET", "/repos/{owner}/{repo}/pulls/{number}", false, "pull_requests: read", "", "head, base, labels and state of a pull request"},
	listPulls:    {"GET", "/repos/{owner}/{repo}/pulls", false, "pull_requests: read", "", "pull requests of a branch, and our own"},
	openPull:     {"POST", "/repos/{owner}/{repo}/pulls", false, "pull_requests: write", "title body head base draft=true", "the draft; never a ready pull request"},
	editPull:     {"PATCH", "/repos/{owner}/{repo}/pulls/{number}", false, "pull_requests: write", "title? body? state?=closed", "the draft's text, and closing it"},
	askReviewers: {"POST", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", false, "pull_requests: write", "reviewers", "asks people to look at the draft"},

	getIssue:     {"GET", "/repos/{owner}/{repo}/issues/{number}", false, ofIssue, "", "an issue's text and labels, and who closed a draft"},
	listComments: {"GET", "/repos/{owner}/{repo}/issues/{number}/comments", false, ofIssue, "", "our comment, found by its marker"},
	addComment:   {"POST", "/repos/{owner}/{repo}/issues/{number}/comments", false, intoIssue, "body", "our one comment"},
	editComment:  {"PATCH", "/repos/{owner}/{repo}/issues/comments/{id}", false, intoIssue, "body", "our one comment, edited in place"},
	putLabels:    {"POST", "/repos/{owner}/{repo}/issues/{number}/labels", false, intoIssue, "labels", "a draft's labels; GitHub makes those that are new"},
	dropLabel:    {"DELETE", "/repos/{owner}/{repo}/issues/{number}/labels/{label}", false, intoIssue, "", "the trigger label, when the run ends"},

	getBranch: {"GET", "/repos/{owner}/{repo}/git/ref/heads/{branch...}", false, "contents: read", "", "where a branch stands"},
	getCommit: {"GET", "/repos/{owner}/{repo}/commits/{sha}", false, "contents: read", "", "a commit's message: whether it is ours"},
	getFile:   {"GET", "/repos/{owner}/{repo}/contents/{path...}", false, "contents: read", "", "the configuration and the pull request template"},

	listCheckRuns: {"GET", "/repos/{owner}/{repo}/commits/{sha}/check-runs", false, "checks: read", "", "the red checks, and our own"},
	addCheckRun:   {"POST", "/repos/{owner}/{repo}/check-runs", false, "checks: write", "name head_sha external_id status conclusion?=neutral|success completed_at? details_url? output", "our check run; never a red one"},
	editCheckRun:  {"PATCH", "/repos/{owner}/{repo}/check-runs/{id}", false, "checks: write", "name status conclusion?=neutral|success completed_at? details_url? output", "our check run, edited in place"},
	getStatus:     {"GET", "/repos/{owner}/{repo}/commits/{sha}/status", false, "statuses: read", "", "commit statuses of third parties"},
	listRuns:      {"GET", "/repos/{owner}/{repo}/actions/runs", false, "actions: read", "", "the workflow that a check run belongs to"},
	getRun:        {"GET", "/repos/{owner}/{repo}/actions/runs/{id}", false, "actions: read", "", "a workflow's run that an event or an issue names"},
	listJobs:      {"GET", "/repos/{owner}/{repo}/actions/runs/{id}/jobs", false, "actions: read", "", "the step that failed, whose command is the check where none is configured"},
}

// Calls is the closed list, in a copy.
func Calls() []Call { return slices.Clone(table[:]) }

// reads says whether a call changes nothing.
func (c Call) reads() bool { return c.Method == http.MethodGet }

// again says whether a call may be made again without looking: it changes nothing, or makes a token, which ends by itself
// when nobody ever got it.
func (c Call) again() bool { return c.reads() || c.Path == table[mintToken].Path }

// spaced says whether a call makes or changes what people see, which GitHub wants a second apart. A token's beginning
// and end are not of that kind.
func (c Call) spaced() bool { return !c.reads() && !c.App && c.Path != table[revokeToken].Path }

func among(o op, ops []op) bool { return slices.Contains(ops, o) }

// permissions of some calls, the higher of each name.
func permissions(ops []op) map[string]string {
	all := map[string]string{}
	for _, o := range ops {
		for name, level := range parsePermissions(table[o].Needs) {
			if all[name] != "write" {
				all[name] = level
			}
		}
	}
	return all
}

func parsePermissions(needs string) map[string]string {
	all := map[string]string{}
	for need := range strings.SplitSeq(needs, ", ") {
		if name, level, ok := strings.Cut(need, ": "); ok {
			all[name] = level
		}
	}
	return all
}

// permit finds the call that a request is, among some of the table; any other is refused.
func (h *Hub) permit(r *http.Request, body []byte, ops []op) (Call, error) {
	below, ok := strings.CutPrefix(r.URL.EscapedPath(), strings.TrimSuffix(h.api.EscapedPath(), "/"))
	if !ok || r.URL.Scheme != h.api.Scheme || r.URL.Host != h.api.Host || r.URL.User != nil || r.URL.Opaque != "" {
		return Call{}, refusal("%s to another place than %s", r.Method, h.api.Host)
	}
	for _, o := range ops {
		c := table[o]
		if c.Method != r.Method || !matches(c.Path, below) {
			continue
		}
		if err := fits(c.Body, body); err != nil {
			return Call{}, refusal("%s %s: %v", c.Method, c.Path, err)
		}
		return c, nil
	}
	return Call{}, refusal("%s %s", r.Method, below)
}

func refusal(format string, a ...any) *bot.HubError {
	return &bot.HubError{Class: bot.NotPermitted, Text: clip(fmt.Sprintf(format, a...))}
}

// matches compares escaped paths segment by segment. A dot segment, an empty one and an escaped slash outside a label
// match nothing.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, w := range want {
		if i >= len(got) {
			return false
		}
		if strings.HasSuffix(w, "...}") {
			return !slices.ContainsFunc(got[i:], func(s string) bool { return !segment("{x}", s) })
		}
		if !segment(w, got[i]) {
			return false
		}
	}
	return len(got) == len(want)
}

func segment(pattern, escaped string) bool {
	if !strings.HasPrefix(pattern, "{") {
		return pattern == escaped
	}
	s, err := url.PathUnescape(escaped)
	if err != nil || s == "" || s == "." || s == ".." || len(s) > 1024 {
		return false
	}
	switch pattern {
	case "{number}", "{id}":
		return only(s, "0123456789") && len(s) < 20
	case "{sha}":
		return only(s, "0123456789abcdefABCDEF") && len(s) >= 7 && len(s) <= 64
	case "{label}":
		return true
	}
	return !strings.ContainsAny(s, "/\\\x00")
}

func only(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }

// fits compares a body with its keys in the table.
func fits(keys string, body []byte) error {
	if keys == "" || len(body) == 0 {
		if keys != "" || len(body) != 0 {
			return fmt.Errorf("a body of %d bytes", len(body))
		}
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("a body that is no object")
	}
	for key := range strings.FieldsSeq(keys) {
		key, values, chosen := strings.Cut(key, "=")
		name, optional := strings.CutSuffix(key, "?")
		value, there := fields[name]
		delete(fields, name)
		switch {
		case !there && !optional:
			return fmt.Errorf("no %s", name)
		case there && chosen && !slices.Contains(strings.Split(values, "|"), string(bytes.Trim(value, `"`))):
			return fmt.Errorf("%s may not be %s", name, clip(string(value)))
		}
	}
	for name := range fields {
		return fmt.Errorf("it may not hold %s", clip(name))
	}
	return nil
}
