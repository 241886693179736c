package syntax

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

// TestModule holds the module against its description: the same bytes, and no way out of them.
func TestModule(t *testing.T) {
	about, err := os.ReadFile("grammars/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x  grammars.wasm.gz", sha256.Sum256(packed)); !bytes.Contains(about, []byte(sum)) {
		t.Errorf("the module's sum is %s, which its README.md does not say", sum)
	}
	e, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range e.module.ImportedFunctions() {
		module, name, _ := f.Import()
		t.Errorf("the module imports %s.%s", module, name)
	}
}

// TestTrap holds that an instance in which something broke is not used again, and that memory has an end.
func TestTrap(t *testing.T) {
	e, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	i, err := e.take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.reserve.Call(ctx, maxMemory+1); err == nil {
		t.Error("more memory than there may be was given")
	}
	e.put(i, false)
	if !i.module.IsClosed() {
		t.Error("a broken instance is kept")
	}
	if i, err = e.take(ctx); err != nil {
		t.Fatal(err)
	}
	defer e.put(i, false)
	if _, err := i.nodes(ctx, languages, nil); err == nil {
		t.Error("a language that is not there was parsed")
	}
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		e, err := load(t.Context(), wazero.NewRuntimeConfig(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.runtime.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Errorf("nothing is kept: %v", err)
	}
}

// cpu is the processor time of this process: the clock on the wall says little where others work.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLoad is the module cold, with a cache, and interpreted.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for _, row := range []struct {
		name, cache string
		config      wazero.RuntimeConfig
	}{
		{"compiled", "", wazero.NewRuntimeConfig()}, {"first", dir, wazero.NewRuntimeConfig()}, {"cached", dir, wazero.NewRuntimeConfig()},
		{"interpreted", "", wazero.NewRuntimeConfigInterpreter()},
	} {
		b.Run(row.name, func(b *testing.B) {
			began := cpu(b)
			for range b.N {
				e, err := load(b.Context(), row.config, row.cache)
				if err != nil {
					b.Fatal(err)
				}
				_ = e.runtime.Close(b.Context())
			}
			b.ReportMetric(float64((cpu(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkParse parses much of the same in each language.
func BenchmarkParse(b *testing.B) {
	for _, row := range []struct {
		id   int
		name string
	}{{pythonID, "shop.py"}, {javascriptID, "shop.js"}, {typescriptID, "shop.ts"}, {rustID, "shop.rs"}, {javaID, "Shop.java"}} {
		b.Run(row.name, func(b *testing.B) {
			src, err := os.ReadFile("testdata/" + row.name)
			if err != nil {
				b.Fatal(err)
			}
			src = bytes.Repeat(bytes.TrimPrefix(src, []byte("#!/usr/bin/env node\n")), 100)
			if _, err := grow(row.id, src); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(src)))
			began := cpu(b)
			b.ResetTimer()
			for range b.N {
				if _, err := grow(row.id, src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(src))*float64(b.N)/1e6/(cpu(b)-began).Seconds(), "MB/cpu-s")
		})
	}
}

// TestBudget holds that a text that makes the lexer read the rest of it again and again ends, and ends as an error.
func TestBudget(t *testing.T) {
	_, err := grow(javascriptID, bytes.Repeat([]byte("/* "), 30_000))
	if err == nil || err.Error() != "the parser gave up on it" {
		t.Errorf("got %v", err)
	}
	if _, err := grow(javascriptID, bytes.Repeat([]byte("f(/* x */ 1);\n"), 3_000)); err != nil {
		t.Errorf("after it: %v", err)
	}
}
