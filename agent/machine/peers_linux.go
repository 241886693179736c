package machine

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// peers are the remote addresses of this process' own sockets: those among its descriptors, looked up in the kernel's
// tables. https://docs.kernel.org/networking/proc_net_tcp.html
func peers() ([]netip.AddrPort, error) {
	mine, err := sockets()
	if err != nil {
		return nil, err
	}
	var all []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		f, err := os.Open("/proc/self/net/" + table)
		if errors.Is(err, os.ErrNotExist) { // no IPv6 here
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, remotes(f, mine)...)
		f.Close()
	}
	slices.SortFunc(all, netip.AddrPort.Compare)
	return slices.Compact(all), nil
}

// sockets are the inodes of this process' sockets.
func sockets() (map[string]bool, error) {
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("look at the own descriptors: %w", errors.Join(err, os.ErrNotExist))
	}
	mine := map[string]bool{}
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && strings.HasPrefix(to, "socket:[") {
			mine[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	return mine, nil
}

// remotes reads one of the kernel's tables: in each line the third word is the remote address, the tenth the inode.
func remotes(r io.Reader, mine map[string]bool) (all []netip.AddrPort) {
	for s := bufio.NewScanner(r); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 10 || !mine[words[9]] {
			continue
		}
		if a, ok := remote(words[2]); ok && a.Port() != 0 {
			all = append(all, a)
		}
	}
	return all
}

// remote reads an address as the kernel prints it: words of 32 bits in the machine's order, which is little-endian
// wherever this program runs, then the port.
func remote(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || perr != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	a, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), true
}
