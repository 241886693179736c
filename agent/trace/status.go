package trace

import (
	"math"
	"time"
)

// StatusVersion is the version of status.json that this program writes.
const StatusVersion = 1

// State is how a job's process stands. It says nothing of what came of the job.
type State string

const (
	StateCreated     State = "created" // no line yet
	StateRunning     State = "running" // never said of lines alone
	StateSuccess     State = "success" // came to its stop by itself, whatever the stop
	StateFailed      State = "failed"  // stopped because this machine could not do its work
	StateTimedOut    State = "timed_out"
	StateCancelled   State = "cancelled"
	StateInterrupted State = "interrupted" // no stop line: it died at work
	StateOrphaned    State = "orphaned"    // no stop line, and nothing worked on it
)

// Outcome is what came of a job's task.
type Outcome string

const (
	OutcomeNotRun   Outcome = "not_run"  // no repair was tried
	OutcomePartial  Outcome = "partial"  // something was tried or proved, and nothing is accepted yet
	OutcomeFailed   Outcome = "failed"   // tried, and nothing holds
	OutcomeAccepted Outcome = "accepted" // proved and admitted
)

// Status is status.json. What is not known is null.
type Status struct {
	SchemaVersion          int             `json:"schema_version"`
	Job                    *string         `json:"job"`
	RetryOf                *string         `json:"retry_of"`
	Attempt                *int            `json:"attempt"`
	Repo                   *string         `json:"repo"`
	Target                 *string         `json:"target"`
	Trigger                *string         `json:"trigger"`
	Root                   *string         `json:"root"`
	Base                   *string         `json:"base"`
	State                  State           `json:"state"`
	EvidenceValidity       string          `json:"evidence_validity"` // whole, torn, incomplete: of the trace; the hashes are verified apart
	Outcome                Outcome         `json:"outcome"`
	Stop                   *Stop           `json:"stop"`
	Admit                  *AdmitData      `json:"admit"`
	Draft                  *DraftData      `json:"draft"`
	Verdicts               []StatusVerdict `json:"verdicts"`
	Rungs                  []RungData      `json:"rungs"`
	Receipt                *ReceiptData    `json:"receipt"`
	Commands               []StatusCommand `json:"commands"`
	Fingerprint            *string         `json:"fingerprint"`
	Runs                   []StatusRuns    `json:"runs"`
	Models                 []StatusModel   `json:"models"`
	Usage                  StatusUsage     `json:"usage"`
	Timings                StatusTimings   `json:"timings"`
	Egress                 StatusEgress    `json:"egress"`
	Flake                  *FlakeData      `json:"flake"`          // of the stop flaky
	Reduced                *ReducedData    `json:"reduced"`        // when there is no proof
	Bisect                 *BisectData     `json:"bisect"`         // when there is no proof
	EvidenceLevel          string          `json:"evidence_level"` // direct, mixed, inferred
	HumanDecisionsRequired []string        `json:"human_decisions_required"`
	NextSafeAction         *string         `json:"next_safe_action"`
}

// StatusVerdict is one verdict, with the turn it came in.
type StatusVerdict struct {
	Turn int `json:"turn"`
	VerdictData
}

// StatusCommand is one command of the plan: what it is and where it was found, never how it went.
type StatusCommand struct {
	ID         string  `json:"id"`
	Run        string  `json:"run"`
	Dir        string  `json:"dir"`
	Provenance *string `json:"provenance"`
	Source     *string `json:"source"`
	Red        bool    `json:"red"` // the one that the job is about
}

// StatusRuns is how often one command ran in one way, and how it went.
type StatusRuns struct {
	Phase   string  `json:"phase"`
	Mode    string  `json:"mode"`
	Command string  `json:"command"`
	Tier    string  `json:"tier"`
	Count   int     `json:"count"`
	Red     int     `json:"red"`
	Green   int     `json:"green"`
	Unknown int     `json:"unknown"`
	Seconds float64 `json:"seconds"`
}

