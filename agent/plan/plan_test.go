package plan

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes a tree of "name", "content" pairs.
func tree(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return m
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name string
		tree fs.FS
		want []string // "id dir run (source)"
	}{
		{"go", tree("go.mod", "module m"), []string{"go . go test ./... (go.mod)"}},
		{"npm", tree("package.json", `{"scripts": {"test": "jest"}}`), []string{"npm . npm test (package.json)"}},
		{"pytest.ini", tree("pytest.ini", ""), []string{"pytest . pytest -q (pytest.ini)"}},
		{"pyproject", tree("pyproject.toml", "[project]\n[tool.pytest.ini_options]\n"), []string{"pytest . pytest -q (pyproject.toml)"}},
		{"tox", tree("tox.ini", "[testenv]\ncommands = pytest {posargs}\n"), []string{"pytest . pytest -q (tox.ini)"}},
		{"several say pytest", tree("pytest.ini", "", "tox.ini", "[pytest]"), []string{"pytest . pytest -q (pytest.ini)"}},
		{"cargo", tree("Cargo.toml", ""), []string{"cargo . cargo test (Cargo.toml)"}},
		{"pnpm by its lockfile", tree("package.json", `{"scripts": {"test": "vitest", "lint": "eslint ."}}`, "pnpm-lock.yaml", ""), []string{"npm . pnpm test (package.json)", "npm:lint . pnpm run lint (package.json)"}},
		{"yarn by its name", tree("package.json", `{"packageManager": "yarn@4.1.0", "scripts": {"test": "vitest", "lint": "eslint --fix ."}}`, "package-lock.json", ""), []string{"npm . yarn test (package.json)"}},
		{"bun", tree("package.json", `{"scripts": {"test": "vitest"}}`, "bun.lock", ""), []string{"npm . bun run test (package.json)"}},
		{"tox without pytest", tree("tox.ini", "[testenv]\ncommands = python -m unittest\n"), []string{"tox . tox (tox.ini)"}},
		{"nox", tree("noxfile.py", ""), []string{"nox . nox (noxfile.py)"}},
		{"maven", tree("pom.xml", "<project/>"), []string{"maven . mvn -B test (pom.xml)"}},
		{"gradle's wrapper", tree("build.gradle.kts", "", "gradlew", ""), []string{"gradle . ./gradlew test (build.gradle.kts)"}},
		{"rspec", tree(".rspec", "", "Gemfile", ""), []string{"rspec . bundle exec rspec (.rspec)"}},
		{"rake", tree("Rakefile", "Rake::TestTask.new\n"), []string{"rake . rake test (Rakefile)"}},
		{"presets", tree("CMakePresets.json", `{"buildPresets":[{"name":"b","configurePreset":"c"}],"testPresets":[{"name":"h","hidden":true},{"name":"t","configurePreset":"c"}]}`), []string{"cmake . cmake --preset c && cmake --build --preset b && ctest --preset t (CMakePresets.json)"}},
		{"make test", tree("Makefile", "check: all\ntest: all\n\tgo test\n"), []string{"make . make test (Makefile)"}},
		{"make check", tree("Makefile", "check:\n\tgo test\n"), []string{"make . make check (Makefile)"}},
		{"make's first file", tree("Makefile", "test:\n", "GNUmakefile", "test:\n"), []string{"make . make test (GNUmakefile)"}},
		{
			"precedence", tree("Makefile", "test:\n", "package.json", `{"scripts":{"test":"x"}}`, "go.mod", ""),
			[]string{"go . go test ./... (go.mod)", "npm . npm test (package.json)", "make . make test (Makefile)"},
		},
		{
			"modules below", tree("go.mod", "", "b/go.mod", "", "a/deep/go.mod", "", "vendor/x/go.mod", "", "a/testdata/go.mod", "", "_x/go.mod", "", ".y/go.mod", "", "node_modules/z/go.mod", ""),
			[]string{"go . go test ./... (go.mod)", "go:a/deep a/deep go test ./... (a/deep/go.mod)", "go:b b go test ./... (b/go.mod)"},
		},
		{"modules below alone", tree("svc/go.mod", ""), []string{"go:svc svc go test ./... (svc/go.mod)"}},
		{
			"configured alone", tree("go.mod", "", FileName, "version: 1\nchecks:\n  unit: {run: make unit, working-directory: svc}\n  lint: {run: go vet ./...}\n"),
			[]string{"unit svc make unit (.github/redraft.yml: checks.unit)", "lint . go vet ./... (.github/redraft.yml: checks.lint)"},
		},
		{"configured without checks", tree("go.mod", "", FileName, "version: 1\n"), []string{"go . go test ./... (go.mod)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Find(tt.tree)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range set.Checks {
				got = append(got, c.ID+" "+c.Dir+" "+c.Run+" ("+c.Source+")")
				if want := map[bool]Provenance{true: Configured, false: Convention}[strings.HasPrefix(c.Source, FileName)]; c.Provenance != want {
					t.Errorf("%s is %s, want %s", c.ID, c.Provenance, want)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" || len(set.Fingerprint) != 64 {
				t.Errorf("Find mismatch (-want +got), fingerprint %q:\n%s", set.Fingerprint, d)
			}
		})
	}
}

