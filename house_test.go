package redraft

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/bot/github"
)

const module = "github.com/redraft-dev/redraft"

// The table of who may import whom, as in ARCHITECTURE.md. A name that ends in /... stands for everything below it too.
var (
	leaves = []string{
		"agent/model", "agent/syntax", "agent/sandbox/warden", "agent/report", "agent/plan", "agent/trace", "agent/memory",
		"agent/machine", "agent/redact", "agent/registry", "worktree", "bot/queue",
	}
	organs = []string{
		"agent/model", "agent/mechanic", "agent/perceive", "agent/patch", "agent/oracle", "agent/report", "agent/proof", "agent/plan",
		"agent/sandbox", "agent/syntax", "agent/trace", "agent/memory", "agent/machine", "agent/redact",
	}
	mayImport = table()
)

func table() map[string][]string {
	t := map[string][]string{
		".":              nil,
		"agent/patch":    {"agent/syntax"},
		"agent/sandbox":  {"agent/sandbox/warden"},
		"agent/proof":    {"agent/patch", "agent/report"},
		"agent/oracle":   {"agent/patch", "agent/plan", "agent/proof", "agent/report", "agent/sandbox", "agent/syntax"},
		"agent/perceive": {"agent/patch", "agent/report", "agent/sandbox", "agent/syntax"},
		"agent/mechanic": {"agent/model", "agent/oracle", "agent/patch", "agent/perceive", "agent/report", "agent/sandbox", "agent/syntax"},
		"agent":          organs,
		"bot/job":        {"agent/memory", "agent/proof", "agent/report", "agent/plan", "agent/trace", "agent/redact", "worktree"},
		"bot/github":     {"bot"},
		"bot":            {"bot/job", "agent/proof", "agent/report", "agent/plan", "agent/trace", "agent/redact", "agent/memory", "bot/queue", "worktree"},
		"bot/action":     {"bot", "bot/job", "bot/queue", "agent/plan", "agent/proof", "agent/redact", "agent/trace"},
		"bot/web":        {"bot", "bot/queue", "agent/trace", "agent/redact"},
		"cmd/redraft":    {".", "agent/...", "bot/...", "worktree", "benchmarks/hacks", "benchmarks/scenes", "benchmarks/spellings"}, // bench

		"benchmarks/intake": {"bot/queue", "bot/web"}, // from the webhook to the disk, without GitHub

		"bot/github/githubtest":         {"bot/github"},
		"bot/github/githubtest/openapi": {"bot/github/githubtest"},
		"agent/model/modeltest":         {"agent/model"},
		"agent/sandbox/sandboxtest":     {"agent/sandbox"},
	}
	for _, leaf := range leaves {
		t[leaf] = nil
	}
	for _, way := range []string{"session", "regen", "reproduce", "learn"} {
		t["agent/"+way] = append([]string{"agent"}, organs...)
	}
	t["benchmarks/spellings"] = []string{"agent/...", "benchmarks/hacks"}                                    // the programs of the hack corpus
	t["benchmarks/scenes"] = []string{"agent/...", "benchmarks", "benchmarks/hacks", "benchmarks/spellings"} // cases, their stage, landing
	t["benchmarks/confirm"] = []string{"agent/...", "benchmarks/hacks"}                                      // its stage for programs
	for _, bench := range []string{"benchmarks", "benchmarks/gomodules", "benchmarks/figures", "benchmarks/mutants", "benchmarks/trees", "benchmarks/fixers", "benchmarks/hacks", "benchmarks/readers", "benchmarks/indexes"} {
		t[bench] = []string{"bot/job", "agent/...", "worktree", "benchmarks"}
	}
	return t
}

// rules are the rules of the house. Each answers with its breaches, one line each; none is what it wants.
var rules = map[string]func(house) []string{
	"imports":  importsAsInTable,
	"rooms":    roomsAreDescribed,
	"closures": closuresHoldNothingForeign,
	"fakes":    fakesStayInTests,
	"comments": packagesHaveComments,
	"starts":   processesStartInFewPlaces,
	"git":      gitStartsInWorktree,
	"names":    namesAreFixed,
	"lengths":  functionsAreShort,
	"machine":  noMachineInFiles,
	"links":    linksResolve,
	"calls":    callsAreHarmless,
	"linker":   nothingKeepsEveryMethod,
}

