package syntax

var javaReader = reader{visit: javaOutline, early: true}

// kin is a type around, and whether it has members that this text does not show: those of what it builds upon.
type kin struct {
	name string
	more bool
}

// member says what a type has under a name: a method, a variable and a type may share it.
type member uint8

const (
	hasMethod member = 1 << iota
	hasVariable
	hasType
)

// javaOutline reads one node of Java. A variable is known from its declaration on.
func javaOutline(o *outliner, n int) {
	switch o.code(n) {
	case kComment, kNone, kThis, kSuper:
	case kIdentifier, kScoped, kFieldAccess, kInvocation, kNew, kMethodReference:
		o.javaLead(n, false)
	case kPackage:
		name := o.first(n)
		for name >= 0 && o.code(name) != kScoped && o.code(name) != kIdentifier {
			name = o.first(int(o.nodes[name].next) - 1)
		}
		o.out.Package = o.string(o.start(max(name, n)), o.end(name))
	case kImport:
		o.javaImport(n)
	case kClass:
		o.javaClass(n)
	case kObject: // an anonymous class: what it builds upon is elsewhere
		o.javaInside(kin{more: true}, "", n)
	case kField:
		o.javaVariables(n, true)
	case kLexical:
		o.javaVariables(n, false)
	case kMethod:
		o.inside(scope{}, func() { o.besides(n, o.field(n, fName)) })
	case kBlock:
		o.inside(scope{block: true}, func() { o.below(n) })
	case kForIn:
		o.inside(scope{block: true}, func() {
			o.visit(o.field(n, fValue))
			o.javaNamed(n, fName)
			o.visit(o.field(n, fBody))
		})
	default:
		o.javaOther(n)
	}
}

func (o *outliner) javaOther(n int) {
	switch o.code(n) {
	case kParameter:
		o.javaParameter(n)
	case kSpread:
		o.javaSpread(n)
	case kTypeParameters:
		o.javaTypeParameters(n)
	case kLambda:
		o.javaLambda(n)
	case kEnumConstant:
		o.besides(n, o.field(n, fName))
	case kResource:
		if o.field(n, fName) < 0 {
			o.below(n)
			return
		}
		o.visit(o.field(n, fValue))
		o.javaNamed(n, fName)
	case kInstanceof:
		o.javaInstance(n)
	case kTypePattern:
		o.javaPattern(n)
	case kLabel:
		o.besides(n, o.first(n))
	case kJump:
	case kValuePair:
		o.besides(n, o.field(n, fKey))
	default:
		o.below(n)
	}
}

// javaLead reads a chain of names.
func (o *outliner) javaLead(n int, called bool) lead {
	switch o.code(n) {
	case kIdentifier:
		if o.textIs(n, "var") && o.kind(n) == "type_identifier" {
			return nowhere()
		}
		return o.javaBare(n, called)
	case kThis:
		return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.this}
	case kSuper:
		return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.base}
	case kFieldAccess, kScoped:
		return o.javaMember(n, called)
	case kGenericType:
		inner := o.first(n)
		l := o.javaLead(inner, called)
		o.besides(n, inner)
		return l
	case kInvocation:
		o.javaInvocation(n)
		return nowhere()
	case kMethodReference:
		o.javaReference(n)
		return nowhere()
	case kNew:
		typ := o.field(n, fType)
		o.deeper(func() { o.javaLead(typ, true) })
		o.besides(n, typ)
		return lead{root: -1, from: -1, typ: o.javaMade(n)}
	case kParenthesized:
		if c := o.first(n); o.code(c) == kCast || o.code(c) == kNew {
			o.visit(c)
			return lead{root: -1, from: -1, typ: o.javaMade(c)}
		}
	}
	o.visit(n)
	return nowhere()
}

// javaBare is a name alone: a variable, or a member of the types around as far as this text shows them.
func (o *outliner) javaBare(n int, called bool) lead {
	w := o.word(n)
	if o.slot[w] >= 0 && !called {
		return o.use(o.start(n), o.end(n), nil, called)
	}
	at, hides := len(o.out.Uses), o.slot[w]
	o.slot[w] = -1 // methods and variables have names of their own kind
	l := o.use(o.start(n), o.end(n), nil, called)
	o.slot[w] = hides
	want := hasVariable | hasType
	if called {
		want = hasMethod
	} else if o.kind(n) == "type_identifier" {
		want = hasType
	}
	for i := len(o.around) - 1; i >= 0; i-- {
		if o.members[o.around[i].name+"."+o.words[w]]&want != 0 {
			o.out.Uses[at].Type = o.around[i].name
			l.of = o.around[i].name
			break
		}
		if o.around[i].more {
			break
		}
	}
	return l
}

