package sandbox

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// attempts are all tries, those made most often first.
func attempts(tried []warden.Attempt) []Attempt {
	var all []Attempt
	for _, a := range tried {
		to := a.Name
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			to = netip.AddrPortFrom(ip, a.Port).String()
		}
		all = append(all, Attempt{to, a.N})
	}
	slices.SortFunc(all, func(a, b Attempt) int { return cmp.Or(b.N-a.N, cmp.Compare(a.To, b.To)) })
	return all
}
