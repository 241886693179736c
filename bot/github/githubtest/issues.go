package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// issue is an issue, or a pull request seen as one.
type issue struct {
	id               int64
	number           int
	title, body      string
	state            string
	author, closedBy *account
	via              *app
	labels           []*label
	comments         []*comment
	made, updated    time.Time
	closed           time.Time
	pull             *pull // nil for an issue
}

type label struct {
	id                       int64
	name, color, description string
}

type comment struct {
	id            int64
	on            *issue
	author        *account
	via           *app
	body          string
	made, updated time.Time
}

// Comment is one as a test looks at it.
type Comment struct {
	ID     int64
	Author string // login
	Body   string
	Edited bool
	URL    string
}

// longest is how many characters a body may have.
const longest = 65536

func tooLong(resource, body string) error {
	if utf8.RuneCountInString(body) <= longest {
		return nil
	}
	return validation(problem{Resource: resource, Field: "body", Code: "custom", Message: fmt.Sprintf("body is too long (maximum is %d characters)", longest)})
}

func (r *Repo) issue(number int) *issue {
	if number < 1 || number > len(r.issues) {
		return nil
	}
	return r.issues[number-1]
}

func (r *Repo) newIssue(title, body string, by *account, via *app) *issue {
	is := &issue{
		id: r.s.id(), number: len(r.issues) + 1, title: title, body: body, state: "open", author: by, via: via,
		made: r.s.now(), updated: r.s.now(),
	}
	r.issues = append(r.issues, is)
	return is
}

func (is *issue) labelNames() []string {
	var names []string
	for _, l := range is.labels {
		names = append(names, l.name)
	}
	return names
}

// OpenIssue opens an issue, and answers with its number.
func (r *Repo) OpenIssue(title, body, by string) int {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	is := r.newIssue(title, body, r.s.account(by, "User"), nil)
	r.tellIssue(is, "opened", nil, is.author)
	return is.number
}

// CloseIssue closes an issue.
func (r *Repo) CloseIssue(number int, by string) error {
	return r.withIssue(number, by, func(is *issue, who *account) {
		is.state, is.closed, is.closedBy = "closed", r.s.now(), who
		r.tellIssue(is, "closed", nil, who)
	})
}

// EditIssue changes an issue's body.
func (r *Repo) EditIssue(number int, body, by string) error {
	return r.withIssue(number, by, func(is *issue, who *account) { r.editIssue(is, nil, &body, who) })
}

// AddLabel puts a label on an issue or pull request; it is made if the repository has none of the name.
func (r *Repo) AddLabel(number int, name, by string) error {
	return r.withIssue(number, by, func(is *issue, who *account) { r.addLabel(is, name, who) })
}

// RemoveLabel takes it off.
func (r *Repo) RemoveLabel(number int, name, by string) error {
	return r.withIssue(number, by, func(is *issue, who *account) { r.removeLabel(is, name, who) })
}

// AddComment writes a comment, and answers with its id.
func (r *Repo) AddComment(number int, body, by string) (id int64, err error) {
	err = r.withIssue(number, by, func(is *issue, who *account) { id = r.addComment(is, body, who, nil).id })
	return id, err
}

func (r *Repo) withIssue(number int, by string, do func(*issue, *account)) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	is := r.issue(number)
	if is == nil {
		return fmt.Errorf("issue %d of %s: there is none", number, r.full())
	}
	do(is, r.s.account(by, "User"))
	return nil
}

// Comments looks at the comments of an issue or pull request, the oldest first.
func (r *Repo) Comments(number int) []Comment {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var all []Comment
	if is := r.issue(number); is != nil {
		for _, c := range is.comments {
			all = append(all, Comment{c.id, c.author.login, c.body, !c.updated.Equal(c.made), r.commentHTML(c)})
		}
	}
	return all
}

// Labels are the labels of an issue or pull request.
func (r *Repo) Labels(number int) []string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if is := r.issue(number); is != nil {
		return is.labelNames()
	}
	return nil
}

func (r *Repo) addComment(is *issue, body string, by *account, via *app) *comment {
	c := &comment{id: r.s.id(), on: is, author: by, via: via, body: body, made: r.s.now(), updated: r.s.now()}
	is.comments = append(is.comments, c)
	is.updated = c.made
	r.s.emit(r, "issue_comment", "created", obj{"issue": r.issueJSON(is), "comment": r.commentJSON(c)}, by)
	return c
}

func (r *Repo) addLabel(is *issue, name string, by *account) {
	l := r.label(name)
	if l == nil {
		l = r.newLabel(name, "ededed", "", by)
	}
	if slices.Contains(is.labels, l) {
		return
	}
	is.labels = append(is.labels, l)
	r.tellLabel(is, "labeled", l, by)
}

func (r *Repo) removeLabel(is *issue, name string, by *account) bool {
	l := r.label(name)
	i := slices.Index(is.labels, l)
	if l == nil || i < 0 {
		return false
	}
	is.labels = slices.Delete(is.labels, i, i+1)
	r.tellLabel(is, "unlabeled", l, by)
	return true
}

