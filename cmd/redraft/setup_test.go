package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redraft-dev/redraft/agent/plan"
)

// oddName is a folder that a shell script without quotes does not survive.
const oddName = `it's "an" action $HOME`

// setupRunner is a machine that setup.sh runs on: a folder of tools, and what the runner sets.
type setupRunner struct {
	t    *testing.T
	dir  string
	top  string // the Action's own folder
	env  map[string]string
	bare bool // GITHUB_OUTPUT is not set
}

// newSetupRunner has the usual tools and no Go; its Action is a folder that holds the script and a version, and no source.
func newSetupRunner(t *testing.T) *setupRunner {
	t.Helper()
	dir := t.TempDir()
	r := &setupRunner{t: t, dir: dir, top: filepath.Join(dir, oddName), env: map[string]string{
		"PATH": filepath.Join(dir, "bin"), "HOME": dir, "RUNNER_TEMP": filepath.Join(dir, "the runner's temp"), "GITHUB_OUTPUT": filepath.Join(dir, "output"),
	}}
	for _, d := range []string{"bin", "the runner's temp", oddName + "/.github", oddName + "/cmd/redraft"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range strings.Fields("bash cat cut awk chmod curl dirname git grep gzip mkdir mktemp mv rm sed sh shasum sha256sum sysctl tail tar uname") {
		if tool, err := exec.LookPath(name); err == nil {
			r.link(tool, filepath.Join("bin", name))
		}
	}
	script, err := os.ReadFile("../../.github/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	r.write(oddName+"/.github/setup.sh", string(script))
	r.write(oddName+"/cmd/redraft/version.txt", "1.2.3\n")
	return r
}

func (r *setupRunner) link(to, name string) {
	r.t.Helper()
	if err := os.Symlink(to, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *setupRunner) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// tool puts a script in a tool's place; an empty one takes the tool away.
func (r *setupRunner) tool(name, script string) {
	r.t.Helper()
	file := filepath.Join(r.dir, "bin", name)
	if err := os.RemoveAll(file); err != nil {
		r.t.Fatal(err)
	}
	if script == "" {
		return
	}
	r.write("bin/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(file, 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// setup runs the script: what it said, what it put out, and how it ended.
func (r *setupRunner) setup() (said, binary string, code int) {
	r.t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		r.t.Skip("REFUSED: bash is not installed")
	}
	cmd := exec.CommandContext(r.t.Context(), bash, filepath.Join(r.top, ".github", "setup.sh"))
	cmd.Dir = r.dir
	for k, v := range r.env {
		if k != "GITHUB_OUTPUT" || !r.bare {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		r.t.Fatal(err)
	}
	output, _ := os.ReadFile(r.env["GITHUB_OUTPUT"]) // none: nothing was put out
	binary, _ = strings.CutPrefix(strings.TrimSuffix(string(output), "\n"), "binary=")
	return string(out), binary, cmd.ProcessState.ExitCode()
}

// fails wants exit 1, one error annotation that holds the words, no output, and nothing left behind.
func (r *setupRunner) fails(want string) {
	r.t.Helper()
	said, binary, code := r.setup()
	lines := workflowCommands(said)
	if code != 1 || binary != "" {
		r.t.Errorf("got exit %d and binary %q, want 1 and none\n%s", code, binary, said)
	}
	if n := len(lines); n == 0 || !strings.HasPrefix(lines[n-1], "::error title=redraft::") || !strings.Contains(lines[n-1], want) {
		r.t.Errorf("got the annotations %q, want one error that says %q\n%s", lines, want, said)
	}
	if errors := slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "::error") }); len(errors) > 1 {
		r.t.Errorf("got %d error annotations, want one: %q", len(errors), errors)
	}
	if left, err := os.ReadDir(r.env["RUNNER_TEMP"]); err != nil || len(left) > 0 {
		r.t.Errorf("got %v left behind (%v), want nothing", left, err)
	}
}

// succeeds wants exit 0, a program that says the version, and the words.
func (r *setupRunner) succeeds(version, want string) (said string) {
	r.t.Helper()
	said, binary, code := r.setup()
	if code != 0 || !strings.Contains(said, want) {
		r.t.Fatalf("got exit %d, want 0 and %q\n%s", code, want, said)
	}
	out, err := exec.CommandContext(r.t.Context(), binary, "--version").CombinedOutput()
	if err != nil || string(out) != "redraft version "+version+"\n" {
		r.t.Errorf("%s --version: got %q (%v), want version %s", binary, out, err, version)
	}
	for _, l := range workflowCommands(said) {
		if !strings.HasPrefix(l, "::notice title=redraft::") {
			r.t.Errorf("got the workflow command %q", l)
		}
	}
	return said
}

// workflowCommands are the lines that a runner would take for workflow commands.
func workflowCommands(said string) (lines []string) {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
			lines = append(lines, line)
		}
	}
	return lines
}

