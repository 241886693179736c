package trace

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                         "plain\ttext\n",
		"\x1b[31mred\x1b[0;1;38m":               "red",
		"\x1b]0;title\x07":                      `\x1b]0;title\x07`,
		"\x1b[2J\x1b[1;1H":                      `\x1b[2J\x1b[1;1H`,
		"a\r\nb\rc":                             "a\nb" + `\x0d` + "c",
		"\u202eabc\u2066":                       `\u202eabc\u2066`,
		"zero\u200bwidth\ufeff":                 `zero\u200bwidth\ufeff`,
		"\u2028\u0085\x7f\x00":                  `\u2028\x85\x7f\x00`,
		"bad \xff\xfe utf":                      "bad \ufffd\ufffd utf",
		"\U000e0041tag":                         `\U000e0041tag`,
		"größe 日本 😀":                            "größe 日本 😀",
		"\x1b[":                                 `\x1b[`,
		"\x1b[" + strings.Repeat("1", 99) + "m": `\x1b[` + strings.Repeat("1", 99) + "m",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCodeAndFence(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"go test":     "`go test`",
		"a`b":         "``a`b``",
		"`x`":         "`` `x` ``",
		"a|b":         "`a\\|b`",
		"two\nlines ": "`two lines`",
	} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := fence("diff", "a\n````\nb"), "`````diff\na\n````\nb\n`````\n"; got != want {
		t.Errorf("fence: %q, want %q", got, want)
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"a plain sentence: 3 of 3, it's byte-identical (no_edit).": "a plain sentence: 3 of 3, it's byte-identical (no_edit).",
		"<img src=x> &lt; a & b":                                   `&lt;img src=x> &amp;lt; a & b`,
		"@octocat":                                                 "@\u200boctocat",
		"fixes #12":                                                "fixes #\u200b12",
		"# heading":                                                "#\u200b heading",
		"- list":                                                   `\- list`,
		"[a](http://b) ![c](d)":                                    `\[a\](http:` + "\u200b" + `//b) !\[c\](d)`,
		"www.example.com":                                          "www.\u200bexample.com",
		"*a* _b_ `c` ~d~ a|b":                                      "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~ a\\|b",
		"line one\nline two":                                       "line one line two",
		`back\slash`:                                               `back\\slash`,
	} {
		if got := prose(in); got != want {
			t.Errorf("prose(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{{" a\n\tb ", 9, "a b"}, {"日本日本", 2, "日本…"}, {"\u202e\u202e", 3, `\u2…`}, {strings.Repeat("x", 1e6), 4, "xxxx…"}, {"", 4, ""}} {
		if got := oneLine(tc.in, tc.n); got != tc.want {
			t.Errorf("oneLine(%.20q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[float64]string{0: "0.00 s", 0.126: "0.13 s", 12.3: "12 s", 3671: "1h1m11s", -1: "?", 1e300: "?"} {
		if got := seconds(in); got != want {
			t.Errorf("seconds(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestProofTable(t *testing.T) {
	rungs := []RungData{{"D0", "held", "4 of 4"}, {"D1", "failed", "a|b <x>\x1b[2J"}, {"D3", "not_evaluated", ""}, {"Z9", "odd", "x"}}
	want := `rung  shows                                          status         seen
D0    green as configured, in every run              held           4 of 4
D1    the findings are gone, nothing else got worse  FAILED         a|b <x>\x1b[2J
D3    canaries behave                                not evaluated
Z9                                                   odd            x
`
	if diff := cmp.Diff(want, ProofTable(rungs)); diff != "" {
		t.Error(diff)
	}
	markdown := `| rung | shows | status | seen |
|---|---|---|---|
| D0 | green as configured, in every run | held | 4 of 4 |
| D1 | the findings are gone, nothing else got worse | FAILED | a\|b &lt;x>\\x1b\[2J |
| D3 | canaries behave | not evaluated |  |
| Z9 |  | odd | x |
`
	if diff := cmp.Diff(markdown, ProofMarkdown(rungs)); diff != "" {
		t.Error(diff)
	}
	if ProofTable(nil) != "" || ProofMarkdown(nil) != "" {
		t.Error("a table without a rung")
	}
}

func TestFindingText(t *testing.T) {
	for name, tc := range map[string]struct {
		f    Finding
		want string
	}{
		"whole": {Finding{ID: "pkg.TestA", Kind: "test", Status: "fail", File: "a_test.go", Line: 7, Got: "1\n2", Want: "", Message: "boom"},
			"pkg.TestA  a_test.go:7\n  got   1\n        2\n  want  (empty)\n  boom\n"},
		"build":  {Finding{ID: "pkg.[build]", Kind: "build", Status: "error", Message: "undefined: x"}, "pkg.[build] (build) could not be run to its end\n  undefined: x\n"},
		"zero":   {Finding{}, "unknown\n"},
		"nasty":  {Finding{ID: "a\nb\x1b[0K", Got: "\u202ex", Want: "\x07"}, "a b\\x1b[0K\n  got   \\u202ex\n  want  \\x07\n"},
		"length": {Finding{ID: "x", Message: strings.Repeat("l\n", 40)}, "x\n" + strings.Repeat("  l\n", 12) + "  … 28 lines more\n"},
	} {
		if diff := cmp.Diff(tc.want, FindingText(tc.f)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// clean says that a text holds nothing but what may reach a terminal.
func cleanText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\u200b' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}
