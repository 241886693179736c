package bot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/trace"
)

// verb is what a command asks for.
type verb string

const (
	noVerb    verb = ""
	toStart   verb = "start" // /redraft alone
	toRetry   verb = "retry"
	toAccept  verb = "accept"
	toStop    verb = "stop"
	toExplain verb = "explain"

	toDiagnose verb = "diagnose"
)

// mostWords are the characters that /redraft retry may carry.
const mostWords = 200

// command is what a comment asks for.
type command struct {
	verb  verb
	words string // of retry: data, on one line
	sha   string // of accept: twelve hex digits
}

var (
	acceptCommand = regexp.MustCompile(`^/redraft accept ([0-9a-f]{12})$`)
	retryCommand  = regexp.MustCompile(`^/redraft retry(?: (.*))?$`)
)

// parseCommand reads a comment that is nothing but a command; any other comment has no verb.
func parseCommand(comment string) command {
	comment = strings.TrimSpace(comment)
	switch comment {
	case "/redraft":
		return command{verb: toStart}
	case "/redraft stop":
		return command{verb: toStop}
	case "/redraft diagnose":
		return command{verb: toDiagnose}
	case "/redraft explain":
		return command{verb: toExplain}
	}
	if m := acceptCommand.FindStringSubmatch(comment); m != nil {
		return command{verb: toAccept, sha: m[1]}
	}
	if m := retryCommand.FindStringSubmatch(comment); m != nil {
		return command{verb: toRetry, words: plainWords(m[1])}
	}
	return command{}
}

// plainWords are words without what a person does not see: controls, marks of direction, broken bytes.
func plainWords(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// command is what the event's comment asks for; a label asks to start.
func (l look) command() command {
	if l.e.Comment == nil {
		return command{verb: toStart}
	}
	return parseCommand(l.e.Comment.Body)
}

// diagnoses says whether no more is asked for than what is red and why, by this event or by the operator.
func (l look) diagnoses() bool { return l.f.Policy.Look || l.asksDiagnosis() }

func (l look) asksDiagnosis() bool {
	return l.command().verb == toDiagnose || hasLabel([]string{diagnoseLabel}, l.e.Label)
}

// commandSteps find out who asked and about what. To stop or to explain, no more needs to be known.
func commandSteps(e Event) []step {
	steps := []step{{askRepo, repoSays}, {askPolicy, commandsSay}, {askPermission, permissionSays}, {nil, wordsSay}}
	switch parseCommand(e.Comment.Body).verb {
	case toAccept: // nothing proposes a test yet
		return append(steps, step{nil, proposalSays})
	case toStop, toExplain:
		return append(steps, step{askPlace, placeSays})
	}
	return append(steps, startSteps...)
}

func commandsSay(l look) *Skip {
	if !l.f.Policy.commands() {
		return skip(NotListed, "triggers.commands is off")
	}
	return nil
}

func wordsSay(l look) *Skip {
	if n := utf8.RuneCountInString(l.command().words); n > mostWords {
		return l.say(NoCommand, "/redraft retry takes %d characters at most, these are %d", mostWords, n)
	}
	return nil
}

func proposalSays(l look) *Skip {
	return l.say(NothingToAccept, "no test is proposed here")
}

func decideCommand(l look) (Decision, *Skip) {
	t := l.target()
	switch l.command().verb {
	case toStop:
		return cancels(t, trace.Cancelled, l.e.Sender.Login+" asked to stop"), nil
	case toExplain:
		return Decision{Explain: &t}, nil
	}
	return l.begin()
}
