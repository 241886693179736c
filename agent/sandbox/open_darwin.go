package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// confining are the tiers that need no allowance.
var confining = []Tier{Seatbelt}

// sandboxExec is the launcher, which lies on the sealed volume of the system. https://keith.github.io/xcode-man-pages/sandbox-exec.1.html
const sandboxExec = "/usr/bin/sandbox-exec"

const advice = "run outside of any other sandbox, which cannot hold a second one (an editor's terminal may be in one); " +
	"--sandbox none runs commands unconfined, on your own word"

// open fits the sandbox to its tier and proves it.
func (s *Sandbox) open(shim []string) (err error) {
	s.backend = backend{}
	if s.shim, err = resolveShim(shim); err != nil {
		return err
	}
	if err := seesItself(); err != nil {
		return err
	}
	switch s.tier {
	case Seatbelt:
		if fi, err := os.Lstat(sandboxExec); err != nil || !fi.Mode().IsRegular() {
			return fmt.Errorf("%s is not there", sandboxExec)
		}
		s.gaps = seatbeltGaps(s.closed)
	case Unconfined:
		s.gaps = []string{
			"Commands are not confined: they may read and write what this user may, and reach the network.",
			"Only time, output, processes, memory and written bytes are bounded, by a watchdog that looks about twenty times a second.",
			strayGap, "Such a process outlives the run.",
		}
	case Bubblewrap, Landlock:
		return errors.New("not available on darwin")
	default:
		return fmt.Errorf("no such tier: %q", s.tier)
	}
	return s.prove()
}

// resolveShim is the argv of the shim with the real path of its binary.
func resolveShim(shim []string) ([]string, error) {
	if os.Args[len(os.Args)-1] == shimMarker {
		return nil, errors.New("this process was started as a shim and did not call sandbox.Main first")
	}
	if len(shim) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the running executable: %w", err)
		}
		shim = []string{exe}
	}
	exe, err := filepath.EvalSymlinks(shim[0])
	if err != nil {
		return nil, fmt.Errorf("find the shim: %w", err)
	}
	if !filepath.IsAbs(exe) {
		return nil, fmt.Errorf("shim %s is not an absolute path", exe)
	}
	return append([]string{firm(exe)}, shim[1:]...), nil
}

const strayGap = "A process that leaves its family before it is ever seen and works outside of the run's folders is not counted against the limits."

// seatbeltGaps are what Seatbelt does not do, for people.
func seatbeltGaps(closed []int) []string {
	var ports []string
	for _, n := range closed {
		ports = append(ports, strconv.Itoa(n))
	}
	but := "; closed are the ports " + strings.Join(ports, ", ")
	if len(ports) == 0 {
		but = "; no port is closed"
	}
	gaps := []string{
		"Memory, processes and written bytes are watched about twenty times a second, not capped by the kernel: a short burst goes unseen.",
		"There is no network of its own: servers of this machine that listen on 127.0.0.1 or ::1 can be reached, and may lead further" + but + ".",
		"A command can listen on 127.0.0.1 and ::1 alone, where everybody on this machine reaches it: 0.0.0.0, :: and IPv4 within IPv6 are refused.",
		strayGap,
		"Such a process is ended with the run all the same, unless the command kills the process of ours that keeps it; then it outlives the run, confined.",
		"What was refused is not told here, and no address that was tried: macOS writes that into its own log.",
		"Names of semaphores and shared memory that Python makes (/mp-, /psm_) are the whole machine's.",
		"/tmp is closed: temporary files go to TMPDIR. In a tree no .git, start file of a shell, editor's task or git hook can be written.",
		"A command cannot confine its own children: SwiftPM, Bazel and Nix need their flag against it.",
		"Programs, libraries and developer tools of the system folders (/usr, /System, /Library/Developer and their like) and a few files of /etc are readable.",
	}
	if u, err := user.Current(); err == nil && u.Uid == "0" {
		gaps = append(gaps, "This runs as root: prefer another user, so that file modes protect the rest of the machine as well.")
	}
	return gaps
}

// firm is a path as Seatbelt sees it: what the data volume holds appears at the top.
// https://source.chromium.org/chromium/chromium/src/+/main:sandbox/policy/mac/common.sb (FB9738355)
func firm(path string) string {
	const data = "/System/Volumes/Data"
	if strings.HasPrefix(path, data+"/") {
		return path[len(data):]
	}
	return path
}

// operatorHome is the home of this user by the user database, not by an environment that may be a job's.
func operatorHome() string {
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) || u.HomeDir == "/" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(u.HomeDir); err == nil {
		return firm(real)
	}
	return filepath.Clean(u.HomeDir)
}

// developerTools is the Xcode that xcrun and the programs of /usr/bin lead to, where one is chosen that lies elsewhere than in
// the system folders. https://keith.github.io/xcode-man-pages/xcode-select.1.html
func developerTools() []string {
	dir, err := filepath.EvalSymlinks("/var/db/xcode_select_link")
	if err != nil {
		return nil
	}
	if app, ok := strings.CutSuffix(dir, "/Contents/Developer"); ok && strings.HasSuffix(app, ".app") {
		return []string{firm(app)}
	}
	return nil
}
