package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out, problems bytes.Buffer
	code := run(t.Context(), []string{"--rate", "50", "--seconds", "0.4", "--bytes", "100", "--dir", dir}, &out, &problems)
	if code != 0 || !regexp.MustCompile(`^intake: 20 deliveries of 100 bytes at 50/s: .* median [0-9.]+ ms, p99 [0-9.]+ ms.*; 0 not stored, 20 stored, 0 unhandled\n$`).Match(out.Bytes()) {
		t.Errorf("got %d, %q, %q", code, out.String(), problems.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"--rate 0", "--seconds 0", "--bytes 1", "--rate x", "more"} {
		var out, problems bytes.Buffer
		if code := run(context.Background(), strings.Fields(args), &out, &problems); code != 2 || out.Len() != 0 || problems.Len() == 0 {
			t.Errorf("%s: got %d, %q", args, code, out.String())
		}
	}
}

func TestQuantile(t *testing.T) {
	times := []time.Duration{4, 1, 3, 2}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := quantile(times, share); got != want {
			t.Errorf("%v: got %v, want %v", share, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("of none")
	}
}
