package worktree

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Remote is a repository over HTTPS and how to get in. Its token reaches git through its environment alone.
type Remote struct {
	URL   string // as in https://github.com/owner/name.git; never with a credential in it
	Token string // sent as basic auth of x-access-token, to this address's host alone; anonymous if empty
	CA    string // PEM file of authorities, as of a local GitHub; the system's if empty
}

// Errors of a remote, besides ErrNoSuchCommit and ErrBranchTaken.
var (
	// ErrDenied is returned when the remote does not let the token in, or shows it no such repository.
	ErrDenied = errors.New("the remote does not let this credential in")
	// ErrRefused is returned when the remote takes no such push, as to a protected branch.
	ErrRefused = errors.New("the remote refused the push")
)

// check refuses an address that could reach anything but one repository over HTTPS.
func (r Remote) check() error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return errors.New("the address cannot be read") // the parser's words would hold it
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(r.URL, "\n\r\x00 ") {
		return fmt.Errorf("%.80q: not the https address of a repository without a credential in it", u.Redacted())
	}
	return nil
}

// config is what git is told of the remote, all of it through the environment. Redirects are not followed: they would
// carry the token to whatever the answer names.
func (r Remote) config() [][2]string {
	config := [][2]string{
		{"protocol.https.allow", "always"},
		{"http.followRedirects", "false"},
		{"http.sslVerify", "true"},
		{"http.proxy", ""},
		{"http.lowSpeedLimit", "100"},
		{"http.lowSpeedTime", "60"},
		{"http.userAgent", "redraft"},
		{"push.default", "nothing"},
		{"push.followTags", "false"},
		{"push.recurseSubmodules", "no"},
	}
	if r.CA != "" {
		config = append(config, [2]string{"http.sslCAInfo", r.CA})
	}
	if r.Token != "" {
		u, _ := url.Parse(r.URL)
		auth := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + r.Token))
		config = append(config, [2]string{"http.https://" + u.Host + "/.extraHeader", "Authorization: Basic " + auth})
	}
	return config
}

// over is a call that speaks to the remote.
func (r Remote) over(m *Mirror, lock *os.File, args ...string) call {
	return call{dir: m.git, args: args, config: r.config(), https: true, hold: []*os.File{lock}}
}

// FetchFrom brings commits of a remote, with their history, into the mirror of that name, made if missing. name is what the
// repository is known by for good, as its host and id: an address can move. A commit that the remote does not have is an
// ErrNoSuchCommit.
func (s *Store) FetchFrom(ctx context.Context, name string, r Remote, commits ...string) (*Mirror, error) {
	m := &Mirror{store: s, git: filepath.Join(s.mirrors(), shortHash("remote "+name)+".git"), name: name}
	if err := m.fetchFrom(ctx, r, commits); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	return m, nil
}

func (m *Mirror) fetchFrom(ctx context.Context, r Remote, commits []string) error {
	if err := r.check(); err != nil {
		return err
	}
	for _, sha := range commits {
		if err := checkSHA(sha); err != nil {
			return err
		}
	}
	lock, err := m.lock(ctx, exclusive)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := used(lock); err != nil {
		return err
	}
	err = m.bring(ctx, r, lock, commits)
	if err == nil || ctx.Err() != nil || !m.broken(ctx) || m.inUse() {
		return err
	}
	if err := removeAll(m.git); err != nil { // as a power cut leaves it: nothing in it is not at the remote too
		return err
	}
	return m.bring(ctx, r, lock, commits)
}

