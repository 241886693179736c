package report

import (
	"slices"
	"strings"
	"sync"
)

// refineStaticcheck: "message (SA4006)". https://staticcheck.dev/docs/running-staticcheck/cli/formatters/
func refineStaticcheck(m *remark, _ byte) bool {
	text, rule, ok := lastIn(m.message, " (", ")")
	if !ok || !isCheck(rule) && rule != "compile" {
		return false
	}
	if rule == "compile" {
		m.kind = Build
	}
	m.message, m.rule = text, rule
	return strings.HasSuffix(m.file, ".go")
}

// isCheck reports whether s is the name of a check of staticcheck, as in SA4006. https://staticcheck.dev/docs/checks/
func isCheck(s string) bool {
	letters := strings.TrimRight(s, "0123456789")
	return len(s) == len(letters)+4 && slices.Contains([]string{"SA", "S", "ST", "QF", "U"}, letters)
}

// golangciLinters are the linters that golangci-lint puts behind its lines. https://golangci-lint.run/docs/linters/
var golangciLinters = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(golangciNames) {
		m[name] = true
	}
	return m
})

// refineGolangci: "message (errcheck)".
func refineGolangci(m *remark, _ byte) bool {
	text, rule, ok := lastIn(m.message, " (", ")")
	if !ok || !golangciLinters()[rule] {
		return false
	}
	m.message, m.rule = text, rule
	return true
}

func golangciKind(rule string) Kind {
	switch rule {
	case "typecheck":
		return Build
	case "gofmt", "gofumpt", "goimports", "gci", "golines", "swaggo":
		return Format
	}
	return Lint
}

// lintsGo reports whether a line is one of staticcheck's or golangci-lint's, which look like the go command's own but name
// their rule.
func lintsGo(line string) bool {
	_, rule, ok := lastIn(line, " (", ")")
	return ok && (isCheck(rule) || rule == "compile" || golangciLinters()[rule])
}

// gofmt reads gofmt's, gofumpt's and goimports' lists and differences. The first two and goimports differ in a word of the
// head of a difference; a list is only names, so the command has to say whose they are. gofmt -l and goimports exit 0
// whatever they list, so that a list fails nothing in a run that did not fail.
// https://pkg.go.dev/cmd/gofmt
type gofmt struct {
	c     *collector
	tool  string // that lists; empty if no command was seen
	fails bool
}

func newGofmt(c *collector) lineReader {
	return &gofmt{c: c, tool: goFormatter(c.run.Command), fails: c.run.Exit != 0}
}

// goFormatter is the formatter that a shell text runs with -l, -d or neither; empty if it runs none.
func goFormatter(shell string) string {
	if len(shell) > 4000 || !strings.Contains(shell, "fmt") && !strings.Contains(shell, "goimports") {
		return ""
	}
	for _, f := range []string{"gofmt", "goimports", "gofumpt"} {
		if runs(shell, f) {
			return f
		}
	}
	return ""
}

func isGofmt(r Run, line string) bool {
	switch {
	case strings.HasPrefix(line, "diff "):
		return strings.Contains(line, ".go.orig ")
	case isFile(line, ".go") || isGoSyntax(line):
		return goFormatter(r.Command) != ""
	}
	return goFormatter(line) != ""
}

// isGoSyntax reports whether a line can be go/parser's: "broken/b.go:3:9: expected ')', found '{'".
func isGoSyntax(line string) bool {
	file, _, message, ok := place(line)
	return ok && strings.HasSuffix(file, ".go") && strings.HasPrefix(message, "expected ")
}

func (r *gofmt) line(line string) {
	if rest, ok := strings.CutPrefix(line, "diff "); ok {
		r.difference(rest)
		return
	}
	if strings.Contains(line, " ") {
		if f := goFormatter(line); f != "" {
			r.tool = f
		}
	}
	switch {
	case r.tool == "":
	case isFile(line, ".go"):
		r.c.remark(remark{tool: r.tool, rule: "format", file: line, message: "is not formatted", harmless: !r.fails})
	case isGoSyntax(line):
		file, at, message, _ := place(line)
		r.c.remark(remark{tool: r.tool, rule: "syntax", file: file, line: at, message: message})
	}
}

// difference reads "cart.go.orig cart.go", before which goimports puts "-u".
func (r *gofmt) difference(names string) {
	names, unified := strings.CutPrefix(names, "-u ")
	old, file, ok := strings.Cut(names, ".go.orig ")
	if !ok || file != old+".go" {
		return
	}
	tool := r.tool
	switch {
	case unified:
		tool = "goimports"
	case tool == "" || tool == "goimports":
		tool = "gofmt"
	}
	r.c.remark(remark{tool: tool, rule: "format", file: file, message: "is not formatted", harmless: !r.fails})
}

func (r *gofmt) end() {}

// tidy reads go mod tidy -diff. https://go.dev/ref/mod#go-mod-tidy
type tidy struct{ c *collector }

func newTidy(c *collector) lineReader { return tidy{c} }

func isTidy(_ Run, line string) bool { return tidyFile(line) != "" }

func tidyFile(line string) string {
	switch line {
	case "diff current/go.mod tidy/go.mod":
		return "go.mod"
	case "diff current/go.sum tidy/go.sum":
		return "go.sum"
	}
	return ""
}

func (r tidy) line(line string) {
	if file := tidyFile(line); file != "" {
		r.c.remark(remark{tool: "go-mod-tidy", rule: "tidy", file: file, message: "is not tidy"})
	}
}

func (r tidy) end() {}

// golangciNames are those of release 2.6 and some that are gone since.
const golangciNames = `
arangolint asasalint asciicheck bidichk bodyclose canonicalheader containedctx contextcheck copyloopvar cyclop
decorder deadcode depguard dogsled dupl dupword durationcheck embeddedstructfieldcheck err113 errcheck errchkjson
errname errorlint exhaustive exhaustruct exportloopref exptostd fatcontext forbidigo forcetypeassert funcorder
funlen gci ginkgolinter gocheckcompilerdirectives gochecknoglobals gochecknoinits gochecksumtype gocognit goconst
gocritic gocyclo godoclint godot godox gofmt gofumpt goheader goimports golines golint gomnd gomoddirectives
gomodguard goprintffuncname gosec gosimple gosmopolitan govet grouper iface importas inamedparam ineffassign
interfacebloat intrange iotamixing ireturn lll loggercheck maintidx makezero mirror misspell mnd modernize musttag
nakedret nestif nilerr nilnesserr nilnil nlreturn noctx noinlineerr nolintlint nonamedreturns nosprintfhostport
paralleltest perfsprint prealloc predeclared promlinter protogetter reassign recvcheck revive rowserrcheck
scopelint sloglint spancheck sqlclosecheck staticcheck structcheck stylecheck swaggo tagalign tagliatelle tenv
testableexamples testifylint testpackage thelper tparallel typecheck unconvert unparam unqueryvet unused
usestdlibvars usetesting varcheck varnamelen wastedassign whitespace wrapcheck wsl wsl_v5 zerologlint
`
