// Package bot is a job's life on GitHub: an event becomes a decision, a decision a job, a job's evidence a proof, and a
// proof a draft pull request. It leaves speaking to GitHub to a Hub, waiting to the queue and repairing to another
// process; it holds no token itself. Deciding is pure, every no has a reason, and nothing is published without a Proof.
package bot

import (
	"fmt"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
)

// Repo names a repository. Its ID is what is pinned: a name can move.
type Repo struct {
	ID           int64  `json:"id"`
	Owner        string `json:"owner"`
	Name         string `json:"name"`
	Installation int64  `json:"installation,omitempty"` // of our App; 0 when the credential is a plain token
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Account is a person, a bot or an App's bot on GitHub.
type Account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"`
}

// Event is what GitHub said, decoded to the fields in use. Every text in it is a stranger's.
type Event struct {
	Delivery string // X-GitHub-Delivery, the same on a redelivery
	Name     string // X-GitHub-Event
	Action   string // "" of events without one: ping, status, push
	Repo     Repo   // zero of events about no repository
	Sender   Account
	Label    string   // the label that was put on or taken off
	Check    *Check   // of check_run, check_suite, workflow_run and status
	Pull     *Pull    // of pull_request, as the event has it
	Issue    *Issue   // of issues and issue_comment
	Comment  *Comment // of issue_comment
}

// Check is one check of a commit: a check run, a workflow's run, or a commit status.
type Check struct {
	ID         int64  // of the check run, suite or workflow run; 0 of a status
	Name       string // check run's name, workflow's name, or the status' context
	Workflow   string // path of the workflow file, as in ".github/workflows/ci.yml"; "" of third-party checks
	Title      string // the workflow's name, as in "CI"; "" of third-party checks
	SHA        string // head commit
	Branch     string // head branch; "" when the event does not say
	HeadRepo   int64  // id of the repository that the commit came from; 0 when the event does not say
	Done       bool   // completed
	Conclusion string // success, failure, cancelled, timed_out, action_required, neutral, skipped, stale, startup_failure, error; "" until done
	App        int64  // id of the App that made it; 0 when not said
	Attempt    int    // run_attempt of a workflow run, from 1; 0 when not said
	URL        string // for people
	Pulls      []int  // pull requests that the event names; empty for forks
	Event      string // of a workflow run: what started it, as in push or pull_request
	Run        int64  // id of the workflow run that it belongs to; 0 when it is of none, or not said
	Runner     string // of a failed step of our own job: the name of the runner that it runs on
}

// RunJob is one job of a workflow's run.
type RunJob struct {
	Check      int64  // id of the check run that shows it; 0 when not said
	Name       string // as GitHub shows it
	Runner     string // name; "" before it has one
	Done       bool
	Conclusion string // as of a Check
	Steps      []RunStep
}

// RunStep is one step of a job, those that GitHub adds among them.
type RunStep struct {
	Name       string // as GitHub shows it
	Conclusion string // "" until it is done
}

// Red says whether the check ended in a way that asks for a repair: failure, error, timed_out.
func (c Check) Red() bool {
	return c.Done && (c.Conclusion == "failure" || c.Conclusion == "timed_out" || c.Conclusion == "error")
}

// Pull is a pull request.
type Pull struct {
	Number   int
	Title    string
	State    string // open, closed
	Merged   bool
	Draft    bool
	Author   Account
	Head     Tip
	Base     Tip
	Merge    string // commit that refs/pull/N/merge names; "" when there is none or it is not known yet
	Labels   []string
	Body     string
	URL      string
	ClosedBy Account // zero when it is open or not known
}

// Tip is a branch of some repository and where it stands.
type Tip struct {
	Repo   int64 // id; 0 when the fork is gone
	Branch string
	SHA    string
}

// Fork says whether the head lies in another repository than the base.
func (p Pull) Fork() bool { return p.Head.Repo != p.Base.Repo || p.Head.Repo == 0 }

// Issue is an issue, or the pull request that a comment stands under.
type Issue struct {
	Number int
	Title  string
	Body   string
	State  string // open, closed
	Author Account
	Labels []string
	URL    string
	Pull   bool // it is a pull request
}

// Comment is one comment under an issue or a pull request.
type Comment struct {
	ID     int64
	Author Account
	Body   string
	App    int64 // id of the App that wrote it; 0 if none or not said
}

// TargetKind is what a job is for.
type TargetKind string

const (
	ForPull   TargetKind = "pull"
	ForBranch TargetKind = "branch"
	ForIssue  TargetKind = "issue"
)

// Target is the pull request, branch or issue that a job is for.
type Target struct {
	Kind   TargetKind `json:"kind"`
	Number int        `json:"number,omitempty"` // of a pull request or an issue
	Branch string     `json:"branch,omitempty"` // the branch that a draft goes against: a pull request's head, the red branch, the default branch
}

func (t Target) String() string {
	switch t.Kind {
	case ForPull:
		return fmt.Sprintf("pull request %d", t.Number)
	case ForIssue:
		return fmt.Sprintf("issue %d", t.Number)
	}
	return "branch " + t.Branch
}

