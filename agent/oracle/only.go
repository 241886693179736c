package oracle

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// goTest splits a Go test's id into import path and test name: the first element that looks like a test begins it.
var goTest = regexp.MustCompile(`^(.+?)\.((?:Test|Example|Fuzz)(?:[^a-z/][^/]*)?)(/.*)?$`)

// SplitID splits a Go test's id into import path, top-level test and subtest path ("/a/b" or "").
func SplitID(id string) (pkg, test, sub string, ok bool) {
	m := goTest.FindStringSubmatch(id)
	if m == nil {
		return "", "", "", false
	}
	return m[1], m[2], m[3], true
}

// OnlyCommand is the smallest command that shows the findings, or nil when they cannot be run alone: for Go
// `go test -run '^(TestA|TestB)$' ./pkg`, with the flags of the check's own go test that change what is built; for others
// what their runner offers.
func (o *Oracle) OnlyCommand(findings []report.Result) []string {
	if len(findings) == 0 {
		return nil
	}
	if o.Needs.Go == "" || len(o.runners) > 0 && !slices.Contains(o.runners, "go") {
		return o.onlyOther(findings)
	}
	var pkgs, tests []string
	for _, f := range findings {
		pkg, test, _, ok := SplitID(f.ID)
		if !ok {
			return nil
		}
		if p := o.relative(pkg); !slices.Contains(pkgs, p) {
			pkgs = append(pkgs, p)
		}
		if test = regexp.QuoteMeta(test); !slices.Contains(tests, test) {
			tests = append(tests, test)
		}
	}
	slices.Sort(pkgs)
	slices.Sort(tests)
	argv := append([]string{"go", "test"}, buildFlags(o.Check.Run)...)
	return append(append(argv, "-run", "^("+strings.Join(tests, "|")+")$"), pkgs...)
}

// relative is an import path as a path below the module, where it lies in the root's own module.
func (o *Oracle) relative(pkg string) string {
	if o.Module == "" {
		return pkg
	}
	if pkg == o.Module {
		return "."
	}
	if rest, ok := strings.CutPrefix(pkg, o.Module+"/"); ok {
		return "./" + rest
	}
	return pkg
}

var buildFlag = regexp.MustCompile(`(?:^|\s)(-(?:tags|vet|ldflags|gcflags)[= ]\S+|-race|-short)(?:\s|$)`)

// buildFlags are the flags of the check's own go test that change what is built or run, for a shorter command.
func buildFlags(run string) []string {
	if !strings.Contains(run, "go test") {
		return nil
	}
	var out []string
	for rest := run; ; {
		m := buildFlag.FindStringSubmatchIndex(rest)
		if m == nil {
			return out
		}
		out = append(out, strings.Fields(rest[m[2]:m[3]])...)
		rest = rest[m[3]:]
	}
}

// Only judges the given findings alone. Its green is a hint, never a proof. ok is false when the findings cannot be
// run alone; then the whole check is to be judged.
func (o *Oracle) Only(ctx context.Context, dir, cache string, findings []report.Result) (v Verdict, ok bool, err error) {
	argv := o.OnlyCommand(findings)
	if argv == nil {
		return Verdict{}, false, nil
	}
	r, err := o.run(ctx, request{
		phase: "cheap", mode: proof.Instrumented, dir: dir, sub: o.Check.Dir, argv: argv, cache: cache, asCheck: true,
	})
	if err != nil {
		return Verdict{}, false, err
	}
	v = o.placed(verdict([]Run{r}))
	if v.Color == report.Unknown && v.Class == report.NoTests {
		return v, false, nil // the short command does not reach these tests
	}
	if argv[0] != "go" && v.Color != report.Green && !slices.ContainsFunc(findings, func(f report.Result) bool { return slices.Contains(v.Failed, f.ID) }) {
		return v, false, nil // red for a reason of its own, as a tool that only the check's own command finds
	}
	return v, true, nil
}
