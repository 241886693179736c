package plan

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// family is the tools of one language, which live in folders of their own.
type family struct {
	tools []string
	roots []root
	env   []string // set in every run of such tools: offline, and without a word of advertisement
	ask   func(asker, *Needs)
}

// root is a folder below HOME that the tools need besides. HOME is another in a run, so that a variable has to say
// where it is. None holds credentials, as ~/.cargo and ~/.m2 themselves do.
type root struct {
	dir string // below HOME
	env string // variable that names it, or what lies above it by up levels, in a run as for the operator; none if empty
	up  int
}

var families = []family{
	{
		tools: []string{"python", "python3", "pytest", "pip", "pip3", "tox", "nox", "uv", "uvx", "ruff", "mypy", "pyright", "flake8", "black", "coverage", "hatch", "poetry", "pdm", "pipenv", "pre-commit"},
		roots: []root{
			{dir: ".pyenv", env: "PYENV_ROOT"}, {dir: ".local/share/uv/python", env: "UV_PYTHON_INSTALL_DIR"}, {dir: ".local/share/pipx"},
			{dir: ".cache/pypoetry/virtualenvs", env: "POETRY_VIRTUALENVS_PATH"}, {dir: ".cache/pre-commit", env: "PRE_COMMIT_HOME"},
		},
		// A cache of bytecode beside the sources would outlive the patch that is reverted.
		env: []string{"PYTHONDONTWRITEBYTECODE=1", "PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1", "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never"},
		ask: askPython,
	},
	{
		tools: []string{"node", "npm", "npx", "yarn", "pnpm", "pnpx", "corepack", "tsc", "eslint", "jest", "vitest", "mocha", "prettier", "biome"},
		roots: []root{{dir: ".nvm/versions"}, {dir: ".volta", env: "VOLTA_HOME"}, {dir: ".cache/node/corepack", env: "COREPACK_HOME"}, {dir: ".cache/ms-playwright", env: "PLAYWRIGHT_BROWSERS_PATH"}},
		env: []string{
			"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false",
			"COREPACK_ENABLE_NETWORK=0", "YARN_ENABLE_NETWORK=0", "YARN_ENABLE_TELEMETRY=0",
		},
		ask: askNode,
	},
	{
		tools: []string{"cargo", "rustc", "clippy-driver", "rustfmt", "cargo-nextest", "rustup"},
		roots: []root{
			{dir: ".rustup", env: "RUSTUP_HOME"}, {dir: ".cargo/bin", env: "CARGO_HOME", up: 1}, {dir: ".cargo/registry", env: "CARGO_HOME", up: 1}, {dir: ".cargo/git/db", env: "CARGO_HOME", up: 2}, {dir: ".cargo/git/checkouts", env: "CARGO_HOME", up: 2},
		},
		env: []string{"CARGO_NET_OFFLINE=true", "RUSTUP_AUTO_INSTALL=0"},
		ask: askRust,
	},
	{
		tools: []string{"java", "javac", "mvn", "mvnw", "gradle", "gradlew", "ant", "kotlinc", "sbt"},
		roots: []root{{dir: ".m2/repository"}, {dir: ".m2/wrapper", env: "MAVEN_USER_HOME", up: 1}, {dir: ".gradle/caches/modules-2", env: "GRADLE_RO_DEP_CACHE", up: 1}, {dir: ".sdkman/candidates"}},
		env:   []string{"MAVEN_ARGS=-o"}, // Maven 3.9 and later
		ask:   askJava,
	},
	{
		tools: []string{"ruby", "bundle", "bundler", "rake", "rspec", "gem", "rubocop", "rails"},
		roots: []root{{dir: ".rbenv", env: "RBENV_ROOT"}, {dir: ".rvm/rubies"}, {dir: ".rvm/gems"}, {dir: ".gem"}, {dir: ".local/share/gem"}},
		env:   []string{"BUNDLE_DISABLE_VERSION_CHECK=true", "BUNDLE_FROZEN=true"},
		ask:   askRuby,
	},
}

// Offline are the variables that keep the tools of a run from asking registries. Setup commands, which reach those through the
// proxy, have none of them.
var Offline = strings.Fields("PIP_NO_INDEX UV_OFFLINE npm_config_offline COREPACK_ENABLE_NETWORK YARN_ENABLE_NETWORK CARGO_NET_OFFLINE MAVEN_ARGS BUNDLE_FROZEN")

