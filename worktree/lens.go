package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// lens is a git directory of ours that looks at somebody else's checkout: its files, index and objects, and none of
// its configuration but a few plain values. What the repository has configured to run is not merely switched off,
// git never reads it.
type lens struct {
	git    *Git
	place  place
	dir    string
	index  string // the index in use: a copy, or the checkout's own
	values [][2]string
}

// core settings that say how the disk and git's index are to be compared; none of them names a program.
const coreValues = `^core\.(filemode|ignorecase|symlinks|trustctime|checkstat|autocrlf|eol|precomposeunicode|sparsecheckout)$`

var valueForm = regexp.MustCompile(`^[A-Za-z0-9]{0,16}$`)

func newLens(ctx context.Context, git *Git, p place, head, dir string) (*lens, error) {
	l := &lens{git: git, place: p, dir: dir, index: filepath.Join(dir, "index")}
	for _, d := range []string{"refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	text := map[string]string{"HEAD": head + "\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"}
	for name, s := range text {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			return nil, err
		}
	}
	if err := l.attributes(); err != nil {
		return nil, err
	}
	return l, l.readValues(ctx)
}

// attributes gives the lens the checkout's own attributes. A filter that they name is one that the lens does not have.
func (l *lens) attributes() error {
	text, err := readSmall(filepath.Join(l.place.common, "info", "attributes"), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, "info", "attributes"), text, 0o600)
}

// readValues takes over the plain values, and the list of ignored files.
func (l *lens) readValues(ctx context.Context) error {
	out, err := l.git.run(ctx, call{dir: l.place.gitDir, args: []string{"config", "--null", "--get-regexp", coreValues}})
	if err != nil && exitCode(err) != 1 {
		return err
	}
	for line := range bytes.SplitSeq(out, []byte{0}) {
		key, value, hasValue := strings.Cut(string(line), "\n")
		if !hasValue {
			value = "true"
		}
		if key != "" && valueForm.MatchString(value) {
			l.values = append(l.values, [2]string{key, value})
		}
	}
	exclude := filepath.Join(l.place.common, "info", "exclude")
	if info, err := os.Stat(exclude); err == nil && info.Mode().IsRegular() {
		l.values = append(l.values, [2]string{"core.excludesFile", exclude})
	}
	return nil
}

// value is a plain value of the repository, in small letters, "" when it has none.
func (l *lens) value(key string) string {
	v := ""
	for _, kv := range l.values {
		if kv[0] == key {
			v = strings.ToLower(kv[1])
		}
	}
	return v
}

// copyIndex copies the checkout's index. Its time is kept: git trusts a file that is older than the index, and a
// younger copy would hide a change of the same second. https://git-scm.com/docs/racy-git
func (l *lens) copyIndex() error {
	names, err := filepath.Glob(filepath.Join(globQuote(l.place.gitDir), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, name := range append(names, filepath.Join(l.place.gitDir, "index")) {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		b, err := readSmall(name, 1<<30)
		if err != nil {
			return err
		}
		dst := filepath.Join(l.dir, filepath.Base(name))
		if err := os.WriteFile(dst, b, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(dst, info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// run runs git through the lens.
func (l *lens) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	out, err := l.git.run(ctx, call{
		dir: l.dir, work: l.place.top, args: args, config: l.values, stdin: stdin,
		env: []string{"GIT_INDEX_FILE=" + l.index, "GIT_OBJECT_DIRECTORY=" + filepath.Join(l.place.common, "objects")},
	})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", l.place.top, err)
	}
	return out, nil
}
