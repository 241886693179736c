package oracle

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// canaryRuns runs the check over the patched tree with tests of ours beside the failing one, once; and where they are not
// seen as they have to be, over the root as well, which says whether the check would show them at all.
func (o *Oracle) canaryRuns(ctx context.Context, seen Sight, change patch.Change) ([]Run, string, error) {
	c, why := o.canary(seen, change.Overlay(o.Root))
	if c == nil {
		return nil, why, nil
	}
	q := request{phase: "canary", mode: modeOf(seen.Trusted), cache: "confirm", keep: true, canary: c, lay: c.Files}
	run, err := o.fresh(ctx, &change, q)
	if err != nil {
		return nil, "", err
	}
	if proof.CanariesSeen(seen.Baseline, proof.Recorded{RunRecord: run.RunRecord, Report: run.Report}) {
		return []Run{run}, "", nil
	}
	control, _ := o.canary(seen, o.Root)
	if control == nil {
		return []Run{run}, "", nil
	}
	q.canary, q.lay, q.cache = control, control.Files, seeCache
	second, err := o.fresh(ctx, nil, q)
	return []Run{run, second}, "", err
}

// canary makes the tests of ours for a tree, with names that nobody could know before. It is nil with the reason where there
// is no adapter for the runner, or nowhere to put a test.
func (o *Oracle) canary(seen Sight, tree fs.FS) (*proof.Canary, string) {
	for _, f := range seen.Findings {
		if f.Kind != report.Test || f.File == "" || f.Class == report.Compile && f.Kind == report.Build {
			continue
		}
		for _, a := range adapters {
			if !slices.ContainsFunc(a.runners, func(r string) bool { return o.uses(seen, r) }) || !a.file.MatchString(f.File) {
				continue
			}
			text, err := fs.ReadFile(tree, f.File)
			if err != nil || len(text) > maxSource {
				continue
			}
			tag, err := newTag()
			if err != nil {
				return nil, "no random name: " + err.Error()
			}
			if c := a.make(f.File, string(text), tag); c != nil {
				c.Runner = a.name
				return named(c, o.Check.Run, f.File, string(text)), ""
			}
		}
	}
	if !slices.ContainsFunc(seen.Findings, func(f report.Result) bool { return f.Kind == report.Test }) {
		return nil, "canary tests: the finding is no test"
	}
	return nil, "canary tests: no adapter for this runner, or its report names no test file"
}

// named is a canary for a check that names the failing test's file, and so runs no other: what can be written at the end of
// that file stands there alone.
func named(c *proof.Canary, run, file, text string) *proof.Canary {
	if !strings.Contains(run, path.Base(file)) {
		return c
	}
	if beside, ok := c.Files[file]; ok && len(c.Pass) > 1 {
		c.Files, c.Pass, c.Fail = map[string]string{file: beside}, c.Pass[1:], c.Fail[1:]
	}
	for name, body := range c.Files {
		if end := path.Ext(file); name != file && (end == ".py" || end == ".rb") {
			c.Files = map[string]string{file: text + "\n\n" + body}
		}
	}
	return c
}

const maxSource = 1 << 20

// uses says whether a runner was heard on the root.
func (o *Oracle) uses(seen Sight, runner string) bool {
	return slices.Contains(o.heard(seen.Report), runner) || slices.Contains(o.runners, runner)
}

// newTag is a random part of names, fit for every language's identifiers.
func newTag() (string, error) {
	b := make([]byte, 6)
	_, err := rand.Read(b)
	return "c" + hex.EncodeToString(b), err
}

// adapter knows how a runner's tests are written.
type adapter struct {
	name    string
	runners []string       // as reports name them
	file    *regexp.Regexp // of the failing test's file
	// make writes the tests for the folder of the failing test's file, whose text is given; nil where it cannot.
	make func(file, text, tag string) *proof.Canary
}

