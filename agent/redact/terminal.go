package redact

import "strings"

// plain is what a reader sees of a text: no controls but newline and tab, no escape sequences, nothing hidden.
func plain(s string) string {
	for {
		next := view(s, clear)
		if next == s {
			return s
		}
		s = next
	}
}

// tame keeps a runner from reading workflow commands in a log: the new form at the start of a line, where blanks before it
// are skipped, the old one anywhere. https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func tame(s string) string {
	for _, old := range []string{"##[", "##vso[", "##teamcity["} {
		s = strings.ReplaceAll(s, old, "## "+old[2:])
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "::") {
			lines[i] = strings.Replace(line, "::", ": :", 1)
		}
	}
	return strings.Join(lines, "\n")
}
