package syntax

import "strings"

var rustReader = reader{visit: rustOutline, early: true}

// rustOutline reads one node of Rust. A variable is known from behind its let on, and may be hidden by another.
func rustOutline(o *outliner, n int) {
	switch o.code(n) {
	case kComment, kNone, kSelf, kPathWord, kAccess:
	case kIdentifier, kScoped, kAttribute, kCall, kTurbofish:
		o.rustLead(n, false)
	case kFunction, kItem:
		o.inside(scope{}, func() { o.besides(n, o.field(n, fName)) })
	case kStruct:
		o.rustStruct(n)
	case kImpl, kTrait:
		o.rustImpl(n)
	case kMod:
		o.rustMod(n)
	case kTypeParameters:
		o.rustTypeParameters(n)
	case kParameter:
		o.visit(o.field(n, fType))
		o.rustPattern(o.field(n, fPattern), o.rustType(o.field(n, fType)))
	case kLambda:
		o.rustClosure(n)
	case kLet:
		o.rustLet(n)
	case kBlock:
		o.inside(scope{block: true}, func() {
			o.rustItems(n)
			o.below(n)
		})
	case kBinds, kArm:
		o.inside(scope{block: true}, func() { o.below(n) })
	case kFor:
		o.inside(scope{block: true}, func() {
			o.visit(o.field(n, fValue))
			o.rustPattern(o.field(n, fPattern), "")
			o.visit(o.field(n, fBody))
		})
	default:
		o.rustOther(n)
	}
}

func (o *outliner) rustOther(n int) {
	switch o.code(n) {
	case kMatchPattern:
		o.rustPattern(o.first(n), "")
		o.visit(o.field(n, fCondition))
	case kTupleStruct, kStructPattern, kFieldPattern, kCaptured, kPattern, kPatternName:
		o.rustPattern(n, "")
	case kEnumConstant, kArgument:
		o.besides(n, o.field(n, fName))
	case kMacro:
		o.rustLead(o.field(n, fMacro), true)
		o.besides(n, o.field(n, fMacro))
	case kTokens:
		o.rustTokens(n)
	case kDecorator:
		o.rustAttribute(n)
	case kUse:
		o.rustUse(o.field(n, fArgument), "", o.has(n, named) && o.code(o.first(n)) == kAccess)
	case kExternCrate:
		name, as := o.field(n, fName), o.field(n, fAlias)
		if as < 0 {
			as = name
		}
		o.imported(o.here(), Imported{From: o.words[o.word(name)], As: o.words[o.word(as)]}, o.start(n))
	default:
		o.below(n)
	}
}

// rustLead reads a path or a chain of fields.
func (o *outliner) rustLead(n int, called bool) lead {
	switch o.code(n) {
	case kIdentifier:
		if o.textIs(n, "Self") {
			return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.class}
		}
		return o.use(o.start(n), o.end(n), nil, called)
	case kSelf:
		return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.this}
	case kPathWord:
		return lead{root: -1, from: o.start(n), to: o.end(n)}
	case kScoped:
		return o.rustScoped(n, called)
	case kAttribute:
		by, name := nowhere(), o.field(n, fField)
		o.deeper(func() { by = o.rustLead(o.field(n, fValue), false) })
		if first := o.bytes(o.start(name), o.end(name)); name < 0 || len(first) == 0 || first[0] <= '9' {
			return nowhere() // a tuple's field
		}
		return o.use(o.start(name), o.end(name), &by, called)
	case kGenericType, kTurbofish:
		inner := o.field(n, fFunction)
		if inner < 0 {
			inner = o.field(n, fType)
		}
		l := o.rustLead(inner, called)
		o.besides(n, inner)
		return l
	case kCall:
		f := o.field(n, fFunction)
		o.deeper(func() { o.rustLead(f, true) })
		o.besides(n, f)
		l := nowhere()
		l.typ = o.rustMade(n)
		return l
	}
	o.visit(n)
	return nowhere()
}

func (o *outliner) rustScoped(n int, called bool) lead {
	path, name := o.field(n, fPath), o.field(n, fName)
	by := nowhere()
	switch {
	case path < 0: // ::name
		by = lead{root: -1, from: o.start(n), to: o.start(n) + len("::")}
	case o.code(path) == kSelf:
		by = lead{root: -1, from: o.start(path), to: o.end(path)}
	default:
		o.deeper(func() { by = o.rustLead(path, false) })
	}
	if name < 0 {
		return nowhere()
	}
	return o.use(o.start(name), o.end(name), &by, called)
}

