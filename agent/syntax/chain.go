package syntax

import "strings"

// memberKinds are the nodes that name something through something else.
var memberKinds = []string{"attribute", "member_expression", "subscript_expression", "subscript", "field_expression", "scoped_identifier", "field_access", "scoped_type_identifier"}

var callKinds = []string{"call", "call_expression", "new_expression", "method_invocation", "object_creation_expression", "macro_invocation"}

// reference adds a name with all that leads to it, once: where it is part of a longer one, that one counts.
func (r *reading) reference(n int) {
	p := r.up(n)
	switch {
	case r.is(n, callKinds...):
		f := Fact{Kind: Ref, Called: true, Text: strings.TrimSuffix(r.chain(n, 0), "()")}
		if tokens := r.child(n, "token_tree"); tokens >= 0 {
			f.Args = []string{strings.Trim(r.text(tokens), "()[]{} \"")}
		}
		for _, a := range r.named(r.arguments(n)) {
			if v, ok := r.value(a, 0); ok {
				f.Args = append(f.Args, v)
			} else {
				f.Args = append(f.Args, r.text(a))
			}
		}
		r.add(f, n)
	case r.is(n, memberKinds...), r.is(n, "identifier", "shorthand_property_identifier"):
		if r.is(p, memberKinds...) && !r.index(n) || r.is(p, callKinds...) && r.fieldName(n) != "" && r.fieldName(n) != "arguments" {
			return
		}
		if r.is(n, "identifier") && (r.fieldName(n) == "name" || r.fieldName(n) == "pattern" || r.is(p, "parameters", "formal_parameters")) {
			return
		}
		if r.is(p, "import_specifier", "use_list", "use_declaration", "scoped_use_list", "import_declaration", "dotted_name", "aliased_import", "as_pattern_target") {
			return
		}
		r.add(Fact{Kind: Ref, Text: r.chain(n, 0)}, n)
	}
}

// index says whether a node is what another is asked for in brackets.
func (r *reading) index(n int) bool {
	return r.fieldName(n) == "index" || r.fieldName(n) == "subscript"
}

func (r *reading) arguments(n int) int {
	if a := r.at(n, "arguments"); a >= 0 {
		return a
	}
	return r.child(n, "argument_list", "arguments")
}

// chain is the dotted name of an expression. A call is f(), what is made by new is new T(), a constant in brackets is
// a name, and ? is what has none.
func (r *reading) chain(n, depth int) string {
	if n < 0 || depth > maxChain {
		return "?"
	}
	next := func(field string) string { return r.chain(r.at(n, field), depth+1) }
	switch r.kind(n) {
	case "identifier", "type_identifier", "property_identifier", "field_identifier", "shorthand_property_identifier", "private_property_identifier",
		"this", "self", "super", "crate", "primitive_type", "import":
		return r.resolved(r.text(n))
	case "attribute":
		return join(next("object"), r.text(r.at(n, "attribute")))
	case "member_expression":
		return join(next("object"), r.text(r.at(n, "property")))
	case "field_access":
		return join(next("object"), r.text(r.at(n, "field")))
	case "field_expression":
		return join(next("value"), r.text(r.at(n, "field")))
	case "scoped_identifier", "scoped_type_identifier":
		if r.at(n, "path") >= 0 {
			return join(next("path"), r.text(r.at(n, "name")))
		}
		return strings.ReplaceAll(r.text(n), "::", ".")
	case "subscript_expression":
		return r.indexed(next("object"), r.at(n, "index"))
	case "subscript":
		return r.indexed(next("value"), r.at(n, "subscript"))
	case "generic_function":
		return next("function")
	case "parenthesized_expression", "await", "await_expression", "try_expression", "non_null_expression", "as_expression", "satisfies_expression", "expression_statement":
		if all := r.named(n); len(all) > 0 {
			return r.chain(all[0], depth+1)
		}
	case "new_expression":
		return "new " + next("constructor") + "()"
	case "object_creation_expression":
		return "new " + next("type") + "()"
	case "macro_invocation":
		return next("macro") + "!()"
	case "method_invocation":
		if r.at(n, "object") < 0 {
			return r.resolved(r.text(r.at(n, "name"))) + "()"
		}
		return join(next("object"), r.text(r.at(n, "name"))) + "()"
	case "call", "call_expression":
		return r.callee(n, depth)
	}
	return "?"
}

// join leaves out what Python's modules keep their names in.
func join(of, name string) string {
	if name == "__dict__" {
		return of
	}
	return of + "." + name
}

func (r *reading) indexed(of string, index int) string {
	if v, ok := r.value(index, 0); ok {
		return join(of, v)
	}
	return of + "[]"
}

// callee is a call's chain; one that only fetches a module or a name is what it fetches.
func (r *reading) callee(n, depth int) string {
	f := r.chain(r.at(n, "function"), depth+1)
	args := r.named(r.arguments(n))
	switch {
	case len(args) >= 1 && (f == "require" || f == "import" || f == "__import__" || f == "importlib.import_module" || f == "createRequire()" || f == "builtins.__import__"):
		if v, ok := r.value(args[0], depth+1); ok {
			return strings.TrimPrefix(v, "node:")
		}
	case len(args) == 1 && (f == "vars" || f == "builtins.vars"):
		return r.chain(args[0], depth+1)
	case len(args) >= 2 && (f == "getattr" || f == "builtins.getattr" || f == "Reflect.get" || f == "object.__getattribute__"):
		if v, ok := r.value(args[1], depth+1); ok {
			return join(r.chain(args[0], depth+1), v)
		}
	}
	return f + "()"
}

