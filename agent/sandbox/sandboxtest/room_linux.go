package sandboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

// A room is a process of ours in a network and in a tree of mounts of its own, with everything in it that a machine
// may have: a model server, metadata services, name servers, sockets of daemons in their usual places, a caller's
// environment full of secrets and a PATH full of planted programs. Attempts are made in it outside of a sandbox and
// inside, so that no packet leaves the machine and nothing of the machine is touched, whoever succeeds.

const (
	roomDir   = "/run/redraft-room"
	modelPort = "8080"
	ownFour   = "198.51.100.7" // the machine's own address
	ownSix    = "fd00::7"
	farFour   = "203.0.113.9" // somebody's on the internet
	farSix    = "2001:db8::9"
	nameFour  = "192.0.2.53" // the machine's name server
	openFile  = 4321         // a limit of the caller
)

// roomAddresses are all on the room's loopback.
var roomAddresses = []string{ownFour, ownSix, farFour, farSix, nameFour, "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"}

// sockets are where daemons listen, and what names them in an environment.
var usualSockets = map[string]string{
	"/run/docker.sock": "DOCKER_HOST=unix:///run/docker.sock", "/var/run/docker.sock": "", "/run/containerd/containerd.sock": "", "/run/podman/podman.sock": "CONTAINER_HOST=unix:///run/podman/podman.sock",
	"/run/dbus/system_bus_socket": "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket", "/run/user/1000/bus": "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus,guid=1",
	"/run/systemd/private": "", "/run/systemd/notify": "NOTIFY_SOCKET=/run/systemd/notify", "/run/user/1000/gnupg/S.gpg-agent": "GPG_AGENT_INFO=/run/user/1000/gnupg/S.gpg-agent",
	"/tmp/ssh-1/agent.1": "SSH_AUTH_SOCK=/tmp/ssh-1/agent.1", "/tmp/tmux-1000/default": "TMUX=/tmp/tmux-1000/default,1,0", "/tmp/.X11-unix/X0": "", "/run/user/1000/pipewire-0": "",
}

// secretVariables are in the environment of a job on a runner, and name files that steer later steps.
var secretVariables = []string{"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "AWS_SECRET_ACCESS_KEY", "GH_TOKEN", "HTTPS_PROXY"}
var commandFiles = []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE"}

// steering are variables that make programs load or run something.
var steering = []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "GIT_DIR", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH", "BASH_ENV", "ENV", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GOFLAGS"}

// planted are programs that a PATH may hold before the real ones.
var planted = strings.Fields("bwrap sh bash env git go setsid ldd newuidmap sandbox-exec")

// roomReport is what the room tells.
type roomReport struct {
	Lacks   string // why there can be no such room on this machine
	Ends    []outcome
	Refused []string
	Checks  []check
}

// check is something else that was looked at in the room: both empty if it held.
type check struct{ ID, Name, Lacks, Wrong string }

// testRoom has a room tell how everything in it ended.
func (w *world) testRoom(t *testing.T) {
	rep, err := w.room(t)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Lacks != "" {
		for _, e := range roomEscapes(0) {
			w.tally.run(t, e.ID, e.Name, func(t *testing.T) { w.tally.refuse(t, e.ID, rep.Lacks) })
		}
		for _, id := range []string{"E03", "E38", "E40"} {
			w.tally.run(t, id, "in a room", func(t *testing.T) { w.tally.refuse(t, id, rep.Lacks) })
		}
		return
	}
	for _, o := range rep.Ends {
		w.judge(t, o, rep.Refused)
	}
	for _, c := range rep.Checks {
		w.tally.run(t, c.ID, c.Name, func(t *testing.T) {
			if c.Lacks != "" {
				w.tally.refuse(t, c.ID, c.Lacks)
			}
			if c.Wrong != "" {
				t.Error(c.Wrong)
			}
		})
	}
}

