package githubtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOr is a time, or null.
func stampOr(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// orNil is a text, or null when it is empty.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func with(a, b obj) obj {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func node(kind string, parts ...any) string {
	return base64.StdEncoding.EncodeToString([]byte(kind + fmt.Sprint(parts...)))
}

// links are addresses below one, given as name=suffix.
func links(below string, suffixes ...string) obj {
	out := obj{}
	for _, pair := range suffixes {
		name, suffix, _ := strings.Cut(pair, "=")
		out[name] = below + suffix
	}
	return out
}

func (r *Repo) api(suffix string) string {
	return r.s.URL + "repos/" + r.full() + (&url.URL{Path: suffix}).EscapedPath()
}

func (r *Repo) html(suffix string) string {
	return r.s.origin + "/" + r.full() + (&url.URL{Path: suffix}).EscapedPath()
}

var userLinks = strings.Fields(`url= followers_url=/followers following_url=/following{/other_user} gists_url=/gists{/gist_id}
	starred_url=/starred{/owner}{/repo} subscriptions_url=/subscriptions organizations_url=/orgs repos_url=/repos
	events_url=/events{/privacy} received_events_url=/received_events`)

func (s *Server) avatar(a *account) string { return fmt.Sprintf("%s/avatars/%d", s.origin, a.id) }

// userJSON is an account; null is nobody.
func (s *Server) userJSON(a *account) obj {
	if a == nil {
		return nil
	}
	return with(links(s.URL+"users/"+url.PathEscape(a.login), userLinks...), obj{
		"login": a.login, "id": a.id, "node_id": node("User", a.id), "avatar_url": s.avatar(a), "gravatar_id": "",
		"html_url": s.origin + "/" + url.PathEscape(a.login), "type": a.kind, "site_admin": false, "user_view_type": "public",
	})
}

// nullable makes a missing account null in JSON; a nil map would be null too, but not equal to nil.
func (s *Server) nullable(a *account) any {
	if a == nil {
		return nil
	}
	return s.userJSON(a)
}

func (s *Server) selfJSON(a *account) obj {
	return with(s.userJSON(a), obj{
		"name": a.login, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil, "public_repos": 0,
		"public_gists": 0, "followers": 0, "following": 0, "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
	})
}

func getUser(c *call) (any, error) {
	a := c.s.accounts[fold(c.r.PathValue("username"))]
	if a == nil {
		return nil, notFound
	}
	return c.s.selfJSON(a), nil
}

// getOrg tells the plan to whom may know it, and to nobody else, as GitHub does.
func getOrg(c *call) (any, error) {
	a := c.s.accounts[fold(c.r.PathValue("org"))]
	if a == nil || a.kind != "Organization" {
		return nil, notFound
	}
	login := url.PathEscape(a.login)
	answer := with(links(c.s.URL+"orgs/"+login, strings.Fields(`url= repos_url=/repos events_url=/events hooks_url=/hooks issues_url=/issues
		members_url=/members{/member} public_members_url=/public_members{/member}`)...), obj{
		"login": a.login, "id": a.id, "node_id": node("Organization", a.id), "avatar_url": c.s.avatar(a), "description": nil,
		"has_organization_projects": true, "has_repository_projects": true, "public_repos": 0, "public_gists": 0, "followers": 0,
		"following": 0, "html_url": c.s.origin + "/" + login, "type": "Organization", "created_at": "2020-01-01T00:00:00Z",
		"updated_at": "2020-01-01T00:00:00Z", "archived_at": nil,
	})
	if c.who != nil && c.who.perms["organization_plan"] == "read" {
		answer["plan"] = obj{"name": a.plan, "space": 1, "private_repos": 9999}
	}
	return answer, nil
}

