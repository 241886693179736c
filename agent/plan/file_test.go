package plan

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const everything = `version: 1
checks:
  unit: {run: "go test ./...", working-directory: ".", timeout: 10m}
  api:
    run: |
      pytest -q
      echo done
    working-directory: services/api
    paths: ["services/api/**"]
    runs: 3
    shell: bash
    env: {TZ: UTC}
    report: "out/*.xml"
setup: []
protect: {tests: auto, paths: ["**/*.lock", "CODEOWNERS"]}
allow: ["Makefile"]
triggers: {workflows: ["CI"], labels: ["redraft"], commands: true, never-branches: ["release/*"]}
limits: {turns: 5, minutes: 20, files: 10, lines: 100, open-drafts: 2, per-day: 4}
models: {small: qwen2.5-coder-7b, big: qwen3-coder-30b, temperature: [0, 0.7, 1.0]}
publish: {branch-prefix: "redraft/", labels: ["redraft"], reviewers: codeowners}
privacy: {egress: none, transcript: artifact}
`

func TestParseFile(t *testing.T) {
	got, err := ParseFile([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Version: 1,
		Checks: []Check{
			{ID: "unit", Run: "go test ./...", Dir: ".", Timeout: 10 * time.Minute, Provenance: Configured, Source: FileName + ": checks.unit"},
			{
				ID: "api", Run: "pytest -q\necho done\n", Dir: "services/api", Shell: "bash", Env: map[string]string{"TZ": "UTC"}, Runs: 3,
				Paths: []string{"services/api/**"}, Report: "out/*.xml", Provenance: Configured, Source: FileName + ": checks.api",
			},
		},
		Protect:     []string{"**/*.lock", "CODEOWNERS"},
		Allow:       []string{"Makefile"},
		Triggers:    Triggers{Workflows: []string{"CI"}, Labels: []string{"redraft"}, Commands: true, NeverBranches: []string{"release/*"}},
		Limits:      Limits{Turns: 5, Minutes: 20, Files: 10, Lines: 100, OpenDrafts: 2, PerDay: 4},
		Small:       "qwen2.5-coder-7b",
		Big:         "qwen3-coder-30b",
		Temperature: []float64{0, 0.7, 1},
		Publish:     Publish{BranchPrefix: "redraft/", Labels: []string{"redraft"}, Reviewers: "codeowners"},
		Privacy:     Privacy{Egress: "none", Transcript: "artifact"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ParseFile mismatch (-want +got):\n%s", d)
	}
}

func TestParseFileRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown key", "version: 1\nlimts: {}\n", `:2:1: unknown key "limts" in the file; did you mean "limits"?`},
		{"an unknown key far from all", "version: 1\nzzzzzzzzzz: 1\n", `:2:1: unknown key "zzzzzzzzzz" in the file`},
		{"an unknown key of a check", "version: 1\nchecks:\n  a:\n    run: x\n    workdir: y\n", `:5:5: unknown key "workdir" in checks.a`},
		{"an unknown limit", "version: 1\nlimits: {turn: 3}\n", `:2:10: unknown key "turn" in limits; did you mean "turns"?`},
		{"no version", "checks: {}\n", "version is missing"},
		{"another version", "version: 2\n", ":1:10: version must be 1"},
		{"a quoted version", "version: \"1\"\n", ":1:10: version must be 1"},
		{"nothing", "", "the file is empty"},
		{"a list", "- a\n", "must be a mapping"},
		{"two documents", "version: 1\n---\nversion: 1\n", "a second document"},
		{"a key twice", "version: 1\nallow: []\nallow: []\n", "allow"},
		{"a boolean for a number", "version: 1\nlimits: {turns: true}\n", ":2:17: this must be a whole number of digits alone, not a truth value"},
		{"a fraction", "version: 1\nlimits: {turns: 3.0}\n", "not a number with a fraction"},
		{"an exponent", "version: 1\nlimits: {turns: 1e1}\n", "digits alone"},
		{"a sign", "version: 1\nlimits: {turns: -3}\n", "digits alone"},
		{"a plus", "version: 1\nlimits: {turns: +3}\n", "digits alone"},
		{"hex", "version: 1\nlimits: {turns: 0x3}\n", "digits alone"},
		{"an octal zero", "version: 1\nlimits: {turns: 03}\n", "digits alone"},
		{"an underscore", "version: 1\nlimits: {turns: 1_0}\n", "digits alone"},
		{"a quoted number", "version: 1\nlimits: {turns: \"3\"}\n", "digits alone, not text"},
		{"zero", "version: 1\nlimits: {turns: 0}\n", "0 is out of range: from 1"},
		{"too many", "version: 1\nlimits: {turns: 99999999999999999999}\n", "digits alone"},
		{"nothing for a number", "version: 1\nlimits: {turns: }\n", "not nothing"},
		{"a check without run", "version: 1\nchecks: {a: {shell: sh}}\n", ":2:10: checks.a has no run"},
		{"an empty run", "version: 1\nchecks: {a: {run: \" \"}}\n", "run is empty"},
		{"a number for text", "version: 1\nchecks: {a: {run: x, env: {PORT: 80}}}\n", "must be text"},
		{"an outside folder", "version: 1\nchecks: {a: {run: x, working-directory: ../b}}\n", "inside the repository"},
		{"an absolute folder", "version: 1\nchecks: {a: {run: x, working-directory: /b}}\n", "inside the repository"},
		{"another shell", "version: 1\nchecks: {a: {run: x, shell: zsh}}\n", `"zsh" is not allowed here; write sh or bash`},
		{"a bare time", "version: 1\nchecks: {a: {run: x, timeout: 10}}\n", "a time such as 10m"},
		{"a time too long", "version: 1\nchecks: {a: {run: x, timeout: 100h}}\n", "no time from 1s to 24h"},
		{"a bad variable", "version: 1\nchecks: {a: {run: x, env: {\"A=B\": c}}}\n", "no name of an environment variable"},
		{"an address for a model", "version: 1\nmodels: {small: \"http://evil.example/v1\"}\n", "addresses stand in the operator's file alone"},
		{"egress", "version: 1\nprivacy: {egress: all}\n", `"all" is not allowed here; write none`},
		{"tests unprotected", "version: 1\nprotect: {tests: off}\n", ""},
		{"another branch prefix", "version: 1\npublish: {branch-prefix: main}\n", "branch-prefix must be"},
		{"an alias", "version: 1\nallow: &a [x]\nsetup: *a\n", "an anchor"},
		{"a merge", "version: 1\nlimits: {<<: {turns: 1}}\n", ""},
		{"broken YAML", "version: 1\nchecks: {a: [\n", ""},
		{"a tab", "version: 1\n\tx: 1\n", ""},
		{"bytes", "version: 1\nallow: [\"\xff\"]\n", "not UTF-8"},
		{"a deep nest", "version: 1\nallow: " + strings.Repeat("[", 5000), "100 deep"},
		{"a big file", "version: 1\n#" + strings.Repeat("x", maxFile), "at most"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ParseFile([]byte(tt.text))
			var bad *FileError
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), FileName) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ParseFile = %+v, %v; want a FileError with %q", f, err, tt.want)
			}
		})
	}
}