// room starts the room's process with a terminal of its own and reads its report.
func (w *world) room(t *testing.T) (roomReport, error) {
	cmd := exec.Command(w.exe, probeMarker, "room", string(w.box.Tier()))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "REDRAFT_ROOM_SECRET=" + w.secret}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS, Setsid: true, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if master, slave, err := terminal(); err != nil {
		t.Logf("REFUSED: no terminal here: %v", err)
	} else {
		defer master.Close()
		defer slave.Close()
		cmd.ExtraFiles, cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = []*os.File{slave}, true, 3
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := startedAndRead(cmd)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		return roomReport{Lacks: fmt.Sprintf("no network namespace of its own on this machine: %v", err)}, nil
	}
	var rep roomReport
	if err != nil {
		return rep, fmt.Errorf("the room: %w: %s%s", err, out, said.String())
	}
	if err := json.Unmarshal(out, &rep); err != nil {
		return rep, fmt.Errorf("the room answered %q, and said %s", out, said.String())
	}
	return rep, nil
}

// startedAndRead runs a command on a thread that outlives it: what dies with its parent dies with its parent's thread.
func startedAndRead(cmd *exec.Cmd) ([]byte, error) {
	type end struct {
		out []byte
		err error
	}
	ended := make(chan end)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		out, err := cmd.Output()
		ended <- end{out, err}
	}()
	e := <-ended
	return e.out, e.err
}

// terminal opens a new one.
func terminal() (master, slave *os.File, err error) {
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	err = unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0)
	s, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil || errno != 0 {
		unix.Close(m)
		return nil, nil, errors.Join(err, errno)
	}
	return os.NewFile(uintptr(m), "master"), os.NewFile(s, "slave"), nil
}

