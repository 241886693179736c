package syntax

import "strings"

// pythonSymbols takes the functions, classes and module variables, also those below a condition or a try. A class's
// functions are its methods; what a function defines inside is its own affair.
func pythonSymbols(w *walk, n int, container string) {
	for c := range w.children(n) {
		switch w.kind(c) {
		case "decorated_definition":
			w.pythonDefinition(c, w.at(c, "definition"), container)
		case "function_definition", "class_definition":
			w.pythonDefinition(c, c, container)
		case "expression_statement":
			if container == "" {
				w.pythonVariable(c)
			}
		case "type_alias_statement":
			w.pythonAlias(c, container)
		case "if_statement", "else_clause", "elif_clause", "try_statement", "except_clause", "finally_clause", "with_statement", "block":
			pythonSymbols(w, c, container)
		}
	}
}

// public says whether a name begins as those do that a module shows.
func public(name string) bool { return !strings.HasPrefix(name, "_") }

func (w *walk) pythonDefinition(outer, item int, container string) {
	name, body := w.at(item, "name"), w.at(item, "body")
	if name < 0 {
		return
	}
	s := Symbol{Kind: "func", Container: container, Exported: public(w.text(name))}
	switch {
	case w.is(item, "class_definition"):
		s.Kind = "type"
	case container != "":
		s.Kind = "method"
	}
	w.define(s, outer, item, name, body)
	if s.Kind == "type" {
		pythonSymbols(w, body, w.text(name))
	}
}

// pythonAlias takes type A[T] = …
func (w *walk) pythonAlias(n int, container string) {
	for c := range w.all(w.child(n, "type")) {
		if w.is(c, "identifier") {
			w.define(Symbol{Kind: "type", Container: container, Exported: public(w.text(c))}, n, n, c, -1)
			return
		}
	}
}

func (w *walk) pythonVariable(n int) {
	a := w.child(n, "assignment")
	name := w.at(a, "left")
	if !w.is(name, "identifier") {
		return
	}
	for _, s := range w.found { // the first assignment is the definition
		if s.Name == w.text(name) && s.Container == "" {
			return
		}
	}
	w.define(Symbol{Kind: "var", Exported: public(w.text(name)), Signature: strings.TrimSpace("var " + w.text(w.at(a, "type")))}, n, a, name, -1)
}
