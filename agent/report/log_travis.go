package report

import (
	"bytes"
	"strings"
)

// travis takes in Travis's own markers, and reports whether the line held nothing else. They stand at the start of a line,
// several of them apart by carriage returns and a terminal's "erase line", with the command or its end behind
// (https://github.com/travis-ci/travis-build/blob/master/lib/travis/build/bash/travis_fold.bash).
func (l *logReader) travis(line []byte) bool {
	markers := bytes.HasPrefix(line, []byte("travis_")) || bytes.Contains(line, []byte("\x1b[0Ktravis_")) || bytes.HasPrefix(line, []byte("\x1b[0K$ "))
	if !markers && l.log.Source != "travis" {
		return false
	}
	if markers && l.log.Source == "plain" && bytes.Contains(line, []byte("travis_")) {
		l.log.Source = "travis"
		l.open(Step{Begin: l.n, Exit: -1})
	}
	if l.log.Source != "travis" {
		return false
	}
	own := markers
	for _, part := range bytes.FieldsFunc(line, func(r rune) bool { return r == '\r' }) {
		text := strings.TrimSpace(clean(string(part[:min(len(part), maxLine)])))
		switch {
		case strings.HasPrefix(text, "travis_fold:start:"), strings.HasPrefix(text, "travis_time:start:"):
			l.travisStart(text)
			own = true
		case strings.HasPrefix(text, "travis_"):
		case strings.HasPrefix(text, `The command "`):
			own = l.travisEnd(text) || own
		case strings.HasPrefix(text, `" exited with `): // of a command of several lines
			own = l.travisEnd(`The command "` + text)
		case strings.HasPrefix(text, "Done. Your build exited with "):
			l.travisDone(atoi([]byte(text[len("Done. Your build exited with "):])))
			own = true
		case strings.HasPrefix(text, "$ ") && markers:
			l.travisCommand(text[2:])
		}
	}
	return own
}

// travisStart is where a command may begin: the one before is over.
func (l *logReader) travisStart(text string) {
	if !strings.HasPrefix(text, "travis_time:start:") {
		return
	}
	if i := strings.Index(text, "$ "); i >= 0 {
		l.travisCommand(text[i+2:])
	}
}

func (l *logReader) travisCommand(command string) {
	l.closeStep(false, 0)
	l.open(Step{Begin: l.n, Command: cut(command, maxCommand), Exit: -1})
}

// travisEnd reads `The command "npm test" exited with 1.` and `The command "npm install" failed and exited with 1 during .`
func (l *logReader) travisEnd(text string) bool {
	command, rest, ok := cutLast(strings.TrimPrefix(text, `The command "`), `exited with `)
	if !ok {
		return false
	}
	command, _, _ = cutLast(command, `"`)
	exit := atoi([]byte(rest))
	if command != "" && l.state != outside {
		l.step.Command = command
	}
	l.closeStep(exit != 0, exit)
	l.open(Step{Begin: l.n + 1, Exit: -1})
	return true
}

// travisDone is the last word. A log that told of no failed command before it has the whole of its last step to blame.
func (l *logReader) travisDone(exit int) {
	if exit > 0 && !l.failed {
		l.closeStep(true, exit)
	}
}
