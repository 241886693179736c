package patch_test

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/patch"
)

// protectedPaths are guarded by default, for the reason given.
var protectedPaths = map[string]string{
	"a test": `
		a_test.go pkg/doc_test.go test_a.py pkg/a_test.py tests/a.py x/tests/util/a.go test/a.c __tests__/a.js src/a.test.ts a.spec.tsx spec/a.rb
		src/test/java/A.java src/main/FooTest.java FooTests.cs a_spec.rb testdata/x.go pkg/testdata/deep/x fixtures/a.json __snapshots__/a x.snap
		a.golden x.golden.json goldens/a golden/a.txt e2e/a.ts FooTest.kt tests.py a.bats a.feature cypress/support/x.js x.approved.txt a.cy.ts
		Foo.Tests/Bar.cs foo-test.js a_test.exs internal/testutil/x.go TESTS/A.PY A_TEST.GO Test_A.py a_test.cc x_tests.rs src/tests.rs script.txtar`,
	"test runner": `conftest.py pkg/conftest.py pytest.ini tox.ini setup.cfg sitecustomize.py usercustomize.py x.pth jest.config.js jest.config.base.ts
		vitest.config.mts vitest.workspace.ts vitest.setup.ts karma.conf.js mocha.opts jest.setup.js playwright.config.ts phpunit.xml phpunit.xml.dist
		a.runsettings noxfile.py run-tests testng.xml`,
	"CI": `Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml .circleci/config.yml .github/dependabot.yml .gitlab/ci/x.yml
		services/x/.github/x.yml .husky/pre-commit .githooks/pre-push x/.gitlab-ci.d/a.yml codemagic.yaml action.yml`,
	"workflow": `.github/workflows/ci.yml .GitHub/Workflows/CI.yml .github/actions/x/run.sh .forgejo/workflows/x.yml`,
	"agents":   `AGENTS.md sub/AGENTS.md CLAUDE.md GEMINI.md claude.local.md`,
	"manifest": `go.mod go.sum go.work sub/go.mod GO.MOD package.json package-lock.json yarn.lock pnpm-lock.yaml Cargo.toml Cargo.lock pyproject.toml
		requirements.txt requirements-dev.txt requirements/dev.txt Pipfile Pipfile.lock poetry.lock uv.lock Gemfile Gemfile.lock pom.xml build.gradle
		app/build.gradle.kts settings.gradle gradle/wrapper/gradle-wrapper.properties gradle.lockfile A.csproj Directory.Packages.props packages.lock.json
		mix.exs mix.lock Package.swift Package.resolved composer.json composer.lock pubspec.yaml a.gemspec setup.py vendor/x/y.go node_modules/x/i.js
		bun.lockb flake.nix flake.lock Podfile.lock stack.yaml x.cabal conanfile.txt deno.json npm-shrinkwrap.json gradle/libs.versions.toml`,
	"build script":   `Makefile makefile GNUmakefile x.mk Taskfile.yml justfile Dockerfile Dockerfile.dev a.dockerfile build.rs build.sh CMakeLists.txt BUILD.bazel magefile.go Rakefile docker-compose.yml gulpfile.js webpack.config.js vite.config.ts`,
	"linter":         `golangci.yml eslint.config.js eslint.config.mjs ruff.toml biome.json mypy.ini tsconfig.json tsconfig.build.json clippy.toml rustfmt.toml prettier.config.js staticcheck.conf pyrightconfig.json`,
	"dot folder":     `.vscode/settings.json .config/x .cargo/config.toml sub/.cargo/config.toml .anything/x/y.go`,
	"dot file":       `.golangci.yml .eslintrc.json .prettierrc .editorconfig .env .npmrc sub/.eslintrc.js .pre-commit-config.yaml .babelrc .coveragerc`,
	"git's own":      `.gitignore sub/.gitignore .gitattributes .gitmodules .GitIgnore`,
	"owns the code":  `CODEOWNERS docs/CODEOWNERS .github/CODEOWNERS codeowners`,
	"this program's": `.github/redraft.yml redraft.yml`,
	// Other spellings of protected names that some file system takes for them.
	"manifest ": "go.mod. go.m\u200bod go.mod\u00a0",
}

func TestProtectedByDefault(t *testing.T) {
	for why, list := range protectedPaths {
		for _, name := range strings.Fields(list) {
			got, protected := patch.Policy{}.Protected(name)
			if !protected || !strings.Contains(got, strings.TrimSpace(why)) {
				t.Errorf("%s: %q %v, want %q", name, got, protected, why)
			}
		}
	}
}

