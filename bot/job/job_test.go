package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

// TestMain is also the process that a job starts: a repair that does what its job's trigger says, to see what the side
// that starts it makes of that.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "repair" {
		os.Exit(pretend(os.Args[2]))
	}
	os.Exit(m.Run())
}

func pretend(file string) int {
	j, err := trace.ReadJob(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if j.Trigger == "crashes" {
		fmt.Fprintln(os.Stderr, "something broke, token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
		return 3
	}
	if j.Trigger == "says nothing" {
		return 0
	}
	rec, err := trace.Open(j.Evidence, j.ID, func(s string) string { return s }, func(e trace.Event) { _ = trace.WriteProgress(os.Stdout, e) })
	if err != nil {
		return 3
	}
	defer rec.Close()
	stop := trace.Stop{Reason: trace.Exhausted, Text: "pretended"}
	switch j.Trigger {
	case "claims":
		stop.Reason = trace.Fixed
	case "forges":
		stop.Reason = trace.Fixed
		for name, text := range map[string]string{"receipt.json": `{"version":1,"k":3,"rungs":[{"id":"D0","status":"held"}]}`, "patch.diff": "diff --git a/a.txt b/a.txt\n"} {
			if os.WriteFile(filepath.Join(j.Evidence, name), []byte(text), 0o600) != nil {
				return 3
			}
		}
	case "flakes":
		stop.Reason = trace.Flaky
		for n, run := range flakyRuns(j.RootTree) {
			if err := run.write(j.Evidence); err != nil {
				fmt.Fprintln(os.Stderr, n, err)
				return 3
			}
		}
	case "bisects":
		if err := looks(j); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
	case "looks around":
		_, git := os.Stat(filepath.Join(j.Trees.Root, ".git"))
		stop.Text = fmt.Sprintf("%d variables, root has git: %v", len(os.Environ()), git == nil)
	case "tells what it knows":
		for _, t := range j.Recent {
			stop.Text += fmt.Sprintf("; %s %d-%d %q %q", t.File, t.First, t.Last, t.Line, t.Diff)
		}
	case "waits":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		_ = rec.Add(0, trace.TypeStep, trace.StepData{Text: "waiting"})
		<-term
		stop = trace.Stop{Reason: trace.Cancelled, Text: "asked to"}
	}
	if rec.Add(0, trace.TypeStop, stop) != nil {
		return 3
	}
	return 0
}

// world is a job over a little repository, with the pretended repair.
func world(t *testing.T, trigger string) job.Job {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if err := worktree.Init(t.Context(), dir, map[string][]byte{"a.txt": []byte("a\n"), "check.sh": []byte("exit 1\n")}, "one"); err != nil {
		t.Fatal(err)
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	store, err := worktree.Open(git, state)
	if err != nil {
		t.Fatal(err)
	}
	mirror, err := store.Mirror(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := os.ReadDir(filepath.Join(state, "trees")); len(left) > 0 {
			t.Errorf("%d trees are left", len(left))
		}
		if names, _ := filepath.Glob(filepath.Join(dir, ".git/refs/heads/redraft/*")); len(names) > 0 {
			t.Errorf("branches are left without a proof: %v", names)
		}
	})
	clean := redact.New()
	return job.Job{
		Mirror: mirror, Exe: []string{os.Args[0]}, Command: "sh check.sh", Getenv: func(k string) string { return map[string]string{"PATH": os.Getenv("PATH"), "HOME": state}[k] },
		Evidence: filepath.Join(t.TempDir(), "evidence"), State: state, Sandboxes: []string{"bubblewrap", "landlock"}, Cleaner: clean,
		End:  job.Branch{Mirror: mirror, Repo: dir, Clean: clean},
		Spec: trace.Job{ID: "job-1", Key: "k", Repo: "repo", Target: "working copy", Trigger: trigger, Root: mirror.Head(), Base: mirror.Head(), Tiers: []string{}},
	}
}

// TestRepairIsNotBelieved: what the repair process says of itself leaves nothing without evidence that holds.
func TestRepairIsNotBelieved(t *testing.T) {
	for _, row := range []struct {
		trigger string
		reason  trace.Reason
		class   string
		text    string
	}{
		{"gives up", trace.Exhausted, "", "pretended"},
		{"looks around", trace.Exhausted, "", "0 variables, root has git: false"},
		{"claims", trace.NotProven, "evidence_missing", "receipt.json"},
		{"forges", trace.NotProven, "evidence_tampered", "not the diff"},
	} {
		t.Run(row.trigger, func(t *testing.T) {
			j := world(t, row.trigger)
			out, err := j.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if out.Stop.Reason != row.reason || out.Stop.Class != row.class || !strings.Contains(out.Stop.Text, row.text) || out.Proof != nil || out.Where != "" {
				t.Errorf("got %+v, proof %v, %q; want %s %s and %q", out.Stop, out.Proof, out.Where, row.reason, row.class, row.text)
			}
			for _, name := range []string{"status.json", "SUMMARY.md", "LOG.md", "manifest.json"} {
				if _, err := os.Stat(filepath.Join(j.Evidence, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestRepairFails: a repair without a stop is our side's failure, told with its last words and without credentials.
func TestRepairFails(t *testing.T) {
	for trigger, say := range map[string]string{"crashes": "something broke", "says nothing": "no stop was written"} {
		_, err := world(t, trigger).Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "ghp_") {
			t.Errorf("%s: got %v, want an error that says %q", trigger, err, say)
		}
	}
}

func TestCancel(t *testing.T) {
	j := world(t, "waits")
	ctx, cancel := context.WithCancelCause(t.Context())
	j.OnEvent = func(e trace.Event) {
		if e.Type == trace.TypeStep && bytes.Contains(e.Data, []byte("waiting")) {
			cancel(errors.New("a person said so"))
		}
	}
	start := time.Now()
	out, err := j.Do(ctx)
	if err != nil || out.Stop.Reason != trace.Cancelled || time.Since(start) > 15*time.Second {
		t.Errorf("got %+v, %v after %v", out.Stop, err, time.Since(start))
	}
	if b, err := os.ReadFile(filepath.Join(j.Evidence, trace.CancelFile)); err != nil || !bytes.Contains(b, []byte("a person said so")) {
		t.Errorf("the marker: %q, %v", b, err)
	}
}

func TestSlug(t *testing.T) {
	for _, row := range []struct {
		finding, want string
	}{
		{"example.com/m.TestTotal/empty_cart", "testtotal-empty-cart"},
		{"gopkg.in/yaml.v3.TestIt/v1.2", "testit-v1-2"},
		{"example.com/m.[build]", "build"},
		{"example.com/m.Test" + strings.Repeat("X", 80), "test" + strings.Repeat("x", 36)},
		{"m.日本", "check"},
		{"tests/test_cart.py::TestCart::test_total[3-4]", "test-total-3-4"},
		{"src/cart.test.js > cart > adds up", "adds-up"},
		{"cart::tests::adds_up", "adds-up"},
		{"com.example.CartTest.addsUp", "addsup"},
		{"gofmt:format:shop/cart_test.go", "gofmt-format-in-cart-test-go"},
		{"test_cart.Cart.test_total", "test-total"},
	} {
		if got := job.SlugOf(row.finding); got != row.want {
			t.Errorf("%s: got %q, want %q", row.finding, got, row.want)
		}
	}
}
