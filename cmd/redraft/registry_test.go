package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/registry"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// ecosystem is a small project of one, with a package that has to be fetched for its check to be green.
type ecosystem struct {
	name, tool string
	asked      []string // tells which registry the tool of this machine is set to
	variable   string   // names another registry for the test
	files      map[string]string
	setup      []string
	check      string
	path       string // below the registry, a look whether it is there
}

var ecosystems = []ecosystem{
	{
		name: "go", tool: "go", asked: []string{"go", "env", "GOPROXY"}, variable: "REDRAFT_TEST_GOPROXY", path: "github.com/google/go-cmp/@v/list",
		files: map[string]string{
			"go.mod":    "module example.com/m\n\ngo 1.21\n\nrequire github.com/google/go-cmp v0.7.0\n",
			"go.sum":    "github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBybVuN8=\ngithub.com/google/go-cmp v0.7.0/go.mod h1:pXiqmnSA92OHEEa9HXL2W4E7lf9JzCmGVUdgjX3N/iU=\n",
			"m_test.go": "package m\n\nimport (\n\t\"testing\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\nfunc TestHello(t *testing.T) {\n\tif !cmp.Equal(1, 1) {\n\t\tt.Error(\"nothing\")\n\t}\n}\n",
		},
		setup: []string{"rm go.sum && GOFLAGS=-mod=mod go mod tidy", "go mod download"}, // the first one asks the checksum database
		check: "go test ./...",
	},
	{
		name: "npm", tool: "npm", asked: []string{"npm", "config", "get", "registry"}, variable: "REDRAFT_TEST_NPM", path: "is-number",
		files: map[string]string{
			"package.json":      `{"name":"m","version":"1.0.0","dependencies":{"is-odd":"3.0.1"}}`,
			"package-lock.json": `{"name":"m","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"m","version":"1.0.0","dependencies":{"is-odd":"3.0.1"}},"node_modules/is-number":{"version":"6.0.0","integrity":"sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg=="},"node_modules/is-odd":{"version":"3.0.1","integrity":"sha512-CQpnWPrDwmP1+SMHXZhtLtJv90yiyVfluGsX5iNCVkrhQtU3TQHsUWPG9wkdk9Lgd5yNpAg9jQEo90CBaXgWMA==","dependencies":{"is-number":"^6.0.0"}}}}`,
		},
		setup: []string{"npm ci"}, check: `node -e "process.exit(require('is-odd')(3) ? 0 : 1)"`,
	},
	{
		name: "pypi", tool: "python3", asked: []string{"python3", "-m", "pip", "config", "get", "global.index-url"}, variable: "REDRAFT_TEST_PYPI", path: "six/",
		files: map[string]string{"requirements.txt": "six==1.16.0 --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254\n"},
		setup: []string{"python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", "python3 -m pip install --user idna==3.7 || python3 -c 'import idna'"},
		check: ".venv/bin/python -c 'import six' && .venv/bin/pip --version && python3 -c 'import idna'",
	},
	{
		name: "crates", tool: "cargo", variable: "REDRAFT_TEST_CRATES", path: "config.json",
		files: map[string]string{
			"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nitoa = \"=1.0.11\"\n",
			"src/lib.rs": "#[test]\nfn prints() {\n    assert_eq!(itoa::Buffer::new().format(7), \"7\");\n}\n",
		},
		setup: []string{"cargo generate-lockfile", "cargo fetch --locked"},
		check: "cargo test --locked",
	},
}

// upstreams is where the test fetches from: the variable's registry, else the one that the tool is set to, else the official.
func (e ecosystem) upstreams(t *testing.T) map[string]string {
	t.Helper()
	address := os.Getenv(e.variable)
	if address == "" && len(e.asked) > 0 {
		out, _ := exec.Command(e.asked[0], e.asked[1:]...).Output() // not set, perhaps
		address, _, _ = strings.Cut(strings.TrimSpace(string(out)), ",")
	}
	if !strings.HasPrefix(address, "https://") {
		return nil
	}
	return map[string]string{e.name: address}
}

