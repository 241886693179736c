package githubtest_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

func number(v any) string { return fmt.Sprintf("%.0f", v) }

// jwtText is a JSON web token of the App, made as GitHub's documentation says.
func (w *world) jwtText() string {
	now := time.Now().Unix()
	return w.sign("RS256", obj{"iat": now - 60, "exp": now + 500, "iss": w.AppID()})
}

func (w *world) sign(alg string, claims obj) string {
	w.t.Helper()
	block, _ := pem.Decode(w.AppKey())
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		w.t.Fatal(err)
	}
	part := func(v any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(obj{"alg": alg, "typ": "JWT"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		w.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func TestJWT(t *testing.T) {
	w := newWorld(t, options)
	now := time.Now().Unix()
	good := w.jwtText()
	for what, x := range map[string]struct {
		token string
		want  int
	}{
		"good":                {good, 200},
		"good, iss as text":   {w.sign("RS256", obj{"iat": now - 60, "exp": now + 500, "iss": itoa(w.AppID())}), 200},
		"expired":             {w.sign("RS256", obj{"iat": now - 900, "exp": now - 1, "iss": w.AppID()}), 401},
		"too long":            {w.sign("RS256", obj{"iat": now - 60, "exp": now + 3600, "iss": w.AppID()}), 401},
		"issued in future":    {w.sign("RS256", obj{"iat": now + 120, "exp": now + 500, "iss": w.AppID()}), 401},
		"without exp":         {w.sign("RS256", obj{"iat": now - 60, "iss": w.AppID()}), 401},
		"without iat":         {w.sign("RS256", obj{"exp": now + 60, "iss": w.AppID()}), 401},
		"another App":         {w.sign("RS256", obj{"iat": now - 60, "exp": now + 500, "iss": 1}), 404},
		"another algorithm":   {w.sign("none", obj{"iat": now - 60, "exp": now + 500, "iss": w.AppID()}), 401},
		"broken signature":    {good[:len(good)-8] + "AAAAAAAA", 401},
		"changed":             {strings.Replace(good, ".ey", ".eyJ9", 1), 401},
		"no signature at all": {good[:strings.LastIndex(good, ".")+1], 401},
	} {
		if status, _, answer := w.ask("GET", "/app", x.token, nil); status != x.want {
			t.Errorf("%s: got %d %v, want %d", what, status, answer, x.want)
		}
	}
}

func TestTokens(t *testing.T) {
	var ahead atomic.Int64
	o := options
	o.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	w := newWorld(t, o)
	other, err := w.AddRepo("acme", "other", githubtest.Seed{Files: map[string]string{"a": "a"}, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	narrow := w.Install(map[string]string{"contents": "read", "issues": "write"}, other)
	mint := func(id int64, body any) (int, obj) {
		status, _, answer := w.ask("POST", "/app/installations/"+itoa(id)+"/access_tokens", w.jwtText(), body)
		return status, answer
	}
	for what, x := range map[string]struct {
		id   int64
		body any
		want int
	}{
		"all":                          {narrow, nil, 201},
		"narrowed":                     {narrow, obj{"permissions": obj{"contents": "read"}, "repository_ids": []int64{other.ID()}}, 201},
		"write has read":               {narrow, obj{"permissions": obj{"issues": "read"}}, 201},
		"by name":                      {narrow, obj{"repositories": []string{"other"}}, 201},
		"more than the installation's": {narrow, obj{"permissions": obj{"contents": "write"}}, 422},
		"another permission":           {narrow, obj{"permissions": obj{"checks": "read"}}, 422},
		"unknown permission":           {narrow, obj{"permissions": obj{"everything": "read"}}, 422},
		"unknown level":                {narrow, obj{"permissions": obj{"contents": "admin"}}, 422},
		"another repository":           {narrow, obj{"repository_ids": []int64{w.repo.ID()}}, 422},
		"no repository":                {narrow, obj{"repository_ids": []int64{}}, 422},
		"another installation":         {1, nil, 404},
	} {
		if status, answer := mint(x.id, x.body); status != x.want {
			t.Errorf("%s: got %d %v, want %d", what, status, answer, x.want)
		}
	}
	_, answer := mint(narrow, nil)
	token := answer["token"].(string)
	if !strings.HasPrefix(token, "ghs_"+itoa(w.AppID())+"_") || len(token) <= 40 {
		t.Errorf("token: got %q, want one longer than 40 characters that names the App", token)
	}
	get := func() int { status, _, _ := w.ask("GET", "/repos/acme/other", token, nil); return status }
	if got := get(); got != 200 {
		t.Errorf("fresh: got %d, want 200", got)
	}
	ahead.Store(int64(59 * time.Minute))
	if got := get(); got != 200 {
		t.Errorf("after 59 minutes: got %d, want 200", got)
	}
	ahead.Store(int64(61 * time.Minute))
	if got := get(); got != 401 {
		t.Errorf("after 61 minutes: got %d, want 401", got)
	}
	ahead.Store(0)
	w.Suspend(narrow)
	if got := get(); got != 401 {
		t.Errorf("suspended: got %d, want 401", got)
	}
	if status, _ := mint(narrow, nil); status != 403 {
		t.Errorf("mint when suspended: got %d, want 403", status)
	}
	live := w.token(nil)
	if n := w.LiveTokens(); n == 0 {
		t.Error("no token is alive")
	}
	w.ExpireTokens()
	if status, _, _ := w.ask("GET", "/repos/acme/widget", live, nil); status != 401 || w.LiveTokens() != 0 {
		t.Errorf("expired: got %d and %d alive, want 401 and none", status, w.LiveTokens())
	}
}
