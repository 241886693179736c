package redact

import (
	"regexp"
	"strings"
)

// shape is a kind of secret that is known by its looks.
type shape struct {
	start string         // what it begins with
	word  bool           // start does not follow a letter, a digit or an underscore
	rest  *regexp.Regexp // what follows start; its first group, if it has one, is the secret alone
	ok    func(secret string) bool
	joins bool           // may be wrapped over several lines
	exact *regexp.Regexp // rest where lines are joined and the next line's first word follows; rest if nil
}

var (
	tokenLine = regexp.MustCompile(`^\n[ \t]*[A-Za-z0-9+/=_.-]{16,}`)
	header    = regexp.MustCompile(`^["']?[ \t]*[:=][ \t]*["']?(?i:basic|bearer|token|digest|negotiate|apikey|aws4-hmac-sha256)[ \t]+([A-Za-z0-9._~+/=-]{8,}(?:[ \t,]+[A-Za-z]+=[^\s"']+)*)`)
	naked     = regexp.MustCompile(`^["']?[ \t]*[:=][ \t]*["']?([A-Za-z0-9._~+/=-]{16,})`)
	bearer    = regexp.MustCompile(`^[ \t]+([A-Za-z0-9._~+/=-]{20,})`)
	// private keys, cut at their end or beginning; line ends may be escaped, as in JSON
	keyHead = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|[A-Za-z0-9+/=]{20,}|[A-Z][A-Za-z-]+:[^\n]*\n)*[A-Za-z0-9+/=]*`)
	keyEnd  = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyTail = regexp.MustCompile(`(?:[A-Za-z0-9+/=]{20,}(?:\s|\\[nr])+)*[A-Za-z0-9+/=]*(?:\s|\\[nr])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
)

var kinds = func() []shape {
	re := regexp.MustCompile
	token := func(start string, rest string) shape {
		return shape{start: start, word: true, rest: re(rest), joins: true}
	}
	list := []shape{
		token("ghs_", `^[0-9]+_eyJ[A-Za-z0-9_.-]{20,}`), // an App's id and a JWT
		{start: "github_pat_", word: true, rest: re(`^[A-Za-z0-9_]{30,255}`), joins: true, exact: re(`^[A-Za-z0-9_]{82}`)},
		token("eyJ", `^[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`),
		token("npm_", `^[A-Za-z0-9]{36}`),
		token("pypi-", `^AgE[A-Za-z0-9_-]{50,}`),
		token("AIza", `^[A-Za-z0-9_-]{35}`),
		token("hf_", `^[A-Za-z0-9]{30,}`),
		token("xapp-", `^[0-9]-[A-Za-z0-9-]{10,}`),
		token("AGE-SECRET-KEY-1", `^[A-Z0-9]{40,}`),
		{start: "sk-", word: true, rest: re(`^[A-Za-z0-9_-]{20,}`), ok: random, joins: true},
		{start: "sk_live_", word: true, rest: re(`^[A-Za-z0-9]{16,}`), joins: true},
		{start: "rk_live_", word: true, rest: re(`^[A-Za-z0-9]{16,}`), joins: true},
	}
	for _, s := range []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_"} {
		list = append(list, shape{start: s, rest: re(`^[A-Za-z0-9]{30,255}`), joins: true, exact: re(`^[A-Za-z0-9]{36}`)})
	}
	for _, s := range []string{"glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-", "gloas-"} {
		list = append(list, token(s, `^[A-Za-z0-9_.-]{20,}`))
	}
	for _, s := range strings.Split("abeoprs", "") {
		list = append(list, token("xox"+s+"-", `^[A-Za-z0-9-]{10,}`))
	}
	for _, s := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		list = append(list, token(s, `^[A-Z0-9]{16}`))
	}
	for _, s := range []string{"uthorization", "UTHORIZATION"} {
		list = append(list, shape{start: s, rest: header}, shape{start: s, rest: naked})
	}
	for _, s := range []string{"earer", "EARER"} {
		list = append(list, shape{start: s, rest: bearer, ok: random})
	}
	for _, s := range []string{"PRIVATE-TOKEN", "Private-Token", "private-token", "X-Api-Key", "x-api-key", "X-API-KEY"} {
		list = append(list, shape{start: s, rest: naked})
	}
	return list
}()

// random tells a token from words joined by dashes: it has a digit and a letter.
func random(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz")
}

// shapes finds what looks like a secret, however it is coloured, interspersed or wrapped.
func shapes(s string) []span {
	found := shaped(s, clear, false)
	if strings.ContainsAny(s, "\x1b\u009b") {
		found = append(found, shaped(s, bare, false)...)
	}
	if strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		found = append(found, shaped(s, joined, true)...)
	}
	return found
}

