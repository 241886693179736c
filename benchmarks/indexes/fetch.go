package main

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
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/registry"
)

// parcel is one version of a package that a registry serves, and the part of it that is taken.
type parcel struct {
	name, version, sum string // SHA-256 of the archive in hex; of a Go module the h1 of go.sum
	below              string // folder in the archive, whose own first folder does not count
	as                 string // folder of the tree
}

// endings are the files that are taken.
var endings = map[string]string{"go": ".go", "python": ".py", "typescript": ".ts"}

var parcels = map[string][]parcel{
	"go":     {{name: "k8s.io/apimachinery", version: "v0.30.2", sum: "h1:fEMcnBj6qkzzPGSVsAZtQThU62SmQ4ZymlXRC5yFSCg="}},
	"python": {{name: "networkx", version: "3.3", sum: "0c127d8b2f4865f59ae9cb8aafcd60b5c70f3241ebd66f7defad7c4ab90126c9", below: "networkx", as: "networkx"}},
	"typescript": {
		{name: "rxjs", version: "7.8.1", sum: "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149", below: "src", as: "rxjs"},
		{name: "zod", version: "3.25.76", sum: "9e1f1a05f0dd0c1dab64ee91ceb9bf55cd44d35368c70edda80a2fdc70a88377", below: "src", as: "zod"},
	},
}

// taker is given a parcel's files.
type taker func(name string, data []byte) error

// each gives the files of a parcel that belong to a language.
func (b *bench) each(ctx context.Context, language string, p parcel, take taker) error {
	wanted := func(name string) (string, bool) {
		rest, ok := strings.CutPrefix(name, p.below)
		if rest = strings.TrimPrefix(rest, "/"); !ok || path.Ext(name) != endings[language] || strings.HasSuffix(name, ".d.ts") || strings.Contains("/"+name, "/testdata/") {
			return "", false
		}
		return path.Join(p.as, rest), true
	}
	if language == "go" {
		return p.module(ctx, wanted, take)
	}
	archive, err := b.archive(ctx, language, p)
	if err != nil {
		return err
	}
	return untar(archive, wanted, take)
}

// module has the go command fetch a module; it keeps its own cache.
func (p parcel) module(ctx context.Context, wanted func(string) (string, bool), take taker) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.name+"@"+p.version)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	said, _ := cmd.Output() // what went wrong stands in it, too
	var about struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(said, &about); err != nil || about.Error != "" {
		return fmt.Errorf("REFUSED: %s@%s cannot be fetched: %s %v", p.name, p.version, about.Error, err)
	}
	if about.Sum != p.sum {
		return fmt.Errorf("%s: its sum is %s, want %s", p.name, about.Sum, p.sum)
	}
	return fs.WalkDir(os.DirFS(about.Dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		as, ok := wanted(name)
		if !ok {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(about.Dir, name))
		if err != nil {
			return err
		}
		return take(as, data)
	})
}

// archive is the file of a parcel's archive, fetched unless it is there.
func (b *bench) archive(ctx context.Context, language string, p parcel) (string, error) {
	file := filepath.Join(b.work, p.sum)
	if data, err := os.ReadFile(file); err == nil && p.right(data) {
		return file, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	data, err := p.fetch(ctx, language)
	if err != nil {
		return "", fmt.Errorf("REFUSED: %s %s cannot be fetched: %w", p.name, p.version, err)
	}
	if !p.right(data) {
		return "", fmt.Errorf("%s %s: what came is not what was pinned", p.name, p.version)
	}
	return file, os.WriteFile(file, data, 0o644)
}

func (p parcel) right(data []byte) bool {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == p.sum
}

func (p parcel) fetch(ctx context.Context, language string) ([]byte, error) {
	if language == "typescript" {
		return get(ctx, registry.Official("npm")+p.name+"/-/"+path.Base(p.name)+"-"+p.version+".tgz")
	}
	base := registry.Official("pypi") + p.name + "/" // https://packaging.python.org/en/latest/specifications/simple-repository-api/
	page, err := get(ctx, base)
	if err != nil {
		return nil, err
	}
	var project struct {
		Files []struct {
			URL    string
			Hashes map[string]string
		}
	}
	if err := json.Unmarshal(page, &project); err != nil {
		return nil, err
	}
	for _, f := range project.Files {
		if f.Hashes["sha256"] == p.sum {
			from, _ := url.Parse(base)
			to, err := from.Parse(f.URL)
			if err != nil {
				return nil, err
			}
			return get(ctx, to.String())
		}
	}
	return nil, errors.New("the index does not have it")
}

func get(ctx context.Context, address string) ([]byte, error) {
	const largest = 64 << 20
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/vnd.pypi.simple.v1+json, */*;q=0.1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, largest))
}

// untar gives the files of an archive, whose one folder at the top is left away.
func untar(archive string, wanted func(string) (string, bool), take taker) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(path.Clean(h.Name), "/")
		as, ok := wanted(name)
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = take(as, data)
		}
		if err != nil {
			return err
		}
	}
}
