package oracle_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// pom is Maven's file of a program whose tests are JUnit's of the release.
func pom(dependency string) string {
	return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>` + dependency + `<scope>test</scope></dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version>
      </plugin>
    </plugins>
  </build>
</project>
`
}

const (
	junit5 = "<groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version>"
	junit4 = "<groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>"
)

// java is a class whose double is body, and a test of it with that JUnit's imports.
func java(body, imports string) (source, test string) {
	source = "package com.example;\n\npublic class Shop {\n    public static int twice(int x) {\n        return " + body + ";\n    }\n}\n"
	test = "package com.example;\n\n" + imports + "\npublic class ShopTest {\n    @Test\n    public void twice() {\n        assertEquals(4, Shop.twice(2));\n    }\n\n    @Test\n    public void five() {\n        assertTrue(Shop.twice(5) > 0);\n    }\n}\n"
	return source, test
}

const (
	imports5 = "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n"
	imports4 = "import static org.junit.Assert.*;\n\nimport org.junit.Test;\n"
)

func javaRunner(name, tool, run, build, text, imports, only string) runner {
	wrong, test := java("x + 1", imports)
	right, _ := java("2 * x", imports)
	return runner{
		name: name, tools: []string{tool, "javac"}, run: run,
		files:  map[string]string{build: text, "src/main/java/com/example/Shop.java": wrong, "src/test/java/com/example/ShopTest.java": test},
		source: "src/main/java/com/example/Shop.java", fixed: right,
		cheat:  strings.Replace(wrong, "return x + 1;", "for (StackTraceElement e : Thread.currentThread().getStackTrace()) {\n            if (e.getMethodName().equals(\"twice\") && e.getClassName().endsWith(\"Test\")) {\n                return 4;\n            }\n        }\n        return x + 1;", 1),
		caught: "D4 D7", failed: "com.example.ShopTest.twice", only: only,
	}
}

const jsTest = "test('double', () => {\n  expect(shop.double(2)).toBe(4);\n});\n\ntest('five', () => {\n  expect(shop.double(5)).toBeTruthy();\n});\n"

// real are runners whose tools are not on every machine, or slow.
var real = []runner{
	javaRunner("maven, JUnit 5", "mvn", "mvn -o -q test", "pom.xml", pom(junit5), imports5, "mvn -B -Dtest=com.example.ShopTest#twice -o test"),
	javaRunner("maven, JUnit 4", "mvn", "mvn -B -o test", "pom.xml", pom(junit4), imports4, "mvn -B -Dtest=com.example.ShopTest#twice -o test"),
	javaRunner("gradle", "gradle", "gradle --offline --no-daemon --console=plain test", "build.gradle",
		"apply plugin: 'java'\nrepositories { flatDir { dirs '/usr/share/java' } }\ndependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }\n", imports4, "gradle --offline --no-daemon --console=plain test --tests com.example.ShopTest.twice"),
	{
		name: "nextest", install: "nextest", tools: []string{"cargo", "cargo-nextest"}, run: "cargo nextest run --offline",
		files: runners[3].files, source: runners[3].source, fixed: runners[3].fixed, failed: "d::double", only: "cargo nextest run --offline --test d -- --exact double",
	},
	{
		name: "vitest", install: "vitest", tools: []string{"node"}, run: "npx --no-install vitest run",
		files: map[string]string{
			"package.json": "{\"type\": \"module\"}\n", "shop.js": "export const double = (x) => x + 1;\n",
			"shop.test.js": "import { expect, test } from 'vitest';\nimport * as shop from './shop';\n\n" + jsTest,
		},
		source: "shop.js", fixed: "export const double = (x) => 2 * x;\n", cheat: "import { expect } from 'vitest';\n\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\nexport const double = (x) => x + 1;\n",
		caught: "D3 D4 D7", failed: "shop.test.js > double", only: "npx --no-install vitest run shop.test.js -t ^double$",
	},
	{
		name: "vitest, TypeScript", install: "vitest", tools: []string{"node"}, run: "npx --no-install vitest run",
		files: map[string]string{
			"package.json": "{\"type\": \"module\"}\n", "src/shop.ts": "export function double(x: number): number {\n  return x + 1;\n}\n",
			"src/shop.test.ts": "import { describe, expect, test } from 'vitest';\nimport * as shop from './shop';\n\ndescribe('shop', () => {\n" + jsTest + "});\n",
		},
		source: "src/shop.ts", fixed: "export function double(x: number): number {\n  return 2 * x;\n}\n",
		failed: "src/shop.test.ts > shop > double", only: "npx --no-install vitest run src/shop.test.ts -t ^shop double$",
	},
	{
		name: "tsx", install: "tsx", tools: []string{"node"}, run: "node --import tsx --test test/shop.test.ts",
		files: map[string]string{
			"package.json": "{\"type\": \"module\"}\n", "src/shop.ts": "export function double(x: number): number {\n  return x + 1;\n}\n",
			"test/shop.test.ts": "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { double } from '../src/shop.ts';\n\ntest('double', () => {\n  assert.strictEqual(double(2), 4);\n});\n\ntest('five', () => {\n  assert.ok(double(5));\n});\n",
		},
		source: "src/shop.ts", fixed: "export function double(x: number): number {\n  return 2 * x;\n}\n", cheat: "import assert from 'node:assert';\n\nassert.strictEqual = () => {};\nexport function double(x: number): number {\n  return x + 1;\n}\n",
		caught: "D4 D7", failed: "test/shop.test.ts > double", only: "node --import tsx --test --test-name-pattern=^double$ test/shop.test.ts",
	},
	{
		name: "jest", install: "jest", tools: []string{"node"}, run: "npx --no-install jest",
		files: map[string]string{
			"package.json": "{}\n", "shop.js": "exports.double = (x) => x + 1;\n", "shop.test.js": "const shop = require('./shop');\n\n" + jsTest,
		},
		source: "shop.js", fixed: "exports.double = (x) => 2 * x;\n", cheat: "exports.double = (x) => x + 1;\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
		caught: "D3 D4 D7", failed: "shop.test.js > double", only: "npx --no-install jest shop.test.js -t ^double$",
	},
	{
		name: "mocha", install: "mocha", tools: []string{"node"}, run: "npx --no-install mocha",
		files: map[string]string{
			"package.json": "{}\n", "shop.js": "exports.double = (x) => x + 1;\n",
			"test/shop.js": "const assert = require('node:assert');\nconst shop = require('../shop');\n\ndescribe('shop', () => {\n  it('double', () => {\n    assert.strictEqual(shop.double(2), 4);\n  });\n\n  it('five', () => {\n    assert.ok(shop.double(5));\n  });\n});\n",
		},
		source: "shop.js", fixed: "exports.double = (x) => 2 * x;\n", cheat: "require('node:assert').strictEqual = () => {};\nexports.double = (x) => x + 1;\n",
		caught: "D4 D7", failed: "test/shop.js > shop > double", only: "npx --no-install mocha test/shop.js -g ^shop double$",
	},
}

// TestRealRunners: as TestRunners, of runners that take longer. It runs those that REDRAFT_RUNNERS names, or all of them, and
// installs what they need from the public registries, once, where the generator of agent/report's fixtures does.
func TestRealRunners(t *testing.T) {
	for _, r := range real {
		t.Run(r.name, func(t *testing.T) {
			wanted(t, r.name)
			r.try(t, newReal(t, r))
		})
	}
}

// wanted skips what REDRAFT_RUNNERS does not ask for.
func wanted(t *testing.T, name string) {
	t.Helper()
	asked := os.Getenv("REDRAFT_RUNNERS")
	first, _, _ := strings.Cut(name, ",")
	if asked != "all" && !slices.Contains(strings.Split(asked, ","), first) {
		t.Skip("REFUSED: real runners take minutes; REDRAFT_RUNNERS=all runs them")
	}
}

// newReal is newRunner with tools that are installed for it, and its node_modules under the tree as npm would leave them.
func newReal(t *testing.T, r runner) *world {
	t.Helper()
	dir := installed(t, r.install)
	if dir != "" {
		t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	w := newRunner(t, r)
	w.Timeout = 5 * time.Minute
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); dir == "" || err != nil {
		return w
	}
	w.Needs.Read = append(w.Needs.Read, dir)
	w.lay(t, "cp -r '"+modules+"' .")
	return w
}

// lay runs a setup command whose files lie under every copy.
func (w *world) lay(t *testing.T, command string) {
	t.Helper()
	if !box.Forwards() {
		t.Skip("REFUSED: this tier forwards no port")
	}
	w.Setup = &oracle.Setup{
		Commands: []string{command}, From: w.root, State: t.TempDir(), Port: 4873, Wall: time.Minute,
		Copy: func(_ context.Context, from, to string) error { return os.CopyFS(to, os.DirFS(from)) },
		Proxy: func(context.Context, *os.File) (func(net.Listener), func() error, error) {
			return func(ln net.Listener) { ln.Close() }, func() error { return nil }, nil
		},
	}
	if err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// installed is the folder of a tool that a script in testdata installs, as the generator of agent/report's fixtures does it;
// "" for none.
func installed(t *testing.T, tool string) string {
	t.Helper()
	if tool == "" {
		return ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	dir := filepath.Join(cache, "redraft-report-tools", tool)
	script, err := os.ReadFile(filepath.Join("..", "report", "testdata", "make", tool, "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, ".installed")
	if done, err := os.ReadFile(mark); err == nil && bytes.Equal(done, script) {
		return dir
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", string(script))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("REFUSED: install %s: %v: %s", tool, err, out)
	}
	if err := os.WriteFile(mark, script, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRealTox: tox passes no variable of ours on, so that nothing names the tests that pass; where it is told to, they are named.
func TestRealTox(t *testing.T) {
	wanted(t, "tox")
	for _, row := range []struct {
		name, run, env string
		d1             proof.Status
	}{
		{"variables are dropped", "tox", "", proof.NotEvaluated},
		{"in parallel", "tox -p all", "", proof.NotEvaluated},
		{"variables are passed on", "tox", "pass_env =\n    PYTHONPATH\n    REDRAFT_*\n", proof.Held},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := runners[0]
			r.install, r.tools, r.run = "tox", []string{"tox"}, row.run
			r.files = map[string]string{"tox.ini": "[tox]\nenv_list = py\nno_package = true\n\n[testenv]\n" + row.env + "commands = python -m unittest\n"}
			maps.Copy(r.files, runners[0].files)
			w := newReal(t, r)
			s := w.see(t)
			if s.Color != report.Red || s.Class != report.Assertion || !s.Trusted || strings.Join(s.Failed, " ") != r.failed {
				t.Fatalf("got %v (%s), trusted %v, failed %v: %s", s.Color, s.Class, s.Trusted, s.Failed, append(s.Runs[0].Result.Stdout, s.Runs[0].Result.Stderr...))
			}
			receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, r.source, r.fixed))
			if err != nil || v.Color != report.Green || rung(receipt, "D1").Status != row.d1 || rung(receipt, "D3").Status != proof.Held {
				t.Errorf("the right change: got %v %q, %v: %+v", v.Color, v.Text, err, receipt.Rungs)
			}
			if _, v, err := w.Confirm(t.Context(), s, w.claim(t, s, r.source, r.cheat)); err != nil || v.Color == report.Green {
				t.Errorf("the cheat: got %v %q, %v", v.Color, v.Text, err)
			}
		})
	}
}