// addTools adds the folders of PATH that no sandbox shows by itself, and what the tools that the checks name need
// besides. A check that goes through make or a script may name any. A folder that holds HOME is never shown.
func (n *Needs) addTools(ctx context.Context, set Set, path []string, getenv func(string) string) {
	home := getenv("HOME")
	opaque := set.names("make") || slices.ContainsFunc(set.Checks, func(c Check) bool { return len(c.Scripts) > 0 })
	var theirs []string
	for _, f := range families {
		for _, r := range f.roots {
			theirs = append(theirs, r.in(getenv))
		}
	}
	for _, dir := range path {
		own := slices.ContainsFunc(theirs, func(t string) bool { return t != "" && within(dir, t) })
		if !own && !system(dir) && !holds(dir, home) {
			n.addRead(dir)
		}
	}
	a := asker{ctx, path, getenv}
	speak := n.addNamed(set, a)
	for _, f := range families {
		if opaque || slices.ContainsFunc(f.tools, set.names) || slices.ContainsFunc(f.tools, func(t string) bool { return slices.Contains(speak, t) }) {
			n.addFamily(f, a)
		}
	}
}

// addNamed shows what lies around every program on PATH that the checks name, whatever it is called, and gives the
// interpreters that those which are scripts are written for.
func (n *Needs) addNamed(set Set, a asker) (interpreters []string) {
	home := a.getenv("HOME")
	for _, word := range set.words() {
		file, err := lookup(word, a.path)
		if err != nil || strings.Contains(word, "/") {
			continue
		}
		if prefix := prefixOf(word, a.path); prefix != "" && !system(prefix) && !holds(prefix, home) && !secret(prefix, home) {
			n.addRead(prefix)
		}
		if i := interpreter(file); i != "" {
			interpreters = append(interpreters, i)
		}
	}
	return interpreters
}

// interpreter is the name of the program that a script's first line asks for, without its version; "" for what is no script.
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	k, _ := io.ReadFull(f, head)
	line, _, _ := strings.Cut(string(head[:k]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	name := filepath.Base(words[0])
	if name == "env" {
		name = filepath.Base(words[len(words)-1])
	}
	return strings.TrimRight(name, "0123456789.")
}

// in is where a root is, "" if that is not known.
func (r root) in(getenv func(string) string) string {
	if moved := getenv(r.env); r.env != "" && filepath.IsAbs(moved) {
		parts := strings.Split(r.dir, "/")
		return filepath.Join(append([]string{moved}, parts[len(parts)-r.up:]...)...)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, r.dir)
	}
	return ""
}

func (n *Needs) addFamily(f family, a asker) {
	there := false
	home := a.getenv("HOME")
	for _, tool := range f.tools {
		prefix := prefixOf(tool, a.path)
		there = there || prefix != ""
		if prefix != "" && !system(prefix) && !holds(prefix, home) && !within(prefix, filepath.Join(home, ".cargo")) {
			n.addRead(prefix)
		}
	}
	for _, r := range f.roots {
		dir := r.in(a.getenv)
		if dir == "" || holds(dir, home) || !n.addRead(dir) || r.env == "" {
			continue
		}
		for range r.up {
			dir = filepath.Dir(dir)
		}
		n.setEnv(r.env, dir)
	}
	if there {
		n.Env = append(n.Env, f.env...)
		f.ask(a, n)
	}
}

// setEnv sets a variable once.
func (n *Needs) setEnv(name, value string) {
	if !slices.ContainsFunc(n.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
		n.Env = append(n.Env, name+"="+value)
	}
}

// setTool notes a version as the tool says it, in one line.
func (n *Needs) setTool(name, version string) {
	version = clipped(strings.ToValidUTF8(version, ""))
	if version == "" {
		return
	}
	if n.Tools == nil {
		n.Tools = map[string]string{}
	}
	n.Tools[name] = version
}

// show adds folders that are neither the system's nor above HOME.
func (n *Needs) show(a asker, dirs ...string) {
	home := a.getenv("HOME")
	for _, dir := range dirs {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) && dir != "/" && !system(dir) && !holds(dir, home) && !secret(dir, home) {
			n.addRead(dir)
		}
	}
}

// secret says whether a folder is one of those of HOME that hold credentials beside packages.
func secret(dir, home string) bool {
	return home != "" && slices.ContainsFunc([]string{".cargo", ".m2", ".gradle", ".config", ".ssh", ".gnupg", ".aws", ".docker", ".kube", ".netrc", ".bundle", ".local"}, func(name string) bool {
		return dir == filepath.Join(home, name)
	})
}

// asker asks tools about themselves.
type asker struct {
	ctx    context.Context
	path   []string
	getenv func(string) string
}

// maxAnswer bounds what a tool may say of itself.
const maxAnswer = 64 << 10

