package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// indexed is the index of a folder, and what it needs to go on.
type indexed struct {
	*perceive.Index
	tree  fs.FS
	close func()
}

// index reads a folder. types asks go/types about Go as well.
func (a *app) index(ctx context.Context, dir string, types bool) (*indexed, error) {
	perceive.Collect()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, usage("open the tree: %w", err)
	}
	x := &indexed{tree: root.FS(), close: func() { root.Close() }}
	x.Index, err = perceive.NewIndex(ctx, root.FS(), perceive.IndexOptions{Cache: a.indexFolder(dir)})
	if err == nil && types {
		err = x.Types(ctx)
	}
	if err != nil {
		x.close()
		return nil, ourSide(err)
	}
	if err := x.Save(); err != nil { // the answer is right without it
		fmt.Fprintf(a.err, "redraft: %s\n", a.clean.Terminal(err.Error()))
	}
	return x, nil
}

// indexFolder is where a folder's index and the compiled grammars are kept, "" where there is no place for state.
func (a *app) indexFolder(dir string) string {
	state, err := a.stateDir()
	if err != nil {
		return ""
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	grammars := filepath.Join(state, "grammars")
	if os.MkdirAll(grammars, 0o700) == nil {
		syntax.CacheIn(grammars)
	}
	sum := sha256.Sum256([]byte(full))
	return filepath.Join(state, "indexes", hex.EncodeToString(sum[:8]))
}

// symbolsNamed are the definitions that a name means, and an error where there are none: then that was said.
func (a *app) symbolsNamed(x *indexed, name string) ([]perceive.Definition, error) {
	found := x.Find(name)
	if len(found.Exact) > 0 {
		return found.Exact, nil
	}
	for _, d := range found.Prefix[:min(5, len(found.Prefix))] {
		found.Near = append(found.Near, d.Name)
	}
	return nil, a.absent(name, found.Near)
}

// absent says that the tree has no such name, and which come near.
func (a *app) absent(name string, near []string) error {
	if a.json {
		a.printJSON(map[string]any{"absent": name, "near": append([]string{}, near...)})
		return stopped()
	}
	text := fmt.Sprintf("ABSENT: no symbol is called %s.\n", name)
	if len(near) > 0 {
		text += fmt.Sprintf("Near: %s\n", strings.Join(near, ", "))
	}
	fmt.Fprint(a.out, a.clean.Terminal(text))
	return stopped()
}

// place is a definition as a person finds it.
func place(d perceive.Definition) string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// cut shortens a text to what fits on a line after some columns.
func cut(text string, after int) string {
	room := max(20, 80-after)
	letters := []rune(text)
	if len(letters) <= room {
		return text
	}
	return string(letters[:room-1]) + "…"
}
