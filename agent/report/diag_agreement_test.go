package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asserted is what a third party says is in one output.
type asserted struct {
	Test, File string
	Count      *int
	Issues     []struct {
		FileName                string
		LineStart, LineEnd      any
		Message, Type, Category string
	}
}

// readHere are the parsers of the linters set whose tools are read here, and the command that the output is given as.
var readHere = map[string]string{
	"AntJavacParserTest": "ant", "JavacParserTest": "mvn compile", "GradleErrorProneParserTest": "gradle build", "HpiCompileParserTest": "mvn compile",
	"BlackParserTest": "black --check .", "CargoClippyParserTest": "cargo clippy", "RustAnalyzerParserTest": "cargo check --message-format=json",
	"ClangParserTest": "clang++ -c", "Gcc4CompilerParserTest": "make", "LlvmLinkerParserTest": "make", "EsLintParserTest": "eslint -f json .",
	"GolangCiLintParserTest": "golangci-lint run", "MyPyAdapterTest": "mypy .", "PyrightParserTest": "pyright --outputjson", "RuboCopParserTest": "rubocop",
	"CookstyleParserTest": "cookstyle -f json", "SarifAdapterTest": "true", "ShellCheckParserTest": "shellcheck -f json x.sh",
}

// Where the readers and the linters set part ways, each looked at by eye.
var lintersDiffer = map[string]string{
	"issue21240.txt AntJavacParserTest":                    "a warning about a class file, with no place in a source",
	"issue4098.txt AntJavacParserTest":                     "a warning about the class path, with no place in a source",
	"issue5868.txt AntJavacParserTest":                     "the file holds Ant's form and Maven's; that parser reads the first, both are read here",
	"issue5868.txt JavacParserTest":                        "the file holds Ant's form and Maven's; that parser reads the second, both are read here",
	"black-report.txt BlackParserTest":                     "`reformatted FILE` is what Black did, and nothing that failed; it is no finding here",
	"cargo-clippy-2018.txt CargoClippyParserTest":          "the one at fs.rs is indented by a space, as in no output of rustc",
	"issue14333.txt ClangParserTest":                       "a build tool put its percentage before the name, and it stays in the name here",
	"cookstyle-report-edge-cases.json CookstyleParserTest": "RuboCop corrected it itself, so that it is no finding",
	"issue69242.txt Gcc4CompilerParserTest":                "the job's name stands before each line, and stays in the file's name here",
	"issue56612.log Gcc4CompilerParserTest":                "every line is indented by a space, as in no output of gcc",
	"issue55221.txt Gcc4CompilerParserTest":                "gcc says one warning several times; that parser counts equal ones once",
	"javac-parallel-pipeline.txt JavacParserTest":          "the step's name stands before each line",
	"javac-timestamps.txt JavacParserTest":                 "a line with a space before its time is read here too",
	"javac-errorprone.txt JavacParserTest":                 "a warning of Error Prone, which goes to another parser there, is javac's here",
	"kotlin-1_8.txt JavacParserTest":                       "Kotlin's compiler is none of those that are promised",
	"kotlin-cmake.txt JavacParserTest":                     "Kotlin's compiler is none of those that are promised; the C++ warning in it is read",
	"versioned-lld.log LlvmLinkerParserTest":               "that parser gives the linker's name as the file; here there is none",
	"issue76141.log LlvmLinkerParserTest":                  "that parser gives the linker's name as the file; here there is none",
}

// errorformatTools are the outputs of the errorformat set that are of tools read here, with their commands.
var errorformatTools = map[string]string{
	"black": "black --check .", "cargo-check": "cargo check -q --message-format=short", "clippy": "cargo clippy -q --message-format=short",
	"eslint": "eslint .", "eslint-compact": "eslint -f compact .", "flake8": "flake8", "golangci-lint": "golangci-lint run", "govet": "go vet ./...",
	"isort": "isort --check .", "mypy": "mypy .", "rubocop": "rubocop", "staticcheck": "staticcheck ./...", "tsc": "yarn tsc", "yamllint": "yamllint -f parsable .",
}

var errorformatDiffers = map[string]string{
	"black": "one failure stands there twice, once rewritten for errorformat",
}

// remarksOf are the diagnostics of a run as they were read, before those of one id become one.
func remarksOf(r Run) []Result {
	s := newStream(r)
	for _, b := range [][]byte{r.Stdout, r.Stderr} {
		s.read(b)
		s.closeText()
		s.others.end()
	}
	s.others.files()
	var rep Report
	s.finish(&rep)
	var out []Result
	for _, f := range s.others.found {
		if f.Kind != Test {
			out = append(out, f.Result)
		}
	}
	for _, b := range s.blocks {
		for _, d := range b.found {
			out = append(out, s.vetResult("", d))
		}
	}
	return out
}

// agreement is one line of the table.
type agreement struct{ set, file, tools, theirs, ours, why string }

// hasPlace reports whether something was found in a file of that name, at that line if one is asserted.
func hasPlace(found []Result, file string, line int) bool {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return slices.ContainsFunc(found, func(r Result) bool {
		return (base == "" || base == "." || base == "-" || path.Base(r.File) == base) && (line == 0 || r.Line == line)
	})
}