var repoLinks = strings.Fields(`url= archive_url=/{archive_format}{/ref} assignees_url=/assignees{/user} blobs_url=/git/blobs{/sha}
	branches_url=/branches{/branch} collaborators_url=/collaborators{/collaborator} comments_url=/comments{/number}
	commits_url=/commits{/sha} compare_url=/compare/{base}...{head} contents_url=/contents/{+path} contributors_url=/contributors
	deployments_url=/deployments downloads_url=/downloads events_url=/events forks_url=/forks git_commits_url=/git/commits{/sha}
	git_refs_url=/git/refs{/sha} git_tags_url=/git/tags{/sha} issue_comment_url=/issues/comments{/number}
	issue_events_url=/issues/events{/number} issues_url=/issues{/number} keys_url=/keys{/key_id} labels_url=/labels{/name}
	languages_url=/languages merges_url=/merges milestones_url=/milestones{/number}
	notifications_url=/notifications{?since,all,participating} pulls_url=/pulls{/number} releases_url=/releases{/id}
	stargazers_url=/stargazers statuses_url=/statuses/{sha} subscribers_url=/subscribers subscription_url=/subscription
	tags_url=/tags teams_url=/teams trees_url=/git/trees{/sha} hooks_url=/hooks`)

// json is a repository; full says more of it, as where it is asked for alone.
func (r *Repo) json(full bool) obj {
	host := strings.TrimPrefix(r.s.origin, "https://")
	out := with(links(r.api(""), repoLinks...), obj{
		"id": r.id, "node_id": node("Repository", r.id), "name": r.name, "full_name": r.full(), "owner": r.s.userJSON(r.owner),
		"private": r.private, "html_url": r.html(""), "description": nil, "fork": r.parent != nil, "git_url": "git://" + host + "/" + r.full() + ".git",
		"ssh_url": "git@" + host + ":" + r.full() + ".git", "clone_url": r.s.GitURL(r.owner.login, r.name), "svn_url": r.html(""),
	})
	if !full {
		return out
	}
	open := 0
	for _, is := range r.issues {
		if is.state == "open" {
			open++
		}
	}
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	return with(out, obj{
		"mirror_url": nil, "homepage": nil, "language": nil, "forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0,
		"watchers_count": 0, "size": 1, "default_branch": r.branch, "open_issues": open, "open_issues_count": open, "is_template": false,
		"topics": []any{}, "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_downloads": true,
		"has_discussions": false, "archived": r.archived, "disabled": false, "visibility": visibility, "pushed_at": stamp(r.pushed),
		"created_at": stamp(r.made), "updated_at": stamp(r.pushed), "license": nil, "allow_forking": true, "web_commit_signoff_required": false,
	})
}

func getRepo(c *call) (any, error) {
	out := with(c.repo.json(true), obj{"subscribers_count": 0, "network_count": 0})
	if c.repo.parent != nil {
		out["parent"], out["source"] = c.repo.parent.json(true), c.repo.parent.json(true)
	}
	if c.who != nil {
		write := c.who.may(c.repo, "contents", "write")
		out["permissions"] = obj{"admin": c.who.may(c.repo, "administration", "write"), "maintain": false, "push": write, "triage": write, "pull": true}
	}
	return out, nil
}

func (r *Repo) gitUser(sig signature) obj {
	return obj{"name": sig.name, "email": sig.email, "date": stamp(sig.at)}
}

func (r *Repo) commitJSON(k *commit) obj {
	parents := []any{}
	for _, p := range k.parents {
		parents = append(parents, obj{"sha": p, "url": r.api("/commits/" + p), "html_url": r.html("/commit/" + p)})
	}
	self := r.api("/commits/" + k.sha)
	return obj{
		"sha": k.sha, "node_id": node("Commit", k.sha), "url": self, "html_url": r.html("/commit/" + k.sha), "comments_url": self + "/comments",
		"commit": obj{
			"url": r.api("/git/commits/" + k.sha), "author": r.gitUser(k.author), "committer": r.gitUser(k.committer), "message": k.message,
			"comment_count": 0, "tree": obj{"sha": k.tree, "url": r.api("/git/trees/" + k.tree)},
			"verification": obj{"verified": false, "reason": "unsigned", "payload": nil, "signature": nil, "verified_at": nil},
		},
		"author": r.s.nullable(r.s.accounts[fold(k.author.name)]), "committer": r.s.nullable(r.s.accounts[fold(k.committer.name)]), "parents": parents,
	}
}

// shortCommit is a commit as runs and suites name it.
func (r *Repo) shortCommit(sha string) any {
	k := r.commitAt(sha)
	if k == nil {
		return nil
	}
	who := func(sig signature) obj { return obj{"name": sig.name, "email": sig.email} }
	return obj{"id": k.sha, "tree_id": k.tree, "message": k.message, "timestamp": stamp(k.committer.at), "author": who(k.author), "committer": who(k.committer)}
}

