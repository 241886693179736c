package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// realSeeds are eight faults of one function each, of the demo's, fixed once and for all. What the model makes of them is
// reported by name; the test asks for two.
var realSeeds = []int{1, 4, 13, 14, 15, 17, 24, 26}

const weights = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"

// realCache is where the weights lie, found before any test sets another HOME.
var realCache = modeltest.Cache(os.Getenv)

// TestRealModel takes real faults to a real model on this machine, two turns each, and no other tier.
func TestRealModel(t *testing.T) {
	if testing.Short() {
		t.Skip("REFUSED: -short leaves the real model out")
	}
	if why := modeltest.Missing(realCache, weights); why != "" {
		t.Skipf("REFUSED: %s", why)
	}
	needBox(t)
	server, err := modeltest.Llama(t.Context(), realCache, weights)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	home := t.TempDir()
	if err := linkBase(home + "/.local/state/redraft"); err != nil {
		t.Fatal(err)
	}
	getenv := func(k string) string {
		if k == "HOME" || strings.HasPrefix(k, "XDG_") || k == "REDRAFT_CONFIG" {
			return map[string]string{"HOME": home}[k]
		}
		return os.Getenv(k)
	}
	a := &app{getenv: getenv, out: t.Output(), err: t.Output(), clean: redact.New()}
	proved, start := 0, time.Now()
	for _, seed := range realSeeds {
		r, err := a.demoSeed(t.Context(), fixFlags{tiers: "small", turns: 2, baseURL: server.URL(), seed: 1}, seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		t.Logf("seed %2d  %-9s %-18s %-12s %5.1fs  %s", r.Seed, r.Program, r.Kind, r.Stop, r.Seconds, r.Text)
		if r.Stop == string(trace.Fixed) {
			proved++
		}
		if !slices.Contains([]string{"fixed", "exhausted", "not_proven"}, r.Stop) {
			t.Errorf("seed %d stopped as %s: %s", seed, r.Stop, r.Text)
		}
	}
	t.Logf("%s proved %d of %d in %.0f s", server.ID(), proved, len(realSeeds), time.Since(start).Seconds())
	if proved < 2 {
		t.Errorf("proved %d of %d, want at least 2", proved, len(realSeeds))
	}
}
