package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// name20 is an object's name.
type name20 [sha1.Size]byte

func (n name20) String() string { return fmt.Sprintf("%x", n[:]) }

func nameOf(kind string, data []byte) name20 {
	return sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...))
}

// nameAll names all files and links of a list, several at a time.
func nameAll(root *os.Root, files []listed) error {
	var group errgroup.Group
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for chunk := range slices.Chunk(files, 256) {
		group.Go(func() error {
			for i := range chunk {
				if err := chunk[i].nameIt(root); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (f *listed) nameIt(root *os.Root) error {
	if f.mode == modeModule {
		return nil
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", f.stat.Size)
	err := f.writeTo(root, h)
	h.Sum(f.name[:0])
	return err
}

// writeTo writes the bytes of a file, or where a link leads, and insists on the size that was listed.
func (f *listed) writeTo(root *os.Root, w io.Writer) error {
	if f.mode == modeLink {
		target, err := root.Readlink(f.path)
		if err == nil && int64(len(target)) != f.stat.Size {
			err = fmt.Errorf("%s changed while it was read", f.path)
		}
		if err == nil {
			_, err = io.WriteString(w, target)
		}
		return err
	}
	in, err := root.OpenFile(f.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(w, struct{ io.Reader }{in}, *buf)
	if err == nil && n != f.stat.Size {
		err = fmt.Errorf("%s changed while it was read", f.path)
	}
	return err
}

// deflaters are shared, since one takes more memory than most files.
var deflaters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed) // the level is a valid one
	return z
}}

// deflate compresses what fill writes.
func deflate(w io.Writer, fill func(io.Writer) error) error {
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(w)
	return errors.Join(fill(z), z.Close())
}

// looseObjects writes objects one by one, but for those that a pack holds.
// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
type looseObjects struct {
	dir  string
	have map[name20]bool
}

func (o *looseObjects) file(root *os.Root, f listed) error {
	if f.mode == modeModule {
		return nil
	}
	return o.write(f.name, "blob", f.stat.Size, func(w io.Writer) error { return f.writeTo(root, w) })
}

func (o *looseObjects) put(kind string, data []byte) (name20, error) {
	name := nameOf(kind, data)
	return name, o.write(name, kind, int64(len(data)), func(w io.Writer) error { _, err := w.Write(data); return err })
}

func (o *looseObjects) write(name name20, kind string, size int64, fill func(io.Writer) error) error {
	if o.have[name] {
		return nil
	}
	hex := name.String()
	if err := os.MkdirAll(filepath.Join(o.dir, hex[:2]), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(o.dir, hex[:2], hex[2:]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if errors.Is(err, os.ErrExist) { // the same file twice
		return nil
	}
	if err != nil {
		return err
	}
	err = deflate(out, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s %d\x00", kind, size); err != nil {
			return err
		}
		return fill(w)
	})
	return errors.Join(err, out.Close())
}

// pack is a folder with one pack and its index, and what they hold.
type pack struct {
	dir   string
	names map[name20]bool
}

// packFolder packs the files and folders of from into the new folder at.
func packFolder(ctx context.Context, from, at string, links map[string]string) (*pack, error) {
	files, err := listFiles(ctx, from, links)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := nameAll(root, files); err != nil {
		return nil, err
	}
	folders := map[name20][]byte{}
	if _, err := treeOf(files, func(kind string, data []byte) (name20, error) {
		name := nameOf(kind, data)
		folders[name] = data
		return name, nil
	}); err != nil {
		return nil, err
	}
	blobs := map[name20]*listed{}
	for i, f := range files {
		if f.mode != modeModule {
			blobs[f.name] = &files[i]
		}
	}
	if err := os.Mkdir(at, 0o700); err != nil {
		return nil, err
	}
	p := &pack{at, map[name20]bool{}}
	if err := p.write(ctx, root, blobs, folders); err != nil {
		return nil, errors.Join(err, removeAll(at))
	}
	return p, nil
}

// Object types of a pack. https://git-scm.com/docs/pack-format
const (
	packedTree = 2
	packedBlob = 3
)

const bigFile = 4 << 20 // bytes; a bigger one is not compressed in memory first

func (p *pack) write(ctx context.Context, root *os.Root, blobs map[name20]*listed, folders map[name20][]byte) error {
	out, err := os.OpenFile(filepath.Join(p.dir, "pack-files.pack"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	w := &packWriter{out: out, sum: sha1.New()}
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(blobs)+len(folders)))
	if err := w.append(head); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for name, f := range blobs {
		group.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return w.object(name, packedBlob, f.stat.Size, func(w io.Writer) error { return f.writeTo(root, w) })
		})
	}
	for name, data := range folders {
		group.Go(func() error {
			return w.object(name, packedTree, int64(len(data)), func(w io.Writer) error { _, err := w.Write(data); return err })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, e := range w.entries {
		p.names[e.name] = true
	}
	sum := w.sum.Sum(nil)
	if _, err := out.Write(sum); err != nil {
		return err
	}
	return errors.Join(out.Close(), os.WriteFile(filepath.Join(p.dir, "pack-files.idx"), packIndex(w.entries, sum), 0o600))
}

// packedAt is where an object lies in a pack.
type packedAt struct {
	name   name20
	crc    uint32
	offset int64
}

// packWriter appends objects in any order, for several goroutines.
type packWriter struct {
	mu      sync.Mutex
	out     io.Writer
	sum     hash.Hash
	offset  int64
	entries []packedAt
}

// append writes bytes that count for the sum. The caller holds the lock, or is alone.
func (w *packWriter) append(b []byte) error {
	n, err := w.out.Write(b)
	w.sum.Write(b[:n])
	w.offset += int64(n)
	return err
}

func (w *packWriter) object(name name20, kind byte, size int64, fill func(io.Writer) error) error {
	head := packHeader(kind, size)
	if size > bigFile {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.entry(name, head, func(to io.Writer) error { return deflate(to, fill) })
	}
	var body bytes.Buffer
	if err := deflate(&body, fill); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.entry(name, head, func(to io.Writer) error { _, err := to.Write(body.Bytes()); return err })
}

func (w *packWriter) entry(name name20, head []byte, body func(io.Writer) error) error {
	e := packedAt{name: name, offset: w.offset}
	crc := crc32.NewIEEE()
	to := writer(func(b []byte) (int, error) {
		crc.Write(b)
		return len(b), w.append(b)
	})
	if _, err := to.Write(head); err != nil {
		return err
	}
	err := body(to)
	e.crc = crc.Sum32()
	w.entries = append(w.entries, e)
	return err
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// packHeader is an object's type and size, seven bits a byte after the first four.
func packHeader(kind byte, size int64) []byte {
	b := kind<<4 | byte(size&15)
	var out []byte
	for size >>= 4; size > 0; size >>= 7 {
		out = append(out, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(out, b)
}

// packIndex is version 2 of a pack's index. https://git-scm.com/docs/pack-format#_version_2_pack_idx_files_support_packs_larger_than_4_gib_and
func packIndex(entries []packedAt, sum []byte) []byte {
	slices.SortFunc(entries, func(a, b packedAt) int { return bytes.Compare(a.name[:], b.name[:]) })
	b := []byte("\xfftOc\x00\x00\x00\x02")
	n := 0
	for first := range 256 {
		for n < len(entries) && int(entries[n].name[0]) <= first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, e := range entries {
		b = append(b, e.name[:]...)
	}
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, e.crc)
	}
	var far []byte // offsets that need more than 31 bits
	for _, e := range entries {
		if e.offset < 1<<31 {
			b = binary.BigEndian.AppendUint32(b, uint32(e.offset))
			continue
		}
		b = binary.BigEndian.AppendUint32(b, 1<<31|uint32(len(far)/8))
		far = binary.BigEndian.AppendUint64(far, uint64(e.offset))
	}
	b = append(append(b, far...), sum...)
	end := sha1.Sum(b)
	return append(b, end[:]...)
}

// indexOf is git's index of a sorted list, version 2. https://git-scm.com/docs/index-format
func indexOf(files []listed) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(files)))
	for _, f := range files {
		start := len(b)
		for _, v := range statWords(f) {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		b = append(b, f.name[:]...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(f.path), 0xfff)))
		b = append(b, f.path...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...) // one to eight, so that the path ends in one
	}
	end := sha1.Sum(b)
	return append(b, end[:]...)
}

// statWords are what the index keeps of a file besides its name; of a submodule, nothing but what it is.
func statWords(f listed) [10]uint32 {
	if f.mode == modeModule {
		return [10]uint32{6: f.mode}
	}
	changed, changedNano := f.stat.Ctim.Unix()
	modified, modifiedNano := f.stat.Mtim.Unix()
	return [10]uint32{uint32(changed), uint32(changedNano), uint32(modified), uint32(modifiedNano), uint32(f.stat.Dev), uint32(f.stat.Ino),
		f.mode, f.stat.Uid, f.stat.Gid, uint32(f.stat.Size)}
}