// pushedJSON is a commit as push tells of it.
func (r *Repo) pushedJSON(k *commit) obj {
	short := r.shortCommit(k.sha).(obj)
	return with(short, obj{"url": r.html("/commit/" + k.sha), "distinct": true, "added": []any{}, "removed": []any{}, "modified": []any{}})
}

func (r *Repo) contentJSON(e entry, ref string) obj {
	kind := map[string]string{"tree": "dir", "commit": "submodule"}[e.kind]
	if kind == "" {
		kind = map[bool]string{true: "symlink", false: "file"}[e.mode == "120000"]
	}
	self := r.api("/contents/"+e.name) + "?ref=" + url.QueryEscape(ref)
	html, git := r.html("/blob/"+ref+"/"+e.name), r.api("/git/blobs/"+e.sha)
	return obj{
		"type": kind, "size": e.size, "name": path.Base(e.name), "path": e.name, "sha": e.sha, "url": self, "html_url": html, "git_url": git,
		"download_url": nil, "_links": obj{"self": self, "html": html, "git": git},
	}
}

func (r *Repo) labelJSON(l *label) obj {
	return obj{
		"id": l.id, "node_id": node("Label", l.id), "url": r.api("/labels/" + l.name), "name": l.name, "description": l.description,
		"color": l.color, "default": false,
	}
}

func (r *Repo) labelsJSON(is *issue) []any {
	all := []any{}
	for _, l := range is.labels {
		all = append(all, r.labelJSON(l))
	}
	return all
}

// association is how close an account is to a repository.
func (r *Repo) association(a *account) string {
	switch {
	case a == r.owner:
		return "OWNER"
	case r.roles[fold(a.login)] != "":
		return "COLLABORATOR"
	}
	return "NONE"
}

func (r *Repo) viaJSON(a *app) any {
	if a == nil {
		return nil
	}
	return r.s.appJSON(a, false)
}

func reactions(of string) obj {
	return obj{"url": of + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0}
}

func (r *Repo) issueJSON(is *issue) obj {
	n := strconv.Itoa(is.number)
	self := r.api("/issues/" + n)
	out := with(links(self, strings.Fields(`url= labels_url=/labels{/name} comments_url=/comments events_url=/events timeline_url=/timeline`)...), obj{
		"id": is.id, "node_id": node("Issue", is.id), "repository_url": r.api(""), "html_url": r.html("/issues/" + n), "number": is.number,
		"state": is.state, "state_reason": nil, "title": is.title, "body": orNil(is.body), "user": r.s.userJSON(is.author),
		"labels": r.labelsJSON(is), "assignee": nil, "assignees": []any{}, "milestone": nil, "locked": false, "active_lock_reason": nil,
		"comments": len(is.comments), "closed_at": stampOr(is.closed), "created_at": stamp(is.made), "updated_at": stamp(is.updated),
		"closed_by": r.s.nullable(is.closedBy), "author_association": r.association(is.author), "performed_via_github_app": r.viaJSON(is.via),
		"reactions": reactions(self),
	})
	if p := is.pull; p != nil {
		at := r.html("/pull/" + n)
		out["html_url"], out["draft"] = at, p.draft
		out["pull_request"] = obj{"url": r.api("/pulls/" + n), "html_url": at, "diff_url": at + ".diff", "patch_url": at + ".patch", "merged_at": stampOr(p.mergedAt)}
	}
	return out
}

func (r *Repo) commentHTML(k *comment) string {
	at := fmt.Sprintf("/issues/%d", k.on.number)
	if k.on.pull != nil {
		at = fmt.Sprintf("/pull/%d", k.on.number)
	}
	return r.html(at) + fmt.Sprintf("#issuecomment-%d", k.id)
}

func (r *Repo) commentJSON(k *comment) obj {
	self := r.api(fmt.Sprintf("/issues/comments/%d", k.id))
	return obj{
		"id": k.id, "node_id": node("IssueComment", k.id), "url": self, "html_url": r.commentHTML(k), "body": k.body,
		"user": r.s.userJSON(k.author), "created_at": stamp(k.made), "updated_at": stamp(k.updated),
		"issue_url": r.api(fmt.Sprintf("/issues/%d", k.on.number)), "author_association": r.association(k.author),
		"performed_via_github_app": r.viaJSON(k.via), "reactions": reactions(self),
	}
}