// archived is a release archive that holds one entry.
func archived(t *testing.T, h tar.Header, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	h.Size = int64(len(content))
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveName is this machine's archive.
func archiveName() string {
	return fmt.Sprintf("redraft_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
}

// fakeRelease is what a release holds for this machine; the program in it is a script.
func fakeRelease(t *testing.T) map[string][]byte {
	t.Helper()
	a := archived(t, tar.Header{Name: "redraft", Mode: 0o755}, "#!/bin/sh\necho redraft version 1.2.3\n")
	return map[string][]byte{archiveName(): a, "checksums.txt": releaseSums(map[string][]byte{archiveName(): a, "redraft_1.2.3_plan9_mips.tar.gz": nil})}
}

func releaseSums(files map[string][]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return b.Bytes()
}

// serves is a mirror of one release on loopback; its first answers are 503.
func (r *setupRunner) serves(files map[string][]byte, busy int32) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		b, ok := files[strings.TrimPrefix(req.URL.Path, "/mirror/v1.2.3/")]
		switch {
		case asked.Add(1) <= busy:
			w.WriteHeader(http.StatusServiceUnavailable)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(b)
		}
	}))
	r.t.Cleanup(s.Close)
	r.env["REDRAFT_RELEASES"] = s.URL + "/mirror"
}

func TestSetupTakesTheRelease(t *testing.T) {
	needsTool(t, "curl")
	r := newSetupRunner(t)
	r.serves(fakeRelease(t), 1)                                                                                // a passing fault
	if said := r.succeeds("1.2.3", "redraft: took release v1.2.3, sha256 "); len(workflowCommands(said)) > 0 { // the usual way of such a runner
		t.Errorf("got the annotations %q, want none", workflowCommands(said))
	}
}

func TestSetupRefusesABadRelease(t *testing.T) {
	needsTool(t, "curl")
	const program = "#!/bin/sh\necho redraft version 1.2.3\n"
	listed := func(a []byte) func(map[string][]byte) { // an archive that checksums.txt is right about
		return func(f map[string][]byte) {
			f[archiveName()], f["checksums.txt"] = a, releaseSums(map[string][]byte{archiveName(): a})
		}
	}
	for name, tt := range map[string]struct {
		change func(files map[string][]byte)
		want   string
	}{
		"another checksum": {func(f map[string][]byte) { f[archiveName()] = append(f[archiveName()], 0) }, "nothing was unpacked"},
		"not in the sums": {func(f map[string][]byte) {
			f["checksums.txt"] = releaseSums(map[string][]byte{"redraft_1.2.3_x_y.tar.gz": nil})
		}, "holds no one sha256 for it"},
		"twice in the sums":   {func(f map[string][]byte) { f["checksums.txt"] = bytes.Repeat(f["checksums.txt"], 2) }, "holds no one sha256 for it"},
		"a page for the sums": {func(f map[string][]byte) { f["checksums.txt"] = []byte("<html>sign in</html>") }, "holds no one sha256 for it"},
		"no sums":             {func(f map[string][]byte) { delete(f, "checksums.txt") }, "/v1.2.3/checksums.txt: curl: (22)"},
		"no archive":          {func(f map[string][]byte) { delete(f, archiveName()) }, archiveName() + ": curl: (22)"},
		"no tar":              {listed([]byte("no tar")), "unpack " + archiveName()},
		"another file":        {listed(archived(t, tar.Header{Name: "other", Mode: 0o755}, program)), "unpack " + archiveName()},
		"a link":              {listed(archived(t, tar.Header{Name: "redraft", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}, "")), "holds no file redraft"},
		"no start":            {listed(archived(t, tar.Header{Name: "redraft", Mode: 0o755}, "#!/bin/sh\necho '100% broken'\nexit 1\n")), "/redraft: 100%25 broken"},
	} {
		t.Run(name, func(t *testing.T) {
			r, files := newSetupRunner(t), fakeRelease(t)
			tt.change(files)
			r.serves(files, 0)
			r.fails(tt.want)
		})
	}
}

// TestSetupWantsHTTPS: only loopback may be spoken to without TLS, and an address that looks like it is none.
func TestSetupWantsHTTPS(t *testing.T) {
	needsTool(t, "curl")
	for _, base := range []string{"http://example.invalid/x", "http://127.0.0.1@example.invalid/x", "http://localhost.example.invalid", "file:///dev/null"} {
		r := newSetupRunner(t)
		r.env["REDRAFT_RELEASES"] = base
		r.fails(base + "/v1.2.3/checksums.txt: curl: (1)")
	}
}

