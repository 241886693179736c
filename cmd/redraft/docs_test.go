package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/redraft-dev/redraft/agent/plan"
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

const docExamples = "../../.github/workflows/examples/*.yml"

// docText is one document.
func docText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// docRow is one line of a table.
type docRow struct{ Name, Default string }

// docRows are the first cells of the table below a heading, and the second ones where the table has a column of defaults.
func docRows(t *testing.T, text, heading string) (out []docRow) {
	t.Helper()
	_, after, found := strings.Cut(text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %s", heading)
	}
	after, _, _ = strings.Cut(after, "\n## ")
	defaults := false
	for line := range strings.SplitSeq(after, "\n") {
		if !strings.HasPrefix(line, "|") {
			if len(out) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		first := strings.TrimSpace(cells[0])
		defaults = defaults || len(cells) > 1 && strings.TrimSpace(cells[1]) == "default"
		if !strings.HasPrefix(first, "`") {
			continue
		}
		r := docRow{Name: strings.Trim(first, "`")}
		if defaults {
			r.Default = strings.Trim(strings.TrimSpace(cells[1]), "`")
		}
		out = append(out, r)
	}
	return out
}

// actionFile is action.yml as far as its documentation goes, in the file's order.
type actionFile struct {
	Inputs, Outputs yaml.MapSlice
}

func theAction(t *testing.T) (f actionFile) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(docText(t, "../../action.yml")), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// defaultOf is the default of an input as a page shows it.
func defaultOf(input any) string {
	fields, _ := input.(map[string]any)
	if fields["default"] == nil {
		return ""
	}
	return fmt.Sprint(fields["default"])
}

// TestActionTables: docs/action.md has every input with its default and every output of action.yml, in its order, and no
// other.
func TestActionTables(t *testing.T) {
	f, text := theAction(t), docText(t, "../../docs/action.md")
	var inputs, outputs []docRow
	for _, i := range f.Inputs {
		inputs = append(inputs, docRow{fmt.Sprint(i.Key), defaultOf(i.Value)})
	}
	for _, o := range f.Outputs {
		outputs = append(outputs, docRow{Name: fmt.Sprint(o.Key)})
	}
	if len(inputs) < 10 || len(outputs) < 10 {
		t.Fatalf("action.yml has %d inputs and %d outputs", len(inputs), len(outputs))
	}
	if diff := cmp.Diff(inputs, docRows(t, text, "## Inputs")); diff != "" {
		t.Errorf("inputs (-action.yml +docs/action.md):\n%s", diff)
	}
	if diff := cmp.Diff(outputs, docRows(t, text, "## Outputs")); diff != "" {
		t.Errorf("outputs (-action.yml +docs/action.md):\n%s", diff)
	}
}

// docBlocks are the fenced blocks of a page in one language.
func docBlocks(text, language string) (out []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestDocumentedYAML reads every piece of YAML that a page shows by what it is: a configuration of either kind by its own
// reader; of a workflow a whole one is a file to copy, and a part of one holds the rules of such files.
func TestDocumentedYAML(t *testing.T) {
	shown := 0
	for name, text := range documents(t) {
		for _, b := range docBlocks(text, "yaml") {
			shown++
			if err := readShown(t, b); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, b)
			}
		}
	}
	if shown < 8 {
		t.Errorf("only %d pieces of YAML are shown in the documents", shown)
	}
}

// TestFilesToCopy: the files to copy hold the rules that parts of workflows in the documents hold, and give away no
// permission at their top.
func TestFilesToCopy(t *testing.T) {
	for name, text := range filesToCopy(t) {
		if err := keepsRules(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(text, "\npermissions: {}\n") {
			t.Errorf("%s: no permissions: {} at its top", name)
		}
		if !strings.Contains(docText(t, "../../docs/action.md"), "(../.github/workflows/examples/"+name+")") {
			t.Errorf("docs/action.md does not show %s", name)
		}
	}
}

func filesToCopy(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(docExamples)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files to copy: %v", err)
	}
	out := map[string]string{}
	for _, n := range names {
		out[filepath.Base(n)] = docText(t, n)
	}
	return out
}

