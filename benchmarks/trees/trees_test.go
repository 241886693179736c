package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"--files", "40", "--rounds", "2", "--dir", dir}, &out, &said); code != 0 && code != 1 || said.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &said)
	}
	lines := regexp.MustCompile(`(?m)^  (cut|sealed copy|throw-away repository) +\d+ ms   (git worktree add|git clone|cp -a --reflink=auto) +\d+ ms   \d+\.\d\dx \(`).FindAllString(out.String(), -1)
	if len(lines) != 8 {
		t.Errorf("%d comparisons, want four of each tree:\n%s", len(lines), &out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left, %v", len(left), err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--files", "1"}, {"--rounds", "0"}, {"x"}, {"--no"}} {
		if code := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
			t.Errorf("%v: exit %d, want 2", args, code)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		all  []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(tt.all); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.all, got, tt.want)
		}
	}
}
