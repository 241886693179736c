package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrNoSuchCommit is returned for a revision that names no commit.
var ErrNoSuchCommit = errors.New("no such commit")

// Mirror is a bare copy of one repository with objects of its own: nothing that happens to the repository afterwards
// changes it, and no checkout made from it runs a filter or changes a byte.
type Mirror struct {
	store *Store
	git   string // folder
	name  string // of the mirrored repository, for people
	head  string // commit that the named checkout had when it was mirrored, "" when it had none
}

// attributes of every mirror. They stand above those of any tree, so that each checkout is its blobs, byte for byte.
const mirrorAttributes = "* -text !eol !crlf -filter -ident !working-tree-encoding -diff -merge\n"

// refs that a mirror takes over under their own names, so that a revision means the same in both.
var mirrored = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+refs/remotes/*:refs/remotes/*"}

// Mirror brings the mirror of a repository on this machine up to date, made if missing. local is a folder that the
// operator named: anywhere in a checkout, or a bare repository. It is read as untrusted content, and not written to.
func (s *Store) Mirror(ctx context.Context, local string) (*Mirror, error) {
	m, err := s.mirror(ctx, local)
	if err != nil {
		return nil, fmt.Errorf("mirror %s: %w", local, err)
	}
	return m, nil
}

func (s *Store) mirror(ctx context.Context, local string) (*Mirror, error) {
	p, err := s.source(ctx, local)
	if err != nil {
		return nil, err
	}
	m := &Mirror{store: s, git: filepath.Join(s.mirrors(), shortHash(p.common)+".git"), name: p.common}
	lock, err := m.lock(ctx, exclusive)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := used(lock); err != nil {
		return nil, err
	}
	if m.head, err = s.git.head(ctx, p); err != nil {
		return nil, err
	}
	if err := m.refresh(ctx, p, lock); err != nil {
		if !m.broken(ctx) || m.inUse() {
			return nil, err
		}
		if err := removeAll(m.git); err != nil {
			return nil, err
		}
		if err := m.refresh(ctx, p, lock); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// source finds the repository and refuses what cannot be mirrored.
func (s *Store) source(ctx context.Context, local string) (place, error) {
	p, err := locate(local)
	if err != nil {
		return place{}, err
	}
	if err := s.git.outside(p.top); err != nil {
		return place{}, err
	}
	return p, s.git.sha1Only(ctx, p)
}

// sha1Only refuses a repository with SHA-256 names, which go-git does not read.
func (g *Git) sha1Only(ctx context.Context, p place) error {
	out, err := g.run(ctx, call{dir: p.gitDir, args: []string{"rev-parse", "--show-object-format"}})
	if err != nil {
		return err
	}
	if format := strings.TrimSpace(string(out)); format != "sha1" {
		return fmt.Errorf("%s: object format %s is not supported, only sha1", p.common, format)
	}
	return nil
}

// head is the commit that HEAD names, "" when there is none yet.
func (g *Git) head(ctx context.Context, p place) (string, error) {
	out, err := g.run(ctx, call{dir: p.gitDir, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD"}})
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

func (m *Mirror) lock(ctx context.Context, k kind) (*os.File, error) {
	return take(ctx, guardOf(m.git), k)
}

// Dir is the mirror's folder.
func (m *Mirror) Dir() string { return m.git }

// Head is the commit that the mirrored checkout was at, "" when it had none.
func (m *Mirror) Head() string { return m.head }

// inUse reports whether trees were cut from the mirror that still stand.
func (m *Mirror) inUse() bool {
	books, err := os.ReadDir(filepath.Join(m.git, "worktrees"))
	return err == nil && len(books) > 0
}

// broken reports whether git finds the mirror damaged, as a power cut can leave it and a kill cannot.
func (m *Mirror) broken(ctx context.Context) bool {
	args := []string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}
	_, err := m.store.git.run(ctx, call{dir: m.git, args: args})
	return exitCode(err) > 0
}

// refresh heals, makes and fetches. The caller holds the lock alone.
func (m *Mirror) refresh(ctx context.Context, p place, lock *os.File) error {
	if err := heal(m.git); err != nil {
		return err
	}
	if err := m.init(ctx); err != nil {
		return err
	}
	trust := strings.TrimSuffix(m.git, ".git") + ".config"
	if err := writeWhole(trust, safeDirectory(p.gitDir, p.common)); err != nil {
		return err
	}
	head := "+HEAD:refs/redraft/head/" + shortHash(p.gitDir) // which may be on no branch; one for each checkout
	all := append([]string{p.gitDir}, mirrored...)
	if m.head != "" {
		all = append(all, head)
	}
	err := m.fetch(ctx, trust, lock, append([]string{"--prune", "--end-of-options"}, all...)...)
	if err == nil || m.head == "" || !m.store.git.partial(ctx, p) {
		return err
	}
	// A partial clone cannot show its history, but what it has checked out it has.
	if m.fetch(ctx, trust, lock, "--depth=1", "--end-of-options", p.gitDir, head) == nil {
		return nil
	}
	return fmt.Errorf("it is a partial clone, and what it lacks is not fetched (git fetch --refetch --no-filter gets it): %w", err)
}

func (m *Mirror) fetch(ctx context.Context, trust string, lock *os.File, args ...string) error {
	fixed := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--update-shallow", "--update-head-ok", "--no-show-forced-updates", "--upload-pack=" + m.store.git.uploadPack()}
	_, err := m.store.git.run(ctx, call{dir: m.git, args: append(fixed, args...), local: true, global: trust, hold: []*os.File{lock}})
	return err
}

// partial reports whether the repository was cloned without all of its objects.
func (g *Git) partial(ctx context.Context, p place) bool {
	args := []string{"config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`}
	_, err := g.run(ctx, call{dir: p.gitDir, args: args})
	return err == nil
}

// safeDirectory is a configuration that lets git read the named repository whoever owns it, and no other: containers
// and CI run as another user than the one who made the checkout. git takes this from a file only.
// https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
func safeDirectory(dirs ...string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	var b strings.Builder
	b.WriteString("[safe]\n")
	for _, d := range dirs {
		fmt.Fprintf(&b, "\tdirectory = \"%s\"\n", quote.Replace(d))
	}
	return b.String()
}

// init makes the mirror beside its place and moves it there whole.
func (m *Mirror) init(ctx context.Context) error {
	if _, err := os.Lstat(m.git); err == nil {
		return writeWhole(filepath.Join(m.git, "info", "attributes"), mirrorAttributes)
	}
	fresh := m.git + ".new-" + newID()
	args := []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=none", "--end-of-options", fresh}
	if _, err := m.store.git.run(ctx, call{args: args}); err != nil {
		return errors.Join(err, removeAll(fresh))
	}
	if err := os.MkdirAll(filepath.Join(fresh, "info"), 0o700); err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(fresh, "info", "attributes"), mirrorAttributes); err != nil {
		return err
	}
	return os.Rename(fresh, m.git)
}

// writeWhole replaces a file so that a reader sees the old text or the new one.
func writeWhole(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	next := path + ".lock" // swept like git's own if we are killed here
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

var (
	shaForm  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	headForm = regexp.MustCompile(`^(?:HEAD|@)($|[~^@].*)`)
)

// Resolve is the commit that a revision names, as in "HEAD~2", "main", "v1.2" or a commit's name. HEAD is that of the
// checkout which was mirrored.
func (m *Mirror) Resolve(ctx context.Context, rev string) (string, error) {
	name := rev
	if h := headForm.FindStringSubmatch(rev); h != nil && m.head != "" && !strings.HasPrefix(h[1], "@") {
		name = m.head + h[1]
	}
	if name == "" || strings.ContainsAny(name, "\x00\n") {
		return "", fmt.Errorf("resolve %q: %w", rev, ErrNoSuchCommit)
	}
	args := []string{"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"}
	out, err := m.store.git.run(ctx, call{dir: m.git, args: args})
	sha := strings.TrimSpace(string(out))
	if err == nil && shaForm.MatchString(sha) {
		return sha, nil
	}
	if ctx.Err() != nil || exitCode(err) < 0 && err != nil {
		return "", fmt.Errorf("resolve %q: %w", rev, err)
	}
	return "", fmt.Errorf("resolve %q: %w", rev, ErrNoSuchCommit)
}

// checkSHA refuses what is not a commit's full name, before it becomes an argument of git.
func checkSHA(sha string) error {
	if !shaForm.MatchString(sha) {
		return fmt.Errorf("%.60q: not the full name of a commit: %w", sha, ErrNoSuchCommit)
	}
	return nil
}
