package benchmarks

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/worktree"
)

// PythonCase is one red check of a Python package: the good version's sources with some files of the bad one laid over
// them. The package itself is never installed: its tests import it from the tree.
type PythonCase struct {
	Package string   `json:"package"`
	Bad     string   `json:"bad"`
	Good    string   `json:"good"`
	Files   []string `json:"files"`          // with slashes, relative to the sources' root
	Check   string   `json:"pytest"`         // the command
	Deps    []string `json:"deps"`           // what it needs, each as "name==version"
	Red     []string `json:"red"`            // ids of the failing tests, as pytest writes them
	Known   []string `json:"known_failures"` // tests that fail with the repair too
	Passing int      `json:"passing"`        // tests passing in the good version
	Lines   int      `json:"changed_lines"`  // of the released repair
	Python  string   `json:"python"`         // version of the interpreter, as in "3.11"
}

// String is the case for people, "tomlkit 0.13.1".
func (c PythonCase) String() string { return c.Package + " " + c.Bad }

// PyPackages reads tasks/pypackages.json of a folder of public inputs.
func PyPackages(data string) ([]PythonCase, error) {
	raw, err := os.ReadFile(filepath.Join(data, "tasks", "pypackages.json"))
	if err != nil {
		return nil, err
	}
	var cases []PythonCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		return nil, fmt.Errorf("read pypackages.json: %w", err)
	}
	for _, c := range cases {
		if c.Package == "" || c.Check == "" || c.Python == "" || len(c.Files) == 0 || len(c.Red) == 0 {
			return nil, fmt.Errorf("read pypackages.json: %s is incomplete", c)
		}
	}
	return cases, nil
}

// Reproduced says whether findings are this case's red, exactly: its tests and those that fail with the repair too. The
// answer is empty when they are, else what differs, in words.
func (c PythonCase) Reproduced(findings []string) (differs string) {
	want := slices.Concat(c.Red, c.Known)
	missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return slices.Contains(findings, id) })
	extra := slices.DeleteFunc(slices.Clone(findings), func(id string) bool { return slices.Contains(want, id) })
	switch {
	case len(missing) > 0:
		return "not seen red: " + abridge(missing)
	case len(extra) > 0:
		return "red beyond the list: " + abridge(extra)
	}
	return ""
}

// Interpreter gives the bin folder of a virtual environment with what the case needs, below a folder. One that is there
// already is taken as it is; cases that need the same share it. The error is a *Refused where this machine has no such
// interpreter or the package registry does not give what is needed.
func (c PythonCase) Interpreter(ctx context.Context, into string) (bin string, err error) {
	sum := sha256.Sum256([]byte(c.Python + "\n" + strings.Join(slices.Sorted(slices.Values(c.Deps)), "\n")))
	venv := filepath.Join(into, hex.EncodeToString(sum[:6]))
	bin, ready := filepath.Join(venv, "bin"), filepath.Join(venv, "ready")
	if _, err := os.Stat(ready); err == nil {
		return bin, nil
	}
	if err := errors.Join(os.MkdirAll(into, 0o755), os.RemoveAll(venv)); err != nil { // half of one has no use
		return "", err
	}
	if err := run(ctx, into, "python"+c.Python, "-m", "venv", venv); err != nil {
		return "", fmt.Errorf("make an environment for %s: %w", c, err)
	}
	python := filepath.Join(bin, "python")
	if err := run(ctx, into, python, append([]string{"-m", "pip", "install", "-q", "--only-binary=:all:"}, c.Deps...)...); err != nil {
		return "", fmt.Errorf("install what %s needs: %w", c, err)
	}
	return bin, os.WriteFile(ready, nil, 0o644)
}

// Prepare makes the case into a repository, as the function Prepare does for Go: a new folder below parent with one commit in which
// the case's check is red with the interpreter in bin. The error is a *Refused where the package registry does not give the case. The
// folder is the caller's to remove.
func (c PythonCase) Prepare(ctx context.Context, bin, parent string) (dir string, fix map[string][]byte, err error) {
	sources, err := os.MkdirTemp("", "sdist-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(sources)
	good, err := c.sources(ctx, bin, sources, c.Good)
	if err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, err)
	}
	bad, err := c.sources(ctx, bin, sources, c.Bad)
	if err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, err)
	}
	if dir, err = os.MkdirTemp(parent, "case-*"); err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, err)
	}
	if err = copyTree(dir, good); err == nil {
		fix, err = overlay(Case{Files: c.Files}, good, bad, dir)
	}
	if err == nil {
		err = worktree.Init(ctx, dir, nil, c.Package+" as its check is red")
	}
	if err != nil {
		return "", nil, fmt.Errorf("prepare %s: %w", c, orRemove(err, dir))
	}
	return dir, fix, nil
}

// sources asks pip for the sources of one version and unpacks them below a folder.
func (c PythonCase) sources(ctx context.Context, bin, into, version string) (string, error) {
	dir := filepath.Join(into, version)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	// https://pip.pypa.io/en/stable/cli/pip_download/
	if err := run(ctx, dir, filepath.Join(bin, "python"), "-m", "pip", "download", "-q", "--no-deps", "--no-binary="+c.Package, c.Package+"=="+version); err != nil {
		return "", fmt.Errorf("download %s %s: %w", c.Package, version, err)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err != nil || len(archives) != 1 {
		return "", &Refused{fmt.Sprintf("%s %s comes as no single tar.gz", c.Package, version)}
	}
	f, err := os.Open(archives[0])
	if err != nil {
		return "", err
	}
	defer f.Close()
	root, err := untar(f, filepath.Join(dir, "unpacked"))
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", filepath.Base(archives[0]), err)
	}
	return root, nil
}

// maxSources is the most that sources may unpack to, in bytes.
const maxSources = 256 << 20

// untar unpacks the regular files of a tar.gz into a new folder and returns the one folder at its top.
func untar(r io.Reader, into string) (top string, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(into, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return "", err
	}
	defer root.Close()
	limited := &io.LimitedReader{R: z, N: maxSources}
	for t := tar.NewReader(limited); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && limited.N > 0 {
			break
		}
		if err != nil {
			return "", err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := unpackFile(root, filepath.FromSlash(h.Name), t); err != nil {
			return "", err
		}
	}
	tops, err := os.ReadDir(into)
	if err != nil || len(tops) != 1 || !tops[0].IsDir() {
		return "", errors.Join(err, errors.New("there is no single folder at its top"))
	}
	return filepath.Join(into, tops[0].Name()), nil
}

func unpackFile(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// run runs one command that gets things from a registry. What it cannot get is a *Refused with its last words.
func run(ctx context.Context, dir, tool string, args ...string) error {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &Refused{lastLine(out, err)}
	}
	return nil
}
