package bot

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/trace"
)

// step is, for a cell of a table as well, where the step of a workflow stands whose command is the check, and what runs it; "" where the check was found elsewhere.
func (s Story) step(p pen) string {
	for _, e := range s.Events {
		var j trace.Job
		var set plan.Set
		if e.Type != trace.TypeEvent || json.Unmarshal(e.Data, &j) != nil || json.Unmarshal(j.Checks, &set) != nil {
			continue
		}
		for _, c := range set.Checks {
			file, key, ok := strings.Cut(c.Source, ": ")
			if c.ID != j.Check || c.Provenance != plan.Workflow || !ok {
				continue
			}
			text := p.cell(file, 200)
			if c.Line > 0 {
				text += fmt.Sprintf(", line %d", c.Line)
			}
			return text + fmt.Sprintf(" (%s), by %s", p.cell(key, 200), word(nonempty(c.Shell, "sh")))
		}
	}
	return ""
}