// rustType is the type that is named: T of T, &mut T, T<U>, a::T, dyn T and impl T.
func (o *outliner) rustType(n int) string {
	for range maxNesting {
		switch o.code(n) {
		case kReference, kGenericType:
			n = o.field(n, fType)
		case kDynamic:
			n = o.field(n, fTrait)
		case kIdentifier:
			if o.textIs(n, "Self") {
				return o.class
			}
			return o.string(o.start(n), o.end(n))
		case kScoped:
			if text := o.bytes(o.start(n), o.end(n)); strings.ContainsAny(string(text), "<>[]() ") || strings.HasPrefix(string(text), "Self") {
				return ""
			}
			return o.string(o.start(n), o.end(n))
		default:
			return ""
		}
	}
	return ""
}

// rustMade is the type that an expression says: T { … }, T::new(…) and T::default(), also behind &. A constructor of
// this text that gives something else does not count.
func (o *outliner) rustMade(n int) string {
	switch o.code(n) {
	case kReference:
		return o.rustMade(o.field(n, fValue))
	case kStructure:
		return o.rustType(o.field(n, fName))
	case kCall:
		f := o.field(n, fFunction)
		path, name := o.field(f, fPath), o.field(f, fName)
		if o.code(f) != kScoped || path < 0 || !o.textIs(name, "new") && !o.textIs(name, "default") {
			return ""
		}
		return o.constructed(o.rustPath(path), o.words[o.word(name)])
	}
	return ""
}

// rustPath is a type as an expression's path says it.
func (o *outliner) rustPath(n int) string {
	if o.code(n) == kScoped {
		if name := o.bytes(o.start(o.field(n, fName)), o.end(n)); len(name) == 0 || name[0] < 'A' || name[0] > 'Z' {
			return ""
		}
	}
	typ := o.rustType(n)
	if last := typ[strings.LastIndexByte(typ, ':')+1:]; last == "" || last[0] < 'A' || last[0] > 'Z' {
		return ""
	}
	return typ
}

// constructed is the type unless its constructor in this text says otherwise.
func (o *outliner) constructed(typ, by string) string {
	if o.gives == nil {
		o.gives = map[string]string{}
		for _, s := range o.out.Symbols {
			if s.Name == "new" || s.Name == "default" {
				_, o.gives[s.String()], _ = strings.Cut(s.Signature, "-> ")
			}
		}
	}
	last := typ[strings.LastIndexByte(typ, ':')+1:]
	gives, here := o.gives[last+"."+by]
	if word, _, _ := strings.Cut(gives, " "); here && word != "Self" && word != last {
		return ""
	}
	return typ
}

func (o *outliner) rustStruct(n int) {
	name := o.field(n, fName)
	of := o.words[o.word(name)]
	o.inside(scope{}, func() {
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			if c != name {
				o.visit(c)
			}
		}
		body := o.field(n, fBody)
		for c := body + 1; body >= 0 && c < int(o.nodes[body].next); c = int(o.nodes[c].next) {
			if field := o.field(c, fName); o.code(c) == kFieldDeclaration && field >= 0 {
				o.variable(of, o.words[o.word(field)], o.unhidden(o.rustType(o.field(c, fType))))
			}
		}
	})
}

// unhidden is a type unless a local name hides it.
func (o *outliner) unhidden(typ string) string {
	if w := o.rootOf(typ); w >= 0 && o.slot[w] >= 0 && o.binds[o.slot[w]].how == local {
		return ""
	}
	return typ
}

// rustImpl reads what belongs to a type or a trait, and notes what that builds upon.
func (o *outliner) rustImpl(n int) {
	class, this := o.class, o.this
	typ, bounds := o.field(n, fType), o.field(n, fBounds)
	if o.code(n) == kTrait {
		o.class = o.words[o.word(o.field(n, fName))]
	} else {
		full := o.rustType(typ)
		o.class = full[strings.LastIndexByte(full, ':')+1:]
	}
	o.this = o.class
	if trait := o.field(n, fTrait); trait >= 0 {
		o.rustSuper(trait)
	}
	for c := bounds + 1; o.code(n) == kTrait && bounds >= 0 && c < int(o.nodes[bounds].next); c = int(o.nodes[c].next) {
		o.rustSuper(c)
	}
	o.inside(scope{}, func() {
		not := -1
		if o.code(n) == kTrait {
			not = o.field(n, fName)
		}
		o.besides(n, not)
	})
	o.class, o.this = class, this
}

