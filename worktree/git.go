package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Git is the git program of this machine, found once. Its fields are set before the first call.
type Git struct {
	// OnRun is told of every git child once it has ended, if not nil: its arguments as git got them, its exit status
	// (-1 when a signal ended it) and how long it took. It is called by whichever goroutine ran the child. The
	// arguments never hold a secret.
	OnRun func(argv []string, exit int, took time.Duration)

	path    string // absolute
	version string
}

// Floor is the oldest git that OpenGit accepts: the first to honour GIT_CONFIG_GLOBAL.
const Floor = "2.32"

const (
	maxOutput = 256 << 20   // bytes of one git child's standard output
	maxStderr = 4 << 10     // bytes kept of its standard error
	grace     = time.Second // for a child that was asked to stop
)

// OpenGit finds git and asks it for its version. path is absolute, or "git" or "" for the first one on PATH. A
// relative find is refused, and so is one that lies in the repository around the working directory: a repository
// could have planted it.
func OpenGit(path string) (*Git, error) {
	path, err := find(path)
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	g := &Git{path: path}
	if wd, err := os.Getwd(); err == nil {
		if p, err := locate(wd); err == nil {
			if err := g.outside(p.top); err != nil {
				return nil, fmt.Errorf("find git: %w", err)
			}
		}
	}
	out, err := g.run(context.Background(), call{args: []string{"version"}})
	if err != nil {
		return nil, fmt.Errorf("find git: %s: %w", path, err)
	}
	if g.version, err = parseVersion(string(out)); err != nil {
		return nil, fmt.Errorf("find git: %s: %w", path, err)
	}
	return g, nil
}

// Version is git's own version, as in "2.39.5".
func (g *Git) Version() string { return g.version }

// Path is the absolute path of the program.
func (g *Git) Path() string { return g.path }

func find(path string) (string, error) {
	if path == "" || path == "git" {
		found, err := exec.LookPath("git")
		if err != nil {
			return "", err
		}
		path = found
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s: not a program", path)
	}
	return filepath.Clean(path), nil
}

// outside refuses a git that lies below top, by its own name or by what its name links to. It asks about one
// repository at a time, since a package manager's own folder may be a checkout (Homebrew's is).
func (g *Git) outside(top string) error {
	real, err := filepath.EvalSymlinks(g.path)
	if err != nil {
		return err
	}
	if top != "" && (below(g.path, top) || below(real, top)) {
		return fmt.Errorf("%s lies inside the repository %s, which could have planted it", g.path, top)
	}
	return nil
}

// below reports whether path is dir or lies in it; both are absolute and clean.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

var versionForm = regexp.MustCompile(`^git version (\d{1,4})\.(\d{1,4})((?:\.\d{1,6})*)`)

func parseVersion(line string) (string, error) {
	m := versionForm.FindStringSubmatch(line)
	if m == nil {
		return "", fmt.Errorf("%.60q is no version of git", line)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	version := m[1] + "." + m[2] + m[3]
	if major < 2 || major == 2 && minor < 32 {
		return "", fmt.Errorf("git %s is too old, %s or newer is needed", version, Floor)
	}
	return version, nil
}

// call is one git child.
type call struct {
	dir    string      // --git-dir; none if empty
	work   string      // --work-tree; none if empty
	args   []string    // the command and its arguments
	env    []string    // added to the fixed environment
	config [][2]string // added to the fixed configuration, and stronger than it
	global string      // file read as the operator's git configuration; none if empty
	local  bool        // may read another repository on this machine, one that the operator named
	https  bool        // may reach the one remote that its arguments name
	stdin  []byte
	most   int        // bytes of output that are no error; maxOutput if zero
	hold   []*os.File // locks that the child shares, so that they outlive us if it does
}

// hardening is the configuration that every git child gets. It stands above every file that git reads, so a
// repository's own configuration starts no program and reaches no other machine.
var hardening = [][2]string{
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"core.sshCommand", "false"},
	{"core.askPass", "true"},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.alternateRefsCommand", "true"},
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"credential.helper", ""},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"gpg.program", "false"},
	{"gpg.openpgp.program", "false"},
	{"gpg.ssh.program", "false"},
	{"gpg.ssh.defaultKeyCommand", "false"},
	{"gpg.x509.program", "false"},
	{"log.showSignature", "false"},
	{"diff.external", ""},
	{"protocol.allow", "never"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.writeCommitGraph", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
}

