package perceive_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// benchTree is the tree of the benchmarks: the folder that REDRAFT_BENCH_TREE names, or a part of this project.
func benchTree(b *testing.B) fs.FS {
	b.Helper()
	dir := os.Getenv("REDRAFT_BENCH_TREE")
	if dir == "" {
		dir = "../.."
	}
	return memory(b, os.DirFS(dir))
}

// memory is a tree's sources and manifests, read once, so that the disk has no part in the figures.
func memory(b *testing.B, disk fs.FS) fstest.MapFS {
	b.Helper()
	tree, sources, size := fstest.MapFS{}, 0, 0
	err := fs.WalkDir(disk, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		_, ok := syntax.For(name)
		if !ok && filepath.Base(name) != "go.mod" {
			return nil
		}
		text, err := fs.ReadFile(disk, name)
		tree[name] = &fstest.MapFile{Data: text}
		if ok {
			sources++
			size += len(text)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d files, %d KiB", sources, size>>10)
	return tree
}

func newIndex(b *testing.B, tree fs.FS, cache string) *perceive.Index {
	b.Helper()
	x, err := perceive.NewIndex(context.Background(), tree, perceive.IndexOptions{Cache: cache})
	if err != nil {
		b.Fatal(err)
	}
	return x
}

// BenchmarkCold is a tree that nobody has read: symbols and the edges that the texts themselves give.
func BenchmarkCold(b *testing.B) {
	tree := benchTree(b)
	for b.Loop() {
		newIndex(b, tree, "")
	}
}

// BenchmarkColdTyped is Cold and what go/types says.
func BenchmarkColdTyped(b *testing.B) {
	tree := benchTree(b)
	for b.Loop() {
		if err := newIndex(b, tree, "").Types(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWarm is a tree of which the cache knows everything, go/types' part as well.
func BenchmarkWarm(b *testing.B) {
	tree, cache := benchTree(b), b.TempDir()
	x := newIndex(b, tree, cache)
	if err := x.Types(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := x.Save(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := newIndex(b, tree, cache).Types(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOneFile changes one file, once inside a function and once by a definition, and brings the index up to date.
// The parse of that file is told apart.
func BenchmarkOneFile(b *testing.B) {
	for _, typed := range []bool{false, true} {
		for _, what := range []string{"\n// a remark %d\n", "\nfunc another%d() {}\n"} {
			b.Run(fmt.Sprintf("typed=%v/%s", typed, strings.Fields(what)[0]), func(b *testing.B) { oneFile(b, typed, what) })
		}
	}
}

func oneFile(b *testing.B, typed bool, what string) {
	tree := benchTree(b).(fstest.MapFS)
	name := "agent/patch/resolve.go"
	if tree[name] == nil {
		b.Skip("REFUSED: the tree of the benchmark is another")
	}
	text := tree[name].Data
	x := newIndex(b, tree, "")
	if typed {
		if err := x.Types(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	g, _ := syntax.For(name)
	var parse time.Duration
	n := 0
	for b.Loop() {
		n++
		changed := append(bytes.Clone(text), fmt.Sprintf(what, n)...)
		tree[name] = &fstest.MapFile{Data: changed}
		start := time.Now()
		if _, err := g.Outline(changed); err != nil {
			b.Fatal(err)
		}
		parse += time.Since(start)
		if err := x.Update(context.Background(), name); err != nil {
			b.Fatal(err)
		}
		if typed {
			if err := x.Types(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(parse.Nanoseconds())/float64(n), "parse-ns/op")
}

// BenchmarkBlast counts all that depends on the symbol with the most dependents.
func BenchmarkBlast(b *testing.B) {
	x := newIndex(b, benchTree(b), "")
	if err := x.Types(context.Background()); err != nil {
		b.Fatal(err)
	}
	var worst perceive.Definition
	most := -1
	for _, d := range x.Symbols(".") {
		if n := x.Blast(d).Symbols; n > most {
			worst, most = d, n
		}
	}
	b.Logf("%s reaches %d of %d symbols", worst, most, len(x.Symbols(".")))
	for b.Loop() {
		x.Blast(worst)
	}
}

// BenchmarkMemory is what an index of 20,000 files holds.
func BenchmarkMemory(b *testing.B) {
	small := benchTree(b).(fstest.MapFS)
	tree := fstest.MapFS{}
	for copies := 0; len(tree) < 20_000; copies++ {
		for name, f := range small {
			if name != "go.mod" && len(tree) < 20_000 {
				tree[fmt.Sprintf("copy%d/%s", copies, name)] = &fstest.MapFile{Data: append([]byte(fmt.Sprintf("// %d\n", copies)), f.Data...)}
			}
		}
	}
	for b.Loop() {
		before := heap()
		x := newIndex(b, tree, "")
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		runtime.KeepAlive(x)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
