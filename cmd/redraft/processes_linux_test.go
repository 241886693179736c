package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// seen is a live process as /proc shows it.
type seen struct {
	pid     int
	argv    []string
	env     []string
	files   map[int]string // descriptors and what they are
	sockets []string       // remote addresses
	netns   string
}

// look reads a process; ok is false when it has ended meanwhile.
func look(pid int) (p seen, ok bool) {
	at := func(name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }
	words := func(name string) []string {
		b, _ := os.ReadFile(at(name))
		return strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 })
	}
	p = seen{pid: pid, argv: words("cmdline"), env: words("environ"), files: map[int]string{}}
	inodes := map[string]bool{}
	fds, err := os.ReadDir(at("fd"))
	if err != nil {
		return p, false
	}
	for _, e := range fds {
		to, err := os.Readlink(at("fd/" + e.Name()))
		if n, nerr := strconv.Atoi(e.Name()); err == nil && nerr == nil {
			p.files[n] = to
			inodes[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		b, _ := os.ReadFile(at(table))
		for line := range strings.Lines(string(b)) {
			if w := strings.Fields(line); len(w) > 9 && inodes[w[9]] {
				p.sockets = append(p.sockets, w[2])
			}
		}
	}
	p.netns, _ = os.Readlink(at("ns/net"))
	return p, len(p.argv) > 0
}

// below are a process' living descendants.
func below(pid int) (all []seen) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		more, _ := os.ReadFile(name)
		b = append(append(b, ' '), more...)
	}
	known := map[string]bool{}
	for _, word := range strings.Fields(string(b)) {
		if known[word] {
			continue
		}
		known[word] = true
		if n, err := strconv.Atoi(word); err == nil {
			if p, ok := look(n); ok {
				all = append(all, p)
			}
			all = append(all, below(n)...)
		}
	}
	return all
}

// TestThreeProcesses looks at the processes of a job while it runs: who holds the token runs nothing, who talks to the model
// holds no token, and the command in the jail has neither, nor anything else.
func TestThreeProcesses(t *testing.T) {
	t.Parallel()
	if _, err := os.ReadFile("/proc/self/task/self/children"); os.IsPermission(err) {
		t.Skip("REFUSED: /proc does not tell children here")
	}
	f := newActionForge(t, rightAnswer)
	_, err := f.repo.Commit("main", map[string]string{".github/redraft.yml": "version: 1\nchecks:\n  unit: {run: \"sleep 1; grep -q right answer.txt\"}\n"}, githubtest.Person{}, "Slow")
	if err != nil {
		t.Fatal(err)
	}
	f.fail("main", 0)
	s := f.newStep("workflow_run", nil)
	cmd, log := s.command()
	asked, answer := make(chan bool, 1), make(chan bool)
	f.asked = func() { asked <- true; <-answer }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() //nolint:errcheck // it has ended
	token := ""
	for _, kv := range cmd.Env {
		if m := regexp.MustCompile(`ghs_[A-Za-z0-9_.-]+`).FindString(kv); m != "" {
			token = m
		}
	}
	publisher, runner := f.catchRunner(cmd.Process.Pid)
	wantClean(t, token, runner, publisher.netns)
	<-asked
	now, _ := look(cmd.Process.Pid)
	family := below(cmd.Process.Pid)
	close(answer)
	_ = cmd.Wait()
	f.wantDraft(s.result(cmd, log))
	i := slices.IndexFunc(family, func(p seen) bool { return len(p.argv) > 1 && p.argv[1] == "repair" })
	if i < 0 {
		t.Fatalf("there is no repair process among %v", family)
	}
	f.wantPublisher(now, token)
	f.wantRepair(family[i], token)
}

