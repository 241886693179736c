package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// shimPath is where the shim's binary stands inside a bubblewrap sandbox.
const shimPath = "/redraft-shim"

// bubblewrapArgs is the launcher's command line. It is started with an empty environment: --clearenv would leave the
// caller's in /proc/1/environ. All of /proc is read-only: to the kernel the user root is root in here too, whatever
// its capabilities, and may set what lies in /proc/sys for the whole machine. The sandbox's own root is sealed last, so that nothing can be written but what was
// given. The files returned are for the launcher, from descriptor warden.FirstFileFD up: it copies them, since a mount for each
// would take longer than all the rest.
func bubblewrapArgs(bwrap string, c Command, tmp string, shim []string) (args []string, files []*os.File, err error) {
	args = []string{bwrap, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--as-pid-1",
		"--cap-drop", "ALL", "--hostname", "localhost"}
	for _, dir := range systemDirs {
		args = append(args, systemBind(dir)...)
	}
	for _, path := range systemFiles {
		f, dir := openSystem(path)
		switch {
		case dir:
			args = append(args, "--ro-bind", path, path)
		case f != nil:
			args = append(args, "--perms", "0644", "--file", strconv.Itoa(warden.FirstFileFD+len(files)), path)
			files = append(files, f)
		}
	}
	args = append(args, "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--size", strconv.FormatInt(c.Memory, 10), "--tmpfs", "/dev/shm",
		"--remount-ro", "/dev", "--bind", tmp, "/tmp")
	mounts, err := binds(c)
	if err != nil {
		return nil, files, err
	}
	for _, b := range mounts {
		how := "--ro-bind"
		if b.write {
			how = "--bind"
		}
		args = append(args, how, b.from, b.to)
	}
	args = append(args, "--ro-bind", shim[0], shimPath, "--remount-ro", "/", "--chdir", "/", "--", shimPath)
	return append(append(args, shim[1:]...), warden.Marker), files, nil
}

// openSystem opens a regular file, or says that the path is a folder. It is nil and false for what this machine lacks.
func openSystem(path string) (*os.File, bool) {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, err == nil && fi.IsDir()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	return f, false
}

// systemBind gives one folder of the machine, as the link it is where it is one.
func systemBind(dir string) []string {
	fi, err := os.Lstat(dir)
	if err != nil {
		return nil
	}
	if fi.Mode()&os.ModeSymlink != 0 {
		if target, err := os.Readlink(dir); err == nil {
			return []string{"--symlink", target, dir}
		}
	}
	return []string{"--ro-bind", dir, dir}
}

// meanings are what the launcher's words say about this machine.
var meanings = []struct{ words, means string }{
	{"Unknown option", "this bwrap is too old: 0.7.0 or newer is needed"},
	{"setuid mode", "this bwrap is setuid root, which allows less than is needed: take one without that bit where user namespaces work"},
	{"namespace", "this user may not make user namespaces: see the settings kernel.unprivileged_userns_clone, user.max_user_namespaces and " +
		"kernel.apparmor_restrict_unprivileged_userns, and what a container's runtime refuses"},
	{"uid map", "this user may not make user namespaces: see the setting kernel.apparmor_restrict_unprivileged_userns"},
	{"RTM_NEWADDR", "a network of its own cannot be set up: see the setting kernel.apparmor_restrict_unprivileged_userns"},
}

// meaning adds to an error what it means, where the launcher's own words tell.
func meaning(err error) error {
	_, said, ok := strings.Cut(err.Error(), "bwrap: ")
	for _, m := range meanings {
		if ok && strings.Contains(said, m.words) {
			return fmt.Errorf("%s (%w)", m.means, err)
		}
	}
	return err
}

// findBubblewrap is the absolute path of the launcher. Only folders that the system owns are searched: what lies on
// somebody's PATH is not taken.
func findBubblewrap() (string, error) {
	for _, p := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"} {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("bwrap is not installed")
}