var pullLinks = strings.Fields(`url= commits_url=/commits review_comments_url=/comments review_comment_url=/comments{/number}`)

// pullJSON is a pull request; full says what GitHub works out only when one is asked for alone.
func (r *Repo) pullJSON(is *issue, full bool) obj {
	p, n := is.pull, strconv.Itoa(is.number)
	at, asIssue, statuses := r.html("/pull/"+n), r.api("/issues/"+n), r.api("/statuses/"+p.head)
	self := links(r.api("/pulls/"+n), pullLinks...)
	link := func(to any) obj { return obj{"href": to} }
	reviewers := []any{}
	for _, a := range p.reviewers {
		reviewers = append(reviewers, r.s.userJSON(a))
	}
	out := with(self, obj{
		"id": p.id, "node_id": node("PullRequest", p.id), "html_url": at, "diff_url": at + ".diff", "patch_url": at + ".patch", "issue_url": asIssue,
		"comments_url": asIssue + "/comments", "statuses_url": statuses, "number": is.number, "state": is.state, "locked": false,
		"title": is.title, "user": r.s.userJSON(is.author), "body": orNil(is.body), "labels": r.labelsJSON(is), "milestone": nil,
		"active_lock_reason": nil, "created_at": stamp(is.made), "updated_at": stamp(is.updated), "closed_at": stampOr(is.closed),
		"merged_at": stampOr(p.mergedAt), "merge_commit_sha": orNil(p.mergeSHA), "assignee": nil, "assignees": []any{},
		"requested_reviewers": reviewers, "requested_teams": []any{}, "head": r.side(p.from, p.headRef, p.head), "base": r.side(r, p.baseRef, p.base),
		"_links": obj{
			"self": link(self["url"]), "html": link(at), "issue": link(asIssue), "comments": link(asIssue + "/comments"), "statuses": link(statuses),
			"review_comments": link(self["review_comments_url"]), "review_comment": link(self["review_comment_url"]), "commits": link(self["commits_url"]),
		},
		"author_association": r.association(is.author), "auto_merge": nil, "draft": p.draft,
	})
	if !full {
		return out
	}
	mergeable, state := any(!p.conflict), map[bool]string{true: "dirty", false: "clean"}[p.conflict]
	if p.slow || is.state != "open" {
		mergeable, state = nil, "unknown"
	}
	return with(out, obj{
		"merged": p.merged, "mergeable": mergeable, "rebaseable": mergeable, "mergeable_state": state, "merged_by": r.s.nullable(p.mergedBy),
		"comments": len(is.comments), "review_comments": 0, "maintainer_can_modify": p.maintainers, "commits": 1, "additions": 1,
		"deletions": 0, "changed_files": 1,
	})
}

// side is the head or the base of a pull request.
func (r *Repo) side(of *Repo, ref, sha string) obj {
	if of == nil {
		return obj{"label": "unknown repository:" + ref, "ref": ref, "sha": sha, "user": nil, "repo": nil}
	}
	return obj{"label": of.owner.login + ":" + ref, "ref": ref, "sha": sha, "user": r.s.userJSON(of.owner), "repo": of.json(true)}
}

// shortPull is a pull request as checks name it.
func (r *Repo) shortPull(is *issue) obj {
	end := func(of *Repo, ref, sha string) obj {
		return obj{"ref": ref, "sha": sha, "repo": obj{"id": of.id, "url": of.api(""), "name": of.name}}
	}
	p := is.pull
	return obj{
		"id": p.id, "number": is.number, "url": r.api(fmt.Sprintf("/pulls/%d", is.number)), "head": end(p.from, p.headRef, p.head),
		"base": end(r, p.baseRef, p.base),
	}
}

