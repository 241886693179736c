package perceive

import (
	"context"
	"slices"
	"sync"
)

// goJob types one package, or its tests, once all that it imports has been typed.
type goJob struct {
	u     *goUnit
	do    func(*goUnit)
	holds []string // packages that have to stay until it is done
	waits int      // jobs that have to be done before
	next  []*goJob // that wait for it
	added bool     // to the plan; one that is asked for before is part of a cycle
}

// goPlan is the jobs in an order in which every one stands behind those that it waits for. A package leaves memory when
// nobody who sees it, even through others, is still to be typed; a small tree keeps all for the next change.
type goPlan struct {
	x     *Index
	units map[string]*goUnit
	jobs  []*goJob
	base  map[string]*goJob
	users map[string]int // of a package: jobs and packages that hold it
	drops bool

	mu    sync.Mutex
	more  *sync.Cond // a job is done
	begun []bool
	first int // before it all are begun
	left  int // jobs that are not done
}

func (x *Index) planTyping(units map[string]*goUnit, wanted []*goUnit, drops bool) *goPlan {
	p := &goPlan{x: x, units: units, base: map[string]*goJob{}, users: map[string]int{}, drops: drops}
	p.more = sync.NewCond(&p.mu)
	asked := map[string]bool{}
	for _, u := range wanted {
		asked[u.dir] = true
	}
	for _, u := range wanted {
		p.addBase(u, asked)
		tests := &goJob{u: u, do: x.typeTests, holds: []string{u.dir}}
		for _, i := range slices.Concat(u.inner, u.outer) {
			tests.holds = append(tests.holds, x.foldersOf(x.files[i])...)
		}
		p.add(tests, asked)
	}
	p.begun, p.left = make([]bool, len(p.jobs)), len(p.jobs)
	return p
}

// addBase adds the job of a package behind those of what it imports. Cycles, which Go does not have, are cut.
func (p *goPlan) addBase(u *goUnit, asked map[string]bool) {
	if p.base[u.dir] != nil {
		return
	}
	j := &goJob{u: u, do: p.x.typeBase, holds: u.needs}
	p.base[u.dir] = j
	p.add(j, asked)
}

func (p *goPlan) add(j *goJob, asked map[string]bool) {
	slices.Sort(j.holds)
	j.holds = slices.Compact(j.holds)
	for _, dir := range j.holds {
		if asked[dir] {
			p.addBase(p.units[dir], asked)
		}
		p.users[dir]++
		if before := p.base[dir]; before != nil && before.added {
			before.next = append(before.next, j)
			j.waits++
		}
	}
	p.jobs, j.added = append(p.jobs, j), true
}

// run does the jobs, those in front first: what belongs together is done together, and soon forgotten.
func (p *goPlan) run(ctx context.Context) error {
	var all sync.WaitGroup
	for range min(p.x.options.Workers, max(1, len(p.jobs))) {
		all.Go(func() {
			for j := p.take(ctx); j != nil; j = p.take(ctx) {
				j.do(j.u)
				p.done(j)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// take gives the first job that waits for nothing, and waits for one; nil is the end.
func (p *goPlan) take(ctx context.Context) *goJob {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.left > 0 && ctx.Err() == nil {
		for p.first < len(p.jobs) && p.begun[p.first] {
			p.first++
		}
		for i := p.first; i < len(p.jobs); i++ {
			if !p.begun[i] && p.jobs[i].waits == 0 {
				p.begun[i] = true
				return p.jobs[i]
			}
		}
		if p.first == len(p.jobs) {
			break
		}
		p.more.Wait() // somebody is at work, or all would wait in a circle, which cut cycles rule out
	}
	p.more.Broadcast()
	return nil
}

func (p *goPlan) done(j *goJob) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left--
	for _, n := range j.next {
		n.waits--
	}
	if p.drops && p.base[j.u.dir] != j {
		for _, dir := range j.holds {
			p.release(dir)
		}
	}
	p.more.Broadcast()
}

// release is called when something that held a package no longer does. A package holds what it imports until it is dropped.
func (p *goPlan) release(dir string) {
	p.users[dir]--
	j := p.base[dir]
	if p.users[dir] > 0 || j == nil {
		return
	}
	p.x.world.drop(p.x, j.u)
	for _, need := range j.holds {
		p.release(need)
	}
}

// drop forgets a package and its files.
func (w *goWorld) drop(x *Index, u *goUnit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.packages, u.dir)
	delete(w.keys, u.dir)
	for _, i := range slices.Concat(u.base, u.inner, u.outer) {
		name := x.files[i].path
		if kept, ok := w.bare[name]; ok {
			f := w.fset.File(kept.tree.FileStart)
			w.fset.RemoveFile(f)
			delete(w.records, f)
			delete(w.bare, name)
		}
	}
}
