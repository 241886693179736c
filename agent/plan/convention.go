package plan

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// convention is one file that makes a command customary.
type convention struct {
	id      string
	sources []string                  // file names, the first that is there counts
	says    func(content string) bool // whether the file means it; nil for always
	run     string
	command func(tree fs.FS, content string) string // instead of run; no check if it gives ""
}

// conventions finds the customary checks. A language's own tool comes before a Makefile, which often does more than
// check; the top folder comes before the folders below, and there a go.mod counts alone, since each begins a module
// that the one above it leaves out.
//
//	go.mod                                       go test ./...
//	package.json with a test script              npm test, or pnpm, yarn, bun as the lockfile says; after it lint
//	Cargo.toml                                   cargo test
//	pytest.ini, pyproject.toml, tox.ini, …       pytest -q
//	tox.ini without pytest, noxfile.py           tox, nox
//	pom.xml, build.gradle                        mvn -B test, gradle test, or the wrapper that is there
//	.rspec or spec, Rakefile with a test task    bundle exec rspec, bundle exec rake test, without Gemfile rspec, rake test
//	CMakePresets.json with presets for tests     cmake --preset, --build --preset, ctest --preset
//	Makefile with the target test, else check    make test, make check
//	go.mod in folders below, by name             go test ./... there
func conventions(tree fs.FS) ([]Check, error) {
	var found []Check
	for _, c := range customs {
		for _, name := range c.sources {
			b, err := readFile(tree, name, 1<<20)
			if err != nil || c.says != nil && !c.says(string(b)) {
				continue
			}
			run := c.run
			if c.command != nil {
				run = c.command(tree, string(b))
			}
			if run == "" {
				continue
			}
			found = append(found, Check{ID: c.id, Run: run, Dir: ".", Provenance: Convention, Source: name})
			break
		}
	}
	below, err := modules(tree)
	for _, dir := range below {
		found = append(found, Check{
			ID: "go:" + dir, Run: "go test ./...", Dir: dir, Provenance: Convention, Source: path.Join(dir, "go.mod"),
		})
	}
	return withoutDoubles(found), err
}

var customs = []convention{
	{id: "go", sources: []string{"go.mod"}, run: "go test ./..."},
	{id: "npm", sources: []string{"package.json"}, says: hasTestScript, command: packageTest},
	{id: "cargo", sources: []string{"Cargo.toml"}, run: "cargo test"},
	{id: "pytest", sources: []string{"pytest.ini", ".pytest.ini"}, run: "pytest -q"},
	{id: "pytest", sources: []string{"pyproject.toml"}, says: matches(`(?m)^\[tool\.pytest[\].]`), run: "pytest -q"},
	{id: "pytest", sources: []string{"tox.ini"}, says: matches(`(?m)^\[pytest\]|\bpytest\b`), run: "pytest -q"},
	{id: "pytest", sources: []string{"setup.cfg"}, says: matches(`(?m)^\[tool:pytest\]`), run: "pytest -q"},
	{id: "tox", sources: []string{"tox.ini"}, says: func(content string) bool {
		return strings.Contains(content, "[testenv") && !strings.Contains(content, "pytest")
	}, run: "tox"},
	{id: "nox", sources: []string{"noxfile.py"}, run: "nox"},
	{id: "maven", sources: []string{"pom.xml"}, command: wrapped("./mvnw", "mvn", "-B test")},
	{id: "gradle", sources: []string{"build.gradle", "build.gradle.kts"}, command: wrapped("./gradlew", "gradle", "test")},
	{id: "rspec", sources: []string{".rspec", "spec/spec_helper.rb"}, command: bundled("rspec")},
	{id: "rake", sources: []string{"Rakefile"}, says: matches(`(?m)\bRake::TestTask\b|^\s*task\s+:?["']?test\b`), command: bundled("rake test")},
	{id: "cmake", sources: []string{"CMakePresets.json"}, command: presets},
	{id: "npm:lint", sources: []string{"package.json"}, command: packageLint},
	{id: "make", sources: makefiles, says: matches(`(?m)^test[ \t]*:(?:[^=]|$)`), run: "make test"},
	{id: "make", sources: makefiles, says: matches(`(?m)^check[ \t]*:(?:[^=]|$)`), run: "make check"},
}

// makefiles in the order in which GNU make looks for them.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// matches compiles when it is first asked: this program also starts as a sandbox's shim, and often.
func matches(expr string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return func(content string) bool { return compiled().MatchString(content) }
}

