package bot

import "fmt"

// Reason is why an event starts nothing, from a closed list.
type Reason string

const (
	NotForUs        Reason = "not_for_us"        // an event or action that nothing here answers
	Malformed       Reason = "malformed"         // a payload without what its kind must have
	Green           Reason = "green"             // nothing red to repair
	Running         Reason = "running"           // the run is not complete yet; its end will wake us
	FromFork        Reason = "fork"              // the head lies in a fork
	FromBot         Reason = "bot"               // a bot asked, or wrote the pull request
	NoWrite         Reason = "no_write"          // the sender may not write here
	OwnWork         Reason = "own_work"          // our branch, commit, comment, label or check
	Vetoed          Reason = "vetoed"            // label redraft:skip
	NotListed       Reason = "not_listed"        // workflow or label that the configuration does not list
	NeverBranch     Reason = "never_branch"      // triggers.never-branches
	Moved           Reason = "moved"             // the branch stands elsewhere by now
	Gone            Reason = "gone"              // branch, pull request, repository or issue is gone, closed or archived
	NoCommand       Reason = "no_command"        // a comment that is no command of ours
	NothingToAccept Reason = "nothing_to_accept" // /redraft accept without a proposal
	AlreadyOpen     Reason = "already_open"      // a draft for this very commit is open
	TooMany         Reason = "too_many"          // limits.open-drafts or limits.per-day
	BadPolicy       Reason = "bad_configuration" // .github/redraft.yml of the default branch is wrong
	NotAllowed      Reason = "not_allowed"       // our credential lacks a permission
	AlreadyDone     Reason = "already_done"      // the same head was handled before
	InQueue         Reason = "in_queue"          // a job of the same key and head waits or runs
)

// Skip is a no to an event: no job begins. It is recorded, and shown to nobody unless Tell is set.
type Skip struct {
	Reason Reason
	Text   string // one sentence
	Tell   bool   // a person with write asked and is owed an answer
}

func (s *Skip) Error() string { return string(s.Reason) + ": " + s.Text }

func skip(r Reason, format string, a ...any) *Skip {
	return &Skip{Reason: r, Text: fmt.Sprintf(format, a...)}
}