func TestHouse(t *testing.T) {
	h := open(t, os.DirFS("."))
	if len(h.packages) < 10 {
		t.Fatalf("got %d packages, want the whole tree", len(h.packages))
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, breach := range rule(h) {
				t.Error(breach)
			}
		})
	}
}

// house is the tree as it lies on disk, without what .gitignore names.
type house struct {
	fsys     fs.FS
	files    []string
	packages map[string]*room // by folder
}

// room is one package.
type room struct {
	dir     string
	sources []source
}

// source is one Go file.
type source struct {
	path string
	test bool
	fset *token.FileSet
	file *ast.File
}

func open(t *testing.T, fsys fs.FS) house {
	t.Helper()
	h := house{fsys: fsys, packages: map[string]*room{}}
	ignored := ignores(fsys)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir() && (d.Name() == ".git" || ignored(name, true)):
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git" || ignored(name, false): // .git is a file in a linked worktree
			return nil
		}
		h.files = append(h.files, name)
		if path.Ext(name) != ".go" || within(name, "testdata") {
			return nil
		}
		return h.add(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) add(name string) error {
	text, err := fs.ReadFile(h.fsys, name)
	if err != nil {
		return err
	}
	s := source{path: name, test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	if s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments); err != nil {
		return err
	}
	dir := path.Dir(name)
	if h.packages[dir] == nil {
		h.packages[dir] = &room{dir: dir}
	}
	h.packages[dir].sources = append(h.packages[dir].sources, s)
	return nil
}

// ignores understands as much of .gitignore as ours uses: names, "*.ext", a leading and a trailing slash.
func ignores(fsys fs.FS) func(name string, dir bool) bool {
	text, _ := fs.ReadFile(fsys, ".gitignore") // none: nothing is ignored
	var patterns []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return func(name string, dir bool) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			p, onlyDir := strings.CutSuffix(p, "/")
			p, rooted := strings.CutPrefix(p, "/")
			what := path.Base(name)
			if rooted {
				what = name
			}
			ok, _ := path.Match(p, what)
			return ok && (dir || !onlyDir)
		})
	}
}

// within says whether a folder of a path has a name.
func within(name, folder string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), folder)
}

