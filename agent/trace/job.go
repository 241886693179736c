package trace

import (
	"encoding/json"
	"time"
)

// JobVersion is the version of JOB.json that this program writes.
const JobVersion = 1

// Job is JOB.json: all that the repair process is told. It holds no credential.
type Job struct {
	Version  int               `json:"version"` // JobVersion
	ID       string            `json:"id"`      // unique on this machine, safe as a file name
	Key      string            `json:"key"`     // repository, target and check: one job at a time under one key
	Repo     string            `json:"repo"`    // for people: owner/name or the folder's name
	Target   string            `json:"target"`  // for people: "branch main", "pull request 7", "working copy"
	Trigger  string            `json:"trigger"` // fix, demo, selftest, check_run, …
	Root     string            `json:"root"`    // commit
	Base     string            `json:"base"`    // commit
	RootTree string            `json:"root_tree"`
	Trees    Trees             `json:"trees"`
	Evidence string            `json:"evidence"` // absolute directory, exists
	Scratch  string            `json:"scratch"`  // absolute directory for fresh copies and caches, exists, removed by the parent
	State    string            `json:"state"`    // absolute directory kept between jobs: toolchain bases
	Checks   json.RawMessage   `json:"checks"`   // plan.Set
	Check    string            `json:"check"`    // id of the red one
	Needs    json.RawMessage   `json:"needs"`    // plan.Needs
	Sandbox  SandboxChoice     `json:"sandbox"`
	Setup    *SetupChoice      `json:"setup,omitempty"` // the operator lets setup commands be run; none are if it is missing
	Models   []ModelChoice     `json:"models,omitempty"`
	Tiers    []string          `json:"tiers"` // of mechanic, small, big, in order
	Limits   Limits            `json:"limits"`
	Seed     int64             `json:"seed"`
	Fixers   bool              `json:"fixers,omitempty"` // the project's own tools may write in protected files
	Protect  []string          `json:"protect,omitempty"`
	Allow    []string          `json:"allow,omitempty"`
	Off      []string          `json:"off,omitempty"`      // switched-off scene sections and features
	On       []string          `json:"on,omitempty"`       // scene sections that are shown only where they are asked for
	Said     string            `json:"said,omitempty"`     // words of a person who may write there, shown to models as data; at most 200 characters
	Recent   []Touch           `json:"recent,omitempty"`   // what the last commits changed, at the root's lines, newest first; shown to models as data
	Links    map[string]string `json:"links,omitempty"`    // submodule path -> commit
	Attempt  int               `json:"attempt,omitempty"`  // from 1; 0 is the first as well
	RetryOf  string            `json:"retry_of,omitempty"` // id of the job that this one tries again
	Mode     string            `json:"mode,omitempty"`     // repairs if empty; diagnose sees the red and reduces it; look sees it and ends; again proves claim.diff in the evidence once more
}

// Touch is one place that a commit changed last.
type Touch struct {
	File   string    `json:"file"`
	First  int       `json:"first"` // line of the root, from 1
	Last   int       `json:"last"`
	Commit string    `json:"commit"`
	Line   string    `json:"line"` // the first of its message
	When   time.Time `json:"when"`
	Diff   string    `json:"diff"` // a hunk without its head
}

// Modes of a job besides repairing.
const (
	ModeDiagnose = "diagnose"
	ModeLook     = "look"
	ModeAgain    = "again"
)

// ClaimFile is the diff that a job of ModeAgain is about.
const ClaimFile = "claim.diff"

// Trees are the sealed copies that a job is given, absolute directories; only Root is always there.
type Trees struct {
	Root  string `json:"root"`
	Merge string `json:"merge,omitempty"` // what the root becomes in its base, seen when the root is green
	Base  string `json:"base,omitempty"`  // of a pull request: where it goes to, seen when the root is red
}

// SandboxChoice is the operator's word on confinement.
type SandboxChoice struct {
	Tier  string   `json:"tier,omitempty"`  // strongest that works if empty
	Allow []string `json:"allow,omitempty"` // weaker tiers allowed by name
}

// SetupChoice is the operator's word on setup commands.
type SetupChoice struct {
	Domain     string            `json:"domain,omitempty"`     // whose prepared bases may be shared: one repository's one target; nothing is shared if empty
	Registries map[string]string `json:"registries,omitempty"` // upstream by ecosystem: go, npm, pypi, crates; the official one where missing
}

// ModelChoice is one model of the operator's.
type ModelChoice struct {
	Tier    string `json:"tier"` // small, big
	Name    string `json:"name"`
	BaseURL string `json:"base_url"` // as in http://127.0.0.1:8080/v1
	Model   string `json:"model"`    // id; the server's only one if empty
}