// TestSetupLooksAtTheRunner takes one thing away at a time.
func TestSetupLooksAtTheRunner(t *testing.T) {
	for name, tt := range map[string]struct {
		tools map[string]string
		env   map[string]string
		want  string
	}{
		"no git":          {map[string]string{"git": ""}, nil, "install git 2.32 or newer"},
		"old git":         {map[string]string{"git": "echo git version 2.31.8"}, nil, "has git version 2.31.8; install 2.32 or newer"},
		"older git":       {map[string]string{"git": "echo git version 1.99.0"}, nil, "has git version 1.99.0; install 2.32 or newer"},
		"a git stub":      {map[string]string{"git": `printf 'xcode-select: 50%%\r of the tools\n::error::x\n' >&2; exit 1`}, nil, "does not run: xcode-select: 50%25%0D of the tools"},
		"a strange git":   {map[string]string{"git": "echo git of my own"}, nil, "names no version"},
		"a strange chip":  {map[string]string{"uname": `[ "$1" = -s ] && echo Linux || echo riscv64`}, nil, "not on Linux riscv64; choose another runs-on"},
		"another system":  {map[string]string{"uname": `[ "$1" = -s ] && echo MINGW64_NT || echo x86_64`}, nil, "not on MINGW64_NT x86_64"},
		"an Intel Mac":    {map[string]string{"uname": `[ "$1" = -s ] && echo Darwin || echo x86_64`, "sysctl": "exit 1"}, nil, "not on Darwin x86_64"},
		"nothing to get":  {map[string]string{"curl": ""}, nil, "Go is not in this runner's PATH, and curl, which would get a release, is not there either"},
		"a relative path": {nil, map[string]string{"REDRAFT_BINARY_PATH": "bin/redraft"}, "bin/redraft is no absolute path"},
		"a missing path":  {nil, map[string]string{"REDRAFT_BINARY_PATH": "/no such/redraft"}, "/no such/redraft is no program"},
		"no program":      {nil, map[string]string{"REDRAFT_BINARY_PATH": "/etc/passwd"}, "/etc/passwd is no program"},
		"a folder":        {nil, map[string]string{"REDRAFT_BINARY_PATH": "/"}, "/ is no program"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSetupRunner(t)
			for tool, script := range tt.tools {
				r.tool(tool, script)
			}
			maps.Copy(r.env, tt.env)
			r.fails(tt.want)
		})
	}
	t.Run("an old runner", func(t *testing.T) {
		r := newSetupRunner(t)
		r.bare = true
		r.fails("GITHUB_OUTPUT is not set")
	})
	t.Run("no version", func(t *testing.T) {
		r := newSetupRunner(t)
		r.write(oddName+"/cmd/redraft/version.txt", "1.2.3/../../evil\n")
		r.fails("holds no version")
	})
}

// TestSetupTakesWhatIsInstalled: the owner's program is taken as it is, on a runner with neither Go nor curl.
func TestSetupTakesWhatIsInstalled(t *testing.T) {
	r := newSetupRunner(t)
	r.tool("curl", "")
	r.tool("git", "echo 'git version 2.39.5 (Apple Git-154)'")
	r.tool("redraft", "echo redraft version 9.9.9")
	r.env["REDRAFT_BINARY_PATH"] = filepath.Join(r.dir, "bin", "redraft")
	r.succeeds("9.9.9", "redraft: took REDRAFT_BINARY_PATH, in ")
}

// TestSetupWithoutAWorkingGo takes the release, says why, and lets nothing that Go wrote be a workflow command.
func TestSetupWithoutAWorkingGo(t *testing.T) {
	needsTool(t, "curl")
	r := newSetupRunner(t)
	r.write(oddName+"/go.mod", "module x\n")
	r.tool("go", `printf '::error::x\n ::set-output name=a::b\n##[error]y\ngo: go.mod requires go >= 1.26.7 (running go 1.25.1; GOTOOLCHAIN=local)\n' >&2; exit 1`)
	r.serves(fakeRelease(t), 0)
	r.succeeds("1.2.3", "::notice title=redraft::redraft is not built from source here (go build: go: go.mod requires go >= 1.26.7 (running go 1.25.1; GOTOOLCHAIN=local)); the release is taken instead\n")
}

// TestSetupBuilds builds this source with what a workflow sets for builds of its own. It takes minutes where Go's build cache
// is empty.
func TestSetupBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	goTool := needsTool(t, "go")
	r := newSetupRunner(t)
	r.link(goTool, "bin/go")
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r.top = filepath.Join(r.dir, "the source's "+oddName)
	r.link(source, "the source's "+oddName)
	for _, k := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"} {
		v, err := exec.CommandContext(t.Context(), goTool, "env", k).Output()
		if err != nil {
			t.Fatal(err)
		}
		r.env[k] = strings.TrimSpace(string(v))
	}
	maps.Copy(r.env, map[string]string{"GOFLAGS": "-mod=vendor -tags=nothing -o=x", "GOWORK": "/no such/go.work", "GOOS": "plan9", "GOARCH": "mips", "GO111MODULE": "off", "CGO_ENABLED": "1"})
	r.succeeds(strings.TrimSpace(sourceVersion), "redraft: built with go1.")
}

// TestOwnConfiguration: this repository's own file is one that the server takes.
func TestOwnConfiguration(t *testing.T) {
	b, err := os.ReadFile("../../" + plan.FileName)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.ParseFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Checks) < 2 {
		t.Errorf("got %d checks, want vet and the tests", len(f.Checks))
	}
}

// needsTool says REFUSED where a tool is not installed.
func needsTool(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("REFUSED: %s is not installed", tool)
	}
	return path
}
