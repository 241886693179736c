package githubtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// route is one call that this GitHub understands. Others are answered with 404.
type route struct {
	method, path string
	who          string // app: a JSON web token; token: any other; "": nobody is fine where the repository is public
	needs        string // permission:level, any one of these; none: it is enough to be let in
	query        string // parameters it takes, beside none
	body         shape  // nil takes no body
	status       int    // of a good answer
	do           func(*call) (any, error)
}

const paging = " per_page page"

func (s *Server) mux() *http.ServeMux {
	m := http.NewServeMux()
	for _, t := range routes() {
		m.HandleFunc(t.method+" "+t.path, func(w http.ResponseWriter, r *http.Request) {
			c := r.Context().Value(callKey{}).(*call)
			c.route, c.r = &t, r
		})
	}
	return m
}

// routes is the whole of REST here.
func routes() []route {
	const repo, issues, pulls = "/repos/{owner}/{repo}", "/repos/{owner}/{repo}/issues", "/repos/{owner}/{repo}/pulls"
	get := func(path, who, query string, do func(*call) (any, error), needs ...string) route {
		return route{method: "GET", path: path, who: who, needs: strings.Join(needs, " "), query: query, status: http.StatusOK, do: do}
	}
	write := func(method, path string, status int, body shape, do func(*call) (any, error), needs ...string) route {
		return route{method: method, path: path, who: "token", needs: strings.Join(needs, " "), body: body, status: status, do: do}
	}
	asApp := func(method, path string, status int, body shape, do func(*call) (any, error)) route {
		return route{method: method, path: path, who: "app", body: body, status: status, do: do}
	}
	const talkRead, talkWrite, pullsWrite = "issues:read pull_requests:read", "issues:write pull_requests:write", "pull_requests:write"
	const checksWrite = "checks:write"
	return []route{
		get("/app", "app", "", getApp),
		get("/app/installations", "app", "since outdated"+paging, listInstallations),
		get("/app/installations/{id}", "app", "", getInstallation),
		get("/app/hook/config", "app", "", getHook),
		get("/app/hook/deliveries", "app", "per_page cursor status", listDeliveries),
		get("/app/hook/deliveries/{id}", "app", "", getDelivery),
		asApp("POST", "/app/hook/deliveries/{id}/attempts", http.StatusAccepted, nil, redeliver),
		asApp("POST", "/app/installations/{id}/access_tokens", http.StatusCreated, tokenShape, createToken),
		get(repo+"/installation", "app", "", repoInstallation),

		write("DELETE", "/installation/token", http.StatusNoContent, nil, revokeToken),
		get("/installation/repositories", "token", paging, listTokenRepos),
		get("/user", "token", "", getSelf),
		get("/users/{username}", "", "", getUser),
		get("/orgs/{org}", "", "", getOrg),
		get("/rate_limit", "", "", getRate),

		get(repo, "", "", getRepo, "metadata:read"),
		get(repo+"/collaborators/{username}/permission", "token", "", getPermission, "metadata:read"),
		get(repo+"/actions/permissions/workflow", "token", "", getWorkflowPermissions, "administration:read"),
		get(repo+"/actions/runs", "", "actor branch event status created exclude_pull_requests check_suite_id head_sha"+paging, listRuns, "actions:read"),
		get(repo+"/actions/runs/{id}", "", "exclude_pull_requests", getRun, "actions:read"),
		get(repo+"/actions/runs/{id}/jobs", "", "filter"+paging, listJobs, "actions:read"),
		get(repo+"/branches/{branch...}", "", "", getBranch, "contents:read"),
		get(repo+"/git/ref/{ref...}", "", "", getRef, "contents:read"),
		get(repo+"/contents/{path...}", "", "ref", getContents, "contents:read"),
		get(repo+"/commits/{ref...}", "", paging, getCommit, "contents:read"),
		get(repo+"/commits/{ref}/check-runs", "", "check_name status filter app_id"+paging, listChecks, "checks:read"),
		get(repo+"/commits/{ref}/status", "", paging, combinedStatus, "statuses:read"),
		get(repo+"/commits/{ref}/statuses", "", paging, listStatuses, "statuses:read"),
		get(repo+"/check-runs/{id}", "", "", getCheck, "checks:read"),
		write("POST", repo+"/check-runs", http.StatusCreated, newCheckShape, createCheck, checksWrite),
		write("PATCH", repo+"/check-runs/{id}", http.StatusOK, editCheckShape, editCheck, checksWrite),

		get(issues+"/{number}", "", "", getIssue, talkRead),
		get(issues+"/{number}/comments", "", "since"+paging, listComments, talkRead),
		get(issues+"/{number}/labels", "", paging, listLabels, talkRead),
		write("POST", issues+"/{number}/comments", http.StatusCreated, commentShape, createComment, talkWrite),
		write("PATCH", issues+"/comments/{id}", http.StatusOK, commentShape, editComment, talkWrite),
		write("POST", issues+"/{number}/labels", http.StatusOK, labelsShape, addLabels, talkWrite),
		write("DELETE", issues+"/{number}/labels/{name}", http.StatusOK, nil, removeLabel, talkWrite),
		write("POST", repo+"/labels", http.StatusCreated, newLabelShape, createLabel, talkWrite),

		get(pulls, "", "state head base sort direction"+paging, listPulls, "pull_requests:read"),
		get(pulls+"/{number}", "", "", getPull, "pull_requests:read"),
		write("POST", pulls, http.StatusCreated, newPullShape, createPull, pullsWrite),
		write("PATCH", pulls+"/{number}", http.StatusOK, editPullShape, editPull, pullsWrite),
		write("POST", pulls+"/{number}/requested_reviewers", http.StatusCreated, reviewersShape, requestReviewers, pullsWrite),
	}
}

