package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// File is one file that a commit changes.
type File struct {
	Path    string // forward slashes; need not be UTF-8
	Data    []byte // as it is: no filter or line ending is applied
	Mode    uint32 // 0100644 or 0100755; the parent's, or 0100644 for a new file, if zero
	Deleted bool
}

// Person is a name and an address in a commit.
type Person struct{ Name, Email string }

// Message is what a commit says and who says it when. The same files, parent and message make the same commit.
type Message struct {
	Text      string // ends in a newline, added if missing
	Author    Person
	Committer Person    // Author if zero
	When      time.Time // whole seconds count
	Parents   []string  // of the commit, in order; the commit that the files change if empty
}

var (
	// ErrPath is returned for a path that no commit may hold: .git by any of its names, absolute, or out of the tree.
	ErrPath = errors.New("not a path for a commit")
	// ErrNoChange is returned for files that are in the parent already.
	ErrNoChange = errors.New("nothing differs from the parent")
)

const (
	modeFile       = 0o100644
	modeExecutable = 0o100755
)

// Commit writes a commit on parent that changes the given files and nothing else, and returns its name and its
// tree's, as Tree.TreeID is. It is made in the mirror alone, on no branch. Files only take the place of files: never of a link, a
// submodule or a folder.
func (m *Mirror) Commit(ctx context.Context, parent string, files []File, msg Message) (sha, tree string, err error) {
	sha, tree, err = m.commit(ctx, parent, files, msg)
	if err != nil {
		return "", "", fmt.Errorf("commit on %.8s: %w", parent, err)
	}
	return sha, tree, nil
}

func (m *Mirror) commit(ctx context.Context, parent string, files []File, msg Message) (sha, tree string, err error) {
	if err := msg.check(); err != nil {
		return "", "", err
	}
	base, err := m.treeFS(parent)
	if err != nil {
		return "", "", err
	}
	lock, err := m.lock(ctx, shared)
	if err != nil {
		return "", "", err
	}
	defer lock.Close()
	c, err := m.store.claim(ctx, m.store.tmp(), owner{SHA: parent, Repo: m.name})
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, c.release()) }()
	run := func(stdin []byte, args ...string) (string, error) {
		out, err := m.store.git.run(ctx, call{
			dir: m.git, args: args, stdin: stdin, hold: []*os.File{lock},
			env:    append([]string{"GIT_INDEX_FILE=" + filepath.Join(c.dir, "index")}, msg.environ()...),
			config: [][2]string{{"i18n.commitEncoding", "UTF-8"}},
		})
		return strings.TrimSpace(string(out)), err
	}
	written, err := writeTree(base, parent, files, run)
	if err != nil {
		return "", "", err
	}
	args := []string{"commit-tree"}
	for _, p := range msg.parents(parent) {
		args = append(args, "-p", p)
	}
	if sha, err = run([]byte(msg.Text), append(args, "-F", "-", written)...); err != nil {
		return "", "", err
	}
	tree, err = m.treeName(sha)
	return sha, tree, err
}

// treeName is what Tree.TreeID would be for a commit.
func (m *Mirror) treeName(sha string) (string, error) {
	tree, err := m.treeFS(sha)
	if err != nil {
		return "", err
	}
	d, err := tree.describe(false)
	return d.name.String(), err
}