func (o *outliner) rustSuper(n int) {
	if name := o.rustType(n); name != "" && o.class != "" && o.here() == len(o.mods) {
		o.out.Supers = append(o.out.Supers, Super{Of: o.class, Name: name, Line: o.lineOf(o.start(n))})
	}
}

// rustMod reads a module; one without a body is a file of its own.
func (o *outliner) rustMod(n int) {
	name := o.words[o.word(o.field(n, fName))]
	body := o.field(n, fBody)
	if body < 0 {
		o.imported(o.here(), Imported{From: strings.Join(append([]string{"self"}, append(o.mods, name)...), "::"), As: name, Exported: o.code(o.first(n)) == kAccess}, o.start(n))
		return
	}
	o.mods = append(o.mods, name)
	o.inside(scope{}, func() {
		o.enter(name)
		o.visit(body)
	})
	o.mods = o.mods[:len(o.mods)-1]
}

func (o *outliner) rustTypeParameters(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		name := c
		if o.code(c) == kTypeParameter {
			if name = o.field(c, fLeft); name < 0 {
				name = o.field(c, fName)
			}
		}
		if o.code(name) == kIdentifier {
			o.bind(o.here(), o.word(name), local, "", true)
		}
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kTypeParameter {
			o.below(c)
		}
	}
}

func (o *outliner) rustClosure(n int) {
	parameters := o.field(n, fParameters)
	o.inside(scope{block: true}, func() {
		for c := parameters + 1; parameters >= 0 && c < int(o.nodes[parameters].next); c = int(o.nodes[c].next) {
			if o.code(c) == kParameter {
				o.visit(c)
			} else if o.has(c, named) {
				o.rustPattern(c, "")
			}
		}
		o.besides(n, parameters)
	})
}

// rustLet reads the value in front of the pattern, which may hide what the value uses.
func (o *outliner) rustLet(n int) {
	typ, value, pattern := o.field(n, fType), o.field(n, fValue), o.field(n, fPattern)
	o.visit(typ)
	o.visit(value)
	o.visit(o.field(n, fAlternative))
	of := o.rustType(typ)
	if typ < 0 {
		of = o.rustMade(value)
	}
	o.rustPattern(pattern, o.unhidden(of))
}

// rustItems binds the items of a block, which are known in all of it.
func (o *outliner) rustItems(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kFunction, kItem, kStruct, kTrait:
			o.bind(o.here(), o.word(o.field(c, fName)), local, "", true)
		}
	}
}

// rustPattern binds a pattern's names. A name with a capital is a constant's or a variant's.
func (o *outliner) rustPattern(n int, typ string) {
	switch o.code(n) {
	case kIdentifier:
		if first := o.src[o.start(n)]; first >= 'A' && first <= 'Z' {
			o.visit(n)
			return
		}
		o.bind(o.here(), o.word(n), local, typ, true)
	case kPatternName:
		o.bind(o.here(), o.word(n), local, "", true)
	case kTupleStruct, kStructPattern:
		o.visit(o.field(n, fType))
		o.rustPatterns(n, o.field(n, fType), "")
	case kFieldPattern:
		if p := o.field(n, fPattern); p >= 0 {
			o.rustPattern(p, "")
		} else if name := o.field(n, fName); name >= 0 {
			o.bind(o.here(), o.word(name), local, "", true)
		}
	case kPattern:
		if o.kind(n) == "mut_pattern" {
			o.rustPatterns(n, -1, typ)
		} else {
			o.rustPatterns(n, -1, "")
		}
	case kCaptured, kMatchPattern:
		o.rustPatterns(n, -1, "")
	default:
		o.visit(n)
	}
}

func (o *outliner) rustPatterns(n, not int, typ string) {
	o.deeper(func() {
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			if c != not && o.has(c, named) {
				o.rustPattern(c, typ)
			}
		}
	})
}