// ask runs a tool in an empty folder that is removed again, with the operator's PATH, HOME and the variables named. It
// is "" where the tool is not there, fails or takes too long: whoever needs the tool will see.
func (a asker) ask(vars []string, tool string, args ...string) string {
	program, err := lookup(tool, a.path)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(a.ctx, 20*time.Second)
	defer cancel()
	empty, err := os.MkdirTemp("", "redraft-empty-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(empty)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay = empty, time.Second
	cmd.Env = []string{"PATH=" + strings.Join(a.path, string(filepath.ListSeparator)), "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "RUSTUP_AUTO_INSTALL=0"}
	for _, name := range append(vars, "HOME") {
		if v := a.getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	out, err := cmd.Output()
	if err != nil || len(out) > maxAnswer {
		return ""
	}
	return strings.TrimSpace(string(out))
}

const pythonSays = `import json, site, sys, sysconfig
print(json.dumps({"version": "Python " + sys.version.split()[0], "venv": sys.prefix != sys.base_prefix, "prefix": sys.prefix, "user": site.getuserbase() if site.ENABLE_USER_SITE else "",
"dirs": [sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path("stdlib") or "", sysconfig.get_path("purelib") or "", sysconfig.get_path("platlib") or ""]}))`

// askPython asks the interpreter where it and its packages are.
func askPython(a asker, n *Needs) {
	vars := []string{"PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "PYTHONUSERBASE"}
	var answer struct {
		Version, Prefix, User string
		Venv                  bool
		Dirs                  []string
	}
	for _, tool := range []string{"python3", "python"} {
		if json.Unmarshal([]byte(a.ask(vars, tool, "-c", pythonSays)), &answer) == nil && answer.Version != "" {
			break
		}
	}
	n.setTool("python", answer.Version)
	n.show(a, answer.Dirs...)
	if answer.Venv && a.getenv("VIRTUAL_ENV") != "" {
		n.setEnv("VIRTUAL_ENV", answer.Prefix)
	}
	if v := a.getenv("PYENV_VERSION"); v != "" {
		n.setEnv("PYENV_VERSION", v)
	}
	if packages := filepath.Join(answer.User, "lib"); filepath.IsAbs(answer.User) && n.addRead(packages) {
		n.setEnv("PYTHONUSERBASE", answer.User) // pip install --user: HOME is another in a run
		n.show(a, filepath.Join(answer.User, "bin"))
	}
}

// askNode asks Node.js where it is; its own packages lie in its prefix.
func askNode(a asker, n *Needs) {
	var answer struct{ Version, Path string }
	if json.Unmarshal([]byte(a.ask([]string{"VOLTA_HOME"}, "node", "-p", `JSON.stringify({version: "Node.js " + process.version, path: process.execPath})`)), &answer) != nil {
		return
	}
	n.setTool("node", answer.Version)
	if filepath.IsAbs(answer.Path) {
		n.show(a, filepath.Dir(filepath.Dir(answer.Path)))
	}
}

// askRust asks the compiler, through rustup where that stands before it.
func askRust(a asker, n *Needs) {
	vars := []string{"RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"}
	n.setTool("rust", a.ask(vars, "rustc", "--version"))
	n.show(a, real(a.ask(vars, "rustc", "--print", "sysroot")))
	if v := a.getenv("RUSTUP_TOOLCHAIN"); v != "" {
		n.setEnv("RUSTUP_TOOLCHAIN", v)
	}
}

// askJava finds the JDK, and points Maven at the packages that are there already: its own place for them is in HOME.
func askJava(a asker, n *Needs) {
	home := a.getenv("JAVA_HOME")
	if javac, err := lookup("javac", a.path); home == "" && err == nil {
		home = filepath.Dir(filepath.Dir(real(javac)))
	}
	if filepath.IsAbs(home) {
		n.show(a, home)
		n.setEnv("JAVA_HOME", home)
	}
	words := strings.Fields(strings.Join(strings.Split(a.ask(nil, "java", "--version"), "\n")[:1], " "))
	n.setTool("java", strings.Join(words, " "))
	if local := (root{dir: ".m2/repository"}).in(a.getenv); local != "" && slices.Contains(n.Read, local) {
		n.setEnv("MAVEN_OPTS", "-Dmaven.repo.local="+local)
	}
}

// askRuby asks where gems are: those of the user lie in HOME.
func askRuby(a asker, n *Needs) {
	version, paths, _ := strings.Cut(a.ask([]string{"RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "GEM_PATH"}, "ruby", "-e", `puts "ruby #{RUBY_VERSION}", Gem.path.join(":")`), "\n")
	n.setTool("ruby", version)
	n.show(a, filepath.SplitList(paths)...)
	if paths != "" {
		n.setEnv("GEM_PATH", paths)
	}
}
