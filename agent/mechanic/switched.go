package mechanic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// maxBinary bounds a test binary that is copied from the tree in which it was built.
const maxBinary = 512 << 20

// maxRest bounds the candidates that are built one by one after a schema has judged the others: they are the dear ones.
const maxRest = 40

// switched judges candidates through a schema, and gives back those that have to be judged one by one.
func (h *hunt) switched(ctx context.Context, lanes []lane, list []Candidate) (rest []Candidate, err error) {
	s, rest := newSchema(h.project, list)
	if len(s.list) < 2*len(lanes) {
		return list, nil // not worth a build
	}
	var ready bool
	over, err := h.spend(ctx, func(ctx context.Context) (err error) {
		ready, err = h.prepare(ctx, s, lanes)
		return err
	})
	if err != nil || over {
		return nil, err
	}
	if !ready {
		return list, nil
	}
	queue := make([]int, 0, len(s.list))
	for i, c := range s.list {
		if s.out[i] {
			h.told(c, NoCompile, 0)
		} else {
			queue = append(queue, i)
		}
	}
	if over, err := h.drain(ctx, s, lanes, queue); err != nil || over {
		return nil, err
	}
	return rest[:min(len(rest), maxRest)], nil
}

// prepare builds the schema, puts its binaries and the script that runs them into every lane, and makes sure that
// without a candidate asked for the findings are still red.
func (h *hunt) prepare(ctx context.Context, s *schema, lanes []lane) (ready bool, err error) {
	pkgs := dirsOf(h.failing(h.tests))
	names, err := h.build(ctx, s, lanes[0], pkgs)
	if err != nil || names == nil {
		return false, err
	}
	for _, l := range lanes[1:] {
		if err := h.install(l, lanes[0].dir, names); err != nil {
			return false, err
		}
	}
	none, seconds, err := h.batch(ctx, lanes[0], []int{-1})
	h.took = max(h.took, seconds)
	return len(none) == 1 && none[0].outcome == StillRed, err
}

// install copies test binaries into a lane.
func (h *hunt) install(l lane, tree string, names []string) error {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return fmt.Errorf("open a tree: %w", err)
	}
	defer root.Close()
	for _, name := range names {
		text, err := sandbox.Harvest(tree, name, maxBinary)
		if err != nil {
			return fmt.Errorf("copy a test binary: %w", err)
		}
		if err := put(root, name, text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// drain judges the candidates of a queue, a batch in every lane at once, and offers the green ones in order.
func (h *hunt) drain(ctx context.Context, s *schema, lanes []lane, queue []int) (over bool, err error) {
	for size := 4; len(queue) > 0; size = min(2*size, 64) {
		wave := queue[:min(size*len(lanes), len(queue))]
		queue = queue[len(wave):]
		var results map[int]judged
		over, err := h.spend(ctx, func(ctx context.Context) (err error) {
			results, err = h.wave(ctx, lanes, wave)
			return err
		})
		if err != nil || over {
			return over, err
		}
		for _, i := range wave {
			if err := h.settle(s.list[i:i+1], []judged{results[i]}); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// wave runs a share of the candidates in every lane.
func (h *hunt) wave(ctx context.Context, lanes []lane, wave []int) (map[int]judged, error) {
	shares := make([][]int, len(lanes))
	for n, i := range wave {
		shares[n%len(lanes)] = append(shares[n%len(lanes)], i)
	}
	parts := make([]map[int]judged, len(lanes))
	g, ctx := errgroup.WithContext(ctx)
	for n := range lanes {
		g.Go(func() (err error) {
			parts[n], err = h.share(ctx, lanes[n], shares[n])
			return err
		})
	}
	err := g.Wait()
	all := map[int]judged{}
	for _, part := range parts {
		for i, r := range part {
			all[i] = r
		}
	}
	return all, err
}

// share runs candidates in one lane. A candidate that takes its whole batch down with it is left untried.
func (h *hunt) share(ctx context.Context, l lane, ids []int) (map[int]judged, error) {
	all := map[int]judged{}
	for len(ids) > 0 {
		results, seconds, err := h.batch(ctx, l, ids)
		if err != nil {
			return all, err
		}
		for n, r := range results {
			all[ids[n]] = r
		}
		if ids = ids[len(results):]; len(ids) > 0 {
			all[ids[0]] = judged{outcome: Untried, seconds: seconds}
			ids = ids[1:]
		}
	}
	return all, nil
}

// batch runs candidates one after the other in one run of the jail. The results are those of the first ones, up to
// one that ended the run.
func (h *hunt) batch(ctx context.Context, l lane, ids []int) (results []judged, seconds float64, err error) {
	begin := time.Now()
	res, err := h.script(ctx, l.dir, ".", h.runner(l, ids), 2*time.Minute)
	if err != nil {
		return nil, 0, err
	}
	seconds = time.Since(begin).Seconds()
	for _, line := range strings.Split(string(res.Stdout), "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || len(results) == len(ids) || f[0] != strconv.Itoa(ids[len(results)]+1) {
			continue
		}
		r := judged{outcome: StillRed}
		switch {
		case f[1] == "0" && f[2] == "0":
			r.outcome = LooksGreen
		case f[1] == "0":
			r.outcome = Breaks
		}
		results = append(results, r)
	}
	for i := range results {
		results[i].seconds = seconds / float64(len(results))
	}
	return results, seconds, nil
}

// runner is the script that runs candidates: a line each with the candidate, how its findings' tests ended, and how
// the tests did that passed on the root. What tests print goes nowhere, so that no line is theirs.
func (h *hunt) runner(l lane, ids []int) string {
	var b strings.Builder
	if !slices.Contains(h.flags(), "-race") { // whose shadow memory is larger than any limit
		b.WriteString("ulimit -v 4194304 2>/dev/null\n")
	}
	red := h.failing(h.tests)
	pkgs := dirsOf(red)
	b.WriteString("t() {\n")
	for _, pkg := range pkgs {
		b.WriteString(h.runs(l, pkg, tops(in(red, pkg))))
	}
	b.WriteString("}\no() {\n")
	failed := tops(red)
	for _, pkg := range pkgs {
		green := slices.DeleteFunc(tops(in(h.passing(h.seen.Passed, pkgs), pkg)), func(s string) bool { return slices.Contains(failed, s) })
		if len(green) > 0 {
			b.WriteString(h.runs(l, pkg, green))
		}
	}
	b.WriteString(":\n}\nfor " + asks + " in")
	for _, i := range ids {
		b.WriteString(" " + strconv.Itoa(i+1))
	}
	b.WriteString("\ndo\nexport " + asks + "\n(t) >/dev/null 2>&1 </dev/null; r=$?; p=-\n" +
		"if [ $r = 0 ]; then (o) >/dev/null 2>&1 </dev/null; p=$?; fi\necho $" + asks + " $r $p\ndone\n")
	return b.String()
}

// runs is the line that runs top-level tests of one package.
func (h *hunt) runs(l lane, pkg string, names []string) string {
	binary := filepath.Join(l.dir, binaryName(pkg))
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	return fmt.Sprintf("cd %s && %s -test.failfast -test.timeout %s -test.run %s || return 1\n",
		quote(filepath.Join(l.dir, filepath.FromSlash(pkg))), quote(binary), h.patience(), quote("^("+strings.Join(names, "|")+")$"))
}

// tops are the top-level tests, each once.
func tops(tests []testID) []string {
	var out []string
	for _, t := range tests {
		if !slices.Contains(out, t.top()) {
			out = append(out, t.top())
		}
	}
	return out
}
