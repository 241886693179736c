package sandbox

import (
	"slices"
	"testing"
	"time"
)

// TestLedger makes sure that what a command tries to reach is told, and that its own loopback is none of it.
func TestLedger(t *testing.T) {
	for _, tier := range []Tier{Bubblewrap, Landlock} {
		t.Run(string(tier), func(t *testing.T) {
			box, err := Open(Options{Tier: tier})
			if err != nil {
				t.Skipf("REFUSED: %v", err)
			}
			dir := t.TempDir()
			script := `for i in 1 2; do (exec 3<>/dev/tcp/192.0.2.7/443) 2>/dev/null; done; (exec 3<>/dev/udp/192.0.2.8/53 && echo hello >&3) 2>/dev/null; (exec 3<>/dev/tcp/127.0.0.1/9) 2>/dev/null; exit 0`
			res, err := box.Run(t.Context(), Command{Argv: []string{"bash", "-c", script}, Dir: dir, Write: []string{dir}, Env: []string{"PATH=/usr/bin:/bin"}, Wall: time.Minute})
			if err != nil || res.Exit != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			want := []Attempt{{"192.0.2.7:443", 2}, {"192.0.2.8:53", 1}}
			if tier == Landlock { // the socket itself is refused, so that nothing names an address
				want = []Attempt{{"AF_INET", 4}}
			}
			if !slices.Equal(res.Egress, want) {
				t.Errorf("got %v, want %v; refused %q", res.Egress, want, res.Refused)
			}
		})
	}
}
