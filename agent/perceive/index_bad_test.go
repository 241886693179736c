package perceive_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// graphTree is one of the small trees, to be changed.
func graphTree(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "graph", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for _, f := range a.Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return tree
}

// edits are changes of the small trees: what is put in a file's place; nothing removes it.
var edits = map[string][][3]string{
	"python": {
		{"src/shop/orders.py", "class Refund:", "class Refunded:"},
		{"src/shop/orders.py", "    def settle", "    def unsettle"},
		{"src/shop/cart.py", "Cart(Priced)", "Cart(object)"},
		{"src/shop/money.py", "def cents", "def pence"},
		{"src/shop/__init__.py", "from .money import *", "from .orders import *"},
		{"app.py", "from shop import Basket, cents", "from shop.money import cents\nBasket = int"},
		{"app.py", "", ""},
		{"src/shop/money.py", "", ""},
	},
	"script": {
		{"packages/money/src/cents.ts", "function cents", "function pence"},
		{"lib/cart.ts", "total()", "sum()"},
		{"tsconfig.json", "@lib", "@bib"},
		{"packages/money/src/index.ts", "", ""},
	},
	"rust": {
		{"shop/src/lib.rs", "pub use cart::Cart;", ""},
		{"shop/src/cart/mod.rs", "pub fn field", "pub fn sum"},
		{"shop/src/money.rs", "", ""},
	},
	"java": {
		{"src/main/java/com/shop/Cart.java", "int pick(String one)", "int choose(String one)"},
		{"src/main/java/com/shop/Base.java", "package com.shop;", "package com.away;"},
		{"src/main/java/com/shop/money/Money.java", "", ""},
	},
	"go": {
		{"cart/cart.go", "func show", "func display"},
		{"money/money.go", "type Priced interface{ Price() int }", "type Priced interface{ Total() int }"},
		{"cart/helper_linux.go", "return 1", "return show(nil)"},
		{"cart/helper_linux.go", "", ""},
		{"go.mod", "example.com/shop", "example.com/till"},
	},
}

// TestUpdate: after each change the index says what a new one says.
func TestUpdate(t *testing.T) {
	for name, steps := range edits {
		t.Run(name, func(t *testing.T) {
			tree := graphTree(t, name)
			x := indexOf(t, tree, "")
			for _, step := range steps {
				change(t, tree, step)
				if err := x.Update(context.Background(), step[0]); err != nil {
					t.Fatal(err)
				}
				if err := x.Types(context.Background()); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(told(indexOf(t, tree, "")), told(x)); d != "" {
					t.Fatalf("after %v (-new +updated):\n%s", step, d)
				}
			}
		})
	}
}

func change(t *testing.T, tree fstest.MapFS, step [3]string) {
	t.Helper()
	if step[1] == "" {
		delete(tree, step[0])
		return
	}
	before := string(tree[step[0]].Data)
	after := strings.Replace(before, step[1], step[2], 1)
	if before == after {
		t.Fatalf("%v changes nothing", step)
	}
	tree[step[0]] = &fstest.MapFile{Data: []byte(after)}
}

// TestCache: what is kept says the same as what is read, and what somebody broke is not believed.
func TestCache(t *testing.T) {
	for name := range edits {
		cache, tree := t.TempDir(), graphTree(t, name)
		x := indexOf(t, tree, cache)
		if err := x.Save(); err != nil {
			t.Fatal(err)
		}
		want := told(x)
		if d := cmp.Diff(want, told(indexOf(t, tree, cache))); d != "" {
			t.Errorf("%s: from the cache (-read +kept):\n%s", name, d)
		}
		file := filepath.Join(cache, "outlines")
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{{}, good[:len(good)/2], append(good[:len(good):len(good)], 0), []byte("redraft index 2\nxxxx"), flipped(good, 40), flipped(good, len(good)-3)} {
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, told(indexOf(t, tree, cache))); d != "" {
				t.Errorf("%s: with a broken cache:\n%s", name, d)
			}
		}
	}
}

func flipped(b []byte, at int) []byte {
	out := append([]byte(nil), b...)
	out[at] ^= 0xff
	return out
}

// TestCacheIsUsed: a text that is kept is not read again, which a cache with another text's outline shows.
func TestCacheIsUsed(t *testing.T) {
	cache := t.TempDir()
	tree := fstest.MapFS{"a.py": {Data: []byte("def kept(): pass\n")}}
	if err := indexOf(t, tree, cache).Save(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(cache, "outlines"))
	if err != nil {
		t.Fatal(err)
	}
	if err := indexOf(t, tree, cache).Save(); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(cache, "outlines"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the cache was written again though nothing is new")
	}
}

