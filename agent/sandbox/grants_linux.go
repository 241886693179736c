package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// systemDirs hold the machine's programs and libraries. Where one is a link (merged /usr) it stays one.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// systemFiles are what programs read of a machine to work at all. None holds a secret: no shadow, no keys, no
// machine-wide configuration of git, pip or npm, where tokens live.
var systemFiles = []string{
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/networks", "/etc/rpc", "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/magic",
	"/etc/os-release", "/etc/debian_version", "/etc/locale.alias", "/etc/locale.conf", "/etc/login.defs",
	"/etc/alternatives", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/fonts",
	"/etc/crypto-policies", "/etc/maven", "/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk",
}

// procFiles tell of the machine, not of its processes. Under Landlock these alone of /proc are readable: command
// lines of other processes would be too, and they hold secrets.
var procFiles = []string{"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version",
	"/proc/filesystems", "/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/fs", "/proc/sys/net"}

var devNodes = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// existing are those paths that this machine has.
func existing(paths []string) []string {
	var out []string
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// grants is what Landlock allows a command, with tmp as its private temporary folder.
func grants(c Command, tmp string) ([]warden.Grant, error) {
	if err := nested(c); err != nil {
		return nil, err
	}
	var out []warden.Grant
	add := func(do warden.Access, paths []string) {
		for _, p := range paths {
			out = append(out, warden.Grant{Path: p, Do: do})
		}
	}
	add(warden.ReadRun, existing(systemDirs))
	add(warden.ReadOnly, existing(systemFiles))
	add(warden.ReadOnly, existing(procFiles))
	add(warden.Device, existing(devNodes))
	add(warden.ReadRun, c.Read)
	add(warden.ReadWrite, c.Write)
	add(warden.ReadWrite, []string{tmp})
	return out, nil
}

// nested refuses a readable path below a writable one: Landlock adds rights on the way down and takes none away.
func nested(c Command) error {
	for _, r := range c.Read {
		for _, w := range c.Write {
			if realWithin(w, r) {
				return fmt.Errorf("read path %s lies under write path %s: Landlock cannot keep it from being written", r, w)
			}
		}
	}
	return nil
}

// realWithin says whether path lies strictly below dir once links are followed.
func realWithin(dir, path string) bool {
	d, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	p, err := filepath.EvalSymlinks(path)
	return err == nil && p != d && within(d, p)
}

// bind is one mount of a bubblewrap sandbox.
type bind struct {
	from, to string
	write    bool
}

// binds are the command's own mounts, parents before children, a writable one after a readable one of the same path.
// What is linked elsewhere appears under its real path and under the path it was asked for.
func binds(c Command) ([]bind, error) {
	var out []bind
	add := func(paths []string, write bool) error {
		for _, p := range paths {
			real, err := filepath.EvalSymlinks(p)
			if err != nil {
				return fmt.Errorf("path to give: %w", err)
			}
			at := []string{real, p}
			if place, ok := c.Places[p]; ok {
				at = []string{place}
			}
			for _, to := range slices.Compact(at) {
				if write && to == real || !system(to) { // a place is none of the system's
					out = append(out, bind{real, to, write})
				}
			}
		}
		return nil
	}
	if err := add(c.Read, false); err != nil {
		return nil, err
	}
	if err := add(c.Write, true); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b bind) int { return strings.Compare(a.to, b.to) })
	return out, nil
}

// system says whether a path is part of every sandbox already.
func system(path string) bool {
	return slices.ContainsFunc(systemDirs, func(d string) bool { return within(d, path) })
}
