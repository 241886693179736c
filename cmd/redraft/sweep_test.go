package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSweep: what is old goes at the start of a job, once a day, and the day's own stays.
func TestSweep(t *testing.T) {
	l := newLocal(t, nil)
	state := filepath.Join(l.home, ".local", "state", "redraft")
	old := time.Now().Add(-40 * day)
	age := func(id string) string {
		dir := filepath.Join(state, "jobs", id)
		writeTo(t, filepath.Join(dir, "trace.jsonl"), "{}\n", 0o600)
		for _, name := range []string{filepath.Join(dir, "trace.jsonl"), dir} {
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	gone := func(dir string) bool { _, err := os.Stat(dir); return err != nil }
	first, index := age("20200101-000000-a"), filepath.Join(state, "indexes", "0123456789abcdef")
	writeTo(t, index, "an index", 0o600)
	writeTo(t, index+"-new", "an index", 0o600)
	if err := os.Chtimes(index, old, old); err != nil {
		t.Fatal(err)
	}
	if code, said := l.fix("--check", rightCheck); code != exitProved || !gone(first) || !gone(index) || gone(index+"-new") {
		t.Errorf("exit %d, gone %v:\n%s", code, gone(first), said)
	}
	second := age("20200101-000000-b")
	if code, said := l.fix("--check", rightCheck); code != exitProved || gone(second) {
		t.Errorf("within the day: exit %d, gone %v:\n%s", code, gone(second), said)
	}
	if jobs, err := os.ReadDir(filepath.Join(state, "jobs")); err != nil || len(jobs) != 3 {
		t.Errorf("%d jobs, %v; want the two of now and the old one", len(jobs), err)
	}
	if err := os.Chtimes(filepath.Join(state, "swept"), old, old); err != nil {
		t.Fatal(err)
	}
	writeTo(t, filepath.Join(l.home, ".config", "redraft", "config.yml"), "keep: {days: 50}\n", 0o600)
	if code, said := l.fix("--check", rightCheck); code != exitProved || gone(second) {
		t.Errorf("kept by the configuration: exit %d, gone %v:\n%s", code, gone(second), said)
	}
	if _, said := l.redraft("doctor"); !strings.Contains(said, "evidence of 4 jobs, 0.0 GiB; 50 days and 5 GiB of it stay") {
		t.Errorf("doctor:\n%s", said)
	}
	writeTo(t, filepath.Join(l.home, ".config", "redraft", "config.yml"), "keep: {days: -1}\n", 0o600)
	if code, said := l.fix("--check", rightCheck); code != exitUsage || !strings.Contains(said, "keep.days is below zero") {
		t.Errorf("exit %d:\n%s", code, said)
	}
}
