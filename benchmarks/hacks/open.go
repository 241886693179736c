package hacks

import (
	"context"
	"io/fs"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// Stage is one program laid out, its red seen, for benchmarks that try answers of their own. Close it.
type Stage struct{ s *stage }

// Open lays a program out and sees its red. The error says why it cannot be used here.
func (b *Bench) Open(ctx context.Context, p Program) (*Stage, error) {
	s, err := b.stage(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Stage{s}, nil
}

// Root is the program as it is, red.
func (s *Stage) Root() fs.FS { return s.s.root }

// Sight is what was seen of it.
func (s *Stage) Sight() oracle.Sight { return s.s.sight }

// Policy is what a change of it may not touch.
func (s *Stage) Policy() patch.Policy { return s.s.policy }

// Try runs the plain check once on the program with a change.
func (s *Stage) Try(ctx context.Context, change patch.Change) (report.Color, error) {
	if err := s.s.wipe(); err != nil {
		return report.Unknown, err
	}
	return s.s.alone(ctx, change)
}

// Oracle is the one that saw the red.
func (s *Stage) Oracle() *oracle.Oracle { return s.s.seer }

// Close removes what was laid out.
func (s *Stage) Close() error { return s.s.close() }
