package proof

import (
	"fmt"
	"slices"

	"github.com/redraft-dev/redraft/agent/report"
)

// Mutation is one value that a test asks for, and another one that it asked for in a copy.
type Mutation struct {
	ID   string `json:"id"` // the finding whose assertion it stands in
	File string `json:"file"`
	Line int    `json:"line"`
	From string `json:"from"` // as written in the file
	To   string `json:"to"`
}

// mutations is D7: with the change, the findings' tests are red again once the values they ask for are others. What turns
// any question into a yes is found by it.
func mutations(receipt Receipt, runs []Recorded) Rung {
	if len(runs) == 0 {
		return Rung{"D7", NotEvaluated, ""}
	}
	n := 0
	for _, r := range runs {
		if c := r.Report.Color(); c != report.Red {
			return Rung{"D7", Failed, fmt.Sprintf("with other values asked for the check is %s", c)}
		}
		got := r.Report.Statuses()
		for _, m := range r.Mutated {
			n++
			if !slices.Contains(receipt.Findings, m.ID) || m.From == m.To {
				return Rung{"D7", Failed, m.ID + " is no finding of the claim, or was asked for the same"}
			}
			if s := got[m.ID]; r.Report.Format != "exit" && s != report.Fail && s != report.Error {
				return Rung{"D7", Failed, fmt.Sprintf("%s is %s when %s:%d asks for %s instead of %s", m.ID, word(s), m.File, m.Line, m.To, m.From)}
			}
		}
	}
	return Rung{"D7", Held, fmt.Sprintf("red again with %s that the failing tests ask for mutated", count(n, "value"))}
}