func toolsOf(found []Result) string {
	var tools []string
	for _, r := range found {
		tool, _, _ := strings.Cut(r.ID, ":")
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	sort.Strings(tools)
	return strings.Join(tools, ", ")
}

// linters compares with the set of analysis-model.
func linters(t *testing.T) (table []agreement, notRead map[string]string) {
	dir := dataDir(t, "linters")
	var truth []asserted
	if err := json.Unmarshal(read(t, filepath.Join(dir, "truth.json")), &truth); err != nil {
		t.Fatal(err)
	}
	notRead = map[string]string{}
	for _, a := range truth {
		command, ok := readHere[a.Test]
		if !ok {
			notRead[a.File] = strings.TrimSuffix(strings.TrimSuffix(a.Test, "ParserTest"), "AdapterTest")
			continue
		}
		run, b := Run{Exit: 1, Command: command}, read(t, filepath.Join(dir, a.File))
		if strings.HasSuffix(a.File, ".json") && a.Test != "RustAnalyzerParserTest" {
			run.Files = []File{{Name: a.File, Data: b}}
		} else {
			run.Stdout = b
		}
		found := remarksOf(run)
		row := agreement{set: "linters", file: a.File, tools: toolsOf(found), theirs: "?", ours: strconv.Itoa(len(found))}
		same := true
		if a.Count != nil {
			row.theirs = strconv.Itoa(*a.Count)
			same = *a.Count == len(found)
		}
		for _, i := range a.Issues {
			line, _ := strconv.Atoi(fmt.Sprint(i.LineStart))
			if !hasPlace(found, i.FileName, line) {
				same = false
				row.ours += fmt.Sprintf(", none at %s:%d", path.Base(strings.ReplaceAll(i.FileName, `\`, "/")), line)
			}
		}
		row.why = explained(t, lintersDiffer, a.File+" "+a.Test, same)
		table = append(table, row)
	}
	return table, notRead
}

// explained is what the table says of a file; a difference nobody looked at, and a reason no longer needed, are errors.
func explained(t *testing.T, differ map[string]string, name string, same bool) string {
	t.Helper()
	why, known := differ[name]
	switch {
	case same && known:
		t.Errorf("%s agrees by now: take it off the table (%s)", name, why)
	case !same && !known:
		t.Errorf("%s differs and nobody said why", name)
		return "NOT EXPLAINED"
	case same:
		return "same"
	}
	return why
}

// errorformatSet compares with reviewdog's own expectations: "file|line col c level| message".
func errorformatSet(t *testing.T) (table []agreement, notRead []string) {
	dir := dataDir(t, "reports/errorformat")
	inputs, _ := filepath.Glob(filepath.Join(dir, "*.in"))
	for _, in := range inputs {
		tool := strings.TrimSuffix(filepath.Base(in), ".in")
		command, ok := errorformatTools[tool]
		if !ok {
			notRead = append(notRead, tool)
			continue
		}
		var want, got []string
		for _, line := range strings.Split(string(read(t, strings.TrimSuffix(in, ".in")+".ok")), "\n") {
			f := strings.SplitN(line, "|", 3)
			if len(f) == 3 {
				at, _, _ := strings.Cut(f[1], " ")
				n, _ := strconv.Atoi(at)
				want = append(want, fmt.Sprintf("%s:%d", path.Base(f[0]), n))
			}
		}
		found := remarksOf(Run{Stdout: read(t, in), Exit: 1, Command: command})
		for _, r := range found {
			got = append(got, fmt.Sprintf("%s:%d", path.Base(r.File), r.Line))
		}
		sort.Strings(want)
		sort.Strings(got)
		d := cmp.Diff(want, got)
		if d != "" && errorformatDiffers[tool] == "" {
			t.Logf("%s (-ok +read):\n%s", tool, d)
		}
		table = append(table, agreement{
			set: "errorformat", file: tool + ".in", tools: toolsOf(found), theirs: strconv.Itoa(len(want)), ours: strconv.Itoa(len(got)),
			why: explained(t, errorformatDiffers, tool, d == ""),
		})
	}
	return table, notRead
}

const agreementFile = "testdata/agreement-diagnostics.md"

func TestDiagnosticsAgreement(t *testing.T) {
	first, otherTools := linters(t)
	second, otherFormats := errorformatSet(t)
	var b strings.Builder
	b.WriteString("# What others say is in public outputs of compilers and linters\n\nWritten by `go test -run TestDiagnosticsAgreement -update`; the test keeps it true. Issues are counted before those of\none id become one, warnings included.\n\n| set | file | read as | theirs | ours | |\n|---|---|---|---|---|---|\n")
	same := map[string]int{}
	for _, a := range append(first, second...) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", a.set, a.file, a.tools, a.theirs, a.ours, a.why)
		if a.why == "same" {
			same[a.set]++
		}
	}
	fmt.Fprintf(&b, "\nSame: %d of %d of linters, %d of %d of errorformat.\n", same["linters"], len(first), same["errorformat"], len(second))
	t.Logf("same: %d of %d of linters, %d of %d of errorformat", same["linters"], len(first), same["errorformat"], len(second))
	b.WriteString("\nNot read, for their tools are none of those that are promised:\n\n")
	var names []string
	for file, tool := range otherTools {
		names = append(names, fmt.Sprintf("- linters/%s (%s)\n", file, tool))
	}
	for _, tool := range otherFormats {
		names = append(names, "- errorformat/"+tool+".in\n")
	}
	sort.Strings(names)
	b.WriteString(strings.Join(names, ""))
	if *update {
		if err := os.WriteFile(agreementFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(read(t, agreementFile)), b.String()); d != "" {
		t.Errorf("%s is not what is read (-written +read):\n%s", agreementFile, d)
	}
}
