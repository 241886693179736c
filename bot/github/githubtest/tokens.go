package githubtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// token is who is asking and what they may do.
type token struct {
	kind    string // app, installation, actions, user
	account *account
	app     *app
	install int64
	perms   map[string]string
	repos   map[int64]bool
	ends    time.Time // never, if zero
}

func (t *token) expired(now time.Time) bool { return !t.ends.IsZero() && !now.Before(t.ends) }

// sees says whether a repository exists for a token; nobody's token is nil.
func (t *token) sees(r *Repo) bool {
	switch {
	case !r.private:
		return true
	case t == nil || t.kind == "app":
		return false
	case t.kind == "user":
		return r.atLeast(t.account.login, "read")
	}
	return t.repos[r.id]
}

// may says whether a token has a permission on a repository. A person's token may what the person's role may.
func (t *token) may(r *Repo, permission, level string) bool {
	switch {
	case t == nil:
		return !r.private && level == "read"
	case t.kind == "user":
		role := map[string]string{"read": "read", "write": "write"}[level]
		if permission == "administration" {
			role = "admin"
		}
		return r.atLeast(t.account.login, role)
	case !t.repos[r.id]:
		return !r.private && level == "read"
	}
	return t.perms[permission] == "write" || t.perms[permission] == level
}

// newToken remembers one and makes its text. An installation's is longer than 40 characters and holds dots, as GitHub says
// that it may.
func (s *Server) newToken(prefix string, t *token) string {
	var b [60]byte
	rand.Read(b[:])
	text := base64.RawURLEncoding.EncodeToString(b[:])
	if t.kind == "user" {
		text = prefix + strings.NewReplacer("-", "x", "_", "y").Replace(text[:36])
	} else {
		text = fmt.Sprintf("%s%d_%s.%s.%s", prefix, t.app.id, text[:20], text[20:50], text[50:])
	}
	s.tokens[text] = t
	return text
}

// UserToken is a person's own token, which may what the person may.
func (s *Server) UserToken(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newToken("ghp_", &token{kind: "user", account: s.account(login, "User")})
}

// ActionsToken is what a workflow of this repository gets as GITHUB_TOKEN, with these permissions, for an hour. It opens pull
// requests only where CanCreatePulls says so.
func (r *Repo) ActionsToken(permissions map[string]string) string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	a, perms := r.s.apps[actionsApp], readable(permissions)
	return r.s.newToken("ghs_", &token{kind: "actions", account: a.bot, app: a, perms: perms, repos: map[int64]bool{r.id: true}, ends: r.s.now().Add(time.Hour)})
}

// ExpireTokens ends every token but people's, as an hour does.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tokens {
		if t.kind != "user" {
			t.ends = s.now()
		}
	}
}

// LiveTokens is how many installation tokens are neither revoked nor expired.
func (s *Server) LiveTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, t := range s.tokens {
		if t.kind == "installation" && !t.expired(s.now()) {
			n++
		}
	}
	return n
}

