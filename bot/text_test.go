package bot

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
)

const ci = ".github/workflows/ci.yml"

func TestBranch(t *testing.T) {
	for _, row := range []struct {
		target             Target
		workflow, check, p string
		want               string
	}{
		{Target{Kind: ForPull, Number: 7}, ci, "", "", "redraft/pull-7"},
		{Target{Kind: ForIssue, Number: 12}, "", "unit", "redraft/bot-", "redraft/bot-issue-12"},
		{Target{Kind: ForBranch, Branch: "main"}, ci, "", "", "redraft/branch-main-ci"},
		{Target{Kind: ForBranch, Branch: "main"}, ci, "any", "", "redraft/branch-main-ci"},
		{Target{Kind: ForBranch, Branch: "v1-x"}, ci, "", "", "redraft/branch-v1-x-ci"},
		{Target{Kind: ForBranch, Branch: "main"}, ".github/workflows/ci.yaml", "", "", "redraft/branch-main-ci-HASH"},
		{Target{Kind: ForBranch, Branch: "Main"}, ci, "", "", "redraft/branch-main-ci-HASH"},
		{Target{Kind: ForBranch, Branch: "main"}, "", "ci", "", "redraft/branch-main-ci-HASH"},
		{Target{Kind: ForBranch, Branch: "main"}, "", "", "", "redraft/branch-main-check-HASH"},
		{Target{Kind: ForBranch, Branch: "feature/é.lock"}, ci, "", "", "redraft/branch-feature-lock-ci-HASH"},
		{Target{Kind: ForBranch, Branch: "日本"}, ".github/workflows/构建.yml", "", "", "redraft/branch-x-x-HASH"},
		{Target{Kind: ForBranch, Branch: strings.Repeat("long/", 100)}, ci, "", "", "redraft/branch-long-long-long-long-long-long-long-long-ci-HASH"},
		{Target{Kind: ForBranch, Branch: "../../@{x}~^:?*[\\ \x7f"}, ci, "", "", "redraft/branch-x-ci-HASH"},
	} {
		got := Branch(Job{Target: row.target, Workflow: row.workflow, Check: row.check}, row.p)
		if same := regexp.MustCompile(`[0-9a-f]{6}$`).ReplaceAllString(got, "HASH"); got != row.want && same != row.want {
			t.Errorf("%+v: got %q, want %q", row.target, got, row.want)
		}
		if !regexp.MustCompile(`^redraft/[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(got) || len(got) > 120 {
			t.Errorf("%q is no name for git", got)
		}
	}
}

// TestBranchOfOneTarget: two targets of a repository never share a branch, however alike they are.
func TestBranchOfOneTarget(t *testing.T) {
	seen := map[string]string{}
	for _, branch := range []string{"a", "a-b", "a-b-c", "A", "a/b", "a_b", "a.b", "pull", "main", "main-check", ""} {
		for _, workflow := range []string{"", "c", ci, "b-c.yml", ".github/workflows/b-c.yml", ".github/workflows/c.yml", ".github/workflows/C.yml",
			".github/workflows/c.yaml", ".github/workflows/a1b2c3.yml", ".github/workflows/check.yml"} {
			j := Job{Target: Target{Kind: ForBranch, Branch: branch}, Workflow: workflow}
			name, who := Branch(j, ""), branch+" "+workflow
			if other, taken := seen[name]; taken {
				t.Errorf("%q is of %q and of %q", name, other, who)
			}
			seen[name] = who
			if Branch(j, "") != name {
				t.Errorf("%q is not always the same", name)
			}
		}
	}
}

func TestFingerprint(t *testing.T) {
	r := proof.Receipt{Command: "go test ./...", Dir: ".", Findings: []string{"a", "b"}}
	one := Fingerprint(r)
	same := r
	same.Dir, same.Findings, same.Root, same.K = "", []string{"b", "a"}, "other", 9
	if got := Fingerprint(same); got != one || len(one) != 64 {
		t.Errorf("got %q, want %q", got, one)
	}
	if same.Findings[0] != "b" {
		t.Error("the receipt was changed")
	}
	for _, other := range []proof.Receipt{
		{Command: "go test", Dir: ".", Findings: r.Findings}, {Command: r.Command, Dir: "x", Findings: r.Findings},
		{Command: r.Command, Dir: ".", Findings: []string{"a"}}, {Command: r.Command, Dir: ".", Findings: []string{"a\",\"b"}},
		{Command: r.Command, Dir: ".", Findings: []string{"a", "b", "c"}},
	} {
		if Fingerprint(other) == one {
			t.Errorf("%+v has the same", other)
		}
	}
}

// TestPen: whatever the text, nothing of it is live in what a pen writes.
func TestPen(t *testing.T) {
	p := pen{redact.New()}
	for _, s := range []string{hostile, "", "`", "``", "` `", "\\", "a\\|b|c", "|", "-", "1. x", "[ ] x", "\u202e", "\xff\x00", "<!--", "</DETAILS>", "< / details>",
		strings.Repeat("`", 300), strings.Repeat("é", 900), "$(x)", "a\n\n# b", token, "`a` `@b` @c`d` `<e>`", "@a`b`#12`c`", "`a``b`", "x `` y", "# `a`", "`a` <b> `c"} {
		for name, md := range map[string]string{
			"prose": "- " + p.prose(s, 400) + "\n", "talk": "> " + p.talk(s, 400) + "\n", "code": "- " + p.code(s, 400) + "\n", "fence": p.fence("text", s, 4000),
			"cell": "| a | b |\n|---|---|\n| " + p.cell(s, 400) + " | end |\n",
		} {
			for _, what := range append(alive(t, md), unclean(md)...) {
				t.Errorf("%s of %q: %s", name, s, what)
			}
			if name == "cell" && !strings.Contains(rendered(t, md), "<td>end</td>") {
				t.Errorf("the cell of %q does not end where it should: %q", s, md)
			}
		}
	}
}

// TestLink: an address is a link only where it leads to a page, and says to whose.
func TestLink(t *testing.T) {
	p := pen{redact.New("hunter2secret")}
	for address, want := range map[string]string{
		redRun:                                           "[red run](" + redRun + ")",
		"http://127.0.0.1:8080/runs/1":                   "[red run](http://127.0.0.1:8080/runs/1)",
		"https://ci.example.com/b?id=1":                  "[red run at ci.example.com](https://ci.example.com/b?id=1)",
		"https://ci.example.com/a)![x](b_c*":             "[red run at ci.example.com](https://ci.example.com/a%29%21%5Bx%5D%28b%5Fc%2A)",
		"http://ci.example.com/b":                        "",
		"javascript:alert(1)":                            "",
		"https://user:pw@github.com/x":                   "",
		"https://git]hub.com/x":                          "",
		"https://github.com/x\n":                         "",
		"https://github.com/hunter2secret":               "",
		"//github.com/x":                                 "",
		"":                                               "",
		"https://github.com/" + hostile:                  "",
		"https://gith\u0443b.com/x":                      "",
		"https://x.example/" + strings.Repeat("a", 1000): "",
	} {
		if got := p.link(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
