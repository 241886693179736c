package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
)

// explainCmd sees the red and says what it is; it repairs nothing.
func (a *app) explainCmd() *cobra.Command {
	var f fixFlags
	var log string
	var reports []string
	cmd := &cobra.Command{
		Use:   "explain-red",
		Short: "say what is red: which test, where, got and want, and the smallest command",
		Long: `explain-red runs the check on HEAD in a jail, k times, and says what is red. It repairs and writes nothing.

With --log it runs nothing and reads the log of a job instead: the text that GitHub or Travis keeps of it, or the zip of a
run's logs. It finds the step that failed and says what its tools said. With --report it reads what a tool left or printed:
JUnit XML, TRX, TAP, SARIF and the like, or the text of a run. A file named - is standard input.

Exit: 0 red and explained, 1 not red or not judged, 2 usage, 3 our side failed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if log != "" || len(reports) > 0 {
				return a.explainFiles(cmd.InOrStdin(), log, reports)
			}
			dir, err := os.Getwd()
			if err != nil {
				return ourSide(err)
			}
			return a.explain(cmd, dir, f)
		},
	}
	cmd.Flags().StringVar(&f.check, "check", "", "the command that is red (found in the repository if empty)")
	cmd.Flags().StringVar(&f.sandbox, "sandbox", "", "sandbox tier: bubblewrap, landlock, seatbelt or none")
	cmd.Flags().StringVar(&f.evidence, "evidence", "", "folder for the evidence")
	cmd.Flags().StringVar(&log, "log", "", "read this log of a job, or zip of a run's logs, instead of running anything")
	cmd.Flags().StringArrayVar(&reports, "report", nil, "read this report of a tool instead of running anything (may be repeated)")
	cmd.MarkFlagsMutuallyExclusive("log", "report")
	for _, own := range []string{"check", "sandbox", "evidence"} {
		cmd.MarkFlagsMutuallyExclusive("log", own)
		cmd.MarkFlagsMutuallyExclusive("report", own)
	}
	return cmd
}

// explained is what explain-red prints with --json.
type explained struct {
	Verdict  string          `json:"verdict"`
	Class    string          `json:"class"`
	Command  string          `json:"command"`
	Findings []trace.Finding `json:"findings"`
	Step     *report.Step    `json:"step,omitempty"` // with --log: the one that failed
	Others   []report.Step   `json:"others,omitempty"`
	Log      string          `json:"log,omitempty"` // with --log: the file of the zip that holds the step
	Format   string          `json:"format,omitempty"`
	Text     string          `json:"text,omitempty"` // last lines of what no reader understood
	Note     string          `json:"note,omitempty"` // why there is nothing to say
	Next     string          `json:"next,omitempty"`
	more
}

func (a *app) explain(cmd *cobra.Command, dir string, f fixFlags) error {
	ui, out, err := a.see(cmd.Context(), dir, f)
	if err != nil {
		return err
	}
	e := explained{Verdict: "unknown", Findings: []trace.Finding{}}
	if ui.see != nil {
		e.Verdict, e.Class, e.Findings = ui.see.Color, ui.see.Class, append(e.Findings, ui.see.Findings...)
		e.Command = ui.see.Command
	}
	if out.Stop.Reason == trace.Flaky {
		e.Verdict = "flaky"
	}
	e.more = foundIn(out.Evidence)
	if a.json {
		a.printJSON(e)
	} else {
		a.showExplained(e, out.Stop)
	}
	if e.Verdict != "red" {
		return stopped()
	}
	return nil
}

// see runs a job that sees the red of HEAD, says what it is, and stops; with perceive.Coverage in on it sees what the failing tests run too.
func (a *app) see(ctx context.Context, dir string, f fixFlags, on ...string) (*screen, job.Outcome, error) {
	f.tiers, f.seed = "mechanic", 1
	s, err := a.begin(ctx, dir, f)
	if err != nil {
		return nil, job.Outcome{}, err
	}
	s.tiers = []string{} // see, then stop
	ui := a.newScreen()
	ui.quiet = true
	j := s.job(a, f, "explain-red", ui.event)
	j.Spec.Mode, j.Bisect, j.Spec.On = trace.ModeDiagnose, true, on
	out, err := j.Do(ctx)
	if err != nil {
		return ui, out, a.endOf(ctx, out, err)
	}
	return ui, out, nil
}

func (a *app) showExplained(e explained, stop trace.Stop) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", e.Verdict, class(e.Class))
	for _, f := range e.Findings {
		b.WriteString(trace.FindingText(f))
	}
	if e.Verdict == "red" {
		fmt.Fprintf(&b, "\nSmallest command: %s\n", e.Command)
	} else {
		fmt.Fprintf(&b, "%s\n", stop.Text)
		if stop.Next != "" {
			fmt.Fprintf(&b, "Next: %s\n", stop.Next)
		}
	}
	b.WriteString(e.more.text())
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

// maxReport is how much of one report file is read: they are read whole.
const maxReport = 256 << 20

// explainFiles says what files tell of a red.
func (a *app) explainFiles(stdin io.Reader, log string, reports []string) error {
	var e explained
	var err error
	if log != "" {
		e, err = explainLog(stdin, log)
	} else {
		e, err = explainReports(stdin, reports)
	}
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(e)
	} else {
		a.showFiles(e)
	}
	if e.Verdict != "red" {
		return stopped()
	}
	return nil
}

// explainLog says what a job's log tells.
func explainLog(stdin io.Reader, name string) (explained, error) {
	l, err := readLog(stdin, name)
	if err != nil {
		return explained{}, err
	}
	return logExplained(l), nil
}

// readLog reads a job's log, or the zip of a run's logs.
func readLog(stdin io.Reader, name string) (l report.Log, err error) {
	if name == "-" {
		if l, err = report.ReadLog(stdin); err != nil {
			return l, ourSide(fmt.Errorf("read the log: %w", err))
		}
		return l, nil
	}
	f, size, err := openFile(name)
	if err != nil {
		return l, usage("read the log: %w", err)
	}
	defer f.Close()
	if report.IsZip(f) {
		l, err = report.ReadLogZip(f, size)
	} else {
		l, err = report.ReadLog(f)
	}
	if err != nil {
		return l, usage("read the log %s: %w", name, err)
	}
	return l, nil
}

// openFile opens a file that is not a folder.
func openFile(name string) (*os.File, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func logExplained(l report.Log) explained {
	e := reportExplained(l.Report, l.Tail)
	e.Log, e.Others = l.File, l.Others
	if l.Step.Line > 0 {
		e.Step, e.Command = &l.Step, l.Step.Command
	} else if l.Report.Format == "exit" && l.Report.Exit < 0 {
		e.Note = strings.Join(l.Report.Problems, "\n")
		if l.Report.Class == report.Infra {
			e.Next = ""
		}
		if l.Source == "plain" {
			e.Next = "Give the log of the job, or a report that a reader knows."
		}
	}
	return e
}

// reportExplained turns a report into what is shown of it.
func reportExplained(r report.Report, tail string) explained {
	e := explained{Verdict: r.Color().String(), Class: string(r.Class), Findings: []trace.Finding{}, Format: r.Format, Next: r.Class.NextSafeAction()}
	if r.Class == "" {
		e.Next = ""
	}
	for _, f := range r.Findings() {
		e.Findings = append(e.Findings, trace.Finding{
			ID: f.ID, Kind: string(f.Kind), Status: string(f.Status), File: f.File, Line: f.Line, Got: f.Got, Want: f.Want, Message: f.Message,
		})
	}
	if r.Format == "" {
		e.Text, e.Next = tail, "Give a report that a reader knows, or the log of the job that wrote it."
	}
	if r.Format == "exit" {
		e.Text, e.Findings = tail, []trace.Finding{}
		if e.Verdict == "red" {
			e.Next = "Read the last lines; no reader knows this output."
		}
	}
	return e
}

func explainReports(stdin io.Reader, names []string) (explained, error) {
	files, err := readReports(stdin, names)
	if err != nil {
		return explained{}, err
	}
	r, tail := report.ReadFiles(files)
	return reportExplained(r, tail), nil
}

func readReports(stdin io.Reader, names []string) (files []report.File, err error) {
	for _, name := range names {
		data, err := readReport(stdin, name)
		if err != nil {
			return nil, usage("read the report: %w", err)
		}
		files = append(files, report.File{Name: filepath.ToSlash(name), Data: data})
	}
	return files, nil
}

func readReport(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, _, err := openFile(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err == nil && len(data) > maxReport {
		err = fmt.Errorf("%s is larger than %d MiB", name, maxReport>>20)
	}
	return data, err
}

// maxShown is how many findings a person is shown at once.
const maxShown = 20

// showFiles is what a person sees of a log or a report.
func (a *app) showFiles(e explained) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", e.Verdict, class(e.Class))
	if e.Step != nil {
		b.WriteString(stepText(*e.Step, e.Log))
	}
	for i, f := range e.Findings {
		if i == maxShown {
			fmt.Fprintf(&b, "\n%d more findings: --json lists them all.\n", len(e.Findings)-i)
			break
		}
		b.WriteString("\n" + trace.FindingText(f))
	}
	if e.Note != "" {
		fmt.Fprintf(&b, "%s\n", e.Note)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, "\nNo reader knows more; the last lines are:\n%s\n", shifted(lastOf(e.Text, 15)))
	}
	for _, s := range e.Others {
		fmt.Fprintf(&b, "\nAnother step failed, line %d: %s\n", s.Line, firstLine(s.Command))
	}
	if e.Next != "" {
		fmt.Fprintf(&b, "\nNext: %s\n", e.Next)
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

// stepText says which step failed and how.
func stepText(s report.Step, file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The step that failed ends on line %d", s.Line)
	if file != "" {
		fmt.Fprintf(&b, " of %s", file)
	}
	if s.Exit >= 0 {
		fmt.Fprintf(&b, " with exit status %d", s.Exit)
	}
	b.WriteString(".\n")
	if s.Command != "" {
		b.WriteString(shifted(s.Command) + "\n")
	}
	if s.Shell != "" {
		fmt.Fprintf(&b, "  (shell: %s)\n", s.Shell)
	}
	if s.Message != "" {
		b.WriteString(shifted(lastOf(s.Message, 5)) + "\n")
	}
	return b.String()
}

func shifted(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// lastOf are the last n lines.
func lastOf(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
