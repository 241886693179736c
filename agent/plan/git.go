package plan

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
)

var (
	// callsGit is git with one of its commands behind it, as a shell writes it or as the list that a script gives.
	callsGit = regexp.MustCompile(`\bgit(?:["'],[ \t]*|[ \t]+)["']?(?:-[^ \t\n]+[ \t]+(?:[^ \t\n-][^ \t\n]*[ \t]+)?)*["']?(?:add|apply|archive|blame|branch|cat-file|check-[a-z-]+|checkout|clean|commit|config|describe|diff|diff-[a-z]+|for-each-ref|grep|hash-object|log|ls-files|ls-tree|merge-base|name-rev|read-tree|reset|restore|rev-list|rev-parse|shortlog|show|show-ref|stash|status|switch|symbolic-ref|tag|update-index|write-tree)\b`)
	// asksGit are tools that ask git what has changed, or by which name a version goes.
	asksGit = regexp.MustCompile(`\b(?:pre-commit|lint-staged|lefthook)\b`)
	// versionsByGit are what builds of Python packages ask git by.
	versionsByGit = regexp.MustCompile(`\b(?:setuptools[-_]scm|hatch-vcs|versioningit|versioneer|poetry-dynamic-versioning|pbr)\b`)
)

var pythonTools = []string{"python", "python3", "pytest", "pip", "pip3", "tox", "nox", "uv", "hatch", "poetry", "pdm", "build"}

// usesGit reports whether a check calls git: its command or one of its scripts names a command of git's, or its Python
// package takes its version from there. It reads words and runs nothing; a yes too many costs a moment, no more.
func usesGit(tree fs.FS, c Check) bool {
	texts := []string{c.Run}
	for _, name := range c.Scripts {
		if b, err := readFile(tree, name, maxScriptSize); err == nil {
			texts = append(texts, string(b))
		}
	}
	if slices.ContainsFunc(texts, func(s string) bool { return callsGit.MatchString(s) || asksGit.MatchString(s) }) {
		return true
	}
	set := Set{Checks: []Check{c}}
	if !slices.ContainsFunc(pythonTools, set.names) && !set.names("make") {
		return false
	}
	return slices.ContainsFunc([]string{"pyproject.toml", "setup.py", "setup.cfg"}, func(name string) bool {
		b, err := readFile(tree, path.Join(c.Dir, name), maxScriptSize)
		return err == nil && versionsByGit.Match(b)
	})
}
