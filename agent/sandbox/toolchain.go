package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// BaseSpec is what a toolchain base is made of.
type BaseSpec struct {
	Go    string        // absolute path of the go command; looked up in PATH of Env if empty
	Env   []string      // what the check's runs get, KEY=value; GOCACHE, GOPATH and HOME are set here
	Read  []string      // absolute paths the toolchain needs, as in GOROOT
	Key   string        // all that decides what the compiler writes: version, go env, flags
	Flags []string      // build flags of the check that recompile the standard library, as in -race; none if nil
	State string        // absolute folder kept between jobs
	Wall  time.Duration // of the whole making; 10 minutes if zero
}

// BuildBase gives a Go build cache that holds the usual part of the standard library, compiled and vetted in the jail
// with no repository file present. It is made once per key, however many processes ask at a time, and read-only from
// then on; made says whether this call did it. Give commands a copy (CopyBase), never the base: what is copied from it
// is believed by every later job.
func BuildBase(ctx context.Context, box *Sandbox, spec BaseSpec) (dir string, made bool, err error) {
	home, cache := spec.home(), filepath.Join(spec.home(), "gocache")
	if HasBase(spec) {
		return cache, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return "", false, fmt.Errorf("make the toolchain base: %w", err)
	}
	unlock, err := lock(ctx, home+".lock")
	if err != nil {
		return "", false, fmt.Errorf("wait for the toolchain base: %w", err)
	}
	defer unlock()
	if HasBase(spec) {
		return cache, false, nil
	}
	if err := buildBase(ctx, box, spec, home); err != nil {
		return "", false, fmt.Errorf("make the toolchain base: %w", err)
	}
	return cache, true, nil
}

// HasBase says whether the base is there already, so that BuildBase will take no time.
func HasBase(spec BaseSpec) bool {
	fi, err := os.Stat(filepath.Join(spec.home(), "gocache"))
	return err == nil && fi.IsDir()
}

// home is the folder of the base.
func (s BaseSpec) home() string {
	return filepath.Join(s.State, "bases", fmt.Sprintf("%x", sha256.Sum256([]byte(s.Key))))
}

// buildBase compiles beside the final place and moves there at the end, so that a base is whole or absent.
func buildBase(ctx context.Context, box *Sandbox, spec BaseSpec, home string) error {
	if stale, err := filepath.Glob(home + ".new-*"); err == nil { // of makers that were killed: we hold their lock
		for _, dir := range stale {
			_ = removeAll(dir)
		}
	}
	work, err := os.MkdirTemp(filepath.Dir(home), filepath.Base(home)+".new-")
	if err != nil {
		return err
	}
	defer removeAll(work)
	if spec.Wall <= 0 {
		spec.Wall = 10 * time.Minute
	}
	ctx, stop := context.WithTimeoutCause(ctx, spec.Wall, fmt.Errorf("it took longer than %s", spec.Wall))
	defer stop()
	b := baseMaker{box: box, spec: spec, work: work}
	if err := b.compile(ctx); err != nil {
		return err
	}
	for _, leftover := range []string{"module", "home"} {
		if err := removeAll(filepath.Join(work, leftover)); err != nil {
			return err
		}
	}
	if err := seal(filepath.Join(work, "gocache")); err != nil {
		return err
	}
	return os.Rename(work, home)
}

// baseMaker makes one base in a folder of its own.
type baseMaker struct {
	box  *Sandbox
	spec BaseSpec
	work string
}

// compile builds a module that imports the usual packages the three ways checks do: vet, test, and test with
// coverage, each of which leaves other entries in the cache.
func (b baseMaker) compile(ctx context.Context) error {
	for _, dir := range []string{"module", "home", "gocache"} {
		if err := os.Mkdir(filepath.Join(b.work, dir), 0o755); err != nil {
			return err
		}
	}
	if err := b.write("go.mod", "module base\n\ngo 1.21\n"); err != nil {
		return err
	}
	std, err := b.golang(ctx, "list", "std")
	if err != nil {
		return err
	}
	if err := b.write("base.go", "package base\n\nfunc yes() bool { return true }\n"); err != nil {
		return err
	}
	if err := b.write("base_test.go", baseTest(strings.Fields(string(std)))); err != nil {
		return err
	}
	for _, args := range [][]string{{"vet"}, {"test", "-run=^$"}, {"test", "-run=^$", "-cover"}} {
		if _, err := b.golang(ctx, append(append(args, b.spec.Flags...), ".")...); err != nil {
			return err
		}
	}
	return nil
}

func (b baseMaker) write(name, text string) error {
	return os.WriteFile(filepath.Join(b.work, "module", name), []byte(text), 0o644)
}

