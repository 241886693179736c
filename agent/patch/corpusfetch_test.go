package patch_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/registry"
)

// parcel is one version of a package that a registry serves. What comes is held against sum and kept in the user's cache.
type parcel struct {
	language, registry, name, version string
	sum                               string // SHA-256 of the archive in hex; of a Go module the h1 of go.sum
}

// The first two parcels of a language are small: the sample is taken from them.
var parcels = []parcel{
	{"python", "pypi", "rich", "13.7.1", "9be308cb1fe2f1f57d67ce99e95af38a1e2bc71ad9813b0e247cf7ffbcc3a432"},
	{"python", "pypi", "click", "8.1.7", "ca9853ad459e787e2192211578cc907e7594e294c7ccc834310722b41b9ca6de"},
	{"python", "pypi", "attrs", "23.2.0", "935dc3b529c262f6cf76e50877d35a4bd3c1de194fd41f47a2b7ae8f19971f30"},
	{"python", "pypi", "pydantic", "2.7.4", "0c84efd9548d545f63ac0060c1e4d39bb9b14db8b3c0652338aecc07b5adec52"},
	{"python", "pypi", "werkzeug", "3.0.3", "097e5bfda9f0aba8da6b8545146def481d06aa7d3266e7448e2cccf67dd8bd18"},
	{"go", "go", "github.com/spf13/cobra", "v1.8.1", "h1:e5/vxKd/rZsfSJMUX1agtjeTDf+qv1/JdBF8gg5k9ZM="},
	{"go", "go", "github.com/samber/lo", "v1.44.0", "h1:5il56KxRE+GHsm1IR+sZ/6J42NODigFiqCWpSc2dybA="},
	{"go", "go", "google.golang.org/grpc", "v1.64.0", "h1:KH3VH9y/MgNQg1dE7b3XfVK0GsPSIzJwdF617gUSbvY="},
	{"go", "go", "golang.org/x/tools", "v0.22.0", "h1:gqSGLZqv+AI9lIQzniJ0nZDRG5GBPsSi+DRNHWNz6yA="},
	{"typescript", "npm", "@tanstack/react-query", "5.45.0", "16e6edecb46b072771e003c6e9bc39f60ede5040537ba4f1dc82676069914623"},
	{"typescript", "npm", "zod", "3.25.76", "9e1f1a05f0dd0c1dab64ee91ceb9bf55cd44d35368c70edda80a2fdc70a88377"},
	{"typescript", "npm", "rxjs", "7.8.1", "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149"},
	{"typescript", "npm", "react-native-paper", "5.12.3", "ce05100c8460167f6b308f11ffd4e9862bec9c05879e5b49bcf9d56b06b9c7ca"},
	{"javascript", "npm", "express", "4.19.2", "1b18c90e7e9fc4cb3e4dfe6b5f11c21b85509162e88ca5c6b63b9c6b5ca085bf"},
	{"javascript", "npm", "eslint", "9.5.0", "545fc9401837001f9c7e215220e4b4a2b24471411fc02a06a9fee14709af2079"},
	{"javascript", "npm", "commander", "12.1.0", "56affc6ddafe486f94b428ae2823d059cf60d4dae2f33eaaf1b1ec4306f73173"},
	{"javascript", "npm", "webpack", "5.92.0", "095b6472d1da5bf13efd43a755298e0d348e062468e004799e89b7e449b4585d"},
	{"javascript", "npm", "lodash", "4.17.21", "6a087ac9e5702a0c9d60fbcd48696012646ec8df1491dea472b150e79fcaf804"},
	{"rust", "crates", "anyhow", "1.0.86", "b3d1d046238990b9cf5bcde22a3fb3584ee5cf65fb2765f454ed428c7a0063da"},
	{"rust", "crates", "itertools", "0.13.0", "413ee7dfc52ee1a4949ceeb7dbc8a33f2d6c088194d9f922fb8318faf1f01186"},
	{"rust", "crates", "tokio", "1.38.0", "ba4f4a02a7a80d6f274636f0aa95c7e383b912d41fe721a31f29e29698585a4a"},
	{"rust", "crates", "syn", "2.0.66", "c42f3f41a2de00b01c0aaad383c5a45241efc8b2d1eda5661812fda5f3cdcff5"},
	{"rust", "crates", "regex-automata", "0.4.7", "38caf58cc5ef2fed281f89292ef23f6365465ed9a41b7a7754eb4e26496c92df"},
	{"java", "maven", "com.google.code.gson:gson", "2.11.0", "49a853f71bc874ee1898a4ad5009b57d0c536e5a998b3890253ffbf4b7276ad3"},
	{"java", "maven", "com.github.ben-manes.caffeine:caffeine", "3.1.8", "7c8237f5d8f23654e7091056316a3730636b7a0f2e6fce450e2bd522090d6b7f"},
	{"java", "maven", "org.apache.commons:commons-lang3", "3.14.0", "ab3b86afb898f1026dbe43aaf71e9c1d719ec52d6e41887b362d86777c299b6f"},
	{"java", "maven", "com.google.guava:guava", "33.2.1-jre", "cce2aba265b7e1260c21f37af6d074bc2c322743dcedc27c573bc342b2d99c79"},
}