// code is the files of a package that are linked into programs.
func (r *room) code() []source {
	return slices.DeleteFunc(slices.Clone(r.sources), func(s source) bool { return s.test })
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// ours is a package of this module by its folder.
func ours(imp string) (dir string, ok bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func (s source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

// rooms are the packages in order of their folders.
func (h house) rooms() []*room {
	var all []*room
	for _, r := range h.packages {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *room) int { return strings.Compare(a.dir, b.dir) })
	return all
}

func importsAsInTable(h house) (breaches []string) {
	for _, r := range h.rooms() {
		allowed, known := mayImport[r.dir]
		if !known {
			breaches = append(breaches, fmt.Sprintf("%s: a new package is a new line here and in ARCHITECTURE.md", r.dir))
			continue
		}
		for _, s := range r.code() {
			for _, imp := range s.imports() {
				if dir, ok := ours(imp); ok && !slices.ContainsFunc(allowed, func(a string) bool { return matches(a, dir) }) {
					breaches = append(breaches, fmt.Sprintf("%s: %s may not import %s", s.path, r.dir, dir))
				}
			}
		}
	}
	return breaches
}

// roomsAreDescribed wants a line of ARCHITECTURE.md for every package; those below benchmarks share its line.
func roomsAreDescribed(h house) (breaches []string) {
	text, err := fs.ReadFile(h.fsys, "ARCHITECTURE.md")
	if err != nil {
		return []string{err.Error()}
	}
	for _, r := range h.rooms() {
		if r.dir != "." && !matches("benchmarks/...", r.dir) && !bytes.Contains(text, []byte("\n| `"+r.dir+"` |")) {
			breaches = append(breaches, fmt.Sprintf("ARCHITECTURE.md has no line for %s", r.dir))
		}
	}
	return breaches
}

func matches(pattern, dir string) bool {
	below, all := strings.CutSuffix(pattern, "/...")
	return dir == below || all && strings.HasPrefix(dir, below+"/")
}

// closure is every package that is linked with one of ours: folders for ours, import paths for others.
func (h house) closure(dir string, seen map[string]bool) map[string]bool {
	if seen[dir] || h.packages[dir] == nil {
		return seen
	}
	seen[dir] = true
	for _, s := range h.packages[dir].code() {
		for _, imp := range s.imports() {
			if d, ok := ours(imp); ok {
				h.closure(d, seen)
			} else {
				seen[imp] = true
			}
		}
	}
	return seen
}

// closuresHoldNothingForeign keeps the three processes apart: what holds the credential runs nothing, and what runs
// something holds no credential.
func closuresHoldNothingForeign(h house) (breaches []string) {
	for _, c := range []struct {
		from string
		not  []string
	}{
		{"bot/...", []string{"agent", "agent/sandbox/...", "agent/registry", "agent/model/...", "agent/oracle", "agent/mechanic"}},
		{"agent/...", []string{"bot/...", "worktree", "github.com/google/go-github/...", "github.com/bradleyfalzon/...", "golang.org/x/oauth2/..."}},
		{"worktree", []string{"agent/...", "bot/..."}},
	} {
		for _, r := range h.rooms() {
			if !matches(c.from, r.dir) {
				continue
			}
			for linked := range h.closure(r.dir, map[string]bool{}) {
				if linked != r.dir && slices.ContainsFunc(c.not, func(n string) bool { return matches(n, linked) }) {
					breaches = append(breaches, fmt.Sprintf("%s links %s", r.dir, linked))
				}
			}
		}
	}
	return breaches
}

var fakes = []string{"bot/github/githubtest", "bot/github/githubtest/openapi", "agent/model/modeltest", "agent/sandbox/sandboxtest"}

// nothingKeepsEveryMethod keeps templates out of the program: they find methods by name, so that the linker leaves out no exported
// method of any type (a fifth of the binary, https://pkg.go.dev/cmd/link, "ReflectMethod" of -dumpdep).
func nothingKeepsEveryMethod(h house) (breaches []string) {
	for dir := range h.closure("cmd/redraft", map[string]bool{}) {
		if h.packages[dir] == nil {
			continue
		}
		for _, s := range h.packages[dir].code() {
			for _, imp := range s.imports() {
				if imp == "html/template" || imp == "text/template" {
					breaches = append(breaches, fmt.Sprintf("%s imports %s: use maragu.dev/gomponents or fmt", s.path, imp))
				}
			}
		}
	}
	return breaches
}

// fakesStayInTests links the fakes into tests, the demo, the self-test and the benchmarks only.
func fakesStayInTests(h house) (breaches []string) {
	for _, r := range h.rooms() {
		for _, s := range r.code() {
			base := path.Base(s.path)
			demo := r.dir == "cmd/redraft" && (strings.HasPrefix(base, "demo") || strings.HasPrefix(base, "selftest"))
			if demo || matches("benchmarks/...", r.dir) || matches("bot/github/githubtest/...", r.dir) {
				continue
			}
			for _, imp := range s.imports() {
				if dir, _ := ours(imp); slices.Contains(fakes, dir) {
					breaches = append(breaches, fmt.Sprintf("%s: %s is for tests, demo and selftest only", s.path, dir))
				}
			}
		}
	}
	return breaches
}

// callsAreHarmless reads the closed list of calls that may go to GitHub: none merges, approves, reviews, makes a draft ready
// or moves a ref, and a pull request is only ever opened as a draft and only ever closed.
func callsAreHarmless(house) (breaches []string) {
	bodies := map[string]string{
		"POST /repos/{owner}/{repo}/pulls":           "title body head base draft=true",
		"PATCH /repos/{owner}/{repo}/pulls/{number}": "title? body? state?=closed",
	}
	never := regexp.MustCompile(`graphql|/merges?\b|merge-queue|/reviews\b|ready|/git/(refs|commits|trees|blobs|tags)\b|/contents/|/actions/|/branches/|/keys|/hooks|/environments|/deployments|/secrets`)
	for _, c := range github.Calls() {
		name := c.Method + " " + c.Path
		if c.Method != "GET" && never.MatchString(c.Path) {
			breaches = append(breaches, name+" is on the list of calls")
		}
		if want, ok := bodies[name]; ok && c.Body != want {
			breaches = append(breaches, fmt.Sprintf("%s may carry %q, want %q", name, c.Body, want))
		}
		delete(bodies, name)
	}
	for name := range bodies {
		breaches = append(breaches, name+" is not on the list of calls")
	}
	return breaches
}

func packagesHaveComments(h house) (breaches []string) {
	for _, r := range h.rooms() {
		code := r.code()
		if len(code) == 0 {
			continue
		}
		begins := "Package " + code[0].file.Name.Name + " "
		if code[0].file.Name.Name == "main" {
			begins = "Command " + path.Base(r.dir) + " "
		}
		if !slices.ContainsFunc(code, func(s source) bool { return strings.HasPrefix(s.file.Doc.Text(), begins) }) {
			breaches = append(breaches, fmt.Sprintf("%s has no package comment that begins %q", r.dir, begins))
		}
	}
	return breaches
}

// starters are the packages that start processes: each has its reason, and a new one is a new line here.
var starters = []string{
	"worktree",              // git
	"agent/sandbox/...",     // the runner and its shim
	"agent/plan",            // asks toolchains what they need, in an empty folder
	"agent/model/modeltest", // a real model server beside the scripted one
	"bot/job",               // the repair process
	"bot/github/githubtest", // git, as a forge serves it
	"cmd/redraft",           // itself, as demo and selftest
	"benchmarks/...",        // the go command, and the program under test
}

// starting are the calls that start a process without os/exec.
var starting = map[string][]string{
	"os":      {"StartProcess"},
	"syscall": {"ForkExec", "StartProcess", "Exec"},
	"unix":    {"Exec", "Execveat"},
}

func processesStartInFewPlaces(h house) (breaches []string) {
	for _, r := range h.rooms() {
		if slices.ContainsFunc(starters, func(p string) bool { return matches(p, r.dir) }) {
			continue
		}
		for _, s := range r.code() {
			if slices.Contains(s.imports(), "os/exec") {
				breaches = append(breaches, fmt.Sprintf("%s imports os/exec", s.path))
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(starting[x.Name], sel.Sel.Name) {
						breaches = append(breaches, fmt.Sprintf("%s: %s.%s", s.at(sel), x.Name, sel.Sel.Name))
					}
				}
				return true
			})
		}
	}
	return breaches
}

