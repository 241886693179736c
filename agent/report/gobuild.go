package report

import (
	"encoding/json"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// block is what a compiler, a linker or vet said about one package.
type block struct {
	pkg     string // import path of the package as its "# path" line has it, without " [variant]"
	variant string // import path of the package whose tests it was compiled for, if it was
	vet     bool
	found   []diagnostic
	text    []byte // all of it, cut
	claimed bool   // a package's summary names it as its reason
}

// diagnostic is one "file.go:3:5: message" line.
type diagnostic struct {
	file      string // as printed
	line, col int
	message   string
	underVet  bool // behind "vet: ": the compiler's words, passed on
}

// parseDiagnostic reads the form that the go command's tools share: file, line, column or not, message.
func parseDiagnostic(line string) (d diagnostic, ok bool) {
	line, d.underVet = strings.CutPrefix(line, "vet: ")
	if line == "" || line[0] == ' ' || line[0] == '\t' {
		return d, false
	}
	start := 0
	if len(line) > 2 && line[1] == ':' && (line[2] == '\\' || line[2] == '/') {
		start = 2 // a drive letter
	}
	colon := strings.IndexByte(line[start:], ':')
	if colon <= 0 || !strings.Contains(path.Base(line[:start+colon]), ".") {
		return d, false
	}
	d.file = line[:start+colon]
	rest := line[start+colon+1:]
	if d.line, rest, ok = leadingNumber(rest); !ok {
		return d, false
	}
	d.col, rest, _ = leadingNumber(rest)
	d.message = strings.TrimSpace(rest)
	return d, d.message != ""
}

// leadingNumber cuts "12:" off the front.
func leadingNumber(s string) (n int, rest string, ok bool) {
	num, rest, found := strings.Cut(s, ":")
	n, err := strconv.Atoi(num)
	if !found || err != nil || n < 0 || n > 1<<30 || num[0] == '+' || num[0] == '-' {
		return 0, s, false
	}
	return n, rest, true
}

// buildEvent takes in the JSON form of a block.
func (s *stream) buildEvent(e event) {
	b := s.byID[e.ImportPath]
	if b == nil {
		pkg, variant := importPath(e.ImportPath)
		b = s.newBlock(pkg, variant)
		if len(s.byID) < maxBlocks {
			s.byID[e.ImportPath] = b
		}
	}
	if e.Action == "build-output" {
		s.blockLine(b, strings.TrimRight(e.Output, "\r\n"))
	}
}

// importPath takes "example.com/p_test [example.com/p.test]" apart.
func importPath(id string) (pkg, variant string) {
	pkg, variant, _ = strings.Cut(id, " [")
	pkg = strings.TrimSuffix(cut(clean(pkg), maxID), ".test")
	variant = strings.TrimSuffix(strings.TrimSuffix(cut(clean(variant), maxID), "]"), ".test")
	return pkg, variant
}

func (s *stream) newBlock(pkg, variant string) *block {
	b := &block{pkg: pkg, variant: variant}
	if len(s.blocks) < maxBlocks {
		s.blocks = append(s.blocks, b)
	} else {
		s.dropped = true
	}
	return b
}

// goLine takes in a line of the go command itself or of its tools, and reports whether it was one.
func (s *stream) goLine(line string) bool {
	if rest, ok := strings.CutPrefix(line, "# "); ok {
		return s.headerLine(line, rest)
	}
	if strings.HasPrefix(line, "go: ") || strings.HasPrefix(line, "make: ") || strings.HasPrefix(line, "make[") {
		s.commandLine(line)
		s.block = nil
		return true
	}
	_, isDiagnostic := parseDiagnostic(line)
	if isDiagnostic && lintsGo(line) { // another linter's, beside the go command
		s.block = nil
		return false
	}
	if s.block != nil && (isDiagnostic || len(s.block.found) == 0 || continues(line)) {
		s.blockLine(s.block, line)
		return line != ""
	}
	s.block = nil
	if isDiagnostic && s.cur == nil && s.asksGo() {
		s.block = s.newBlock("", "")
		s.block.vet = strings.Contains(s.run.Command, "vet")
		s.blockLine(s.block, line)
		return true
	}
	s.trouble(line)
	return false
}

// asksGo reports whether bare diagnostics can be the go command's: go vet of old releases prints no header.
func (s *stream) asksGo() bool {
	c := s.run.Command
	return strings.Contains(c, "go vet") || strings.Contains(c, "go build") || strings.Contains(c, "go test")
}

func continues(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ") || line == "too many errors" ||
		strings.HasPrefix(line, "note: ")
}

// headerLine takes in "# path", "# path [variant]" and vet's second line "# [path]".
func (s *stream) headerLine(line, rest string) bool {
	if strings.HasPrefix(rest, "[") && s.block != nil {
		s.block.vet = true
		return true
	}
	pkg, variant := importPath(rest)
	if pkg == "" || strings.ContainsAny(pkg, " \t\"'`") || variant == "" && strings.Contains(rest, " ") {
		return false
	}
	s.block = s.newBlock(pkg, variant)
	s.keep(s.block, line)
	return true
}

func (s *stream) blockLine(b *block, line string) {
	if rest, ok := strings.CutPrefix(line, "# "); ok {
		if strings.HasPrefix(rest, "[") {
			b.vet = true
		} else if pkg, variant := importPath(rest); pkg != "" {
			b.pkg, b.variant = pkg, variant
		}
		return
	}
	s.trouble(line)
	s.keep(b, line)
	if d, ok := parseDiagnostic(line); ok && len(b.found) < 1000 {
		b.found = append(b.found, d)
	}
}

func (s *stream) keep(b *block, line string) {
	if !strings.HasPrefix(line, "# ") && len(b.text) < maxMessage {
		b.text = append(append(b.text, line...), '\n')
	}
}

// commandLine takes in a line that the go command or make wrote about itself.
func (s *stream) commandLine(line string) {
	for _, progress := range []string{"downloading", "finding", "extracting", "upgraded", "added", "found"} {
		if strings.HasPrefix(line, "go: "+progress+" ") {
			return
		}
	}
	if strings.HasPrefix(line, "make") {
		s.notFound = s.notFound || strings.HasSuffix(line, "Error 127")
		return
	}
	s.sawGo = true
	s.trouble(line)
	s.goLines.add([]byte(line + "\n"))
}

// dependencyTrouble are the go command's own words for a module or toolchain that is not on this machine.
// https://go.dev/ref/mod, cmd/go/internal/modload/import.go
var dependencyTrouble = []string{
	"no required module provides package", "module lookup disabled by GOPROXY=off", "missing go.sum entry",
	"cannot find module providing package", "toolchain not available", "requires go >= ", "updates to go.mod needed",
	"inconsistent vendoring", "cannot find module for path", "dial tcp", "go: download go1.", "no such host",
	`executable file not found in $PATH`, "error loading module requirements",
}

// trouble looks for what makes a run impossible to judge in the words of the go command and its tools; the words of a
// test are never asked, except for the form an operating system's error has.
func (s *stream) trouble(line string) {
	if !s.missing && (s.block != nil || strings.HasPrefix(line, "go: ") || placesGo(line)) {
		s.missing = troubled(line)
	}
	if strings.HasSuffix(line, ": no space left on device") {
		s.diskFull = true
	}
	if strings.HasSuffix(line, ": cannot allocate memory") {
		s.noMemory = true
	}
}

// placesGo reports whether ".go:" stands in a line. Colons are rare where dots are not.
func placesGo(line string) bool {
	for {
		before, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasSuffix(before, ".go") {
			return ok
		}
		line = rest
	}
}

var troubleIndex = sync.OnceValue(func() *wordIndex { return newWordIndex(dependencyTrouble) })

func troubled(line string) bool {
	var hits [1]bool
	return find(troubleIndex(), line, hits[:])
}

// vetJSONLine collects one object of go vet -json, which may span any number of lines.
func (s *stream) vetJSONLine(line string) {
	if len(s.vetJSON) < maxEvent*8 {
		s.vetJSON = append(append(s.vetJSON, line...), '\n')
	}
	if line != "}" {
		return
	}
	var byPkg map[string]map[string]json.RawMessage
	err := json.Unmarshal(s.vetJSON, &byPkg)
	s.vetJSON = nil
	if err != nil {
		return // some other tool's JSON
	}
	for _, byAnalyzer := range byPkg {
		for analyzer, raw := range byAnalyzer {
			var found []struct{ Posn, Message string }
			if json.Unmarshal(raw, &found) != nil {
				continue
			}
			for _, f := range found {
				if d, ok := parseDiagnostic(f.Posn + ": " + f.Message); ok && len(s.vets) < maxBlocks {
					s.vets = append(s.vets, s.vetResult(analyzer, d))
				}
			}
		}
	}
	sort.Slice(s.vets, func(i, j int) bool { return s.vets[i].ID < s.vets[j].ID })
}

// vetResult is a diagnostic of go vet run by itself. Its text form does not name the analyzer.
func (s *stream) vetResult(analyzer string, d diagnostic) Result {
	file := s.places.relative(d.file)
	return Result{
		ID: cut("vet:"+clean(analyzer)+":"+file, maxID), Kind: Lint, Status: Fail, Class: LintClass,
		File: file, Line: d.line, Message: cut(clean(d.message), maxMessage),
	}
}

// buildResults are the blocks that no package's summary claims: of go build, of go vet, or of a package without tests.
func (s *stream) buildResults() []Result {
	out := s.vets
	for _, b := range s.blocks {
		switch {
		case b.claimed || len(b.text) == 0 && len(b.found) == 0:
		case b.vet && !b.compiles():
			for _, d := range b.found {
				out = append(out, s.vetResult("", d))
			}
		case len(b.found) > 0 || s.run.Exit != 0 && b.pkg != "":
			out = append(out, s.blockResult(b, b.pkg))
		}
	}
	return out
}

// compiles reports whether vet only passed on the compiler's words.
func (b *block) compiles() bool { return !b.vet || len(b.found) > 0 && b.found[0].underVet }

// blockResult is a package that could not be tested for what b says.
func (s *stream) blockResult(b *block, pkg string) Result {
	r := Result{ID: pkg + ".[build]", Kind: Build, Status: Error, Class: Compile}
	if b == nil {
		return r
	}
	if !b.compiles() {
		r.ID, r.Kind, r.Class = pkg+".[vet]", Lint, LintClass
	}
	text := clean(string(b.text))
	for _, words := range dependencyTrouble {
		if strings.Contains(text, words) {
			r.Class = MissingDependency
		}
	}
	r.Message = strings.TrimSpace(cut(text, maxMessage))
	if len(b.found) > 0 {
		r.File, r.Line = s.places.relative(b.found[0].file), b.found[0].line
	}
	return r
}

// blockOf finds why a package was not built: the block its summary names, its own, or the first of one it depends on.
func (s *stream) blockOf(p *pkg) *block {
	if b := s.byID[p.failedBuild]; b != nil && p.failedBuild != "" {
		b.claimed = true
		return b
	}
	if s.byPkg == nil {
		s.indexBlocks()
	}
	if b := s.byPkg[p.path]; b != nil {
		b.claimed = true
		return b
	}
	return s.byPkg[""]
}

// indexBlocks finds the first block of each package by its path, by the path of the package whose tests it was
// compiled for, and by that of an external test package; the first block that says anything stands under "".
func (s *stream) indexBlocks() {
	s.byPkg = map[string]*block{}
	for _, b := range s.blocks {
		names := []string{b.pkg, b.variant, strings.TrimSuffix(b.pkg, "_test")}
		if len(b.text) > 0 {
			names = append(names, "")
		}
		for i, name := range names {
			if s.byPkg[name] == nil && (name != "" || i == 3) {
				s.byPkg[name] = b
			}
		}
	}
}
