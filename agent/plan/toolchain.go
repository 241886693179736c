package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Toolchain finds what the checks need of this machine: the toolchains are asked in an empty folder, never in the
// repository. getenv is the operator's environment; of it PATH and where the toolchains keep their settings and packages
// are used, and no more reaches a run. Folders of PATH inside one of outside, as the repository is, are dropped. A machine
// without Go has needs too: Needs.Go is then empty.
func Toolchain(ctx context.Context, set Set, getenv func(string) string, outside ...string) (Needs, error) {
	path := searchPath(getenv("PATH"), outside)
	n := Needs{Env: []string{"PATH=" + strings.Join(path, string(filepath.ListSeparator)), "LANG=C.UTF-8"}}
	n.addTools(ctx, set, path, getenv)
	tool, err := lookup("go", path)
	if errors.Is(err, exec.ErrNotFound) {
		return n, nil
	}
	if err := n.addGo(ctx, tool, path, getenv); err != nil {
		return n, fmt.Errorf("ask go env: %w", err)
	}
	return n, nil
}

// goVars are what is asked of go env. HOME is a private one in a run, so what an operator set with go env -w is
// passed on by name.
var goVars = []string{
	"GOROOT", "GOMODCACHE", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT", "CC", "CXX", "GONOSUMDB",
}

// addGo asks the go command about itself.
func (n *Needs) addGo(ctx context.Context, tool string, path []string, getenv func(string) string) error {
	env, err := goEnv(ctx, tool, path, getenv)
	if err != nil {
		return err
	}
	flags := slices.DeleteFunc(strings.Fields(env["GOFLAGS"]), func(f string) bool { return f == "-mod=mod" })
	n.Env = append(n.Env, "GOROOT="+env["GOROOT"], "GOMODCACHE="+env["GOMODCACHE"], "GOPROXY=off", "GOTOOLCHAIN=local",
		"GOFLAGS="+strings.Join(flags, " "), "CGO_ENABLED="+env["CGO_ENABLED"])
	for _, name := range []string{"GOEXPERIMENT", "GONOSUMDB", "CC", "CXX"} {
		if env[name] != "" {
			n.Env = append(n.Env, name+"="+env[name])
		}
	}
	for _, dir := range []string{env["GOROOT"], env["GOMODCACHE"]} {
		n.addRead(dir)
	}
	n.Go = fmt.Sprintf("%s %s/%s cgo=%s flags=%q experiment=%s cc=%s",
		env["GOVERSION"], env["GOOS"], env["GOARCH"], env["CGO_ENABLED"], strings.Join(flags, " "), env["GOEXPERIMENT"], env["CC"])
	return nil
}

// goEnv runs go env in an empty folder that is removed again.
func goEnv(ctx context.Context, tool string, path []string, getenv func(string) string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	empty, err := os.MkdirTemp("", "redraft-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(empty)
	cmd := exec.CommandContext(ctx, tool, append([]string{"env", "-json"}, goVars...)...)
	cmd.Dir, cmd.WaitDelay = empty, time.Second
	cmd.Env = []string{
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)), "GOTOOLCHAIN=local", "GOPROXY=off", "GOCACHE=" + filepath.Join(empty, "cache"),
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GOENV", "GOROOT", "GOPATH", "GOMODCACHE", "GOFLAGS", "GOEXPERIMENT", "CGO_ENABLED", "CC", "CXX", "GONOSUMDB", "GOPRIVATE"} {
		if v := getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(firstLine(stderr.String())))
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(env["GOROOT"]) {
		return nil, fmt.Errorf("it answers with GOROOT %q", env["GOROOT"])
	}
	return env, nil
}

// names reports whether the command of a check or of the setup has the word.
func (s Set) names(tool string) bool {
	runs := slices.Clone(s.Setup)
	for _, c := range s.Checks {
		runs = append(runs, c.Run)
	}
	return slices.ContainsFunc(runs, func(run string) bool {
		return slices.ContainsFunc(commands(run), func(words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return filepath.Base(w) == tool })
		})
	})
}

// words are the words of every command of the set, each once.
func (s Set) words() []string {
	seen := map[string]bool{}
	for _, c := range s.Checks {
		for _, words := range commands(c.Run) {
			for _, w := range words {
				seen[w] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// prefixOf is the folder above the bin folder in which a tool's program really lies, or "".
func prefixOf(tool string, path []string) string {
	file, err := lookup(tool, path)
	if err != nil {
		return ""
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return ""
	}
	if above, _, ok := strings.Cut(filepath.ToSlash(file), "/node_modules/"); ok { // its dependencies lie beside it
		return filepath.Join(filepath.FromSlash(above), "node_modules")
	}
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "bin" {
		dir = filepath.Dir(dir)
	}
	return dir
}

// addRead adds a folder once, and reports whether it is there.
func (n *Needs) addRead(dir string) bool {
	info, err := os.Stat(dir)
	if !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return false
	}
	if !slices.Contains(n.Read, dir) {
		n.Read = append(n.Read, dir)
	}
	return true
}

// searchPath is the folders of a PATH that are absolute, are there, and lie outside of the folders given.
func searchPath(list string, outside []string) []string {
	var out []string
	for _, d := range filepath.SplitList(list) {
		info, err := os.Stat(d)
		if !filepath.IsAbs(d) || err != nil || !info.IsDir() {
			continue
		}
		d = filepath.Clean(d)
		inside := slices.ContainsFunc(outside, func(o string) bool { return o != "" && (within(d, o) || within(real(d), real(o))) })
		if !inside && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// real follows links where that works.
func real(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// within reports whether dir is top or lies below it.
func within(dir, top string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// holds reports whether home lies in dir, so that showing dir would show it.
func holds(dir, home string) bool { return home != "" && within(filepath.Clean(home), dir) }

// system says whether a folder is one that every sandbox shows anyway.
func system(dir string) bool {
	tops := []string{"/usr", "/bin", "/sbin", "/lib", "/lib64"}
	if runtime.GOOS == "darwin" {
		tops = append(tops, "/System", "/Library")
	}
	return slices.ContainsFunc(tops, func(top string) bool { return within(dir, top) })
}

// lookup finds a program in folders, and nowhere else.
func lookup(name string, path []string) (string, error) {
	for _, d := range path {
		if info, err := os.Stat(filepath.Join(d, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Join(d, name), nil
		}
	}
	return "", exec.ErrNotFound
}
