package agent

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

func TestNeedsTier(t *testing.T) {
	for _, tt := range []struct{ run, refused, text, next string }{
		{"go test ./...", "socket AF_INET", "opens sockets", "bubblewrap"},
		{"swift test", "sandbox_apply", "confines its own children", "--disable-sandbox"},
		{"make", "sandbox_apply", "confines its own children", "Tell it not to"},
	} {
		a := &Agent{Oracle: &oracle.Oracle{Check: plan.Check{Run: tt.run}}}
		a.seen.Class = "needs_tier"
		a.seen.Runs = []oracle.Run{{RunRecord: proof.RunRecord{Refused: []string{tt.refused}}}}
		stop := a.needsTier()
		if stop.Reason != trace.NeedsTier || !strings.Contains(stop.Text, tt.text) || !strings.Contains(stop.Next, tt.next) {
			t.Errorf("%s: got %+v", tt.run, stop)
		}
	}
}