var adapters = []adapter{
	{"go test", []string{"go"}, regexp.MustCompile(`_test\.go$`), goCanary},
	{"pytest", []string{"pytest"}, regexp.MustCompile(`\.py$`), pytestCanary},
	{"unittest", []string{"unittest"}, regexp.MustCompile(`\.py$`), unittestCanary},
	{"jest", []string{"jest"}, scripts, globalCanary("test")},
	{"vitest", []string{"vitest"}, scripts, vitestCanary},
	{"mocha", []string{"mocha"}, scripts, globalCanary("it")},
	{"node:test", []string{"node-test"}, scripts, nodeCanary},
	{"cargo test", []string{"cargo-test", "nextest"}, regexp.MustCompile(`\.rs$`), cargoCanary},
	{"JUnit", []string{"surefire", "gradle"}, regexp.MustCompile(`\.java$`), junitCanary},
	{"RSpec", []string{"rspec"}, regexp.MustCompile(`_spec\.rb$`), rspecCanary},
}

var scripts = regexp.MustCompile(`\.[cm]?[jt]sx?$`)

var (
	goPackage   = regexp.MustCompile(`(?m)^package[ \t]+(\w+)`)
	javaPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)
	esImport    = regexp.MustCompile(`(?m)^\s*(?:import\s|export\s)`)
)

// one is a canary of one new file.
func one(name, text, pass, fail string) *proof.Canary {
	return &proof.Canary{Pass: []string{pass}, Fail: []string{fail}, Files: map[string]string{name: text}}
}

func goCanary(file, text, tag string) *proof.Canary {
	m := goPackage.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	pass, fail := "TestRedraftPass"+tag, "TestRedraftFail"+tag
	body := fmt.Sprintf("package %s\n\nimport \"testing\"\n\nfunc %s(t *testing.T) {}\n\nfunc %s(t *testing.T) { t.Error(\"%s\") }\n", m[1], pass, fail, tag)
	return one(path.Join(path.Dir(file), "redraft_"+tag+"_test.go"), body, pass, fail)
}

// pythonName is a new test file's name after the failing one's way.
func pythonName(file, tag string) string {
	if strings.HasSuffix(file, "_test.py") {
		return path.Join(path.Dir(file), "redraft_"+tag+"_test.py")
	}
	return path.Join(path.Dir(file), "test_redraft_"+tag+".py")
}

func pytestCanary(file, text, tag string) *proof.Canary {
	pass, fail := "test_redraft_pass_"+tag, "test_redraft_fail_"+tag
	body := fmt.Sprintf("def %s():\n    assert %q == %q\n\n\ndef %s():\n    assert %q == %q\n", pass, tag, tag, fail, tag, tag+"x")
	return one(pythonName(file, tag), body, pass, fail)
}

func unittestCanary(file, text, tag string) *proof.Canary {
	pass, fail := "test_redraft_pass_"+tag, "test_redraft_fail_"+tag
	body := fmt.Sprintf("import unittest\n\n\nclass TestRedraft(unittest.TestCase):\n    def %s(self):\n        self.assertEqual(%q, %q)\n\n    def %s(self):\n        self.assertEqual(%q, %q)\n",
		pass, tag, tag, fail, tag, tag+"x")
	return one(pythonName(file, tag), body, pass, fail)
}

// scriptName is a new test file's name after the failing one's way: what follows the first dot stays.
func scriptName(file, tag string) string {
	_, ext, _ := strings.Cut(path.Base(file), ".")
	return path.Join(path.Dir(file), "redraft-"+tag+"."+ext)
}

// scriptCanary is a new file, and the same two tests at the end of the failing test's own file: a runner that gives each file
// a world of its own shows there what the code under test does to that world.
func scriptCanary(file, text, tag, head, call, assert string) *proof.Canary {
	tests := func(where string) (body, pass, fail string) {
		pass, fail = "redraft pass "+where+" "+tag, "redraft fail "+where+" "+tag
		return fmt.Sprintf("%s('%s', () => {});\n%s('%s', () => { %s });\n", call, pass, call, fail, assert), pass, fail
	}
	apart, pass, fail := tests("apart")
	c := one(scriptName(file, tag), head+apart, pass, fail)
	if regexp.MustCompile(`(?m)^\s*(?:await\s+)?` + call + `\(|\b` + call + `\b.*(?:require\(|from\s)`).MatchString(text) {
		beside, pass, fail := tests("beside")
		c.Files[file] = text + "\n;" + beside
		c.Pass, c.Fail = append(c.Pass, pass), append(c.Fail, fail)
	}
	return c
}