// Calls are the calls of REST that this GitHub understands, as in "GET /repos/{owner}/{repo}".
func Calls() []string {
	var all []string
	for _, t := range routes() {
		all = append(all, t.method+" "+strings.ReplaceAll(t.path, "...}", "}"))
	}
	return all
}

type callKey struct{}

// call is one request of REST while it is answered.
type call struct {
	s      *Server
	r      *http.Request
	route  *route
	who    *token
	repo   *Repo
	body   obj
	raw    []byte
	header http.Header // of the answer
}

// largestBody is the largest body of REST that is read.
const largestBody = 4 << 20

// answer takes every request: faults first, then git or REST, and writes down what came of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	rec := &Call{Time: s.o.Clock(), Method: r.Method, Path: strings.TrimPrefix(r.URL.Path, "/api/v3"), Query: r.URL.RawQuery}
	rest := strings.HasPrefix(r.URL.Path, "/api/v3/")
	defer s.record(rec)
	var body []byte
	if rest {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, largestBody+1)); err != nil || len(body) > largestBody {
			rec.Status = http.StatusRequestEntityTooLarge
			http.Error(w, "the body is too large, or broke off", rec.Status)
			return
		}
		rec.Body = body
	}
	fault := s.fault(r, body)
	if fault.before(w, r, rec) {
		return
	}
	out := &reply{header: http.Header{}, status: http.StatusOK}
	if rest {
		s.rest(out, r, body, rec)
	} else if fault == nil && strings.Contains(r.URL.Path, ".git/") {
		spy := &spy{ResponseWriter: w, status: http.StatusOK}
		s.wire(spy, r, rec)
		rec.Status = spy.status
		return
	} else if strings.Contains(r.URL.Path, ".git/") {
		s.wire(out, r, rec)
	} else {
		s.show(out, r)
	}
	rec.Status = out.status
	if fault.after(w, rec) {
		return
	}
	out.send(w)
}

// reply is an answer that is not sent yet.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (o *reply) Header() http.Header         { return o.header }
func (o *reply) WriteHeader(status int)      { o.status = status }
func (o *reply) Write(p []byte) (int, error) { return o.body.Write(p) }

func (o *reply) send(w http.ResponseWriter) {
	for k, v := range o.header {
		w.Header()[k] = v
	}
	w.WriteHeader(o.status)
	w.Write(o.body.Bytes())
}

// spy remembers the status of an answer that is sent as it comes.
type spy struct {
	http.ResponseWriter
	status int
}

func (s *spy) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// rest answers one call of REST.
func (s *Server) rest(w *reply, r *http.Request, body []byte, rec *Call) {
	c := &call{s: s, raw: body, header: w.header}
	s.mu.Lock()
	observe := s.observe
	defer func() {
		s.mu.Unlock()
		if observe != nil && c.route != nil {
			observe(c.r, body, w.status, w.header, w.body.Bytes())
		}
	}()
	r2 := r.Clone(context.WithValue(r.Context(), callKey{}, c))
	r2.URL = s.byID(r.URL)
	c.r = r2
	if _, pattern := s.routes.Handler(r2); pattern != "" {
		s.routes.ServeHTTP(&reply{header: http.Header{}}, r2)
	}
	value, err := c.run(rec)
	status := http.StatusOK
	if c.route != nil {
		status = c.route.status
		rec.Route = c.route.method + " " + c.route.path
	}
	c.write(w, status, value, err)
}

