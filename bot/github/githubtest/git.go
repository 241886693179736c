package githubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// git is the one on this machine, run in a clean environment. Every process of this package starts in this file.
type git struct {
	path string
	env  []string
	ctx  context.Context // ends every process when the server closes

	merges bool // it can merge without a working tree, as from 2.38
}

func newGit(ctx context.Context, path, home string) (*git, error) {
	if path == "" {
		found, err := exec.LookPath("git")
		if err != nil {
			return nil, fmt.Errorf("look for git: %w", err)
		}
		path = found
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	g := &git{ctx: ctx, path: path, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
	}}
	version, err := g.run(command{}, "version")
	if err != nil {
		return nil, err
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return nil, fmt.Errorf("git calls itself %q", clip(version, 80))
	}
	g.merges = major > 2 || major == 2 && minor >= 38
	return g, nil
}

// command is one call of git: where, with what, fed what.
type command struct {
	dir   string
	env   []string
	stdin io.Reader
	no    int // the exit status that is an answer; none if zero
}

func (g *git) run(c command, args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, g.path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, append(slices.Clip(g.env), c.env...), c.stdin
	cmd.WaitDelay = 5 * time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); c.no != 0 && errors.As(err, &exit) && exit.ExitCode() == c.no {
			return out.String(), errNo
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, clip(strings.TrimSpace(complaint.String()), 400))
	}
	return out.String(), nil
}

// errNo is git's no to a question, as told by its exit status.
var errNo = errors.New("git says no")

var errOld = errors.New("merging needs git 2.38")

// serve answers one request of the smart protocol on a bare repository.
func (g *git) serve(w http.ResponseWriter, r *http.Request, dir, service, user string, env []string) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization") // its environment holds no token
	root := filepath.Dir(dir)
	r.URL.Path = "/" + filepath.Base(dir) + service
	env = append(append(slices.Clip(g.env), env...), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+user)
	if p := r.Header.Get("Git-Protocol"); protocol.MatchString(p) {
		env = append(env, "GIT_PROTOCOL="+p)
	}
	h := cgi.Handler{Path: g.path, Args: []string{"http-backend"}, Dir: root, Env: env, Stderr: io.Discard}
	h.ServeHTTP(w, r)
}

var protocol = regexp.MustCompile(`^version=[0-9]$`)

// bareConfig makes a bare repository behave as GitHub's do. fsync is off: nothing here outlives a test.
const bareConfig = `[core]
	repositoryformatversion = 0
	bare = true
	fsync = none
[gc]
	auto = 0
[http]
	receivepack = true
	getanyfile = false
[receive]
	autogc = false
	hideRefs = refs/pull
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
`

// updateHook refuses what the App may not change: it runs for each ref, inside git's quarantine.
const updateHook = `#!/bin/sh
[ "$GITHUBTEST_WORKFLOWS" = write ] && exit 0
case "$3" in *[!0]*) ;; *) exit 0 ;; esac
f=$(git log --name-only --format= "$3" --not --all -- .github/workflows | head -n 1)
[ -z "$f" ] && exit 0
echo "refusing to allow a GitHub App to create or update workflow $f without workflows permission" >&2
exit 1
`

// initBare makes an empty repository whose HEAD names a branch.
func (g *git) initBare(dir, branch string) error {
	if _, err := g.run(command{}, "init", "--quiet", "--bare", "--template=", dir); err != nil {
		return err
	}
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"HEAD":         {"ref: refs/heads/" + branch + "\n", 0o600},
		"config":       {bareConfig, 0o600},
		"hooks/update": {updateHook, 0o700},
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(file.text), file.mode); err != nil {
			return err
		}
	}
	return nil
}

// refs are all branches and tags and where they stand.
func (g *git) refs(dir string) (map[string]string, error) {
	out, err := g.run(command{dir: dir}, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = sha
	}
	return refs, err
}

// commit writes files on top of a parent, none for a first commit, in one process, and moves the branch there.
func (g *git) commit(dir, branch, parent string, files map[string]string, by Person, message string, at time.Time) (string, error) {
	var in bytes.Buffer
	data := func(text string) { fmt.Fprintf(&in, "data %d\n%s\n", len(text), text) }
	fmt.Fprintf(&in, "commit refs/heads/%s\nmark :1\n", branch)
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&in, "%s %s <%s> %d +0000\n", role, by.Name, by.Email, at.Unix())
	}
	data(message)
	if parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	for _, name := range slices.Sorted(mapKeys(files)) {
		switch text := files[name]; {
		case text == Gone:
			fmt.Fprintf(&in, "D %s\n", name)
		case strings.HasPrefix(text, "#!"):
			fmt.Fprintf(&in, "M 100755 inline %s\n", name)
			data(text)
		default:
			fmt.Fprintf(&in, "M 100644 inline %s\n", name)
			data(text)
		}
	}
	in.WriteString("get-mark :1\ndone\n")
	out, err := g.run(command{dir: dir, stdin: &in}, "fast-import", "--quiet", "--done", "--force")
	return strings.TrimSpace(out), err
}

// merge makes the commit that a merge of head into base would be, without moving anything; errNo when they conflict.
func (g *git) merge(dir, base, head, message string, by Person, at time.Time) (string, error) {
	if !g.merges {
		return "", errOld
	}
	out, err := g.run(command{dir: dir, no: 1}, "merge-tree", "--write-tree", base, head)
	if err != nil {
		return "", err
	}
	tree, _, _ := strings.Cut(out, "\n")
	when := fmt.Sprintf("%d +0000", at.Unix())
	out, err = g.run(command{dir: dir, env: []string{
		"GIT_AUTHOR_NAME=" + by.Name, "GIT_AUTHOR_EMAIL=" + by.Email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + by.Name, "GIT_COMMITTER_EMAIL=" + by.Email, "GIT_COMMITTER_DATE=" + when,
	}}, "commit-tree", tree, "-p", base, "-p", head, "-m", message)
	return strings.TrimSpace(out), err
}

// set moves a ref, or deletes it when there is no sha.
func (g *git) set(dir, ref, sha string) error {
	args := []string{"update-ref", ref, sha}
	if sha == "" {
		args = []string{"update-ref", "-d", ref}
	}
	_, err := g.run(command{dir: dir}, args...)
	return err
}

// bring copies what refspecs name from another repository on this machine.
func (g *git) bring(dir, from string, refspecs ...string) error {
	_, err := g.run(command{dir: dir}, append([]string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", from}, refspecs...)...)
	return err
}

// ancestor says whether one commit is within another's history.
func (g *git) ancestor(dir, old, new string) bool {
	_, err := g.run(command{dir: dir, no: 1}, "merge-base", "--is-ancestor", old, new)
	return err == nil
}

// object reads one object; errNo when there is none of that kind.
func (g *git) object(dir, kind, name string) (string, error) {
	return g.run(command{dir: dir, no: 128}, "cat-file", kind, name)
}
