package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// The whole of TestKills takes minutes: 500 jobs, of which 200 lose a process. An ordinary run does a share of it.
const (
	allJobs, allKills   = 500, 200
	someJobs, someKills = 20, 10
)

// lanes do jobs one after the other, each in a repository of its own, all in one state folder.
const lanes = 3

// roles are whose process is killed: the publisher, the one that repairs, one in the jail or before it, or any of them and
// of the git processes that they started.
var roles = []string{"publisher", "repair", "runner", "any"}

// slaughter is the world of TestKills.
type slaughter struct {
	t             *testing.T
	home, tmp     string
	model         *modeltest.Server
	jobs, kills   int
	begun, killed atomic.Int64

	mu       sync.Mutex
	byRole   map[string]int
	exits    map[int]int
	seen     []process // every process that a job was seen to have
	duration time.Duration
}

// TestKills does jobs while processes of them die at random moments, and asks at the end that nothing is left of any of it: no
// process, tree, lock, half-made ref, mount, control group or temporary file. What survives of a killed job is its evidence,
// and the branch if it came so far.
func TestKills(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("REFUSED: finds processes through /proc")
	}
	needBox(t)
	s := &slaughter{t: t, home: t.TempDir(), tmp: t.TempDir(), jobs: someJobs, kills: someKills, byRole: map[string]int{}, exits: map[int]int{}}
	if os.Getenv("REDRAFT_KILL") == "all" {
		s.jobs, s.kills = allJobs, allKills
	}
	if err := linkBase(s.state()); err != nil {
		t.Fatal(err)
	}
	s.model = modeltest.New(t, func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: rightAnswer} })
	mounts := s.mounts()
	var group sync.WaitGroup
	for lane := range lanes {
		repo := s.repo(lane)
		if lane == 0 {
			s.job(repo, lane, 0, nil) // unharmed, to know how long a job takes
		}
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(lane), 7))
			for n := s.begun.Add(1); n <= int64(s.jobs) || n <= 3*int64(s.jobs) && s.killed.Load() < int64(s.kills); n = s.begun.Add(1) { // some killers come too late
				s.job(repo, lane, int(n), rng)
			}
		})
	}
	group.Wait()
	t.Logf("%d jobs, %d kills %v, exits %v, %v a job", s.jobs, s.killed.Load(), s.byRole, s.exits, s.duration.Round(time.Millisecond))
	if got := int(s.killed.Load()); got < s.kills {
		t.Errorf("%d kills, want %d", got, s.kills)
	}
	s.nothingIsLeft(mounts)
}

func (s *slaughter) state() string { return filepath.Join(s.home, ".local", "state", "redraft") }

func (s *slaughter) repo(lane int) string {
	dir := filepath.Join(s.home, "repos", strconv.Itoa(lane))
	if err := worktree.Init(s.t.Context(), dir, map[string][]byte{"answer.txt": []byte("the answer is wrong\n")}, "one"); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

// job does one job, and kills somebody of it if there are kills left. A killer that came too late goes on to the next job.
func (s *slaughter) job(repo string, lane, n int, rng *rand.Rand) {
	evidence := filepath.Join(s.home, "evidence", fmt.Sprintf("%d-%d", lane, n))
	cmd := exec.Command(os.Args[0], "fix", "--check", rightCheck, "--tiers", "small", "--base-url", s.model.URL(), "--evidence", evidence)
	cmd.Dir = repo
	cmd.Env = []string{"HOME=" + s.home, "TMPDIR=" + s.tmp, "PATH=" + barePath(s.t), "REDRAFT_TEST_MAIN=1"}
	said := &said{}
	cmd.Stdout, cmd.Stderr = said, said
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	role := ""
	if rng != nil && s.due(n) {
		role = s.kill(cmd.Process.Pid, rng, over)
	}
	select {
	case <-over:
	case <-time.After(60 * time.Second):
		s.t.Errorf("job %d is still there 60 s after its %s was killed:\n%s\n%s", n, role, said, stuck(cmd.Process.Pid, evidence))
		for _, p := range family(cmd.Process.Pid) {
			p.kill()
		}
		return
	}
	s.ended(cmd.ProcessState, role, repo, evidence, said)
	if rng == nil {
		s.duration = time.Since(begin)
	}
}

// stuck describes a job that does not end: its processes, and what the one that repairs is at.
func stuck(fix int, evidence string) string {
	var b strings.Builder
	for _, p := range family(fix) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		fmt.Fprintf(&b, "%d of %d, %s: %.200q\n", p.pid, p.parent, p.role, line)
		if p.role == "repair" {
			_ = syscall.Kill(p.pid, syscall.SIGQUIT)
		}
	}
	time.Sleep(time.Second)
	log, _ := os.ReadFile(filepath.Join(evidence, "repair.log"))
	return b.String() + string(log)
}