// Key is the target within its repository, as in "pull/7" or "branch/main": one draft a target.
func (t Target) Key() string {
	if t.Kind == ForBranch {
		return "branch/" + t.Branch
	}
	return fmt.Sprintf("%s/%d", t.Kind, t.Number)
}

// Job is one red thing to repair, pinned when it was accepted. It crosses the queue as JSON and holds no credential.
type Job struct {
	Key      string        `json:"key"` // repository id, target and workflow: one unfinished job under one key
	Repo     Repo          `json:"repo"`
	Target   Target        `json:"target"`
	Root     string        `json:"root"`            // commit that is seen red
	Merge    string        `json:"merge,omitempty"` // merge of Root into the pull request's base, seen when Root is green
	Onto     string        `json:"onto,omitempty"`  // tip of the branch that the pull request goes to: seen when Root is red
	Body     string        `json:"body,omitempty"`  // sha256 hex of the issue's body when it was asked for: a later one is another's word
	Base     string        `json:"base"`            // tip of Target.Branch when the job was accepted
	Policy   string        `json:"policy"`          // commit of the default branch that the configuration was read from
	Workflow string        `json:"workflow,omitempty"`
	Checks   []string      `json:"checks,omitempty"` // names of the red checks
	Check    string        `json:"check,omitempty"`  // id of the configured check that they stand for; found if empty
	Failed   []plan.Failed `json:"failed,omitempty"` // the steps that failed there, where no check is configured; none are known if empty
	URL      string        `json:"url,omitempty"`    // of the red run, for people
	Trigger  string        `json:"trigger"`          // event's name
	Delivery string        `json:"delivery"`
	Sender   Account       `json:"sender"`
	Label    string        `json:"label,omitempty"` // trigger label, taken off when the run ends
	Asked    bool          `json:"asked,omitempty"` // a person asked: an answer is owed, even when there is no draft
	Words    string        `json:"words,omitempty"` // of /redraft retry WORDS: data for the model, at most 200 characters
	Strange  bool          `json:"strange,omitempty"`
	Diagnose bool          `json:"diagnose,omitempty"` // says what is red and why; nothing is repaired
	Retry    bool          `json:"retry,omitempty"`    // a person asked again: a finished job of the same head does not count
	Accepted time.Time     `json:"accepted"`
}

// Self is who we are on GitHub, so that nothing of ours starts anything.
type Self struct {
	App      int64  // id of the App; 0 with a plain token
	ID       int64  // of the account that Login names; 0 when it is not known
	Login    string // as in "redraft[bot]"; "" with an App's token, of which GitHub does not say whose it is
	Prefix   string // of our branches; "redraft/" if empty
	Workflow string // path of the workflow that we run in, whose checks are ours; "" when we run in none, or answer its own failed step
}

// Policy is what operator and default branch allow, the stricter of both.
type Policy struct {
	File   plan.File   // of the default branch; zero when there is none
	Limits plan.Limits // the operator's, lowered by the file's
	Forks  bool        // pull requests from forks are answered, by a comment alone
	Bots   bool        // bots' pull requests are answered
	Look   bool        // no job repairs: each says what is red and why
	Broken error       // the file is there and wrong
}

// Facts are what GitHub says now of what an event is about. Whatever an event does not need stays zero.
type Facts struct {
	Repo       RepoFacts
	Branch     string // that an issue's draft goes against
	Policy     Policy
	PolicySHA  string // commit of the default branch that the policy was read from
	Permission string // the sender's, now: admin, maintain, write, triage, read, none
	Author     string // the same of who wrote the pull request or the issue; "" when nothing hung on it
	Pull       *Pull
	Issue      *Issue
	Tip        Tip                // the branch that a draft would go against, now
	Ours       bool               // the commit at Tip carries our trailer
	Checks     []Check            // of the root, all of them, once each
	Jobs       map[int64][]RunJob // of the red checks' workflow runs, by the run's id, where no check is configured
	Drafts     []Draft            // ours of this target or against the same branch, open and closed, newest first
	Open       int                // open drafts of ours in the repository; one that a person took up counts no more
	Today      int                // jobs that began in the repository in the last 24 hours
	Failing    string             // of an issue's body: the configured check id or the workflow path of the failing run that it names
}

// RepoFacts is a repository as it is now.
type RepoFacts struct {
	Repo
	Default  string // branch
	Private  bool
	Archived bool
}

// Draft is a draft pull request of ours, and what its hidden markers say.
type Draft struct {
	Number      int
	URL         string
	Title       string
	Branch      string // its head
	Head        string // commit that the branch stands at
	Base        string // branch that it goes against
	Open        bool
	Merged      bool
	Ready       bool // a person took it out of draft
	ClosedBy    Account
	Key         string // of the job
	Root        string // commit that was seen red
	Tree        string // proved
	Fingerprint string // of the failure
	Superseded  bool   // closed by us, which is no person's no
	Touched     bool   // a person's commit is its head; looked at before it is closed only
	Created     time.Time
}
