package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/redraft-dev/redraft/agent/redact"
)

// console matches the lines a person types in a document's console blocks.
var console = regexp.MustCompile(`(?m)^\$ (.+)$`)

// documents are the pages that show commands.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, glob := range []string{"../../*.md", "../../docs/*.md"} {
		names, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			b, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			out[n] = string(b)
		}
	}
	return out
}

// words splits a shown command as a shell would, without expanding anything.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(m, "'"))
	}
	return out
}

// ran is everything that the scripts run, to hold the documents against.
func ran(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	names, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range append(names, "demo_test.go", "kill_test.go", "demo_github_test.go", "github_test.go", "jobs_test.go") {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// TestDocumentedCommands parses every command that a page shows with the real parser, and asks that a test runs its
// subcommand with each of its flags.
func TestDocumentedCommands(t *testing.T) {
	scripts := ran(t)
	shown := 0
	for name, text := range documents(t) {
		for _, m := range console.FindAllStringSubmatch(text, -1) {
			w := words(strings.TrimPrefix(strings.TrimPrefix(m[1], "go run ./cmd/"), "./"))
			if w[0] != "redraft" {
				continue
			}
			shown++
			a := &app{getenv: func(string) string { return "" }, out: io.Discard, err: io.Discard, clean: redact.New()}
			cmd, rest, err := a.root().Find(w[1:])
			if err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
				continue
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
				continue
			}
			if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			}
			if !strings.Contains(scripts, cmd.CommandPath()) {
				t.Errorf("%s: %s: no test runs %s", name, m[1], cmd.CommandPath())
			}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if !strings.Contains(scripts, "--"+f.Name) {
					t.Errorf("%s: %s: no test uses --%s", name, m[1], f.Name)
				}
			})
		}
	}
	if shown < 10 {
		t.Errorf("only %d commands are shown in the documents", shown)
	}
}

// TestReadmeFlags: every flag of fix that docs/laptop.md lists exists, and every one that exists is listed.
func TestReadmeFlags(t *testing.T) {
	b, err := os.ReadFile("../../docs/laptop.md")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{getenv: func(string) string { return "" }, out: io.Discard, err: io.Discard, clean: redact.New()}
	fix, _, err := a.root().Find([]string{"fix"})
	if err != nil {
		t.Fatal(err)
	}
	fix.Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(string(b), "`--"+f.Name+"`") && f.Name != "help" {
			t.Errorf("docs/laptop.md does not list --%s", f.Name)
		}
	})
	for _, m := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(string(b), -1) {
		if fix.Flags().Lookup(m[1]) == nil && a.root().PersistentFlags().Lookup(m[1]) == nil {
			t.Errorf("docs/laptop.md lists --%s, which fix does not know", m[1])
		}
	}
}
