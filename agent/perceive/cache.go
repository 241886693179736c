package perceive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
)

// The cache is one file: a line that names its form, the checksum of what follows, the words, the records and what
// go/types said. All numbers are varints. A file that is anything else is nobody's cache, and everything is read anew.
const (
	cacheFile = "outlines"
	cacheForm = "redraft index 2\n"
	maxCache  = 1 << 30
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// load takes what the cache folder has. The index is new and has no words yet.
func (x *Index) load() {
	if x.options.Cache == "" {
		return
	}
	name := filepath.Join(x.options.Cache, cacheFile)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return
	}
	if c, ok := decodeCache(raw); ok {
		x.words, x.kept, x.typings = c.words, c.records, c.typings
	}
}

// Save writes what a later index of the same tree need not read again. It does nothing without a cache folder, or
// when nothing is new.
func (x *Index) Save() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.options.Cache == "" || !x.dirty {
		return nil
	}
	x.forget()
	if err := writeCache(x.options.Cache, x.encode()); err != nil {
		return fmt.Errorf("keep the index: %w", err)
	}
	x.dirty = false
	return nil
}

func writeCache(dir string, raw []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, cacheFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing where it was renamed
	_, err = f.Write(raw)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, cacheFile))
}

// kept is what a cache holds.
type keptCache struct {
	words   *words
	records map[digest]*record
	typings map[digest]*typing
}

// packer writes numbers.
type packer struct {
	b     []byte
	words map[uint32]uint32 // the index's number to the cache's
	list  []uint32
}

func (p *packer) num(n uint32) { p.b = binary.AppendUvarint(p.b, uint64(n)) }
func (p *packer) raw(d digest) { p.b = append(p.b, d[:]...) }
func (p *packer) nums(n ...uint32) {
	for _, v := range n {
		p.num(v)
	}
}

func (p *packer) long(n uint64) { p.b = binary.LittleEndian.AppendUint64(p.b, n) }

// word writes a word's number in the cache, which has only the words that are in use.
func (p *packer) word(n uint32) {
	m, ok := p.words[n]
	if !ok {
		m = uint32(len(p.list))
		p.words[n] = m
		p.list = append(p.list, n)
	}
	p.num(m)
}

func (p *packer) flag(b bool) {
	n := uint32(0)
	if b {
		n = 1
	}
	p.num(n)
}

func (x *Index) encode() []byte {
	p := &packer{words: map[uint32]uint32{0: 0}, list: []uint32{0}}
	order := func(a, b digest) int { return bytes.Compare(a[:], b[:]) }
	hashes := keysOf(x.kept)
	slices.SortFunc(hashes, order)
	p.num(uint32(len(hashes)))
	for _, h := range hashes {
		p.record(x.kept[h])
	}
	keys := keysOf(x.typings)
	slices.SortFunc(keys, order)
	p.num(uint32(len(keys)))
	for _, k := range keys {
		p.raw(k)
		p.typing(x.typings[k])
	}
	head := binary.AppendUvarint(nil, uint64(len(p.list)))
	for _, n := range p.list {
		s := x.words.text(n)
		head = append(binary.AppendUvarint(head, uint64(len(s))), s...)
	}
	sum := crc32.Update(crc32.Checksum(head, checksums), checksums, p.b)
	return slices.Concat([]byte(cacheForm), binary.LittleEndian.AppendUint32(nil, sum), head, p.b)
}