func (o *outliner) javaMember(n int, called bool) lead {
	first, name := o.first(n), -1
	for c := int(o.nodes[first].next); c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if k := o.code(c); k == kIdentifier || k == kThis || k == kSuper {
			name = c
		} else if o.has(c, named) {
			o.visit(c) // an annotation
		}
	}
	if k := o.code(name); k == kThis || k == kSuper {
		l := lead{root: -1, from: o.start(n), to: o.end(n)}
		o.visit(first)
		if k == kThis && o.code(first) == kIdentifier {
			l.typ = o.words[o.word(first)]
		}
		return l
	}
	by := nowhere()
	o.deeper(func() { by = o.javaLead(first, false) })
	if name < 0 {
		return nowhere()
	}
	return o.use(o.start(name), o.end(name), &by, called)
}

func (o *outliner) javaInvocation(n int) {
	object, name := o.field(n, fObject), o.field(n, fName)
	if object < 0 {
		o.javaBare(name, true)
	} else {
		by := nowhere()
		o.deeper(func() { by = o.javaLead(object, false) })
		for c := int(o.nodes[object].next); c < name; c = int(o.nodes[c].next) {
			if o.code(c) == kSuper { // Outer.super.f()
				by = nowhere()
			}
		}
		o.use(o.start(name), o.end(name), &by, true)
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if c != object && c != name && o.code(c) != kSuper {
			o.visit(c)
		}
	}
}

func (o *outliner) javaReference(n int) {
	first := o.first(n)
	by := nowhere()
	o.deeper(func() { by = o.javaLead(first, false) })
	for c := int(o.nodes[first].next); c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kIdentifier {
			o.use(o.start(c), o.end(c), &by, false)
		} else {
			o.visit(c)
		}
	}
}

// javaMade is the type of what is made or cast.
func (o *outliner) javaMade(n int) string {
	if k := o.code(n); k == kNew || k == kCast {
		return o.unhidden(o.javaType(o.field(n, fType)))
	}
	return ""
}

// javaType is the type that is named: T of T and T<U>; an array is none.
func (o *outliner) javaType(n int) string {
	for range maxNesting {
		switch o.code(n) {
		case kGenericType:
			n = o.first(n)
		case kReference:
			if c := o.first(n); c >= 0 && o.nodes[c].next == o.nodes[n].next {
				n = c
			} else {
				return ""
			}
		case kIdentifier, kScoped:
			if text := o.bytes(o.start(n), o.end(n)); isDotted(text) && string(text) != "var" {
				return o.string(o.start(n), o.end(n))
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

func (o *outliner) javaImport(n int) {
	name, static, all := o.first(n), false, false
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		static = static || o.code(c) == kStatic
		all = all || o.code(c) == kStar
	}
	if name < 0 {
		return
	}
	from := o.string(o.start(name), o.end(name))
	if all {
		o.imported(0, Imported{From: from, Name: "*"}, o.start(n))
		return
	}
	dot := len(from)
	for dot > 0 && from[dot-1] != '.' {
		dot--
	}
	last := from[dot:]
	o.imported(0, Imported{From: from[:max(0, dot-1)], Name: last, As: last}, o.start(n))
}

func (o *outliner) javaClass(n int) {
	o.javaMembers()
	name := o.words[o.word(o.field(n, fName))]
	if o.outermost() > 0 && !o.has(n, marked) {
		o.bind(o.here(), o.wordOf([]byte(name)), local, "", true)
	}
	more := false
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kSupers {
			more = true
			o.javaSupers(n, c)
		}
	}
	base := ""
	if c := o.field(n, fSuperclass); c >= 0 {
		base = o.javaType(o.first(c))
	}
	o.javaInside(kin{name, more}, base, n)
}

// javaMembers gathers what the types of the text have, once.
func (o *outliner) javaMembers() {
	if o.members != nil {
		return
	}
	o.members = map[string]member{}
	for _, s := range o.out.Symbols {
		has := hasMethod
		switch s.Kind {
		case "type":
			has = hasType
		case "var":
			has = hasVariable
		}
		if s.Container != "" {
			o.members[s.String()] |= has
		}
	}
}

func (o *outliner) javaSupers(of, n int) {
	for t := n + 1; t < int(o.nodes[n].next); t = int(o.nodes[t].next) {
		if o.code(t) == kUseList {
			o.javaSupers(of, t)
		} else if name := o.javaType(t); name != "" {
			o.super(of, name, o.start(t))
		}
	}
}

// javaInside reads a type's own nodes.
func (o *outliner) javaInside(k kin, base string, n int) {
	class, was, this := o.class, o.base, o.this
	o.class, o.base, o.this = k.name, base, k.name
	o.around = append(o.around, k)
	name := o.field(n, fName)
	o.inside(scope{class: true}, func() {
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			switch {
			case c == name:
			case o.code(c) == kObject: // its own body
				o.below(c)
			default:
				o.visit(c)
			}
		}
	})
	o.around = o.around[:len(o.around)-1]
	o.class, o.base, o.this = class, was, this
}

// javaVariables reads the declarators of one type.
func (o *outliner) javaVariables(n int, fields bool) {
	typ := o.field(n, fType)
	of := o.unhidden(o.javaType(typ))
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) != kDeclarator {
			o.visit(c)
			continue
		}
		in := o.in
		if o.has(c, marked) {
			o.in = o.marks[int32(c)]
		}
		o.javaVariable(c, of, o.textIs(typ, "var"), fields)
		o.in = in
	}
}