func (s *Server) appJSON(a *app, counted bool) obj {
	perms := a.permissions
	out := obj{
		"id": a.id, "slug": a.slug, "node_id": node("App", a.id), "client_id": fmt.Sprintf("Iv1.%016x", a.id), "owner": s.userJSON(a.owner),
		"name": a.slug, "description": "", "external_url": s.origin, "html_url": s.origin + "/apps/" + a.slug, "created_at": stamp(a.made),
		"updated_at": stamp(a.made), "events": []string{},
	}
	if a.id == s.o.AppID {
		perms = map[string]string{"metadata": "read"}
		for _, in := range s.installs {
			maps.Copy(perms, in.permissions)
		}
		out["events"] = appEvents
	}
	out["permissions"] = perms
	if counted {
		out["installations_count"] = len(s.installs)
	}
	return out
}

func (s *Server) installationJSON(in *installation) obj {
	self := fmt.Sprintf("%sapp/installations/%d", s.URL, in.id)
	out := obj{
		"id": in.id, "account": s.userJSON(in.account), "repository_selection": "selected", "access_tokens_url": self + "/access_tokens",
		"repositories_url": s.URL + "installation/repositories", "html_url": fmt.Sprintf("%s/settings/installations/%d", s.origin, in.id),
		"app_id": s.o.AppID, "app_slug": s.o.AppSlug, "client_id": fmt.Sprintf("Iv1.%016x", s.o.AppID), "target_id": in.account.id,
		"target_type": in.account.kind, "permissions": in.permissions, "events": appEvents, "created_at": stamp(in.made), "updated_at": stamp(in.made),
		"single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []any{}, "suspended_by": nil, "suspended_at": nil,
	}
	if !in.suspended.IsZero() {
		out["suspended_at"], out["suspended_by"] = stamp(in.suspended), s.userJSON(in.account)
	}
	return out
}

func (r *Repo) checkHTML(k *check) string { return r.html(fmt.Sprintf("/runs/%d", k.id)) }

// checkJSON is a check run; an event's holds its suite whole.
func (r *Repo) checkJSON(k *check, event bool) obj {
	self := r.api(fmt.Sprintf("/check-runs/%d", k.id))
	out := obj{
		"id": k.id, "node_id": node("CheckRun", k.id), "head_sha": k.suite.sha, "external_id": k.external, "url": self, "html_url": r.checkHTML(k),
		"details_url": or(k.details, r.checkHTML(k)), "status": k.status, "conclusion": orNil(k.conclusion), "started_at": stampOr(k.started),
		"completed_at": stampOr(k.done), "name": k.name, "check_suite": obj{"id": k.suite.id}, "app": r.s.appJSON(k.suite.app, false),
		"pull_requests": r.pullsOf(k.suite),
		"output": obj{
			"title": orNil(k.title), "summary": orNil(k.summary), "text": orNil(k.text), "annotations_count": len(k.annotations),
			"annotations_url": self + "/annotations",
		},
	}
	if event {
		out["check_suite"] = r.suiteCore(k.suite)
	}
	return out
}

// suiteCore is a suite as a check run's event holds it.
func (r *Repo) suiteCore(k *suite) obj {
	state, conclusion, _ := r.outcome(k)
	return obj{
		"id": k.id, "node_id": node("CheckSuite", k.id), "head_branch": orNil(k.branch), "head_sha": k.sha, "status": state,
		"conclusion": orNil(conclusion), "url": r.api(fmt.Sprintf("/check-suites/%d", k.id)), "before": k.before, "after": k.sha,
		"pull_requests": r.pullsOf(k), "app": r.s.appJSON(k.app, false), "created_at": stamp(k.made), "updated_at": stamp(k.updated),
	}
}

func (r *Repo) suiteJSON(k *suite) obj {
	_, _, n := r.outcome(k)
	return with(r.suiteCore(k), obj{
		"latest_check_runs_count": n, "check_runs_url": r.api(fmt.Sprintf("/check-suites/%d/check-runs", k.id)), "head_commit": r.shortCommit(k.sha),
		"rerequestable": true, "runs_rerequestable": true,
	})
}

