package bot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCriteria(t *testing.T) {
	body := "It fails.\r\n- not one\r\n## Acceptance criteria\r\n- [ ] adds\r\n* [x] subtracts\r\n1. divides\r\nprose\r\n### Out of scope:\r\n- speed\r\n## Notes\r\n- not one either\r\n"
	if d := cmp.Diff([]string{"adds", "subtracts", "divides", "Out of scope: speed"}, Criteria(body)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := Criteria("# Acceptance Criteria\n" + strings.Repeat("- x\n", 100) + "- " + strings.Repeat("é", 1000)); len(got) != maxCriteria {
		t.Errorf("got %d", len(got))
	}
	if got := Criteria("# out-of-scope\n- " + strings.Repeat("é", 1000)); len(got) != 1 || len(got[0]) > 310 || !strings.HasSuffix(got[0], "…") {
		t.Errorf("got %q", got)
	}
	if Criteria("") != nil {
		t.Error("an empty body has criteria")
	}
}
