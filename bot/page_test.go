package bot

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPageGivesWay: the longest folded part is cut first, at a line's end, and it says how much is gone.
func TestPageGivesWay(t *testing.T) {
	g := &page{}
	g.add("head\n\n")
	g.fold("short", "text", strings.Repeat("é\n", 1000))
	g.fold("long", "text", strings.Repeat("日本語\n", 20000))
	got := g.String()
	if len(got) > limit || len(got) < limit-300 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	if strings.Count(got, "é\n") != 1000 {
		t.Errorf("the short part was cut to %d lines", strings.Count(got, "é\n"))
	}
	if n := strings.Count(got, "日本語\n"); !strings.Contains(got, "… "+counted(20000-n, "more line")+" ("+counted(10*(20000-n), "byte")+") left out") {
		t.Errorf("%d lines are there; it ends with %q", n, got[len(got)-200:])
	}
}

// TestPageLevels: two long parts give way to the same length.
func TestPageLevels(t *testing.T) {
	g := &page{}
	g.fold("a", "text", strings.Repeat("a line of a\n", 9000))
	g.fold("b", "text", strings.Repeat("a line of b\n", 5000))
	got := g.String()
	a, b := strings.Count(got, "line of a"), strings.Count(got, "line of b")
	if len(got) > limit || len(got) < limit-2000 || a-b > 200 || b-a > 200 {
		t.Errorf("%d bytes, %d and %d lines", len(got), a, b)
	}
}

// TestPageWithoutLines: one line of any length can only go whole.
func TestPageWithoutLines(t *testing.T) {
	g := &page{}
	g.fold("one", "text", strings.Repeat("é", 200<<10))
	if got := g.String(); len(got) > 300 || !strings.Contains(got, "1 more line (409601 bytes) left out") {
		t.Errorf("got %d bytes: %.300q", len(got), got)
	}
}

// TestPageDrops: what is optional goes when nothing folded is left, the last one first.
func TestPageDrops(t *testing.T) {
	g := &page{}
	g.maybe(strings.Repeat("first ", 8000))
	g.add("between\n\n")
	g.maybe(strings.Repeat("second ", 3000))
	g.add("end\n")
	got := g.String()
	if len(got) > limit || !strings.Contains(got, "first first") || strings.Contains(got, "second") || !strings.Contains(got, "left out here") || !strings.HasSuffix(got, "end\n") {
		t.Errorf("got %d bytes", len(got))
	}
}

// TestPageFits: what fits stays as it is.
func TestPageFits(t *testing.T) {
	g := &page{}
	g.fold("Three `ticks`", "diff", "+ ```\n")
	if got, want := g.String(), "<details>\n<summary>Three `ticks`</summary>\n\n````diff\n+ ```\n````\n\n</details>\n\n"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestClosed(t *testing.T) {
	for in, want := range map[string]string{
		"a":                        "a",
		"```go\nx\n```":            "```go\nx\n```",
		"```go\nx":                 "```go\nx\n```",
		"```go `x`\ny":             "```go `x`\ny",
		"~~~~\n```\n~~~":           "~~~~\n```\n~~~\n~~~~",
		"<!-- a":                   "<!-- a\n-->",
		"<!-- a --> <!-- b":        "<!-- a --> <!-- b\n-->",
		"<!--\n```\n-->":           "<!--\n```\n-->",
		"<!--\n```\n<details>":     "<!--\n```\n<details>\n-->",
		"```\n<!-- <details>":      "```\n<!-- <details>\n```",
		"<details>\n<DETAILS x>":   "<details>\n<DETAILS x>\n\n</details>\n\n</details>",
		"</details><details>\n```": "</details><details>\n```\n```",
		"<details></details>":      "<details></details>",
		"":                         "",
	} {
		if got := closed(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDiffStats(t *testing.T) {
	diff := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ func x\n a\n--- b\n+++ c\n d\n\\ No newline at end of file\n" +
		"diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+diff --git a/c b/c\n"
	got := diffStats([]byte(diff))
	if len(got) != 2 || got[0] != (diffStat{1, 1}) || got[1] != (diffStat{1, 0}) {
		t.Errorf("got %+v", got)
	}
	if got := diffStats([]byte("+++\n@@ -x @@\n-a\n")); len(got) != 0 {
		t.Errorf("of no diff: %+v", got)
	}
}
