package benchmarks

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"
)

// Commit makes dir a repository with one commit of every file in it, on branch main. The trees are written as objects,
// not added: a file that the project's own .gitignore names is part of a case all the same. The commit's date is
// fixed, so that a case's root has the same id on every machine.
func Commit(dir, message string) error {
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	})
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	tree, err := writeTree(repo.Storer, dir)
	if err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	by := object.Signature{Name: "redraft benchmarks", Email: "benchmarks@localhost", When: time.Unix(1700000000, 0).UTC()}
	id, err := store(repo.Storer, &object.Commit{Author: by, Committer: by, Message: message + "\n", TreeHash: tree})
	if err != nil {
		return fmt.Errorf("write commit: %w", err)
	}
	ref := plumbing.NewHashReference(plumbing.NewBranchReferenceName("main"), id)
	if err := repo.Storer.SetReference(ref); err != nil {
		return fmt.Errorf("set main: %w", err)
	}
	w, err := repo.Worktree()
	if err != nil {
		return err
	}
	return w.Reset(&git.ResetOptions{Commit: id, Mode: git.MixedReset}) // writes the index
}

// writeTree writes a folder's files and folders as objects and returns the tree's id.
func writeTree(s storage.Storer, dir string) (plumbing.Hash, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var tree object.Tree
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		path, mode, write := filepath.Join(dir, e.Name()), filemode.Regular, writeBlob
		if e.IsDir() {
			mode, write = filemode.Dir, writeTree
		}
		id, err := write(s, path)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: e.Name(), Mode: mode, Hash: id})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return store(s, &tree)
}

// store encodes a tree or a commit.
func store(s storage.Storer, o object.Object) (plumbing.Hash, error) {
	enc := s.NewEncodedObject()
	if err := o.Encode(enc); err != nil {
		return plumbing.ZeroHash, err
	}
	return s.SetEncodedObject(enc)
}

func writeBlob(s storage.Storer, path string) (plumbing.Hash, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	o := s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write(text); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	return s.SetEncodedObject(o)
}
