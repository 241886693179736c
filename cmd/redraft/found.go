package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/agent/trace"
)

// more is what a job without a proof found out besides what is red.
type more struct {
	Flake   *trace.FlakeData   `json:"flake,omitempty"`
	Reduced *trace.ReducedData `json:"reduced,omitempty"`
	Bisect  *trace.BisectData  `json:"bisect,omitempty"`
}

// foundIn reads it from a job's evidence; nothing where that cannot be read.
func foundIn(evidence string) more {
	events, torn, err := trace.Read(filepath.Join(evidence, trace.FileName))
	if err != nil {
		return more{}
	}
	s := trace.StatusOf(events, torn)
	return more{s.Flake, s.Reduced, s.Bisect}
}

func (f more) text() string {
	var b strings.Builder
	if f.Flake != nil {
		b.WriteString("\nCertificate:\n")
		for _, t := range f.Flake.Tests {
			fmt.Fprintf(&b, "  %s: red in %d, green in %d of these runs", t.ID, len(t.Red), len(t.Green))
			if t.Here.Runs > 0 {
				fmt.Fprintf(&b, "; on these files %s", trace.RateText(t.Here))
			}
			if t.With != "" {
				fmt.Fprintf(&b, "; red with %s", t.With)
			}
			b.WriteString("\n")
		}
		if f.Flake.Prior != "" {
			fmt.Fprintf(&b, "  (prior of a rate: %s; in brackets 5%% and 95%% of what is known of it)\n", f.Flake.Prior)
		}
	}
	if r := f.Reduced; r != nil && r.Command != "" {
		fmt.Fprintf(&b, "\nSeen red with %d of %d tests: %s\n", r.Tests, r.Of, r.Command)
	}
	if r := f.Reduced; r != nil && len(r.Excerpt) > 0 {
		fmt.Fprintf(&b, "\nIn %d of %d lines of the output:\n  %s\n", len(r.Excerpt), r.Lines, strings.Join(r.Excerpt, "\n  "))
	}
	if r := f.Reduced; r != nil && r.Why != "" {
		fmt.Fprintf(&b, "Not reduced further: %s.\n", r.Why)
	}
	if f.Bisect != nil {
		fmt.Fprintf(&b, "\nSuspect: %s.\n", trace.BisectText(*f.Bisect))
	}
	return b.String()
}
