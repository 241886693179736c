package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCost runs true in turn under bare bubblewrap with the same mounts' worth of work left out, and in both
// tiers, and reports how many times the bare launcher's time each tier takes. REDRAFT_SHIM names another binary for the shim:
// the program itself is larger than this test.
//
//	go test -run=^$ -bench=Cost ./agent/sandbox
func BenchmarkCost(b *testing.B) {
	bwrap, err := findBubblewrap()
	if err != nil {
		b.Skipf("REFUSED: %v", err)
	}
	boxes, shim := map[Tier]*Sandbox{}, strings.Fields(os.Getenv("REDRAFT_SHIM"))
	for _, tier := range confining {
		if boxes[tier], err = Open(Options{Tier: tier, Shim: shim}); err != nil {
			b.Skipf("REFUSED: %v", err)
		}
	}
	dir := b.TempDir()
	c := Command{Argv: []string{"true"}, Dir: dir, Write: []string{dir}, Env: []string{"PATH=/usr/bin:/bin"}}
	bare := []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"}
	for _, d := range systemDirs[1:] {
		bare = append(bare, systemBind(d)...)
	}
	bare = append(bare, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", dir, dir, "true")
	var took [4][]time.Duration
	clock := func(i int, run func() error) {
		start := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		took[i] = append(took[i], time.Since(start))
	}
	for b.Loop() {
		clock(0, func() error { return exec.Command(bwrap, bare...).Run() })
		for i, tier := range confining {
			clock(i+1, func() error { _, err := boxes[tier].Run(b.Context(), c); return err })
		}
		clock(3, func() error { return exec.Command("/bin/true").Run() })
	}
	var middle [4]float64 // of other work on the machine a mean tells more than of ours
	for i, all := range took {
		slices.Sort(all)
		middle[i] = float64(all[len(all)/2].Microseconds()) / 1000
	}
	for i, name := range []string{"bare-bwrap-ms", "bubblewrap-ms", "landlock-ms", "exec-ms"} {
		b.ReportMetric(middle[i], name)
	}
	b.ReportMetric(middle[1]/middle[0], "bubblewrap/bare")
	b.ReportMetric(middle[2]/middle[0], "landlock/bare")
}