// due says whether the kills would fall behind without one more.
func (s *slaughter) due(n int) bool { return s.killed.Load()*int64(s.jobs) < int64(n*s.kills) }

// kill waits for some time of a job's, then for a process of the role that was drawn, and kills it.
func (s *slaughter) kill(fix int, rng *rand.Rand, over <-chan struct{}) (role string) {
	role = roles[rng.IntN(len(roles))]
	select {
	case <-over:
		return ""
	case <-time.After(time.Duration(rng.Int64N(int64(s.duration)))):
	}
	for {
		family := family(fix)
		s.mu.Lock()
		s.seen = append(s.seen, family...)
		s.mu.Unlock()
		if these := slices.DeleteFunc(slices.Clone(family), func(p process) bool { return role != "any" && p.role != role }); len(these) > 0 {
			if victim := these[rng.IntN(len(these))]; victim.kill() {
				s.killed.Add(1)
				s.mu.Lock()
				s.byRole[victim.role]++
				s.mu.Unlock()
				return victim.role
			}
		}
		select {
		case <-over:
			return ""
		case <-time.After(time.Millisecond):
		}
	}
}

// ended looks at one job: an exit status that there is, a trace that can be read, and a branch exactly where the job says so.
func (s *slaughter) ended(state *os.ProcessState, role, repo, evidence string, said *said) {
	code := state.ExitCode()
	s.mu.Lock()
	s.exits[code]++
	s.mu.Unlock()
	switch {
	case code == -1 && role == "publisher", code == exitProved, role != "" && (code == exitStopped || code == exitFailed):
	default:
		s.t.Errorf("exit status %d after the death of %q:\n%s", code, role, said)
	}
	if _, _, err := trace.Read(filepath.Join(evidence, trace.FileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Errorf("the trace cannot be read: %v", err)
	}
	branches := filepath.Join(repo, ".git", "refs", "heads", "redraft")
	names, _ := os.ReadDir(branches)
	if want := code == exitProved; len(names) > 1 || code != -1 && (len(names) == 1) != want {
		s.t.Errorf("exit status %d after the death of %q, and branches %v", code, role, names)
	}
	if err := errors.Join(os.RemoveAll(branches), os.RemoveAll(evidence)); err != nil {
		s.t.Error(err)
	}
}

// process is one of this machine's, and whose.
type process struct {
	pid, parent int
	start       string // in ticks since boot: with it the number is unique
	role        string
}

// kill kills the process if it is still the one that was seen.
func (p process) kill() bool {
	now, ok := stat(p.pid)
	return ok && now.start == p.start && syscall.Kill(p.pid, syscall.SIGKILL) == nil
}

func (p process) alive() bool {
	now, ok := stat(p.pid)
	return ok && now.start == p.start
}

// stat reads a process that is no zombie. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func stat(pid int) (p process, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if err != nil || !found || len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return p, false
	}
	p.pid, p.start = pid, f[19]
	p.parent, err = strconv.Atoi(f[1])
	return p, err == nil
}

// family is a process and all that descend from it, each with its role.
func family(pid int) []process {
	top, ok := stat(pid)
	if !ok {
		return nil
	}
	var others []process
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		if n, err := strconv.Atoi(d.Name()); err == nil {
			if p, ok := stat(n); ok {
				others = append(others, p)
			}
		}
	}
	top.role = "publisher"
	all := []process{top}
	for i := 0; i < len(all); i++ {
		for _, p := range others {
			if p.parent == all[i].pid && p.pid != pid {
				p.role = childOf(all[i].role, p.pid)
				all = append(all, p)
			}
		}
	}
	return all
}

func childOf(role string, pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	switch {
	case role == "publisher" && bytes.Contains(line, []byte("\x00repair\x00")):
		return "repair"
	case role == "publisher":
		return "git"
	}
	return "runner"
}