// gitStartsInWorktree finds the word git in every file that can start processes; only worktree and the fake
// GitHub's HTTP backend may hold it. A test may ask the real git whether it agrees.
func gitStartsInWorktree(h house) (breaches []string) {
	for _, r := range h.rooms() {
		if r.dir == "worktree" || r.dir == "bot/github/githubtest" {
			continue
		}
		for _, s := range r.code() {
			if !slices.Contains(s.imports(), "os/exec") {
				continue
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && path.Base(text) == "git" {
						breaches = append(breaches, fmt.Sprintf("%s: %s: git starts only in worktree", s.at(lit), lit.Value))
					}
				}
				return true
			})
		}
	}
	return breaches
}

var (
	topLevel = strings.Fields(`action.yml cmd bot agent worktree benchmarks .github Dockerfile go.mod go.sum README.md
		docs .ci .gitignore .gitattributes .dockerignore LICENSE ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md doc.go house_test.go`)
	vague = strings.Fields("internal pkg common util utils types helpers misc")
)

func namesAreFixed(h house) (breaches []string) {
	seen := map[string]bool{}
	for _, f := range h.files {
		top, _, _ := strings.Cut(f, "/")
		if !slices.Contains(topLevel, top) && !seen[top] {
			seen[top] = true
			breaches = append(breaches, fmt.Sprintf("%s is no name of the top level", top))
		}
		for _, v := range vague {
			if within(f, v) && !within(f, "testdata") {
				breaches = append(breaches, fmt.Sprintf("%s: a folder called %s says nothing", f, v))
			}
		}
	}
	return breaches
}

const longest = 70 // lines of a function, its first and last included

func functionsAreShort(h house) (breaches []string) {
	for _, r := range h.rooms() {
		for _, s := range r.code() {
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > longest {
						breaches = append(breaches, fmt.Sprintf("%s: %s has %d lines, more than %d", s.at(f), f.Name.Name, n, longest))
					}
				}
			}
		}
	}
	return breaches
}

