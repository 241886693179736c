package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// smallFiles is how many files a small tree has at most.
const smallFiles = 400

// small lays out a language's small tree and answers with its folder and size.
func (b *bench) small(ctx context.Context, language string) (t tree, err error) {
	t = tree{dir: filepath.Join(b.work, language+"-small"), language: language}
	if err := os.RemoveAll(t.dir); err != nil {
		return t, err
	}
	for _, p := range parcels[language] {
		err := b.each(ctx, language, p, func(name string, data []byte) error {
			if t.files == smallFiles {
				return nil
			}
			return t.add(name, data)
		})
		if err != nil {
			return t, err
		}
	}
	if language == "go" {
		err = t.write("go.mod", []byte("module "+parcels[language][0].name+"\n\ngo 1.22\n"))
	}
	return t, err
}

// tree is one tree on the disk.
type tree struct {
	dir, language string
	files         int
	bytes         int64
}

func (t *tree) add(name string, data []byte) error {
	t.files++
	t.bytes += int64(len(data))
	return t.write(name, data)
}

func (t *tree) write(name string, data []byte) error {
	file := filepath.Join(t.dir, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644))
}

// large copies a small tree until there are enough files. Every copy is a package of its own name, and no two files are alike.
func (b *bench) large(small tree, files int) (t tree, err error) {
	t = tree{dir: filepath.Join(b.work, small.language+"-large"), language: small.language}
	if err := os.RemoveAll(t.dir); err != nil {
		return t, err
	}
	for n := 0; t.files < files; n++ {
		err := fs.WalkDir(os.DirFS(small.dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != endings[t.language] || t.files == files {
				return err
			}
			data, err := os.ReadFile(filepath.Join(small.dir, name))
			if err != nil {
				return err
			}
			return t.add(t.copied(name, data, n))
		})
		if err != nil {
			return t, err
		}
	}
	if t.language == "go" {
		err = t.write("go.mod", []byte("module example.com/large\n\ngo 1.22\n"))
	}
	return t, err
}

// copied is a file as the nth copy has it.
func (t *tree) copied(name string, data []byte, n int) (string, []byte) {
	switch t.language {
	case "go":
		was, is := `"`+parcels["go"][0].name, fmt.Sprintf(`"example.com/large/copy%03d`, n)
		return fmt.Sprintf("copy%03d/%s", n, name), append(fmt.Appendf(nil, "// Copy %d.\n\n", n), bytes.ReplaceAll(data, []byte(was), []byte(is))...)
	case "python":
		was, is := parcels["python"][0].name, fmt.Sprintf("copy%03d", n)
		return is + strings.TrimPrefix(name, was), append(fmt.Appendf(nil, "# Copy %d.\n", n), bytes.ReplaceAll(data, []byte(was), []byte(is))...)
	}
	return fmt.Sprintf("copy%03d/%s", n, name), append(fmt.Appendf(nil, "// Copy %d.\n", n), data...)
}
