package sandboxtest

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// tally counts how the attempts of each row ended in one tier. Safe for several goroutines.
type tally struct {
	mu   sync.Mutex
	rows map[string]*count
}

type count struct {
	asked                         bool // the suite has it, whether or not it was chosen to run
	denied, open, refused, failed int
	why                           []string // why attempts were refused, each once
}

func newTally() *tally {
	y := &tally{rows: map[string]*count{}}
	for _, r := range rows {
		y.rows[r.ID] = &count{}
	}
	return y
}

// run is one attempt for the rows in ids, as in "E17 E18". f may end with refuse or gap.
func (y *tally) run(t *testing.T, ids, name string, f func(t *testing.T)) {
	t.Helper()
	for _, id := range strings.Fields(ids) {
		if y.rows[id] == nil {
			t.Fatalf("%s is no row", id)
		}
		y.note(id, func(c *count) { c.asked = true })
	}
	t.Run(ids+" "+name, func(t *testing.T) {
		t.Cleanup(func() {
			for _, id := range strings.Fields(ids) {
				y.note(id, func(c *count) {
					switch {
					case t.Failed():
						c.failed++
					case t.Skipped():
						c.refused++
					default:
						c.denied++
					}
				})
			}
		})
		f(t)
	})
}

func (y *tally) note(id string, change func(*count)) {
	y.mu.Lock()
	defer y.mu.Unlock()
	change(y.rows[id])
}

// refuse ends an attempt that this machine cannot make.
func (y *tally) refuse(t *testing.T, ids, why string) {
	t.Helper()
	for _, id := range strings.Fields(ids) {
		y.note(id, func(c *count) {
			if !slices.Contains(c.why, why) {
				c.why = append(c.why, why)
			}
		})
	}
	t.Skip("REFUSED: " + why)
}

// gap counts an attempt as left open by a gap that the tier names, and not as denied.
func (y *tally) gap(id string) {
	y.note(id, func(c *count) { c.open++; c.denied-- })
}

// close prints the table, and fails for a row that the suite does not try.
func (y *tally) close(t *testing.T, tier sandbox.Tier) {
	t.Helper()
	var b strings.Builder
	held, refused := 0, 0
	for _, r := range rows {
		c := y.rows[r.ID]
		if !c.asked && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // not cut by -run
			t.Errorf("%s (%s) is not tried in tier %s", r.ID, r.Tried, tier)
		}
		switch {
		case c.failed > 0 || c.denied+c.open+c.refused == 0:
		case c.denied+c.open > 0:
			held++
		default:
			refused++
		}
		fmt.Fprintf(&b, "%s %-47s %s\n", r.ID, r.Tried, c)
	}
	t.Logf("tier %s: %d rows, %d held, %d REFUSED as a whole\n%s", tier, len(rows), held, refused, b.String())
}

func (c *count) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.failed, "FAILED"}, {c.denied, "denied"}, {c.open, "open by a gap"}, {c.refused, "REFUSED"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "not run"
	}
	if c.denied+c.open+c.failed == 0 && len(c.why) > 0 {
		parts = append(parts, strings.Join(c.why, "; "))
	}
	return strings.Join(parts, ", ")
}
