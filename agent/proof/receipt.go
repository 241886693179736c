package proof

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"time"

	"github.com/redraft-dev/redraft/agent/report"
)

// ReceiptVersion is the version of receipt.json that this program writes and reads.
const ReceiptVersion = 1

// Names of the files of an evidence directory that a receipt speaks of.
const (
	ReceiptFile = "receipt.json"
	PatchFile   = "patch.diff"
	ReportsDir  = "reports"
	runFile     = "run.json"
	stdoutFile  = "stdout"
	stderrFile  = "stderr"
	leftDir     = "left" // report files that a run left, by number
)

// Claim is a diff that is said to turn findings of a root from red to green.
type Claim struct {
	Root     string   // commit
	RootTree string   // its tree id
	Base     string   // tip of the branch a draft would go to
	Diff     []byte   // as Change.Diff writes it
	Findings []string // ids red in every run on the root
}

// Status is how one rung ended. The first constant is the one nobody chose.
type Status string

const (
	NotEvaluated Status = "not_evaluated"
	Held         Status = "held"
	Failed       Status = "failed"
)

// Rung is one kind of evidence.
type Rung struct {
	ID     string `json:"id"` // D0, D1, D2, D6, DR, …
	Status Status `json:"status"`
	Text   string `json:"text"` // figures, or why it failed or was not evaluated
}

// Receipt is the proof on paper. Nothing in it is believed: Admit recomputes it from the raw reports beside it.
type Receipt struct {
	Version     int               `json:"version"`
	Job         string            `json:"job"`
	Repo        string            `json:"repo"`
	Root        string            `json:"root"`
	RootTree    string            `json:"root_tree"`
	Base        string            `json:"base"`
	Tree        string            `json:"tree"` // tree id of root + diff
	Diff        string            `json:"diff_sha256"`
	Check       string            `json:"check"`
	Command     string            `json:"command"`
	Dir         string            `json:"dir"`
	Fingerprint string            `json:"fingerprint"`
	K           int               `json:"k"`
	Trusted     bool              `json:"instrumented"`  // instrumented runs agreed with the plain one on the root, so their findings count
	Natural     bool              `json:"natural_order"` // runs in other orders or time zones gave other results on the root and were thrown away
	Findings    []string          `json:"findings"`
	Others      []Other           `json:"others,omitempty"` // the other configured checks
	Fixers      []Fixer           `json:"fixers,omitempty"` // tools of the project's own that wrote in protected files
	Oracle      string            `json:"oracle_sha256"`    // over path and content of every protected file
	Rungs       []Rung            `json:"rungs"`
	Tier        string            `json:"sandbox"`
	Gaps        []string          `json:"sandbox_gaps"`
	Tools       map[string]string `json:"tools"`
	Setup       *Setup            `json:"setup,omitempty"` // what lay in every tree besides its own files; nothing if nil
	By          string            `json:"by"`              // mechanic, or the model's name and id
	Risk        string            `json:"risk"`
	Made        time.Time         `json:"made"`
	Evidence    map[string]string `json:"evidence"` // path below the evidence directory -> sha256 of its bytes
}