func (r *Repo) label(name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

func (r *Repo) newLabel(name, color, description string, by *account) *label {
	l := &label{r.s.id(), name, color, description}
	r.labels = append(r.labels, l)
	r.s.emit(r, "label", "created", obj{"label": r.labelJSON(l)}, by)
	return l
}

// editIssue changes what is given of an issue's or pull request's text and tells of what changed.
func (r *Repo) editIssue(is *issue, title, body *string, by *account) {
	changes := obj{}
	if title != nil && *title != is.title {
		changes["title"] = obj{"from": is.title}
		is.title = *title
	}
	if body != nil && *body != is.body {
		changes["body"] = obj{"from": is.body}
		is.body = *body
	}
	if len(changes) == 0 {
		return
	}
	is.updated = r.s.now()
	if is.pull != nil {
		r.tellPull(is, "edited", obj{"changes": changes}, by)
		return
	}
	r.tellIssue(is, "edited", obj{"changes": changes}, by)
}

func (r *Repo) tellIssue(is *issue, action string, more obj, by *account) {
	is.updated = r.s.now()
	r.s.emit(r, "issues", action, with(obj{"issue": r.issueJSON(is)}, more), by)
}

func (r *Repo) tellPull(is *issue, action string, more obj, by *account) {
	r.s.emit(r, "pull_request", action, with(obj{"number": is.number, "pull_request": r.pullJSON(is, true)}, more), by)
}

func (r *Repo) tellLabel(is *issue, action string, l *label, by *account) {
	more := obj{"label": r.labelJSON(l)}
	if is.pull != nil {
		r.tellPull(is, action, more, by)
		return
	}
	r.tellIssue(is, action, more, by)
}

// issue finds the issue or pull request that the path names.
func (c *call) issue() (*issue, error) {
	n, err := strconv.Atoi(c.r.PathValue("number"))
	if is := c.repo.issue(n); err == nil && is != nil {
		return is, nil
	}
	return nil, notFound
}

func getIssue(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	return c.repo.issueJSON(is), nil
}

func listComments(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	found := is.comments
	if since := c.r.URL.Query().Get("since"); since != "" {
		t, err := time.Parse(time.RFC3339, since)
		if err != nil {
			return nil, invalidf("Invalid request.\n\nsince is no timestamp.")
		}
		found = slices.DeleteFunc(slices.Clone(found), func(k *comment) bool { return k.updated.Before(t) })
	}
	return page(c, found, func(k *comment) any { return c.repo.commentJSON(k) })
}

func createComment(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	if err := c.commentBody(); err != nil {
		return nil, err
	}
	k := c.repo.addComment(is, c.text("body"), c.who.account, c.who.app)
	c.header.Set("Location", c.repo.api(fmt.Sprintf("/issues/comments/%d", k.id)))
	return c.repo.commentJSON(k), nil
}

func (c *call) commentBody() error {
	if strings.TrimSpace(c.text("body")) == "" {
		return validation(problem{Resource: "IssueComment", Field: "body", Code: "unprocessable", Message: "Body cannot be blank"})
	}
	return tooLong("IssueComment", c.text("body"))
}

func editComment(c *call) (any, error) {
	k := c.comment()
	if k == nil {
		return nil, notFound
	}
	// An App edits its own comments; a person with write anybody's.
	if k.author != c.who.account && c.who.kind != "user" {
		return nil, &no{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	if err := c.commentBody(); err != nil {
		return nil, err
	}
	from := k.body
	k.body, k.updated = c.text("body"), c.s.now()
	if !k.updated.After(k.made) {
		k.updated = k.made.Add(time.Second) // edited is edited, however fast
	}
	c.s.emit(c.repo, "issue_comment", "edited", obj{
		"issue": c.repo.issueJSON(k.on), "comment": c.repo.commentJSON(k), "changes": obj{"body": obj{"from": from}},
	}, c.who.account)
	return c.repo.commentJSON(k), nil
}

func (c *call) comment() *comment {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	for _, is := range c.repo.issues {
		for _, k := range is.comments {
			if k.id == id {
				return k
			}
		}
	}
	return nil
}

func listLabels(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	return page(c, is.labels, func(l *label) any { return c.repo.labelJSON(l) })
}

func addLabels(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	names := c.list("labels")
	if len(names) == 0 {
		return nil, invalidf("Invalid request.\n\n\"labels\" wasn't supplied.")
	}
	if err := labelNames(names...); err != nil {
		return nil, err
	}
	for _, name := range names {
		c.repo.addLabel(is, name, c.who.account)
	}
	all := []any{}
	for _, l := range is.labels {
		all = append(all, c.repo.labelJSON(l))
	}
	return all, nil
}

func labelNames(names ...string) error {
	for _, name := range names {
		if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > 50 {
			return validation(problem{Resource: "Label", Field: "name", Code: "invalid"})
		}
	}
	return nil
}

func removeLabel(c *call) (any, error) {
	is, err := c.issue()
	if err != nil {
		return nil, err
	}
	if !c.repo.removeLabel(is, c.r.PathValue("name"), c.who.account) {
		return nil, &no{status: http.StatusNotFound, message: "Label does not exist"}
	}
	all := []any{}
	for _, l := range is.labels {
		all = append(all, c.repo.labelJSON(l))
	}
	return all, nil
}

func createLabel(c *call) (any, error) {
	name, color := c.text("name"), or(c.text("color"), "ededed")
	if err := labelNames(name); err != nil {
		return nil, err
	}
	if len(color) != 6 || strings.Trim(strings.ToLower(color), "0123456789abcdef") != "" {
		return nil, validation(problem{Resource: "Label", Field: "color", Code: "invalid"})
	}
	if utf8.RuneCountInString(c.text("description")) > 100 {
		return nil, validation(problem{Resource: "Label", Field: "description", Code: "custom", Message: "description is too long (maximum is 100 characters)"})
	}
	if c.repo.label(name) != nil {
		return nil, validation(problem{Resource: "Label", Field: "name", Code: "already_exists"})
	}
	return c.repo.labelJSON(c.repo.newLabel(name, color, c.text("description"), c.who.account)), nil
}
