package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// demo measures the share of the demo's faults that the mechanic solves alone, and names the others.
func (b *bench) demo(ctx context.Context) (within bool, err error) {
	cmd, err := b.command(ctx, b.dir, "demo", "--all", "--json", "--tiers", "mechanic")
	if err != nil {
		return false, err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		return false, fmt.Errorf("redraft demo --all: %w: %s", err, stderr.Bytes())
	}
	var said struct {
		Solved, Of int
		Seeds      []struct {
			Seed       int
			Kind, Stop string
			Mechanic   bool `json:"mechanic_can"`
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil || said.Of == 0 {
		return false, fmt.Errorf("redraft demo --all --json: %w: %s", err, stdout.Bytes())
	}
	can, did := 0, 0
	var others []string
	for _, s := range said.Seeds {
		fixed := s.Stop == "fixed"
		if s.Mechanic {
			can++
		}
		if s.Mechanic && fixed {
			did++
		}
		if !fixed {
			others = append(others, fmt.Sprintf("%d %s %s", s.Seed, s.Kind, s.Stop))
		}
	}
	fmt.Fprintf(b.out, "demo --all          %d of %d solved (%.0f%%) by the mechanic, %d of %d of the kinds it makes, %.1f s a seed\n",
		said.Solved, said.Of, 100*float64(said.Solved)/float64(said.Of), did, can, time.Since(start).Seconds()/float64(said.Of))
	fmt.Fprintf(b.out, "  unsolved: %s\n", strings.Join(others, ", "))
	return true, nil
}
