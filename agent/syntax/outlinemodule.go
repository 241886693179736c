package syntax

// scriptClass reads a class or an interface.
func (o *outliner) scriptClass(n int) {
	name := o.field(n, fName)
	class, base, this := o.class, o.base, o.this
	o.class, o.base, o.this = "", "", ""
	if name >= 0 {
		o.class = o.words[o.word(name)]
		o.this = o.class
		if !o.expression(n) {
			o.bind(o.here(), o.word(name), local, "", true)
		}
	}
	o.inside(scope{block: true}, func() {
		if name >= 0 && o.expression(n) {
			o.bind(o.here(), o.word(name), local, "", true)
		}
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			switch o.code(c) {
			case kHeritage:
				o.scriptHeritage(n, c)
			case kImplements:
				o.scriptBases(n, c)
			}
			if c != name {
				o.visit(c)
			}
		}
	})
	o.class, o.base, o.this = class, base, this
}

// expression says whether a class stands where a value is asked for: then its name is known only in it.
func (o *outliner) expression(n int) bool { return o.kind(n) == "class" }

// scriptHeritage notes what a class builds upon. TypeScript says extends and implements in nodes of their own.
func (o *outliner) scriptHeritage(of, n int) {
	plain := true
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kExtends:
			o.scriptBase(of, o.field(c, fValue), true)
			plain = false
		case kImplements:
			o.scriptBases(of, c)
			plain = false
		}
	}
	if plain {
		o.scriptBase(of, o.first(n), true)
	}
}

func (o *outliner) scriptBases(of, n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		o.scriptBase(of, c, false)
	}
}

func (o *outliner) scriptBase(of, n int, extends bool) {
	if name := o.scriptType(n); name != "" {
		o.super(of, name, o.start(n))
		if extends {
			o.base = name
		}
	}
}

func (o *outliner) scriptField(n int) {
	name := o.field(n, fName)
	if name < 0 {
		name = o.field(n, fProperty)
	}
	value := o.field(n, fValue)
	typ := o.scriptType(o.field(n, fType))
	if typ == "" && o.field(n, fType) < 0 {
		typ = o.scriptMade(value)
	}
	if o.code(name) == kComputed {
		o.visit(name)
	} else if name >= 0 && (o.field(n, fType) >= 0 || value >= 0 && o.code(value) != kNone) {
		o.variable(o.class, o.words[o.word(name)], typ)
	}
	o.besides(n, name)
}

// scriptEnum reads an enum, whose members know each other.
func (o *outliner) scriptEnum(n int) {
	name, body := o.field(n, fName), o.field(n, fBody)
	o.bind(o.here(), o.word(name), local, "", true)
	o.inside(scope{block: true}, func() {
		for c := body + 1; body >= 0 && c < int(o.nodes[body].next); c = int(o.nodes[c].next) {
			member := c
			if m := o.field(c, fName); m >= 0 {
				member = m
			}
			if o.has(member, named) && o.code(member) != kComputed && o.code(member) != kComment {
				o.bind(o.here(), o.word(member), local, "", true)
			}
			o.visit(o.field(c, fValue))
		}
	})
}

// scriptNamespace reads a namespace or a declared module; its names are known in it.
func (o *outliner) scriptNamespace(n int) {
	name := o.field(n, fName)
	if o.code(name) == kIdentifier {
		o.bind(o.here(), o.word(name), local, "", true)
	}
	o.inside(scope{}, func() {
		o.enter(o.words[o.word(name)])
		if body := o.field(n, fBody); body >= 0 {
			o.below(body)
		}
	})
}

// scriptRequired notes require("x") and import("x") that nobody gives a name.
func (o *outliner) scriptRequired(n int) bool {
	from, ok := o.scriptFrom(n)
	if ok {
		o.imported(o.outermost(), Imported{From: from}, o.start(n))
	}
	return ok
}

// scriptFrom is the text's one word that a require or an import() asks for.
func (o *outliner) scriptFrom(n int) (string, bool) {
	if o.code(n) == kAwait {
		n = o.first(n)
	}
	f, arguments := o.field(n, fFunction), o.field(n, fArguments)
	if o.code(n) != kCall || o.code(f) != kImportWord && !o.textIs(f, "require") {
		return "", false
	}
	if at := o.slot[o.word(f)]; o.code(f) == kIdentifier && at >= 0 {
		return "", false
	}
	return o.quoted(o.first(arguments))
}

// quoted is what a plain string says.
func (o *outliner) quoted(n int) (string, bool) {
	if o.code(n) != kString {
		return "", false
	}
	from, to := o.unquoted(n)
	return o.words[o.wordOf(o.bytes(from, to))], to > from
}

