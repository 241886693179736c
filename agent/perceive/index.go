package perceive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Index knows the symbols of a tree and who uses whom. It is made once and shared: its methods may be called from
// several goroutines, and Update brings it up to date with files that changed. What it says of a file is what the
// file said when it was last read.
type Index struct {
	mu      sync.RWMutex
	tree    fs.FS
	options IndexOptions
	words   *words
	kept    map[digest]*record      // of the cache and of all files, by content
	typings map[digest]*typing      // what go/types said of a file, by everything that decides it
	files   []*entry                // a number is never used twice
	byPath  map[string]int32        // files and folders by path
	folders map[string][]int32      // files of a folder
	packs   map[uint32][]int32      // Java's packages
	nodes   []node                  // a number is never used twice
	defs    map[uint32][]uint32     // symbols by name
	bases   map[uint32][]uint32     // what a type builds upon; noNode stands for what the tree does not hold
	impls   map[uint32][]int32      // Rust's files by the types that they define members of
	rules   manifests               // what go.mod, package.json and the like say
	read    map[string]int          // folders and files that were left out, by reason
	world   *goWorld                // packages that were typed in this process, nil if none
	units   map[string]*goUnit      // packages of Go by folder, nil until they are asked for
	moved   map[string]bool         // folders in which a file changed since
	past    []digest                // of typings that files had before
	spoken  []uint32                // by word: how many files mention it
	reverse atomic.Pointer[reverse] // who uses whom, nil after a change
	dirty   bool                    // there is something that the cache has not
}

// IndexOptions is what an index may use.
type IndexOptions struct {
	Cache   string // folder for this tree's outlines between runs; none are kept if empty
	Workers int    // files read at once; as many as there are cores if zero
	System  string // for which Go is typed, as in linux/amd64; this machine's if empty
}

// Collect is for a process whose work is one index. It has the garbage collector take its time while there is room, and keep
// below 340 MiB where that can be: 20,000 files fit into it. It does nothing where somebody set GOMEMLIMIT.
func Collect() {
	const room, seldom = 340 << 20, 400
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(room)
		debug.SetGCPercent(seldom)
	}
}

// entry is a file of the tree, or a folder that imports speak of.
type entry struct {
	path    string
	record  *record // nil for a folder, and for a file that is gone
	nodes   []uint32
	self    uint32 // the node that stands for the whole file
	edges   []edge
	blind   []blind
	outside []outside
	imports []int32     // files and folders of the tree that it imports, sorted
	beyond  int         // uses of what the tree does not hold
	bases   [][2]uint32 // a type and what it builds upon
	typing  *typing
	typed   string // why go/types did not read it; "" if it did, or where it is not Go
}

// node is a symbol, or a file as a whole.
type node struct {
	file   int32
	symbol uint32 // number in the file's record, plus one; 0 is the file
	gone   bool
}

// skipped are the folders that hold what others wrote or a build left.
var skipped = map[string]bool{
	".git": true, ".hg": true, ".svn": true, "node_modules": true, "vendor": true, "target": true, "dist": true, "build": true, "out": true,
	"__pycache__": true, ".venv": true, "venv": true, ".tox": true, ".nox": true, ".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true,
	".next": true, ".nuxt": true, ".svelte-kit": true, ".gradle": true, ".idea": true, ".vscode": true, ".cache": true, "bower_components": true,
	"site-packages": true, ".eggs": true, "coverage": true, "testdata": false,
}

