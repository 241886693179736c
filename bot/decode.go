package bot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of what is kept of a payload. GitHub's own are at or below them.
const (
	largestPayload = 25 << 20
	longestBody    = 256 << 10 // of an issue, a pull request or a comment
	longestName    = 255       // of a branch, a check, a label, a title
	mostLabels     = 100
	mostPulls      = 20
)

// Decode reads the fields in use of a webhook's payload. It never fails on what it does not use; the error is a *Skip,
// Malformed or NotForUs.
func Decode(name, delivery string, payload []byte) (Event, error) {
	if len(payload) > largestPayload {
		return Event{}, skip(Malformed, "%d bytes are more than a webhook has", len(payload))
	}
	k, ok := kinds[name]
	if !ok {
		return Event{}, unanswered(name, payload)
	}
	e, err := k.read(payload)
	if err != nil {
		return Event{}, skip(Malformed, "%s: %v", clip(name, 50), err)
	}
	e.Name, e.Delivery = name, clip(delivery, longestName)
	if !nameOf(e.Repo.Owner) || !nameOf(e.Repo.Name) || e.Repo.ID <= 0 {
		return Event{}, skip(Malformed, "%s: no repository is named", name)
	}
	if !k.complete(e) {
		return Event{}, skip(Malformed, "%s: what it is about is missing", name)
	}
	return e, nil
}

var repoName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// nameOf says whether s can be the name of an account or a repository, and so a part of an address.
func nameOf(s string) bool { return repoName.MatchString(s) && s != "." && s != ".." }

var commitName = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// branchOf says whether s can be a branch: no more than git allows in a ref, and nothing that a command could take for a flag.
func branchOf(s string) bool {
	return s != "" && len(s) <= longestName && s[0] != '-' && !strings.Contains(s, "..") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`~^:?*[\`, r) })
}

// clip is the first n bytes of s at most, cut between runes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// envelope is what every payload has around what it is about.
type envelope struct {
	Action     string
	Repository struct {
		ID            int64
		Name          string
		DefaultBranch string `json:"default_branch"`
		Owner         struct{ Login string }
	}
	Installation struct{ ID int64 }
	Sender       jsonAccount
	Label        struct{ Name string }
}

func (p envelope) event() Event {
	return Event{
		Action: clip(p.Action, longestName),
		Repo:   Repo{ID: p.Repository.ID, Owner: p.Repository.Owner.Login, Name: p.Repository.Name, Installation: p.Installation.ID},
		Sender: p.Sender.account(),
		Label:  clip(p.Label.Name, longestName),
	}
}

type jsonAccount struct {
	ID          int64
	Login, Type string
}

func (a jsonAccount) account() Account {
	login := clip(a.Login, longestName)
	return Account{ID: a.ID, Login: login, Bot: a.Type == "Bot" || strings.HasSuffix(login, "[bot]")}
}

type jsonApp struct {
	ID   int64
	Name string
}

type jsonLabels []struct{ Name string }

func (ls jsonLabels) names() (names []string) {
	for _, l := range ls[:min(len(ls), mostLabels)] {
		names = append(names, clip(l.Name, longestName))
	}
	return names
}

// readJSON decodes one payload; what its type does not name is left.
func readJSON[T any](payload []byte) (p T, err error) {
	if err := json.Unmarshal(payload, &p); err != nil {
		return p, fmt.Errorf("read the payload: %w", err)
	}
	return p, nil
}
