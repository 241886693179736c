package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotRepository is returned for a folder that is in no git repository, or in a bare one where a checkout is
// needed.
var ErrNotRepository = errors.New("not a git repository")

// place is where a repository lies on this disk. Its paths are absolute and hold no symbolic link.
type place struct {
	top    string // of the checkout; "" in a bare repository
	gitDir string // of this checkout
	common string // shared by all checkouts of the repository
}

// locate finds the repository that dir lies in without starting git: what git would find by itself, a folder deep in
// a checkout that only looks like a bare repository, is passed by.
func locate(dir string) (place, error) {
	real, err := realDir(dir)
	if err != nil {
		return place{}, err
	}
	for d := real; ; d = filepath.Dir(d) {
		gitDir, err := dotGit(d)
		if err != nil {
			return place{}, err
		}
		if gitDir != "" {
			return withCommon(place{top: d, gitDir: gitDir})
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if isGitDir(real, real) {
		return withCommon(place{gitDir: real})
	}
	return place{}, fmt.Errorf("%s: %w", dir, ErrNotRepository)
}

func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s: not a folder", dir)
	}
	return real, nil
}

// dotGit is the git directory that dir's own .git is or names, "" if it has none.
func dotGit(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", nil
	}
	if info.Mode().IsRegular() {
		if path, err = readPointer(path, "gitdir: "); err != nil {
			return "", err
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s: .git names a missing folder: %w", dir, ErrNotRepository)
	}
	p, err := withCommon(place{gitDir: real})
	if err != nil || !isGitDir(p.gitDir, p.common) {
		if info.IsDir() {
			return "", nil // an empty .git folder is passed by, as git does
		}
		return "", fmt.Errorf("%s: .git names %s, which is no git directory: %w", dir, real, ErrNotRepository)
	}
	return real, nil
}

func withCommon(p place) (place, error) {
	p.common = p.gitDir
	path := filepath.Join(p.gitDir, "commondir")
	if _, err := os.Lstat(path); err != nil {
		return p, nil
	}
	common, err := readPointer(path, "")
	if err != nil {
		return place{}, err
	}
	if p.common, err = filepath.EvalSymlinks(common); err != nil {
		return place{}, fmt.Errorf("%s names a missing folder: %w", path, ErrNotRepository)
	}
	return p, nil
}

// readPointer reads the path that a one-line file names, relative to the file's own folder.
func readPointer(file, prefix string) (string, error) {
	b, err := readSmall(file, 8<<10)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%s: names no folder: %w", file, ErrNotRepository)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return filepath.Clean(name), nil
}

// readSmall reads a regular file of at most max bytes.
func readSmall(file string, max int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > max {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", file, max)
	}
	return os.ReadFile(file)
}

func isGitDir(gitDir, common string) bool {
	if _, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil {
		return false
	}
	for _, d := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, d)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
