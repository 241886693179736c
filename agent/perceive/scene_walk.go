package perceive

import (
	"cmp"
	"maps"
	"slices"
)

// proximity is how near a definition is to where a walk began, as a share of the nearest one's.
type proximity struct {
	Definition
	share float64 // above 0, at most 1
}

// Bounds of a walk.
const (
	walkSteps = 5
	walkEnds  = 0.15   // chance that it ends with a step; Brin and Page 1998 have 0.15
	walkFloor = 0.0001 // chance below which nobody follows it
)

// proximities tells what a walk comes by that begins at some definitions with some weights, and goes on with each step to something
// that the definition uses, each as likely: personalised PageRank, cut after some steps. Where it begins is left out.
func (x *Index) proximities(from map[uint32]float64) (out []proximity) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	sum, level := map[uint32]float64{}, from
	for range walkSteps {
		next := map[uint32]float64{}
		for _, n := range slices.Sorted(maps.Keys(level)) { // in order: sums of floats depend on it
			to := x.usedBy(n)
			chance := level[n] * (1 - walkEnds) / float64(max(len(to), 1))
			if chance < walkFloor {
				continue
			}
			for _, t := range to {
				next[t] += chance
				sum[t] += chance
			}
		}
		level = next
	}
	for n := range from {
		delete(sum, n)
	}
	best := 0.0
	for _, chance := range sum {
		best = max(best, chance)
	}
	for _, n := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, proximity{x.definition(n), sum[n] / best})
	}
	slices.SortStableFunc(out, func(a, b proximity) int { return cmp.Compare(b.share, a.share) })
	return out
}

// usedBy are the definitions that one uses, its members' with a type's, each once. Callers hold the lock.
func (x *Index) usedBy(n uint32) (out []uint32) {
	for _, part := range x.whole(n) {
		x.neighbours(part, Dependencies, func(to uint32) {
			if to != n && x.nodes[to].symbol != 0 && !slices.Contains(out, to) {
				out = append(out, to)
			}
		})
	}
	return out
}

// testersOf is how many definitions of protected files use one directly.
func (x *Index) testersOf(d Definition, protected func(file string) bool) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	users := map[uint32]bool{}
	for _, u := range x.users().of(d.node) {
		if from := x.at(u).from; protected(x.files[x.nodes[from].file].path) {
			users[from] = true
		}
	}
	return len(users)
}
