package bot

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/redact"
)

func TestCommitText(t *testing.T) {
	for name, s := range stories(t) {
		t.Run(name, func(t *testing.T) {
			for _, quiet := range []bool{false, true} {
				got := CommitText(s, redact.New(), quiet)
				if !Trailer(got) {
					t.Error("it is not known for ours")
				}
				if has := strings.Contains(got, skipMarker); has != quiet {
					t.Errorf("quiet %v, and the marker is there: %v", quiet, has)
				}
				rest := strings.Replace(got, skipMarker, "", 1)
				if m := acted.FindString(rest); m != "" {
					t.Errorf("GitHub would act on %q in:\n%s", m, got)
				}
				for _, what := range unclean(got) {
					t.Error(what)
				}
				if quiet {
					golden(t, "commit-"+name, redact.FenceAs("", got))
				}
			}
		})
	}
}

// acted is what GitHub acts on in a commit's message or a title.
var acted = regexp.MustCompile(`(?i)\B@[a-z0-9]|#[0-9]|\bgh-[0-9]|https?://|\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|skip-checks:`)

func TestTitles(t *testing.T) {
	for name, s := range stories(t) {
		title, _ := DraftText(s, redact.New())
		if !strings.HasPrefix(title, "redraft: ") || len(title) > 256 || strings.Contains(title, "\n") || acted.MatchString(title) {
			t.Errorf("%s: %q", name, title)
		}
	}
	s := mechanicStory(t)
	s.Status.Verdicts[0].Findings[0].Kind = "lint"
	if title, _ := DraftText(s, redact.New()); title != "redraft: `go test ./...` is green" {
		t.Errorf("of a linter's finding: %q", title)
	}
}

func TestBare(t *testing.T) {
	p := pen{redact.New()}
	for in, want := range map[string]string{
		"TestTotal/three_items":               "TestTotal/three_items",
		"fixes #12 and o/r#3, GH-7":           "fixes # 12 and o/r# 3, GH 7",
		"closes https://x.example/o/r/pull/1": "closes https: //x.example/o/r/pull/1",
		"@octocat a@b.example":                "@ octocat a@ b.example",
		"[skip ci] [ci skip] [No CI]":         "(skip ci) (ci skip) (No CI)",
		"[[skip actions]] skip-checks: true":  "[(skip actions)] skip checks: true",
		"a\n\nRedraft-Run: x":                 "a Redraft-Run: x",
		"[4]int 3 * 4":                        "[4]int 3 * 4",
	} {
		if got := p.bare(in, 200); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestTrailer(t *testing.T) {
	sum := "Redraft-Receipt: sha256:" + strings.Repeat("a1", 32)
	for message, want := range map[string]bool{
		"fix\n\nRedraft-Run: x\n" + sum + "\n":                          true,
		"fix\r\n\r\nRedraft-Run: x\r\n" + sum + "\r\n":                  true,
		"fix\n\n" + sum + "\nSigned-off-by: A\nRedraft-Run: x\n\n \n\n": true,
		"fix\n\nRedraft-Run: x\n" + sum + "\n\nI quote it.\n":           false,
		"fix\n\nRedraft-Run: x\n" + sum + "\n \t\nI quote it.\n":        false,
		"fix\n\nRedraft-Run: x\n":                                       false,
		"fix\n\nRedraft-Run: \n" + sum:                                  false,
		"fix\n\n> Redraft-Run: x\n> " + sum:                             false,
		"fix\n\nRedraft-Run: x\nRedraft-Receipt: sha256:a1":             false,
		"": false,
	} {
		if got := Trailer(message); got != want {
			t.Errorf("%q: got %v", message, got)
		}
	}
}