// globalCanary is for runners whose functions are globals. Where the failing test imports them, so does ours.
func globalCanary(call string) func(file, text, tag string) *proof.Canary {
	return func(file, text, tag string) *proof.Canary {
		head, assert := "", "throw new Error('"+tag+"')"
		if strings.Contains(text, "@jest/globals") {
			head = "import { test, expect } from '@jest/globals';\n"
			if !esImport.MatchString(text) {
				head = "const { test, expect } = require('@jest/globals');\n"
			}
		}
		call := call
		if call == "it" && !regexp.MustCompile(`\bit\(`).MatchString(text) {
			call = "test"
		}
		if strings.Contains(text, "expect(") && call == "test" {
			assert = "expect('" + tag + "').toBe('other')"
		}
		return scriptCanary(file, text, tag, head, call, assert)
	}
}

func vitestCanary(file, text, tag string) *proof.Canary {
	return scriptCanary(file, text, tag, "import { test, expect } from 'vitest';\n", "test", "expect('"+tag+"').toBe('other')")
}

func nodeCanary(file, text, tag string) *proof.Canary {
	head := "const test = require('node:test');\n"
	if esImport.MatchString(text) || strings.HasSuffix(file, ".mjs") || strings.HasSuffix(file, "ts") && !strings.HasSuffix(file, ".cts") {
		head = "import test from 'node:test';\n"
	}
	return scriptCanary(file, text, tag, head, "test", "throw new Error('"+tag+"')")
}

// cargoCanary goes into the failing test's own file where that is one of the library's, else beside it: every file in tests is
// a program of its own. https://doc.rust-lang.org/cargo/guide/tests.html
func cargoCanary(file, text, tag string) *proof.Canary {
	pass, fail := "redraft_pass_"+tag, "redraft_fail_"+tag
	tests := fmt.Sprintf("    #[test]\n    fn %s() {}\n\n    #[test]\n    fn %s() {\n        assert_eq!(%q, %q);\n    }\n", pass, fail, tag, tag+"x")
	return one(file, fmt.Sprintf("%s\n#[cfg(test)]\nmod redraft_%s {\n%s}\n", text, tag, tests), pass, fail)
}

func junitCanary(file, text, tag string) *proof.Canary {
	pass, fail := "pass_"+tag, "fail_"+tag
	class := "Redraft" + tag + "Test"
	head := ""
	if m := javaPackage.FindStringSubmatch(text); m != nil {
		head = "package " + m[1] + ";\n\n"
	}
	from := "org.junit.jupiter.api.Test"
	if !strings.Contains(text, "org.junit.jupiter") {
		if !strings.Contains(text, "org.junit.Test") && !strings.Contains(text, "org.junit.*") {
			return nil
		}
		from = "org.junit.Test"
	}
	body := fmt.Sprintf("%simport %s;\n\npublic class %s {\n    @Test\n    public void %s() {}\n\n    @Test\n    public void %s() {\n        throw new AssertionError(%q);\n    }\n}\n", head, from, class, pass, fail, tag)
	return one(path.Join(path.Dir(file), class+".java"), body, pass, fail)
}

func rspecCanary(file, text, tag string) *proof.Canary {
	pass, fail := "redraft pass "+tag, "redraft fail "+tag
	body := fmt.Sprintf("RSpec.describe \"redraft\" do\n  it(%q) { expect(1).to eq(1) }\n  it(%q) { expect(1).to eq(2) }\nend\n", pass, fail)
	return one(path.Join(path.Dir(file), "redraft_"+tag+"_spec.rb"), body, pass, fail)
}
