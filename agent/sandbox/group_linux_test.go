package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestHierarchies: a group is found below what of its hierarchy is mounted here, and nowhere else.
func TestHierarchies(t *testing.T) {
	const both = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
		"36 31 0:31 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
		"37 31 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpuacct,cpu\n" +
		"38 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
	for _, tt := range []struct {
		name, mounts, groups string
		want                 []mounted
	}{
		{"nothing", "", "", nil},
		{"junk", "a b - c\n- - -\n", "x\n1:y\n::\n", nil},
		{"two versions", both, "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/u\n", []mounted{
			{[]string{"memory"}, "/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory"},
			{[]string{"cpu", "cpuacct"}, "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
			{nil, "/sys/fs/cgroup/unified/u", "/sys/fs/cgroup/unified"},
		}},
		{"a container sees its own folder", "36 31 0:31 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", "4:memory:/docker/1\n",
			[]mounted{{[]string{"memory"}, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"}}},
		{"a group outside of what is mounted", "36 31 0:31 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/10\n0::/\n", nil},
		{"a path with a blank", "36 31 0:31 / /mnt/a\\040b rw - cgroup2 cgroup rw\n", "0::/x\n", []mounted{{nil, "/mnt/a b/x", "/mnt/a b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hierarchies(tt.mounts, tt.groups), cmp.AllowUnexported(mounted{}), cmp.Transformer("empty", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDelegated: in version 2 groups are made beside ours, where both controllers are on; what systemd keeps is left alone.
func TestDelegated(t *testing.T) {
	top := t.TempDir()
	plant := func(dir, controls string) string {
		dir = filepath.Join(top, dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(controls), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	on, off := plant("on", "cpu memory pids\n"), plant("off", "cpu pids\n")
	for _, tt := range []struct {
		name string
		m    mounted
		want string
	}{
		{"above ours", mounted{own: plant("on/own", ""), top: top}, on},
		{"a controller is missing", mounted{own: plant("off/own", ""), top: top}, ""},
		{"the machine's root", mounted{own: on, top: on}, on},
		{"not above what is mounted", mounted{own: off, top: off}, ""},
		{"not there", mounted{own: filepath.Join(top, "no", "own"), top: top}, ""},
		{"version 1", mounted{controllers: []string{"memory"}, own: plant("on/own", ""), top: top}, ""},
	} {
		if got, ok := delegated(tt.m); !given(on) && got != "" || given(on) && (got != tt.want || ok != (got != "")) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// capped are sandboxes of both tiers whose caps the kernel enforces.
func capped(t *testing.T, test func(t *testing.T, box *Sandbox)) {
	for _, tier := range confining {
		t.Run(string(tier), func(t *testing.T) {
			box, err := Open(Options{Tier: tier})
			if err != nil {
				t.Skipf("REFUSED: %v", err)
			}
			if box.controls.version == 0 {
				t.Skipf("REFUSED: no control groups here: %s", box.controls.lack)
			}
			test(t, box)
		})
	}
}

// TestCaps: what the kernel refuses is told as the limit it is, and as no limit where the command lived with it.
func TestCaps(t *testing.T) {
	capped(t, func(t *testing.T, box *Sandbox) {
		if gap := box.Gaps()[0]; !strings.Contains(gap, "capped by the kernel (cgroup v"+strconv.Itoa(box.controls.version)+")") {
			t.Errorf("gap %q", gap)
		}
		const either = 99 // it may end by itself before it is ended
		few := *box
		few.controls.threads = probeThreads
		for _, tt := range []struct {
			name, script string
			take         taking
			box          *Sandbox
			exit         int
			limit        string
			refused      []string
		}{
			{"within", "", taking{1 << 20, 2}, box, 0, "", nil},
			{"threads", "", taking{Forks: probeForks + box.controls.ours()}, &few, 1, "pids", nil},
			{"threads, lived with", `"$@"; exit 0`, taking{Forks: probeForks + box.controls.ours()}, &few, 0, "", []string{"fork past the cap on threads"}},
			{"memory", "", taking{Bytes: 64 << 20}, box, -1, "memory", nil},
			{"memory of a child", `"$@"; sleep 20`, taking{Bytes: 64 << 20}, box, either, "memory", nil},
			{"memory of a child, hidden", `"$@"; exit 0`, taking{Bytes: 64 << 20}, box, either, "memory", nil},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c, err := tt.box.probing(t.TempDir(), trial{Take: &tt.take})
				if err != nil {
					t.Fatal(err)
				}
				c.Memory, c.Env = 32<<20, []string{"GOMAXPROCS=2", "PATH=/usr/bin:/bin"}
				if tt.script != "" {
					c.Argv = append([]string{"sh", "-c", tt.script, "sh"}, c.Argv...)
				}
				start := time.Now()
				res, err := tt.box.Run(t.Context(), c)
				if err != nil || tt.exit != either && res.Exit != tt.exit || res.Limit != tt.limit || !slices.Equal(res.Refused, tt.refused) {
					t.Errorf("exit %d %s, limit %q, refused %q, %v; want exit %d, limit %q, refused %q\n%s", res.Exit, res.Signal, res.Limit, res.Refused, err, tt.exit, tt.limit, tt.refused, res.Stderr)
				}
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		}
	})
}

// TestGroupsGo: a run leaves no group, whoever of its processes is killed.
func TestGroupsGo(t *testing.T) {
	capped(t, func(t *testing.T, box *Sandbox) {
		dir := t.TempDir()
		c := Command{Argv: []string{"sh", "-c", "echo $$ >up; sleep 60"}, Dir: dir, Write: []string{dir}, Env: []string{"PATH=/usr/bin:/bin"}}
		ended := make(chan error)
		go func() {
			_, err := box.Run(t.Context(), c)
			ended <- err
		}()
		for range 1000 {
			if _, err := os.Stat(filepath.Join(dir, "up")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		mine := children(t)
		if len(mine) != 1 {
			t.Fatalf("%d children of this process, want the launcher", len(mine))
		}
		groups := owned(box.controls, mine[0])
		if len(groups) == 0 {
			t.Error("the run is in no group of its own")
		}
		if err := unix.Kill(mine[0], unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Error("no error although the launcher was killed")
		}
		for _, g := range groups {
			if _, err := os.Stat(g); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", g, err)
			}
		}
	})
}

func children(t *testing.T) (pids []int) {
	t.Helper()
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(s); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// owned are the groups that hold a process below root.
func owned(c controls, root int) (groups []string) {
	for _, parent := range []string{c.memory, c.pids} {
		all, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
		for _, g := range all {
			for _, pid := range (&folder{path: g}).members() {
				if below(pid, root) && !slices.Contains(groups, g) {
					groups = append(groups, g)
				}
			}
		}
	}
	return groups
}

func below(pid, root int) bool {
	for pid > 1 {
		if pid == root {
			return true
		}
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(f) < 2 {
			return false
		}
		pid, _ = strconv.Atoi(f[1])
	}
	return false
}

// TestReapGroups: the group of a caller that was killed is emptied and removed; one whose caller lives is left alone.
func TestReapGroups(t *testing.T) {
	c := findControls()
	if c.version == 0 {
		t.Skipf("REFUSED: no control groups here: %s", c.lack)
	}
	parent := filepath.Join(c.pids, "redraft-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	defer os.Remove(parent)
	var held [2]*folder
	var sleep [2]*exec.Cmd
	var ended [2]chan error
	for i := range held {
		var err error
		if held[i], err = newFolder(parent); err != nil {
			t.Fatal(err)
		}
		sleep[i] = exec.Command("sleep", "60")
		if err := sleep[i].Start(); err != nil {
			t.Fatal(err)
		}
		ended[i] = make(chan error, 1)
		go func() { ended[i] <- sleep[i].Wait() }()
		defer func() { _ = sleep[i].Process.Kill() }()
		if err := held[i].set("cgroup.procs", strconv.Itoa(sleep[i].Process.Pid)); err != nil {
			t.Fatal(err)
		}
	}
	held[0].dir.Close() // as when its holder dies
	reaped := make(chan struct{})
	go func() { reapGroups(parent); close(reaped) }()
	if err := <-ended[0]; err == nil {
		t.Error("what an abandoned group held was not killed")
	}
	<-reaped
	if _, err := os.Stat(held[0].path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an abandoned group is left: %v", err)
	}
	if len(ended[1]) > 0 || len(held[1].members()) != 1 {
		t.Error("a held group was touched")
	}
	if err := held[1].remove(); err != nil {
		t.Error(err)
	}
	<-ended[1]
}

// TestBornInGroup: where version 2 is mounted, with or without the controllers, a process is born in a group and killed with
// it at one stroke.
func TestBornInGroup(t *testing.T) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	i := slices.IndexFunc(hierarchies(string(mounts), string(groups)), func(m mounted) bool { return len(m.controllers) == 0 && mayMake(m.own) })
	if i < 0 {
		t.Skip("REFUSED: no group of version 2 may be made here")
	}
	f, err := newFolder(hierarchies(string(mounts), string(groups))[i].own)
	if err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	cmd := exec.Command("sh", "-c", "setsid sleep 60 & sleep 60")
	cmd.SysProcAttr = (&group{version: 2, memory: f, pids: f}).attr()
	if err := cmd.Start(); err != nil {
		t.Fatal(errors.Join(err, f.remove()))
	}
	if pids := f.members(); !slices.Contains(pids, cmd.Process.Pid) {
		t.Errorf("members %v, want %d among them", pids, cmd.Process.Pid)
	}
	go func() { _ = cmd.Wait() }()
	if err := f.remove(); err != nil {
		t.Error(err)
	}
}

// TestMeaning: what a launcher says of the machine is told in words that help.
func TestMeaning(t *testing.T) {
	for said, want := range map[string]string{
		"exit status 1: bwrap: Unknown option --perms":                                   "too old",
		"exit status 1: bwrap: The --size option is not permitted in setuid mode":        "setuid root",
		"exit status 1: bwrap: No permissions to create new namespace, likely because":   "user namespaces",
		"exit status 1: bwrap: setting up uid map: Permission denied":                    "user namespaces",
		"exit status 1: bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted":    "network of its own",
		"exit status 1: bwrap: Can't find source path /x: No such file or directory":     "exit status 1: bwrap: Can't find",
		"an allowed write did not land: Unknown option of something that is no launcher": "an allowed write",
	} {
		if got := meaning(errors.New(said)).Error(); !strings.Contains(got, want) || !strings.Contains(got, said) {
			t.Errorf("%q became %q", said, got)
		}
	}
}
