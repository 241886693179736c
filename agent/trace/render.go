package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files that Render writes.
const (
	StatusFile   = "status.json"
	SummaryFile  = "SUMMARY.md"
	CommandsFile = "COMMANDS.md"
	LogFile      = "LOG.md"
	PatchesFile  = "PATCHES.md"
	PatchFile    = "patch.diff"
	ManifestFile = "manifest.json"
)

// Render writes status.json, SUMMARY.md, COMMANDS.md, LOG.md, PATCHES.md (only when something changed) and patch.diff
// from dir/trace.jsonl, then manifest.json over every file of the directory. The same lines give the same bytes, so
// that it may be done again at any time. A patch.diff that a receipt speaks of is never touched. One process at a time.
func Render(dir string) error {
	events, torn, err := Read(filepath.Join(dir, FileName))
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	if err := sweep(dir); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	s := tell(events, torn)
	if err := s.writeViews(dir); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	if err := writeManifest(dir); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return nil
}

func (s *story) writeViews(dir string) error {
	status, err := json.MarshalIndent(s.status(), "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", StatusFile, err)
	}
	views := []struct{ name, text string }{
		{StatusFile, string(status) + "\n"},
		{SummaryFile, s.summary()},
		{CommandsFile, s.commandsView()},
		{LogFile, s.logView()},
	}
	if len(s.patches) > 0 {
		views = append(views, struct{ name, text string }{PatchesFile, s.patchesView()})
	} else if err := remove(dir, PatchesFile); err != nil {
		return err
	}
	for _, v := range views {
		if err := writeFile(dir, v.name, []byte(v.text)); err != nil {
			return err
		}
	}
	return s.writePatchFile(dir)
}

// writePatchFile leaves the receipt's own patch.diff alone: its bytes are what was proved, also where a line of the
// trace cannot hold them (a file that is no UTF-8).
func (s *story) writePatchFile(dir string) error {
	p := s.patch()
	if p == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(dir, PatchFile)); err == nil && s.receipt != nil {
		return nil
	}
	return writeFile(dir, PatchFile, []byte(p.Diff))
}

// sweep removes what a process that died while writing left behind.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if stale, _ := filepath.Match(tmpPattern, e.Name()); stale {
			if err := remove(dir, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
