package main

import (
	"strings"
	"testing"
	"time"
)

func TestInRuns(t *testing.T) {
	m := measured{check: time.Second, confirm: 10 * time.Second, runs: []timed{{phase: "confirm", took: 4 * time.Second}, {phase: "mutated", took: 2 * time.Second}}}
	ratio, d7, beside := m.inRuns()
	if beside != 4*time.Second || d7 != 4*time.Second || ratio != 6 {
		t.Errorf("got %v runs, D7 %v, beside %v; want 6, 4s and 4s", ratio, d7, beside)
	}
	for k, want := range map[int]string{3: "| yes |", 2: "| no |"} {
		if got := m.row("x", k); !strings.HasSuffix(got, want) {
			t.Errorf("k=%d: %s", k, got)
		}
	}
}

// Each program has one line that is wrong, and another that is right.
func TestPrograms(t *testing.T) {
	for _, p := range programs() {
		if n := strings.Count(p.files[p.file], p.wrong); n != 1 || p.wrong == p.right {
			t.Errorf("%s: %q stands %d times in %s", p.name, p.wrong, n, p.file)
		}
	}
}
