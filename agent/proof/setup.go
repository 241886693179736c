package proof

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
)

// SetupPhase is the phase of the runs that set up. They count for no colour.
const SetupPhase = "setup"

// Setup is what was prepared on the untouched root before it was seen: the very same layer lay under every tree of every
// run, and no file of the tree itself came from it.
type Setup struct {
	Commands []string  `json:"commands"`
	Layer    string    `json:"layer_sha256"` // over path, mode and content of everything that was left
	Made     []string  `json:"made"`         // topmost paths of the layer below the tree; none is a path of the root
	At       time.Time `json:"at"`           // when it was made; before the job, where an earlier one of the same target made it
	Hosts    []string  `json:"hosts"`        // registries that were asked
	Requests int       `json:"requests"`     // made by the commands, refused ones included
	Bytes    int64     `json:"bytes"`        // given to the commands
}

// Gap is the sentence that people read about it.
func (s *Setup) Gap() string {
	return "Setup commands ran once on the root, with package registries in reach through a read-only proxy; they were not run again with the change."
}

// Touches is the first path of a change that lies in the layer, or that the layer lies in, or "".
func (s *Setup) Touches(change patch.Change) string {
	for _, f := range change.Files {
		if slices.ContainsFunc(s.Made, func(m string) bool { return below(f.Path, m) || below(m, f.Path) }) {
			return f.Path
		}
	}
	return ""
}

func below(name, top string) bool { return name == top || strings.HasPrefix(name, top+"/") }

// setUp asks that every run was made over the one layer that the receipt names, and that the layer came from the commands
// that it names, each of which ended well.
func (r Receipt) setUp(runs []Recorded) error {
	layer, commands := "", []string(nil)
	if r.Setup != nil {
		if layer, commands = r.Setup.Layer, r.Setup.Commands; layer == "" || len(commands) == 0 {
			return refuse("evidence_invalid", "the receipt names a setup without commands or layer")
		}
	}
	var ran []Recorded
	for _, run := range runs {
		switch {
		case run.Phase == SetupPhase:
			ran = append(ran, run)
		case run.Setup != layer:
			return refuse("evidence_tampered", "run %s-%d was not made over the receipt's setup", run.Phase, run.N)
		}
	}
	slices.SortFunc(ran, func(a, b Recorded) int { return a.N - b.N })
	if len(ran) != len(commands) {
		return refuse("evidence_missing", "%d setup commands are recorded, the receipt names %d", len(ran), len(commands))
	}
	for i, run := range ran {
		if run.N != i+1 || run.Command != commands[i] || run.Exit != 0 || run.Signal != "" || run.Limit != "" || run.Tier != r.Tier || run.Tree != r.RootTree {
			return refuse("evidence_tampered", "run setup-%d is not the receipt's, or did not end well", run.N)
		}
	}
	return nil
}

// sameSetup is the admitting side's look at a setup: its commands are those of this repository's plan, it made no path of
// the root, and the change stays out of what it made.
func sameSetup(root fs.FS, change patch.Change, receipt Receipt, policy Policy) error {
	s := receipt.Setup
	if s == nil {
		if len(policy.Setup) > 0 {
			return refuse("plan_changed", "the setup commands of this repository were not run")
		}
		return nil
	}
	if !slices.Equal(s.Commands, policy.Setup) {
		return refuse("plan_changed", "the setup commands that were run are not those of this repository")
	}
	for _, m := range s.Made {
		if !fs.ValidPath(m) || m == "." {
			return refuse("evidence_invalid", "the setup names %q, which is no path", m)
		}
		if _, err := fs.Stat(root, m); !errors.Is(err, fs.ErrNotExist) {
			return refuse("evidence_tampered", "the setup is said to have made %s, which is the root's", m)
		}
		for dir := path.Dir(m); dir != "."; dir = path.Dir(dir) { // a folder of the root, or else dir is the topmost path
			if fi, err := fs.Stat(root, dir); err != nil || !fi.IsDir() {
				return refuse("evidence_invalid", "the setup is said to have made %s, below what is no folder of the root", m)
			}
		}
	}
	if p := s.Touches(change); p != "" {
		return refuse("gate", "%s: setup commands make files there, and a change may not", p)
	}
	return nil
}
