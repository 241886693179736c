package oracle

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// alone knows the smallest command of a runner that shows tests. Nil where they cannot be run alone.
type alone struct {
	runners []string
	argv    func(o *Oracle, ids []string) []string
}

var alones = []alone{
	{[]string{"pytest"}, func(o *Oracle, ids []string) []string {
		if !all(ids, func(id string) bool { return strings.Contains(id, ".py::") }) {
			return nil
		}
		return append(o.program("pytest", "python3 -m pytest", "python -m pytest", "pytest"), ids...)
	}},
	{[]string{"unittest"}, func(o *Oracle, ids []string) []string {
		if !all(ids, func(id string) bool { return dotted.MatchString(id) }) {
			return nil
		}
		return append(o.program("python3 -m unittest", "python3 -m unittest", "python -m unittest"), ids...)
	}},
	{[]string{"node-test"}, nodeAlone},
	{[]string{"jest"}, scriptAlone([]string{"npx", "--no-install", "jest"}, "-t", " ")},
	{[]string{"vitest"}, scriptAlone([]string{"npx", "--no-install", "vitest", "run"}, "-t", " ")},
	{[]string{"mocha"}, scriptAlone([]string{"npx", "--no-install", "mocha"}, "-g", " ")},
	{[]string{"nextest"}, nextestAlone},
	{[]string{"cargo-test"}, cargoAlone},
	{[]string{"surefire"}, mavenAlone},
	{[]string{"gradle"}, gradleAlone},
	{[]string{"rspec"}, rspecAlone},
}

var dotted = regexp.MustCompile(`^\w+(?:\.\w+){2,}$`)

// onlyOther is OnlyCommand for every runner but Go's. There must be one runner, and tests alone to be run.
func (o *Oracle) onlyOther(findings []report.Result) []string {
	var ids []string
	for _, f := range findings {
		if f.Kind != report.Test || strings.HasPrefix(f.ID, "-") || strings.Contains(f.ID, "[") && !strings.Contains(f.ID, "::") {
			return nil
		}
		if id := f.ID; slices.Contains(o.runners, "tap") && !strings.HasPrefix(id, f.File+" > ") {
			f.ID = f.File + " > " + id // plain TAP names no file
		}
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	for _, a := range alones {
		if slices.ContainsFunc(a.runners, func(r string) bool { return slices.Contains(o.runners, r) }) {
			return a.argv(o, ids)
		}
	}
	return nil
}

func all(ids []string, ok func(string) bool) bool {
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !ok(id) })
}

// program is how the check itself starts a tool, of the ways given, else the first of them.
func (o *Oracle) program(otherwise string, ways ...string) []string {
	for _, w := range ways {
		if strings.Contains(o.Check.Run, w) {
			return strings.Fields(w)
		}
	}
	return strings.Fields(otherwise)
}

// suites splits the id "file > suite > name" of tests that lie in one file; ok is false where they lie in several.
func suites(ids []string) (file string, names [][]string, ok bool) {
	for _, id := range ids {
		parts := strings.Split(id, " > ")
		if len(parts) < 2 || file != "" && file != parts[0] || strings.HasPrefix(parts[0], "-") {
			return "", nil, false
		}
		file = parts[0]
		names = append(names, parts[1:])
	}
	return file, names, file != ""
}