// machine are texts that tie a file to one machine or to one registry. They are put together here so that this file
// does not hold them.
var machine = []string{
	"/wo" + "rk/", "/ro" + "ot/", "/home/" + "runner/",
	"proxy.golang" + ".org", "sum.golang" + ".org", "registry.npmjs" + ".org", "pypi" + ".org", "files.pythonhosted" + ".org", "crates" + ".io",
}

// registries holds the allowlist of the setup proxy, the one place where hosts of registries may stand.
const registries = "agent/registry/hosts.go"

func noMachineInFiles(h house) (breaches []string) {
	for _, f := range h.files {
		text, err := fs.ReadFile(h.fsys, f)
		if err != nil {
			return append(breaches, err.Error())
		}
		for _, m := range machine {
			if i := bytes.Index(text, []byte(m)); i >= 0 && (f != registries || strings.HasPrefix(m, "/")) {
				breaches = append(breaches, fmt.Sprintf("%s:%d: %s", f, 1+bytes.Count(text[:i], []byte("\n")), m))
			}
		}
	}
	return breaches
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// linksResolve follows every link of a document that stays in the tree, to its heading.
func linksResolve(h house) (breaches []string) {
	for _, f := range h.files {
		if path.Ext(f) != ".md" || within(f, "testdata") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(h.document(f), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") { // another place
				continue
			}
			target := f
			if to != "" {
				target = path.Join(path.Dir(f), to)
			}
			if _, err := fs.Stat(h.fsys, target); err != nil {
				breaches = append(breaches, fmt.Sprintf("%s: link to %s: %v", f, m[1], err))
			} else if anchor != "" && path.Ext(target) == ".md" && !slices.Contains(anchors(h.document(target)), anchor) {
				breaches = append(breaches, fmt.Sprintf("%s: link to %s: no such heading", f, m[1]))
			}
		}
	}
	return breaches
}

// document is a file's text without its fenced blocks.
func (h house) document(name string) string {
	text, _ := fs.ReadFile(h.fsys, name) // h.files holds only what was there
	return fenced.ReplaceAllString(string(text), "")
}

// anchors are the headings as a browser addresses them.
func anchors(text string) (slugs []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		slugs = append(slugs, strings.ReplaceAll(slug, " ", "-"))
	}
	return slugs
}

