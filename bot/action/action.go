// Package action is the bot inside a job of a GitHub Actions workflow: inputs and the runner's words become an event, and
// what came of it becomes outputs, a summary and annotations. It leaves deciding, repairing and publishing to bot, and
// finding models and machines to its caller. Whatever is printed between two commands of ours is printed with the runner's
// commands stopped, since it may be anyone's text.
package action

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/redraft-dev/redraft/agent/redact"
)

// Action speaks to the runner of the job that this process is a step of. Its fields are set before the first call.
type Action struct {
	getenv func(string) string
	clean  *redact.Cleaner
	inputs map[string]string

	mu      sync.Mutex
	out     io.Writer
	line    strings.Builder // what was written since the last newline
	token   string          // that lets the runner listen again; "" while it listens
	tool    *githubactions.Action
	remarks map[string]int // annotations by level
}

// New makes an Action. Environment variables come from getenv, commands and words go to out. Nothing is printed yet.
func New(getenv func(string) string, out io.Writer) *Action {
	a := &Action{getenv: getenv, out: out, clean: redact.New(), remarks: map[string]int{}}
	a.tool = githubactions.New(githubactions.WithWriter(out), githubactions.WithGetenv(a.env))
	return a
}

// env is the environment as the toolkit looks at it: inputs come as one JSON object, since a composite action's are not in
// the environment and their names are no names of variables.
func (a *Action) env(name string) string {
	if input, ok := strings.CutPrefix(name, "INPUT_"); ok {
		return a.inputs[strings.ToLower(input)]
	}
	return a.getenv(name)
}

// Hide keeps texts out of everything that leaves from now on, and tells the runner to do so as well.
func (a *Action) Hide(c *redact.Cleaner, secrets ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clean = c
	for _, s := range secrets {
		if strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\r\n") { // a mask of several lines hides none of them
			a.listen()
			a.tool.AddMask(s)
		}
	}
}

// Write prints words, cleaned line by line; the runner takes none of them for a command.
func (a *Action) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.line.Write(p)
	text := a.line.String()
	whole, rest := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		whole, rest = text[:i+1], text[i+1:]
	}
	if len(rest) > longestLine { // nothing that anybody reads
		whole, rest = text+"\n", ""
	}
	a.line.Reset()
	a.line.WriteString(rest)
	if whole == "" {
		return len(p), nil
	}
	a.mute()
	if _, err := io.WriteString(a.out, a.clean.Log(whole)); err != nil {
		return 0, fmt.Errorf("write to the job's log: %w", err)
	}
	return len(p), nil
}

const longestLine = 64 << 10

// mute makes the runner take nothing for a command until listen says the word.
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions#stopping-and-starting-workflow-commands
func (a *Action) mute() {
	if a.token == "" {
		a.token = rand.Text()
		a.tool.IssueCommand(&githubactions.Command{Name: "stop-commands", Message: a.token})
	}
}

func (a *Action) listen() {
	if a.line.Len() > 0 {
		a.mute()
		fmt.Fprintln(a.out, a.clean.Log(a.line.String()))
		a.line.Reset()
	}
	if a.token != "" {
		a.tool.IssueCommand(&githubactions.Command{Name: a.token})
		a.token = ""
	}
}

// Level is how loud an annotation is.
type Level string

const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Failure Level = "error"
)

// mostRemarks are the annotations of one level that a step may have; GitHub drops the rest.
const mostRemarks = 10

// longestRemark bounds an annotation's text.
const longestRemark = 4000

// Remark is an annotation.
type Remark struct {
	Title string // after "redraft: "; "redraft" alone if empty
	Text  string
	File  string // below the repository's root; none if empty
	Line  int    // from 1
}

// Say makes an annotation, on one line of the log whatever its text holds.
func (a *Action) Say(level Level, r Remark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.remarks[string(level)]++; a.remarks[string(level)] > mostRemarks {
		return
	}
	a.listen()
	fields := map[string]string{"title": strings.TrimSuffix("redraft: "+redact.Clip(a.clean.Terminal(r.Title), 200), ": ")}
	if r.File != "" && r.Line > 0 {
		fields["file"], fields["line"] = a.clean.Terminal(r.File), fmt.Sprint(r.Line)
	}
	a.tool.IssueCommand(&githubactions.Command{Name: string(level), Properties: fields, Message: redact.Clip(a.clean.Terminal(r.Text), longestRemark)})
}

// Close lets the runner listen again.
func (a *Action) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listen()
}