func TestFindNothing(t *testing.T) {
	for name, fsys := range map[string]fs.FS{
		"empty":             tree(),
		"npm's placeholder": tree("package.json", `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`),
		"no JSON":           tree("package.json", "{"),
		"no target":         tree("Makefile", "test := x\nbuild:\n", "pyproject.toml", "[project]\n"),
		"a folder go.mod":   tree("go.mod/x", ""),
		"odd presets":       tree("CMakePresets.json", `{"buildPresets":[{"name":"b;x","configurePreset":"c"}],"testPresets":[{"name":"t","configurePreset":"c"}]}`),
	} {
		var none *NoCheck
		if set, err := Find(fsys); !errors.As(err, &none) {
			t.Errorf("%s: Find = %v, %v; want a NoCheck", name, set, err)
		}
	}
}

func TestFindStopsAtABadFile(t *testing.T) {
	_, err := Find(tree("go.mod", "", FileName, "version: 1\ncheks: {}\n"))
	var bad *FileError
	if !errors.As(err, &bad) || bad.Nearest != "checks" {
		t.Errorf("Find = %v, want a FileError that comes near checks", err)
	}
}

func TestFromCommand(t *testing.T) {
	set, err := FromCommand(tree("ci/test.sh", "go test ./...\n"), "./ci/test.sh -v")
	if err != nil {
		t.Fatal(err)
	}
	want := []Check{{ID: "given", Run: "./ci/test.sh -v", Dir: ".", Provenance: Given, Source: "--check", Scripts: []string{"ci/test.sh"}}}
	if d := cmp.Diff(want, set.Checks); d != "" {
		t.Errorf("FromCommand mismatch (-want +got):\n%s", d)
	}
	var none *NoCheck
	if _, err := FromCommand(tree(), " \n"); !errors.As(err, &none) {
		t.Errorf("FromCommand of blanks = %v, want a NoCheck", err)
	}
}

