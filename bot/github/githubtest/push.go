package githubtest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

// largestPush is the largest request body of git that is taken.
const largestPush = 256 << 20

// wire answers one request of git's smart protocol, at /owner/name.git/info/refs, git-upload-pack or git-receive-pack.
func (s *Server) wire(w http.ResponseWriter, r *http.Request, rec *Call) {
	name, service, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	write := service == "git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
	known := service == "git-upload-pack" || service == "git-receive-pack" || service == "info/refs"
	if !ok || !known {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	repo, who, refusal := s.enter(r, name, write, rec)
	var env []string
	if who != nil && (who.kind == "user" || who.perms["workflows"] == "write") {
		env = []string{"GITHUBTEST_WORKFLOWS=write"}
	}
	s.mu.Unlock()
	if refusal != nil {
		refusal(w)
		return
	}
	user := ""
	if who != nil {
		user = who.account.login
	}
	body, err := os.CreateTemp(s.o.Dir, "push-*")
	if err == nil {
		defer os.Remove(body.Name())
		defer body.Close()
		err = spool(r, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if service == "git-receive-pack" {
		repo.receive(w, r, body, who, env, rec)
		return
	}
	s.git.serve(w, r, repo.dir, "/"+service, user, env)
}

// enter finds the repository and decides whether a token lets in; the refusal is what is answered otherwise.
func (s *Server) enter(r *http.Request, name string, write bool, rec *Call) (*Repo, *token, func(http.ResponseWriter)) {
	_, secret, given := r.BasicAuth()
	who := s.tokens[secret]
	rec.note(who)
	repo := s.names[fold(name)]
	need := "read"
	if write {
		need = "write"
	}
	switch {
	case given && (who == nil || who.expired(s.now())):
		return nil, nil, s.unauthorized("Invalid username or token. Password authentication is not supported for Git operations.")
	case repo == nil && !given, repo != nil && !given && (repo.private || write):
		return nil, nil, s.unauthorized("Repository not found.")
	case repo == nil || s.repos[repo.id] == nil || !who.sees(repo):
		return nil, nil, plain(http.StatusNotFound, "Repository not found.")
	case fold(repo.full()) != fold(name):
		to := s.origin + "/" + repo.full() + ".git/" + strings.SplitN(r.URL.Path, ".git/", 2)[1] + "?" + r.URL.RawQuery
		return nil, nil, func(w http.ResponseWriter) { http.Redirect(w, r, to, http.StatusMovedPermanently) }
	case write && repo.archived:
		return nil, nil, plain(http.StatusForbidden, "This repository was archived so it is read-only.")
	case who == nil && !write:
		return repo, nil, nil
	case !who.may(repo, "contents", need):
		return nil, nil, plain(http.StatusForbidden, "Write access to repository not granted.")
	}
	rec.Needs = "contents:" + need
	return repo, who, nil
}

func (s *Server) unauthorized(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, text, http.StatusUnauthorized)
	}
}

func plain(status int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { http.Error(w, text, status) }
}

// spool puts a request's body aside, so that its length is known and it can be read twice.
func spool(r *http.Request, f *os.File) error {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		in = z
		r.Header.Del("Content-Encoding")
	}
	n, err := io.Copy(f, io.LimitReader(in, largestPush+1))
	if err == nil && n > largestPush {
		err = errors.New("too large")
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	r.Body, r.ContentLength, r.TransferEncoding = f, n, nil
	return err
}

// wish is one ref that a push wants moved.
type wish struct{ old, new, ref string }

// receive lets git take a push, unless a protected branch is among what it moves, and tells everyone what moved.
func (r *Repo) receive(w http.ResponseWriter, req *http.Request, body io.ReadSeeker, who *token, env []string, rec *Call) {
	r.moving.Lock()
	defer r.moving.Unlock()
	wishes, capabilities, err := readWishes(body)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, x := range wishes {
		rec.Refs = append(rec.Refs, x.ref)
	}
	r.s.mu.Lock() // r.protected
	guarded := slices.DeleteFunc(slices.Clone(wishes), func(x wish) bool { return !r.protected[x.ref] })
	r.s.mu.Unlock()
	if len(guarded) > 0 {
		refuse(w, wishes, guarded, strings.Contains(capabilities, "side-band-64k"))
		return
	}
	r.s.git.serve(w, req, r.dir, "/git-receive-pack", who.account.login, env)
	if err := r.moved(who.account); err != nil {
		rec.Err = err.Error()
	}
}

// readWishes reads the commands at the beginning of a push: pkt-lines up to a flush.
// https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer
func readWishes(in io.Reader) (wishes []wish, capabilities string, err error) {
	b := bufio.NewReader(in)
	for len(wishes) < 1000 {
		var head [4]byte
		if _, err := io.ReadFull(b, head[:]); err != nil {
			return nil, "", fmt.Errorf("read a push: %w", err)
		}
		n, err := strconv.ParseUint(string(head[:]), 16, 16)
		if err != nil || n > 0 && n < 4 {
			return nil, "", errors.New("read a push: no pkt-line")
		}
		if n == 0 {
			return wishes, capabilities, nil
		}
		line := make([]byte, n-4)
		if _, err := io.ReadFull(b, line); err != nil {
			return nil, "", fmt.Errorf("read a push: %w", err)
		}
		text, caps, first := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		if first {
			capabilities = caps
		}
		if f := strings.SplitN(text, " ", 3); len(f) == 3 {
			wishes = append(wishes, wish{f[0], f[1], f[2]})
		}
	}
	return nil, "", errors.New("read a push: too many refs")
}

// refuse answers a push in git's own words, so that git tells which ref was refused and why.
func refuse(w http.ResponseWriter, wishes, guarded []wish, banded bool) {
	report := pkt("unpack ok\n")
	for _, x := range wishes {
		why := "pre-receive hook declined"
		if slices.Contains(guarded, x) {
			why = "protected branch hook declined"
		}
		report += pkt("ng " + x.ref + " " + why + "\n")
	}
	report += "0000"
	if banded {
		said := ""
		for _, x := range guarded {
			said += "error: GH006: Protected branch update failed for " + x.ref + ".\n"
		}
		report = pkt("\x02"+said) + pkt("\x01"+report) + "0000"
	}
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	w.Header().Set("Cache-Control", "no-cache")
	io.WriteString(w, report)
}

func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// moved looks where the refs stand now and does all that follows from it: pull requests move, events are told. The caller
// holds r.moving unless nobody else knows the repository yet; by is nil when nobody is to hear of it.
func (r *Repo) moved(by *account) error {
	now, err := r.s.git.refs(r.dir)
	if err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	before := r.refs
	r.refs = now
	changed := map[string][2]string{}
	for ref, sha := range now {
		if before[ref] != sha {
			changed[ref] = [2]string{before[ref], sha}
		}
	}
	for ref, sha := range before {
		if now[ref] == "" {
			changed[ref] = [2]string{sha, ""}
		}
	}
	if len(changed) > 0 {
		r.pushed = r.s.now()
	}
	for _, ref := range slices.Sorted(mapKeys(changed)) {
		old, new := changed[ref][0], changed[ref][1]
		if by != nil {
			r.tellPush(ref, old, new, by)
		}
		err = errors.Join(err, r.follow(ref, old, new, by))
	}
	return err
}

// tellPush tells of a ref that moved, came or went.
func (r *Repo) tellPush(ref, old, new string, by *account) {
	kind, short := "branch", strings.TrimPrefix(ref, "refs/heads/")
	if t, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		kind, short = "tag", t
	}
	if old == "" {
		r.s.emit(r, "create", "", obj{"ref": short, "ref_type": kind, "master_branch": r.branch, "description": nil, "pusher_type": "user"}, by)
	}
	zero := strings.Repeat("0", 40)
	forced := old != "" && new != "" && !r.s.git.ancestor(r.dir, old, new)
	payload := obj{
		"ref": ref, "before": or(old, zero), "after": or(new, zero), "base_ref": nil, "created": old == "", "deleted": new == "",
		"forced": forced, "compare": r.html("/compare/" + clip(or(old, zero), 12) + "..." + clip(or(new, zero), 12)), "commits": []any{},
		"head_commit": nil, "pusher": obj{"name": by.login, "email": by.login + "@users.noreply.github.com"},
	}
	if c := r.commitAt(new); c != nil {
		payload["head_commit"] = r.pushedJSON(c)
		payload["commits"] = []any{r.pushedJSON(c)}
	}
	r.s.emit(r, "push", "", payload, by)
	if new == "" {
		r.s.emit(r, "delete", "", obj{"ref": short, "ref_type": kind, "pusher_type": "user"}, by)
	}
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