// there says REFUSED where the registry cannot be reached from this machine.
func (e ecosystem) there(t *testing.T, upstreams map[string]string) {
	t.Helper()
	if _, err := exec.LookPath(e.tool); err != nil {
		t.Skipf("REFUSED: %s is not installed", e.tool)
	}
	address := registry.Official(e.name)
	if upstreams[e.name] != "" {
		address = strings.TrimSuffix(upstreams[e.name], "/") + "/"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+e.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Skipf("REFUSED: the registry of %s cannot be reached: %v", e.name, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Skipf("REFUSED: the registry of %s answers %s", e.name, resp.Status)
	}
}

// settingUp is an oracle over a small project, with the real proxy's process.
type settingUp struct {
	oracle                *oracle.Oracle
	root, evidence, state string
}

// setUp makes one for files and commands. Nothing of this machine's package caches is shown.
func setUp(t *testing.T, files map[string]string, check string, commands []string, choice trace.SetupChoice) *settingUp {
	t.Helper()
	dir := t.TempDir()
	s := &settingUp{root: filepath.Join(dir, "root"), evidence: filepath.Join(dir, "evidence"), state: filepath.Join(dir, "state")}
	for _, d := range []string{"root", "evidence", "state", "scratch/trees", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		file := filepath.Join(s.root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	box, err := sandbox.Open(sandbox.Options{Tier: sandbox.Bubblewrap, TmpDir: dir})
	if err != nil {
		t.Skipf("REFUSED: no bubblewrap here: %v", err)
	}
	set := plan.Set{Checks: []plan.Check{{ID: "c", Run: check, Runs: 1}}, Setup: commands}
	needs, err := plan.Toolchain(t.Context(), set, func(name string) string {
		if name == "GOMODCACHE" {
			return filepath.Join(dir, "empty")
		}
		return os.Getenv(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	needs.Read = slices.DeleteFunc(needs.Read, func(p string) bool { return strings.HasSuffix(p, "/.cargo/registry") })
	root, closeRoot, err := oracle.FS(s.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeRoot() })
	if !holdsGo(root) {
		needs.Go = ""
	}
	s.oracle = &oracle.Oracle{Box: box, Check: set.Checks[0], Needs: needs, Root: root, Module: modulePath(s.root, "."), Scratch: filepath.Join(dir, "scratch"), Keep: agent.Keep(s.evidence),
		Trees: &worktree.Copies{From: s.root, Into: filepath.Join(dir, "scratch", "trees")}, Timeout: 3 * time.Minute}
	if needs.Go != "" {
		if s.oracle.Base, _, err = sandbox.BuildBase(t.Context(), box, sandbox.BaseSpec{Key: needs.Go, Env: needs.Env, Read: needs.Read, State: testState()}); err != nil {
			t.Fatal(err)
		}
	}
	if s.oracle.Setup, err = setup(trace.Job{State: s.state, Evidence: s.evidence, Setup: &choice}, set, s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// runs says REFUSED where the tool does not run in the jail at all, as one whose parts lie in the home of somebody else.
func (e ecosystem) runs(t *testing.T, s *settingUp) {
	t.Helper()
	dir, done, err := s.oracle.Trees.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done(t.Context()) //nolint:errcheck // it lies in the test's folder
	version := "--version"
	if e.tool == "go" {
		version = "version"
	}
	res, _, err := s.oracle.Exec(t.Context(), oracle.Exec{Phase: "tool", Dir: dir, Argv: []string{e.tool, version}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Exit != 0 {
		t.Skipf("REFUSED: %s does not run in the jail: %s", e.tool, res.Stderr)
	}
}

// hosts are those that the evidence says were asked, with how often, and what was refused.
func (s *settingUp) hosts(t *testing.T) (hosts map[string]int, refused []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.evidence, oracle.RegistryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hosts = map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r registry.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if hosts[r.Host]++; r.Refused != "" {
			refused = append(refused, r.Method+" "+r.Path+": "+r.Refused)
		}
	}
	return hosts, refused
}

// TestSetupReal fetches a package from the real registry of each ecosystem from inside the jail, and lets the check use it in
// fresh copies without a network. Without the setup the same check is not green.
func TestSetupReal(t *testing.T) {
	for _, e := range ecosystems {
		t.Run(e.name, func(t *testing.T) {
			upstreams := e.upstreams(t)
			e.there(t, upstreams)
			s := setUp(t, e.files, e.check, e.setup, trace.SetupChoice{Domain: "test", Registries: upstreams})
			e.runs(t, s)
			bare := *s
			if v, err := bare.oracle.See(t.Context()); err != nil || v.Color == report.Green {
				t.Fatalf("without setup: got %v, %v", v.Color, err)
			}
			start := time.Now()
			err := s.oracle.Prepare(t.Context())
			var no *oracle.Unprepared
			if errors.As(err, &no) {
				_, refused := s.hosts(t)
				t.Fatalf("%v\n%s\nrefused: %q", no, no.Tail, refused)
			}
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			v, err := s.oracle.See(t.Context())
			if err != nil || v.Color != report.Green {
				t.Fatalf("got %v (%s), %v: %s%s", v.Color, v.Class, err, v.Runs[0].Result.Stdout, v.Runs[0].Result.Stderr)
			}
			hosts, refused := s.hosts(t)
			p := s.oracle.Prepared()
			t.Logf("set up in %.1f s, see took %.1f s; %d requests, %d bytes of %v; refused %q; made %v", took.Seconds(), time.Since(start).Seconds()-took.Seconds(), p.Requests, p.Bytes, hosts, refused, p.Made)
			if len(p.Hosts) == 0 || p.Bytes == 0 {
				t.Errorf("nothing was recorded: %+v", p)
			}
		})
	}
}

// TestRegistryRefused: the proxy's process is started with nothing but its upstreams.
func TestRegistryRefused(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, arg, want string
		env             []string
	}{
		{"an environment", "{}", "the environment must be empty", []string{"GITHUB_TOKEN=x"}},
		{"no JSON", "go", "read the upstreams", nil},
		{"a plain upstream", `{"go":"http://x"}`, "no https address", nil},
		{"no socket", "{}", "no socket", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(exe, "registry", tt.arg)
			cmd.Env = append([]string{}, tt.env...)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || !strings.Contains(string(out), tt.want) {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
}

// TestRegistryEnds: the proxy ends with its parent's end of the pipe, and answers for a listener until then.
func TestRegistryEnds(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.Create(filepath.Join(t.TempDir(), "record"))
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	serve, stop, err := startRegistry(exe, nil)(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	serve(ln)
	resp, err := http.Post("http://"+ln.Addr().String()+"/npm/x", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("got %s", resp.Status)
	}
	begin := time.Now()
	if err := stop(); err != nil || time.Since(begin) > 4*time.Second {
		t.Errorf("it ended with %v after %s", err, time.Since(begin))
	}
	b, err := os.ReadFile(record.Name())
	var r registry.Record
	if err != nil || json.Unmarshal(b, &r) != nil || r.Method != http.MethodPost || r.Status != http.StatusMethodNotAllowed {
		t.Errorf("got the record %s, %v", b, err)
	}
}