// bring heals, makes and fetches what is missing. The caller holds the lock alone.
func (m *Mirror) bring(ctx context.Context, r Remote, lock *os.File, commits []string) error {
	if err := heal(m.git); err != nil {
		return err
	}
	if err := m.init(ctx); err != nil {
		return err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-show-forced-updates", "--end-of-options", r.URL}
	missing := 0
	for _, sha := range commits {
		if !m.pinned(ctx, sha) {
			args = append(args, sha+":"+pin(sha))
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	_, err := m.store.git.run(ctx, r.over(m, lock, args...))
	return remoteError(err)
}

// pin is the ref that keeps a fetched commit.
func pin(sha string) string { return "refs/redraft/pin/" + sha }

// pinned reports whether a commit was brought with its whole history; a commit that is merely there need not have it.
func (m *Mirror) pinned(ctx context.Context, sha string) bool {
	_, err := m.store.git.run(ctx, call{dir: m.git, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", pin(sha) + "^{tree}"}})
	return err == nil
}

// TipAt is the commit that a branch of the remote stands at, "" when there is no such branch.
func (m *Mirror) TipAt(ctx context.Context, r Remote, branch string) (string, error) {
	ref := "refs/heads/" + strings.TrimPrefix(branch, "refs/heads/")
	sha, err := m.tipAt(ctx, r, ref)
	if err != nil {
		return "", fmt.Errorf("look for %s at the remote: %w", ref, err)
	}
	return sha, nil
}

func (m *Mirror) tipAt(ctx context.Context, r Remote, ref string) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	lock, err := m.lock(ctx, shared)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	out, err := m.store.git.run(ctx, r.over(m, lock, "ls-remote", "--refs", "--end-of-options", r.URL, ref))
	if err != nil {
		return "", remoteError(err)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if sha, name, ok := strings.Cut(line, "\t"); ok && name == ref && shaForm.MatchString(sha) {
			return sha, nil
		}
	}
	return "", nil
}

// Push makes a branch of ours at the remote, or moves it forward: sha follows what it stands at, or the error is an
// ErrBranchTaken. Nothing is ever forced. expectOld is what the branch must stand at before, "" when there must be
// none. A second push of the same is no error.
func (m *Mirror) Push(ctx context.Context, r Remote, branch, sha, expectOld string) error {
	if err := m.push(ctx, r, branch, sha, expectOld); err != nil {
		return fmt.Errorf("push %.8s to %s: %w", sha, branch, err)
	}
	return nil
}

func (m *Mirror) push(ctx context.Context, r Remote, branch, sha, expectOld string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	ref, err := m.store.git.branchRef(ctx, branch)
	if err != nil {
		return err
	}
	old, err := m.tipAt(ctx, r, ref)
	if err != nil || old == sha {
		return err
	}
	if old != expectOld {
		return fmt.Errorf("it stands at %.8s, not at %.8s: %w", old, expectOld, ErrBranchTaken)
	}
	if old != "" {
		if err := m.precedes(ctx, old, sha); err != nil {
			return err
		}
	}
	lock, err := m.lock(ctx, shared)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err = m.send(ctx, r, lock, sha, ref); err == nil || ctx.Err() != nil {
		return err
	}
	if now, lookErr := m.tipAt(ctx, r, ref); lookErr == nil && now == sha { // it landed and only the answer was lost
		return nil
	}
	return err
}

// send is the one push. No refspec of it begins with a plus, and no flag forces.
func (m *Mirror) send(ctx context.Context, r Remote, held *os.File, sha, ref string, dry ...string) error {
	args := append([]string{"push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags"}, dry...)
	_, err := m.store.git.run(ctx, r.over(m, held, append(args, "--end-of-options", r.URL, sha+":"+ref)...))
	return remoteError(err)
}

// precedes makes sure that sha comes after old; what the mirror does not know it does not follow.
func (m *Mirror) precedes(ctx context.Context, old, sha string) error {
	_, err := m.store.git.run(ctx, call{dir: m.git, args: []string{"merge-base", "--is-ancestor", old, sha}})
	if code := exitCode(err); code == 1 || code == 128 {
		return fmt.Errorf("it stands at %.8s, which %.8s does not follow: %w", old, sha, ErrBranchTaken)
	}
	return err
}

// Follows reports whether a commit comes after another one, or is the same.
func (m *Mirror) Follows(ctx context.Context, old, sha string) bool {
	return checkSHA(old) == nil && checkSHA(sha) == nil && m.precedes(ctx, old, sha) == nil
}

// remoteSigns are what git says, in the C locale, and what it means.
// https://git-scm.com/docs/git-push#_output and git's remote-curl.c
var remoteSigns = []struct {
	sign string
	err  error
}{
	{"not our ref", ErrNoSuchCommit},
	{"couldn't find remote ref", ErrNoSuchCommit},
	{"Authentication failed", ErrDenied},
	{"could not read Username", ErrDenied},
	{"returned error: 401", ErrDenied},
	{"returned error: 403", ErrDenied},
	{"returned error: 404", ErrDenied},
	{"not found", ErrDenied},
	{"[rejected]", ErrBranchTaken},
	{"non-fast-forward", ErrBranchTaken},
	{"fetch first", ErrBranchTaken},
	{"cannot lock ref", ErrBranchTaken},
	{"[remote rejected]", ErrRefused},
	{"failed to push some refs", ErrRefused},
}

// remoteError gives what git said its kind.
func remoteError(err error) error {
	var g *gitError
	if !errors.As(err, &g) || g.code < 0 {
		return err
	}
	for _, s := range remoteSigns {
		if strings.Contains(g.said, s.sign) {
			return fmt.Errorf("%w: %w", s.err, err)
		}
	}
	return err
}

// MayPush makes sure that the credential may push a commit of the mirror as a branch. It changes nothing. The error is an
// ErrDenied when it may not.
func (m *Mirror) MayPush(ctx context.Context, r Remote, branch, sha string) error {
	if err := m.mayPush(ctx, r, branch, sha); err != nil {
		return fmt.Errorf("try to push %.8s to %s: %w", sha, branch, err)
	}
	return nil
}

func (m *Mirror) mayPush(ctx context.Context, r Remote, branch, sha string) error {
	if err := errors.Join(r.check(), checkSHA(sha)); err != nil {
		return err
	}
	ref, err := m.store.git.branchRef(ctx, branch)
	if err != nil {
		return err
	}
	lock, err := m.lock(ctx, shared)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err = m.send(ctx, r, lock, sha, ref, "--dry-run"); errors.Is(err, ErrBranchTaken) { // it may push, if not this
		return nil
	}
	return err
}