// environ is a child's whole environment: nothing of ours is passed on.
func (g *Git) environ(c call) []string {
	global, protocols := c.global, "none"
	if global == "" {
		global = "/dev/null"
	}
	switch {
	case c.local:
		protocols = "file"
	case c.https:
		protocols = "https"
	}
	env := []string{
		"PATH=" + filepath.Dir(g.path) + ":/usr/bin:/bin",
		"HOME=/dev/null",
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + global,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=" + protocols,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_LFS_SKIP_SMUDGE=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_DEFAULT_REF_FORMAT=files",
		"GIT_DEFAULT_HASH=sha1",
	}
	config := append(hardening[:len(hardening):len(hardening)], c.config...)
	if c.local {
		config = append(config, [2]string{"protocol.file.allow", "always"})
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
	for i, kv := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return append(env, c.env...)
}

// uploadPack is the command that a fetch from a local repository starts there. Git strips a part of the
// environment from it; this puts the hardening back, and forbids it to fetch anything itself.
// https://git-scm.com/docs/git-upload-pack#_security
func (g *Git) uploadPack() string {
	return fmt.Sprintf("GIT_CONFIG_COUNT=%d GIT_ALLOW_PROTOCOL=none %s upload-pack --strict", len(hardening), shellQuote(g.path))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// run starts git, the only place of the project that does, and returns what it wrote. When ctx ends, git is asked
// to stop, so that it removes its lock files, and is killed with all its children soon after.
func (g *Git) run(ctx context.Context, c call) ([]byte, error) {
	args := []string{"--no-pager"}
	if c.dir != "" {
		args = append(args, "--git-dir="+c.dir)
	}
	if c.work != "" {
		args = append(args, "--work-tree="+c.work)
	}
	args = append(args, c.args...)
	out, complaint := &bounded{max: cmp.Or(c.most, maxOutput), fail: true}, &bounded{max: maxStderr}
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir = "/"
	cmd.Env = g.environ(c)
	cmd.Stdout, cmd.Stderr = out, complaint
	if c.stdin != nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	cmd.ExtraFiles = c.hold
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	start := time.Now()
	err := runLocked(cmd)
	if g.OnRun != nil {
		g.OnRun(append([]string{"git"}, args[1:]...), cmd.ProcessState.ExitCode(), time.Since(start))
	}
	if err == nil {
		return out.buf.Bytes(), nil
	}
	if out.over {
		err = errTooMuch
	}
	return nil, runError(ctx, c.args, err, complaint.buf.Bytes())
}

// runLocked stays on one thread, since the kernel ends the child when the thread that started it is gone.
func runLocked(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	if err != nil { // what is left of a child that was stopped
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// gitError is a git child that said no.
type gitError struct {
	command string
	code    int
	text    string // what it said, one line
	said    string // all of it that was kept
	err     error
}

func (e *gitError) Error() string {
	s := "git " + e.command + ": " + e.err.Error()
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

func (e *gitError) Unwrap() error { return e.err }

// exitCode is git's exit status, or -1 when it had none.
func exitCode(err error) int {
	var e *gitError
	if errors.As(err, &e) {
		return e.code
	}
	return -1
}

func runError(ctx context.Context, args []string, err error, complaint []byte) error {
	if cause := context.Cause(ctx); cause != nil {
		return &gitError{command: args[0], code: -1, err: cause}
	}
	e := &gitError{command: args[0], code: -1, err: err, text: oneLine(complaint), said: string(complaint)}
	if args[0] == "worktree" {
		e.command = "worktree " + args[1]
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.code = exit.ExitCode()
	}
	return e
}

// oneLine keeps what git said that matters: the first line that names an error, else the first.
func oneLine(complaint []byte) string {
	lines := strings.Split(strings.ToValidUTF8(string(complaint), "?"), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "fatal: ") || strings.HasPrefix(l, "error: ") {
			return clip(l, 300)
		}
	}
	return clip(lines[0], 300)
}

func clip(s string, n int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

var errTooMuch = errors.New("more output than expected")

// bounded keeps the first max bytes; what follows is an error, or dropped.
type bounded struct {
	buf  bytes.Buffer
	max  int
	fail bool
	over bool // more came
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.over = true
	if b.fail {
		return 0, errTooMuch
	}
	b.buf.Write(p[:max(room, 0)])
	return len(p), nil
}

var _ io.Writer = (*bounded)(nil)
