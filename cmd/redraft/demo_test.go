package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/redact"
)

// homely is the surroundings of a test: a home of its own that shares the toolchain bases.
func homely(t *testing.T) (getenv func(string) string) {
	t.Helper()
	home := t.TempDir()
	if err := linkBase(filepath.Join(home, ".local", "state", "redraft")); err != nil {
		t.Fatal(err)
	}
	return func(k string) string {
		if k == "HOME" {
			return home
		}
		if strings.HasPrefix(k, "XDG_") || k == "REDRAFT_CONFIG" {
			return ""
		}
		return os.Getenv(k)
	}
}

// TestDemo runs the README's first command, `go run ./cmd/redraft demo`, with the default seed: redraft demo --json.
func TestDemo(t *testing.T) {
	needBox(t)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"demo", "--json", "--tiers", "mechanic"}, homely(t), strings.NewReader(""), &out, &errs)
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != exitProved || r.Stop.Reason != "fixed" {
		t.Fatalf("exit status %d, %v, stop %+v:\n%s%s", code, err, r.Stop, out.String(), errs.String())
	}
	if *r.By != "mechanic" || len(r.Rungs) < 5 || r.Branch == nil || !strings.Contains(*r.Diff, "@@") {
		t.Errorf("got %+v", r)
	}
}

// TestSelftest runs redraft selftest.
func TestSelftest(t *testing.T) {
	needBox(t)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"selftest"}, homely(t), strings.NewReader(""), &out, &errs)
	if code != exitProved || !strings.Contains(out.String(), "work on this machine") {
		t.Errorf("exit status %d:\n%s%s", code, out.String(), errs.String())
	}
}

// TestDoctor runs redraft doctor and redraft doctor --json.
func TestDoctor(t *testing.T) {
	needBox(t)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"doctor", "--json"}, homely(t), strings.NewReader(""), &out, &errs); code != exitProved {
		t.Fatalf("exit status %d:\n%s%s", code, out.String(), errs.String())
	}
	var d struct {
		OK        bool
		Diagnoses []diagnosis
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || !d.OK || len(d.Diagnoses) < 5 {
		t.Fatalf("got %+v, %v", d, err)
	}
	for _, x := range d.Diagnoses {
		if !x.OK && x.Next == "" {
			t.Errorf("%s failed without a next step: %s", x.What, x.Seen)
		}
	}
	out.Reset()
	bad := func(k string) string {
		return map[string]string{"HOME": t.TempDir(), "XDG_STATE_HOME": "/proc/no-such-place"}[k]
	}
	if code := run(t.Context(), []string{"doctor"}, bad, strings.NewReader(""), &out, &errs); code != exitStopped || !strings.Contains(out.String(), "FAIL  state") || !strings.Contains(out.String(), "next: ") {
		t.Errorf("a state folder that cannot be written: exit status %d:\n%s", code, out.String())
	}
}

// TestSecretsStayOut: a credential in the environment is in nothing that a job prints or writes.
func TestSecretsStayOut(t *testing.T) {
	needBox(t)
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	getenv := homely(t)
	withSecret := func(k string) string {
		if k == "GITHUB_TOKEN" {
			return secret
		}
		return getenv(k)
	}
	evidence := filepath.Join(t.TempDir(), "evidence")
	a := &app{getenv: withSecret, out: &bytes.Buffer{}, err: &bytes.Buffer{}, clean: redact.New(secrets(withSecret)...)}
	dir, remove, err := a.demoRepository(t.Context(), demoDefault)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	f := fixFlags{tiers: "mechanic", check: "printf 'token %s_%s\\n' ghp " + strings.TrimPrefix(secret, "ghp_") + "; env; exit 1", evidence: evidence, seed: 1}
	if out, err := a.quietly(t.Context(), dir, f, "fix"); err != nil || out.Stop.Reason != "exhausted" {
		t.Fatalf("got %+v, %v", out.Stop, err)
	}
	if b, err := os.ReadFile(filepath.Join(evidence, "reports", "see-1", "stdout")); err != nil || !strings.Contains(string(b), "token "+redact.Mark) {
		t.Errorf("the check's output: %q, %v", b, err)
	}
	f.check, f.evidence = "echo "+secret, ""
	if out, err := a.quietly(t.Context(), dir, f, "fix"); err != nil || out.Stop.Reason != "needs_configuration" {
		t.Errorf("a command that holds a secret: got %+v, %v", out.Stop, err)
	}
	found := 0
	err = filepath.Walk(evidence, func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(secret)) {
			found++
			t.Logf("the secret stands in %s", name)
		}
		if bytes.Contains(b, []byte("GITHUB_TOKEN")) {
			t.Errorf("the check saw the variable: %s", name)
		}
		return err
	})
	if err != nil || found > 0 {
		t.Errorf("%d files hold the secret, %v", found, err)
	}
}