// TestRulesCanFail breaks each rule in a small tree of its own, and shows the same tree whole.
func TestRulesCanFail(t *testing.T) {
	imports := func(paths ...string) string {
		text := "// Package p is one. It leaves the rest. Always.\npackage p\n"
		for _, p := range paths {
			text += "import _ " + strconv.Quote(p) + "\n"
		}
		return text
	}
	long := "// Command redraft x.\npackage main\n\nfunc main() {" + strings.Repeat("\n", longest) + "}\n"
	for _, tt := range []struct {
		rule, file, broken, whole, want string
	}{
		{"imports", "agent/patch/p.go", imports(module + "/agent/oracle"), imports(module + "/agent/syntax"), "agent/patch may not import agent/oracle"},
		{"imports", "agent/syntax/p.go", imports(module), imports("os"), "agent/syntax may not import ."},
		{"imports", "benchmarks/p.go", imports(module + "/bot"), imports(module+"/bot/job", module+"/agent/model/modeltest"), "benchmarks may not import bot"},
		{"imports", "agent/extra/p.go", imports(), "", "a new package is a new line here and in ARCHITECTURE.md"},
		{"imports", "agent/oracle/p_darwin.go", imports(module + "/agent/model"), imports(module + "/agent/proof"), "agent/oracle may not import agent/model"},
		{"rooms", "agent/extra/p.go", imports(), "", "ARCHITECTURE.md has no line for agent/extra"},
		{"closures", "bot/job/p.go", imports(module + "/agent/oracle"), imports(module + "/agent/proof"), "bot/job links agent/sandbox"},
		{"closures", "agent/p.go", imports("github.com/google/go-github/v62/github"), imports("net/http"), "agent links github.com/google/go-github/v62/github"},
		{"closures", "agent/plan/p.go", imports(module + "/worktree"), imports(), "agent/plan links worktree"},
		{"fakes", "agent/model/p.go", imports(module + "/agent/model/modeltest"), imports(), "for tests, demo and selftest only"},
		{"fakes", "cmd/redraft/fix.go", imports(module + "/agent/model/modeltest"), imports(module + "/agent/model"), "for tests, demo and selftest only"},
		{"comments", "agent/p.go", "// A comment.\npackage p\n", "// Package p is one.\npackage p\n", `no package comment that begins "Package p "`},
		{"comments", "benchmarks/figures/p.go", "// Package main is one.\npackage main\n", "// Command figures is one.\npackage main\n", `begins "Command figures "`},
		{"starts", "agent/perceive/p.go", imports("os/exec"), imports("os"), "imports os/exec"},
		{"starts", "agent/perceive/p.go", "package p\nvar _ = os.StartProcess\n", "package p\nvar _ = os.Getpid\n", "p.go:2:9: os.StartProcess"},
		{"git", "bot/job/p.go", imports("os/exec") + `var _ = exec.Command("git")`, imports("os/exec") + `var _ = exec.Command("go")`, "git starts only in worktree"},
		{"git", "agent/plan/p.go", imports("os/exec") + "var _ = `/usr/bin/git`", imports("os") + "var _ = `/usr/bin/git`", "git starts only in worktree"},
		{"names", "helper.go", imports(), "", "helper.go is no name of the top level"},
		{"names", "agent/internal/p.go", imports(), "", "a folder called internal says nothing"},
		{"lengths", "cmd/redraft/p.go", long, strings.Replace(long, "\n}", "}", 1), "main has 71 lines"},
		{"machine", "README.md", "see " + machine[0] + "x", "see work/x", "README.md:1: " + machine[0]},
		{"machine", registries, "// Package p is one.\npackage p\n// " + machine[1] + "x", "// Package registry is one.\npackage registry\n// " + machine[3], registries + ":3: " + machine[1]},
		{"machine", "agent/registry/p.go", "// Package p is one.\npackage p\n// " + machine[3], "", "agent/registry/p.go:3: " + machine[3]},
		{"linker", "cmd/redraft/p.go", imports("html/template"), imports("html"), "p.go imports html/template"},
		{"links", "README.md", "[a](docs/a.md)", "[a](LICENSE) [b](https://example.com/b)", "link to docs/a.md"},
		{"links", "agent/README.md", "# One thing\n[a](#another)", "# One thing: `this`\n[a](#one-thing-this)", "no such heading"},
	} {
		t.Run(tt.rule+" "+tt.file, func(t *testing.T) {
			tree := fstest.MapFS{
				"ARCHITECTURE.md":       {Data: []byte("\n| `agent/oracle` |\n| `agent/sandbox` |\n| `worktree` |\n| `agent/model` |\n| `cmd/redraft` |\n| `agent/patch` |\n")},
				"LICENSE":               {},
				"agent/oracle/o.go":     {Data: []byte(imports(module + "/agent/sandbox"))},
				"agent/sandbox/s.go":    {Data: []byte(imports("os/exec"))},
				"worktree/w.go":         {Data: []byte(imports("os/exec") + `var _ = exec.Command("git")`)},
				"agent/model/m.go":      {Data: []byte(imports())},
				"cmd/redraft/demo.go":   {Data: []byte("// Command redraft x.\npackage main\nimport _ \"" + module + "/agent/model/modeltest\"\n")},
				"agent/patch/a_test.go": {Data: []byte("package patch\nimport _ \"" + module + "/agent/oracle\"\nimport _ \"os/exec\"\nvar _ = `git`\n")},
			}
			if breaches := rules[tt.rule](open(t, tree)); len(breaches) != 0 {
				t.Errorf("without the file: got %q, want nothing", breaches)
			}
			if tt.whole != "" {
				tree[tt.file] = &fstest.MapFile{Data: []byte(tt.whole)}
				if breaches := rules[tt.rule](open(t, tree)); len(breaches) != 0 {
					t.Errorf("whole: got %q, want nothing", breaches)
				}
			}
			tree[tt.file] = &fstest.MapFile{Data: []byte(tt.broken)}
			if breaches := strings.Join(rules[tt.rule](open(t, tree)), "\n"); !strings.Contains(breaches, tt.want) {
				t.Errorf("broken: got %q, want %q in it", breaches, tt.want)
			}
			tree[".gitignore"] = &fstest.MapFile{Data: []byte("# ours\n/" + tt.file + "\n")}
			if breaches := rules[tt.rule](open(t, tree)); len(breaches) != 0 {
				t.Errorf("ignored: got %q, want nothing", breaches)
			}
		})
	}
}
