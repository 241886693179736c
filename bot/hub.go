package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/redraft-dev/redraft/worktree"
)

// Hub is GitHub as far as a job's life needs it. Errors are *HubError. Reads tell what is; writes are done once however
// often they are asked for, and are spaced as GitHub asks. Texts arrive already cleaned.
type Hub interface {
	// Self is who the credential makes us.
	Self(ctx context.Context) (Self, error)

	Repo(ctx context.Context, r Repo) (RepoFacts, error)
	// Permission of a user: admin, maintain, write, triage, read or none. 404 is none.
	Permission(ctx context.Context, r Repo, login string) (string, error)
	Pull(ctx context.Context, r Repo, number int) (Pull, error)
	// PullsOf are the open pull requests whose head is a branch of this repository.
	PullsOf(ctx context.Context, r Repo, branch string) ([]Pull, error)
	Issue(ctx context.Context, r Repo, number int) (Issue, error)
	// Tip is where a branch of the repository stands; a missing one is NotFound.
	Tip(ctx context.Context, r Repo, branch string) (Tip, error)
	// Message is the message of a commit.
	Message(ctx context.Context, r Repo, sha string) (string, error)
	// Checks are the check runs and commit statuses of a commit, the latest of each name, with the workflow that each
	// check run belongs to.
	Checks(ctx context.Context, r Repo, sha string) ([]Check, error)
	// Run is a workflow's run by its id.
	Run(ctx context.Context, r Repo, id int64) (Check, error)
	// RunJobs are the jobs of a workflow's run, each as it was last run, with their steps.
	RunJobs(ctx context.Context, r Repo, run int64) ([]RunJob, error)
	// File reads one file of a commit, at most 1 MiB; a missing one is NotFound.
	File(ctx context.Context, r Repo, path, sha string) ([]byte, error)
	// Drafts are our pull requests whose head branch is the given one, or of every branch of ours if it is empty; open
	// and closed, newest first.
	Drafts(ctx context.Context, r Repo, branch string) ([]Draft, error)

	// Check says, before any work, what of the needed permissions and settings is missing; empty is good.
	Check(ctx context.Context, r Repo) ([]Lack, error)

	// OpenDraft opens a draft, or returns the one of ours that is open for the same head and base already. It never opens
	// a ready pull request: where drafts are not to be had the error's class is NoDrafts.
	OpenDraft(ctx context.Context, r Repo, d NewDraft) (Draft, error)
	EditDraft(ctx context.Context, r Repo, number int, title, body string) error
	CloseDraft(ctx context.Context, r Repo, number int) error
	// Comment writes our one comment with this marker under an issue or pull request, or edits it in place.
	Comment(ctx context.Context, r Repo, number int, marker, body string) (url string, err error)
	// CheckRun writes our one check run of this key on a commit, or edits it in place.
	CheckRun(ctx context.Context, r Repo, c CheckRun) (url string, err error)
	// RemoveLabel takes a label off; one that is not there is fine.
	RemoveLabel(ctx context.Context, r Repo, number int, label string) error

	// Remote is the repository's address for git with a token minted for this one use, to read or to push; done revokes it.
	Remote(ctx context.Context, r Repo, push bool) (remote worktree.Remote, done func(), err error)
}

// NewDraft is a draft to open.
type NewDraft struct {
	Title, Body string
	Head        string // branch of ours, without refs/heads/
	Base        string // branch
	Key         string // of the job; the body's markers hold it too
	Labels      []string
	Reviewers   []string // logins; none if empty
}

// CheckRun is our own check on a commit.
type CheckRun struct {
	SHA         string
	Key         string // external_id: one check run of this key on one commit
	Done        bool   // in progress until then
	Conclusion  string // neutral or success, never failure: a guard of ours leaves no permanent red
	Title       string
	Summary     string // Markdown, at most 65,535 characters
	Annotations []Annotation
	DetailsURL  string
}

// Annotation is a remark at a line.
type Annotation struct {
	Path    string
	Line    int // from 1
	Title   string
	Message string
}

// Lack is a permission or setting that is missing, and where to change it.
type Lack struct {
	What string // as in "permission pull_requests: write"
	Why  string // what cannot be done without
	Fix  string // what to change, and where
	URL  string // of the page, if known
}

// Class says what kind of no GitHub gave.
type Class string

const (
	NotFound     Class = "not_found"    // 404 and 410
	Forbidden    Class = "forbidden"    // 403 for want of a permission, which Permission names
	BadAuth      Class = "bad_auth"     // 401 after one new token
	RateLimited  Class = "rate_limited" // 403 and 429 of a limit; After says when
	Unavailable  Class = "unavailable"  // 5xx, or no answer, after retries
	Invalid      Class = "invalid"      // 422
	NoDrafts     Class = "no_drafts"    // 422: draft pull requests are not supported here
	NoPulls      Class = "no_pulls"     // GitHub Actions is not permitted to create pull requests
	Conflicting  Class = "conflict"     // 409, or a pull request for this head that is not ours
	NotPermitted Class = "not_on_list"  // a call that this program does not make
)

// HubError is GitHub's no.
type HubError struct {
	Class      Class
	Doing      string // what was being done, as in "open a draft in acme/widget"
	Status     int    // HTTP; 0 when there was no answer
	Permission string // as in "pull_requests: write"; "" when GitHub did not say
	After      time.Duration
	Text       string // GitHub's own words, clipped; a stranger's text
}

func (e *HubError) Error() string {
	s := e.Doing + ": " + string(e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Permission != "" {
		s += ", needs " + e.Permission
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}