// NewIndex reads a tree.
func NewIndex(ctx context.Context, tree fs.FS, o IndexOptions) (*Index, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	x := &Index{
		tree: tree, options: o, words: newWords(), kept: map[digest]*record{}, typings: map[digest]*typing{}, byPath: map[string]int32{},
		folders: map[string][]int32{}, packs: map[uint32][]int32{}, defs: map[uint32][]uint32{}, read: map[string]int{}, bases: map[uint32][]uint32{},
		impls: map[uint32][]int32{}, moved: map[string]bool{},
	}
	x.load()
	found, err := x.walk(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	records, err := x.readAll(ctx, found.sources)
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	x.rules = readManifests(tree, found.manifests)
	for i, name := range found.sources {
		if records[i] != nil {
			x.place(name, records[i])
		}
	}
	if len(x.typings) > 0 { // what the cache knows of types is bound at once
		x.recallUnits()
	}
	x.bindAll(x.sources())
	x.forget()
	return x, nil
}

// found is what a walk came upon.
type found struct{ sources, manifests []string }

func (x *Index) walk(ctx context.Context) (f found, err error) {
	err = fs.WalkDir(x.tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == ".":
			return err
		case err != nil:
			x.read["cannot be read"]++
			return skipDir(d)
		case d.IsDir() && name != "." && skipped[d.Name()]:
			x.read["folders of builds and of others' code"]++
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			x.read["no regular file"]++
			return nil
		case manifest(d.Name()):
			f.manifests = append(f.manifests, name)
			return nil
		}
		if _, ok := syntax.For(name); ok {
			f.sources = append(f.sources, name)
		}
		return nil
	})
	return f, err
}

func skipDir(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// readAll makes the records of files, nil where there is no file anymore.
func (x *Index) readAll(ctx context.Context, names []string) ([]*record, error) {
	records := make([]*record, len(names))
	var next atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex // of what is kept
	for range min(x.options.Workers, max(1, len(names))) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				records[i] = x.readOne(names[i], &mu)
			}
		})
	}
	all.Wait()
	return records, context.Cause(ctx)
}

// readOne reads a file and makes its record, or takes the one that is kept of the same content.
func (x *Index) readOne(name string, mu *sync.Mutex) *record {
	g, _ := syntax.For(name)
	src, err := readSource(x.tree, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &record{family: familyOf(g), refused: x.words.add(err.Error())}
	}
	hash := digestOf([]byte(g.Name), []byte{0}, src)
	mu.Lock()
	r := x.kept[hash]
	mu.Unlock()
	if r != nil {
		return r
	}
	r = recordOf(x.words, g, hash, src)
	mu.Lock()
	x.kept[hash], x.dirty = r, true
	mu.Unlock()
	return r
}