func isFile(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	return err == nil && info.Mode().IsRegular()
}

// wrapped is the wrapper of a tool if the tree has it, else the tool.
func wrapped(wrapper, tool, args string) func(fs.FS, string) string {
	return func(tree fs.FS, _ string) string {
		if isFile(tree, path.Base(wrapper)) {
			tool = wrapper
		}
		return tool + " " + args
	}
}

// bundled is a command of a gem, through Bundler where there is a Gemfile.
func bundled(command string) func(fs.FS, string) string {
	return func(tree fs.FS, _ string) string {
		if isFile(tree, "Gemfile") {
			return "bundle exec " + command
		}
		return command
	}
}

// packageManagers by the lockfile that each leaves, npm last.
var packageManagers = []struct{ lockfile, tool string }{
	{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"package-lock.json", "npm"},
}

// packageManager is the one that package.json names, else the one that left a lockfile, else npm.
func packageManager(tree fs.FS, content string) string {
	var p struct{ PackageManager string }
	_ = json.Unmarshal([]byte(content), &p)
	named, _, _ := strings.Cut(p.PackageManager, "@")
	for _, m := range packageManagers {
		if m.tool == named {
			return named
		}
	}
	for _, m := range packageManagers {
		if isFile(tree, m.lockfile) {
			return m.tool
		}
	}
	return "npm"
}

func packageTest(tree fs.FS, content string) string {
	tool := packageManager(tree, content)
	if tool == "bun" {
		return "bun run test" // bun test is its own runner
	}
	return tool + " test"
}

func packageLint(tree fs.FS, content string) string {
	var p struct{ Scripts struct{ Lint string } }
	if json.Unmarshal([]byte(content), &p) != nil || p.Scripts.Lint == "" || strings.Contains(p.Scripts.Lint, "--fix") {
		return ""
	}
	return packageManager(tree, content) + " run lint"
}

// presets are the commands of the first preset for tests that is not hidden.
// https://cmake.org/cmake/help/latest/manual/cmake-presets.7.html
func presets(_ fs.FS, content string) string {
	type preset struct {
		Name, ConfigurePreset string
		Hidden                bool
	}
	var p struct{ BuildPresets, TestPresets []preset }
	if json.Unmarshal([]byte(content), &p) != nil {
		return ""
	}
	plainName := func(s string) bool { return s != "" && harmless(s) && s[0] != '-' }
	for _, t := range p.TestPresets {
		for _, b := range p.BuildPresets {
			if !t.Hidden && !b.Hidden && t.ConfigurePreset == b.ConfigurePreset && plainName(t.Name) && plainName(b.Name) && plainName(t.ConfigurePreset) {
				return "cmake --preset " + t.ConfigurePreset + " && cmake --build --preset " + b.Name + " && ctest --preset " + t.Name
			}
		}
	}
	return ""
}

// hasTestScript tells npm's placeholder from a test script.
func hasTestScript(content string) bool {
	var p struct{ Scripts struct{ Test string } }
	return json.Unmarshal([]byte(content), &p) == nil && p.Scripts.Test != "" &&
		!strings.Contains(p.Scripts.Test, "Error: no test specified")
}

// withoutDoubles keeps the first check of each id.
func withoutDoubles(found []Check) []Check {
	seen := map[string]bool{}
	var out []Check
	for _, c := range found {
		if !seen[c.ID] {
			seen[c.ID] = true
			out = append(out, c)
		}
	}
	return out
}

// Bounds on the search below the top folder.
const (
	maxDepth   = 6
	maxEntries = 50_000
	maxModules = 50
)

// modules are the folders below the top that hold a go.mod, sorted. Folders that the go command passes over, and
// those of packages, are left out.
func modules(tree fs.FS) ([]string, error) {
	var dirs []string
	entries := 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch entries++; {
		case err != nil && name == ".":
			return err
		case err != nil:
			return fs.SkipDir // one folder that cannot be read hides its own modules alone
		case entries > maxEntries || len(dirs) >= maxModules:
			return fs.SkipAll
		}
		if d.IsDir() && name != "." && (passedOver(d.Name()) || strings.Count(name, "/") >= maxDepth) {
			return fs.SkipDir
		}
		if d.Name() == "go.mod" && d.Type().IsRegular() && name != "go.mod" {
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	sort.Strings(dirs)
	return dirs, err
}

func passedOver(dir string) bool {
	return dir[0] == '.' || dir[0] == '_' || dir == "vendor" || dir == "testdata" || dir == "node_modules"
}
