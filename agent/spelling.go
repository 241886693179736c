package agent

import (
	_ "embed"

	"github.com/redraft-dev/redraft/agent/perceive"
)

//go:embed prompts/rules.md
var rules string

//go:embed prompts/addressed.md
var addressed string

//go:embed prompts/whole.md
var whole string

//go:embed prompts/search.md
var search string

// Rules is the text of a scene's task section that asks for edits in a spelling; an unknown one is perceive.Addressed.
func Rules(spelling string) string {
	switch spelling {
	case perceive.Whole:
		return rules + whole
	case perceive.Search:
		return rules + search
	}
	return rules + addressed
}