// nothingIsLeft waits a little for what ends by itself, lets the next start clear away, and looks everywhere.
func (s *slaughter) nothingIsLeft(mounts string) {
	t := s.t
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && len(s.alive()) > 0; time.Sleep(20 * time.Millisecond) {
	}
	if left := s.alive(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := worktree.Open(git, s.state()); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Open(sandbox.Options{TmpDir: s.tmp}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"trees", "tmp", "jobs"} {
		if left, _ := os.ReadDir(filepath.Join(s.state(), dir)); len(left) > 0 {
			t.Errorf("%d folders are left in %s", len(left), dir)
		}
	}
	if left, _ := os.ReadDir(s.tmp); len(left) > 0 {
		t.Errorf("%d temporary files are left: %v …", len(left), left[0])
	}
	for _, top := range []string{s.state(), filepath.Join(s.home, "repos")} {
		for _, name := range unfinished(t, top) {
			t.Errorf("%s is left", name)
		}
	}
	if now := s.mounts(); now != mounts {
		t.Errorf("mounts were:\n%s\nand are:\n%s", mounts, now)
	}
	for _, name := range abandonedGroups() {
		t.Errorf("the control group %s is left", name)
	}
	s.whole()
}

// alive are the processes that a job was seen to have, and those whose command, folder or environment names this test's, that
// are not gone.
func (s *slaughter) alive() (left []string) {
	for _, p := range s.seen {
		if p.alive() {
			left = append(left, fmt.Sprintf("%d (%s)", p.pid, p.role))
		}
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		if _, ok := stat(pid); !ok || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		cwd, _ := os.Readlink(filepath.Join(d, "cwd"))
		if strings.Contains(string(line)+"\x00"+string(env)+"\x00"+cwd, s.home) {
			left = append(left, fmt.Sprintf("%d %q", pid, line))
		}
	}
	return left
}

// unfinished lists what git and we write on the way to something whole.
func unfinished(t *testing.T, top string) (left []string) {
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		base := filepath.Base(name)
		books := filepath.Base(filepath.Dir(name)) == "worktrees"
		switch {
		case err != nil:
			return err
		case books, strings.HasSuffix(base, ".lock"), strings.HasPrefix(base, "tmp_"), strings.HasPrefix(base, ".tmp-"), strings.Contains(base, ".new-"):
			left = append(left, name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return left
}

// mounts are those of this test's mount namespace that have to do with its folders.
func (s *slaughter) mounts() string {
	b, _ := os.ReadFile("/proc/self/mountinfo")
	var ours []string
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, s.home) || strings.Contains(line, s.tmp) {
			ours = append(ours, line)
		}
	}
	return strings.Join(ours, "")
}

// abandonedGroups are control groups of runs below ours that nobody holds. Those of other processes on this machine are held.
// https://man7.org/linux/man-pages/man7/cgroups.7.html on /proc/pid/cgroup
func abandonedGroups() (left []string) {
	lines, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(lines)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		names, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", f[1], f[2], "redraft-*"))
		for _, name := range names {
			g, err := os.Open(name)
			if err == nil && syscall.Flock(int(g.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				left = append(left, name)
			}
			_ = g.Close()
		}
	}
	return left
}

// whole asks git whether repositories and mirrors are, which refs they have, and does one more job in each repository.
func (s *slaughter) whole() {
	t := s.t
	repos, _ := filepath.Glob(filepath.Join(s.home, "repos", "*", ".git"))
	mirrors, _ := filepath.Glob(filepath.Join(s.state(), "mirrors", "*.git"))
	if len(repos) != lanes || len(mirrors) != lanes {
		t.Errorf("%d repositories and %d mirrors, want %d of each", len(repos), len(mirrors), lanes)
	}
	for _, dir := range append(repos, mirrors...) {
		for _, args := range [][]string{{"fsck", "--connectivity-only", "--no-dangling"}, {"for-each-ref", "--format=%(refname)"}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			out, err := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + dir}, args...)...).CombinedOutput()
			cancel()
			if err != nil {
				t.Errorf("git %s in %s: %v: %s", args[0], dir, err, out)
			}
			for ref := range strings.Lines(string(out)) {
				if args[0] == "for-each-ref" && ref != "refs/heads/main\n" && !strings.HasPrefix(ref, "refs/redraft/head/") {
					t.Errorf("%s has the ref %s", dir, ref)
				}
			}
		}
	}
	for lane, dir := range repos {
		s.exits = map[int]int{}
		s.job(filepath.Dir(dir), lane, 0, nil)
		if s.exits[exitProved] != 1 {
			t.Errorf("the job after all of this ended with %v", s.exits)
		}
	}
}