// roomEscapes are the attempts that are made in a room. sibling is a process of another run.
func roomEscapes(sibling int) []escape {
	list := []escape{
		{ID: "E05", Name: "model server as IPv6 writes IPv4", Args: []string{"mapped", modelPort}},
		{ID: "E06", Name: "metadata by name", Args: []string{"named", "metadata.google.internal", "80"}},
		{ID: "E06", Name: "metadata by name, libc", Args: []string{"libc", "metadata.google.internal"}},
		{ID: "E07", Name: "configured server", Args: []string{"lookup", "", "", "secret.example"}},
		{ID: "E07", Name: "configured server, libc", Args: []string{"libc", "secret.example"}},
		{ID: "E07", Name: "server of the machine, UDP", Args: []string{"lookup", "udp", nameFour + ":53", "secret.example"}},
		{ID: "E07", Name: "server of the machine, TCP", Args: []string{"dial", "tcp", nameFour + ":53"}},
		{ID: "E07", Name: "127.0.0.53", Args: []string{"lookup", "udp", "127.0.0.53:53", "secret.example"}},
		{ID: "E07", Name: "name service cache", Args: []string{"dial", "unix", "/run/nscd/socket"}},
		{ID: "E07", Name: "resolved's socket", Args: []string{"dial", "unix", "/run/systemd/resolve/io.systemd.Resolve"}},
		{ID: "E07", Name: "a far server, UDP", Args: []string{"lookup", "udp", farFour + ":53", "secret.example"}},
		{ID: "E07", Name: "over TLS", Args: []string{"dial", "tcp", farFour + ":853"}},
		{ID: "E07", Name: "over HTTPS", Args: []string{"dial", "tcp", farFour + ":443"}},
		{ID: "E08", Name: "IPv4", Args: []string{"dial", "tcp", farFour + ":443"}},
		{ID: "E08", Name: "IPv6", Args: []string{"dial", "tcp", "[" + farSix + "]:443"}},
		{ID: "E08", Name: "UDP", Args: []string{"udp", farFour + ":443"}},
		{ID: "E08", Name: "UDP, address in a header", Args: []string{"sendmsg", farFour, "443"}},
		{ID: "E08", Name: "TCP without connect", Args: []string{"fastopen", farFour, "443"}},
		{ID: "E08", Name: "/dev/tcp", Args: []string{"bash", "/dev/tcp/" + farFour + "/443"}},
		{ID: "E08", Name: "/dev/udp", Args: []string{"bash", "/dev/udp/" + farFour + "/443"}},
		{ID: "E08", Name: "ping", Args: []string{"ping", farFour}},
		{ID: "E08", Name: "raw IPv6", Args: []string{"socket", "raw6"}},
		{ID: "E26", Name: "table of cron", Args: []string{"write", "/var/spool/cron/crontabs/planted"}},
		{ID: "E26", Name: "table of cron, the system's", Args: []string{"write", "/etc/cron.d/planted"}},
		{ID: "E26", Name: "job of at", Args: []string{"write", "/var/spool/cron/atjobs/planted"}},
		{ID: "E26", Name: "unit of systemd", Args: []string{"write", "/run/systemd/system/planted.service"}},
		{ID: "E12", Name: "signal a sibling run", Args: []string{"signal", strconv.Itoa(sibling)}, Gap: gapSignal},
		{ID: "E29", Name: "controlling terminal", Args: []string{"open", "/dev/tty", "write"}},
		{ID: "E39", Name: "umask", Args: []string{"umask"}},
		{ID: "E39", Name: "ignored signals", Args: []string{"ignored"}},
		{ID: "E39", Name: "limits", Args: []string{"nofile", strconv.Itoa(openFile)}},
		{ID: "E39", Name: "locale", Args: []string{"variable", "LC_ALL"}},
		{ID: "E39", Name: "time zone", Args: []string{"variable", "TZ"}},
	}
	for _, a := range []string{"127.0.0.1", "localhost", "127.0.0.2", "[::1]", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", ownFour, "[" + ownSix + "]"} {
		list = append(list, escape{ID: "E05", Name: "model server by " + a, Args: []string{"dial", "tcp", a + ":" + modelPort}})
	}
	for _, a := range []string{"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"} {
		list = append(list, escape{ID: "E05", Name: "model server by " + a, Args: []string{"bash", "/dev/tcp/" + a + "/" + modelPort}})
	}
	for _, a := range []string{"169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]"} {
		list = append(list, escape{ID: "E06", Name: a, Args: []string{"dial", "tcp", a + ":80"}})
	}
	for path, variable := range usualSockets {
		list = append(list, escape{ID: "E09", Name: path, Args: []string{"dial", "unix", path}})
		if name, _, ok := strings.Cut(variable, "="); ok {
			list = append(list, escape{ID: "E09", Name: name, Args: []string{"dialvar", name}})
		}
	}
	for _, v := range secretVariables {
		list = append(list, escape{ID: "E37", Name: v, Args: []string{"variable", v}})
	}
	for _, v := range commandFiles {
		list = append(list, escape{ID: "E37", Name: v, Args: []string{"appendto", v}}, escape{ID: "E37", Name: v + ", guessed", Args: []string{"append", commandFile(v)}})
	}
	for _, v := range steering {
		list = append(list, escape{ID: "E40", Name: v, Args: []string{"variable", v}})
	}
	for _, p := range planted {
		list = append(list, escape{ID: "E40", Name: p, Args: []string{"found", p, roomDir + "/planted"}})
	}
	slices.SortStableFunc(list, func(a, b escape) int { return strings.Compare(a.ID+a.Name, b.ID+b.Name) })
	return list
}

func commandFile(variable string) string {
	return roomDir + "/runner/_work/_temp/_runner_file_commands/" + strings.ToLower(strings.TrimPrefix(variable, "GITHUB_")) + "_1"
}

// roomMain is the room's process.
func roomMain(tier sandbox.Tier) error {
	if err := openRoom(); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			return json.NewEncoder(os.Stdout).Encode(roomReport{Lacks: err.Error()})
		}
		return err
	}
	rep, err := tryRoom(tier)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(rep)
}

