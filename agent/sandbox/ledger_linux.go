package sandbox

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// watched are calls that name an address. In a network of its own a command reaches nothing but itself whatever it names;
// they are looked at so that what it tried can be told. A datagram with its address in a header (sendmsg) is not seen.
var watched = []call{
	{name: "connect", nr: unix.SYS_CONNECT},
	{name: "sendto", nr: unix.SYS_SENDTO, when: []test{{4, bpf.JumpNotEqual, 0}}},
}

// mostAttempts bounds how many addresses are told apart; the others are counted as one.
const mostAttempts = 64

// look lets through what goes to the command's own loopback, and refuses what would leave as a machine without a route
// does. The caller may change the address while it is read: then the network itself has no way out.
func (r *refusals) look(n *notification) unix.Errno {
	at, size := n.Args[1], n.Args[2]
	if n.Nr == unix.SYS_SENDTO {
		at, size = n.Args[4], n.Args[5]
	}
	to, ok := address(sockaddr(n.Pid, at, size))
	if !ok || to.Addr().IsLoopback() || to.Addr().IsUnspecified() {
		return 0
	}
	r.attempt(to.String())
	return unix.ENETUNREACH
}

// address is the internet address in a sockaddr, of which the family is in the machine's order and the port is not.
func address(b []byte) (netip.AddrPort, bool) {
	if len(b) < 8 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port), true
	case unix.AF_INET6:
		if len(b) >= 24 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])).Unmap(), port), true
		}
	}
	return netip.AddrPort{}, false
}

// attempt counts one try to reach something.
func (r *refusals) attempt(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tried[to]; !known && len(r.tried) >= mostAttempts {
		to = "others"
	}
	r.tried[to]++
}

// attempts are all tries, those made most often first.
func (r *refusals) attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Attempt
	for to, n := range r.tried {
		all = append(all, Attempt{to, n})
	}
	slices.SortFunc(all, func(a, b Attempt) int { return cmp.Or(b.N-a.N, cmp.Compare(a.To, b.To)) })
	return all
}
