package syntax

// javaSymbols takes types, methods, constructors and fields; those of a nested type are under its own name.
func javaSymbols(w *walk, n int, container string) {
	for c := range w.children(n) {
		name, body := w.at(c, "name"), w.at(c, "body")
		s := Symbol{Container: container, Exported: w.javaPublic(c)}
		switch w.kind(c) {
		case "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration":
			s.Kind = "type"
			w.define(s, c, c, name, body)
			javaSymbols(w, body, w.text(name))
		case "enum_body_declarations":
			javaSymbols(w, c, container)
		case "method_declaration", "constructor_declaration", "compact_constructor_declaration", "annotation_type_element_declaration":
			s.Kind = "method"
			if container == "" {
				s.Kind = "func"
			}
			w.define(s, c, c, name, body)
		case "field_declaration", "constant_declaration":
			s.Kind = "var"
			for d := range w.children(c) {
				if w.is(d, "variable_declarator") {
					w.define(s, c, c, w.at(d, "name"), -1)
				}
			}
		}
	}
}

// javaPublic says whether other packages see a definition: it is public or protected, or an interface's.
func (w *walk) javaPublic(n int) bool {
	if w.is(w.up(n), "interface_body", "annotation_type_body") {
		return true
	}
	m := w.child(n, "modifiers")
	return w.child(m, "public", "protected") >= 0
}