// RunRecord is run.json: how the raw output beside it came about.
type RunRecord struct {
	Phase      string            `json:"phase"` // see, confirm, revert, canary, mutated, other
	N          int               `json:"n"`     // from 1 within the phase
	Mode       string            `json:"mode"`  // plain, instrumented
	Command    string            `json:"command"`
	Dir        string            `json:"dir"`  // relative to the tree
	Tree       string            `json:"tree"` // tree id, computed just before the run
	Place      string            `json:"place"`
	Cache      string            `json:"cache"` // see, confirm, or base for the toolchain base alone
	Module     string            `json:"module,omitempty"`
	Own        []string          `json:"own,omitempty"` // modules that the root has itself, see report.Run
	Tier       string            `json:"sandbox"`
	Setup      string            `json:"setup,omitempty"` // layer that was laid under the tree, see Setup
	At         string            `json:"at,omitempty"`    // where the command saw Place, if elsewhere
	Exit       int               `json:"exit"`
	Signal     string            `json:"signal,omitempty"`
	Limit      string            `json:"limit,omitempty"`
	Truncated  bool              `json:"truncated,omitempty"`
	Refused    []string          `json:"refused,omitempty"`
	Seconds    float64           `json:"seconds"`
	Seed       int64             `json:"seed,omitempty"`
	TZ         string            `json:"tz,omitempty"`
	ThrownAway string            `json:"thrown_away,omitempty"`
	Check      string            `json:"check,omitempty"`   // of the phase other: which one
	Wrote      map[string]string `json:"wrote,omitempty"`   // of the phase fixer: protected files that are not the root's afterwards, by SHA-256
	Reports    []string          `json:"reports,omitempty"` // names of the report files it left; the n-th lies in left/n, from 1

	Canary  *Canary       `json:"canary,omitempty"`  // what lay in the copy besides tree, see Canary
	Mutated []Mutation    `json:"mutated,omitempty"` // literals of tests that were others in the copy than in tree
	Left    []report.File `json:"-"`                 // the report files themselves
}

// Other is a check that is configured beside the one that is red.
type Other struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Dir     string `json:"dir"`
}

// Folder is where the raw output of a run lies below the evidence directory.
func (r RunRecord) Folder() string { return path.Join(ReportsDir, fmt.Sprintf("%s-%d", r.Phase, r.N)) }

// Recorded is one run as the evidence holds it, its report read anew from the raw output.
type Recorded struct {
	RunRecord
	Report report.Report
}

// ReadRun reads one run's folder and recomputes its report.
func ReadRun(evidence fs.FS, folder string) (Recorded, error) {
	var r Recorded
	b, err := fs.ReadFile(evidence, path.Join(folder, runFile))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r.RunRecord); err != nil {
		return r, fmt.Errorf("%s: %w", path.Join(folder, runFile), err)
	}
	stdout, err := fs.ReadFile(evidence, path.Join(folder, stdoutFile))
	if err != nil {
		return r, err
	}
	stderr, err := fs.ReadFile(evidence, path.Join(folder, stderrFile))
	if err != nil {
		return r, err
	}
	for i, name := range r.Reports {
		b, err := fs.ReadFile(evidence, r.leftFile(folder, i))
		if err != nil {
			return r, err
		}
		r.Left = append(r.Left, report.File{Name: name, Data: b})
	}
	r.Report = report.Read(report.Run{
		Command: r.Command, Dir: cmp.Or(r.At, r.Place), Subdir: r.Dir, Module: r.Module, Own: r.Own, Stdout: stdout, Stderr: stderr, Files: r.Left,
		Exit: r.Exit, Signal: r.Signal, Limit: r.Limit, Truncated: r.Truncated, Refused: r.Refused,
		Duration: time.Duration(r.Seconds * float64(time.Second)),
	})
	return r, nil
}

// leftFile is where the i-th report file of a run lies, whatever its own name: that one is an attacker's.
func (r RunRecord) leftFile(folder string, i int) string {
	return path.Join(folder, leftDir, strconv.Itoa(i+1))
}

// Files are the files of a run's folder, by path below the evidence directory: its record, both streams, and what it left.
func (r RunRecord) Files(stdout, stderr []byte) (map[string][]byte, error) {
	r.Reports = nil
	for _, f := range r.Left {
		r.Reports = append(r.Reports, f.Name)
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	f := r.Folder()
	files := map[string][]byte{
		path.Join(f, runFile): append(b, '\n'), path.Join(f, stdoutFile): stdout, path.Join(f, stderrFile): stderr,
	}
	for i, left := range r.Left {
		files[r.leftFile(f, i)] = left.Data
	}
	return files, nil
}

// Sum is the SHA-256 of b in hex.
func Sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
