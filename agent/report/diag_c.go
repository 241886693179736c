package report

import (
	"slices"
	"strings"
)

// cc reads gcc, clang and linkers. The two compilers write the same lines: the command, one of their own words, or nothing
// says which it was, and then they are "cc". https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html
type cc struct {
	c    *collector
	tool string
	kept []remark
}

func newC(c *collector) lineReader { return &cc{c: c, tool: compilerOf(c.run.Command)} }

// compilerOf is the compiler that a shell text runs, or empty.
func compilerOf(shell string) string {
	switch {
	case len(shell) > 4000:
		return ""
	case runs(shell, "gcc", "g++", "c++", "cc") && !runs(shell, "cc", "c++"):
		return "gcc"
	case runs(shell, "clang", "clang++"):
		return "clang"
	}
	return ""
}

var cEnds = []string{".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".m", ".mm", ".inc", ".ipp", ".tcc", ".C", ".S", ".cu"}

func isC(_ Run, line string) bool {
	_, ok := cLine(line)
	if !ok {
		_, ok = linkLine(line)
	}
	return ok
}

// cLine reads "file.c:7:22: error: message [-Wflag]".
func cLine(line string) (remark, bool) {
	line = strings.TrimPrefix(line, "C/C++: ") // Android's Gradle plugin
	file, at, rest, ok := place(line)
	level, message, found := strings.Cut(rest, ": ")
	if !ok || !found || !slices.ContainsFunc(cEnds, func(e string) bool { return strings.HasSuffix(file, e) }) {
		return remark{}, false
	}
	m := remark{tool: "cc", rule: "error", file: file, line: at, message: message, mild: level == "warning"}
	if m.mild {
		m.rule, m.kind = "warning", Lint
	}
	if text, flag, ok := lastIn(message, " [-W", "]"); ok {
		m.message, m.rule = text, strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(flag, "error="), "error,-W"), "=")
		m.kind = Lint
	}
	if strings.HasPrefix(message, "-[") {
		return m, false // a test of XCTest's, in the same form
	}
	return m, isWord(m.rule) && slices.Contains([]string{"error", "fatal error", "warning"}, level)
}

// linkLine reads "link.c:(.text+0x5): undefined reference to `total'" and "ld.lld: error: undefined symbol: total".
func linkLine(line string) (remark, bool) {
	m := remark{tool: "ld", rule: "undefined-reference"}
	if file, message, ok := strings.Cut(line, ": undefined reference to "); ok {
		i := strings.Index(file, ":(.")
		if i < 0 {
			return m, false
		}
		file = strings.TrimPrefix(file[:i], "/usr/bin/ld: ")
		m.file, m.message = file, "undefined reference to "+message
		return m, true
	}
	head, message, ok := strings.Cut(line, ": error: ")
	m.rule, m.message = "error", message
	if !ok {
		head, m.message, ok = strings.Cut(line, ": warning: ")
		m.rule, m.mild = "warning", true
	}
	return m, ok && (head == "ld.lld" || strings.HasPrefix(head, "ld.lld-"))
}

func (r *cc) line(line string) {
	if r.tool == "" {
		if r.tool = compilerWords(line); r.tool == "" && len(line) < 4000 {
			r.tool = compilerOf(line)
		}
	}
	if m, ok := cLine(line); ok && len(r.kept) < maxKept {
		r.kept = append(r.kept, m)
	} else if m, ok := linkLine(line); ok {
		r.c.remark(m)
	}
}

// compilerWords tells the compiler by what only one of them prints.
func compilerWords(line string) string {
	switch {
	case strings.HasSuffix(line, " generated.") && (strings.Contains(line, " error") || strings.Contains(line, " warning")) && line[0] >= '0' && line[0] <= '9',
		strings.HasPrefix(line, "clang: "), strings.Contains(line, "compiler identification is Clang"), strings.Contains(line, "compiler identification is AppleClang"):
		return "clang"
	case line == "compilation terminated.", strings.HasPrefix(line, "cc1: "), strings.HasPrefix(line, "cc1plus: "), strings.HasPrefix(line, "collect2: "),
		strings.HasPrefix(line, "gcc: "), strings.HasPrefix(line, "g++: "), strings.Contains(line, ": In function ‘"), strings.Contains(line, ": In member function ‘"),
		strings.Contains(line, "compiler identification is GNU"):
		return "gcc"
	}
	return ""
}

func (r *cc) end() {
	for _, m := range r.kept {
		if r.tool != "" {
			m.tool = r.tool
		}
		r.c.remark(m)
	}
	r.kept = nil
}

