package githubtest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Gone, as the text of a file, deletes the file.
const Gone = "\x00gone"

// Person is who a commit says wrote it.
type Person struct{ Name, Email string }

// account is a user, an organisation or a bot.
type account struct {
	id    int64
	login string
	kind  string // User, Organization, Bot
	plan  string // of an organisation
}

// app is a GitHub App: ours, Actions, or a third party's that makes checks.
type app struct {
	id          int64
	slug        string
	owner, bot  *account
	permissions map[string]string
	made        time.Time
}

// actionsApp is the App id of GitHub Actions, as on github.com.
const actionsApp = 15368

// installation is our App on one account.
type installation struct {
	id          int64
	account     *account
	permissions map[string]string
	repos       map[int64]bool
	made        time.Time
	suspended   time.Time
}

// Repo is a repository and all that happens in it.
type Repo struct {
	s         *Server
	id        int64
	owner     *account
	name      string
	private   bool
	archived  bool
	branch    string // default one
	parent    *Repo  // of a fork
	dir       string
	made      time.Time
	pushed    time.Time
	roles     map[string]string // by login in lower case
	labels    []*label
	issues    []*issue // by number, from 1
	refs      map[string]string
	commits   map[string]*commit
	protected map[string]bool
	suites    []*suite
	runs      []*run // of workflows
	checks    []*check
	statuses  []*status
	noDrafts  bool // draft pull requests are not to be had
	pulls     bool // Actions may create pull requests
	moving    sync.Mutex
}

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

func (s *Server) addApps() {
	for id, slug := range map[int64]string{s.o.AppID: s.o.AppSlug, actionsApp: "github-actions"} {
		s.addApp(id, slug)
	}
}

func (s *Server) addApp(id int64, slug string) *app {
	a := &app{id: id, slug: slug, owner: s.account("githubtest", "Organization"), bot: s.account(slug+"[bot]", "Bot"), made: s.now(),
		permissions: map[string]string{"metadata": "read", "checks": "write"}}
	s.apps[id] = a
	return a
}

// account finds one, or makes it.
func (s *Server) account(login, kind string) *account {
	a := s.accounts[fold(login)]
	if a == nil {
		a = &account{id: s.id(), login: login, kind: kind, plan: "team"}
		s.accounts[fold(login)] = a
	}
	return a
}

// AddUser makes a user, or finds it, and answers with the id.
func (s *Server) AddUser(login string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account(login, "User").id
}

// AddBot makes a bot's account, as in "dependabot[bot]".
func (s *Server) AddBot(login string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account(login, "Bot").id
}

// AddOrg makes an organisation on a plan: free, team, business.
func (s *Server) AddOrg(login, plan string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(login, "Organization")
	a.plan = plan
	return a.id
}

// Seed is what a repository begins with. The zero Seed is an empty repository.
type Seed struct {
	Files   map[string]string // one commit of these; a text that begins with #! is executable
	From    string            // or a repository on this machine, with all branches and tags
	Branch  string            // default branch; what From's HEAD names, else "main", if empty
	Private bool
}

// AddRepo makes a repository. The owner, a user unless AddOrg made it, is its admin.
func (s *Server) AddRepo(owner, name string, seed Seed) (*Repo, error) {
	r, err := s.newRepo(owner, name, seed)
	if err != nil {
		return nil, fmt.Errorf("add %s/%s: %w", owner, name, err)
	}
	switch {
	case seed.From != "":
		err = s.git.bring(r.dir, seed.From, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
		if err == nil {
			err = r.moved(nil)
		}
	case len(seed.Files) > 0:
		_, err = r.Commit(r.branch, seed.Files, Person{}, "begin")
	}
	if err != nil {
		return nil, fmt.Errorf("add %s/%s: %w", owner, name, err)
	}
	return r, nil
}

func (s *Server) newRepo(owner, name string, seed Seed) (*Repo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.names[fold(owner, name)]; r != nil && fold(r.full()) == fold(owner, name) {
		return nil, errors.New("there is one already")
	}
	r := &Repo{
		s: s, id: s.id(), owner: s.account(owner, "User"), name: name, private: seed.Private, branch: seed.Branch,
		made: s.now(), pushed: s.now(), roles: map[string]string{}, refs: map[string]string{}, commits: map[string]*commit{},
		protected: map[string]bool{},
	}
	r.dir = filepath.Join(s.o.Dir, "repos", strconv.FormatInt(r.id, 10)+".git")
	if r.branch == "" {
		r.branch = "main"
		if seed.From != "" {
			if head, err := s.git.run(command{dir: seed.From, no: 1}, "symbolic-ref", "--short", "HEAD"); err == nil {
				r.branch = strings.TrimSpace(head)
			}
		}
	}
	if err := s.git.initBare(r.dir, r.branch); err != nil {
		return nil, err
	}
	r.roles[fold(owner)] = "admin"
	s.repos[r.id] = r
	s.names[fold(owner, name)] = r
	return r, nil
}

// Fork makes a copy of a repository that belongs to someone else, and knows where it came from.
func (r *Repo) Fork(owner string) (*Repo, error) {
	f, err := r.s.AddRepo(owner, r.Name(), Seed{From: r.dir, Branch: r.branch, Private: r.private})
	if err != nil {
		return nil, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	f.parent = r
	return f, nil
}

// Repo finds a repository by its present name.
func (s *Server) Repo(owner, name string) (*Repo, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.names[fold(owner, name)]
	return r, r != nil && fold(r.full()) == fold(owner, name)
}

func (r *Repo) full() string { return r.owner.login + "/" + r.name }

// ID is the repository's id.
func (r *Repo) ID() int64 { return r.id }

// Owner is the login of the owner.
func (r *Repo) Owner() string { return r.owner.login }

// Name is the present name.
func (r *Repo) Name() string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.name
}

// GitURL is the address for git.
func (r *Repo) GitURL() string { return r.s.GitURL(r.Owner(), r.Name()) }

// Branches are the branches and where they stand.
func (r *Repo) Branches() map[string]string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	tips := map[string]string{}
	for ref, sha := range r.refs {
		if b, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			tips[b] = sha
		}
	}
	return tips
}

