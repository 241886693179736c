package githubtest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// commit is one commit, read once.
type commit struct {
	sha, tree, message string
	parents            []string
	author, committer  signature
}

type signature struct {
	name, email string
	at          time.Time
}

// Commit writes files on top of a branch, which begins at the default branch's tip if it is new, and tells everyone that the
// account of the author's name pushed, or the owner if there is none. The zero Person is the owner.
func (r *Repo) Commit(branch string, files map[string]string, by Person, message string) (sha string, err error) {
	if by.Name == "" {
		by.Name = r.Owner()
	}
	if by.Email == "" {
		by.Email = by.Name + "@users.noreply.github.com"
	}
	for name := range files {
		if path.Clean("/"+name) != "/"+name || strings.ContainsAny(name, "\n\"") {
			return "", fmt.Errorf("commit to %s: %q is no path", branch, name)
		}
	}
	r.moving.Lock()
	defer r.moving.Unlock()
	r.s.mu.Lock()
	at, parent := r.s.now(), r.refs["refs/heads/"+branch]
	if parent == "" {
		parent = r.refs["refs/heads/"+r.branch]
	}
	who := r.s.accounts[fold(by.Name)]
	if who == nil {
		who = r.owner
	}
	r.s.mu.Unlock()
	if sha, err = r.s.git.commit(r.dir, branch, parent, files, by, message, at); err != nil {
		return "", fmt.Errorf("commit to %s: %w", branch, err)
	}
	return sha, r.moved(who)
}

// SetBranch moves a branch to any commit, or makes it, as a force push of someone with admin does.
func (r *Repo) SetBranch(branch, sha, by string) error {
	r.moving.Lock()
	defer r.moving.Unlock()
	if err := r.s.git.set(r.dir, "refs/heads/"+branch, sha); err != nil {
		return err
	}
	return r.moved(r.user(by))
}

// DeleteBranch takes a branch away; its open pull requests are closed.
func (r *Repo) DeleteBranch(branch, by string) error { return r.SetBranch(branch, "", by) }

func (r *Repo) user(login string) *account {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.account(login, "User")
}

// commitAt finds the commit that a sha, a branch, a tag or a ref such as pull/7/merge names; nil when there is none.
func (r *Repo) commitAt(rev string) *commit {
	for _, ref := range []string{"refs/heads/" + rev, "refs/tags/" + rev, "refs/" + rev} {
		if sha := r.ref(ref); sha != "" {
			rev = sha
			break
		}
	}
	if c := r.commits[rev]; c != nil {
		return c
	}
	if !hexadecimal(rev) {
		return nil
	}
	text, err := r.s.git.object(r.dir, "commit", rev)
	if err != nil {
		return nil
	}
	c := parseCommit(rev, text)
	r.commits[rev] = c
	return c
}

// ref is where a ref stands, those of pull requests too.
func (r *Repo) ref(name string) string {
	if sha := r.refs[name]; sha != "" {
		return sha
	}
	parts := strings.Split(name, "/")
	if len(parts) != 4 || parts[1] != "pull" {
		return ""
	}
	n, _ := strconv.Atoi(parts[2])
	if is := r.issue(n); is != nil && is.pull != nil {
		switch parts[3] {
		case "head":
			return is.pull.head
		case "merge":
			return is.pull.mergeRef
		}
	}
	return ""
}

func hexadecimal(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

func parseCommit(sha, text string) *commit {
	head, message, _ := strings.Cut(text, "\n\n")
	c := &commit{sha: sha, message: strings.TrimSuffix(message, "\n")}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author = parseSignature(value)
		case "committer":
			c.committer = parseSignature(value)
		}
	}
	return c
}

func parseSignature(text string) signature {
	end := strings.LastIndexByte(text, '>')
	if end < 0 {
		return signature{name: text}
	}
	name, email, _ := strings.Cut(text[:end], "<")
	sig := signature{name: strings.TrimSpace(name), email: email}
	seconds, _, _ := strings.Cut(strings.TrimSpace(text[end+1:]), " ")
	n, _ := strconv.ParseInt(seconds, 10, 64)
	sig.at = time.Unix(n, 0).UTC()
	return sig
}