// A repository lowers ceilings and never raises one.
func TestUnder(t *testing.T) {
	got := DefaultLimits.Under(Limits{Turns: 2, Minutes: 300, Files: 50})
	want := DefaultLimits
	want.Turns = 2
	if got != want {
		t.Errorf("Under = %+v, want %+v", got, want)
	}
	if got := (Limits{}).Under(Limits{Lines: 7}); got != (Limits{Lines: 7}) {
		t.Errorf("Under of none = %+v", got)
	}
}

// The published schema knows exactly the keys that are read, and states the defaults there are.
func TestSchema(t *testing.T) {
	type object struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties json.RawMessage
	}
	open := func(raw []byte) (o object) {
		t.Helper()
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	names := func(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }
	top := open(Schema)
	check := open(open(top.Properties["checks"]).AdditionalProperties)
	for name, pair := range map[string][2][]string{
		"top":      {names(top.Properties), slices.Sorted(maps.Keys(topKeys))},
		"checks":   {names(check.Properties), slices.Sorted(maps.Keys(checkKeys))},
		"protect":  {names(open(top.Properties["protect"]).Properties), slices.Sorted(maps.Keys(protectKeys))},
		"limits":   {names(open(top.Properties["limits"]).Properties), slices.Sorted(maps.Keys(limitKeys))},
		"models":   {names(open(top.Properties["models"]).Properties), slices.Sorted(maps.Keys(modelKeys))},
		"triggers": {names(open(top.Properties["triggers"]).Properties), slices.Sorted(maps.Keys(triggerKeys))},
		"publish":  {names(open(top.Properties["publish"]).Properties), slices.Sorted(maps.Keys(publishKeys))},
		"privacy":  {names(open(top.Properties["privacy"]).Properties), slices.Sorted(maps.Keys(privacyKeys))},
	} {
		if d := cmp.Diff(pair[0], pair[1]); d != "" {
			t.Errorf("%s (-schema +read):\n%s", name, d)
		}
	}
	var limits Limits
	for name, raw := range open(top.Properties["limits"]).Properties {
		var l struct{ Default json.Number }
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		f, err := ParseFile([]byte("version: 1\nlimits: {" + name + ": " + l.Default.String() + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		limits = limits.Under(f.Limits)
	}
	if limits != DefaultLimits {
		t.Errorf("defaults of the schema %+v, of the code %+v", limits, DefaultLimits)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(everything))
	for _, s := range []string{"version: 1\nchecks: {a: {run: x}}", "? [a]\n: b", "version: &a 1\n", "a: !!binary x", "{", "%YAML 1.2\n---\n", "- |\n a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ParseFile(b)
		var bad *FileError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("ParseFile = %v, want a FileError", err)
		}
		if err == nil && (file.Version != 1 || slices.ContainsFunc(file.Checks, func(c Check) bool { return c.Run == "" || c.Dir == "" })) {
			t.Errorf("ParseFile took %q as %+v", b, file)
		}
	})
}