func TestNotProtected(t *testing.T) {
	for _, name := range strings.Fields(`main.go cmd/x/main.go clock.go block.go lockfile.go testing.go contest.go latest.go protest.py attest.ts tester.go
		inspect.go spectrum.go specification/x.go docs/guide.md README.md LICENSE data.json config.yml configure.go jest.go webpack.go src/vendors/x.js
		build/x.go builder.go makefiles/x.go pod_spec.go api/openapi-spec.yaml request.py requirement.go golden.go snapshot.go
		internal/fixture.go src/main/java/App.java lib/a.rb package.go workflow.go tasks.py esbuild.go scripts/x.py migrations/1.sql githooks/x.go`) {
		if why, protected := (patch.Policy{}).Protected(name); protected {
			t.Errorf("%s is protected: %s", name, why)
		}
	}
}

func TestPolicyOpensAndProtects(t *testing.T) {
	p := patch.Policy{
		Allow:   []string{"go.mod", "web/**/*.snap", "CODEOWNERS", ".github/**", "redraft.yml", "secret.go", "check.sh", "Tests/One.py"},
		Protect: []string{"secret.go", "infra/", "*.tf", "deploy/**/prod", "[broken"},
		Oracle:  []string{"check.sh", "./scripts/verify.py"},
	}
	open := "go.mod GO.MOD web/a/b/x.snap .github/dependabot.yml tests/one.py"
	shut := "sub/go.mod x.snap CODEOWNERS .github/workflows/ci.yml .github/CODEOWNERS redraft.yml secret.go check.sh CHECK.SH scripts/verify.py tests/one.py/x tests/two.py"
	p2 := p
	p2.Protect = p.Protect[:4]
	for _, name := range strings.Fields(open) {
		if why, protected := p2.Protected(name); protected {
			t.Errorf("%s should be open: %s", name, why)
		}
	}
	for _, name := range strings.Fields(shut + " infra/x.go sub/infra/y/z.go a.tf x/y/a.tf deploy/eu/prod deploy/eu/prod/x.yml Infra/x SECRET.go") {
		if _, protected := p2.Protected(name); !protected {
			t.Errorf("%s should be protected", name)
		}
	}
	for _, name := range strings.Fields("main.go deploy/eu/dev/x.yml infrared/x.go") {
		if why, protected := p2.Protected(name); protected {
			t.Errorf("%s should be open: %s", name, why)
		}
	}
	if _, protected := p.Protected("main.go"); !protected {
		t.Error("a glob that cannot be read was meant to protect something")
	}
}

func TestRisk(t *testing.T) {
	change := func(name, old, new string) patch.Change {
		return patch.Change{Files: []patch.FileChange{{Path: name, Old: []byte(old), New: []byte(new)}}}
	}
	const src = "package p\n\nfunc F(a int) int { return a }\n\ntype t struct{}\n\nfunc (t) M() {}\n"
	for _, tt := range []struct {
		name   string
		change patch.Change
		want   patch.Class
	}{
		{"nothing", patch.Change{}, patch.R0},
		{"configuration", change("conf/app.yml", "a: 1\n", "a: 2\n"), patch.R0},
		{"words", change("README.md", "a\n", "b\n"), patch.R0},
		{"body", change("p.go", src, strings.Replace(src, "return a", "return a + 1", 1)), patch.R1},
		{"parameter's name", change("p.go", src, strings.Replace(src, "(a int) int { return a", "(b int) int { return b", 1)), patch.R1},
		{"unexported", change("p.go", src, src+"\nfunc g() {}\n"), patch.R1},
		{"method of an unexported type", change("p.go", src, strings.Replace(src, "M()", "M(int)", 1)), patch.R1},
		{"signature", change("p.go", src, strings.Replace(src, "a int)", "a int64)", 1)), patch.R2},
		{"new export", change("p.go", src, src+"\nfunc G() {}\n"), patch.R2},
		{"export gone", change("p.go", src, strings.Replace(src, "func F(a int) int { return a }\n", "", 1)), patch.R2},
		{"internal", change("internal/p.go", src, src+"\nfunc G() {}\n"), patch.R1},
		{"a program", change("main.go", "package main\n", "package main\n\nfunc G() {}\n"), patch.R1},
		{"another language", change("a.py", "a\n", "b\n"), patch.R1},
		{"big", change("a.py", "", strings.Repeat("x\n", 201)), patch.R2},
		{"migration", change("db/migrations/001_x.py", "a\n", "b\n"), patch.R2},
		{"dependency", change("go.mod", "a\n", "b\n"), patch.R2},
		{"test", change("p_test.go", "a\n", "b\n"), patch.R3},
		{"CI", change(".github/workflows/ci.yml", "a\n", "b\n"), patch.R3},
		{"oracle", change("scripts/check.py", "a\n", "b\n"), patch.R3},
		{"highest of several", patch.Change{Files: append(change("a.py", "a\n", "b\n").Files, change("p_test.go", "a\n", "b\n").Files...)}, patch.R3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.change.Risk(nil, patch.Policy{Oracle: []string{"scripts/check.py"}}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
