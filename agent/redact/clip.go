package redact

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clip cuts s to at most n bytes on a rune boundary and says that it did. Invalid UTF-8 becomes question marks.
func Clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "?") // never longer
	if len(s) <= n {
		return s
	}
	note := fmt.Sprintf("… (%d bytes cut)", len(s))
	if n < len(note) {
		note = ""
	}
	cut := max(n-len(note), 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if note != "" {
		note = fmt.Sprintf("… (%d bytes cut)", len(s)-cut) // no more digits than in the first
	}
	return s[:cut] + note
}

// Fence puts a text, cleaned for the terminal, into a Markdown code block that it cannot close.
func Fence(text string) string { return FenceAs("", text) }

// FenceAs is Fence with a language for colours, as in diff.
func FenceAs(language, text string) string {
	longest, run := 2, 0
	for _, r := range text {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + language + "\n" + text + fence + "\n"
}
