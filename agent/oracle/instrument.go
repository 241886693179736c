package oracle

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// Instrumentation asks a runner for more through the environment, so that it works through make and npm. What a runner does
// not offer that way is asked by a few lines of ours that it loads: they change what it prints, never what it decides.
//
//go:embed instruments
var instruments embed.FS

// instrumentsDir is the folder that holds those lines, for the runs to read and never to write.
func (o *Oracle) instrumentsDir() (string, error) {
	o.once.Do(func() {
		dir := filepath.Join(o.Scratch, "instruments")
		o.lines, o.linesErr = dir, o.writeInstruments(dir)
	})
	return o.lines, o.linesErr
}

func (o *Oracle) writeInstruments(dir string) error {
	for to, from := range map[string]string{
		"python/sitecustomize.py": "unittest.py", "python/redraft_loaded.py": "loaded.py", "watch-unittest/redraft_loaded.py": "loaded.py", "runner.cjs": "runner.cjs", "node-test.mjs": "node-test.mjs",
		"watch-pytest/redraft_ran.py": "ran.py", "watch-unittest/sitecustomize.py": "ran.py",
	} {
		text, err := instruments.ReadFile("instruments/" + from)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(to))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
			return fmt.Errorf("write what instruments a run: %w", err)
		}
	}
	return nil
}

// heard are the runners that a report names, "go" for the go command's; nil for a report that no reader understood. What
// Node's own runner writes where nobody looks is plain TAP. https://nodejs.org/api/test.html#test-reporters
func (o *Oracle) heard(r report.Report) []string {
	var out []string
	for _, f := range strings.Split(r.Format, "+") {
		switch {
		case f == "exit" || f == "":
		case strings.HasPrefix(f, "go-"):
			out = append(out, "go")
		case f == "tap" && (strings.Contains(o.Check.Run, "node") || o.there(path.Join(slash(o.Check.Dir), "package.json"))):
			out = append(out, "tap", "node-test")
		default:
			out = append(out, f)
		}
	}
	return out
}

// instrument adds to an environment what asks the runners for more. reports is a folder of this run alone, lines that of
// instrumentsDir.
func (o *Oracle) instrument(env *environ, q request, reports, lines string) {
	runners := o.runners
	if len(runners) == 0 && o.Needs.Go != "" {
		runners = []string{"go"} // before anything was heard
	}
	is := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(runners, n) })
	}
	if is("go") && o.Needs.Go != "" {
		flags := env.get("GOFLAGS") + " -json"
		if q.seed != 0 {
			flags += fmt.Sprintf(" -shuffle=%d", q.seed)
		}
		env.set("GOFLAGS", flags)
	}
	if is("pytest") { // https://docs.pytest.org/en/stable/reference/reference.html#envvar-PYTEST_ADDOPTS
		env.add("PYTEST_ADDOPTS", "--junitxml="+filepath.Join(reports, "pytest.xml")+" -p no:cacheprovider")
	}
	if is("unittest") { // https://docs.python.org/3/library/site.html#module-sitecustomize
		env.prepend("PYTHONPATH", filepath.Join(lines, "python"))
	}
	if is("pytest", "unittest") && env.get("PYTHONHASHSEED") == "" {
		env.set("PYTHONHASHSEED", strconv.FormatInt(q.seed&0xffff, 10))
	}
	if is("node-test") {
		env.add("NODE_OPTIONS", o.nodeReporter(reports, lines))
	}
	if is("jest", "vitest", "mocha") { // https://nodejs.org/api/cli.html#node_optionsoptions
		env.add("NODE_OPTIONS", "--require="+filepath.Join(lines, "runner.cjs"))
	}
	if is("rspec") { // https://rspec.info/features/3-13/rspec-core/configuration/read-options-from-file/
		env.add("SPEC_OPTS", "--format progress --format json --out "+filepath.Join(reports, "rspec.json"))
		if q.seed != 0 {
			env.add("SPEC_OPTS", fmt.Sprintf("--order rand:%d", q.seed&0xffff))
		}
	}
	if is("nextest") { // https://nexte.st/docs/configuration/env-vars/
		env.set("NEXTEST_STATUS_LEVEL", "pass")
	}
	if is("ctest") {
		env.set("CTEST_OUTPUT_ON_FAILURE", "1")
	}
	env.set("REDRAFT_REPORTS", reports)
}

// nodeReporter is what has Node's own runner tell a reporter of ours besides those that the check names. There have to be as
// many destinations as reporters, or just one reporter without any. https://nodejs.org/api/test.html#multiple-reporters
func (o *Oracle) nodeReporter(reports, lines string) string {
	asked := o.Check.Run
	if b, err := fs.ReadFile(o.Root, path.Join(slash(o.Check.Dir), "package.json")); err == nil {
		asked += " " + string(b)
	}
	ours := fmt.Sprintf("--test-reporter=%s --test-reporter-destination=%s", filepath.Join(lines, "node-test.mjs"), filepath.Join(reports, "node-test.heard"))
	destinations := strings.Count(asked, "--test-reporter-destination")
	switch strings.Count(asked, "--test-reporter") - destinations {
	case 0:
		ours += " --test-reporter=spec --test-reporter-destination=stdout"
	case 1:
		if destinations == 0 {
			ours += " --test-reporter-destination=stdout"
		}
	}
	return ours
}

// instrumentable says whether more runs can say more than the plain one did.
func (o *Oracle) instrumentable(plain report.Report) bool {
	return o.Needs.Go != "" || len(o.heard(plain)) > 0
}

// modeOf is the mode of the runs whose findings count.
func modeOf(trusted bool) string {
	if trusted {
		return proof.Instrumented
	}
	return proof.Plain
}