// pattern matches the names whole.
func pattern(names []string) string {
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	if len(names) == 1 {
		return "^" + names[0] + "$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// scriptAlone is for runners that match a test's whole name, its suites' names before it.
func scriptAlone(tool []string, flag, sep string) func(*Oracle, []string) []string {
	return func(_ *Oracle, ids []string) []string {
		file, names, ok := suites(ids)
		if !ok {
			return nil
		}
		var whole []string
		for _, n := range names {
			whole = append(whole, strings.Join(n, sep))
		}
		return append(slices.Clone(tool), file, flag, pattern(whole))
	}
}

// nodeAlone names files alone and the innermost names: what Node makes of suites in a pattern differs from release to release.
// https://nodejs.org/api/test.html#filtering-tests-by-name
func nodeAlone(o *Oracle, ids []string) []string {
	file, names, ok := suites(ids)
	if _, test := o.Policy.Protected(file); !ok || !test || path.Ext(file) == "" {
		return nil
	}
	argv := append(append([]string{"node"}, loaders(o.Check.Run)...), "--test")
	if all(ids, func(id string) bool { return strings.Count(id, " > ") == 1 }) {
		var last []string
		for _, n := range names {
			last = append(last, n[0])
		}
		argv = append(argv, "--test-name-pattern="+pattern(last))
	}
	return append(argv, file)
}

// loaders are the flags with which a plain command of node loads what its tests are written in.
// https://nodejs.org/api/cli.html#--importmodule
func loaders(run string) (flags []string) {
	words := strings.Fields(run)
	if len(words) == 0 || words[0] != "node" || strings.ContainsAny(run, "&|;<>$`'\"\n") {
		return nil
	}
	for i, w := range words {
		name, _, joined := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--experimental-") || joined && (name == "--import" || name == "--require" || name == "--loader"):
			flags = append(flags, w)
		case i+1 < len(words) && (w == "--import" || w == "--require" || w == "-r" || w == "--loader"):
			flags = append(flags, w, words[i+1])
		}
	}
	return flags
}

// cargoAlone is for tests of one program: of one file of tests, or of the library. https://doc.rust-lang.org/cargo/commands/cargo-test.html
func cargoAlone(o *Oracle, ids []string) []string {
	var in string
	var names []string
	for _, id := range ids {
		c, name, ok := strings.Cut(id, "::")
		if !ok || in != "" && in != c || strings.ContainsAny(id, " -") {
			return nil
		}
		in, names = c, append(names, name)
	}
	argv := []string{"cargo", "test"}
	if strings.Contains(o.Check.Run, "--offline") {
		argv = append(argv, "--offline")
	}
	if o.there(path.Join(slash(o.Check.Dir), "tests", in+".rs")) {
		argv = append(argv, "--test", in)
	} else if o.there(path.Join(slash(o.Check.Dir), "src", "lib.rs")) {
		argv = append(argv, "--lib")
	} else {
		return nil
	}
	return append(append(argv, "--", "--exact"), names...)
}

// nextestAlone is cargoAlone with nextest's own command. https://nexte.st/docs/running/#passing-arguments-to-test-binaries
func nextestAlone(o *Oracle, ids []string) []string {
	argv := cargoAlone(o, ids)
	if len(argv) < 2 {
		return nil
	}
	return slices.Concat([]string{"cargo", "nextest", "run"}, argv[2:])
}

// there says whether the root has a file.
func (o *Oracle) there(name string) bool {
	f, err := o.Root.Open(name)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// mavenAlone is "Class#a+b,Other#c". https://maven.apache.org/surefire/maven-surefire-plugin/examples/single-test.html
func mavenAlone(o *Oracle, ids []string) []string {
	by := map[string][]string{}
	var classes []string
	for _, id := range ids {
		i := strings.LastIndexByte(id, '.')
		if i < 0 || !dotted.MatchString(id) && !strings.Contains(id, "$") {
			return nil
		}
		if by[id[:i]] == nil {
			classes = append(classes, id[:i])
		}
		by[id[:i]] = append(by[id[:i]], id[i+1:])
	}
	var tests []string
	for _, c := range classes {
		tests = append(tests, c+"#"+strings.Join(by[c], "+"))
	}
	argv := append(o.program("mvn", "./mvnw", "mvn"), "-B", "-Dtest="+strings.Join(tests, ","))
	if strings.Contains(o.Check.Run, " -o") || strings.Contains(o.Check.Run, "--offline") {
		argv = append(argv, "-o")
	}
	return append(argv, "test")
}

// gradleAlone is the check's own command with names of tests, where it runs the test task and nothing else.
// https://docs.gradle.org/current/userguide/java_testing.html#test_filtering
func gradleAlone(o *Oracle, ids []string) []string {
	argv := strings.Fields(o.Check.Run)
	tool := path.Base(argv[0])
	if tool != "gradle" && tool != "gradlew" || strings.ContainsAny(o.Check.Run, "&|;<>$`'\"\n") || !all(ids, dotted.MatchString) {
		return nil
	}
	for _, word := range argv[1:] {
		if !strings.HasPrefix(word, "-") && word != "test" {
			return nil
		}
	}
	for _, id := range ids {
		argv = append(argv, "--tests", id)
	}
	return argv
}

// rspecAlone names a file and whole descriptions. https://rspec.info/features/3-13/rspec-core/command-line/example-option/
func rspecAlone(o *Oracle, ids []string) []string {
	var file string
	var names []string
	for _, id := range ids {
		f, name, ok := strings.Cut(id, " > ")
		if !ok || file != "" && f != file || strings.HasPrefix(f, "-") || !strings.HasSuffix(f, ".rb") {
			return nil
		}
		file, names = f, append(names, "-e", name)
	}
	return append(append(o.program("rspec", "bundle exec rspec", "bin/rspec", "rspec"), file), names...)
}
