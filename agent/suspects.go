package agent

import (
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/trace"
)

// Suspects finds who changed lines last among recent changes, newest first. It is nil where nothing is known.
func Suspects(recent []trace.Touch) func([]perceive.Lines) []perceive.Suspect {
	if len(recent) == 0 {
		return nil
	}
	return func(lines []perceive.Lines) (all []perceive.Suspect) {
		for _, t := range recent {
			for _, at := range lines {
				if t.File == at.File && t.First <= at.Last && at.First <= t.Last {
					all = append(all, perceive.Suspect{
						Lines: perceive.Lines{File: t.File, First: t.First, Last: t.Last}, Commit: t.Commit, Subject: t.Line, When: t.When, Text: t.Diff,
					})
					break
				}
			}
		}
		return all
	}
}
