package memory

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func opened(t *testing.T) *Memory {
	t.Helper()
	m, err := Open(t.Context(), filepath.Join(t.TempDir(), "state", FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func (m *Memory) must(t *testing.T, seen ...Seen) {
	t.Helper()
	for _, s := range seen {
		if err := m.Record(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *Memory) recall(t *testing.T, repo, test, tree string) History {
	t.Helper()
	h, err := m.Of(t.Context(), repo, test, tree)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHistory: runs add up by test and tree, a job counts once, and no repository hears of another.
func TestHistory(t *testing.T) {
	m := opened(t)
	one := Seen{"a", "t1", "job-1", day, map[string]Count{"m.TestX": {4, 1}, "m.TestY": {4, 0}}}
	m.must(t, one, one,
		Seen{"a", "t1", "job-2", day, map[string]Count{"m.TestX": {3, 2}}},
		Seen{"a", "t2", "job-3", day, map[string]Count{"m.TestX": {4, 4}}},
		Seen{"a", "t3", "job-4", day, map[string]Count{"m.TestX": {4, 2}}},
		Seen{"b", "t1", "job-1", day, map[string]Count{"m.TestX": {40, 40}, "m.TestZ": {1, 1}}})
	for _, row := range []struct {
		repo, test, tree string
		want             History
	}{
		{"a", "m.TestX", "t1", History{Count{7, 3}, 2, 1}},
		{"a", "m.TestY", "t1", History{Count{4, 0}, 0, 0}},
		{"a", "m.TestX", "t9", History{Count{}, 3, 2}},
		{"b", "m.TestX", "t1", History{Count{40, 40}, 0, 0}},
		{"a", "m.TestZ", "t1", History{}},
		{"c", "m.TestX", "t1", History{}},
	} {
		if diff := cmp.Diff(row.want, m.recall(t, row.repo, row.test, row.tree)); diff != "" {
			t.Errorf("%s %s %s: -want +got\n%s", row.repo, row.test, row.tree, diff)
		}
	}
}

// TestUnusable: what cannot be is left out, and what is not named is refused.
func TestUnusable(t *testing.T) {
	m := opened(t)
	long := string(make([]byte, longestID+1))
	m.must(t, Seen{"a", "t", "j", day, map[string]Count{"none": {0, 0}, "more": {1, 2}, "less": {1, -1}, long: {1, 1}, "": {2, 1}}})
	for _, id := range []string{"none", "more", "less", long} {
		if h := m.recall(t, "a", id, "t"); h != (History{}) {
			t.Errorf("%.10q: got %+v", id, h)
		}
	}
	for _, s := range []Seen{{Tree: "t", Job: "j"}, {Repo: "a", Job: "j"}, {Repo: "a", Tree: "t"}} {
		if m.Record(t.Context(), s) == nil {
			t.Errorf("%+v was taken", s)
		}
	}
}

// TestForgets: an old tree goes with its counts, and another repository's stays.
func TestForgets(t *testing.T) {
	m := opened(t)
	x := map[string]Count{"x": {1, 1}}
	m.must(t, Seen{"a", "old", "j1", day, x}, Seen{"b", "old", "j1", day, x}, Seen{"a", "new", "j2", day.AddDate(0, 0, keepDays+1), x})
	if h := m.recall(t, "a", "x", "old"); h != (History{Others: 1}) {
		t.Errorf("got %+v, want the new tree alone", h)
	}
	if h := m.recall(t, "b", "x", "old"); h.Here.Runs != 1 {
		t.Errorf("another repository forgot: %+v", h)
	}
}

// TestShared: several processes' worth of handles write one file, which only its owner may read.
func TestShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			m, err := Open(t.Context(), file)
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			if err := m.Record(t.Context(), Seen{"a", "t", fmt.Sprint(i), day, map[string]Count{"x": {2, 1}}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	m, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if h := m.recall(t, "a", "x", "t"); h.Here != (Count{8, 4}) {
		t.Errorf("got %+v", h)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestPosterior holds figures to closed forms: Beta(1, 1) is uniform, Beta(n+1, 1) has x to the n+1 below x.
func TestPosterior(t *testing.T) {
	for _, row := range []struct {
		c    Count
		want Posterior
	}{
		{Count{}, Posterior{.5, .05, .95}},
		{Count{3, 3}, Posterior{4. / 5, math.Pow(.05, 1./4), math.Pow(.95, 1./4)}},
		{Count{3, 0}, Posterior{1. / 5, 1 - math.Pow(.95, 1./4), 1 - math.Pow(.05, 1./4)}},
		{Count{2, 1}, Posterior{.5, .13535, .86465}}, // 3x²-2x³ = .05
	} {
		got := row.c.Posterior()
		for i, pair := range [][2]float64{{got.Mean, row.want.Mean}, {got.Low, row.want.Low}, {got.High, row.want.High}} {
			if math.Abs(pair[0]-pair[1]) > 1e-4 {
				t.Errorf("%+v: figure %d is %v, want %v", row.c, i, pair[0], pair[1])
			}
		}
	}
	if p := (Count{5000, 2500}).Posterior(); math.Abs(p.Mean-.5) > .001 || p.High-p.Low > .03 || p.High <= p.Low {
		t.Errorf("of many runs: %+v", p)
	}
}
