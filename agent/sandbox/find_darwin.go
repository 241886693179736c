package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// notFound is a program that could not be executed, as a shell would say it.
type notFound struct {
	name string
	why  string
	exit int
}

func (n notFound) Error() string { return fmt.Sprintf("redraft: %s: %s", n.name, n.why) }

func execError(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOENT):
		return notFound{name, "no such program, or its interpreter is missing", 127}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return notFound{name, "permission denied", 126}
	case errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.EBADARCH), errors.Is(err, syscall.EBADMACHO):
		return notFound{name, "not a program of this machine", 126}
	case errors.Is(err, syscall.E2BIG):
		return notFound{name, "argument list too long", 126}
	}
	return fmt.Errorf("start the command: %w", err)
}

// lookPath finds the program in the PATH of the command's own environment.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var path string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	denied := false
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) { // a relative entry would find what the repository planted
			continue
		}
		file := filepath.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() {
			if fi.Mode()&0o111 != 0 {
				return file, nil
			}
			denied = true
		}
	}
	if denied {
		return "", notFound{name, "permission denied", 126}
	}
	return "", notFound{name, "command not found", 127}
}