// catchRunner waits until the check's command runs, and looks at everybody.
func (f *forge) catchRunner(pid int) (publisher seen, runner []seen) {
	f.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		family := below(pid)
		i := slices.IndexFunc(family, func(p seen) bool { return len(p.argv) == 2 && p.argv[0] == "sleep" })
		if i < 0 {
			continue
		}
		for _, p := range family {
			if p.argv[0] == "sleep" || p.argv[0] == "sh" {
				runner = append(runner, p)
			}
		}
		time.Sleep(100 * time.Millisecond)
		for _, p := range runner {
			if again, ok := look(p.pid); ok { // what it opened itself while it started is closed by now, what it inherited is not
				maps.DeleteFunc(p.files, func(fd int, what string) bool { return again.files[fd] != what })
			}
		}
		publisher, _ = look(pid)
		return publisher, runner
	}
	f.t.Fatal("the check never ran")
	return publisher, nil
}

// wantClean makes sure that a command in the jail has what a check is given and nothing else.
func wantClean(t *testing.T, token string, all []seen, outside string) {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("no command was seen")
	}
	allowed := []string{"PATH", "LANG", "HOME", "GOENV", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES", "PWD", "OLDPWD", "SHLVL", "_"}
	for _, p := range all {
		for _, kv := range p.env {
			name, _, _ := strings.Cut(kv, "=")
			if !slices.Contains(allowed, name) || strings.Contains(kv, token) {
				t.Errorf("%v has %s in its environment", p.argv, name)
			}
		}
		for fd, what := range p.files {
			if fd > 2 || !strings.HasPrefix(what, "pipe:") {
				t.Errorf("%v has descriptor %d: %s", p.argv, fd, what)
			}
		}
		if len(p.sockets) > 0 || p.netns == outside {
			t.Errorf("%v has sockets %v, in network %s", p.argv, p.sockets, p.netns)
		}
	}
}

// wantPublisher makes sure that who holds the token talks to GitHub alone.
func (f *forge) wantPublisher(p seen, token string) {
	f.t.Helper()
	if !strings.Contains(strings.Join(p.env, "\n"), token) {
		f.t.Error("the publisher has no token: the test looks at the wrong process")
	}
	github := portOf(strings.Replace(f.URL, "https:", "http:", 1))
	for _, remote := range p.sockets {
		if !strings.HasSuffix(remote, ":"+github) {
			f.t.Errorf("the publisher is connected to %s, GitHub is at %s", remote, github)
		}
	}
	if len(p.sockets) == 0 {
		f.t.Error("the publisher has no connection to GitHub: the test looks at the wrong moment")
	}
	for fd, what := range p.files {
		if strings.Contains(what, "/trees/") && filepath.Base(what) != "owner.json" { // its own lock
			f.t.Errorf("the publisher has a file of a sealed copy open: %d %s", fd, what)
		}
	}
}

// wantRepair makes sure that who talks to the model has no token, no mirror and no other connection.
func (f *forge) wantRepair(p seen, token string) {
	f.t.Helper()
	if len(p.env) != 0 || strings.Contains(strings.Join(p.argv, "\n"), token) {
		f.t.Errorf("the repair process has an environment %q or the token in its arguments", p.env)
	}
	model := portOf(f.model.URL())
	connected := false
	for _, remote := range p.sockets {
		if remote == "00000000:0000" {
			f.t.Errorf("the repair process listens")
		}
		connected = connected || strings.HasSuffix(remote, ":"+model)
		if !strings.HasSuffix(remote, ":"+model) {
			f.t.Errorf("the repair process is connected to %s, the model is at %s", remote, model)
		}
	}
	if !connected {
		f.t.Errorf("the repair process asks the model and is not connected to it: %v", p.sockets)
	}
	for fd, what := range p.files {
		if strings.Contains(what, "/mirrors/") || strings.Contains(what, "config.yml") || strings.HasSuffix(what, "/output") || strings.HasSuffix(what, "event.json") {
			f.t.Errorf("the repair process has %d open: %s", fd, what)
		}
	}
}

// portOf is an address' port as the kernel prints it.
func portOf(address string) string {
	m := regexp.MustCompile(`:(\d+)`).FindStringSubmatch(strings.TrimPrefix(address, "http://127.0.0.1"))
	n, _ := strconv.Atoi(m[1])
	return fmt.Sprintf("%04X", n)
}