// identify finds who an Authorization header is; none is nobody, a wrong one an error.
func (s *Server) identify(header string) (*token, error) {
	if header == "" {
		return nil, nil
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if scheme = strings.ToLower(scheme); scheme == "basic" {
		raw, _ := base64.StdEncoding.DecodeString(secret)
		_, secret, _ = strings.Cut(string(raw), ":")
	}
	if scheme == "bearer" && strings.Count(secret, ".") == 2 && strings.HasPrefix(secret, "ey") {
		return s.fromJWT(secret)
	}
	t := s.tokens[secret]
	if t == nil || t.expired(s.now()) {
		return nil, &no{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	return t, nil
}

// fromJWT checks what the App signed itself.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Server) fromJWT(text string) (*token, error) {
	bad := func(why string) (*token, error) { return nil, &no{status: http.StatusUnauthorized, message: why} }
	parts := strings.Split(text, ".")
	var head struct{ Alg string }
	var claims struct {
		Iat, Exp *float64
		Iss      any
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || decodePart(parts[0], &head) != nil || decodePart(parts[1], &claims) != nil {
		return bad("A JSON web token could not be decoded")
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if head.Alg != "RS256" || rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return bad("A JSON web token could not be decoded")
	}
	now := float64(s.o.Clock().Unix())
	switch {
	case claims.Iat == nil || *claims.Iat > now:
		return bad("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	case claims.Exp == nil || *claims.Exp <= now:
		return bad("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case *claims.Exp > now+600+60: // a minute for clocks that differ
		return bad("'Expiration time' claim ('exp') is too far in the future")
	case fmt.Sprint(claims.Iss) != strconv.FormatInt(s.o.AppID, 10) && claims.Iss != float64(s.o.AppID):
		return nil, &no{status: http.StatusNotFound, message: "Integration not found"}
	}
	a := s.apps[s.o.AppID]
	return &token{kind: "app", account: a.bot, app: a}, nil
}

func decodePart(part string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

func getApp(c *call) (any, error) { return c.s.appJSON(c.who.app, true), nil }

func getInstallation(c *call) (any, error) {
	in, err := c.installation()
	if err != nil {
		return nil, err
	}
	return c.s.installationJSON(in), nil
}

func listInstallations(c *call) (any, error) {
	ids := slices.Sorted(maps.Keys(c.s.installs))
	return page(c, ids, func(id int64) any { return c.s.installationJSON(c.s.installs[id]) })
}

func (c *call) installation() (*installation, error) {
	id, err := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	if in := c.s.installs[id]; err == nil && in != nil {
		return in, nil
	}
	return nil, notFound
}

func repoInstallation(c *call) (any, error) {
	if in := c.s.installed(c.repo); in != nil {
		return c.s.installationJSON(in), nil
	}
	return nil, notFound
}

// createToken mints one for an installation, narrowed to what the body asks for.
func createToken(c *call) (any, error) {
	in, err := c.installation()
	if err != nil {
		return nil, err
	}
	if !in.suspended.IsZero() {
		return nil, &no{status: http.StatusForbidden, message: "This installation has been suspended"}
	}
	t := &token{kind: "installation", account: c.who.app.bot, app: c.who.app, install: in.id, perms: maps.Clone(in.permissions), repos: in.repos, ends: c.s.now().Add(time.Hour)}
	if asked, given := c.body["permissions"].(obj); given {
		t.perms = map[string]string{"metadata": "read"}
		for name, level := range asked {
			if has := in.permissions[name]; has != "write" && has != level {
				return nil, invalidf("The permissions requested are not granted to this installation.")
			}
			t.perms[name] = level.(string)
		}
	}
	repos, err := c.asked(in)
	if err != nil {
		return nil, err
	}
	answer := obj{"expires_at": stamp(t.ends), "permissions": t.perms, "repository_selection": "selected"}
	if repos != nil {
		t.repos = map[int64]bool{}
		list := []any{}
		for _, r := range repos {
			t.repos[r.id] = true
			list = append(list, r.json(true))
		}
		answer["repositories"] = list
	}
	answer["token"] = c.s.newToken("ghs_", t)
	return answer, nil
}

// asked are the repositories that a token is to be for; nil is all of the installation's.
func (c *call) asked(in *installation) ([]*Repo, error) {
	var repos []*Repo
	ids, byID := c.body["repository_ids"].([]any)
	for _, v := range ids {
		id, _ := v.(json.Number).Int64()
		repos = append(repos, c.s.repos[id])
	}
	names, byName := c.body["repositories"].([]any)
	for _, v := range names {
		repos = append(repos, c.s.names[fold(in.account.login, v.(string))])
	}
	if !byID && !byName {
		return nil, nil
	}
	for _, r := range repos {
		if r == nil || !in.repos[r.id] {
			return nil, invalidf("There is at least one repository that does not exist or is not accessible to the parent installation.")
		}
	}
	if len(repos) == 0 {
		return nil, invalidf("At least one repository must be named.")
	}
	return repos, nil
}

func revokeToken(c *call) (any, error) {
	maps.DeleteFunc(c.s.tokens, func(_ string, t *token) bool { return t == c.who })
	return nil, nil
}

func listTokenRepos(c *call) (any, error) {
	var found []*Repo
	for _, id := range slices.Sorted(maps.Keys(c.who.repos)) {
		if r := c.s.repos[id]; r != nil {
			found = append(found, r)
		}
	}
	answer, err := counted(c, "repositories", found, func(r *Repo) any { return r.json(true) })
	if err != nil {
		return nil, err
	}
	return with(answer.(obj), obj{"repository_selection": "selected"}), nil
}

func getSelf(c *call) (any, error) {
	if c.who.kind != "user" {
		return nil, &no{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return c.s.selfJSON(c.who.account), nil
}

func getPermission(c *call) (any, error) {
	login := c.r.PathValue("username")
	a := c.s.accounts[fold(login)]
	if a == nil {
		return nil, &no{status: http.StatusNotFound, message: login + " is not a user"}
	}
	role := c.repo.role(login)
	// The older word knows four roles only.
	word := map[string]string{"maintain": "write", "triage": "read"}[role]
	user := c.s.userJSON(a)
	rank := func(role string) bool { return c.repo.atLeast(login, role) }
	user["permissions"] = obj{"admin": rank("admin"), "maintain": rank("maintain"), "push": rank("write"), "triage": rank("triage"), "pull": rank("read")}
	user["role_name"] = role
	return obj{"permission": or(word, role), "role_name": role, "user": user}, nil
}
