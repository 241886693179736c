package patch_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/redraft-dev/redraft/agent/patch"
)

// onDisk writes a tree into a temporary folder.
func onDisk(t testing.TB, files fstest.MapFS) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if f.Mode&fs.ModeSymlink != 0 {
			if err := os.Symlink(string(f.Data), at); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, f.Mode.Perm()); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func someChange() (fstest.MapFS, patch.Change) {
	root := tree("a.txt", "a\n", "d/run.sh", "#!/bin/sh\n", "d/gone.txt", "x\n", "keep.txt", "k\n")
	root["d/run.sh"].Mode = 0o755
	return root, patch.Change{Files: []patch.FileChange{
		{Path: "a.txt", Old: []byte("a\n"), New: []byte("b\n"), Mode: 0o644},
		{Path: "d/gone.txt", Old: []byte("x\n"), Deleted: true, Mode: 0o644},
		{Path: "d/run.sh", Old: []byte("#!/bin/sh\n"), New: []byte("#!/bin/bash\n"), Mode: 0o755},
		{Path: "n/e/w.txt", New: []byte("n\n"), Created: true, Mode: 0o644},
	}}
}

func TestWrite(t *testing.T) {
	files, change := someChange()
	root, dir := onDisk(t, files)
	if err := change.Write(root); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.txt": "b\n", "d/run.sh": "#!/bin/bash\n", "n/e/w.txt": "n\n", "keep.txt": "k\n"} {
		if got, err := root.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	if _, err := root.Lstat("d/gone.txt"); err == nil {
		t.Error("d/gone.txt is still there")
	}
	for name, want := range map[string]fs.FileMode{"a.txt": 0o644, "d/run.sh": 0o755, "n/e/w.txt": 0o644} {
		if info, err := root.Lstat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	nothingLeft(t, dir)
	overlay, err := patch.TreeID(change.Overlay(files), nil)
	if err != nil {
		t.Fatal(err)
	}
	if disk, err := patch.TreeID(os.DirFS(dir), nil); err != nil || disk != overlay {
		t.Errorf("the tree on disk is %s (%v), the overlay %s", disk, err, overlay)
	}
}

// nothingLeft holds that no temporary file stays behind.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(name), ".redraft-") {
			t.Errorf("%s was left behind", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	file := func(f patch.FileChange) patch.FileChange { f.Mode = 0o644; return f }
	for _, tt := range []struct {
		name  string
		wrong patch.FileChange
	}{
		{"other text", file(patch.FileChange{Path: "keep.txt", Old: []byte("other\n"), New: []byte("x\n")})},
		{"not there", file(patch.FileChange{Path: "zz.txt", Old: []byte("z\n"), New: []byte("x\n")})},
		{"there already", file(patch.FileChange{Path: "keep.txt", New: []byte("x\n"), Created: true})},
		{"a link", file(patch.FileChange{Path: "link", Old: []byte("k\n"), New: []byte("x\n")})},
		{"through a link", file(patch.FileChange{Path: "dirlink/run.sh", Old: []byte("#!/bin/sh\n"), New: []byte("x\n")})},
		{"new through a link", file(patch.FileChange{Path: "dirlink/n.txt", New: []byte("x\n"), Created: true})},
		{"out of the tree", file(patch.FileChange{Path: "../x", New: []byte("x\n"), Created: true})},
		{".git", file(patch.FileChange{Path: ".git/config", New: []byte("x\n"), Created: true})},
		{"a folder", file(patch.FileChange{Path: "d", Old: []byte("x\n"), New: []byte("x\n")})},
		{"a file as a folder", file(patch.FileChange{Path: "keep.txt/x", New: []byte("x\n"), Created: true})},
		{"deleted, other text", file(patch.FileChange{Path: "keep.txt", Old: []byte("other\n"), Deleted: true})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, change := someChange()
			files["link"] = &fstest.MapFile{Data: []byte("keep.txt"), Mode: fs.ModeSymlink}
			files["dirlink"] = &fstest.MapFile{Data: []byte("d"), Mode: fs.ModeSymlink}
			root, dir := onDisk(t, files)
			before, _ := patch.TreeID(os.DirFS(dir), nil)
			change.Files = append(change.Files, tt.wrong)
			if err := change.Write(root); err == nil {
				t.Error("written")
			}
			if after, _ := patch.TreeID(os.DirFS(dir), nil); after != before {
				t.Error("something was written before the refusal")
			}
		})
	}
}

