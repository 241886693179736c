package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// A layer is what setup commands left in the tree besides the root's own files. It is laid under a tree after that was
// hashed, and never over one of its files, so that what is proved is the root and the diff.

const maxMade = 2000 // topmost paths of a layer

// cachesKept are the parts of a setup's home that later runs are shown, read-only.
var cachesKept = []string{"go", ".cargo", ".local"}

// strip leaves of the setup's folders what is not the root's, and hashes it.
func (o *Oracle) strip(b *prepared) error {
	tree, err := os.OpenRoot(b.tree())
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	defer tree.Close()
	if err := stripFolder(o.Root, tree, ".", &b.setup.Made); err != nil {
		return fmt.Errorf("look at what was set up: %w", err)
	}
	if len(b.setup.Made) > maxMade {
		return &Unprepared{Why: fmt.Sprintf("the commands left files in %d places of the tree, %d are allowed", len(b.setup.Made), maxMade)}
	}
	slices.Sort(b.setup.Made)
	home, err := os.OpenRoot(b.home())
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	defer home.Close()
	if err := keepCaches(home); err != nil {
		return fmt.Errorf("look at what was set up: %w", err)
	}
	sum := sha256.New()
	for _, r := range []*os.Root{tree, home} {
		n, err := hashFolder(r, sum)
		if err != nil {
			return fmt.Errorf("hash what was set up: %w", err)
		}
		b.size += n
	}
	b.setup.Layer = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// stripFolder removes from a folder of the tree what the root has there too, as a file of any kind, and lists the rest.
func stripFolder(root fs.FS, tree *os.Root, dir string, made *[]string) error {
	entries, err := readDir(tree, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		fi, err := fs.Lstat(root, name)
		switch {
		case !utf8.ValidString(name) || e.Name() == ".git":
			err = tree.RemoveAll(name)
		case errors.Is(err, fs.ErrNotExist) && usual(e.Type()):
			*made, err = append(*made, name), nil
		case errors.Is(err, fs.ErrNotExist):
			err = tree.RemoveAll(name)
		case err != nil:
		case fi.IsDir() && e.IsDir():
			err = stripFolder(root, tree, name, made)
		default:
			err = tree.RemoveAll(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// usual says whether a file is a folder, a regular file or a link.
func usual(m fs.FileMode) bool { return m.IsDir() || m.IsRegular() || m&fs.ModeSymlink != 0 }

func readDir(r *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func keepCaches(home *os.Root) error {
	entries, err := readDir(home, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !slices.Contains(cachesKept, e.Name()) {
			if err := home.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// hashFolder writes a line for everything below a folder and adds up its bytes. What is neither file, folder nor link is
// removed: no copy could hold it.
func hashFolder(r *os.Root, sum hash.Hash) (size int64, err error) {
	fmt.Fprintf(sum, "folder\n")
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := readDir(r, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if !usual(e.Type()) {
				if err := r.Remove(name); err != nil {
					return err
				}
				continue
			}
			n, err := hashEntry(r, name, e, sum)
			if err != nil {
				return err
			}
			if size += n; e.IsDir() {
				if err := walk(name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err = walk(".")
	return size, err
}

func hashEntry(r *os.Root, name string, e fs.DirEntry, sum hash.Hash) (int64, error) {
	switch {
	case e.IsDir():
		fmt.Fprintf(sum, "d %q\n", name)
		return 4096, nil
	case e.Type()&fs.ModeSymlink != 0:
		to, err := r.Readlink(name)
		fmt.Fprintf(sum, "l %q %q\n", name, to)
		return int64(len(to)), err
	}
	f, err := r.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	content := sha256.New()
	n, err := io.Copy(content, f)
	fmt.Fprintf(sum, "f %q %t %x\n", name, fi.Mode()&0o111 != 0, content.Sum(nil))
	return n, err
}

// lay lays the layer under a tree, once, before anything runs in it.
func (o *Oracle) lay(ctx context.Context, dir string) error {
	if o.base == nil {
		return nil
	}
	once, _ := o.laid.LoadOrStore(dir, sync.OnceValue(func() error { return o.layAll(ctx, dir) }))
	return once.(func() error)()
}

func (o *Oracle) layAll(ctx context.Context, dir string) error {
	from, err := os.OpenRoot(o.base.tree())
	if err != nil {
		return fmt.Errorf("lay what was set up: %w", err)
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("lay what was set up: %w", err)
	}
	defer to.Close()
	for _, name := range o.base.setup.Made {
		if err := o.layOne(ctx, from, to, name); err != nil {
			return fmt.Errorf("lay what was set up: %s: %w", name, err)
		}
	}
	return nil
}

func (o *Oracle) layOne(ctx context.Context, from, to *os.Root, name string) error {
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err // the tree's own
	}
	fi, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if err := to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch {
	case fi.IsDir():
		return o.Setup.Copy(ctx, filepath.Join(from.Name(), filepath.FromSlash(name)), filepath.Join(to.Name(), filepath.FromSlash(name)))
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, name)
	}
	return copyFile(from, to, name, fi.Mode()&0o111)
}

func copyFile(from, to *os.Root, name string, exec fs.FileMode) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|exec)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// over adds to a command what its tree was set up with, and returns where the command sees the tree, "" for where it lies. A
// tree is shown where it was set up, since much of what package managers write holds that path. Not where Go is used: it
// needs no such thing, and would take the results of one copy's tests for another's.
func (o *Oracle) over(c *sandbox.Command, dir string) (at string) {
	if o.base == nil {
		return ""
	}
	home := o.base.home()
	c.Read = append(slices.Clone(c.Read), home)
	env := newEnviron(c.Env)
	if o.Box.Places() && o.Needs.Go == "" {
		at = o.base.tree()
		c.Places = map[string]string{dir: at}
		for _, k := range env.keys {
			env.set(k, strings.ReplaceAll(env.get(k), dir, at))
		}
		env.set("GIT_CEILING_DIRECTORIES", filepath.Dir(at))
		c.Argv = slices.Clone(c.Argv)
		for i, a := range c.Argv {
			c.Argv[i] = strings.ReplaceAll(a, dir, at)
		}
	}
	if modules := filepath.Join(home, "go", "pkg", "mod"); isDir(modules) {
		env.set("GOMODCACHE", modules)
	}
	if cargo := filepath.Join(home, ".cargo"); isDir(filepath.Join(cargo, "registry")) {
		env.set("CARGO_HOME", cargo)
		env.set("CARGO_NET_OFFLINE", "true")
	}
	if user := filepath.Join(home, ".local"); isDir(user) {
		env.set("PYTHONUSERBASE", user)
		env.set("PATH", filepath.Join(user, "bin")+string(filepath.ListSeparator)+env.get("PATH"))
	}
	c.Env = env.list()
	return at
}
