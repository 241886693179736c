package report

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Log is what a continuous integration's own log of a job says: the step that failed, and what its tools said in it.
type Log struct {
	Source string `json:"source"`           // "github", "travis" or "plain" when it is neither's
	Step   Step   `json:"step"`             // the first that failed; if none did, its Line is 0
	Others []Step `json:"others,omitempty"` // further failed steps, at most maxOthers
	Report Report `json:"report"`           // of that step; of the whole log when no step was told apart
	Tail   string `json:"tail"`             // the step's last lines, at most 4 KiB
	Lines  int    `json:"lines"`
	File   string `json:"file,omitempty"` // of a zip: the log that holds the step
}

// Step is one step of a job.
type Step struct {
	Line    int    `json:"line"`              // of the log, from 1, where its end is told; 0 for no step
	Begin   int    `json:"begin,omitempty"`   // line where the step begins
	Command string `json:"command"`           // shell text, or the action that it uses
	Shell   string `json:"shell,omitempty"`   // as the runner printed it, as in "/usr/bin/bash -e {0}"
	Exit    int    `json:"exit"`              // -1 when the log does not tell
	Message string `json:"message,omitempty"` // of the error that ended a step without an exit status
}

const (
	maxOthers  = 20
	maxCommand = 64 << 10 // of a step's shell text
	logChunk   = 256 << 10
)

// ReadLog reads the log of one job as it streams by. Whatever its size, only what the step that failed said is kept, within
// Read's own bounds. The error is r's alone: a log that says nothing of a failure is a Log without a step.
func ReadLog(r io.Reader) (Log, error) {
	l := newLogReader()
	err := splitLines(decoded(r), l.take)
	return l.finish(), err
}

// decoded is text whose byte order mark says that it is UTF-16, as UTF-8; any other stays as it is.
func decoded(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 4096)
	if head, _ := b.Peek(2); bytes.Equal(head, []byte("\xff\xfe")) || bytes.Equal(head, []byte("\xfe\xff")) {
		return transform.NewReader(b, unicode.BOMOverride(transform.Nop))
	}
	return b
}