func keysOf[V any](m map[digest]V) []digest {
	out := make([]digest, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func (p *packer) record(r *record) {
	p.raw(r.hash)
	p.num(uint32(r.family))
	p.flag(r.generated)
	p.num(r.lines)
	p.word(r.pack)
	p.word(r.chosen)
	p.word(r.constraint)
	p.word(r.refused)
	p.num(uint32(len(r.symbols)))
	for _, s := range r.symbols {
		for _, w := range []uint32{s.name, s.container, s.signature, s.kind} {
			p.word(w)
		}
		p.nums(s.start, s.end, s.bodyStart, s.first, s.last, s.head, s.line)
		p.flag(s.exported)
		p.flag(s.stub)
		p.long(s.shape)
	}
	p.num(uint32(len(r.uses)))
	start, line := uint32(0), uint32(0)
	for _, u := range r.uses {
		p.word(u.name)
		p.word(u.before)
		p.word(u.typ)
		flags := uint32(0)
		if u.called {
			flags |= 1
		}
		if u.local {
			flags |= 2
		}
		p.nums(u.in, u.start-start, u.line-line, flags)
		start, line = u.start, u.line
	}
	p.num(uint32(len(r.imports)))
	for _, m := range r.imports {
		p.word(m.from)
		p.word(m.name)
		p.word(m.as)
		p.word(m.in)
		p.num(m.line)
		p.flag(m.exported)
	}
	p.num(uint32(len(r.supers)))
	for _, s := range r.supers {
		p.num(s.of)
		p.word(s.name)
		p.num(s.line)
	}
	p.num(uint32(len(r.mentions)))
	for _, n := range r.mentions {
		p.word(n)
	}
}

// unpacker reads numbers of a text that may be anything.
type unpacker struct {
	b     []byte
	words uint32
	bad   bool
}

func (u *unpacker) num() uint32 {
	n, size := binary.Uvarint(u.b)
	if size <= 0 || n > 1<<32-1 {
		u.bad, u.b = true, nil
		return 0
	}
	u.b = u.b[size:]
	return uint32(n)
}

func (u *unpacker) long() uint64 {
	if len(u.b) < 8 {
		u.bad, u.b = true, nil
		return 0
	}
	n := binary.LittleEndian.Uint64(u.b)
	u.b = u.b[8:]
	return n
}

func (u *unpacker) flag() bool { return u.num() == 1 }

func (u *unpacker) word() uint32 {
	n := u.num()
	if n >= u.words {
		u.bad = true
		return 0
	}
	return n
}

// count is how many things follow; each takes a byte at least, so there are not more than bytes.
func (u *unpacker) count() int {
	n := u.num()
	if u.bad || int(n) > len(u.b) {
		u.bad = true
		return 0
	}
	return int(n)
}

func (u *unpacker) raw() (d digest) {
	if len(u.b) < len(d) {
		u.bad, u.b = true, nil
		return d
	}
	u.b = u.b[copy(d[:], u.b):]
	return d
}

// decodeCache reads a cache; ok is false where it is none.
func decodeCache(raw []byte) (c keptCache, ok bool) {
	body, ok := bytes.CutPrefix(raw, []byte(cacheForm))
	if !ok || len(body) < 4 || binary.LittleEndian.Uint32(body) != crc32.Checksum(body[4:], checksums) {
		return c, false
	}
	u := &unpacker{b: body[4:]}
	if c.words, ok = u.allWords(); !ok {
		return c, false
	}
	c.records, c.typings = map[digest]*record{}, map[digest]*typing{}
	for range u.count() {
		r := u.record()
		if u.bad || !r.sound() {
			return c, false
		}
		c.records[r.hash] = r
	}
	for range u.count() {
		key := u.raw()
		c.typings[key] = u.typing(key)
	}
	return c, !u.bad && len(u.b) == 0
}

// allWords reads the table of words. They are kept in one text.
func (u *unpacker) allWords() (*words, bool) {
	n := u.count()
	if u.bad || n == 0 {
		return nil, false
	}
	all, at := string(u.b), len(u.b)
	w := &words{ids: make(map[string]uint32, n), list: make([]string, 0, n)}
	for range n {
		size := u.count()
		if u.bad {
			return nil, false
		}
		from := at - len(u.b)
		s := all[from : from+size]
		u.b = u.b[size:]
		if _, twice := w.ids[s]; twice {
			return nil, false
		}
		w.ids[s] = uint32(len(w.list))
		w.list = append(w.list, s)
	}
	u.words = uint32(n)
	return w, w.list[0] == ""
}

func (u *unpacker) record() *record {
	r := &record{hash: u.raw(), family: family(min(u.num(), uint32(families))), generated: u.flag(), lines: u.num()}
	r.pack, r.chosen, r.constraint, r.refused = u.word(), u.word(), u.word(), u.word()
	r.symbols = make([]symbolRecord, u.count())
	for i := range r.symbols {
		r.symbols[i] = symbolRecord{
			name: u.word(), container: u.word(), signature: u.word(), kind: u.word(), start: u.num(), end: u.num(), bodyStart: u.num(),
			first: u.num(), last: u.num(), head: u.num(), line: u.num(), exported: u.flag(), stub: u.flag(), shape: u.long(),
		}
	}
	r.uses = make([]useRecord, u.count())
	start, line := uint32(0), uint32(0)
	for i := range r.uses {
		use := useRecord{name: u.word(), before: u.word(), typ: u.word(), in: u.num()}
		start, line = start+u.num(), line+u.num()
		flags := u.num()
		use.start, use.line, use.called, use.local = start, line, flags&1 != 0, flags&2 != 0
		r.uses[i] = use
	}
	r.imports = make([]importRecord, u.count())
	for i := range r.imports {
		r.imports[i] = importRecord{from: u.word(), name: u.word(), as: u.word(), in: u.word(), line: u.num(), exported: u.flag()}
	}
	r.supers = make([]superRecord, u.count())
	for i := range r.supers {
		r.supers[i] = superRecord{of: u.num(), name: u.word(), line: u.num()}
	}
	r.mentions = make([]uint32, u.count())
	for i := range r.mentions {
		r.mentions[i] = u.word()
	}
	slices.Sort(r.mentions)
	r.order()
	return r
}

// sound says whether the numbers in a record are of its own symbols.
func (r *record) sound() bool {
	n := uint32(len(r.symbols))
	for _, u := range r.uses {
		if u.in > n {
			return false
		}
	}
	for _, s := range r.supers {
		if s.of > n {
			return false
		}
	}
	return r.family < families
}
