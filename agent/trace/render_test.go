package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var jobs = []string{"cancelled", "exhausted", "fixed", "green", "torn"}

// evidence is a copy of the trace of a job in testdata, alone in a new directory.
func evidence(t *testing.T, job string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", job, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return writeRaw(t, string(b))
}

// golden compares text with testdata/job/want/name.
func golden(t *testing.T, job, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", job, "want", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s of %s: %s", name, job, diff)
	}
}

func TestRenderGolden(t *testing.T) {
	for _, job := range jobs {
		dir := evidence(t, job)
		if err := Render(dir); err != nil {
			t.Fatal(err)
		}
		entries, _ := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
			if e.Name() == FileName || e.Name() == ManifestFile {
				continue
			}
			b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			golden(t, job, e.Name(), b)
			if !cleanText(string(b)) && e.Name() != PatchFile && e.Name() != StatusFile {
				t.Errorf("%s of %s is not safe to show", e.Name(), job)
			}
		}
		golden(t, job, "files.txt", []byte(strings.Join(names, "\n")+"\n"))
		if found := problems(t, dir); found != nil {
			t.Errorf("%s: %v", job, found)
		}
	}
}

// snapshot is every file of a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRenderAgain: the same lines give the same bytes, whatever stood there before.
func TestRenderAgain(t *testing.T) {
	for _, job := range jobs {
		dir := evidence(t, job)
		if err := Render(dir); err != nil {
			t.Fatal(err)
		}
		first := snapshot(t, dir)
		for _, name := range []string{SummaryFile, StatusFile, ManifestFile, LogFile, ".redraft-123.tmp"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("spoilt"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Render(dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: %s", job, diff)
		}
	}
}

func TestRenderKeepsTheReceiptsPatch(t *testing.T) {
	const proved = "diff with a \xff byte\n"
	for job, want := range map[string]string{"fixed": proved, "exhausted": ""} {
		dir := evidence(t, job)
		if err := os.WriteFile(filepath.Join(dir, PatchFile), []byte(proved), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Render(dir); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(filepath.Join(dir, PatchFile))
		if (string(b) == proved) != (want == proved) {
			t.Errorf("%s: patch.diff is %q", job, b)
		}
	}
}

// TestRenderWithoutChange: PATCHES.md is there only when something changed.
func TestRenderWithoutChange(t *testing.T) {
	dir := evidence(t, "green")
	if err := os.WriteFile(filepath.Join(dir, PatchesFile), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Render(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{PatchesFile, PatchFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	for name, dir := range map[string]string{"nothing": t.TempDir(), "foreign": writeRaw(t, "PK\x03\x04\n")} {
		before := snapshot(t, dir)
		if err := Render(dir); err == nil {
			t.Errorf("%s: rendered", name)
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: changed: %s", name, diff)
		}
	}
}

// TestSummaryIsOnePage: however much happened, it stays one.
func TestSummaryIsOnePage(t *testing.T) {
	var all []any
	var findings []Finding
	for range 200 {
		findings = append(findings, Finding{ID: strings.Repeat("long ", 200), Got: strings.Repeat("g\n", 500), Want: "w", Message: strings.Repeat("m", 9999)})
	}
	all = append(all, 0, TypeVerdict, VerdictData{Phase: "see", Color: "red", Findings: findings, Unstable: make([]string, 500)})
	for i := range 100 {
		all = append(all, i+1, TypePatch, PatchData{By: "small", Diff: strings.Repeat("+x\n", 1000), Why: strings.Repeat("why ", 300)})
	}
	s := tell(lines(all...), false).summary()
	if n := strings.Count(s, "\n"); n > 100 || len(s) > 20_000 {
		t.Errorf("%d lines, %d bytes", n, len(s))
	}
}

// TestAxes holds the axes apart: how the process stands, what came of the task, what the trace is worth.
func TestAxes(t *testing.T) {
	stop := func(r Reason, class string) any { return Stop{Reason: r, Class: class, Text: "x"} }
	see, patch, receipt := VerdictData{Phase: "see", Color: "red"}, PatchData{By: "small"}, ReceiptData{SHA256: "s"}
	for name, tc := range map[string]struct {
		events []Event
		torn   bool
		want   string
	}{
		"no line":       {nil, false, "created not_run incomplete"},
		"never taken":   {lines(0, TypeEvent, Job{}, 0, TypeTree, nil), false, "orphaned not_run incomplete"},
		"died":          {lines(0, TypeEvent, Job{}, 0, TypeVerdict, see), false, "interrupted not_run incomplete"},
		"died early":    {lines(0, TypeEvent, Job{}, 0, TypeStep, StepData{Text: "x"}), false, "interrupted not_run incomplete"},
		"died writing":  {lines(0, TypePatch, patch), true, "interrupted partial torn"},
		"green":         {lines(0, TypeStop, stop(NotReproduced, "")), false, "success not_run whole"},
		"disk full":     {lines(0, TypeStop, stop(Infra, "disk_full")), false, "failed not_run whole"},
		"time is up":    {lines(0, TypeStop, stop(Infra, "timeout")), false, "timed_out not_run whole"},
		"cancelled":     {lines(0, TypePatch, patch, 0, TypeStop, stop(Cancelled, "")), false, "cancelled partial whole"},
		"exhausted":     {lines(1, TypeSlip, SlipData{}, 0, TypeStop, stop(Exhausted, "")), false, "success failed whole"},
		"not proven":    {lines(0, TypePatch, patch, 0, TypeStop, stop(NotProven, "D1")), false, "success failed whole"},
		"not admitted":  {lines(0, TypePatch, patch, 0, TypeReceipt, receipt, 0, TypeStop, stop(Fixed, ""), 0, TypeAdmit, AdmitData{}), false, "success failed whole"},
		"receipt alone": {lines(0, TypePatch, patch, 0, TypeReceipt, receipt, 0, TypeStop, stop(Fixed, "")), false, "success partial whole"},
		"admitted": {lines(0, TypePatch, patch, 0, TypeReceipt, receipt, 0, TypeStop, stop(Fixed, ""), 0, TypeAdmit, AdmitData{Admitted: true}),
			false, "success accepted whole"},
		"a word alone": {lines(0, TypeStop, stop(Fixed, ""), 0, TypeAdmit, AdmitData{Admitted: true}), false, "success not_run whole"},
	} {
		s := StatusOf(tc.events, tc.torn)
		if got := string(s.State) + " " + string(s.Outcome) + " " + s.EvidenceValidity; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestStatusKeysAreAlwaysThere(t *testing.T) {
	b, err := json.Marshal(StatusOf(nil, false))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("schema_version job target trigger state stop verdicts rungs commands models usage timings " +
		"evidence_level human_decisions_required next_safe_action") {
		if _, ok := m[key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
	if m["stop"] != nil || m["next_safe_action"] != nil || m["job"] != nil {
		t.Errorf("unknown is not null: %s", b)
	}
	if bytes.Contains(b, []byte(`"verdicts":null`)) {
		t.Error("a list is null")
	}
}

func TestEvidenceLevel(t *testing.T) {
	kept, lost := RunData{Phase: "see", Report: "reports/see-1"}, RunData{Phase: "confirm"}
	for want, events := range map[string][]Event{
		"inferred": lines(0, TypeRun, RunData{Phase: "cheap"}),
		"direct":   lines(0, TypeRun, kept, 0, TypeRun, RunData{Phase: "cheap"}),
		"mixed":    lines(0, TypeRun, kept, 0, TypeRun, lost),
	} {
		if got := StatusOf(events, false).EvidenceLevel; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestEgress(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8080/v1": "loopback", "http://localhost:1234/v1": "loopback", "http://[::1]:80": "loopback",
		"https://models.example.com/v1": "configured_host", "http://127.0.0.1.example.com": "configured_host", "": "configured_host",
		"http://localhost.evil/": "configured_host", "http://user@10.0.0.1": "configured_host",
	} {
		got := StatusOf(lines(1, TypeRequest, RequestData{BaseURL: base}), false).Egress
		if got.Level != want || len(got.Hosts) != 1 {
			t.Errorf("%s: %+v, want %s", base, got, want)
		}
	}
	if got := StatusOf(lines(0, TypeStep, nil), false).Egress.Level; got != "none" {
		t.Errorf("no request: %s", got)
	}
	two := StatusOf(lines(1, TypeRequest, RequestData{BaseURL: "http://10.0.0.1"}, 2, TypeRequest, RequestData{BaseURL: "http://127.0.0.1"}), false).Egress
	if two.Level != "configured_host" || len(two.Hosts) != 2 {
		t.Errorf("two hosts: %+v", two)
	}
}

// TestEveryReasonHasAnEnding: a person is never left without a next step.
func TestEveryReasonHasAnEnding(t *testing.T) {
	for _, r := range []Reason{Fixed, NotReproduced, Flaky, BaseDrift, BaseRed, PlanChanged, NeedsConfiguration, NeedsTier,
		Infra, Exhausted, NotProven, Superseded, Cancelled} {
		e := lines(0, TypeStop, Stop{Reason: r})[0]
		if s, err := StopOf(e); err != nil || s.Reason != r {
			t.Errorf("%s: %v", r, err)
		}
		if StatusOf([]Event{e}, false).NextSafeAction == nil {
			t.Errorf("%s has no next safe action", r)
		}
	}
	for name, e := range map[string]Event{
		"another type": {Type: TypeStep, Data: []byte(`{"reason":"fixed"}`)}, "no JSON": {Type: TypeStop, Data: []byte(`{`)},
		"no reason": {Type: TypeStop, Data: []byte(`{}`)}, "another reason": {Type: TypeStop, Data: []byte(`{"reason":"done"}`)},
	} {
		if _, err := StopOf(e); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