// byID turns /api/v3/repositories/ID/… into the repository's present name; the prefix is taken off.
func (s *Server) byID(u *url.URL) *url.URL {
	to := *u
	to.Path = strings.TrimPrefix(u.Path, "/api/v3")
	to.RawPath = strings.TrimPrefix(u.RawPath, "/api/v3")
	rest, ok := strings.CutPrefix(to.EscapedPath(), "/repositories/")
	if !ok {
		return &to
	}
	text, rest, _ := strings.Cut(rest, "/")
	id, _ := strconv.ParseInt(text, 10, 64)
	if r := s.repos[id]; r != nil {
		to.RawPath = strings.TrimSuffix("/repos/"+r.full()+"/"+rest, "/")
		if path, err := url.PathUnescape(to.RawPath); err == nil {
			to.Path = path
		}
	}
	return &to
}

// run goes through what a call must get past, in GitHub's order: who, which repository, permission, shape.
func (c *call) run(rec *Call) (any, error) {
	who, err := c.s.identify(c.r.Header.Get("Authorization"))
	c.who = who
	rec.note(who)
	if err != nil {
		return nil, err
	}
	if c.route == nil {
		return nil, notFound
	}
	if c.r.PathValue("repo") != "" {
		if err := c.findRepo(); err != nil {
			return nil, err
		}
	}
	if err := c.admit(rec); err != nil {
		return nil, err
	}
	for name := range c.r.URL.Query() {
		if !slices.Contains(strings.Fields(c.route.query), name) {
			return nil, invalidf("Invalid request.\n\n%q is not a permitted query parameter.", name)
		}
	}
	if c.route.method != "GET" {
		if err := c.readBody(); err != nil {
			return nil, err
		}
	}
	return c.route.do(c)
}

func (c *call) findRepo() error {
	owner, name := c.r.PathValue("owner"), c.r.PathValue("repo")
	r := c.s.names[fold(owner, name)]
	if r == nil || c.route.who != "app" && !c.who.sees(r) {
		return notFound
	}
	if fold(r.full()) != fold(owner, name) {
		rest := strings.Join(strings.SplitN(c.r.URL.EscapedPath(), "/", 5)[4:], "/")
		to := strings.TrimSuffix(c.s.URL+"repositories/"+strconv.FormatInt(r.id, 10)+"/"+rest, "/")
		if c.r.URL.RawQuery != "" {
			to += "?" + c.r.URL.RawQuery
		}
		status := http.StatusMovedPermanently
		if c.route.method != "GET" {
			status = http.StatusTemporaryRedirect
		}
		c.header.Set("Location", to)
		return &no{status: status, message: "Moved Permanently", url: to}
	}
	c.repo = r
	return nil
}

// admit is whether this credential may make this call here.
func (c *call) admit(rec *Call) error {
	want := c.route.who
	isApp := c.who != nil && c.who.kind == "app"
	switch {
	case want == "app" && !isApp:
		return &no{status: http.StatusUnauthorized, message: "A JSON web token could not be decoded"}
	case want == "token" && c.who == nil:
		return &no{status: http.StatusUnauthorized, message: "Requires authentication"}
	case want != "app" && isApp:
		return &no{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	case c.route.path == "/installation/token" && c.who.kind != "installation" && c.who.kind != "actions",
		c.route.path == "/installation/repositories" && c.who.kind != "installation":
		return &no{status: http.StatusForbidden, message: "You must authenticate with an installation access token in order to list repositories for an installation."}
	case c.route.needs == "":
		return nil
	}
	needs := strings.Fields(c.route.needs)
	for _, need := range needs {
		permission, level, _ := strings.Cut(need, ":")
		if c.allowed(permission, level) {
			rec.Needs = need
			return c.writable()
		}
	}
	if c.who == nil {
		return notFound
	}
	if c.who.kind == "user" {
		return &no{status: http.StatusForbidden, message: "Must have push access to repository"}
	}
	c.header.Set("X-Accepted-GitHub-Permissions", strings.ReplaceAll(strings.Join(needs, "; "), ":", "="))
	return &no{status: http.StatusForbidden, message: "Resource not accessible by integration"}
}

// allowed knows that pull_requests lets speak on pull requests, not on issues, and that anyone who sees a repository may comment.
func (c *call) allowed(permission, level string) bool {
	if !c.who.may(c.repo, permission, level) {
		talk := c.who != nil && c.who.kind == "user" && strings.HasSuffix(c.route.path, "/comments")
		return talk && c.repo.atLeast(c.who.account.login, "read")
	}
	if permission != "pull_requests" || !strings.Contains(c.route.path, "/issues/") {
		return true
	}
	is, _ := c.issue()
	if k := c.comment(); is == nil && k != nil {
		is = k.on
	}
	return is == nil || is.pull != nil
}

func (c *call) writable() error {
	if c.repo != nil && c.repo.archived && c.route.method != "GET" {
		return &no{status: http.StatusForbidden, message: "Repository was archived so is read-only."}
	}
	return nil
}
