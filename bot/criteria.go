package bot

import (
	"regexp"
	"strings"
)

var (
	criteriaHeading = regexp.MustCompile(`(?i)^#{1,6}\s+(acceptance criteria|out[ -]of[ -]scope|definition of done)\s*:?\s*#*\s*$`)
	anyHeading      = regexp.MustCompile(`^#{1,6}\s`)
	listItem        = regexp.MustCompile(`^\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.+)$`)
)

const (
	maxCriteria  = 30
	maxCriterion = 300 // bytes
)

// Criteria are the acceptance criteria and the out-of-scope lines of an issue's body: the list items below headings of
// these names, as a person's checklist. They are a stranger's text, and decide nothing.
func Criteria(body string) []string {
	var out []string
	under := ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if m := criteriaHeading.FindStringSubmatch(line); m != nil {
			under = strings.ToLower(m[1])
			continue
		}
		if anyHeading.MatchString(line) {
			under = ""
		}
		m := listItem.FindStringSubmatch(line)
		if under == "" || m == nil || len(out) == maxCriteria {
			continue
		}
		text := strings.TrimSpace(m[1])
		if strings.HasPrefix(under, "out") {
			text = "Out of scope: " + text
		}
		if len(text) > maxCriterion {
			text = strings.ToValidUTF8(text[:maxCriterion], "") + "…"
		}
		out = append(out, text)
	}
	return out
}