// Limits are a job's budgets; zero means the default in the comment.
type Limits struct {
	Turns     int           `json:"turns"`      // model questions per tier; 6
	Tokens    int           `json:"tokens"`     // written by models in all; 60000
	Wall      time.Duration `json:"wall"`       // nanoseconds; 30 minutes
	Runs      int           `json:"runs"`       // oracle runs in all; 400
	Width     int           `json:"width"`      // candidates at once; the machine's cores, at most 4
	MaxTokens int           `json:"max_tokens"` // of one answer; 1024
	Files     int           `json:"files"`      // 50
	Lines     int           `json:"lines"`      // 2000
}

// Reason is why a job ended, from a closed list.
type Reason string

const (
	Fixed              Reason = "fixed"
	NotReproduced      Reason = "not_reproduced"
	Flaky              Reason = "flaky"
	BaseDrift          Reason = "base_drift"
	BaseRed            Reason = "base_red"
	PlanChanged        Reason = "plan_changed"
	NeedsConfiguration Reason = "needs_configuration"
	NeedsTier          Reason = "needs_tier"
	Infra              Reason = "infra" // with a class
	Exhausted          Reason = "exhausted"
	NotProven          Reason = "not_proven"
	Superseded         Reason = "superseded"
	Cancelled          Reason = "cancelled"
)

// Stop is the one typed end of a job.
type Stop struct {
	Reason Reason `json:"reason"`
	Class  string `json:"class,omitempty"` // of infra and not_proven
	Text   string `json:"text"`            // one or two sentences for people
	Next   string `json:"next,omitempty"`  // the next safe action
}

// Event is one line of trace.jsonl.
type Event struct {
	TS   time.Time       `json:"ts"`
	Seq  int             `json:"seq"` // from 1, without gaps
	Job  string          `json:"job"`
	Turn int             `json:"turn,omitempty"` // from 1; 0 outside turns
	Type string          `json:"type"`           // see the Type constants
	Data json.RawMessage `json:"data,omitempty"`
}

// Types of events, in the order in which a job meets them.
const (
	TypeEvent     = "event"     // Job as accepted: Job
	TypeTree      = "tree"      // a tree was cut or copied: TreeData
	TypeGit       = "git"       // GitData
	TypeRun       = "run"       // one command in the jail: RunData
	TypeVerdict   = "verdict"   // VerdictData
	TypeRan       = "ran"       // RanData
	TypeScene     = "scene"     // SceneData
	TypeRequest   = "request"   // RequestData
	TypeTokens    = "tokens"    // every 16 pieces: TokensData
	TypeReply     = "reply"     // ReplyData
	TypeSlip      = "slip"      // SlipData
	TypePatch     = "patch"     // PatchData: a change that was applied and is to be judged
	TypeCandidate = "candidate" // CandidateData: the mechanic's
	TypeEscalate  = "escalate"  // EscalateData
	TypeRung      = "rung"      // RungData
	TypeReceipt   = "receipt"   // ReceiptData
	TypeStep      = "step"      // StepData: progress for people
	TypeEgress    = "egress"    // EgressData: once, at the end
	TypeReduced   = "reduced"   // ReducedData: the smallest that shows the red
	TypeStop      = "stop"      // Stop
	TypeFlake     = "flake"     // FlakeData: the publisher's
	TypeBisect    = "bisect"    // BisectData: the publisher's
	TypeAdmit     = "admit"     // AdmitData
	TypeDraft     = "draft"     // DraftData: will open, or did
)

// TreeData tells of a tree.
type TreeData struct {
	Phase string `json:"phase"` // cut, root, fresh
	Hash  string `json:"hash"`
	Path  string `json:"path,omitempty"`
	Files int    `json:"files,omitempty"`
}

// GitData tells of one git child.
type GitData struct {
	Argv    []string `json:"argv"`
	Exit    int      `json:"exit"`
	Seconds float64  `json:"seconds"`
}

// RunData tells of one command in the jail.
type RunData struct {
	Phase      string   `json:"phase"` // see, judge, cheap, confirm, revert, fixer, cover
	N          int      `json:"n"`     // from 1 within the phase
	Mode       string   `json:"mode"`  // plain, instrumented
	Command    string   `json:"command"`
	Dir        string   `json:"dir"`            // relative to the tree
	Tree       string   `json:"tree,omitempty"` // tree id the run was made on, where it was computed
	Tier       string   `json:"tier"`
	Exit       int      `json:"exit"`
	Signal     string   `json:"signal,omitempty"`
	Limit      string   `json:"limit,omitempty"`
	Seconds    float64  `json:"seconds"`
	User       float64  `json:"user_seconds"`
	Sys        float64  `json:"sys_seconds"`
	MaxRSS     int64    `json:"max_rss"`
	Color      string   `json:"color"`
	Report     string   `json:"report,omitempty"`      // folder of the raw report within the evidence, if kept
	Digest     string   `json:"digest"`                // sha256 of stdout, a NUL, stderr
	ThrownAway string   `json:"thrown_away,omitempty"` // why an instrumented run does not count
	Refused    []string `json:"refused,omitempty"`
	Egress     []Reach  `json:"egress,omitempty"` // what the command tried to reach, and was refused
}