// Tip is where a branch stands; "" when there is none.
func (r *Repo) Tip(branch string) string { return r.Branches()[branch] }

// File reads one file of a commit or branch.
func (r *Repo) File(rev, path string) (string, error) {
	text, err := r.s.git.object(r.dir, "blob", rev+":"+path)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", path, rev, err)
	}
	return text, nil
}

// SetPermission gives a user a role: admin, maintain, write, triage, read, or "" for none.
func (r *Repo) SetPermission(login, role string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.account(login, "User")
	r.roles[fold(login)] = role
}

// role is what a user may do here.
func (r *Repo) role(login string) string {
	switch role := r.roles[fold(login)]; {
	case role != "":
		return role
	case r.private:
		return "none"
	}
	return "read"
}

var ranks = []string{"none", "read", "triage", "write", "maintain", "admin"}

func (r *Repo) atLeast(login, role string) bool {
	return slices.Index(ranks, r.role(login)) >= slices.Index(ranks, role)
}

// Protect refuses every push to a branch, as a protection that wants pull requests does.
func (r *Repo) Protect(branch string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.protected["refs/heads/"+branch] = true
}

// DenyForce has git itself refuse pushes that are no fast-forward, to any branch.
func (r *Repo) DenyForce() error {
	_, err := r.s.git.run(command{dir: r.dir}, "config", "receive.denyNonFastForwards", "true")
	return err
}

// DraftsUnsupported makes draft pull requests unknown here, as in private repositories of some plans.
func (r *Repo) DraftsUnsupported() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.noDrafts = true
}

// CanCreatePulls is the setting that lets Actions create and approve pull requests; it is off at first.
func (r *Repo) CanCreatePulls(yes bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.pulls = yes
}

// Archive makes the repository read-only.
func (r *Repo) Archive() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.archived = true
}

// Rename gives the repository another name; the old one answers with a redirect, as long as nobody takes it.
func (r *Repo) Rename(name, by string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	old := r.name
	r.name = name
	r.s.names[fold(r.full())] = r
	r.s.emit(r, "repository", "renamed", obj{"changes": obj{"repository": obj{"name": obj{"from": old}}}}, r.s.account(by, "User"))
}

// SetDefault makes another branch the default one.
func (r *Repo) SetDefault(branch string) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.branch = branch
	_, err := r.s.git.run(command{dir: r.dir}, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	return err
}

// Delete takes the repository off this GitHub.
func (r *Repo) Delete() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	delete(r.s.repos, r.id)
	maps.DeleteFunc(r.s.names, func(_ string, other *Repo) bool { return other == r })
}

// Install puts our App on repositories of one owner, with permissions such as {"contents": "write"}; reading metadata is always
// among them.
func (s *Server) Install(permissions map[string]string, repos ...*Repo) (id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &installation{id: s.id(), permissions: readable(permissions), repos: map[int64]bool{}, made: s.now()}
	for _, r := range repos {
		in.account = r.owner
		in.repos[r.id] = true
	}
	if in.account == nil {
		in.account = s.account("githubtest", "Organization")
	}
	s.installs[in.id] = in
	s.emitInstalled(in, repos)
	return in.id
}

// Join adds repositories to an installation; tokens that are for all of them reach the new ones too.
func (s *Server) Join(id int64, repos ...*Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.installs[id]
	if in == nil {
		return
	}
	for _, r := range repos {
		in.repos[r.id] = true
	}
	s.post(nil, in, "installation_repositories", "added", obj{
		"installation": s.installationJSON(in), "repositories_added": shortRepos(repos), "repositories_removed": []any{},
		"repository_selection": "selected", "requester": nil, "sender": s.userJSON(in.account),
	})
}

// Permit changes what an installation may, as its owner does; tokens that are out keep what they have.
func (s *Server) Permit(id int64, permissions map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.installs[id]; in != nil {
		in.permissions = readable(permissions)
	}
}

// readable is a copy in which metadata can be read, as always.
func readable(permissions map[string]string) map[string]string {
	out := map[string]string{"metadata": "read"}
	maps.Copy(out, permissions)
	return out
}

// Suspend takes an installation's tokens away, and says no to new ones.
func (s *Server) Suspend(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.installs[id]; in != nil {
		in.suspended = s.now()
		maps.DeleteFunc(s.tokens, func(_ string, t *token) bool { return t.install == id })
	}
}

// installed finds the installation that a repository belongs to.
func (s *Server) installed(r *Repo) *installation {
	for _, in := range s.installs {
		if in.repos[r.id] {
			return in
		}
	}
	return nil
}