// resolved follows what the first name of a chain was imported as.
func (r *reading) resolved(chain string) string {
	first, rest, more := strings.Cut(chain, ".")
	full, ok := r.alias[first]
	if !ok {
		return chain
	}
	if more {
		return full + "." + rest
	}
	return full
}

// imports reads what names stand for.
func (r *reading) imports() {
	for n := range r.nodes {
		switch r.kind(n) {
		case "import_statement", "import_from_statement", "import_declaration":
			r.importing(n)
		case "use_declaration":
			r.use(r.at(n, "argument"), "", 0)
			r.add(Fact{Kind: Import, Text: r.text(r.at(n, "argument"))}, n)
		case "variable_declarator":
			r.required(n)
		}
	}
}

func (r *reading) importing(n int) {
	switch {
	case r.is(n, "import_declaration"): // Java
		text := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(r.text(n), "import")), ";")
		r.add(Fact{Kind: Import, Text: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "static "))}, n)
		if static, ok := strings.CutPrefix(strings.TrimSpace(text), "static "); ok {
			parts := strings.Split(strings.TrimSpace(static), ".")
			if len(parts) > 1 {
				r.alias[parts[len(parts)-1]] = strings.Join(parts[len(parts)-2:], ".")
			}
		}
	case r.at(n, "source") >= 0: // JavaScript
		module, _ := r.value(r.at(n, "source"), 0)
		module = strings.TrimPrefix(module, "node:")
		r.add(Fact{Kind: Import, Text: module}, n)
		for c := range r.all(r.child(n, "import_clause")) {
			r.imported(c, module)
		}
	default: // Python
		r.pythonImport(n)
	}
}

// imported reads one part of an import clause.
func (r *reading) imported(c int, module string) {
	switch {
	case r.is(c, "import_specifier"):
		name := r.text(r.at(c, "name"))
		local := name
		if a := r.at(c, "alias"); a >= 0 {
			local = r.text(a)
		}
		r.alias[local] = join(module, name)
	case r.is(c, "identifier") && (r.is(r.up(c), "import_clause") || r.is(r.up(c), "namespace_import")):
		r.alias[r.text(c)] = module
	}
}

func (r *reading) pythonImport(n int) {
	from := r.at(n, "module_name")
	prefix := ""
	if from >= 0 {
		prefix = r.text(from) + "."
		r.add(Fact{Kind: Import, Text: r.text(from)}, n)
	}
	for c := range r.children(n) {
		name, local := c, ""
		if r.is(c, "aliased_import") {
			name, local = r.at(c, "name"), r.text(r.at(c, "alias"))
		}
		if c == from || !r.is(name, "dotted_name") {
			continue
		}
		full := prefix + r.text(name)
		if from < 0 {
			r.add(Fact{Kind: Import, Text: full}, n)
		}
		switch {
		case local != "":
			r.alias[local] = full
		case from >= 0:
			r.alias[r.text(name)] = full
		}
	}
}

// use reads a use tree of Rust.
func (r *reading) use(n int, prefix string, depth int) {
	if n < 0 || depth > maxChain {
		return
	}
	dotted := func(m int) string {
		return strings.TrimPrefix(prefix+"."+strings.ReplaceAll(r.text(m), "::", "."), ".")
	}
	switch r.kind(n) {
	case "scoped_identifier", "identifier":
		full := dotted(n)
		r.alias[full[strings.LastIndexByte(full, '.')+1:]] = full
	case "use_as_clause":
		r.alias[r.text(r.at(n, "alias"))] = dotted(r.at(n, "path"))
	case "scoped_use_list":
		for _, c := range r.named(r.at(n, "list")) {
			r.use(c, dotted(r.at(n, "path")), depth+1)
		}
	case "use_list":
		for _, c := range r.named(n) {
			r.use(c, prefix, depth+1)
		}
	}
}

// required reads const x = require("m"), and the names taken out of one.
func (r *reading) required(n int) {
	value := r.at(n, "value")
	if !r.is(value, "call_expression", "await_expression", "member_expression", "identifier") {
		return
	}
	module := r.chain(value, 0)
	if strings.ContainsAny(module, "?()[]") {
		return
	}
	name := r.at(n, "name")
	switch r.kind(name) {
	case "identifier":
		if r.is(value, "call_expression") || strings.Contains(module, ".") {
			r.alias[r.text(name)] = module
		}
	case "object_pattern":
		for c := range r.children(name) {
			switch r.kind(c) {
			case "shorthand_property_identifier_pattern":
				r.alias[r.text(c)] = join(module, r.text(c))
			case "pair_pattern":
				r.alias[r.text(r.at(c, "value"))] = join(module, r.text(r.at(c, "key")))
			}
		}
	}
}
