package report

import "strings"

// toxReader knows what tox says of its environments, and reads no test: those are their runners'. Where environments run in
// parallel, tox shows the output of those alone that failed, so that a run that is all well names no test.
// https://tox.wiki/en/stable/cli_interface.html#tox-run-parallel-(p)
var toxReader = textReader{
	format: "tox",
	wakes:  []string{"congratulations :)", "evaluation failed :(", "commands[0]"},
	start:  func(c *collector) lineReader { return &tox{c: c} },
}

type tox struct {
	c           *collector
	shown       bool // a command was echoed, so that what it printed was seen
	failed, all bool // its last words
}

func (t *tox) line(l string) {
	t.shown = t.shown || strings.Contains(l, ": commands[")
	t.failed = t.failed || strings.HasPrefix(l, "  evaluation failed :(")
	t.all = t.all || strings.HasPrefix(l, "  congratulations :)")
}

func (t *tox) end() {}

// doubt names tox beside the runners whose tests it showed, and where it showed nothing.
func (t *tox) doubt() {
	switch {
	case t.failed && t.c.tests():
		t.c.recognise("tox")
	case t.all && !t.shown:
		t.c.recognise("tox-quiet")
	}
}