// tryRoom makes the attempts, and looks at what else is to be seen in the room.
func tryRoom(tier sandbox.Tier) (rep roomReport, err error) {
	options := sandbox.Options{Tier: tier, TmpDir: roomDir + "/tmp", Shim: []string{roomDir + "/exe"}}
	box, err := sandbox.Open(options)
	if err != nil {
		return rep, err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	sibling, end, err := startSibling(ctx, box)
	if err != nil {
		return rep, err
	}
	defer end()
	rep.Checks = append(rep.Checks, launcherIsClean())
	list := roomEscapes(sibling)
	outside, err := attempt(roomCommand("all"), list, func(c sandbox.Command) ([]byte, error) {
		cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
		cmd.Dir, cmd.Stdin = c.Dir, c.Stdin
		return cmd.Output()
	})
	if err != nil {
		return rep, fmt.Errorf("outside: %w", err)
	}
	inside, err := attempt(roomCommand("all"), list, func(c sandbox.Command) ([]byte, error) {
		res, err := box.Run(ctx, c)
		rep.Refused = res.Refused
		return res.Stdout, err
	})
	if err != nil {
		return rep, fmt.Errorf("inside: %w", err)
	}
	for i, e := range list {
		rep.Ends = append(rep.Ends, outcome{e, outside[i], inside[i]})
	}
	rep.Checks = append(rep.Checks, nothingPlantedRan())
	rep.Checks = append(rep.Checks, badFolders(options)...)
	rep.Checks = append(rep.Checks, lyingBackends(options)...)
	return rep, nil
}

func roomCommand(args ...string) sandbox.Command {
	return sandbox.Command{
		Argv: append([]string{roomDir + "/exe", probeMarker}, args...), Dir: roomDir + "/tree", Env: []string{"PATH=/usr/bin:/bin"},
		Read: []string{roomDir + "/exe"}, Write: []string{roomDir + "/tree"}, Wall: time.Minute,
	}
}

// startSibling begins another run and finds its process from outside.
func startSibling(ctx context.Context, box *sandbox.Sandbox) (pid int, end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	mark := "sibling-of-the-room"
	c := roomCommand()
	c.Argv = []string{"sh", "-c", "sleep 60; : " + mark}
	go func() {
		defer close(done)
		_, _ = box.Run(ctx, c)
	}()
	end = func() { cancel(); <-done }
	for range 500 {
		for _, p := range processes("cmdline", []byte("sh\x00-c\x00sleep 60; : "+mark)) {
			return p, end, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	end()
	return 0, nil, errors.New("the sibling did not come up")
}

// launcherIsClean looks into every process that a run consists of: none may hold the caller's environment, for a command
// might find a way to read it. The room's own process does hold it.
func launcherIsClean() check {
	c := check{ID: "E03", Name: "environment of the launcher"}
	secret := []byte("=" + os.Getenv("REDRAFT_ROOM_SECRET"))
	holders := processes("environ", secret)
	if !slices.Contains(holders, os.Getpid()) {
		c.Lacks = "the caller's own environment cannot be read"
	}
	for _, p := range holders {
		if parentOf(p) == os.Getpid() {
			c.Wrong = "a process of the run was started with the caller's environment"
		}
	}
	return c
}

// processes are those of which a file in /proc holds a text.
func processes(file string, text []byte) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && strings.Contains(string(b), string(text)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func parentOf(pid int) int {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}

// nothingPlantedRan: the planted programs leave a mark when they run, as the control does.
func nothingPlantedRan() check {
	c := check{ID: "E40", Name: "no planted program ran"}
	mark := roomDir + "/fired"
	if b, err := os.ReadFile(mark); err == nil {
		c.Wrong = "started: " + string(b)
		return c
	}
	path, err := exec.LookPath("bwrap")
	if err == nil {
		err = exec.Command(path).Run()
	}
	if _, there := os.Stat(mark); there != nil {
		c.Lacks = fmt.Sprintf("the planted program does not run outside either: %v", err)
	}
	return c
}