// splitLines hands over each line without its end. One longer than maxEvent is cut there.
func splitLines(r io.Reader, take func([]byte)) error {
	buf := make([]byte, 0, logChunk)
	skipping := false
	for {
		if len(buf) == cap(buf) {
			if cap(buf) < maxEvent {
				buf = slices.Grow(buf, cap(buf))
			} else { // the rest of this line is skipped
				if !skipping {
					take(buf)
				}
				skipping, buf = true, buf[:0]
			}
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		from, rest := len(buf), buf[:len(buf)+n] // what came before holds no end of a line
		for {
			i := bytes.IndexByte(rest[from:], '\n')
			if i < 0 {
				break
			}
			if !skipping {
				take(rest[:from+i])
			}
			skipping, rest, from = false, rest[from+i+1:], 0
		}
		buf = buf[:copy(buf[:cap(buf)], rest)]
		if err == io.EOF {
			if len(buf) > 0 && !skipping {
				take(buf)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// logReader follows a log from step to step.
type logReader struct {
	log     Log
	n       int // lines so far
	step    Step
	state   stepState
	shown   []string // lines of the command, as the runner shows them
	size    int      // of shown
	s       *stream  // what the tools of the step say; nil outside
	failed  bool     // the report of a failed step is kept already
	errors  []string // "##[error]" lines of the step
	whole   Class    // what the log says of the machine
	runner  bool     // that the runner itself said so
	quiet   []byte   // lines that nobody cared for yet
	asleep  bool     // nobody reads
	asError bool     // the step is to be taken for failed at its end
}

// stepState is where in a step a line stands.
type stepState int

const (
	outside stepState = iota
	inHead            // between "##[group]Run" and its "##[endgroup]"
	inBody
)

func newLogReader() *logReader {
	l := &logReader{log: Log{Source: "plain"}}
	l.open(Step{Begin: 1, Exit: -1})
	return l
}

// open begins to read a step's output.
func (l *logReader) open(s Step) {
	l.step, l.state, l.errors, l.asError = s, inBody, nil, false
	l.s, l.quiet = nil, l.quiet[:0]
	if !l.failed {
		l.s = newStream(Run{Command: s.Command, Exit: -1})
		l.asleep = l.s.idle()
	}
}

// take is one line as it stands in the file.
func (l *logReader) take(raw []byte) {
	l.n++
	line := unstamped(raw)
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		line = unstamped(line)
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.markup(line) {
		return
	}
	if l.state == inHead {
		l.head(line)
		return
	}
	l.body(line)
}

// unstamped is a line without the time that GitHub puts before it, "2022-05-27T21:37:10.8505409Z ".
func unstamped(b []byte) []byte {
	if len(b) < 21 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[0] < '0' || b[0] > '9' {
		return b
	}
	i := bytes.IndexByte(b[:min(len(b), 36)], 'Z')
	if i < 19 {
		return b
	}
	return bytes.TrimPrefix(b[i+1:], []byte(" "))
}

// body is a line that a step's command printed.
func (l *logReader) body(line []byte) {
	if bytes.IndexByte(line, '\r') >= 0 {
		line = shownLast(line)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		line = bytes.ReplaceAll(line, []byte{0}, nil)
	}
	if l.s == nil {
		return
	}
	if line = dropEscapes(line); !l.quietly(line) {
		l.loud(line)
	}
}

// shownLast is what a terminal shows of a line that was written over: its last part that is not blank.
func shownLast(line []byte) []byte {
	for len(line) > 0 {
		i := bytes.LastIndexByte(line, '\r')
		if last := line[i+1:]; i < 0 || len(bytes.TrimSpace(dropEscapes(last))) > 0 {
			return last
		}
		line = line[:i]
	}
	return line
}

func dropEscapes(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	return []byte(clean(string(b)))
}

// closeStep ends the step being read. It is kept if it failed and is the first to.
func (l *logReader) closeStep(failed bool, exit int) {
	if l.state == outside {
		return
	}
	if l.state == inHead { // its description was cut off
		l.endHead()
	}
	l.state = outside
	if !failed {
		l.s = nil
		return
	}
	l.step.Line, l.step.Exit = l.n, exit
	l.step.Message = strings.Join(l.errors, "\n")
	if l.failed {
		if len(l.log.Others) < maxOthers {
			l.log.Others = append(l.log.Others, l.step)
		}
		return
	}
	l.failed = true
	l.log.Step = l.step
	l.unquiet()
	l.s.settle()
	l.log.Report, l.log.Tail = l.s.report(exit)
	l.s = nil
}

// settle ends what was read: readers tell the rest of what they found.
func (s *stream) settle() {
	s.closeText()
	s.others.end()
	s.others.end() // two streams are one here
}

// report is what a settled stream says.
func (s *stream) report(exit int) (Report, string) {
	tail := lastLines(s.tail, maxMessage)
	if exit < 0 {
		exit = 1
	}
	s.run.Exit, s.others.run.Exit = exit, exit
	rep := Report{Exit: exit}
	s.finish(&rep)
	rep.Class = s.class(rep)
	return rep, tail
}

// finish is the log's whole meaning.
func (l *logReader) finish() Log {
	if l.state != outside && l.s != nil {
		l.unquiet()
		l.s.settle()
	}
	if l.state != outside && (l.asError || len(l.errors) > 0 || l.log.Source == "travis" && l.s != nil && l.s.guessedExit() > 0) {
		l.closeStep(true, -1)
	}
	if !l.failed {
		l.noStep()
	}
	l.log.Lines = l.n
	if l.whole != "" && (l.runner || l.whole == DiskFull || l.log.Step.Line == 0 || l.log.Report.Format == "exit") {
		l.log.Report.Class = l.whole
	}
	return l.log
}

// noStep is a log in which no step is told to have failed.
func (l *logReader) noStep() {
	if l.log.Source == "plain" && l.s != nil && l.n > 0 {
		exit := 0
		if len(l.s.others.found) > 0 || len(l.s.pkgs) > 0 || len(l.s.blocks) > 0 {
			exit = l.s.guessedExit()
		}
		if l.log.Report, l.log.Tail = l.s.report(exit); exit == 0 && l.log.Report.Format == "exit" {
			l.log.Report.Exit, l.log.Report.Problems = -1, append(l.log.Report.Problems, "no reader knows this text, and it tells no exit status")
			l.log.Report.Class = cmp.Or(l.log.Report.Class, Infra)
		}
		return
	}
	l.log.Report = Report{Format: "exit", Results: []Result{}, Exit: -1, Class: Infra}
	if l.n == 0 {
		l.log.Report.Problems = []string{"the log is empty: no step ran"}
	} else {
		l.log.Report.Problems = []string{"no step of the log is told to have failed"}
	}
}

// guessedExit is 1 if anything that was read failed: a plain text holds no exit status of its own.
func (s *stream) guessedExit() int {
	if s.others.failed() || slices.ContainsFunc(s.pkgs, func(p *pkg) bool { return p.status == Fail }) || len(s.blocks) > 0 {
		return 1
	}
	return 0
}

// atoi reads a short number at the start of b.
func atoi(b []byte) int {
	end := 0
	for end < len(b) && end < 9 && (b[end] >= '0' && b[end] <= '9' || end == 0 && b[end] == '-') {
		end++
	}
	n, err := strconv.Atoi(string(b[:end]))
	if err != nil {
		return -1
	}
	return n
}