// scriptModule binds what a require, or an import() that is waited for, is taken apart into.
func (o *outliner) scriptModule(name, value, s int) bool {
	member := ""
	call := value
	if o.code(value) == kMember {
		call = o.field(value, fObject)
		if o.code(call) == kParenthesized {
			call = o.first(call)
		}
		member = o.words[o.word(o.field(value, fProperty))]
	}
	from, ok := o.scriptFrom(call)
	if !ok || o.code(o.field(call, fFunction)) == kImportWord && o.code(call) != kAwait {
		return false
	}
	switch {
	case o.code(name) == kIdentifier:
		o.imported(s, Imported{From: from, Name: member, As: o.words[o.word(name)]}, o.start(name))
	case o.code(name) != kPattern || member != "":
		o.imported(s, Imported{From: from, Name: member}, o.start(value))
		o.scriptPattern(name, s, "")
	default:
		o.scriptTaken(name, from, s)
	}
	return true
}

// scriptTaken binds the names of an object pattern to what a module gives.
func (o *outliner) scriptTaken(n int, from string, s int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		key, value := o.field(c, fKey), o.field(c, fValue)
		switch {
		case o.code(c) == kPatternName:
			name := o.words[o.word(c)]
			o.imported(s, Imported{From: from, Name: name, As: name}, o.start(c))
		case o.code(c) == kPairPattern && o.code(key) != kComputed && o.code(value) == kIdentifier:
			o.imported(s, Imported{From: from, Name: o.words[o.word(key)], As: o.words[o.word(value)]}, o.start(c))
		case o.has(c, named):
			o.scriptPattern(c, s, "")
		}
	}
}

func (o *outliner) scriptImport(n int) {
	from, _ := o.quoted(o.field(n, fSource))
	some := false
	note := func(name, as string, at int) {
		some = true
		o.imported(o.here(), Imported{From: from, Name: name, As: as}, at)
	}
	for c := n + 1; c < int(o.nodes[n].next); c++ {
		switch o.code(c) {
		case kImportRequire:
			from, _ = o.quoted(o.field(c, fSource))
			note("", o.words[o.word(o.first(c))], o.start(c))
		case kNamespaceImport:
			note("", o.words[o.word(o.first(c))], o.start(c))
		case kImportSpecifier:
			name, as := o.field(c, fName), o.field(c, fAlias)
			if as < 0 {
				as = name
			}
			note(o.unquote(name), o.words[o.word(as)], o.start(c))
		case kImportClause:
			if d := o.first(c); o.code(d) == kIdentifier {
				note("default", o.words[o.word(d)], o.start(d))
			}
		}
	}
	if !some {
		note("", "", o.start(n))
	}
}

// unquote is a name, which modules may write as a string.
func (o *outliner) unquote(n int) string {
	if s, ok := o.quoted(n); ok {
		return s
	}
	return o.words[o.word(n)]
}

func (o *outliner) scriptExport(n int) {
	from, elsewhere := o.quoted(o.field(n, fSource))
	byDefault, clause := false, false
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kDefaultWord:
			byDefault = true
		case kExportClause:
			clause = true
			o.scriptClause(c, from, elsewhere)
		case kNamespaceExport:
			clause = true
			o.export(Imported{From: from, As: o.unquote(o.first(c))}, o.start(c))
		default:
			if byDefault || o.fieldOf(c) == fDeclaration || !elsewhere {
				o.scriptDefault(c, byDefault)
				o.visit(c)
			}
		}
	}
	if elsewhere && !clause {
		o.export(Imported{From: from, Name: "*"}, o.start(n))
	}
}

func (o *outliner) export(i Imported, at int) {
	i.Exported, i.Line = true, o.lineOf(at)
	o.out.Imports = append(o.out.Imports, i)
}

func (o *outliner) scriptClause(n int, from string, elsewhere bool) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) != kExportSpecifier {
			continue
		}
		name, alias := o.field(c, fName), o.field(c, fAlias)
		as := name
		if alias >= 0 {
			as = alias
		}
		switch {
		case elsewhere:
			o.export(Imported{From: from, Name: o.unquote(name), As: o.unquote(as)}, o.start(c))
			continue
		case alias >= 0 && o.textIs(alias, "default"):
			o.out.Default = o.unquote(name)
		case alias >= 0:
			o.export(Imported{Name: o.unquote(name), As: o.unquote(as)}, o.start(c))
		}
		o.visit(name)
	}
}

// scriptDefault notes the name of what is exported by default.
func (o *outliner) scriptDefault(n int, byDefault bool) {
	if !byDefault {
		return
	}
	switch o.code(n) {
	case kIdentifier:
		o.out.Default = o.words[o.word(n)]
	case kFunction, kClass, kInterface:
		if name := o.field(n, fName); name >= 0 {
			o.out.Default = o.words[o.word(name)]
		}
	}
}

// scriptExported notes what is assigned to module.exports: one name, or an object that gives names.
func (o *outliner) scriptExported(n int) {
	switch o.code(n) {
	case kIdentifier:
		o.out.Default = o.words[o.word(n)]
	case kObject:
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			key, value := o.field(c, fKey), o.field(c, fValue)
			if o.code(c) == kPair && o.code(value) == kIdentifier && o.code(key) != kComputed {
				o.export(Imported{Name: o.words[o.word(value)], As: o.unquote(key)}, o.start(c))
			}
		}
	}
}