// golang runs the go command in the module. Nothing is fetched and no other toolchain is switched to.
func (b baseMaker) golang(ctx context.Context, args ...string) ([]byte, error) {
	own := []string{
		"HOME=" + filepath.Join(b.work, "home"), "GOPATH=" + filepath.Join(b.work, "home", "go"),
		"GOCACHE=" + filepath.Join(b.work, "gocache"), "GOENV=off", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local",
	}
	res, err := b.box.Run(ctx, Command{
		Argv: append([]string{cmp.Or(b.spec.Go, "go")}, args...), Dir: filepath.Join(b.work, "module"), Env: overlay(b.spec.Env, own),
		Read: b.spec.Read, Write: []string{b.work}, Wall: b.spec.Wall,
	})
	if err != nil {
		return nil, err
	}
	if res.Exit != 0 {
		why := cmp.Or(res.Limit, res.Signal, "exit "+strconv.Itoa(res.Exit))
		return nil, fmt.Errorf("go %s: %s: %s", args[0], why, firstLine(slices.Concat(res.Stderr, res.Stdout)))
	}
	return res.Stdout, nil
}

// overlay is env with own entries put over it.
func overlay(env, own []string) []string {
	var out []string
	for _, kv := range env {
		key, value, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, key+"=") }) {
			continue
		}
		if key == "GOFLAGS" {
			kv = key + "=" + strings.Join(slices.DeleteFunc(strings.Fields(value), ofModule), " ")
		}
		out = append(out, kv)
	}
	return append(out, own...)
}

// ofModule says whether a build flag speaks of the repository's own module, which is not here.
func ofModule(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return slices.Contains([]string{"mod", "modfile", "overlay", "json", "run", "pgo"}, name)
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return strings.ToValidUTF8(string(line[:min(len(line), 500)]), "?")
}

// usual are the packages that tests of ordinary programs import. The whole library would take twice the room and
// time, and every job copies it.
const usual = `archive/tar archive/zip bufio bytes cmp compress/gzip compress/zlib container/heap container/list
container/ring context crypto/hmac crypto/md5 crypto/rand crypto/sha1 crypto/sha256 crypto/sha512 crypto/tls
database/sql embed encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex encoding/json encoding/pem
encoding/xml errors expvar flag fmt go/ast go/format go/parser go/token hash/adler32 hash/crc32 hash/fnv hash/maphash
html html/template io io/fs io/ioutil iter log log/slog maps math math/big math/bits math/cmplx math/rand math/rand/v2
mime mime/multipart net net/http net/http/httptest net/mail net/netip net/textproto net/url os os/exec os/signal
os/user path path/filepath reflect regexp runtime runtime/debug runtime/pprof slices sort strconv strings sync
sync/atomic syscall testing testing/fstest testing/iotest testing/quick testing/synctest text/scanner text/tabwriter
text/template time unicode unicode/utf16 unicode/utf8 unique`

// baseTest is a test file that imports the usual packages that this toolchain has.
func baseTest(std []string) string {
	var b strings.Builder
	b.WriteString("package base\n\nimport (\n")
	for _, p := range strings.Fields(usual) {
		if slices.Contains(std, p) {
			fmt.Fprintf(&b, "\t_ %q\n", p)
		}
	}
	b.WriteString(")\n\nvar _ = yes\n")
	return b.String()
}

// seal takes the write modes off everything below dir.
func seal(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Chmod(path, 0o555)
		case e.Type().IsRegular():
			fi, err := e.Info()
			if err != nil {
				return err
			}
			return os.Chmod(path, 0o444|fi.Mode()&0o111)
		}
		return os.Remove(path)
	})
}

// lock takes a file lock that other processes and other calls of this one respect.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// CopyBase copies a build cache into the new folder to, several files at a time, writable and with fresh times: the
// go command throws away entries that look unused for days. Nothing is linked, so that a job cannot reach the base.
func CopyBase(ctx context.Context, from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("copy the toolchain base: %w", err)
	}
	var files []string
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		switch {
		case err != nil || rel == ".":
			return err
		case e.IsDir():
			return os.Mkdir(filepath.Join(to, rel), 0o755)
		case e.Type().IsRegular() && rel != "trim.txt":
			files = append(files, rel)
		}
		return nil
	})
	if err == nil {
		err = copyFiles(ctx, from, to, files)
	}
	if err == nil {
		now := strconv.FormatInt(time.Now().Unix(), 10)
		err = os.WriteFile(filepath.Join(to, "trim.txt"), []byte(now), 0o644)
	}
	if err != nil {
		return fmt.Errorf("copy the toolchain base: %w", err)
	}
	return nil
}

func copyFiles(ctx context.Context, from, to string, files []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for part := range slices.Chunk(files, 64) {
		g.Go(func() error {
			for _, name := range part {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// copyFile copies one file; file systems that can share its blocks do.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|fi.Mode()&0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
