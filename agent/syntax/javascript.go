package syntax

import "strings"

// scriptSymbols takes the definitions of JavaScript and TypeScript, those of namespaces included, and what is assigned
// to exports and to prototypes.
func scriptSymbols(w *walk, n int, container string) {
	for c := range w.children(n) {
		switch w.kind(c) {
		case "export_statement":
			w.scriptExport(c, container)
		case "ambient_declaration":
			for d := range w.children(c) {
				w.scriptDefinition(c, d, container, true)
			}
		case "expression_statement":
			w.scriptAssigned(c)
		default:
			w.scriptDefinition(c, c, container, false)
		}
	}
}

func (w *walk) scriptExport(n int, container string) {
	if d := w.at(n, "declaration"); d >= 0 {
		if w.is(d, "ambient_declaration") {
			for c := range w.children(d) {
				w.scriptDefinition(n, c, container, true)
			}
			return
		}
		w.scriptDefinition(n, d, container, true)
	}
}

func (w *walk) scriptDefinition(outer, n int, container string, exported bool) {
	s := Symbol{Container: container, Exported: exported}
	name, body := w.at(n, "name"), w.at(n, "body")
	switch w.kind(n) {
	case "function_declaration", "generator_function_declaration", "function_signature":
		s.Kind = "func"
		w.define(s, outer, n, name, body)
	case "class_declaration", "abstract_class_declaration":
		s.Kind = "type"
		w.define(s, outer, n, name, body)
		w.scriptMembers(body, w.text(name))
	case "interface_declaration", "type_alias_declaration", "enum_declaration":
		s.Kind = "type"
		w.define(s, outer, n, name, -1)
	case "internal_module", "module":
		s.Kind = "type"
		w.define(s, outer, n, name, body)
		scriptSymbols(w, body, w.text(name))
	case "expression_statement": // a namespace stands in one
		if m := w.child(n, "internal_module"); m >= 0 {
			w.scriptDefinition(outer, m, container, exported)
		}
	case "lexical_declaration", "variable_declaration":
		for d := range w.children(n) {
			if w.is(d, "variable_declarator") {
				w.scriptVariable(s, outer, n, d)
			}
		}
	}
}

func (w *walk) scriptVariable(s Symbol, outer, decl, d int) {
	name := w.at(d, "name")
	if !w.is(name, "identifier") {
		return
	}
	value := w.at(d, "value")
	s.Kind = "var"
	if w.is(w.child(decl, "const"), "const") {
		s.Kind = "const"
	}
	body := -1
	if w.is(value, "arrow_function", "function_expression", "function", "generator_function") {
		s.Kind, body = "func", w.at(value, "body")
		s.Signature = "func " + w.signature(value, body)
	} else {
		s.Signature = strings.TrimSpace(s.Kind + " " + w.text(w.at(d, "type")))
	}
	w.define(s, outer, d, name, body)
}

func (w *walk) scriptMembers(n int, container string) {
	for c := range w.children(n) {
		s := Symbol{Kind: "method", Container: container, Exported: true}
		name, body := w.at(c, "name"), w.at(c, "body")
		if name < 0 {
			name = w.at(c, "property")
		}
		if name < 0 || w.is(name, "computed_property_name", "string") {
			continue
		}
		switch w.kind(c) {
		case "method_definition", "method_signature", "abstract_method_signature":
			w.define(s, c, c, name, body)
		case "field_definition", "public_field_definition":
			if v := w.at(c, "value"); w.is(v, "arrow_function", "function_expression") {
				body = w.at(v, "body")
				s.Signature = "func " + w.signature(v, body)
				w.define(s, c, c, name, body)
			}
		}
	}
}

// scriptAssigned takes exports.f = function, module.exports.f = …, and T.prototype.f = ….
func (w *walk) scriptAssigned(n int) {
	if m := w.child(n, "internal_module"); m >= 0 {
		w.scriptDefinition(n, m, "", false)
		return
	}
	a := w.child(n, "assignment_expression")
	left, value := w.at(a, "left"), w.at(a, "right")
	object, name := w.at(left, "object"), w.at(left, "property")
	if name < 0 || !w.is(value, "arrow_function", "function_expression", "function", "generator_function", "class") {
		return
	}
	s := Symbol{Kind: "func", Exported: true}
	switch of := w.text(object); {
	case of == "exports" || of == "module.exports":
	case strings.HasSuffix(of, ".prototype") && strings.Count(of, ".") == 1:
		s.Kind, s.Container = "method", strings.TrimSuffix(of, ".prototype")
	default:
		return
	}
	body := w.at(value, "body")
	s.Signature = "func " + w.signature(value, body)
	w.define(s, n, a, name, body)
}
