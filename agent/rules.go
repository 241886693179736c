package agent

import _ "embed"

//go:embed prompts/rules.md
var rules string

//go:embed prompts/addressed.md
var addressed string

// Rules is the text of a scene's task section. It asks for addressed edits: of the spellings that were measured they solve most
// (benchmarks/cases/spellings).
func Rules() string { return RulesFor(addressed) }

// RulesFor is the same with another text on how edits are to be given, for benchmarks.
func RulesFor(form string) string { return rules + form }
