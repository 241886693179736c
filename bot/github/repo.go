package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/redraft-dev/redraft/bot"
)

// repository is as much of a repository as is used here.
type repository struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	Owner       account         `json:"owner"`
	HTMLURL     string          `json:"html_url"`
	Default     string          `json:"default_branch"`
	Private     bool            `json:"private"`
	Archived    bool            `json:"archived"`
	Permissions map[string]bool `json:"permissions"` // the credential's, where GitHub says
}

// Repo is a repository as it is now, under its name of now.
func (h *Hub) Repo(ctx context.Context, r bot.Repo) (facts bot.RepoFacts, err error) {
	err = h.at(ctx, "look at the repository", r, nil, func(l *line) error {
		now, err := l.repository(ctx)
		if err != nil {
			return err
		}
		l.repo.ID, l.repo.Owner, l.repo.Name = now.ID, now.Owner.Login, now.Name
		facts = bot.RepoFacts{Repo: l.repo, Default: now.Default, Private: now.Private, Archived: now.Archived}
		return nil
	})
	return facts, err
}

// repository is the line's, which must be the one that is pinned.
func (l *line) repository(ctx context.Context) (repository, error) {
	var now repository
	if _, err := l.call(ctx, call{op: getRepo, out: &now}); err != nil {
		return now, err
	}
	return now, l.same(now)
}

func (l *line) same(now repository) error {
	switch {
	case now.ID == 0 || now.Name == "" || now.Owner.Login == "":
		return unreadable("a repository without id and name")
	case l.repo.ID != 0 && now.ID != l.repo.ID:
		return &bot.HubError{Class: bot.NotFound, Status: http.StatusOK, Text: fmt.Sprintf("the name belongs to repository %d now, not to %d", now.ID, l.repo.ID)}
	}
	return nil
}

// pinned looks, before a plain token writes, whether the name still leads to the pinned repository. A minted token
// reaches no other.
func (l *line) pinned(ctx context.Context, ops []op) error {
	for _, o := range ops {
		if !table[o].reads() && !l.minted && l.repo.ID != 0 {
			_, err := l.repository(ctx)
			return err
		}
	}
	return nil
}

// follow asks where a renamed repository is now. It follows one redirect, of a read, within GitHub's own host, and only
// to the pinned repository. why is the answer that sent us on.
func (l *line) follow(ctx context.Context, why error) (bot.Repo, error) {
	var now repository
	answer, err := l.send(ctx, call{op: getRepo, out: &now})
	if answer != nil && redirects(answer.StatusCode) {
		r, bad := l.client.NewRequest(http.MethodGet, answer.Header.Get("Location"), nil)
		if bad == nil {
			_, bad = l.hub.permit(r, nil, []op{getRepo, getMoved})
		}
		if bad != nil {
			return l.repo, &bot.HubError{Class: bot.NotFound, Status: answer.StatusCode, Text: "a redirect to another place than a repository here"}
		}
		_, err = l.client.Do(ctx, r, &now)
	}
	if err != nil {
		return l.repo, refused(ctx, table[getRepo], err, l.secret())
	}
	if err := l.same(now); err != nil {
		return l.repo, err
	}
	r := l.repo
	r.ID, r.Owner, r.Name = now.ID, now.Owner.Login, now.Name
	if r.Owner == l.repo.Owner && r.Name == l.repo.Name {
		return r, why // it is not the repository that moved
	}
	l.hub.log.Info("a repository was renamed", "was", l.repo.String(), "is", r.String())
	return r, nil
}

// Permission of a user, by the role where it is one of GitHub's own, else by the level that a custom role is based on.
func (h *Hub) Permission(ctx context.Context, r bot.Repo, login string) (level string, err error) {
	err = h.at(ctx, "ask what "+clip(login)+" may do", r, []op{getPermission}, func(l *line) error {
		var out struct {
			Permission string `json:"permission"`
			Role       string `json:"role_name"`
		}
		_, err := l.call(ctx, call{op: getPermission, args: []string{login}, out: &out})
		if is(err, bot.NotFound) && !moved(err) {
			level = "none"
			return nil
		}
		if err != nil {
			return err
		}
		for _, known := range []string{"admin", "maintain", "write", "triage", "read", "none"} {
			if out.Role == known || out.Role != level && out.Permission == known && level == "" {
				level = known
			}
		}
		if level == "" {
			return unreadable("a permission without a name")
		}
		return nil
	})
	return level, err
}

