package trace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleJob is a job with every field set.
func sampleJob() Job {
	commit := strings.Repeat("0123456789", 4)
	return Job{
		Version: JobVersion, ID: "20261129-090000-x1", Key: "shop/main/go-test", Repo: "shop", Target: "branch main", Trigger: "fix",
		Root: commit, Base: commit, RootTree: commit,
		Trees:    Trees{Root: "/s/root", Merge: "/s/merge", Base: "/s/base"},
		Evidence: "/e", Scratch: "/t", State: "/st",
		Checks: json.RawMessage(`{"checks":[]}`), Check: "go-test", Needs: json.RawMessage(`{"env":["PATH=/bin"]}`),
		Sandbox: SandboxChoice{Tier: "landlock", Allow: []string{"none"}},
		Models:  []ModelChoice{{Tier: "small", Name: "s", BaseURL: "http://127.0.0.1:8080/v1", Model: "m"}},
		Tiers:   []string{"mechanic", "small"},
		Limits:  Limits{Turns: 1, Tokens: 2, Wall: 3, Runs: 4, Width: 5, MaxTokens: 6, Files: 7, Lines: 8},
		Seed:    -9, Protect: []string{"a"}, Allow: []string{"b"}, Off: []string{"skeleton"},
		Links: map[string]string{"sub": commit}, Attempt: 2, RetryOf: "20261129-080000-x0",
	}
}

// smallestJob is a job with only what must be there.
func smallestJob() Job {
	return Job{
		Version: JobVersion, ID: "x", Root: strings.Repeat("a", 64), Trees: Trees{Root: "/r"}, Evidence: "/e", Scratch: "/t", State: "/s",
		Checks: json.RawMessage(`{}`), Check: "c", Needs: json.RawMessage(`{}`),
	}
}

func TestJobRoundTrip(t *testing.T) {
	for name, job := range map[string]Job{"all": sampleJob(), "least": smallestJob()} {
		dir := t.TempDir()
		path, err := WriteJob(dir, job)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if path != filepath.Join(dir, "JOB.json") {
			t.Errorf("path %s", path)
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		got, err := ReadJob(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(job, got, cmp.Transformer("compact", compact)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".redraft-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func compact(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	b, _ := json.Marshal(v)
	return string(b)
}

// badJobs are changes to the JSON of sampleJob, each with what the error must say.
var badJobs = map[string]struct {
	change func(m map[string]any)
	want   string
}{
	"another version":  {func(m map[string]any) { m["version"] = 2; m["new"] = 1 }, "version is 2, this program reads 1"},
	"no version":       {func(m map[string]any) { delete(m, "version") }, "version is missing"},
	"unknown field":    {func(m map[string]any) { m["token"] = "x" }, `unknown field "token"`},
	"unknown inner":    {func(m map[string]any) { m["limits"].(map[string]any)["minutes"] = 3 }, `unknown field "minutes"`},
	"relative root":    {func(m map[string]any) { m["trees"].(map[string]any)["root"] = "root" }, `trees.root: "root" is not an absolute path`},
	"relative merge":   {func(m map[string]any) { m["trees"].(map[string]any)["merge"] = "./m" }, "trees.merge"},
	"relative base":    {func(m map[string]any) { m["trees"].(map[string]any)["base"] = "../b" }, "trees.base"},
	"relative evid":    {func(m map[string]any) { m["evidence"] = "e" }, `evidence: "e" is not an absolute path`},
	"no scratch":       {func(m map[string]any) { m["scratch"] = "" }, "scratch: missing"},
	"relative state":   {func(m map[string]any) { m["state"] = "~/x" }, "state:"},
	"id leaves":        {func(m map[string]any) { m["id"] = "../../etc" }, "not safe as a file name"},
	"id dot":           {func(m map[string]any) { m["id"] = ".." }, "not safe as a file name"},
	"root is a branch": {func(m map[string]any) { m["root"] = "main" }, "root:"},
	"base is a branch": {func(m map[string]any) { m["base"] = "--output=x" }, "base:"},
	"no check":         {func(m map[string]any) { m["check"] = "" }, "check:"},
	"checks a list":    {func(m map[string]any) { m["checks"] = []any{} }, "checks: not an object"},
	"needs null":       {func(m map[string]any) { m["needs"] = nil }, "needs: not an object"},
	"tier":             {func(m map[string]any) { m["tiers"] = []any{"huge"} }, `"huge" is none of`},
	"tier twice":       {func(m map[string]any) { m["tiers"] = []any{"small", "small"} }, "twice"},
	"model tier": {func(m map[string]any) {
		m["models"] = []any{map[string]any{"tier": "mechanic", "name": "n", "base_url": "u", "model": ""}}
	},
		"models[0].tier"},
	"model without url": {func(m map[string]any) {
		m["models"] = []any{map[string]any{"tier": "big", "name": "n", "base_url": "", "model": ""}}
	},
		"models[0].base_url"},
	"attempt below 0":  {func(m map[string]any) { m["attempt"] = -1 }, "attempt: -1"},
	"limit below zero": {func(m map[string]any) { m["limits"].(map[string]any)["turns"] = -1 }, "below zero"},
	"turns a string":   {func(m map[string]any) { m["limits"].(map[string]any)["turns"] = "6" }, "turns"},
	"turns a fraction": {func(m map[string]any) { m["limits"].(map[string]any)["turns"] = 1.5 }, "turns"},
}

func jobMap(t *testing.T, job Job) map[string]any {
	t.Helper()
	b, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadJobRefuses(t *testing.T) {
	for name, tc := range badJobs {
		t.Run(name, func(t *testing.T) {
			m := jobMap(t, sampleJob())
			tc.change(m)
			b, _ := json.Marshal(m)
			path := filepath.Join(t.TempDir(), "JOB.json")
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadJob(path)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
		})
	}
	for name, text := range map[string]string{"empty": "", "no JSON": "hello", "a list": "[]", "null": "null", "two values": mustJSON(sampleJob()) + "{}"} {
		path := filepath.Join(t.TempDir(), "JOB.json")
		_ = os.WriteFile(path, []byte(text), 0o600)
		if _, err := ReadJob(path); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := ReadJob("/nonexistent/JOB.json"); err == nil {
		t.Error("read what is not there")
	}
}

func TestWriteJobRefuses(t *testing.T) {
	dir := t.TempDir()
	job := sampleJob()
	job.Evidence = "relative"
	if _, err := WriteJob(dir, job); err == nil {
		t.Error("wrote a job with a relative path")
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
