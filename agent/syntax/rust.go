package syntax

// rustSymbols takes the items; an impl's functions are methods of its type, a module's items are its own.
func rustSymbols(w *walk, n int, container string) {
	for c := range w.children(n) {
		name, body := w.at(c, "name"), w.at(c, "body")
		s := Symbol{Container: container, Exported: w.child(c, "visibility_modifier") >= 0}
		switch w.kind(c) {
		case "function_item", "function_signature_item":
			s.Kind = "func"
			if container != "" && !w.is(w.up(w.up(c)), "mod_item") {
				s.Kind = "method"
			}
			w.define(s, c, c, name, body)
		case "struct_item", "enum_item", "union_item", "type_item":
			s.Kind = "type"
			w.define(s, c, c, name, -1)
		case "trait_item":
			s.Kind = "type"
			w.define(s, c, c, name, -1)
			rustSymbols(w, body, w.text(name))
		case "impl_item":
			rustSymbols(w, body, w.rustType(w.at(c, "type")))
		case "mod_item":
			s.Kind = "type"
			if body >= 0 {
				w.define(s, c, c, name, body)
				rustSymbols(w, body, w.text(name))
			}
		case "const_item":
			s.Kind = "const"
			w.define(s, c, c, name, -1)
		case "static_item":
			s.Kind = "var"
			w.define(s, c, c, name, -1)
		case "macro_definition":
			s.Kind, s.Signature = "func", "macro"
			w.define(s, c, c, name, -1)
		}
	}
}

// rustType is the name of a type without its path, lifetimes and parameters.
func (w *walk) rustType(n int) string {
	for {
		switch w.kind(n) {
		case "generic_type", "reference_type":
			n = w.at(n, "type")
		case "scoped_type_identifier":
			n = w.at(n, "name")
		case "type_identifier", "primitive_type":
			return w.text(n)
		default:
			return "impl"
		}
	}
}
