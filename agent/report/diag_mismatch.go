package report

import "strings"

// mismatches are the sentences in which a type checker says what it got and what it wanted, each as the words around the two.
var mismatches = map[string][]sentence{
	"tsc": {
		{"Type '", "' is not assignable to type '", "'", false},
		{"Argument of type '", "' is not assignable to parameter of type '", "'", false},
		{"Expected ", " arguments, but got ", ".", true},
	},
	"mypy": {
		{`(expression has type "`, `", variable has type "`, `")`, false},
		{`(default has type "`, `", argument has type "`, `")`, false},
		{`(got "`, `", expected "`, `")`, false},
		{`has incompatible type "`, `"; expected "`, `"`, false},
	},
	"pyright": {
		{`Type "`, `" is not assignable to declared type "`, `"`, false},
		{`Type "`, `" is not assignable to return type "`, `"`, false},
		{`Argument of type "`, `" cannot be assigned to parameter "`, `"`, false},
		{`Expression of type "`, `" cannot be assigned to parameter of type "`, `"`, false},
		{`Expected `, ` positional arguments but received `, ``, true},
	},
	"javac": {{"incompatible types: ", " cannot be converted to ", "", false}},
	"clang": {
		{"initializing '", "' with an expression of incompatible type '", "'", true},
		{"no viable conversion from '", "' to '", "'", false},
	},
	"gcc": {{"conversion from ‘", "’ to non-scalar type ‘", "’", false}, {"cannot convert ‘", "’ to ‘", "’", false}},
}

// sentence is one way to say two types; the wanted one comes first if so.
type sentence struct {
	before, between, after string
	wantFirst              bool
}

// mismatch takes got and want out of a type checker's first line.
func mismatch(tool, message string) (got, want string) {
	message, _, _ = strings.Cut(message, "\n")
	for _, s := range mismatches[tool] {
		_, rest, ok := strings.Cut(message, s.before)
		first, rest, found := strings.Cut(rest, s.between)
		if !ok || !found {
			continue
		}
		second := rest
		if s.after != "" {
			if second, _, ok = strings.Cut(rest, s.after); !ok {
				continue
			}
		}
		if _, typ, ok := strings.Cut(rest, `" of type "`); ok && tool == "pyright" { // parameter "x" of type "int"
			second, _, _ = strings.Cut(typ, `"`)
		}
		if s.wantFirst {
			return second, first
		}
		return first, second
	}
	return "", ""
}
