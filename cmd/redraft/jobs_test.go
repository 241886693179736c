package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestJobs lists, shows and cancels jobs of a server by their ids: redraft jobs, redraft jobs show ID, redraft jobs cancel ID.
func TestJobs(t *testing.T) {
	f := newForge(t, rightAnswer)
	asked, release := make(chan struct{}), make(chan struct{})
	f.asked = func() {
		asked <- struct{}{}
		<-release
	}
	jobs := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		getenv := func(k string) string { return map[string]string{"HOME": f.home}[k] }
		if code := run(t.Context(), append([]string{"jobs"}, args...), getenv, strings.NewReader(""), &out, &errs); code != want {
			t.Errorf("jobs %v: exit status %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	if got := jobs(exitProved); !strings.Contains(got, "No job has left evidence") {
		t.Errorf("got %s", got)
	}
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("the model was never asked:\n%s", f.said)
	}
	list := jobs(exitProved, "--limit", "5")
	id, _, _ := strings.Cut(list, " ")
	if !strings.Contains(list, "acme/widget") || !strings.Contains(list, "under way") || !strings.Contains(jobs(exitProved, "show", id), root[:12]) {
		t.Errorf("got %s", list)
	}
	for range 2 {
		jobs(exitProved, "cancel", id)
	}
	if c := f.ended(root); c.Conclusion != "neutral" || !strings.Contains(c.Title+c.Summary, "cancelled") {
		t.Errorf("the check run is %+v", c)
	}
	close(release)
	f.settled()
	if got := jobs(exitStopped, "cancel", id); !strings.Contains(got, "has ended already: cancelled") {
		t.Errorf("got %s", got)
	}
	if got := jobs(exitProved, "--json"); !strings.Contains(got, id) {
		t.Errorf("got %s", got)
	}
	for _, wrong := range []string{"none", "../x", "", ".hidden"} {
		jobs(exitUsage, "show", wrong)
		jobs(exitUsage, "cancel", wrong)
	}
	jobs(exitUsage, "--limit", "0")
}
