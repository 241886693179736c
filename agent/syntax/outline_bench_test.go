package syntax

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

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
