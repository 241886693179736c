package report

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// maxUnpacked is how much of a zip is unpacked in all, so that a small one cannot keep us for ever.
const maxUnpacked = 4 << 30

// IsZip reports whether a file begins as a zip does.
func IsZip(r io.ReaderAt) bool {
	var head [4]byte
	n, _ := r.ReadAt(head[:], 0)
	return n == 4 && (bytes.Equal(head[:], []byte("PK\x03\x04")) || bytes.Equal(head[:], []byte("PK\x05\x06")))
}

// ReadLogZip reads the zip of a run's logs, one log after the other, and gives the first in which a step failed: the logs of
// whole jobs where the zip has them, else those of their steps in order.
func ReadLogZip(r io.ReaderAt, size int64) (Log, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return Log{}, fmt.Errorf("open the zip: %w", err)
	}
	var first *Log
	var others []Step
	left := int64(maxUnpacked)
	for _, f := range logFiles(z) {
		l, err := readZipped(f, &left)
		if err != nil {
			return Log{}, err
		}
		switch {
		case first == nil || first.Step.Line == 0 && (l.Step.Line > 0 || first.Report.Class == Infra && l.Report.Class != Infra):
			first = &l
		case l.Step.Line > 0 && len(others) < maxOthers:
			others = append(others, l.Step)
		}
	}
	if first == nil {
		return Log{Source: "github", Report: Report{Format: "exit", Results: []Result{}, Exit: -1, Class: Infra, Problems: []string{"the zip holds no log: no step ran"}}}, nil
	}
	first.Others = append(first.Others, others...)
	return *first, nil
}

// logFiles are the logs to read. GitHub writes "0_job.txt" for each job, and in a folder of the job's name "1_step.txt" for
// each of its steps, which say the same again.
func logFiles(z *zip.Reader) []*zip.File {
	var jobs, steps []*zip.File
	for _, f := range z.File {
		name := strings.ReplaceAll(f.Name, `\`, "/")
		switch {
		case !strings.HasSuffix(name, ".txt") && !strings.HasSuffix(name, ".log"), path.Base(name) == "system.txt":
		case !strings.Contains(name, "/"):
			jobs = append(jobs, f)
		default:
			steps = append(steps, f)
		}
	}
	if len(jobs) > 0 {
		steps = jobs
	}
	slices.SortStableFunc(steps, func(a, b *zip.File) int {
		if c := strings.Compare(path.Dir(a.Name), path.Dir(b.Name)); c != 0 {
			return c
		}
		return number(path.Base(a.Name)) - number(path.Base(b.Name))
	})
	return steps
}

func readZipped(f *zip.File, left *int64) (Log, error) {
	rc, err := f.Open()
	if err != nil {
		return Log{}, fmt.Errorf("unpack %s: %w", cut(clean(f.Name), 200), err)
	}
	defer rc.Close()
	counted := &io.LimitedReader{R: rc, N: *left}
	l, err := ReadLog(counted)
	if err != nil {
		return Log{}, fmt.Errorf("unpack %s: %w", cut(clean(f.Name), 200), err)
	}
	if *left = counted.N; *left == 0 {
		return Log{}, fmt.Errorf("unpack %s: the zip holds more than %d GiB", cut(clean(f.Name), 200), maxUnpacked>>30)
	}
	l.File = cut(clean(f.Name), maxID)
	return l, nil
}

// ReadFiles reads reports that were handed over without the run that wrote them: report files, and text that a run printed.
// The colour is what they say, for there is no exit status: what no reader knows has none. The string is the end of the text.
func ReadFiles(files []File) (Report, string) {
	var run Run
	for _, f := range files {
		if known(f) {
			run.Files = append(run.Files, f)
		} else {
			run.Stdout = append(append(run.Stdout, f.Data...), '\n')
		}
	}
	s := newStream(run)
	_ = splitLines(decoded(bytes.NewReader(run.Stdout)), func(line []byte) { s.readLine(dropEscapes(line)) }) // memory does not fail to be read
	s.settle()
	s.others.files()
	exit := 0
	if s.guessedExit() > 0 {
		exit = 1
	}
	rep, tail := s.report(exit)
	if rep.Format == "exit" {
		rep.Format, rep.Results = "", nil
	}
	return rep, tail
}

// known reports whether a reader of report files takes it.
func known(f File) bool {
	return slices.ContainsFunc(fileReaders(), func(r fileReader) bool { return r.knows(f.Name, f.Data[:min(len(f.Data), maxMessage)]) })
}
