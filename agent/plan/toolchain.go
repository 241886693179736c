package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Toolchain finds what the checks need of this machine: the toolchains are asked in an empty folder, never in the
// repository. getenv is the operator's environment, of which only PATH is used.
func Toolchain(ctx context.Context, set Set, getenv func(string) string) (Needs, error) {
	path := absolute(getenv("PATH"))
	n := Needs{Env: []string{"PATH=" + strings.Join(path, ":"), "LANG=C.UTF-8"}}
	for _, dir := range path {
		if !system(dir) {
			n.Read = append(n.Read, dir)
		}
	}
	goTool, err := lookup("go", path)
	if err != nil {
		return n, nil //nolint:nilerr // a machine without Go checks other things
	}
	return n, n.addGo(ctx, goTool, getenv)
}

// addGo asks the go command about itself.
func (n *Needs) addGo(ctx context.Context, tool string, getenv func(string) string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	empty, err := os.MkdirTemp("", "redraft-empty-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	cmd := exec.CommandContext(ctx, tool, "env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT", "CC", "GONOSUMDB", "GOPRIVATE")
	cmd.Dir = empty
	cmd.Env = []string{"PATH=" + getenv("PATH"), "HOME=" + getenv("HOME"), "GOTOOLCHAIN=local", "GOMODCACHE=" + getenv("GOMODCACHE"), "GOPATH=" + getenv("GOPATH"), "GOFLAGS=" + getenv("GOFLAGS"), "GOCACHE=" + filepath.Join(empty, "cache")}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	var flags []string
	for _, f := range strings.Fields(env["GOFLAGS"]) {
		if !strings.HasPrefix(f, "-mod=") {
			flags = append(flags, f)
		}
	}
	n.Env = append(n.Env, "GOROOT="+env["GOROOT"], "GOMODCACHE="+env["GOMODCACHE"], "GOPROXY=off", "GOTOOLCHAIN=local",
		"GOFLAGS="+strings.Join(flags, " "), "CGO_ENABLED="+env["CGO_ENABLED"], "GONOSUMDB="+env["GONOSUMDB"])
	n.Read = append(n.Read, env["GOROOT"])
	if _, err := os.Stat(env["GOMODCACHE"]); err == nil {
		n.Read = append(n.Read, env["GOMODCACHE"])
	}
	n.Go = fmt.Sprintf("%s %s/%s cgo=%s flags=%q experiment=%s cc=%s", env["GOVERSION"], env["GOOS"], env["GOARCH"], env["CGO_ENABLED"], strings.Join(flags, " "), env["GOEXPERIMENT"], env["CC"])
	return nil
}

// absolute is the folders of a PATH that are absolute and exist.
func absolute(path string) []string {
	var out []string
	seen := map[string]bool{}
	for _, d := range filepath.SplitList(path) {
		if info, err := os.Stat(d); filepath.IsAbs(d) && err == nil && info.IsDir() && !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// system says whether a folder is one that every sandbox shows anyway.
func system(dir string) bool {
	for _, s := range []string{"/usr", "/bin", "/sbin", "/lib"} {
		if dir == s || strings.HasPrefix(dir, s+"/") {
			return true
		}
	}
	return false
}

func lookup(name string, path []string) (string, error) {
	for _, d := range path {
		if info, err := os.Stat(filepath.Join(d, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Join(d, name), nil
		}
	}
	return "", exec.ErrNotFound
}