// readShown reads a piece of YAML by what it is.
func readShown(t *testing.T, text string) error {
	t.Helper()
	var top map[string]any
	if err := yaml.Unmarshal([]byte(text), &top); err != nil {
		return err
	}
	_, workflow := top["jobs"]
	_, steps := top["steps"]
	switch {
	case top["version"] != nil:
		_, err := plan.ParseFile([]byte(text))
		return err
	case workflow:
		for _, whole := range filesToCopy(t) {
			if whole == text {
				return nil
			}
		}
		return errors.New("a whole workflow that is no file to copy")
	case steps:
		return keepsRules(t, text)
	}
	config := filepath.Join(t.TempDir(), "config.yml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	_, _, err := readConfig(func(k string) string { return map[string]string{"REDRAFT_CONFIG": config}[k] })
	return err
}

// keepsRules holds a workflow, or a part of one, to the rules: no expression in a run, actions of others by commit, of ours
// no input that there is not.
func keepsRules(t *testing.T, text string) error {
	t.Helper()
	var top any
	if err := yaml.Unmarshal([]byte(text), &top); err != nil {
		return err
	}
	var inputs []string
	for _, i := range theAction(t).Inputs {
		inputs = append(inputs, fmt.Sprint(i.Key))
	}
	return docWalk(top, func(step map[string]any) error {
		if run, ok := step["run"].(string); ok && strings.Contains(run, "${{") {
			return fmt.Errorf("an expression in run: %s", run)
		}
		uses, ok := step["uses"].(string)
		if !ok {
			return nil
		}
		if !strings.HasPrefix(uses, "redraft-dev/redraft@") {
			if !regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40}$`).MatchString(uses) {
				return fmt.Errorf("%s is not pinned to a commit", uses)
			}
			return nil
		}
		with, _ := step["with"].(map[string]any)
		for k := range with {
			if !slices.Contains(inputs, k) {
				return fmt.Errorf("%s is no input of the Action", k)
			}
		}
		return nil
	})
}

// docWalk calls each for every mapping below a node.
func docWalk(node any, each func(map[string]any) error) error {
	switch n := node.(type) {
	case map[string]any:
		if err := each(n); err != nil {
			return err
		}
		for _, v := range n {
			if err := docWalk(v, each); err != nil {
				return err
			}
		}
	case []any:
		for _, v := range n {
			if err := docWalk(v, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestDocumentedYAMLIsRead: the readers of the tests above see what is wrong.
func TestDocumentedYAMLIsRead(t *testing.T) {
	for text, want := range map[string]string{
		"steps:\n  - run: echo ${{ github.event.issue.title }}\n":                      "an expression in run",
		"steps:\n  - uses: actions/checkout@v5\n":                                      "not pinned",
		"steps:\n  - uses: redraft-dev/redraft@v0\n    with: {chek: go test}\n":        "chek is no input",
		"on: push\njobs: {a: {runs-on: x, steps: [{run: make}]}}\n":                    "no file to copy",
		"version: 1\ncheks: {}\n":                                                      `did you mean "checks"`,
		"limits: {turn: 3}\n":                                                          "turn",
		"steps:\n  - uses: redraft-dev/redraft@v0\n    with: {check: go test ./...}\n": "",
	} {
		err := readShown(t, text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// docSchema is as much of a JSON schema as the tables of keys are held against.
type docSchema struct {
	Const, Default any
	Required       []string
	Properties     map[string]docSchema
	Additional     json.RawMessage `json:"additionalProperties"`
}

// keysOf are the leaves of a schema by their path; what any name may stand for is NAME.
func keysOf(t *testing.T, path string, s docSchema, required bool, into map[string]string) {
	t.Helper()
	var any docSchema
	if json.Unmarshal(s.Additional, &any) == nil && len(any.Properties) > 0 {
		into[path+".NAME"] = ""
		s = any
		path += ".NAME"
	}
	for name, below := range s.Properties {
		keysOf(t, strings.TrimPrefix(path+"."+name, "."), below, slices.Contains(s.Required, name), into)
	}
	if len(s.Properties) > 0 {
		return
	}
	into[path] = ""
	switch {
	case required:
		into[path] = "required"
	case s.Default != nil:
		into[path] = fmt.Sprint(s.Default)
	}
}

// TestConfigurationTable: docs/configuration.md has every key of .github/redraft.yml that the schema has, with the default that it
// says, and no other.
func TestConfigurationTable(t *testing.T) {
	var s docSchema
	if err := json.Unmarshal(plan.Schema, &s); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	keysOf(t, "", s, false, want)
	got := docRows(t, docText(t, "../../docs/configuration.md"), "## Every key")
	seen := map[string]bool{}
	for _, r := range got {
		def, known := want[r.Name]
		if !known {
			t.Errorf("docs/configuration.md has %s, which the schema does not know", r.Name)
		}
		if def != "" && def != r.Default {
			t.Errorf("docs/configuration.md: %s has the default %q, and the schema says %q", r.Name, r.Default, def)
		}
		seen[r.Name] = true
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("docs/configuration.md does not have %s", name)
		}
	}
}

// TestOperatorTable: the same page has every key of the operator's file.
func TestOperatorTable(t *testing.T) {
	var s docSchema
	if err := json.Unmarshal([]byte(configSchema), &s); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(docText(t, "../../docs/configuration.md"), "\n## The operator's file\n")
	for name, section := range s.Properties {
		if len(section.Properties) == 0 && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/configuration.md does not have %s", name)
		}
		for key := range section.Properties {
			if !strings.Contains(text, "`"+name+"."+key+"`") && !strings.Contains(text, "`"+name+"."+key+".") && !(strings.Contains(text, "`"+name+".") && strings.Contains(text, "`."+key+"`")) {
				t.Errorf("docs/configuration.md does not have %s.%s", name, key)
			}
		}
	}
}

// TestShownError: the error that docs/configuration.md shows is the one that such a file gets.
func TestShownError(t *testing.T) {
	_, err := plan.ParseFile([]byte("version: 1\ncheks:\n  unit: {run: make}\n"))
	if err == nil {
		t.Fatal("a wrong key was read")
	}
	if want := "redraft: " + err.Error() + "\n"; !slices.Contains(docBlocks(docText(t, "../../docs/configuration.md"), "text"), want) {
		t.Errorf("docs/configuration.md does not show %q", want)
	}
}

// TestLaunchdService: the service that docs/github-app.md shows is a property list, and starts a command that there is.
func TestLaunchdService(t *testing.T) {
	lists := docBlocks(docText(t, "../../docs/github-app.md"), "xml")
	if len(lists) != 1 {
		t.Fatalf("docs/github-app.md shows %d property lists", len(lists))
	}
	var service struct {
		XMLName xml.Name `xml:"plist"`
		Dict    struct {
			Keys    []string `xml:"key"`
			Strings []string `xml:"string"`
			Array   []string `xml:"array>string"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal([]byte(lists[0]), &service); err != nil {
		t.Fatal(err)
	}
	d := service.Dict
	if !slices.Contains(d.Keys, "KeepAlive") || len(d.Strings) == 0 || d.Strings[0] != "dev.redraft.serve" || len(d.Array) < 2 {
		t.Fatalf("the service is %+v", d)
	}
	a := &app{getenv: func(string) string { return "" }, out: io.Discard, err: io.Discard, clean: redact.New()}
	if cmd, _, err := a.root().Find(d.Array[1:]); err != nil || cmd.Name() != "serve" {
		t.Errorf("%q is no command: %v", d.Array, err)
	}
	for _, line := range console.FindAllString(docText(t, "../../docs/github-app.md"), -1) {
		if strings.Contains(line, "launchctl") && !strings.Contains(line, d.Strings[0]) {
			t.Errorf("%s is about another service than %s", line, d.Strings[0])
		}
	}
}
