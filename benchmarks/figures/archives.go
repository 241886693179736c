package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platforms are those that a release has an archive for, as in .github/goreleaser.yaml.
var platforms = []string{"darwin/arm64", "linux/amd64", "linux/arm64"}

// archives measures what a runner without Go downloads: the program, built as for a release, in a compressed archive.
func (b *bench) archives(ctx context.Context) (within bool, err error) {
	for _, platform := range platforms {
		exe := filepath.Join(b.dir, strings.ReplaceAll(platform, "/", "-"))
		goos, goarch, _ := strings.Cut(platform, "/")
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, mainPackage)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+goos, "GOARCH="+goarch)
		if out, err := cmd.CombinedOutput(); err != nil {
			return false, fmt.Errorf("build for %s: %w: %s", platform, err, out)
		}
		packed, plain, err := pack(exe)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(b.out, "archive %-12s %.1f MB, %.1f MB unpacked\n", platform, float64(packed)/(1<<20), float64(plain)/(1<<20))
	}
	return true, nil
}

// pack says how large an archive of one file is, and how large the file.
func pack(name string) (packed, plain int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	var size counter
	zip := gzip.NewWriter(&size)
	w := tar.NewWriter(zip)
	err = w.WriteHeader(&tar.Header{Name: "redraft", Mode: 0o755, Size: info.Size()})
	if err == nil {
		_, err = io.Copy(w, f)
	}
	if err = errors.Join(err, w.Close(), zip.Close()); err != nil {
		return 0, 0, fmt.Errorf("pack %s: %w", name, err)
	}
	return int64(size), info.Size(), nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