func TestWritePutsBack(t *testing.T) {
	files, change := someChange()
	root, dir := onDisk(t, files)
	before, _ := patch.TreeID(os.DirFS(dir), nil)
	// The parent of the new file is written by an earlier one of the same change, so that it passes the look ahead.
	change.Files = append(change.Files, patch.FileChange{Path: "n/e/w.txt/x", New: []byte("x\n"), Created: true, Mode: 0o644})
	if err := change.Write(root); err == nil {
		t.Fatal("written")
	}
	if after, _ := patch.TreeID(os.DirFS(dir), nil); after != before {
		t.Error("what was written was not put back")
	}
	nothingLeft(t, dir)
}

func TestWriteBreaksHardLinks(t *testing.T) {
	root, dir := onDisk(t, tree("a.txt", "a\n"))
	if err := os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "other.txt")); err != nil {
		t.Fatal(err)
	}
	change := patch.Change{Files: []patch.FileChange{{Path: "a.txt", Old: []byte("a\n"), New: []byte("b\n"), Mode: 0o644}}}
	if err := change.Write(root); err != nil {
		t.Fatal(err)
	}
	if got, _ := root.ReadFile("other.txt"); string(got) != "a\n" {
		t.Error("a hard link's other name was written through")
	}
}

func TestOverlay(t *testing.T) {
	files, change := someChange()
	files["link"] = &fstest.MapFile{Data: []byte("keep.txt"), Mode: fs.ModeSymlink | 0o777}
	over := change.Overlay(files)
	if err := fstest.TestFS(over, "a.txt", "d/run.sh", "n/e/w.txt", "keep.txt", "link"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(over, "d/gone.txt"); err == nil {
		t.Error("d/gone.txt is still there")
	}
	if target, err := fs.ReadLink(over, "link"); err != nil || target != "keep.txt" {
		t.Errorf("link: %q %v", target, err)
	}
	if got, err := fs.ReadFile(over, "a.txt"); err != nil || string(got) != "b\n" {
		t.Errorf("a.txt: %q %v", got, err)
	}
	if string(files["a.txt"].Data) != "a\n" || len(files) != 5 {
		t.Error("the root was written")
	}
}

// gitTree is what go-git makes of a tree.
func gitTree(t *testing.T, files fstest.MapFS, links map[string]string) string {
	t.Helper()
	store := memory.NewStorage()
	put := func(o object.Object) plumbing.Hash {
		enc := store.NewEncodedObject()
		if err := o.Encode(enc); err != nil {
			t.Fatal(err)
		}
		return enc.Hash()
	}
	var build func(dir string) *object.Tree
	build = func(dir string) *object.Tree {
		out := &object.Tree{}
		seen := map[string]bool{}
		add := func(name string, leaf func() object.TreeEntry) {
			rest, ok := strings.CutPrefix(name, dir)
			if !ok {
				return
			}
			head, _, deeper := strings.Cut(rest, "/")
			if !deeper {
				out.Entries = append(out.Entries, leaf())
			} else if !seen[head] {
				seen[head] = true
				out.Entries = append(out.Entries, object.TreeEntry{Name: head, Mode: filemode.Dir, Hash: put(build(dir + head + "/"))})
			}
		}
		for name, f := range files {
			add(name, func() object.TreeEntry {
				mode := filemode.Regular
				if f.Mode&0o100 != 0 {
					mode = filemode.Executable
				}
				if f.Mode&fs.ModeSymlink != 0 {
					mode = filemode.Symlink
				}
				return object.TreeEntry{Name: filepath.Base(name), Mode: mode, Hash: plumbing.ComputeHash(plumbing.BlobObject, f.Data)}
			})
		}
		for name, commit := range links {
			add(name, func() object.TreeEntry {
				return object.TreeEntry{Name: filepath.Base(name), Mode: filemode.Submodule, Hash: plumbing.NewHash(commit)}
			})
		}
		sort.Sort(object.TreeEntrySorter(out.Entries))
		return out
	}
	return put(build("")).String()
}

func TestTreeID(t *testing.T) {
	odd := tree("a.txt", "a\n", "a/b.txt", "b\n", "a-b", "-\n", "a.b/c", "c\n", "a0", "0\n", "a b/é.txt", "\xff\xfe", "empty", "", "z/y/x/w", "w\n")
	odd["run"] = &fstest.MapFile{Data: []byte("#!\n"), Mode: 0o755}
	odd["group"] = &fstest.MapFile{Data: []byte("#!\n"), Mode: 0o655}
	odd["link"] = &fstest.MapFile{Data: []byte("a/b.txt"), Mode: fs.ModeSymlink | 0o777}
	odd["a/broken"] = &fstest.MapFile{Data: []byte("/nowhere"), Mode: fs.ModeSymlink | 0o777}
	want := gitTree(t, odd, nil)
	check := func(name string, fsys fs.FS, links map[string]string, want string) {
		t.Helper()
		if got, err := patch.TreeID(fsys, links); err != nil || got != want {
			t.Errorf("%s: got %s %v, want %s", name, got, err, want)
		}
	}
	check("in memory", odd, nil, want)
	_, dir := onDisk(t, odd)
	check("on disk", os.DirFS(dir), nil, want)

	for _, d := range []string{"nothing", "a/nothing/deep", ".git/objects", "z/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("with empty folders and .git", os.DirFS(dir), nil, want)

	links := map[string]string{"mods/one": strings.Repeat("1", 40), "a/two": strings.Repeat("2", 40)}
	with := gitTree(t, odd, links)
	check("submodules that are not there", os.DirFS(dir), links, with)
	if err := os.MkdirAll(filepath.Join(dir, "mods", "one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mods", "one", "x"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("submodules that are there", os.DirFS(dir), links, with)
	check("nothing", fstest.MapFS{}, nil, "4b825dc642cb6eb9a060e54bf8d69288fbee4904") // git's empty tree
}

func TestTreeIDOfOneFile(t *testing.T) {
	// By hand: the blob and tree that `git hash-object` and `git mktree` give for a file a of "hello\n".
	blob := sha1.Sum([]byte("blob 6\x00hello\n"))
	want := sha1.Sum(append([]byte("tree 29\x00100644 a\x00"), blob[:]...))
	if got, err := patch.TreeID(tree("a", "hello\n"), nil); err != nil || got != hex.EncodeToString(want[:]) || hex.EncodeToString(blob[:]) != "ce013625030ba8dba906f756967f9e9ca394464a" {
		t.Errorf("got %s %v", got, err)
	}
}

func TestTreeIDErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		fsys  fs.FS
		links map[string]string
		says  string
	}{
		"a pipe":       {fstest.MapFS{"p": {Mode: fs.ModeNamedPipe}}, nil, "neither a file"},
		"bad commit":   {fstest.MapFS{}, map[string]string{"m": "HEAD"}, "no commit"},
		"cannot read":  {brokenFS{}, nil, "input/output"},
		"short commit": {fstest.MapFS{}, map[string]string{"m": "1234"}, "no commit"},
	} {
		if id, err := patch.TreeID(tt.fsys, tt.links); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %q %v, want …%s…", name, id, err, tt.says)
		}
	}
}

// TestDirFSTakesAnyName: git tracks names that are no UTF-8, and so does a tree's id.
func TestDirFSTakesAnyName(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d\xff"), 0o755); err != nil {
		t.Skipf("REFUSED: this file system takes UTF-8 names alone: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d\xff", "caf\xe9.txt"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	blob := sha1.Sum([]byte("blob 6\x00hello\n"))
	inner := sha1.Sum(append([]byte("tree 36\x00100644 caf\xe9.txt\x00"), blob[:]...))
	want := sha1.Sum(append([]byte("tree 29\x0040000 d\xff\x00"), inner[:]...))
	if got, err := patch.TreeID(patch.DirFS(root), nil); err != nil || got != hex.EncodeToString(want[:]) {
		t.Errorf("got %s, %v; want %x", got, err, want)
	}
	for _, name := range []string{"../x", "/etc/passwd", "", "d\xff/../x"} {
		if _, err := fs.ReadFile(patch.DirFS(root), name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: got %v, want it refused", name, err)
		}
	}
}

func BenchmarkTreeID(b *testing.B) {
	files := fstest.MapFS{}
	for i := range 20000 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", i%20, i%200, i)] = &fstest.MapFile{Data: bytes.Repeat([]byte("x"), 4000), Mode: 0o644}
	}
	_, dir := onDisk(b, files)
	for b.Loop() {
		if _, err := patch.TreeID(os.DirFS(dir), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}
