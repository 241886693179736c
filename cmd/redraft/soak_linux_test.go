package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// standing is what a long-lived server holds.
type standing struct {
	jobs, processes, descriptors int
	rss, disk                    int64 // bytes
}

func (s standing) String() string {
	return fmt.Sprintf("%d jobs: %d processes, %d descriptors, %.1f MiB resident, %.1f MiB of disk below the state folder", s.jobs, s.processes, s.descriptors, float64(s.rss)/(1<<20), float64(s.disk)/(1<<20))
}

// standing looks at the server and all that it started.
func (f *forge) standing(jobs int) standing {
	f.t.Helper()
	p, ok := look(f.cmd.Process.Pid)
	if !ok {
		f.t.Fatalf("the server is gone; it said:\n%s", f.said)
	}
	s := standing{jobs: jobs, processes: 1 + len(below(p.pid)), descriptors: len(p.files)}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			s.rss = n << 10
		}
	}
	_ = filepath.WalkDir(f.state(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				s.disk += info.Size()
			}
		}
		return nil
	})
	return s
}

// TestSoak lets a server answer one red branch after the other and looks at what it holds at the start and at the end. It
// takes ten seconds, or REDRAFT_SOAK, as in 20m.
func TestSoak(t *testing.T) {
	t.Parallel()
	long := 10 * time.Second
	if s := os.Getenv("REDRAFT_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		long = d
	}
	f := newForge(t, rightAnswer)
	b, err := os.ReadFile(f.file("config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.file("config.yml"), append(b, "limits: {per-day: 100000, open-drafts: 100000}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	f.serve()
	one := func(n int) {
		branch := fmt.Sprintf("work-%d", n)
		sha, err := f.repo.Commit(branch, map[string]string{"more.txt": branch + "\n"}, githubtest.Person{}, "Work")
		if err != nil {
			t.Fatal(err)
		}
		f.fail(branch, 0)
		if c := f.ended(sha); c.Conclusion != "success" {
			t.Fatalf("job %d ended as %q: %s", n, c.Conclusion, c.Title)
		}
	}
	jobs := 0
	for ; jobs < 3; jobs++ { // what is made once is made by then
		one(jobs)
	}
	f.until("the server is idle", f.idle)
	start := f.standing(jobs)
	for end := time.Now().Add(long); time.Now().Before(end); jobs++ {
		one(jobs)
	}
	f.until("the server is idle", f.idle)
	time.Sleep(2 * time.Second)
	now := f.standing(jobs)
	t.Logf("at the start %s", start)
	t.Logf("at the end   %s", now)
	if now.processes > start.processes || now.descriptors > start.descriptors+8 || now.rss > start.rss+64<<20 {
		t.Errorf("the server grew: %s, then %s", start, now)
	}
	if left, _ := filepath.Glob(filepath.Join(f.state(), "trees", "*")); len(left) > 0 {
		t.Errorf("trees left: %v", left)
	}
}
