package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// sinks are the four ways out.
func sinks(c *Cleaner) map[string]func(string) string {
	return map[string]func(string) string{"Text": c.Text, "Terminal": c.Terminal, "Markdown": c.Markdown, "Log": c.Log}
}

func TestTextLeavesTheRest(t *testing.T) {
	c := New("correct horse battery")
	for _, s := range []string{
		"", "plain\n\ttext\r\n", "\x1b[31mred\x1b[0m", "<b>@user</b> #12 ::error::", "日本語 \u202e text",
		"std::vector<int> a & b", "postgres://user:%s@%s/db", "git@github.com:o/r.git", "https://example.com/a@b",
		"task-runner-for-some-long-project-name-1", "Authorization: Bearer ${TOKEN}", "disk-a1b2c3d4e5f6a7b8c9d0e1f2",
		"req.Header.Set(\"Authorization\", \"Bearer \"+token)", "npm_config_registry_and_other_settings_of_npm",
		"sk-learn-like-names-with-many-dashes", "0123456789abcdef0123456789abcdef01234567 is a commit",
		"--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-a\n+b\n", "correct horse", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
	} {
		if got := c.Text(s); got != s {
			t.Errorf("Text(%q) = %q, want it unchanged", s, got)
		}
	}
}

func TestTextReplacesWhatIsNoText(t *testing.T) {
	if got, want := New().Text("a\x00b\xff\xfec"), "a\uFFFDb\uFFFDc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestZeroCleaner(t *testing.T) {
	var none *Cleaner
	for _, c := range []*Cleaner{none, {}, New(), New("", "abc")} {
		if got, want := c.Text("abc ghp_"+strings.Repeat("a1", 18)), "abc "+Mark; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Tokens are put together here, so that no scanner takes this file for a leak.
func TestShapes(t *testing.T) {
	a36 := strings.Repeat("aB3", 12)
	jwt := "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2lnbmF0dXJlc2ln"
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA7v0+abcdefgh/ijklmnop\nqrstuvwxyzABCDEFGHIJKLMNOP==\n-----END RSA " + "PRIVATE KEY-----"
	for _, c := range []struct{ in, want string }{
		{"ghp_" + a36, Mark}, {"gho_" + a36, Mark}, {"ghs_" + a36, Mark}, {"ghu_" + a36, Mark},
		{"token=ghp_" + a36 + "; next", "token=" + Mark + "; next"},
		{"github_pat_" + strings.Repeat("x1", 11) + "_" + strings.Repeat("y2", 29), Mark},
		{"ghs_123456_" + jwt + " end", Mark + " end"},
		{"xoxb-1234567890-abcdefghij", Mark}, {"xoxp-1234567890-abc", Mark},
		{"key sk-" + "proj-Ab1" + a36 + ".", "key " + Mark + "."},
		{"AKIA" + "IOSFODNN7EXAMPLE x", Mark + " x"}, {"glpat-" + "abcdefghij0123456789", Mark},
		{"npm_" + a36, Mark}, {jwt, Mark}, {key, Mark}, {"a\n" + key + "\nb", "a\n" + Mark + "\nb"},
		{strings.ReplaceAll(key, "\n", `\n`), Mark},
		{key[:70], Mark}, {"x " + key[40:], "x " + Mark},
		{"Authorization: Bearer abc123def456", "Authorization: Bearer " + Mark},
		{`{"authorization": "token abc123def456"}`, `{"authorization": "token ` + Mark + `"}`},
		{"AUTHORIZATION: basic dXNlcjpwYXNz", "AUTHORIZATION: basic " + Mark},
		{"Authorization: abcdef0123456789", "Authorization: " + Mark},
		{"Private-Token: abcdef0123456789", "Private-Token: " + Mark},
		{"https://user:pa55@host/x", "https://" + Mark + "@host/x"},
		{"https://x-access-token:ghs_" + a36 + "@github.com/o/r", "https://" + Mark + "@github.com/o/r"},
		{"postgres://u:p@ss@db:5432/x", "postgres://" + Mark + "@db:5432/x"},
		{"https://" + a36 + "@github.com/o/r", "https://" + Mark + "@github.com/o/r"},
		{"ssh://git@github.com/o/r", "ssh://git@github.com/o/r"},
		// wrapped, coloured, interspersed
		{"ghp_" + a36[:20] + "\n  " + a36[20:] + "\nnext", Mark + "\nnext"},
		{"A=ghp_" + a36 + "\nSHORT=1", "A=" + Mark + "\nSHORT=1"},
		{jwt[:30] + "\r\n" + jwt[30:], Mark},
		{jwt + "\n  " + strings.Repeat("Ab1-", 5) + "\nnext", Mark + "\nnext"},
		{jwt + "\nnext", Mark + "\nnext"},
		{"gh\x1b[1mp_\x1b[0m" + a36, Mark},
		{"ghp_" + a36[:7] + "\u200b" + a36[7:], Mark},
		{"AK\u202eIA" + "IOSFODNN7EXAMPLE", Mark},
	} {
		if got := New().Text(c.in); got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		for name, sink := range sinks(New()) {
			if got := sink(c.in); strings.Contains(got, a36[:12]) || strings.Contains(got, "MIIEow") {
				t.Errorf("%s(%q) = %q", name, c.in, got)
			}
		}
	}
}

// Not even the characters of base64 that hold a few bits of a secret are left, and no others are taken.
func TestBase64IsCutToTheBit(t *testing.T) {
	for in, want := range map[string]string{
		"hunter2!": Mark, "hunter2!y": Mark + "5", "xhunter2!y": "e" + Mark + "eQ==", "xyhunter2!": "eH" + Mark, "abchunter2!def": "YWJj" + Mark + "kZWY=",
	} {
		if got := New("hunter2!").Text(base64.StdEncoding.EncodeToString([]byte(in))); got != want {
			t.Errorf("%s in base64 became %q, want %q", in, got, want)
		}
	}
}

func TestSecretOfSeveralLines(t *testing.T) {
	c := New("{\n \"id\": \"x\",\n \"private\": \"abcdefghijk\"\n}\n")
	for in, want := range map[string]string{
		"one: \"private\": \"abcdefghijk\" end":                  "one: " + Mark + " end",
		`{ "id": "x", "private": "abcdefghijk" }`:                Mark,
		`"{\n \"id\": \"x\",\n \"private\": \"abcdefghijk\"\n}"`: `"` + Mark + `"`,
	} {
		if got := c.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// forms are the ways in which a secret travels, each with what must not be left of it once blanks are taken out.
func forms(r *rand.Rand, secret string) map[string]string {
	every := ""
	cesc := ""
	for _, b := range []byte(secret) {
		every += fmt.Sprintf("%%%02x", b)
		cesc += fmt.Sprintf(`\x%02x`, b)
	}
	quoted, _ := json.Marshal(secret)
	f := map[string]string{
		"raw": secret, "hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "percent": every, "PERCENT": strings.ToUpper(every),
		"json": string(quoted[1 : len(quoted)-1]), "c": cesc, "html": html.EscapeString(secret),
	}
	encodings := map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding,
		"rawstd": base64.RawStdEncoding, "rawurl": base64.RawURLEncoding}
	for name, enc := range encodings {
		for before := range 3 {
			around := []byte(noise(r, before) + secret + noise(r, r.IntN(4)))
			f[fmt.Sprintf("%s+%d", name, before)] = enc.EncodeToString(around)
		}
	}
	return f
}

func noise(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}

// wrap breaks a text into lines, as terminals, mailers and base64 do.
func wrap(r *rand.Rand, s string) string {
	brk := []string{"\n", "\r\n", "\n    ", "\\\n", "\n\t", "\r"}[r.IntN(6)]
	width := 3 + r.IntN(20)
	var b strings.Builder
	for i := 0; i < len(s); i += width {
		if i > 0 {
			b.WriteString(brk)
		}
		b.WriteString(s[i:min(len(s), i+width)])
	}
	return b.String()
}

// left reports whether a text still tells the secret: raw or decoded, blanks and line continuations aside.
func left(text, secret string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", ""), "\\\n", "")
	tight := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	if strings.Contains(tight, secret) || strings.Contains(strings.ToLower(tight), hex.EncodeToString([]byte(secret))) {
		return true
	}
	if u, err := url.PathUnescape(tight); err == nil && strings.Contains(u, secret) {
		return true
	}
	std := strings.NewReplacer("-", "+", "_", "/").Replace(tight)
	for _, word := range strings.FieldsFunc(std, func(r rune) bool { return !(r < 128 && base64Char(byte(r))) }) {
		for skip := range min(4, len(word)) {
			n := len(word) - skip
			if n%4 == 1 {
				n--
			}
			if raw, err := base64.RawStdEncoding.DecodeString(word[skip : skip+n]); err == nil && strings.Contains(string(raw), secret) {
				return true
			}
		}
	}
	return false
}

const secretRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!\"#$&'()*+,/:;<=>?@[]^_`{|}~-."

func randomSecret(r *rand.Rand) string {
	b := make([]byte, 8+r.IntN(60))
	for i := range b {
		b[i] = secretRunes[r.IntN(len(secretRunes))]
	}
	return string(b)
}

// TestNoSecretSurvives is the promise of the package: no form of a secret, wrapped or not, gets through any sink.
func TestNoSecretSurvives(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		secret := randomSecret(r)
		c := New(noise(r, 12), secret)
		for form, said := range forms(r, secret) {
			if form != "json" && form != "c" && form != "html" && !left("say: "+said, secret) {
				t.Fatalf("seed %d: the test does not see the secret in form %s", seed, form)
			}
			for _, shape := range []string{said, wrap(r, said)} {
				in := "before " + shape + " after"
				for name, sink := range sinks(c) {
					out := sink(in)
					if !strings.Contains(out, Mark) || left(out, secret) {
						t.Fatalf("seed %d, %s, %s: secret %q\n in %q\nout %q", seed, name, form, secret, in, out)
					}
					if !strings.HasPrefix(out, "before ") || !strings.HasSuffix(out, " after") {
						t.Fatalf("seed %d, %s, %s: the text around is gone: %q", seed, name, form, out)
					}
				}
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	c := New()
	for in, want := range map[string]string{
		"a\x1b[31mb\x1b[0m":                             "ab",
		"\x1b]8;;http://evil\x07link\x1b]8;;\x07":       "link",
		"\x1b]0;title\x1b\\x":                           "x",
		"\x1b]0;never ended\nnext":                      "0;never ended\nnext",
		"\x1b(Bx\x1bcy\x1b7z":                           "xyz",
		"10%\r20%\r\nend":                               "10%\n20%\nend",
		"a\u202eb\u2066c\u2069d\u200be\ufefff":          "abcdef",
		"tab\tnew\nline\vx\fy\u0085z\u2028w\u2029":      "tab\tnew\nline\nx\ny\nz\nw\n",
		"bell\x07 null\x00 del\x7f c1\u0090x\u009b31mz": "bell null del c1xz",
		"bad\xff\xfeutf":                                "badutf",
		"\x1b\x1b[1mx":                                  "x",
		"日本語 é ü ﬁ":                                     "日本語 é ü ﬁ",
	} {
		if got := c.Terminal(in); got != want {
			t.Errorf("Terminal(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLog(t *testing.T) {
	c := New()
	for in, want := range map[string]string{
		"::error::x":                  ": :error::x",
		"  \t::set-env name=x::y":     "  \t: :set-env name=x::y",
		"\u00a0::add-mask::x":         "\u00a0: :add-mask::x",
		"ok\r::add-mask::x":           "ok\n: :add-mask::x",
		"\x1b[31m::error::x":          ": :error::x",
		"\u200b::error::x":            ": :error::x",
		"x ##[group]y":                "x ## [group]y",
		"##vso[task.setvariable]x":    "## vso[task.setvariable]x",
		"std::vector a::b":            "std::vector a::b",
		"see ::error:: in the middle": "see ::error:: in the middle",
		":::::":                       ": ::::",
	} {
		if got := c.Log(in); got != want {
			t.Errorf("Log(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"short", 5, "short"},
		{strings.Repeat("a", 100), 40, strings.Repeat("a", 21) + "… (79 bytes cut)"},
		{"日本語", 4, "日"}, {"日本語", 2, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"a\xffb", 3, "a?b"},
	} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	long := strings.Repeat("語\xff", 5000)
	for n := range 300 {
		got := Clip(long, n)
		if len(got) > n || !utf8.ValidString(got) || n > 40 && !strings.Contains(got, "bytes cut)") || Clip(got, n) != got {
			t.Fatalf("Clip to %d: %q", n, got)
		}
	}
}

func TestFence(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "```\n```\n",
		"x":                 "```\nx\n```\n",
		"a\n```\nb\n":       "````\na\n```\nb\n````\n",
		"`````` x ```":      "```````\n`````` x ```\n```````\n",
		"one ` two `` end`": "```\none ` two `` end`\n```\n",
	} {
		if got := Fence(in); got != want {
			t.Errorf("Fence(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := FenceAs("diff", "-a\n+b\n"), "```diff\n-a\n+b\n```\n"; got != want {
		t.Errorf("FenceAs = %q, want %q", got, want)
	}
}

// check holds every promise that is about one text against it.
func check(t *testing.T, c *Cleaner, secret, in string) {
	t.Helper()
	for name, sink := range sinks(c) {
		out := sink(in)
		if !utf8.ValidString(out) || strings.Contains(out, "\x00") {
			t.Fatalf("%s(%q) = %q is no clean UTF-8", name, in, out)
		}
		if again := sink(out); again != out {
			t.Fatalf("%s is not idempotent\n  in %q\n out %q\nthen %q", name, in, out, again)
		}
		if strings.Contains(strings.ReplaceAll(out, Mark, "\n"), secret) {
			t.Fatalf("%s(%q) = %q holds the secret %q", name, in, out, secret)
		}
		if name == "Text" {
			continue
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%s(%q) = %q holds %U", name, in, out, r)
			}
		}
	}
	for line := range strings.Lines(c.Log(in)) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Fatalf("Log(%q) lets %q through", in, line)
		}
	}
}

// TestRandomTexts throws texts made of everything that matters at every sink.
func TestRandomTexts(t *testing.T) {
	bits := []string{"s3cr", "et`x", "s3cret`x", "@user", "#12", "fixes ", "`", "``", "```", "\\", "<", "</details", "<!--", "-->", ">", "&", "&lt;", "&amp;",
		"&#64;", "*", "_", "[", "](", ")", "http://", "www.x.y", "\n", "\r", "\t", " ", "\x1b[", "\x1b]", "31m", "\x07", "::error::", "##[", "\u200b",
		"\u202e", "\xff", "\x00", "%41", "\\x41", "\\u0040", "|", "~", "#", "# ", "-", "---", "=", "1. ", "/merge", "GH-7", "ghp_", Mark, "a", "日", "$", "\\n",
		"eyJabcdefghij.", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Authorization: Bearer ", "abcdefgh12345678", "://u:p@"}
	c := New("s3cret`x", "@user#12", "redacted")
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		check(t, c, "s3cret`x", b.String())
	}
}

// TestHostileTexts repeats bits that are made to be costly: eight times the text may not cost the square of eight.
func TestHostileTexts(t *testing.T) {
	c := New("hunter2!secret")
	took := func(sink func(string) string, bit string, size int) time.Duration {
		text := strings.Repeat(bit, size/len(bit))
		begin := time.Now()
		sink(text)
		return time.Since(begin)
	}
	for _, bit := range []string{"eyJ-", "eyJabcdefgh.", "ghp_", "sk-", "://", "://a:", "@", "`@a", "`", "\\", "\\`", "&", "&a", "&#", "[", "#1 ", "\x1b[", "\x1b]", "\n",
		"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n", "Authorization: Bearer ", "Authorization:", "hunter2!secre", "%", "%41", "a\n", "::",
		Mark, "- ", "1. ", "-----BEGIN PRIVATE KEY-----\naaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"} {
		for name, sink := range map[string]func(string) string{"Text": c.Text, "Markdown": c.Markdown} {
			var little, much time.Duration
			for range 5 { // a busy machine may spoil a measurement, but not all of them
				little, much = took(sink, bit, 4<<10), took(sink, bit, 32<<10)
				if much < 32*little+150*time.Millisecond {
					break
				}
			}
			if much >= 32*little+150*time.Millisecond {
				t.Errorf("%s of many %q: %s, and eight times as many: %s", name, bit, little, much)
			}
		}
	}
}

func FuzzSinks(f *testing.F) {
	f.Add("hunter2!secret", "say hunter2!\n secret <b>@x</b> ::error::")
	f.Add("a%41b`c", "a%2541b`c \\x41")
	f.Fuzz(func(t *testing.T, secret, in string) {
		secret = view(secret, solidBare)
		if len(secret) < shortest || len(secret) > 200 || len(in) > 10000 {
			t.Skip()
		}
		check(t, New(secret), secret, in)
	})
}

func BenchmarkText(b *testing.B) {
	c := New("hunter2!secret", "another-secret-of-mine")
	text := strings.Repeat("=== RUN TestX\n    x_test.go:12: got 1 & want 2 \\ \"a\" 50% https://example.com/x\n", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Text(text)
	}
}