func getCommit(c *call) (any, error) {
	ref := c.r.PathValue("ref")
	k := c.repo.commitAt(ref)
	if k == nil {
		return nil, invalidf("No commit found for SHA: %s", ref)
	}
	answer := c.repo.commitJSON(k)
	answer["stats"] = obj{"additions": 0, "deletions": 0, "total": 0}
	answer["files"] = []any{}
	return answer, nil
}

func getBranch(c *call) (any, error) {
	name := c.r.PathValue("branch")
	sha := c.repo.refs["refs/heads/"+name]
	if sha == "" {
		return nil, &no{status: http.StatusNotFound, message: "Branch not found"}
	}
	k := c.repo.commitAt(sha)
	if k == nil {
		return nil, errors.New("a branch without a commit")
	}
	protected, self := c.repo.protected["refs/heads/"+name], c.repo.api("/branches/"+name)
	return obj{
		"name": name, "commit": c.repo.commitJSON(k), "protected": protected, "protection_url": self + "/protection",
		"protection": obj{"enabled": protected, "required_status_checks": obj{"enforcement_level": "off", "contexts": []any{}, "checks": []any{}}},
		"_links":     obj{"self": self, "html": c.repo.html("/tree/" + name)},
	}, nil
}

func getRef(c *call) (any, error) {
	name := "refs/" + c.r.PathValue("ref")
	sha := c.repo.ref(name)
	if sha == "" {
		return nil, notFound
	}
	kind := "commit"
	if c.repo.commitAt(sha) == nil {
		kind = "tag"
	}
	return obj{
		"ref": name, "node_id": node("Ref", c.repo.id, name), "url": c.repo.api("/git/" + name),
		"object": obj{"type": kind, "sha": sha, "url": c.repo.api("/git/" + kind + "s/" + sha)},
	}, nil
}

// entry is one line of a tree.
type entry struct {
	mode, kind, sha, name string
	size                  int64
}

// list reads a folder's entries, or the entry of a file.
func (r *Repo) list(sha, at string) ([]entry, error) {
	out, err := r.s.git.run(command{dir: r.dir, env: []string{"GIT_LITERAL_PATHSPECS=1"}, no: 128}, "ls-tree", "-z", "--long", sha, "--", at)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if len(f) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(f[3], 10, 64)
		entries = append(entries, entry{mode: f[0], kind: f[1], sha: f[2], name: name, size: size})
	}
	return entries, nil
}

func getContents(c *call) (any, error) {
	at := strings.Trim(c.r.PathValue("path"), "/")
	ref := c.r.URL.Query().Get("ref")
	if ref == "" {
		ref = c.repo.branch
	}
	k := c.repo.commitAt(strings.TrimPrefix(ref, "refs/"))
	if k == nil {
		return nil, &no{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	if at != "" {
		found, err := c.repo.list(k.sha, at)
		if err != nil || len(found) == 0 {
			return nil, notFound
		}
		if found[0].kind != "tree" {
			return c.file(found[0], ref)
		}
		at += "/"
	}
	entries, err := c.repo.list(k.sha, at)
	if err != nil {
		return nil, notFound
	}
	all := []any{}
	for _, e := range entries {
		all = append(all, c.repo.contentJSON(e, ref))
	}
	return all, nil
}

// file answers with a file's bytes: as they are if the client takes raw ones, else in base64 up to a megabyte.
func (c *call) file(e entry, ref string) (any, error) {
	answer := c.repo.contentJSON(e, ref)
	if e.kind != "blob" {
		return answer, nil
	}
	text, err := c.repo.s.git.object(c.repo.dir, "blob", e.sha)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(c.r.Header.Get("Accept"), "application/vnd.github.raw"):
		return raw(text), nil
	case e.mode == "120000":
		answer["target"] = text
	case e.size > 1<<20:
		answer["encoding"], answer["content"] = "none", ""
	default:
		answer["encoding"], answer["content"] = "base64", wrapped(text)
	}
	return answer, nil
}

// wrapped is base64 in lines of 60, as GitHub sends it.
func wrapped(text string) string {
	var b strings.Builder
	for code := base64.StdEncoding.EncodeToString([]byte(text)); code != ""; {
		n := min(60, len(code))
		b.WriteString(code[:n] + "\n")
		code = code[n:]
	}
	return b.String()
}