// writeTree writes the changed tree through an index of its own.
func writeTree(base *treeFS, parent string, files []File, run func([]byte, ...string) (string, error)) (string, error) {
	var index bytes.Buffer
	set := map[string]File{}
	for _, f := range files {
		if _, twice := set[f.Path]; twice {
			return "", fmt.Errorf("%q is given twice: %w", f.Path, ErrPath)
		}
		set[f.Path] = f
	}
	for _, deleted := range []bool{true, false} { // a folder may take the place of a file that goes
		for _, f := range files {
			if f.Deleted != deleted {
				continue
			}
			line, err := indexLine(base, f, set, run)
			if err != nil {
				return "", fmt.Errorf("%q: %w", f.Path, err)
			}
			index.WriteString(line)
		}
	}
	if _, err := run(nil, "read-tree", "--end-of-options", parent); err != nil {
		return "", err
	}
	if _, err := run(index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := run(nil, "write-tree")
	if err == nil && tree == base.root.hash.String() {
		err = ErrNoChange
	}
	return tree, err
}

// indexLine writes a file's blob and says where it goes. https://git-scm.com/docs/git-update-index#_using_index_info
func indexLine(base *treeFS, f File, set map[string]File, run func([]byte, ...string) (string, error)) (string, error) {
	if err := checkPath(f.Path); err != nil {
		return "", err
	}
	mode, err := f.mode(base, set)
	if err != nil {
		return "", err
	}
	if f.Deleted {
		return fmt.Sprintf("0 %040d\t%s\x00", 0, f.Path), nil
	}
	data := f.Data
	if data == nil {
		data = []byte{}
	}
	sha, err := run(data, "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%o %s\t%s\x00", mode, sha, f.Path), nil
}

// mode looks at what the parent has at the path and above it, where nothing may stand that is not deleted with it.
func (f File) mode(base *treeFS, set map[string]File) (uint32, error) {
	n, err := base.find("commit", f.Path, false)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Deleted:
		return 0, fs.ErrNotExist
	case errors.Is(err, fs.ErrNotExist):
		n.mode = filemode.Regular
	case err != nil:
		return 0, err
	case n.mode == filemode.Dir, n.mode == filemode.Symlink, n.mode == filemode.Submodule:
		return 0, fmt.Errorf("is no file in the parent, its mode is %s: %w", n.mode, ErrPath)
	}
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		above, given := set[dir]
		d, err := base.find("commit", dir, false)
		if given && !above.Deleted || !given && err == nil && d.mode != filemode.Dir {
			return 0, fmt.Errorf("%q above it is no folder: %w", dir, ErrPath)
		}
	}
	switch f.Mode {
	case 0:
		return uint32(n.mode), nil
	case modeFile, modeExecutable:
		return f.Mode, nil
	}
	return 0, fmt.Errorf("mode %o: only %o and %o are written", f.Mode, modeFile, modeExecutable)
}

// checkPath refuses what git would take for its own folder on any disk, and all that leaves the tree.
func checkPath(name string) error {
	if !validName(name) || name == "." || len(name) > 4096 || strings.ContainsRune(name, 0) {
		return ErrPath
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if isDotGit(part) {
			return fmt.Errorf("%q is a name of .git: %w", part, ErrPath)
		}
	}
	return nil
}

var shortDotGit = regexp.MustCompile(`^git~[0-9]+$`)

// isDotGit knows .git under the names that HFS+ and NTFS have for it: characters that are not there, small or
// capital, dots and spaces at the end, streams, and the short name.
// https://github.com/git/git/blob/master/path.c (is_ntfs_dotgit), utf8.c (is_hfs_dotgit)
func isDotGit(part string) bool {
	part = strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		case r == 0x200b, r == 0x2060:
			return -1
		}
		return r
	}, part))
	part, _, _ = strings.Cut(part, ":")
	part = strings.TrimRight(part, ". ")
	return part == ".git" || shortDotGit.MatchString(part)
}

func (msg Message) check() error {
	if strings.TrimSpace(msg.Text) == "" || strings.ContainsRune(msg.Text, 0) {
		return errors.New("a commit needs a message, without NUL")
	}
	for _, p := range []Person{msg.Author, msg.committer()} {
		if p.Name == "" || p.Email == "" || strings.ContainsAny(p.Name+p.Email, "<>\n\r\x00") {
			return fmt.Errorf("%.60q <%.60q> is no identity for a commit", p.Name, p.Email)
		}
	}
	for _, p := range msg.Parents {
		if err := checkSHA(p); err != nil {
			return err
		}
	}
	return nil
}

// parents are the commit's: those the message names, or the commit that the files change.
func (msg Message) parents(changed string) []string {
	if len(msg.Parents) == 0 {
		return []string{changed}
	}
	return msg.Parents
}

func (msg Message) committer() Person {
	if msg.Committer == (Person{}) {
		return msg.Author
	}
	return msg.Committer
}

func (msg Message) environ() []string {
	c := msg.committer()
	when := fmt.Sprintf("@%d %s", msg.When.Unix(), msg.When.Format("-0700"))
	return []string{
		"GIT_AUTHOR_NAME=" + msg.Author.Name, "GIT_AUTHOR_EMAIL=" + msg.Author.Email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + c.Name, "GIT_COMMITTER_EMAIL=" + c.Email, "GIT_COMMITTER_DATE=" + when,
	}
}
