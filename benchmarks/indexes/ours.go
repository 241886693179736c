package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// reply is what a process says at its end; those that are not ours leave out what they do not know.
type reply struct {
	Seconds float64 // without the start of the process
	CPU     float64 // seconds of all cores in that time
	Symbols int
	Uses    int     // edges, calls or references, whatever the program calls so
	Edit    float64 // seconds, of a change inside a file, beyond its parse
	Define  float64 // of a change that defines something
	Parse   float64 // of that file
	Blast   float64 // of one symbol
	About   string  // which symbol it was, and what it reaches
	peak    int64   // bytes of memory
}

// child is one index of ours: child HOW TREE CACHE GRAMMARS. It makes it as the commands do.
func child(ctx context.Context, args []string, out, said io.Writer) int {
	if len(args) != 4 {
		return 2
	}
	syntax.CacheIn(args[3])
	perceive.Collect()
	r, err := one(ctx, args[0], args[1], args[2])
	if err != nil {
		fmt.Fprintln(said, "indexes:", err)
		return 3
	}
	json.NewEncoder(out).Encode(r)
	return 0
}

// one makes an index, untyped or typed, and changes a file where that is asked for.
func one(ctx context.Context, how, dir, cache string) (r reply, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	begin, busy := time.Now(), cpu()
	if how == "parse" { // the grammars alone
		g, _ := syntax.For("a.py")
		_, err := g.Outline([]byte("def f(): pass\n"))
		return reply{Seconds: time.Since(begin).Seconds()}, err
	}
	x, err := perceive.NewIndex(ctx, root.FS(), perceive.IndexOptions{Cache: cache})
	if err != nil {
		return r, err
	}
	if how != "plain" {
		if err := x.Types(ctx); err != nil {
			return r, err
		}
	}
	if err := x.Save(); err != nil {
		return r, err
	}
	r.Seconds, r.CPU = time.Since(begin).Seconds(), cpu()-busy
	if how == "change" {
		return r, r.change(ctx, x, root)
	}
	s := x.Stats()
	r.Symbols, r.Uses = s.Symbols, s.Edges
	return r, nil
}

// cpu is how long this process has been computing.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return computed(&u)
}

func computed(u *syscall.Rusage) float64 {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// change asks for the blast radius of the symbol with the most dependents, and changes the file that holds it.
func (r *reply) change(ctx context.Context, x *perceive.Index, root *os.Root) error {
	const asked, times = 2000, 15
	all := x.Symbols(".")
	if len(all) == 0 {
		return errors.New("the tree has no symbols")
	}
	worst, most := all[0], perceive.Blast{}
	for i := 0; i < len(all); i += len(all)/asked + 1 {
		if b := x.Blast(all[i]); b.Symbols > most.Symbols {
			worst, most = all[i], b
		}
	}
	r.About = fmt.Sprintf("%s of %s: %d of %d symbols in %d files", worst, worst.File, most.Symbols, len(all), most.Files)
	r.Blast = timed(101, func() { x.Blast(worst) })
	remark, define := "\n// remark %d\n", map[string]string{".go": "\nfunc another%d() {}\n", ".ts": "\nfunction another%d() {}\n", ".py": "\ndef another%d():\n    pass\n"}[filepath.Ext(worst.File)]
	if filepath.Ext(worst.File) == ".py" {
		remark = "\n# remark %d\n"
	}
	text, err := fs.ReadFile(root.FS(), worst.File)
	if err != nil {
		return err
	}
	var edit, made, parse []float64
	for i := range times {
		for form, into := range map[string]*[]float64{remark: &edit, define: &made} {
			parsed, took, err := again(ctx, x, root, worst.File, append(slices.Clone(text), fmt.Sprintf(form, i)...))
			if err != nil {
				return errors.Join(err, root.WriteFile(worst.File, text, 0o644))
			}
			*into, parse = append(*into, took-parsed), append(parse, parsed)
		}
	}
	r.Edit, r.Define, r.Parse = median(edit), median(made), median(parse)
	return root.WriteFile(worst.File, text, 0o644)
}

// again writes a file and brings the index up to date; parsed is what the parse alone takes. Both are seconds of computing.
func again(ctx context.Context, x *perceive.Index, root *os.Root, name string, text []byte) (parsed, took float64, err error) {
	if err := root.WriteFile(name, text, 0o644); err != nil {
		return 0, 0, err
	}
	g, _ := syntax.For(name)
	begin := cpu()
	if _, err := g.Outline(text); err != nil {
		return 0, 0, err
	}
	parsed = cpu() - begin
	begin = cpu()
	if err = x.Update(ctx, name); err == nil {
		err = x.Types(ctx)
	}
	return parsed, cpu() - begin, err
}

// timed is the median of several calls.
func timed(times int, do func()) float64 {
	var all []float64
	for range times {
		begin := time.Now()
		do()
		all = append(all, time.Since(begin).Seconds())
	}
	return median(all)
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