// TestRefused: what cannot be read is counted and named, and breaks nothing else.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("(", 200_000)
	tree := fstest.MapFS{
		"good.py":            {Data: []byte("def fine(): pass\nfine()\n")},
		"broken.py":          {Data: []byte("def (:\n")},
		"deep.py":            {Data: []byte("x = " + deep)},
		"deep.go":            {Data: []byte("package a\nvar x = " + deep)},
		"nested.js":          {Data: []byte(strings.Repeat("{", 50_000) + strings.Repeat("}", 50_000))},
		"nested.go":          {Data: []byte("package a\nfunc f() " + strings.Repeat("{", 50_000) + strings.Repeat("}", 50_000))},
		"huge.ts":            {Data: make([]byte, syntax.MaxSource+1)},
		"bytes.rs":           {Data: []byte("fn a() {}\n\xff\xfe\x00")},
		"empty.java":         {Data: nil},
		"made.go":            {Data: []byte("// Code generated by a tool. DO NOT EDIT.\npackage a\nfunc made() {}\n")},
		"link.py":            {Data: []byte("good.py"), Mode: fs.ModeSymlink | 0o777},
		"node_modules/x.js":  {Data: []byte("function foreign() {}\n")},
		"sub/target/made.rs": {Data: []byte("fn foreign() {}\n")},
		"twice.py":           {Data: []byte("def same(): pass\ndef same(): pass\nsame()\n")},
	}
	x := indexOf(t, tree, "")
	s := x.Stats()
	refused := map[string]bool{}
	for _, r := range s.Refused {
		refused[r.File] = r.Why != ""
	}
	for _, name := range []string{"broken.py", "deep.go", "huge.ts"} {
		if !refused[name] {
			t.Errorf("%s is not refused: %v", name, s.Refused)
		}
	}
	for _, name := range []string{"good.py", "made.go", "empty.java", "twice.py"} {
		if refused[name] {
			t.Errorf("%s is refused", name)
		}
	}
	if f := x.Find("foreign"); len(f.Exact) > 0 {
		t.Errorf("found %v, which others wrote", f.Exact)
	}
	if f := x.Find("fine"); len(f.Exact) != 1 || len(x.Refs(f.Exact[0])) != 1 {
		t.Errorf("fine: %v", f)
	}
	if f := x.Find("made"); len(f.Exact) != 1 || !f.Exact[0].Generated {
		t.Errorf("made: %v", f)
	}
	if f := x.Find("same"); len(f.Exact) != 2 || s.Blind != 1 || x.BlindTo(f.Exact[0]) != 1 {
		t.Errorf("two symbols of one name: %v, %d blind spots", f.Exact, s.Blind)
	}
	if s.Skipped["no regular file"] != 1 {
		t.Errorf("left out: %v", s.Skipped)
	}
}

// TestDiskTree: a link that leads back up is not followed, a file of 50 MB is not read, a file that changes under the
// index is told without its line.
func TestDiskTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.py", "def one(): pass\none()\n")
	write("big.py", "")
	if err := os.Truncate(filepath.Join(dir, "big.py"), 50<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	x := indexOf(t, os.DirFS(dir), "")
	if s := x.Stats(); len(s.Refused) != 1 || s.Refused[0].File != "big.py" || s.Files != 2 {
		t.Errorf("got %+v", s)
	}
	refs := x.Refs(x.Find("one").Exact[0])
	if len(refs) != 1 || refs[0].Text != "one()" {
		t.Fatalf("got %v", refs)
	}
	write("a.py", "def one(): pass\n# no more\n")
	if refs = x.Refs(x.Find("one").Exact[0]); len(refs) != 1 || refs[0].Text != "" {
		t.Errorf("after a change: got %v", refs)
	}
	if err := x.Update(context.Background(), "a.py", "../b.py", "gone.py", "loop/a.py"); err != nil {
		t.Fatal(err)
	}
	if refs = x.Refs(x.Find("one").Exact[0]); len(refs) != 0 {
		t.Errorf("after an update: got %v", refs)
	}
}

// growing is a file that becomes longer whenever it is read.
type growing struct{ fstest.MapFS }

func (g growing) Open(name string) (fs.File, error) {
	f, err := g.MapFS.Open(name)
	if name == "a.py" {
		return &endless{File: f}, err
	}
	return f, err
}

type endless struct{ fs.File }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// TestEndlessFile: a file without an end is read as far as any file is.
func TestEndlessFile(t *testing.T) {
	x := indexOf(t, growing{fstest.MapFS{"a.py": {Data: []byte("def one(): pass\n")}}}, "")
	if s := x.Stats(); len(s.Refused) != 1 || !strings.Contains(s.Refused[0].Why, "more than") {
		t.Errorf("got %+v", s.Refused)
	}
}

// TestManyAtOnce: questions and updates may come from several goroutines.
func TestManyAtOnce(t *testing.T) {
	tree := graphTree(t, "python")
	x := indexOf(t, tree, "")
	done := make(chan bool)
	for range 4 {
		go func() {
			defer func() { done <- true }()
			for range 20 {
				for _, d := range x.Find("cents").Exact {
					x.Refs(d)
					x.Blast(d)
				}
				x.Stats()
				x.Skeleton(perceive.SkeletonOptions{})
				_ = x.Update(context.Background(), "app.py")
				_ = x.Types(context.Background())
			}
		}()
	}
	for range 4 {
		<-done
	}
}

// TestStarChains: files that take everything from each other end.
func TestStarChains(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range 30 {
		var b strings.Builder
		for j := range 30 {
			fmt.Fprintf(&b, "from m%d import *\n", j)
		}
		fmt.Fprintf(&b, "def own%d(): pass\nnowhere()\n", i)
		tree[fmt.Sprintf("m%d.py", i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	start := time.Now()
	indexOf(t, tree, "")
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := perceive.NewIndex(ctx, graphTree(t, "go"), perceive.IndexOptions{}); err == nil {
		t.Error("no error")
	}
}