// shaped looks through one lens; wrapped keeps to the kinds that may be wrapped, where they cross a line end.
func shaped(s string, l lens, wrapped bool) []span {
	v := view(s, l)
	hits := tokens(v, wrapped)
	if !wrapped {
		hits = userinfo(v, keys(v, hits))
	}
	if len(hits) == 0 {
		return nil
	}
	spans := origin(s, l, merge(hits))
	if wrapped {
		return crossing(s, spans)
	}
	return spans
}

// byFirst are the kinds by the first byte of what they begin with.
var byFirst = func() (all [256][]shape) {
	for _, k := range kinds {
		all[k.start[0]] = append(all[k.start[0]], k)
	}
	return all
}()

// tries is how many beginnings of tokens one unbroken run of their characters may have. Nothing honest has so many, and
// looking at each to the run's end would take the square of its length, so such a run is cut out whole.
const tries = 16

// tokens finds all kinds in a view in one go.
func tokens(v string, wrapped bool) []span {
	var hits []span
	end, left := 0, 0 // of the run
	for i := 0; i < len(v); i++ {
		for _, k := range byFirst[v[i]] {
			if wrapped && !k.joins || !strings.HasPrefix(v[i:], k.start) {
				continue
			}
			if i >= end {
				end, left = i+runs(v[i:]), tries
			}
			h, ok := k.at(v, i, wrapped)
			if left--; left < 0 {
				h, ok = span{i, end}, true
			}
			if ok {
				hits = append(hits, h)
				i = max(i, h.to-1)
				break
			}
		}
	}
	return hits
}

// runs is how many characters of tokens s begins with.
func runs(s string) int {
	n := 0
	for n < len(s) && (letterOrDigit(s[n]) || strings.IndexByte("_.~+/=-", s[n]) >= 0) {
		n++
	}
	return max(n, 1)
}

// crossing drops what is a whole token on its own line: its neighbour on the next line is no part of it.
func crossing(s string, spans []span) []span {
	var out []span
	for _, p := range spans {
		first, _, _ := strings.Cut(view(s[p.from:p.to], clear), "\n")
		if len(tokens(first, false)) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// at judges a token that begins at i, and finds its end.
func (k shape) at(v string, i int, wrapped bool) (span, bool) {
	if k.word && i > 0 && (letterOrDigit(v[i-1]) || v[i-1] == '_') {
		return span{}, false
	}
	rest, body := k.rest, i+len(k.start)
	if wrapped && k.exact != nil {
		rest = k.exact
	}
	m := rest.FindStringSubmatchIndex(v[body:])
	if m == nil {
		return span{}, false
	}
	hit := span{i, body + m[1]}
	if len(m) > 2 {
		hit = span{body + m[2], body + m[3]}
	}
	if k.ok != nil && !k.ok(v[hit.from:hit.to]) {
		return span{}, false
	}
	if k.joins {
		hit.to = onward(v, hit.to)
	}
	return hit, true
}

// onward follows a token that was wrapped: it takes lines that begin with a long run of its characters.
func onward(v string, to int) int {
	for {
		m := tokenLine.FindStringIndex(v[to:])
		if m == nil {
			return to
		}
		to += m[1]
	}
}

// keyLimit is how far after its beginning the end of a private key is looked for.
const keyLimit = 16 << 10

// keys finds private keys, also those whose beginning or end is cut off.
func keys(v string, hits []span) []span {
	if !strings.Contains(v, "PRIVATE KEY") {
		return hits
	}
	for _, m := range keyHead.FindAllStringIndex(v, -1) {
		near := v[m[0]:min(len(v), m[0]+keyLimit)]
		if strings.Contains(near, "-----END ") {
			if end := keyEnd.FindStringIndex(near); end != nil {
				m[1] = max(m[1], m[0]+end[1])
			}
		}
		hits = append(hits, span{m[0], m[1]})
	}
	for _, m := range keyTail.FindAllStringIndex(v, -1) {
		hits = append(hits, span{m[0], m[1]})
	}
	return hits
}

// userinfo finds the user:password of addresses, and a long user alone, which is a token.
func userinfo(v string, hits []span) []span {
	for at := 0; ; {
		i := strings.Index(v[at:], "://")
		if i < 0 {
			return hits
		}
		at += i + 3
		end := strings.IndexAny(v[at:], "/ \t\n\"'<>`")
		if end < 0 {
			end = len(v) - at
		}
		user := v[at : at+end]
		n := strings.LastIndexByte(user, '@')
		if n < 0 {
			continue
		}
		if name, password, has := strings.Cut(user[:n], ":"); has && secretive(password) || !has && len(name) >= 20 {
			hits = append(hits, span{at, at + n})
		}
	}
}

// secretive reports whether a password is one, and no placeholder such as %s, ${TOKEN} or {{token}}.
func secretive(s string) bool {
	return s != "" && !strings.ContainsAny(s, "{}$") && s[0] != '%' && strings.Trim(s, "*x.") != ""
}
