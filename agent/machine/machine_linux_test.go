package machine

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSample(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		l, err := net.Listen(network, "localhost:0")
		if err != nil {
			t.Logf("REFUSED: no %s here: %v", network, err)
			continue
		}
		defer l.Close()
		s := Sample(t.Context(), time.Millisecond)
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 3; time.Sleep(time.Millisecond) {
			s.mu.Lock()
			n = s.looks
			s.mu.Unlock()
		}
		c.Close()
		all, looks := s.Stop()
		want := netip.MustParseAddrPort(l.Addr().String())
		if looks < 2 || !slices.ContainsFunc(all, func(p Peer) bool { return p.Address == want && p.Looks > 0 }) {
			t.Errorf("%s: %v in %d looks, want %v among them", network, all, looks, want)
		}
	}
}

func TestRemotes(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0
   1: 0100007F:C350 070200C0:01BB 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0
   2: 0100007F:C351 080200C0:01BB 01 00000000:00000000 00:00000000 00000000     0        0 99 1 0 100 0 0 10 0
   3: 0100007F:C352 zz:01BB 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0
   4: short
`
	got := remotes(strings.NewReader(table), map[string]bool{"11": true, "12": true, "13": true})
	if want := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.7:443")}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if a, ok := remote("0000000000000000FFFF00000100007F:0050"); !ok || a.String() != "127.0.0.1:80" {
		t.Errorf("got %v, %v", a, ok)
	}
}