// endings are the files of a language that are taken out of its parcels.
var endings = map[string][]string{
	"python": {".py", ".pyi"}, "go": {".go"}, "typescript": {".ts", ".tsx"}, "javascript": {".js", ".mjs", ".cjs"}, "rust": {".rs"}, "java": {".java"},
}

// realFile is one file out of a parcel.
type realFile struct {
	name string // package/path
	data []byte
}

// files are a parcel's files of its language, by name. Without its registry the test is REFUSED.
func (p parcel) files(t *testing.T) []realFile {
	t.Helper()
	var out []realFile
	take := func(name string, read func() ([]byte, error)) error {
		if !slices.Contains(endings[p.language], path.Ext(name)) || strings.HasSuffix(name, ".d.ts") {
			return nil
		}
		data, err := read()
		if err == nil {
			out = append(out, realFile{p.name + "/" + name, data})
		}
		return err
	}
	var err error
	if p.registry == "go" {
		err = p.module(t, take)
	} else if archive := p.archive(t); p.registry == "maven" {
		err = unzip(archive, take)
	} else {
		err = untar(archive, take)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", p.name, p.version, err)
	}
	slices.SortFunc(out, func(a, b realFile) int { return strings.Compare(a.name, b.name) })
	return out
}

// module has the go command fetch a module; it keeps its own cache.
func (p parcel) module(t *testing.T, take func(string, func() ([]byte, error)) error) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", p.name+"@"+p.version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if proxy := os.Getenv("REDRAFT_TEST_GOPROXY"); proxy != "" {
		cmd.Env = append(cmd.Env, "GOPROXY="+proxy)
	}
	said, _ := cmd.Output() // what went wrong stands in it, too
	var about struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(said, &about); err != nil || about.Error != "" {
		t.Skipf("REFUSED: %s@%s cannot be fetched: %s %v", p.name, p.version, about.Error, err)
	}
	if about.Sum != p.sum {
		return fmt.Errorf("its sum is %s, want %s", about.Sum, p.sum)
	}
	return fs.WalkDir(os.DirFS(about.Dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return take(name, func() ([]byte, error) { return os.ReadFile(filepath.Join(about.Dir, name)) })
	})
}