// Reach is an address off the machine that something tried to reach, or reached. To is as in "192.0.2.1:443", or a family of
// sockets where no address was ever named.
type Reach struct {
	To string `json:"to"`
	N  int    `json:"n"` // how often it was tried or seen
}

// EgressData is what the process that writes the line was connected to, as its own sockets were sampled.
type EgressData struct {
	Process string  `json:"process"` // repair
	Samples int     `json:"samples"` // how often it was looked; 0 where this system does not tell
	To      []Reach `json:"to"`
}

// Finding is one failing result, as views show it.
type Finding struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Got     string `json:"got,omitempty"`
	Want    string `json:"want,omitempty"`
	Message string `json:"message,omitempty"`
}

// VerdictData is what runs add up to.
type VerdictData struct {
	Phase    string    `json:"phase"` // see, judge, confirm, revert
	Color    string    `json:"color"`
	Class    string    `json:"class,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Passed   int       `json:"passed"`
	Skipped  int       `json:"skipped"`
	Unstable []string  `json:"unstable,omitempty"`
	Text     string    `json:"text,omitempty"`
	Command  string    `json:"command,omitempty"` // of see: the smallest command that shows the red
}

// SceneData is what one turn showed, by section.
type SceneData struct {
	Digest   string         `json:"digest"`
	Sections map[string]int `json:"sections"` // name -> bytes; 0 is switched off or empty
	Off      []string       `json:"off,omitempty"`
}

// RanData is what the failing tests ran of files that may be changed.
type RanData struct {
	Lines []RanLines `json:"lines"`
}

// RanLines are some lines, from 1, and how much they are suspected: above 0, at most 1.
type RanLines struct {
	File      string  `json:"file"`
	First     int     `json:"first"`
	Last      int     `json:"last"`
	Suspicion float64 `json:"suspicion"`
}

// RequestData is one question, byte for byte.
type RequestData struct {
	Tier        string          `json:"tier"`
	Model       string          `json:"model"`
	BaseURL     string          `json:"base_url"`
	Body        json.RawMessage `json:"body"` // as sent
	Seed        int64           `json:"seed"`
	Temperature float64         `json:"temperature"`
}

// TokensData is a frame of an answer.
type TokensData struct {
	N    int    `json:"n"`
	Text string `json:"text"` // since the frame before
}

// ReplyData is one answer.
type ReplyData struct {
	Model   string  `json:"model"`
	Text    string  `json:"text"`
	Finish  string  `json:"finish"`
	Prompt  int     `json:"prompt_tokens"`
	Cached  int     `json:"cached_tokens"`
	Output  int     `json:"output_tokens"`
	Seconds float64 `json:"seconds"`
}

// SlipData is one mistake of a model.
type SlipData struct {
	Code   string `json:"code"`
	File   string `json:"file,omitempty"`
	Addr   string `json:"addr,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// PatchData is a change that landed in a tree.
type PatchData struct {
	By       string   `json:"by"` // mechanic, small, big
	Diff     string   `json:"diff"`
	Tree     string   `json:"tree"`
	Landings []string `json:"landings,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// CandidateData is one small edit that the mechanic tried.
type CandidateData struct {
	Edit  string  `json:"edit"`
	File  string  `json:"file"`
	Line  int     `json:"line"`
	Score float64 `json:"score"`
	Got   string  `json:"got"` // red, green, unknown, does_not_compile
}

// EscalateData tells of a change of tier.
type EscalateData struct {
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	Why  string `json:"why,omitempty"`
}

// RungData is one rung of the proof.
type RungData struct {
	ID     string `json:"id"`     // D0, D1, …
	Status string `json:"status"` // held, failed, not_evaluated
	Text   string `json:"text"`
}

// ReceiptData points at the receipt.
type ReceiptData struct {
	SHA256 string `json:"sha256"`
	Tree   string `json:"tree"`
}

// StepData is progress for people.
type StepData struct {
	Text string `json:"text"`
}

// AdmitData is what proof.Admit said.
type AdmitData struct {
	Admitted bool   `json:"admitted"`
	Code     string `json:"code,omitempty"`
	Text     string `json:"text,omitempty"`
}

// DraftData is what was left for a person.
type DraftData struct {
	State  string `json:"state"` // will_open, opened
	Where  string `json:"where"` // branch or address
	Commit string `json:"commit,omitempty"`
}