// StatusModel is a model's identity and what it was used for.
type StatusModel struct {
	Tier      string   `json:"tier"`
	Model     string   `json:"model"`
	BaseURL   string   `json:"base_url"`
	Answered  []string `json:"answered_as"`
	Questions int      `json:"questions"`
	Prompt    int      `json:"prompt_tokens"`
	Cached    int      `json:"cached_tokens"`
	Output    int      `json:"output_tokens"`
	Seconds   float64  `json:"seconds"`
}

// StatusUsage sums up what a job took.
type StatusUsage struct {
	Turns        int     `json:"turns"`
	Slips        int     `json:"slips"`
	Candidates   int     `json:"candidates"`
	Patches      int     `json:"patches"`
	PromptTokens int     `json:"prompt_tokens"`
	CachedTokens int     `json:"cached_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Runs         int     `json:"runs"`
	UserSeconds  float64 `json:"user_seconds"`
	SysSeconds   float64 `json:"sys_seconds"`
	MaxRSS       int64   `json:"max_rss"`
}

// StatusTimings are wall-clock figures.
type StatusTimings struct {
	Started      *string `json:"started"` // RFC 3339, UTC
	Ended        *string `json:"ended"`   // null when there is no stop line
	LastLine     *string `json:"last_line"`
	Seconds      float64 `json:"seconds"` // from the first to the last line
	RunSeconds   float64 `json:"run_seconds"`
	ModelSeconds float64 `json:"model_seconds"`
}

// StatusEgress says where questions went.
type StatusEgress struct {
	Level string   `json:"level"` // none, loopback, configured_host
	Hosts []string `json:"hosts"`
	Tried []Reach  `json:"tried"` // by commands in the jail, which were refused
	Seen  []Reach  `json:"seen"`  // that the repair process was connected to, as its sockets were sampled
	Looks int      `json:"looks"` // how often they were; 0 where the system does not tell
}

// StatusOf is a job's status as its lines tell it; torn is what Read said.
func StatusOf(events []Event, torn bool) Status { return tell(events, torn).status() }

func (s *story) status() Status {
	st := Status{
		SchemaVersion: StatusVersion, State: s.state(), Outcome: s.outcome(), EvidenceValidity: s.validity(),
		Stop: s.stop, Admit: s.admit, Draft: s.draft, Receipt: s.receipt, Flake: s.flake, Reduced: s.reduced, Bisect: s.bisect,
		Verdicts: []StatusVerdict{}, Rungs: append([]RungData{}, s.rungs...), Runs: s.runTable(),
		Commands: s.commands(), Fingerprint: known(s.set.Fingerprint), Models: s.modelTable(),
		Usage: s.usage(), Timings: s.timings(), EvidenceLevel: s.level(),
		HumanDecisionsRequired: s.decisions(), NextSafeAction: known(s.next()),
	}
	for _, v := range s.verdicts {
		st.Verdicts = append(st.Verdicts, StatusVerdict{v.Turn, v.V})
	}
	st.Egress.Level, st.Egress.Hosts = s.egress()
	st.Egress.Hosts = append([]string{}, st.Egress.Hosts...)
	st.Egress.Tried, st.Egress.Seen = s.tried(), []Reach{}
	for _, e := range s.sampled {
		st.Egress.Seen, st.Egress.Looks = append(st.Egress.Seen, e.To...), st.Egress.Looks+e.Samples
	}
	if len(s.events) > 0 {
		st.Job = known(s.events[0].Job)
	}
	if j := s.job; j != nil {
		st.Repo, st.Target, st.Trigger = known(j.Repo), known(j.Target), known(j.Trigger)
		st.Root, st.Base, st.RetryOf = known(j.Root), known(j.Base), known(j.RetryOf)
		st.Attempt = new(max(1, j.Attempt))
	}
	return st
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (s *story) state() State {
	switch {
	case len(s.events) == 0:
		return StateCreated
	case s.stop == nil && !s.worked():
		return StateOrphaned
	case s.stop == nil:
		return StateInterrupted
	case s.stop.Reason == Cancelled:
		return StateCancelled
	case s.stop.Reason == Infra && s.stop.Class == "timeout":
		return StateTimedOut
	case s.stop.Reason == Infra:
		return StateFailed
	}
	return StateSuccess
}

// worked says whether any line is of the process that repairs: the publisher writes the others.
func (s *story) worked() bool {
	for _, e := range s.events {
		switch e.Type {
		case TypeEvent, TypeTree, TypeGit, TypeAdmit, TypeDraft, TypeFlake, TypeBisect:
		default:
			return true
		}
	}
	return false
}

func (s *story) validity() string {
	switch {
	case s.torn:
		return "torn"
	case s.stop == nil:
		return "incomplete"
	}
	return "whole"
}

func (s *story) outcome() Outcome {
	tried := len(s.patches) > 0 || len(s.candidates) > 0 || s.turns() > 0
	switch {
	case s.admit != nil && s.admit.Admitted && s.receipt != nil:
		return OutcomeAccepted
	case s.admit != nil && !s.admit.Admitted:
		return OutcomeFailed
	case s.receipt != nil:
		return OutcomePartial
	case !tried:
		return OutcomeNotRun
	case s.stop != nil && (s.stop.Reason == Exhausted || s.stop.Reason == NotProven):
		return OutcomeFailed
	}
	return OutcomePartial
}

// level says what the colours rest on: direct when the raw report of every deciding run is kept.
func (s *story) level() string {
	runs, kept := 0, 0
	for _, r := range s.runs {
		if r.Phase != "see" && r.Phase != "confirm" && r.Phase != "revert" {
			continue
		}
		if runs++; r.Report != "" {
			kept++
		}
	}
	switch {
	case runs == 0:
		return "inferred"
	case kept == runs:
		return "direct"
	}
	return "mixed"
}

func (s *story) commands() []StatusCommand {
	out := []StatusCommand{}
	for _, c := range s.set.Checks {
		dir := c.Dir
		if dir == "" {
			dir = "."
		}
		out = append(out, StatusCommand{c.ID, c.Run, dir, known(c.Provenance), known(c.Source), c.ID == s.job.Check})
	}
	return out
}

func (s *story) runTable() []StatusRuns {
	out := []StatusRuns{}
	at := map[StatusRuns]int{}
	for _, r := range s.runs {
		key := StatusRuns{Phase: r.Phase, Mode: r.Mode, Command: r.Command, Tier: r.Tier}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, key)
		}
		out[i].Count++
		out[i].Seconds = finite(out[i].Seconds + r.Seconds)
		switch r.Color {
		case "red":
			out[i].Red++
		case "green":
			out[i].Green++
		default:
			out[i].Unknown++
		}
	}
	return out
}

func (s *story) modelTable() []StatusModel {
	out := []StatusModel{}
	for _, m := range s.models {
		out = append(out, StatusModel{m.tier, m.model, m.baseURL, append([]string{}, m.answered...),
			m.questions, m.prompt, m.cached, m.output, finite(m.seconds)})
	}
	return out
}

func (s *story) usage() StatusUsage {
	u := StatusUsage{Turns: s.turns(), Slips: s.slips, Candidates: len(s.candidates), Patches: len(s.patches), Runs: len(s.runs)}
	for _, m := range s.models {
		u.PromptTokens, u.CachedTokens, u.OutputTokens = u.PromptTokens+m.prompt, u.CachedTokens+m.cached, u.OutputTokens+m.output
	}
	for _, r := range s.runs {
		u.UserSeconds, u.SysSeconds, u.MaxRSS = finite(u.UserSeconds+r.User), finite(u.SysSeconds+r.Sys), max(u.MaxRSS, r.MaxRSS)
	}
	return u
}

func (s *story) timings() StatusTimings {
	var t StatusTimings
	for _, r := range s.runs {
		t.RunSeconds = finite(t.RunSeconds + r.Seconds)
	}
	for _, m := range s.models {
		t.ModelSeconds = finite(t.ModelSeconds + m.seconds)
	}
	if len(s.events) == 0 {
		return t
	}
	from, to := s.span()
	t.Started, t.LastLine = known(stamp(from)), known(stamp(to))
	t.Seconds = max(0, to.Sub(from).Seconds())
	if s.stop != nil {
		t.Ended = t.LastLine
	}
	return t
}

// finite keeps sums of what a trace claims within what JSON can say, to the millisecond.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	if r := math.Round(x*1000) / 1000; !math.IsInf(r, 0) {
		return r
	}
	return x
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