// Tip is where a branch stands.
func (h *Hub) Tip(ctx context.Context, r bot.Repo, branch string) (tip bot.Tip, err error) {
	err = h.at(ctx, "look at branch "+clip(branch), r, []op{getBranch}, func(l *line) error {
		var out struct {
			Ref    string `json:"ref"`
			Object struct {
				SHA string `json:"sha"`
			} `json:"object"`
		}
		if _, err := l.call(ctx, call{op: getBranch, args: []string{branch}, out: &out}); err != nil {
			return err
		}
		if out.Ref != "refs/heads/"+branch || out.Object.SHA == "" {
			return unreadable("another branch")
		}
		tip = bot.Tip{Repo: l.repo.ID, Branch: branch, SHA: out.Object.SHA}
		return nil
	})
	return tip, err
}

// Message is the message of a commit.
func (h *Hub) Message(ctx context.Context, r bot.Repo, sha string) (text string, err error) {
	err = h.at(ctx, "read commit "+clip(sha), r, []op{getCommit}, func(l *line) error {
		var out struct {
			SHA    string `json:"sha"`
			Commit struct {
				Message string `json:"message"`
			} `json:"commit"`
		}
		// The files that it changed come along, and are of no use here: one is the fewest.
		_, err := l.call(ctx, call{op: getCommit, args: []string{sha}, query: url.Values{"per_page": {"1"}}, out: &out})
		var no *bot.HubError
		if errors.As(err, &no) && no.Class == bot.Invalid && strings.HasPrefix(no.Text, "No commit found") {
			no.Class = bot.NotFound // how GitHub says it of a commit
		}
		if err == nil && !strings.HasPrefix(out.SHA, strings.ToLower(sha)) {
			err = unreadable("another commit")
		}
		text = out.Commit.Message
		return err
	})
	return text, err
}

const longestFile = 1 << 20

// File reads one file of a commit.
func (h *Hub) File(ctx context.Context, r bot.Repo, path, sha string) (text []byte, err error) {
	err = h.at(ctx, "read "+clip(path), r, []op{getFile}, func(l *line) error {
		var raw json.RawMessage
		_, err := l.call(ctx, call{op: getFile, args: []string{path}, query: url.Values{"ref": {sha}}, out: &raw})
		if err == nil {
			text, err = content(raw)
		}
		return err
	})
	return text, err
}

func content(raw json.RawMessage) ([]byte, error) {
	if len(raw) > 0 && raw[0] == '[' {
		return nil, &bot.HubError{Class: bot.NotFound, Status: http.StatusOK, Text: "a folder, not a file"}
	}
	var out struct {
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Size     int64  `json:"size"`
		Content  string `json:"content"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, unreadable("no file")
	}
	switch {
	case out.Type != "file":
		return nil, &bot.HubError{Class: bot.NotFound, Status: http.StatusOK, Text: "not a regular file"}
	case out.Size > longestFile || out.Encoding == "none":
		return nil, &bot.HubError{Class: bot.Invalid, Status: http.StatusOK, Text: "longer than 1 MiB"}
	case out.Encoding != "base64":
		return nil, unreadable("a file in an unknown encoding")
	}
	text, err := base64.StdEncoding.DecodeString(out.Content)
	if err != nil || len(text) > longestFile {
		return nil, unreadable("a file that is no base64")
	}
	return text, nil
}

// gitURL is the repository's address for git, without a credential in it.
func (h *Hub) gitURL(r bot.Repo) (string, error) {
	for _, part := range []string{r.Owner, r.Name} {
		if strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || strings.Trim(part, ".") == "" || part[0] == '-' {
			return "", h.say("name the repository for git", refusal("%s: no name of a repository", r))
		}
	}
	return h.git + "/" + r.Owner + "/" + r.Name + ".git", nil
}
