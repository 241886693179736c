package bot

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/plan"
)

var (
	hidden    = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	checkLine = regexp.MustCompile(`(?im)^[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?check(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*(.+?)[ \t]*$`)
	checkHead = regexp.MustCompile(`(?im)^#{1,6}[ \t]+check[ \t]*\n\s*(.+?)[ \t]*$`) // as a form of GitHub's writes it
	runURL    = regexp.MustCompile(`https://([A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?)/([A-Za-z0-9._-]{1,100})/([A-Za-z0-9._-]{1,100})/actions/runs/([0-9]{1,15})(?:[^A-Za-z0-9_%-]|$)`)
)

// visible is a body as its reader sees it: a template's hidden lines name nothing.
func visible(body string) string {
	return hidden.ReplaceAllString(strings.ReplaceAll(body, "\r\n", "\n"), "")
}

// bodyCheck is the configured check that an issue's body names, as in "check: unit" on a line of its own; "" if none.
func bodyCheck(body string, checks []plan.Check) string {
	body = visible(body)
	for _, line := range []*regexp.Regexp{checkLine, checkHead} {
		for _, m := range line.FindAllStringSubmatch(body, 50) {
			if id := strings.Trim(m[1], "`\"' \t"); configured(id, checks) {
				return id
			}
		}
	}
	return ""
}

func configured(id string, checks []plan.Check) bool {
	for _, c := range checks {
		if c.ID == id {
			return true
		}
	}
	return false
}

// bodyRun is the workflow run of this repository that an issue's body gives the address of, 0 if none. issue is the
// issue's own address, at whose host the run must be.
func bodyRun(body, issue string, names ...Repo) int64 {
	host := ""
	if u, err := url.Parse(issue); err == nil {
		host = u.Host
	}
	for _, m := range runURL.FindAllStringSubmatch(visible(body), 50) {
		for _, r := range names {
			if host != "" && strings.EqualFold(m[1], host) && strings.EqualFold(m[2], r.Owner) && strings.EqualFold(m[3], r.Name) {
				id, _ := strconv.ParseInt(m[4], 10, 64) // fifteen digits fit
				return id
			}
		}
	}
	return 0
}
