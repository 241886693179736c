package sandbox

import (
	"fmt"
	"os"
	"strconv"
)

// shimPath is where the shim's binary stands inside a bubblewrap sandbox.
const shimPath = "/redraft-shim"

// bubblewrapArgs is the launcher's command line. It is started with an empty environment: --clearenv would leave the
// caller's in /proc/1/environ. The sandbox's own root is sealed last, so that nothing can be written but what was
// given.
func bubblewrapArgs(bwrap string, c Command, tmp string, shim []string) ([]string, error) {
	args := []string{bwrap, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--as-pid-1",
		"--cap-drop", "ALL", "--hostname", "localhost"}
	for _, dir := range systemDirs {
		args = append(args, systemBind(dir)...)
	}
	for _, file := range existing(systemFiles) {
		args = append(args, "--ro-bind", file, file)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", strconv.FormatInt(c.Memory, 10), "--tmpfs", "/dev/shm",
		"--remount-ro", "/dev", "--bind", tmp, "/tmp")
	mounts, err := binds(c)
	if err != nil {
		return nil, err
	}
	for _, b := range mounts {
		how := "--ro-bind"
		if b.write {
			how = "--bind"
		}
		args = append(args, how, b.from, b.to)
	}
	args = append(args, "--ro-bind", shim[0], shimPath, "--remount-ro", "/", "--chdir", "/", "--", shimPath)
	return append(append(args, shim[1:]...), shimMarker), nil
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
