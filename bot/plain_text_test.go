package bot

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/redact"
)

func TestPlain(t *testing.T) {
	for name, s := range stories(t) {
		title, body := DraftText(s, redact.New())
		got := Plain(body)
		for _, what := range []string{"<!--", "<details", "</details", "<summary", "&lt;", "```\n\n### "} {
			if name != "hostile" && strings.Contains(got, what) {
				t.Errorf("%s: there is %q in it", name, what)
			}
		}
		for _, what := range unclean(strings.ReplaceAll(got, "<details>", "")) {
			if !strings.Contains(what, "details") {
				t.Errorf("%s: %s", name, what)
			}
		}
		if name != "hostile" {
			golden(t, "plain-"+name, redact.FenceAs("text", title+"\n\n"+got))
		}
	}
}

func TestPlainOf(t *testing.T) {
	for in, want := range map[string]string{
		"":                                        "\n",
		"### Head\n\ntext":                        "Head\n----\n\ntext\n",
		"a <!-- b --> c":                          "a c\n",
		"a <!-- b\nc --> d\n\ne":                  "a\nd\n\ne\n",
		"<!-- never closed\nx":                    "\n",
		"**a** \\*b\\* `**c**` &lt;d>":            "a *b* `**c**` <d>\n",
		"[red run](https://x.example)":            "red run: https://x.example\n",
		"```diff\n- [a](b) <!--\n```":             "    - [a](b) <!--\n",
		"````\n```\n````\nx":                      "    ```\nx\n",
		"| a | b |\n|---|---|\n| 1 \\| 2 | `3` |": "  a  1 | 2\n  b  `3`\n",
		"| a | b |\n|---|---|\n| long | 1 |\n| x | 2 |\nend":             "  a     b\n  long  1\n  x     2\nend\n",
		"<details>\n<summary>More, 2 lines</summary>\n\nx\n\n</details>": "  More, 2 lines:\n\nx\n",
		"- " + strings.Repeat("word ", 30):                               "- " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n  " + strings.TrimSpace(strings.Repeat("word ", 11)) + "\n",
		"> " + strings.Repeat("word ", 20):                               "> " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n> word\n",
		"a\x1b[31mb\u202ec":                                              "abc\n",
		"`unclosed \\`":                                                  "`unclosed \\`\n",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("| a\n|---|\n`` ` <!-- \\")
	f.Fuzz(func(t *testing.T, body string) {
		for _, what := range unclean(Plain(body)) {
			if strings.HasPrefix(what, "character") || strings.HasPrefix(what, "bytes") {
				t.Errorf("%q: %s", body, what)
			}
		}
	})
}