func (o *outliner) javaVariable(n int, typ string, inferred, field bool) {
	name, value := o.field(n, fName), o.field(n, fValue)
	if inferred {
		typ = o.javaMade(value)
	}
	if o.field(n, fDimensions) >= 0 {
		typ = ""
	}
	if field {
		o.visit(value)
		o.variable(o.class, o.words[o.word(name)], typ)
		return
	}
	o.bind(o.here(), o.word(name), local, typ, true)
	o.visit(value)
}

// javaNamed reads a node with a type and a name, which it binds.
func (o *outliner) javaNamed(n int, f fieldCode) {
	typ, name := o.field(n, fType), o.field(n, f)
	o.visit(typ)
	of := o.javaType(typ)
	if o.textIs(typ, "var") {
		of = o.javaMade(o.field(n, fValue))
	}
	if o.code(name) == kIdentifier {
		o.bind(o.here(), o.word(name), local, o.unhidden(of), true)
	}
}

func (o *outliner) javaParameter(n int) {
	typ, name := o.field(n, fType), o.field(n, fName)
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kReference && typ < 0 {
			typ = c
		}
		if c != name {
			o.visit(c)
		}
	}
	if o.code(name) != kIdentifier {
		return
	}
	of := o.unhidden(o.javaType(typ))
	if o.field(n, fDimensions) >= 0 {
		of = ""
	}
	o.bind(o.here(), o.word(name), local, of, true)
	if o.scopes[o.here()].class {
		o.variable(o.class, o.words[o.word(name)], of)
	}
}

func (o *outliner) javaSpread(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if name := o.field(c, fName); o.code(c) == kDeclarator && name >= 0 {
			o.bind(o.here(), o.word(name), local, "", true)
		} else {
			o.visit(c)
		}
	}
}

func (o *outliner) javaTypeParameters(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		name := -1
		for d := c + 1; d < int(o.nodes[c].next); d = int(o.nodes[d].next) {
			if o.code(d) == kIdentifier {
				name = d
				break
			}
		}
		if name >= 0 {
			o.bind(o.here(), o.word(name), local, "", true)
			o.besides(c, name)
		}
	}
}

func (o *outliner) javaLambda(n int) {
	parameters := o.field(n, fParameters)
	o.inside(scope{block: true}, func() {
		switch o.code(parameters) {
		case kIdentifier:
			o.bind(o.here(), o.word(parameters), local, "", true)
		case kInferred:
			for c := parameters + 1; c < int(o.nodes[parameters].next); c = int(o.nodes[c].next) {
				if o.code(c) == kIdentifier {
					o.bind(o.here(), o.word(c), local, "", true)
				}
			}
		default:
			o.visit(parameters)
		}
		o.besides(n, parameters)
	})
}

// javaInstance binds the name of x instanceof T name for the block around, since that may be where it is known.
func (o *outliner) javaInstance(n int) {
	name := o.field(n, fName)
	o.besides(n, name)
	if name >= 0 {
		o.bind(o.here(), o.word(name), local, o.unhidden(o.javaType(o.field(n, fRight))), true)
	}
}

// javaPattern binds the last name of a pattern, which stands behind its type.
func (o *outliner) javaPattern(n int) {
	name := -1
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.has(c, named) {
			name = c
		}
	}
	typ := o.first(n)
	if o.code(name) != kIdentifier || name == typ {
		o.below(n)
		return
	}
	o.besides(n, name)
	o.bind(o.here(), o.word(name), local, o.unhidden(o.javaType(typ)), true)
}