// javac reads "File.java:7: error: message" with the source below, and the form of Maven's compiler plugin,
// "[ERROR] /dir/File.java:[7,22] message". https://docs.oracle.com/en/java/javase/17/docs/specs/man/javac.html
type javac struct {
	c      *collector
	at     *remark
	werror bool
}

func newJavac(c *collector) lineReader {
	return &javac{c: c, werror: c.run.Exit != 0 && c.said("warnings found and -Werror specified")}
}

func isJava(_ Run, line string) bool {
	_, ok := javaLine(line)
	return ok
}

func javaLine(line string) (remark, bool) {
	m := remark{tool: "javac", rule: "error"}
	line = strings.TrimLeft(line, " ")
	for _, prefix := range []string{"[javac] ", "[java] "} {
		line = strings.TrimPrefix(line, prefix) // Ant
	}
	level, rest, maven := strings.Cut(untimed(line), "] ")
	file, at, isMaven := strings.Cut(rest, ".java:[")
	if maven && isMaven && (level == "[ERROR" || level == "[WARNING") {
		pos, message, ok := strings.Cut(at, "] ")
		m.file, m.message, m.mild = file+".java", message, level == "[WARNING"
		m.line, _, _ = leadingNumber(strings.Replace(pos, ",", ":", 1) + ":")
		return m, ok && m.line > 0 && javaRule(&m)
	}
	if line == "" || line[0] == '[' {
		return m, false // Maven's other words, as of Javadoc
	}
	file, n, rest, ok := place(line)
	level, message, found := strings.Cut(rest, ": ")
	m.file, m.line, m.message, m.mild = file, n, message, level == "warning"
	return m, ok && found && strings.HasSuffix(file, ".java") && (level == "error" || level == "warning") && javaRule(&m)
}

// untimed is a line without the time that some logs put before it: "08:52:34.395 ".
func untimed(line string) string {
	time, rest, ok := strings.Cut(line, " ")
	if ok && len(time) >= 5 && len(time) <= 12 && time[2] == ':' && strings.Trim(time, "0123456789:.") == "" {
		return strings.TrimLeft(rest, " ")
	}
	return line
}

// javaRule finds the name of a lint: "[unchecked] unchecked call".
func javaRule(m *remark) bool {
	if m.mild {
		m.rule, m.kind = "warning", Lint
	}
	if rest, ok := strings.CutPrefix(m.message, "["); ok {
		if rule, message, ok := strings.Cut(rest, "] "); ok && isWord(rule) {
			m.rule, m.message, m.kind = rule, message, Lint
		}
	}
	return true
}

func (r *javac) line(line string) {
	m, ok := javaLine(line)
	if ok {
		r.end()
		r.at = &m
		return
	}
	text := strings.TrimSpace(strings.TrimPrefix(line, "[ERROR]"))
	if r.at != nil && (strings.HasPrefix(text, "symbol:") || strings.HasPrefix(text, "location:")) && len(r.at.message) < maxMessage {
		r.at.message += "\n" + text
	}
}

func (r *javac) end() {
	if r.at != nil {
		r.at.mild = r.at.mild && !r.werror
		r.c.remark(*r.at)
	}
	r.at = nil
}

// shellcheck reads its terminal form: "In deploy.sh line 3:" and below it "   ^-- SC2086 (info): message".
type shellcheck struct {
	c    *collector
	file string
	at   int
}

func newShellcheck(c *collector) lineReader { return &shellcheck{c: c} }

func isShellcheckCaret(_ Run, line string) bool {
	_, ok := caretLine(line)
	return ok
}

func caretLine(line string) (remark, bool) {
	rest := strings.TrimLeft(line, " ")
	carets, rest, _ := strings.Cut(rest, " ")
	code, rest, _ := strings.Cut(rest, " (")
	_, message, ok := strings.Cut(rest, "): ")
	return remark{tool: "shellcheck", rule: code, message: message},
		ok && strings.HasPrefix(carets, "^") && strings.Trim(carets, "^-") == "" && strings.HasPrefix(code, "SC") && isCode(code)
}

func (r *shellcheck) line(line string) {
	if rest, ok := strings.CutPrefix(line, "In "); ok {
		if file, at, ok := strings.Cut(rest, " line "); ok {
			r.file = file
			r.at, _, _ = leadingNumber(at)
		}
		return
	}
	if m, ok := caretLine(line); ok && r.file != "" {
		m.file, m.line = r.file, r.at
		r.c.remark(m)
	}
}

func (r *shellcheck) end() {}
