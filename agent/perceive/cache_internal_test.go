package perceive

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"testing/fstest"
)

// sealed gives bytes the head and the checksum of a cache, so that fuzzing gets behind them.
func sealed(body []byte) []byte {
	sum := binary.LittleEndian.AppendUint32([]byte(cacheForm), crc32.Checksum(body, checksums))
	return append(sum, body...)
}

// FuzzCache: a cache that anybody wrote is read or refused, and what was read can be bound and asked.
func FuzzCache(f *testing.F) {
	tree := fstest.MapFS{
		"go.mod": {Data: []byte("module m\n")},
		"a.go":   {Data: []byte("package a\n\ntype T struct{ F int }\n\nfunc (t T) M() int { return t.F + c }\n\nconst c = 1\n")},
		"b.py":   {Data: []byte("import os\nclass A(B):\n  def m(self): self.m()\n")},
	}
	x, err := NewIndex(context.Background(), tree, IndexOptions{})
	if err != nil {
		f.Fatal(err)
	}
	if err := x.Types(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Add(x.encode()[len(cacheForm)+4:])
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		c, ok := decodeCache(sealed(body))
		if _, whole := decodeCache(body); whole {
			t.Error("a text without its head was taken for a cache")
		}
		if !ok {
			return
		}
		x := &Index{tree: tree, words: c.words, kept: c.records, typings: c.typings, options: IndexOptions{Workers: 1}, byPath: map[string]int32{},
			folders: map[string][]int32{}, packs: map[uint32][]int32{}, defs: map[uint32][]uint32{}, bases: map[uint32][]uint32{}, impls: map[uint32][]int32{}}
		for h, r := range c.records {
			if r.family == noFamily {
				continue
			}
			x.place(string(h[:])+".x", r)
		}
		for _, e := range x.files {
			for _, typing := range c.typings {
				if e.record != nil && e.record.family == goFamily {
					e.typing = typing
				}
			}
		}
		x.bindAll(x.sources())
		x.Stats()
		for n := range x.nodes {
			x.Blast(Definition{node: uint32(n)})
		}
		x.Skeleton(SkeletonOptions{})
		x.Edges()
	})
}
