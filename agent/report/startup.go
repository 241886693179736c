package report

import (
	"bytes"
	"path"
	"strings"
)

// maxStartup is how much of the end of standard error is looked at for a program that could not start.
const maxStartup = 64 << 10

// unstarted says that a program outside of any test runner ended because a module is not installed: that is the last thing
// that an interpreter said on standard error. What a program caught, and went on from, is no such end.
func (s *stream) unstarted() bool {
	text := s.run.Stderr[max(0, len(s.run.Stderr)-maxStartup):]
	is, traceback, before := false, false, ""
	for b := range bytes.Lines(text) {
		l := strings.TrimRight(string(b), "\r\n")
		switch class, ended := s.ending(l, before, traceback); {
		case ended:
			is, traceback = class == MissingDependency, false
		case strings.HasPrefix(l, "Traceback (most recent call last):"):
			is, traceback = false, true
		}
		before = l
	}
	return is
}

// ending reads the line with which an interpreter says why it ended. Each stands at the left edge, where what a runner or a
// program quotes hardly does.
func (s *stream) ending(l, before string, traceback bool) (why Class, ended bool) {
	c := s.others
	if l == "" || l[0] == ' ' || l[0] == '\t' {
		return "", false
	}
	if traceback { // https://docs.python.org/3/library/traceback.html
		e, ok := parsePyError([]string{l})
		if ok && (e.kind == "ModuleNotFoundError" || e.kind == "ImportError") {
			return c.pyImport(e.text), true
		}
		return "", ok
	}
	if program, name, ok := strings.Cut(l, ": No module named "); ok && strings.HasPrefix(path.Base(program), "python") {
		return c.pyImport("No module named " + name), !strings.Contains(name, "directly executed")
	}
	if l == "Require stack:" || strings.HasPrefix(l, "Error [ERR_MODULE_NOT_FOUND]: ") { // https://nodejs.org/api/errors.html#module_not_found
		message := l
		if l == "Require stack:" {
			message = before
		}
		_, message, ok := strings.Cut(message, ": ")
		return c.jsImport(message), ok && strings.HasPrefix(message, "Cannot find ")
	}
	if name, ok := strings.CutPrefix(l, `Exception in thread "main" java.lang.NoClassDefFoundError: `); ok {
		return c.javaClass(name), true
	}
	if name, ok := strings.CutPrefix(l, "Caused by: java.lang.ClassNotFoundException: "); ok && strings.HasPrefix(before, "Error: Could not find or load main class ") {
		return c.javaClass(name), true
	}
	return "", isUncaught(l)
}

// isUncaught knows how node and the JVM begin to tell of an error that nobody caught.
func isUncaught(l string) bool {
	kind, _, ok := strings.Cut(l, ": ")
	return strings.HasPrefix(l, `Exception in thread "`) || ok && strings.HasSuffix(kind, "Error") && isPyName(kind)
}

// javaClass is the class of a Java class that was not found. One of no package is the tree's own.
func (c *collector) javaClass(name string) Class {
	name, _, _ = strings.Cut(strings.ReplaceAll(name, "/", "."), " ")
	pkg, _, ok := cutLast(name, ".")
	if !ok {
		return Compile
	}
	for ok {
		if c.missing(pkg) == Compile {
			return Compile
		}
		pkg, _, ok = cutLast(pkg, ".")
	}
	return MissingDependency
}
