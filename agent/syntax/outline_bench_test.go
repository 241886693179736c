package syntax

import (
	"bytes"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestRendered holds that the short way to print a type prints what the printer does.
func TestRendered(t *testing.T) {
	for typ, short := range map[string]bool{
		"T": true, "*p.T": true, "[]*T": true, "map[K][]V": true, "map[[2]K]V": false, "chan T": false, "[3]T": false, "func(a int) T": false, "T[K]": false, "struct{ a int }": false,
	} {
		e, err := parser.ParseExpr(typ)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
			t.Fatal(err)
		}
		if got, ok := rendered(e); ok != short || ok && got != b.String() {
			t.Errorf("%s: %q %v", typ, got, ok)
		}
	}
}

// big is a sample a hundred times over, in bytes that still parse.
func big(b *testing.B, name string) []byte {
	b.Helper()
	src, err := os.ReadFile("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	if name != "shop.go.txt" {
		return bytes.Repeat(bytes.TrimPrefix(src, []byte("#!/usr/bin/env node\n")), 100)
	}
	head, body, _ := bytes.Cut(src, []byte("// Cart holds"))
	return append(head, bytes.Repeat(append([]byte("// Cart holds"), body...), 100)...)
}

// BenchmarkOutline is an outline beside the parse that is part of it.
func BenchmarkOutline(b *testing.B) {
	for _, name := range []string{"shop.go.txt", "shop.py", "shop.js", "shop.ts", "shop.rs", "Shop.java"} {
		g, _ := For(strings.TrimSuffix(name, ".txt"))
		src := big(b, name)
		if name == "Shop.java" { // a package line stands first or not at all
			src = bytes.ReplaceAll(src, []byte("package shop;\n\nimport java.util.List;\n"), nil)
		}
		for _, work := range []struct {
			name string
			do   func() error
		}{
			{"parse", func() error { return g.Parse(src) }},
			{"outline", func() error { _, err := g.Outline(src); return err }},
		} {
			b.Run(g.Name+"/"+work.name, func(b *testing.B) {
				if err := work.do(); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				began := cpu(b)
				b.ResetTimer()
				for range b.N {
					_ = work.do()
				}
				b.ReportMetric(float64(len(src))*float64(b.N)/1e6/(cpu(b)-began).Seconds(), "MB/cpu-s")
			})
		}
	}
}
