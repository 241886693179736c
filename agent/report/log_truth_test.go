package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// logLabels are what another analyser's own tests expect of a log, and what can be seen in it of the step that failed.
type logLabels struct {
	File       string
	Source     string
	Failed     *string `json:"tr_t_failed"`
	Frameworks *string
	Steps      []struct {
		Line        int
		Cmd, Shell  string
		Code        string
		OtherErrors []string `json:"other_errors"`
	} `json:"failstep"`
}

// logAgreement lists every log on which ReadLog and the labels disagree, with what is said of each by eye.
const logAgreement = "testdata/agreement-logs.md"

func TestLogTruth(t *testing.T) {
	dir := dataDir(t, "ci-logs")
	var logs []logLabels
	if err := json.Unmarshal(read(t, filepath.Join(dir, "truth.json")), &logs); err != nil {
		t.Fatal(err)
	}
	told := logDisagreements(t)
	var mu sync.Mutex
	var all, same = map[string]int{}, map[string]int{}
	t.Run("logs", func(t *testing.T) {
		for _, want := range logs {
			t.Run(want.File, func(t *testing.T) {
				t.Parallel()
				d := compareLog(t, dir, want)
				mu.Lock()
				defer mu.Unlock()
				for what, differs := range d {
					all[what]++
					why, known := told[want.File+" "+what]
					delete(told, want.File+" "+what)
					switch {
					case differs == "":
						same[what]++
						if known {
							t.Errorf("%s agrees by now: take it off %s (%s)", what, logAgreement, why)
						}
					case !known:
						t.Errorf("| %s | %s | |\n%s", want.File, what, differs)
					}
				}
			})
		}
	})
	for rest := range told {
		t.Errorf("%s lists what is not compared: %s", logAgreement, rest)
	}
	for _, what := range []string{"step", "tests", "framework"} {
		t.Logf("%s: %d of %d logs agree", what, same[what], all[what])
	}
}

var logRow = regexp.MustCompile(`(?m)^\| (\S+) \| (step|tests|framework) \| (.+) \|$`)

// logDisagreements are the rows of the file; each has its reason.
func logDisagreements(t *testing.T) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, row := range logRow.FindAllStringSubmatch(string(read(t, logAgreement)), -1) {
		m[row[1]+" "+row[2]] = row[3]
	}
	return m
}

// compareLog gives for each thing that the labels tell of the log how ReadLog differs; empty where it does not.
func compareLog(t *testing.T, dir string, want logLabels) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, want.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, l.Report)
	out := map[string]string{}
	if len(want.Steps) > 0 {
		s := want.Steps[0]
		out["step"] = unlike(
			fmt.Sprintf("line %d exit %s %s\n%s", s.Line, s.Code, s.Shell, s.Cmd),
			fmt.Sprintf("line %d exit %d shell: %s\n%s", l.Step.Line, l.Step.Exit, l.Step.Shell, l.Step.Command))
	}
	if want.Failed != nil {
		out["tests"] = unlike(sortedNames(strings.Split(*want.Failed, "#")), sortedNames(failedNames(l.Report)))
	}
	if want.Frameworks != nil && *want.Frameworks != "" && want.Failed != nil && *want.Failed != "" {
		out["framework"] = missingFramework(*want.Frameworks, l.Report.Format)
	}
	return out
}

func unlike(want, got string) string {
	if want == got {
		return ""
	}
	return fmt.Sprintf("want %.1500s\ngot  %.1500s", want, got)
}

// failedNames are the tests that failed, and the test files that could not be loaded: the labels count them as tests.
func failedNames(r Report) []string {
	var out []string
	for _, f := range r.Findings() {
		file, rest, ok := strings.Cut(f.ID, " > ")
		if ok && strings.ContainsRune(file, '.') && !strings.ContainsRune(file, ' ') {
			f.ID = rest // the labels name no file
		}
		if (f.Kind == Test || f.Kind == Build && strings.Contains(f.ID, "test")) && f.ID != "[exit]" {
			out = append(out, f.ID)
		}
	}
	return out
}

// sortedNames spells the names of both sides alike: only their words are compared, sorted and each once.
func sortedNames(names []string) string {
	var out []string
	for _, n := range names {
		if n = nameWords(n); n != "" {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n")
}

var (
	unittestName = regexp.MustCompile(`^(\S+(?:\[.*\])?) \(([\w.]+)\)$`)
	javaName     = regexp.MustCompile(`^(\S.*)?\(([\w.$]+)\)$`)
	notWords     = regexp.MustCompile(`[^\pL\pN]+`)
	pyEnd        = regexp.MustCompile(`\.py\b`)
)

func nameWords(n string) string {
	if m := unittestName.FindStringSubmatch(n); m != nil {
		n = m[2] + "." + m[1]
	} else if m := javaName.FindStringSubmatch(n); m != nil && (strings.Contains(m[2], ".") || m[2][0] < 'a') {
		n = m[2] + "." + m[1]
	}
	return strings.TrimSpace(notWords.ReplaceAllString(pyEnd.ReplaceAllString(n, ""), " "))
}

// missingFramework says which of the labels frameworks ReadLog did not meet. JUnit is whatever runs it.
func missingFramework(named, format string) string {
	for _, f := range strings.Split(named, "#") {
		if f == "JUnit" {
			f = "gradle surefire ant-junit"
		}
		if !slices.ContainsFunc(strings.Fields(f), func(w string) bool { return strings.Contains(format, w) }) {
			return "want " + named + ", got " + format
		}
	}
	return ""
}
