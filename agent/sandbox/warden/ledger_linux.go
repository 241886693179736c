package warden

import (
	"bytes"
	"encoding/binary"

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

// place is an address that a command named, or a name where there is none. Addresses are held as bytes: the package that knows
// how to write them begins later than this one.
type place struct {
	ip   string
	port uint16
	name string
}

// look lets through what goes to the command's own loopback, and refuses what would leave as a machine without a route
// does. The caller may change the address while it is read: then the network itself has no way out.
func (r *refusals) look(n *notification) unix.Errno {
	at, size := n.Args[1], n.Args[2]
	if n.Nr == unix.SYS_SENDTO {
		at, size = n.Args[4], n.Args[5]
	}
	to, ok := address(sockaddr(n.Pid, at, size))
	if !ok || own([]byte(to.ip)) {
		return 0
	}
	r.attempt(to)
	return unix.ENETUNREACH
}

// mapped begins an IPv4 address that is written as one of IPv6.
var mapped = []byte{10: 0xff, 11: 0xff}

// address is the internet address in a sockaddr, of which the family is in the machine's order and the port is not.
func address(b []byte) (place, bool) {
	if len(b) < 8 {
		return place{}, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_INET:
		return place{ip: string(b[4:8]), port: port}, true
	case unix.AF_INET6:
		if len(b) >= 24 {
			return place{ip: string(bytes.TrimPrefix(b[8:24], mapped)), port: port}, true
		}
	}
	return place{}, false
}

// own says whether an address is the loopback or none at all, which the kernel takes for the loopback.
func own(ip []byte) bool {
	if len(ip) == 4 && ip[0] == 127 {
		return true
	}
	rest := bytes.TrimLeft(ip, "\x00")
	return len(rest) == 0 || len(ip) == 16 && len(rest) == 1 && rest[0] == 1
}

// attempt counts one try to reach something.
func (r *refusals) attempt(to place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tried[to]; !known && len(r.tried) >= mostAttempts {
		to = place{name: "others"}
	}
	r.tried[to]++
}

// attempts are all tries, in no order.
func (r *refusals) attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Attempt
	for to, n := range r.tried {
		all = append(all, Attempt{[]byte(to.ip), to.port, to.name, n})
	}
	return all
}
