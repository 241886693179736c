package main

import (
	"fmt"
	"io"
	"slices"
)

// way gives a contest's way by name, nil where it is not measured.
func (c *contest) way(name string) *way {
	for _, w := range c.ways {
		if w.name == name && len(w.all) > 0 {
			return w
		}
	}
	return nil
}

// of are the figures of all rounds.
func (w *way) of(figure func(reply) float64) (all []float64) {
	for _, r := range w.all {
		all = append(all, figure(r))
	}
	return all
}

// least is the smallest of them: what a machine does beside only adds to it. Goals are of computing time, of all cores together:
// on a quiet machine it is no less than what passes, and on a busy one it is the same.
func (w *way) least(figure func(reply) float64) float64 { return slices.Min(w.of(figure)) }

func seconds(r reply) float64 { return r.Seconds }
func busy(r reply) float64    { return r.CPU }
func peak(r reply) float64    { return float64(r.peak) / (1 << 20) }

func (c *contest) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, %d files, %.1f MB; %d rounds\n", c.language, c.files, float64(c.bytes)/1e6, c.rounds)
	fmt.Fprintf(out, "  %-30s %10s %10s %8s %9s %9s %9s %9s\n", "", "min ms", "median ms", "of ours", "min CPU", "peak MiB", "symbols", "uses")
	ours := c.way(coldWay).least(seconds)
	for _, w := range c.ways {
		if w.failed != "" {
			fmt.Fprintf(out, "  %-30s not measured: %s\n", w.name, w.failed)
		}
		if len(w.all) == 0 || w.name == changeWay {
			continue
		}
		all := w.of(seconds)
		r := w.all[0]
		fmt.Fprintf(out, "  %-30s %10.1f %10.1f %7.2fx %9.1f %9.0f %9d %9d\n", w.name, 1000*slices.Min(all), 1000*median(all), slices.Min(all)/ours, 1000*slices.Min(w.of(busy)), median(w.of(peak)), r.Symbols, r.Uses)
	}
	if w := c.way(changeWay); w != nil {
		ms := func(name string, figure func(reply) float64) {
			all := w.of(figure)
			fmt.Fprintf(out, "  %-30s %10.3f %10.3f\n", name, 1000*slices.Min(all), 1000*median(all))
		}
		ms("one file, an edit inside, CPU", func(r reply) float64 { return r.Edit })
		ms("one file, a definition, CPU", func(r reply) float64 { return r.Define })
		ms("  beyond its parse of", func(r reply) float64 { return r.Parse })
		ms("blast radius", func(r reply) float64 { return r.Blast })
		fmt.Fprintf(out, "  %s\n", w.all[0].About)
	}
}

const (
	coldWay   = "redraft, cold, outlines"
	changeWay = "redraft, change and blast"
)

// goals prints what the index is held to, and says whether all of it holds.
func goals(out io.Writer, all []*contest) (met bool) {
	met = true
	say := func(what string, got float64, unit string, ok bool) {
		word := "yes"
		if !ok {
			met, word = false, "no"
		}
		fmt.Fprintf(out, "  %-4s %s: %.3g %s\n", word, what, got, unit)
	}
	fmt.Fprintln(out, "\ngoals, of the least seconds of computing; of memory, the most")
	for _, c := range all {
		c.goals(all, say)
	}
	return met
}

func (c *contest) goals(all []*contest, say func(what string, got float64, unit string, ok bool)) {
	name := fmt.Sprintf("%s, %d files, ", c.language, c.files)
	cold := c.way(coldWay).least(busy)
	if c.copies > 0 {
		for _, w := range c.ways {
			if len(w.all) > 0 && (w.name == coldWay || w.name == "redraft, cold, typed") {
				got := slices.Max(w.of(peak))
				say(name+w.name+", peak below 400 MiB", got, "MiB", got < 400)
			}
		}
	} else if w := c.way("aider map, cold"); c.language != "go" && w != nil {
		got := w.least(busy) / cold
		say(name+"cold not slower than aider's map", got, "times as fast", got >= 1)
	}
	if c.language == "go" && c.copies == 0 {
		for _, p := range all {
			if w := p.way("Python's ast"); w != nil && p.copies == 0 {
				got := w.least(busy) / float64(p.bytes) / (cold / float64(c.bytes))
				say(name+"cold 10 times as fast as Python's ast, by bytes", got, "times as fast", got >= 10)
				wall := w.least(seconds) / float64(p.bytes) / (c.way(coldWay).least(seconds) / float64(c.bytes))
				say(name+"the same by the clock: ours is on all cores, Python's on one", wall, "times as fast", wall >= 10)
			}
		}
	}
	c.edited(name, say)
}

// edited are the goals of a start from the cache, of a small tree, and of a change.
func (c *contest) edited(name string, say func(what string, got float64, unit string, ok bool)) {
	for _, w := range c.ways {
		if c.copies == 0 && len(w.all) > 0 && (w.name == "redraft, warm, outlines" || w.name == "redraft, warm, typed") {
			got := 1000 * w.least(busy)
			say(name+w.name+", below 100 ms", got, "ms", got < 100)
		}
	}
	w := c.way(changeWay)
	if w == nil {
		say(name+changeWay+", measured", 0, "times", false)
		return
	}
	got := 1000 * w.least(func(r reply) float64 { return r.Edit })
	say(name+"one file, an edit inside it, below 5 ms beyond its parse", got, "ms", got < 5)
	got = 1000 * w.least(func(r reply) float64 { return r.Define })
	say(name+"one file, a new definition, below 5 ms beyond its parse", got, "ms", got < 5)
	got = 1000 * w.least(func(r reply) float64 { return r.Blast })
	say(name+"blast radius below 1 ms", got, "ms", got < 1)
}
