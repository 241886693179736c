package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/worktree"
)

// Refused says why a case cannot be had on this machine. It is not a result of any arm.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "REFUSED: " + r.Reason }

// Prepare makes a case into a repository: a new folder below parent (os.TempDir if empty) with one commit on branch
// main in which the case's check is red. Every file is writable and the module cache holds what the tests need, so
// that the check runs without a network. fix is the released repair: the good version's text of each of the case's
// files. The error is a *Refused where the module proxy does not give the case. The folder is the caller's to remove.
func Prepare(ctx context.Context, c Case, parent string) (dir string, fix map[string][]byte, err error) {
	good, err := download(ctx, c.Module, c.Good)
	if err != nil {
		return "", nil, err
	}
	bad, err := download(ctx, c.Module, c.Bad)
	if err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp(parent, "case-*")
	if err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, err)
	}
	if fix, err = build(ctx, c, good, bad, dir); err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, orRemove(err, dir))
	}
	return dir, fix, nil
}

func orRemove(err error, dir string) error {
	if rm := os.RemoveAll(dir); rm != nil {
		return fmt.Errorf("%w (and %w)", err, rm)
	}
	return err
}

func build(ctx context.Context, c Case, good, bad, dir string) (map[string][]byte, error) {
	if err := copyTree(dir, good); err != nil {
		return nil, err
	}
	fix, err := overlay(c, good, bad, dir)
	if err != nil {
		return nil, err
	}
	if out, err := goCommand(ctx, dir, "mod", "download").CombinedOutput(); err != nil {
		return nil, &Refused{fmt.Sprintf("dependencies of %s %s: %s", c.Module, c.Good, lastLine(out, err))}
	}
	return fix, worktree.Init(ctx, dir, nil, c.Module+" as its check is red")
}

// overlay lays the bad version's files over the good tree and returns what it covered.
func overlay(c Case, good, bad, dir string) (map[string][]byte, error) {
	fix := map[string][]byte{}
	for _, f := range c.Files {
		name, added := strings.CutPrefix(f, "+")
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("file %q leaves the tree", name)
		}
		text, err := os.ReadFile(filepath.Join(good, name))
		if err != nil {
			return nil, err
		}
		fix[name] = text
		if added {
			err = os.Remove(filepath.Join(dir, name))
		} else if text, err = os.ReadFile(filepath.Join(bad, name)); err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	return fix, nil
}

// copyTree copies regular files, writable; the module cache's own are not.
func copyTree(dst, src string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

// download asks the go command for one version of a module and returns where it lies, read-only.
func download(ctx context.Context, module, version string) (string, error) {
	empty, err := os.MkdirTemp("", "download-*") // no go.mod here may have a say
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(empty)
	cmd := goCommand(ctx, empty, "mod", "download", "-json", module+"@"+version)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()
	var said struct{ Dir, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil && failed == nil {
		return "", fmt.Errorf("go mod download -json %s@%s: %w", module, version, err)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if said.Error != "" {
		return "", &Refused{said.Error}
	}
	if failed != nil {
		return "", &Refused{fmt.Sprintf("go mod download %s@%s: %s", module, version, lastLine(stderr.Bytes(), failed))}
	}
	return said.Dir, nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	return cmd
}

// lastLine is the last line that a command wrote, or its error where it wrote none.
func lastLine(out []byte, err error) string {
	text := strings.TrimSpace(string(out))
	if text == "" {
		return err.Error()
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
