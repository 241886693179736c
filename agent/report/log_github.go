package report

import (
	"bytes"
	"strings"
)

// markup takes in a line that is the runner's own and reports whether it was. GitHub's is described at
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions; in logs "##[" stands for "::".
func (l *logReader) markup(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	switch line[0] {
	case '#':
		return bytes.HasPrefix(line, []byte("##[")) && l.command(line[len("##["):])
	case 'P':
		if bytes.Equal(line, []byte("Post job cleanup.")) && l.log.Source == "github" {
			l.endOfSteps()
			return true
		}
	case ':':
		l.annotation(line)
	case 't', 0x1b, 'T', 'D':
		return l.travis(line)
	}
	return false
}

// command is a line "##[name]rest".
func (l *logReader) command(line []byte) bool {
	name, rest, ok := bytes.Cut(line, []byte("]"))
	if !ok {
		return false
	}
	switch string(name) {
	case "group":
		if run, ok := bytes.CutPrefix(rest, []byte("Run ")); ok {
			l.begin(string(run))
			return true
		}
		return l.log.Source == "plain" || l.state != inBody
	case "endgroup":
		if l.state == inHead {
			l.endHead()
		}
		return true
	case "error":
		return l.errorLine(rest)
	case "command", "debug", "section", "add-matcher", "remove-matcher":
		return true
	}
	return false // warnings and notices are what a tool said
}

// begin is "##[group]Run COMMAND": the step before ends there, and what it is follows.
func (l *logReader) begin(first string) {
	l.endOfSteps()
	l.log.Source = "github"
	l.step = Step{Begin: l.n, Command: first, Exit: -1}
	l.state, l.shown, l.size, l.errors, l.asError = inHead, nil, 0, nil, false
}

// endOfSteps ends a step that did not say how it ended. One that reported an error of its own, as actions do, failed.
func (l *logReader) endOfSteps() {
	l.closeStep(l.asError, -1)
}

// head is a line of a step's description: its command in colour, "shell: …", "with:", "env:".
func (l *logReader) head(line []byte) {
	if text, ok := bytes.CutPrefix(line, []byte("\x1b[36;1m")); ok {
		text = bytes.TrimSuffix(text, []byte("\x1b[0m"))
		if l.size += len(text) + 1; l.size < maxCommand {
			l.shown = append(l.shown, string(text))
		}
		return
	}
	if shell, ok := bytes.CutPrefix(line, []byte("shell: ")); ok && l.step.Shell == "" {
		l.step.Shell = cut(clean(string(shell)), maxID)
	}
}

func (l *logReader) endHead() {
	if len(l.shown) > 0 {
		l.step.Command = strings.Join(l.shown, "\n")
	}
	l.step.Command = cut(clean(l.step.Command), maxCommand)
	l.open(l.step)
}

// errorLine is "##[error]…": the runner's word on the step, or what a tool or an action reported.
func (l *logReader) errorLine(rest []byte) bool {
	const done = "Process completed with exit code "
	if code, ok := bytes.CutPrefix(rest, []byte(done)); ok && l.log.Source == "github" {
		l.closeStep(true, atoi(code))
		return true
	}
	text := cut(clean(string(rest)), maxMessage)
	l.machineError(text)
	if l.log.Source == "github" && l.state != outside {
		l.asError = l.asError || l.step.Shell == "" // an action that fails says so and no more
		if len(l.errors) < 10 {
			l.errors = append(l.errors, cut(text, 400))
		}
	}
	l.body(rest) // a tool's own words, as those that a problem matcher caught
	return true
}

// annotation is a workflow command that a tool printed itself, "::error file=a.go,line=3,col=1,title=t::message".
func (l *logReader) annotation(line []byte) {
	rest, ok := bytes.CutPrefix(line, []byte("::error "))
	if !ok || l.s == nil {
		return
	}
	props, message, ok := strings.Cut(string(rest[:min(len(rest), maxLine)]), "::")
	if !ok {
		return
	}
	l.s.others.annotated(props, message)
}

// annotated keeps an error that names a file, under the tool's own title.
func (c *collector) annotated(props, message string) {
	res := Result{Kind: Lint, Status: Fail, Class: LintClass, Message: unescapeCommand(message)}
	title := ""
	for _, p := range strings.Split(props, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		value = unescapeCommand(value)
		switch key {
		case "file":
			res.File = value
		case "line":
			res.Line = number(value)
		case "title":
			title = value
		}
	}
	if res.File == "" {
		return
	}
	if title == "" {
		title = "error"
	}
	res.ID = "annotation:" + cut(title, 200) + ":" + c.places.relative(res.File)
	c.add("annotation", res)
}

// unescapeCommand undoes how workflow commands spell what would end them
// (https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts).
func unescapeCommand(s string) string {
	return strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",").Replace(s)
}

// machine looks for what a command's output says of the machine.
func (l *logReader) machine(line []byte) {
	if l.whole == "" && bytes.Contains(line, []byte("o space left on device")) {
		l.whole = DiskFull
	}
}

// runnerWords are what the runner says when it, and not the code, failed
// (https://github.com/actions/runner/blob/main/src/Runner.Worker).
var runnerWords = []struct {
	word  string
	class Class
}{
	{"No space left on device", DiskFull},
	{"There is not enough space on the disk", DiskFull},
	{"The runner has received a shutdown signal", Infra},
	{"The hosted runner lost communication with the server", Infra},
	{"lost communication with the server", Infra},
	{"The operation was canceled", Infra},
	{"The job was canceled", Infra},
	{"The job running on runner", Timeout},
	{"has exceeded the maximum execution time", Timeout},
	{"has timed out after ", Timeout},
	{"The job was not started because", Infra},
	{"was not acquired by Runner", Infra},
	{"account payments have failed", Infra},
	{"spending limit needs to be increased", Infra},
	{"No runner matching the specified labels", Infra},
	{"Artifact storage quota has been hit", Infra},
	{"API rate limit exceeded", Infra},
	{"Unable to resolve action", Infra},
	{"Failed to download action", Infra},
	{"Docker pull failed", Infra},
	{"received request to deprovision", Infra},
	{"exit code 137", OutOfMemory},
}

func (l *logReader) machineError(text string) {
	for _, w := range runnerWords {
		if strings.Contains(text, w.word) {
			if l.whole == "" || !l.runner {
				l.whole = w.class
			}
			l.runner = w.class != OutOfMemory
			return
		}
	}
}