// readSource reads a file that is not too long to parse.
func readSource(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, plainError("open it", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plainError("look at it", err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() > syntax.MaxSource:
		return nil, tooLong(info.Size())
	}
	src := make([]byte, 0, info.Size()+1)
	for { // one byte more than there should be: a file may grow while it is read
		n, err := f.Read(src[len(src):cap(src)])
		src = src[:len(src)+n]
		switch {
		case len(src) > syntax.MaxSource:
			return nil, tooLong(int64(len(src)))
		case errors.Is(err, io.EOF):
			return src, nil
		case err != nil:
			return nil, plainError("read it", err)
		case len(src) == cap(src):
			src = slices.Grow(src, len(src)+512)
		}
	}
}

func tooLong(size int64) error {
	return fmt.Errorf("has %d bytes, more than the %d that are parsed", size, syntax.MaxSource)
}

// plainError leaves out the path, which the reader of it knows.
func plainError(doing string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Update reads files again that may have changed, appeared or gone, and binds anew what that touches.
func (x *Index) Update(ctx context.Context, names ...string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var sources []string
	for _, name := range names {
		if _, ok := syntax.For(name); ok && fs.ValidPath(name) && !inSkipped(name) {
			sources = append(sources, name)
		}
	}
	records, err := x.readAll(ctx, sources)
	if err != nil {
		return fmt.Errorf("read the tree: %w", err)
	}
	touched := newTouched()
	for i, name := range sources {
		x.change(name, records[i], touched)
	}
	if slices.ContainsFunc(names, func(n string) bool { return manifest(path.Base(n)) }) {
		found, err := x.walk(ctx)
		if err != nil {
			return fmt.Errorf("read the tree: %w", err)
		}
		x.rules, x.units = readManifests(x.tree, found.manifests), nil
		touched.all = true
	}
	x.bindAll(x.touchedBy(touched))
	x.reverse.Store(nil)
	return nil
}

func inSkipped(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(part string) bool { return skipped[part] })
}

// sources are all files there are.
func (x *Index) sources() []int32 {
	var out []int32
	for i, e := range x.files {
		if e.record != nil {
			out = append(out, int32(i))
		}
	}
	return out
}

// file is the number of a path, a new one if need be.
func (x *Index) file(name string) int32 {
	if i, ok := x.byPath[name]; ok {
		return i
	}
	i := int32(len(x.files))
	x.words.add(name) // what go/types says names files by their words
	x.files = append(x.files, &entry{path: name, self: x.newNode(node{file: i})})
	x.byPath[name] = i
	return i
}

func (x *Index) newNode(n node) uint32 {
	x.nodes = append(x.nodes, n)
	return uint32(len(x.nodes) - 1)
}

// place puts a record under a path. Symbols keep their nodes where the file had them before.
func (x *Index) place(name string, r *record) {
	i := x.file(name)
	e := x.files[i]
	if e.record == nil {
		dir := path.Dir(name)
		x.folders[dir] = append(x.folders[dir], i)
		x.file(dir) // imports may mean the folder
	}
	old := map[[3]uint32][]uint32{}
	for _, n := range e.nodes {
		s := e.record.symbols[x.nodes[n].symbol-1]
		key := [3]uint32{s.name, s.container, s.kind}
		old[key] = append(old[key], n)
	}
	x.let(e)
	x.speak(r, 1)
	x.repack(i, e.record, r)
	x.addImpls(i, r)
	e.record, e.nodes, e.typing = r, make([]uint32, len(r.symbols)), nil
	for j, s := range r.symbols {
		key := [3]uint32{s.name, s.container, s.kind}
		if had := old[key]; len(had) > 0 {
			e.nodes[j], old[key] = had[0], had[1:]
			x.nodes[had[0]].symbol = uint32(j + 1)
			continue
		}
		e.nodes[j] = x.newNode(node{file: i, symbol: uint32(j + 1)})
		x.defs[s.name] = append(x.defs[s.name], e.nodes[j])
	}
	for key, left := range old {
		for _, n := range left {
			x.drop(key[0], n)
		}
	}
}

// speak counts the words that a file mentions, n as often as before.
func (x *Index) speak(r *record, n int) {
	if more := len(x.words.list) - len(x.spoken); more > 0 {
		x.spoken = append(x.spoken, make([]uint32, more)...)
	}
	for _, w := range r.mentions {
		x.spoken[w] += uint32(n) // of -1, which is all ones, this takes one away
	}
}

// let lets go of what was known of a file.
func (x *Index) let(e *entry) {
	if e.record != nil {
		x.speak(e.record, -1)
	}
	if x.units != nil {
		x.moved[path.Dir(e.path)] = true
	}
	if e.typing != nil {
		x.past = append(x.past, e.typing.key)
	}
}

// repack moves a file between Java's packages.
func (x *Index) repack(i int32, before, after *record) {
	if before != nil && before.family == javaFamily {
		x.packs[before.pack] = slices.DeleteFunc(x.packs[before.pack], func(f int32) bool { return f == i })
	}
	if after != nil && after.family == javaFamily {
		x.packs[after.pack] = append(x.packs[after.pack], i)
	}
}

// addImpls notes of which types a file of Rust defines members; a note may be older than the file.
func (x *Index) addImpls(i int32, r *record) {
	if r.family != rustFamily {
		return
	}
	for _, s := range r.symbols {
		if s.container != 0 && !slices.Contains(x.impls[s.container], i) {
			x.impls[s.container] = append(x.impls[s.container], i)
		}
	}
}

// implFiles are files that may define members of a type.
func (x *Index) implFiles(name uint32) (out []int32) {
	for _, f := range x.impls[name] {
		if r := x.files[f].record; r != nil && r.family == rustFamily {
			out = append(out, f)
		}
	}
	return out
}

func (x *Index) drop(name, n uint32) {
	x.nodes[n].gone = true
	x.defs[name] = slices.DeleteFunc(x.defs[name], func(d uint32) bool { return d == n })
}

// remove takes a file out.
func (x *Index) remove(name string) {
	i, ok := x.byPath[name]
	if !ok || x.files[i].record == nil {
		return
	}
	e := x.files[i]
	for _, n := range e.nodes {
		x.drop(e.record.symbols[x.nodes[n].symbol-1].name, n)
	}
	x.let(e)
	x.repack(i, e.record, nil)
	dir := path.Dir(name)
	x.folders[dir] = slices.DeleteFunc(x.folders[dir], func(f int32) bool { return f == i })
	*e = entry{path: e.path, self: e.self}
}

// touched is what changed names and files have a say in.
type touched struct {
	files map[int32]bool
	names map[uint32]bool
	moved map[int32]bool // files whose own imports changed
	all   bool
}

func newTouched() *touched {
	return &touched{files: map[int32]bool{}, names: map[uint32]bool{}, moved: map[int32]bool{}}
}

// change puts a new record in an old one's place and notes what that touches. A nil record is a file that is gone.
func (x *Index) change(name string, r *record, t *touched) {
	var before *record
	if i, ok := x.byPath[name]; ok {
		before = x.files[i].record
	}
	if r == before {
		return
	}
	x.dirty = true
	if t.compare(before, r) {
		t.moved[x.byPath[name]] = true
	}
	if r == nil {
		x.remove(name)
		return
	}
	x.place(name, r)
	t.files[x.byPath[name]] = true
}

// compare notes the names that one of two records defines and the other does not. Where a file is new or gone, what
// it is imported by may change, and where a type builds upon another, any name may.
// moved says that its imports are others, which those that import it may see.
func (t *touched) compare(a, b *record) (moved bool) {
	if a == nil || b == nil || a.pack != b.pack || a.chosen != b.chosen {
		t.all = true
		return false
	}
	t.all = t.all || !slices.EqualFunc(a.supers, b.supers, func(p, q superRecord) bool { return p.name == q.name })
	count := map[[3]uint32]int{}
	for _, s := range a.symbols {
		count[[3]uint32{s.name, s.container, s.kind}]++
	}
	for _, s := range b.symbols {
		count[[3]uint32{s.name, s.container, s.kind}]--
	}
	for key, n := range count {
		if n != 0 {
			t.names[key[0]] = true
		}
	}
	imports := map[importRecord]int{}
	for _, m := range a.imports {
		imports[importRecord{from: m.from, name: m.name, as: m.as}]++
	}
	for _, m := range b.imports {
		imports[importRecord{from: m.from, name: m.name, as: m.as}]--
	}
	for m, n := range imports {
		if n != 0 {
			t.names[m.as], moved = true, true
		}
	}
	star := func(r *record) bool {
		return slices.ContainsFunc(r.imports, func(m importRecord) bool { return m.as == 0 })
	}
	t.all = t.all || len(t.names) > 0 && (star(a) || star(b))
	return moved
}

// touchedBy are the files that have to be bound anew.
func (x *Index) touchedBy(t *touched) []int32 {
	if t.all {
		return x.sources()
	}
	names := x.spokenElsewhere(t)
	if len(names)+len(t.moved) == 0 {
		return slices.Sorted(maps.Keys(t.files))
	}
	var out []int32
	for i, e := range x.files {
		if e.record != nil && (t.files[int32(i)] || e.record.mention(names) || e.imported(t.moved)) {
			out = append(out, int32(i))
		}
	}
	return out
}

// spokenElsewhere are the names that files mention besides those that changed: to look for them in every file takes as long as all else.
func (x *Index) spokenElsewhere(t *touched) (names []uint32) {
	for n := range t.names {
		files := uint32(0)
		if int(n) < len(x.spoken) {
			files = x.spoken[n]
		}
		for f := range t.files {
			if x.files[f].record.mention([]uint32{n}) {
				files--
			}
		}
		if files > 0 {
			names = append(names, n)
		}
	}
	return names
}

func (e *entry) imported(files map[int32]bool) bool {
	return len(files) > 0 && slices.ContainsFunc(e.imports, func(f int32) bool { return files[f] })
}

func (r *record) mention(names []uint32) bool {
	for _, n := range names {
		if _, ok := slices.BinarySearch(r.mentions, n); ok {
			return true
		}
	}
	return false
}

// forget drops what no file needs.
func (x *Index) forget() {
	live := make(map[digest]*record, len(x.files))
	for _, e := range x.files {
		if e.record != nil && e.record.hash != (digest{}) {
			live[e.record.hash] = e.record
		}
	}
	x.dirty = x.dirty || len(live) != len(x.kept)
	x.kept = live
}