// archive is a parcel's archive, out of the cache or fetched and put there.
func (p parcel) archive(t *testing.T) []byte {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("REFUSED: no cache folder:", err)
	}
	file := filepath.Join(cache, "redraft-test-corpus", p.sum)
	if data, err := os.ReadFile(file); err == nil && p.right(data) {
		return data
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	data, err := p.fetch(ctx)
	if err != nil {
		t.Skipf("REFUSED: %s %s cannot be fetched: %v", p.name, p.version, err)
	}
	if !p.right(data) {
		t.Fatalf("%s %s: what came is not what was pinned (%d bytes)", p.name, p.version, len(data))
	}
	part := file + "." + rand.Text()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(part, data, 0o644), os.Rename(part, file)); err != nil {
		t.Log("the archive is not kept:", err)
	}
	return data
}

func (p parcel) right(data []byte) bool {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == p.sum
}

// base is the registry's address: the variable's, or the official one.
func (p parcel) base() (string, error) {
	variable := "REDRAFT_TEST_" + strings.ToUpper(p.registry)
	switch address := os.Getenv(variable); {
	case address != "":
		return strings.TrimSuffix(address, "/") + "/", nil
	case p.registry == "maven":
		return mavenCentral()
	}
	return registry.Official(p.registry), nil
}

func (p parcel) fetch(ctx context.Context) ([]byte, error) {
	base, err := p.base()
	if err != nil {
		return nil, err
	}
	switch p.registry {
	case "pypi":
		return p.fromIndex(ctx, base)
	case "npm":
		return get(ctx, base+p.name+"/-/"+path.Base(p.name)+"-"+p.version+".tgz")
	case "crates": // https://doc.rust-lang.org/cargo/reference/registry-index.html#index-configuration
		config, err := get(ctx, base+"config.json")
		var at struct{ DL string }
		if err = errors.Join(err, json.Unmarshal(config, &at)); err != nil {
			return nil, err
		}
		return get(ctx, at.DL+"/"+p.name+"/"+p.version+"/download")
	}
	group, artifact, _ := strings.Cut(p.name, ":")
	return get(ctx, fmt.Sprintf("%s%s/%s/%s/%s-%s-sources.jar", base, strings.ReplaceAll(group, ".", "/"), artifact, p.version, artifact, p.version))
}

// fromIndex finds a source archive by its sum. https://packaging.python.org/en/latest/specifications/simple-repository-api/
func (p parcel) fromIndex(ctx context.Context, base string) ([]byte, error) {
	page, err := get(ctx, base+p.name+"/")
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
			from, _ := url.Parse(base + p.name + "/")
			to, err := from.Parse(f.URL)
			if err != nil {
				return nil, err
			}
			return get(ctx, to.String())
		}
	}
	return nil, errors.New("the index does not have it")
}

// mavenCentral is the address that Maven itself has. https://maven.apache.org/ref/current/maven-model-builder/super-pom.html
func mavenCentral() (string, error) {
	at, err := exec.LookPath("mvn")
	if err != nil {
		return "", err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return "", err
	}
	jars, _ := filepath.Glob(filepath.Join(filepath.Dir(at), "..", "lib", "maven-model-builder-*.jar"))
	if len(jars) == 0 {
		return "", errors.New("no model builder beside mvn")
	}
	z, err := zip.OpenReader(jars[0])
	if err != nil {
		return "", err
	}
	defer z.Close()
	f, err := z.Open("org/apache/maven/model/pom-4.0.0.xml")
	if err != nil {
		return "", err
	}
	defer f.Close()
	var pom struct {
		URL string `xml:"repositories>repository>url"`
	}
	if err := xml.NewDecoder(f).Decode(&pom); err != nil {
		return "", err
	}
	return strings.TrimSuffix(pom.URL, "/") + "/", nil
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

func untar(archive []byte, take func(string, func() ([]byte, error)) error) error {
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = take(h.Name, func() ([]byte, error) { return io.ReadAll(r) })
		}
		if err != nil {
			return err
		}
	}
}

func unzip(archive []byte, take func(string, func() ([]byte, error)) error) error {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if err := take(f.Name, func() ([]byte, error) { return fs.ReadFile(z, f.Name) }); err != nil {
			return err
		}
	}
	return nil
}