func (r *Repo) runJSON(k *run, event bool) obj {
	self, suite := r.api(fmt.Sprintf("/actions/runs/%d", k.id)), r.api(fmt.Sprintf("/check-suites/%d", k.suite.id))
	state, from := "in_progress", k.suite.from
	if k.conclusion != "" {
		state = "completed"
	} else if event && len(k.jobs) == 0 {
		state = "queued"
	}
	if from == nil {
		from = r
	}
	head := k.suite.sha
	title := k.name
	if c := r.commitAt(head); c != nil {
		title, _, _ = strings.Cut(c.message, "\n")
	}
	previous := any(nil)
	if k.attempt > 1 {
		previous = fmt.Sprintf("%s/attempts/%d", self, k.attempt-1)
	}
	return with(links(self, strings.Fields(`url= jobs_url=/jobs logs_url=/logs artifacts_url=/artifacts cancel_url=/cancel rerun_url=/rerun`)...), obj{
		"id": k.id, "node_id": node("WorkflowRun", k.id), "name": k.name, "path": k.path, "display_title": title, "run_number": k.number,
		"run_attempt": k.attempt, "event": k.event, "status": state, "conclusion": orNil(k.conclusion), "workflow_id": k.workflow,
		"workflow_url": r.api(fmt.Sprintf("/actions/workflows/%d", k.workflow)), "check_suite_id": k.suite.id, "check_suite_node_id": node("CheckSuite", k.suite.id),
		"check_suite_url": suite, "head_branch": orNil(k.suite.branch), "head_sha": head, "html_url": r.html(fmt.Sprintf("/actions/runs/%d", k.id)),
		"pull_requests": r.pullsOf(k.suite), "created_at": stamp(k.made), "updated_at": stamp(k.updated), "run_started_at": stamp(k.made),
		"actor": r.s.userJSON(k.actor), "triggering_actor": r.s.userJSON(k.actor), "previous_attempt_url": previous, "referenced_workflows": []any{},
		"head_commit": r.shortCommit(head), "repository": r.json(false), "head_repository": from.json(false), "head_repository_id": from.id,
	})
}

// jobJSON is a job of a run. Its id is that of its check run.
func (r *Repo) jobJSON(k *run, c *check) obj {
	steps := []any{}
	for i, s := range c.steps {
		step := obj{"name": s.Name, "number": i + 1, "status": "completed", "conclusion": or(s.Conclusion, "success"), "started_at": stampOr(c.started), "completed_at": stampOr(c.done)}
		if c.status != "completed" && i == len(c.steps)-1 {
			step["status"], step["conclusion"] = "queued", nil
		}
		steps = append(steps, step)
	}
	run := r.api(fmt.Sprintf("/actions/runs/%d", k.id))
	return obj{
		"id": c.id, "node_id": node("CheckRun", c.id), "run_id": k.id, "run_url": run, "run_attempt": k.attempt, "head_sha": k.suite.sha, "head_branch": orNil(k.suite.branch),
		"workflow_name": k.name, "url": r.api(fmt.Sprintf("/actions/jobs/%d", c.id)), "html_url": c.details, "check_run_url": r.api(fmt.Sprintf("/check-runs/%d", c.id)),
		"status": c.status, "conclusion": orNil(c.conclusion), "created_at": stamp(c.started), "started_at": stamp(c.started), "completed_at": stampOr(c.done), "name": c.name,
		"steps": steps, "labels": []any{"ubuntu-latest"}, "runner_id": 1, "runner_name": c.runner, "runner_group_id": 2, "runner_group_name": "GitHub Actions",
	}
}

func (r *Repo) workflowJSON(k *run) obj {
	return obj{
		"id": k.workflow, "node_id": node("Workflow", k.workflow), "name": k.name, "path": k.path, "state": "active", "created_at": stamp(r.made),
		"updated_at": stamp(r.made), "url": r.api(fmt.Sprintf("/actions/workflows/%d", k.workflow)),
		"html_url": r.html("/blob/" + r.branch + "/" + k.path), "badge_url": r.html("/workflows/" + k.name + "/badge.svg"),
	}
}

// statusJSON is a commit status; those of the combined answer name no creator.
func (r *Repo) statusJSON(k *status, creator bool) obj {
	out := obj{
		"id": k.id, "node_id": node("Status", k.id), "url": r.api("/statuses/" + k.sha), "state": k.state, "context": k.context,
		"description": orNil(k.text), "target_url": orNil(k.url), "avatar_url": r.s.avatar(k.by), "created_at": stamp(k.made), "updated_at": stamp(k.made),
	}
	if creator {
		out["creator"] = r.s.userJSON(k.by)
	}
	return out
}
