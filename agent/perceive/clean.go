package perceive

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// control matches the control tokens of chat templates (ChatML, Llama 3, Mistral, Gemma, Harmony, fill-in-the-middle).
var control = regexp.MustCompile(`<\|[A-Za-z0-9_ -]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<\|?fim_[a-z]+\|?>`)

// comment matches HTML comments, which a person reading the rendered text does not see.
var comment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)

// Clean makes a text from outside safe to interpolate: template control tokens broken up, HTML comments and hidden
// characters gone, at most n bytes with a marker where it was cut.
func Clean(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = comment.ReplaceAllString(s, "")
	return clip(source(s), n)
}

// source is Clean for program text: nothing that a compiler sees is dropped except hidden characters.
func source(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return control.ReplaceAllStringFunc(s, func(m string) string { return m[:1] + " " + m[1:] })
}

// clip keeps the head and the tail of a text that is longer than n bytes. It cuts between lines where the lines are not
// longer than what is kept.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	head, tail := n*2/3, len(s)-n/3
	if i := strings.LastIndexByte(s[:head], '\n'); i > head/2 {
		head = i
	}
	if i := strings.IndexByte(s[tail:], '\n'); i >= 0 && i < n/6 {
		tail += i + 1
	}
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	what := fmt.Sprintf("%d bytes", tail-head)
	if lines := strings.Count(strings.Trim(s[head:tail], "\n"), "\n") + 1; lines > 1 {
		what = fmt.Sprintf("%d lines, %s", lines, what)
	}
	return fmt.Sprintf("%s\n[… %s are not shown …]\n%s", s[:head], what, s[tail:])
}

// label is a name from outside on one line.
func label(s string) string {
	return strings.ReplaceAll(Clean(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, s), 200), "\n", " ")
}

// Fence puts a text between fences longer than any run of backticks in it.
func Fence(info, s string) string {
	n := 3
	for run, i := 0, 0; i < len(s); i++ {
		if s[i] == '`' {
			run++
			n = max(n, run+1)
		} else {
			run = 0
		}
	}
	f := strings.Repeat("`", n)
	return fmt.Sprintf("%s%s\n%s\n%s\n", f, info, strings.TrimRight(s, "\n"), f)
}