func TestScripts(t *testing.T) {
	world := tree(
		"ci/test.sh", "#!/bin/sh\nset -e\n. ci/lib.sh\n( cd web && npm test )\nbash -ec 'python3 tools/run.py'\n",
		"ci/lib.sh", "helper() { ./ci/deep.sh; }\n", "ci/deep.sh", "true\n", "tools/run.py", "import sys\n", "tools/py", "#!/usr/bin/python3\n./ci/deep.sh\n",
		"web/package.json", "{}", "package.json", "{}", "Makefile", "include common.mk\ntest:\n\t@./ci/deep.sh \\\n\t  -x\n\t$(MAKE) -C web\n",
		"common.mk", "x:\n", "web/Makefile", "all:\n", "loop.sh", "sh loop.sh\n", "main.go", "", "tox.ini", "", "justfile", "",
		"more/tox.ini", "[testenv]\nenvlist = a\ncommands_pre = ./ci/a.sh\ncommands =\n  - pytest {posargs}\n  bash {toxinidir}/ci/b.sh\nskip = ./ci/c.py\n  ./ci/c.py\n",
		"more/.pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - {id: a, language: script, entry: ci/a.sh -x}\n  - {id: b, language: system, entry: bash ci/b.sh}\n- repo: https://x\n  hooks: [{id: c, entry: ci/c.py}]\n",
		"more/ci/a.sh", "true\n", "more/ci/b.sh", "true\n", "more/ci/c.py", "", "more/Rakefile", "", "more/.cargo/config.toml", "",
		"more/Makefile", "include mk/*.mk\nx:\n\ttrue\n", "more/mk/one.mk", "y:\n", "more/mk/two.mk", "z:\n\t./ci/a.sh\n", "more/mk/three.txt", "",
	)
	for _, tt := range []struct{ dir, run, want string }{
		{"", "go test ./...", ""},
		{".", "./ci/deep.sh", "ci/deep.sh"},
		{"ci", "./deep.sh", "ci/deep.sh"},
		{"", "ci/test.sh", "ci/deep.sh ci/lib.sh ci/test.sh tools/run.py web/package.json"},
		{"", "bash -x ci/deep.sh arg", "ci/deep.sh"},
		{"", "CGO_ENABLED=0 timeout 60 env A=b sh ci/deep.sh", "ci/deep.sh"},
		{"", "go vet && ./ci/deep.sh; echo main.go | cat", "ci/deep.sh"},
		{"", "if ./ci/deep.sh; then true; fi", "ci/deep.sh"},
		{"", `"./ci/deep.sh" 'x y'`, "ci/deep.sh"},
		{"", "# ./ci/deep.sh", ""},
		{"", "x=$(./ci/deep.sh)", "ci/deep.sh"},
		{"", "source ci/lib.sh", "ci/deep.sh ci/lib.sh"},
		{"", "tools/py", "tools/py"},
		{"", "python3 -m pytest tools/run.py", ""},
		{"", "python -u tools/run.py", "tools/run.py"},
		{"", "python3 -c 'import x' tools/run.py", ""},
		{"", "npm test", "package.json"},
		{"", "cd web && npm test", "web/package.json"},
		{"", "make test", "Makefile ci/deep.sh common.mk web/Makefile"},
		{"", "make -C web", "web/Makefile"},
		{"", "make -f common.mk", "common.mk"},
		{"", "tox -q", "tox.ini"},
		{"", "just test", "justfile"},
		{"more", "tox", "more/ci/a.sh more/ci/b.sh more/tox.ini"},
		{"more", "poetry run pre-commit run -a", "more/.pre-commit-config.yaml more/ci/a.sh more/ci/b.sh"},
		{"more", "bundle exec rake test", "more/Rakefile"},
		{"more", "cargo xtask ci", "more/.cargo/config.toml"},
		{"more", "npx ./ci/a.sh && uv run python ci/c.py", "more/ci/a.sh more/ci/c.py"},
		{"more", "make x", "more/Makefile more/ci/a.sh more/mk/one.mk more/mk/two.mk"},
		{"", "sh loop.sh", "loop.sh"},
		{"", "../outside.sh; /bin/true; ./nowhere.sh; sh", ""},
	} {
		if got := strings.Join(Scripts(world, tt.dir, tt.run), " "); got != tt.want {
			t.Errorf("Scripts(%q, %q) = %q, want %q", tt.dir, tt.run, got, tt.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	world := tree("a.sh", "true\n", "b.sh", "true\n")
	base := []Check{{ID: "x", Run: "./a.sh", Scripts: []string{"a.sh"}}, {ID: "y", Run: "go vet", Env: map[string]string{"A": "1", "B": "2"}}}
	of := func(fsys fs.FS, checks []Check) string {
		t.Helper()
		f, err := Fingerprint(fsys, checks)
		if err != nil || len(f) != 64 {
			t.Fatalf("Fingerprint = %q, %v", f, err)
		}
		return f
	}
	first := of(world, base)
	if again := of(world, []Check{base[1], base[0]}); again != first {
		t.Error("another order of the same checks has another fingerprint")
	}
	if spelt := of(world, []Check{{ID: "x", Run: "./a.sh", Dir: ".", Shell: "sh", Scripts: []string{"a.sh"}}, base[1]}); spelt != first {
		t.Error("defaults spelt out have another fingerprint")
	}
	for name, other := range map[string]string{
		"script changed":  of(tree("a.sh", "false\n"), base),
		"script gone":     of(tree(), base),
		"command changed": of(world, []Check{{ID: "x", Run: "./a.sh -v", Scripts: []string{"a.sh"}}, base[1]}),
		"folder changed":  of(world, []Check{{ID: "x", Run: "./a.sh", Dir: "d", Scripts: []string{"a.sh"}}, base[1]}),
		"a check fewer":   of(world, base[:1]),
		"nothing":         of(world, nil),
	} {
		if other == first {
			t.Errorf("%s: the fingerprint stays", name)
		}
	}
	if of(tree("a.sh", "true\n", "b.sh", "other\n"), base) != first {
		t.Error("a file that no check names changes the fingerprint")
	}
}

// The name of a blob is git's own: git hash-object of "hello\n".
func TestBlobID(t *testing.T) {
	if id, err := blobID(tree("a", "hello\n"), "a"); id != "ce013625030ba8dba906f756967f9e9ca394464a" || err != nil {
		t.Errorf("blobID = %s, %v", id, err)
	}
}

func FuzzScripts(f *testing.F) {
	for _, s := range []string{"./a.sh && make -C x", "sh -c 'a \"b\" \\", "$(`\"", "cd / && ../a.sh"} {
		f.Add(s)
	}
	world := tree("a.sh", "sh a.sh", "Makefile", "t:\n\t./a.sh\n")
	f.Fuzz(func(t *testing.T, run string) {
		for _, name := range Scripts(world, "", run) {
			if _, err := fs.Stat(world, name); err != nil {
				t.Errorf("Scripts(%q) names %q, which is not in the tree", run, name)
			}
		}
	})
}
