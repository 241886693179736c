package syntax

var scriptReader = reader{visit: scriptOutline}

// scriptOutline reads one node of JavaScript or TypeScript. var and functions belong to the function around, let, const
// and classes to the block, and all of them to the whole of it.
func scriptOutline(o *outliner, n int) {
	switch o.code(n) {
	case kComment, kNone, kString, kThis, kSuper, kAccess, kClosingTag:
	case kIdentifier, kPatternName, kMember, kCall, kNew:
		o.scriptLead(n, false)
	case kFunction, kLambda:
		o.scriptFunction(n)
	case kArrow, kMethod, kFunctionType:
		o.scriptBody(n)
	case kClass, kInterface:
		o.scriptClass(n)
	case kTypeAlias:
		o.bind(o.here(), o.word(o.field(n, fName)), local, "", true)
		o.inside(scope{block: true}, func() { o.besides(n, o.field(n, fName)) })
	case kObject:
		this := o.this
		o.this = ""
		o.below(n)
		o.this = this
	case kBlock:
		o.inside(scope{block: true}, func() { o.below(n) })
	case kConditional:
		o.inside(scope{block: true}, func() {
			was := o.infers
			o.infers = o.here()
			o.below(n)
			o.infers = was
		})
	case kLexical, kVar:
		o.scriptVariables(n)
	case kForIn:
		o.scriptForIn(n)
	case kCatch:
		o.inside(scope{block: true}, func() {
			o.scriptPattern(o.field(n, fParameter), o.here(), "")
			o.besides(n, o.field(n, fParameter))
		})
	default:
		o.scriptOther(n)
	}
}

func (o *outliner) scriptOther(n int) {
	switch o.code(n) {
	case kExport:
		o.scriptExport(n)
	case kImport:
		o.scriptImport(n)
	case kEnum:
		o.scriptEnum(n)
	case kNamespace:
		o.scriptNamespace(n)
	case kInfer: // known in the whole conditional type
		name := o.first(n)
		o.bind(min(o.infers, o.here()), o.word(name), local, "", true)
		o.besides(n, name)
	case kTypeParameter, kMapped:
		name := o.first(n)
		o.bind(o.here(), o.word(name), local, "", true)
		o.besides(n, name)
	case kIndexSignature:
		o.inside(scope{block: true}, func() {
			name := o.field(n, fName)
			if name >= 0 {
				o.bind(o.here(), o.word(name), local, "", true)
			}
			o.besides(n, name)
		})
	case kPredicate:
		o.besides(n, o.field(n, fName))
	case kField:
		o.scriptField(n)
	case kParameter:
		o.scriptParameter(n)
	case kTag:
		o.scriptTag(n)
	case kAssign:
		o.scriptAssign(n)
	default:
		o.below(n)
	}
}

// scriptLead reads a chain of names.
func (o *outliner) scriptLead(n int, called bool) lead {
	switch o.code(n) {
	case kIdentifier, kPatternName:
		if o.textIs(n, "arguments") {
			return nowhere()
		}
		return o.use(o.start(n), o.end(n), nil, called)
	case kThis:
		return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.this}
	case kSuper:
		return lead{root: -1, from: o.start(n), to: o.end(n), typ: o.base}
	case kMember:
		return o.scriptMember(n, called)
	case kNonNull:
		return o.scriptLead(o.first(n), called)
	case kParenthesized:
		if c := o.first(n); o.code(c) == kNew || o.code(c) == kAsExpression {
			return o.scriptLead(c, false)
		}
	case kCall:
		if !o.scriptRequired(n) {
			f := o.field(n, fFunction)
			o.deeper(func() { o.scriptLead(f, true) })
			o.besides(n, f)
		}
		return nowhere()
	case kNew:
		c := o.field(n, fConstructor)
		o.deeper(func() { o.scriptLead(c, true) })
		o.besides(n, c)
		l := nowhere()
		l.typ = o.scriptMade(n)
		return l
	case kAsExpression:
		o.below(n)
		l := nowhere()
		l.typ = o.scriptMade(n)
		return l
	}
	o.visit(n)
	return nowhere()
}

func (o *outliner) scriptMember(n int, called bool) lead {
	object, name := o.field(n, fObject), o.field(n, fProperty)
	if name < 0 {
		name = o.field(n, fName)
	}
	by := nowhere()
	o.deeper(func() { by = o.scriptLead(object, false) })
	if name < 0 {
		return nowhere()
	}
	return o.use(o.start(name), o.end(name), &by, called)
}

// scriptMade is the type that an expression says: new T and as T.
func (o *outliner) scriptMade(n int) string {
	switch o.code(n) {
	case kNew:
		if c := o.field(n, fConstructor); (o.code(c) == kIdentifier || o.code(c) == kMember) && o.dotted(c) {
			return o.string(o.start(c), o.end(c))
		}
	case kAsExpression:
		last := -1
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			if o.has(c, named) {
				last = c
			}
		}
		return o.scriptType(last)
	case kParenthesized, kNonNull:
		if c := o.first(n); o.code(c) == kNew || o.code(c) == kAsExpression {
			return o.scriptMade(c)
		}
	}
	return ""
}

// scriptType is the type that an annotation names: T of T, T<X>, a.T and T | undefined.
func (o *outliner) scriptType(n int) string {
	for range maxNesting {
		switch o.code(n) {
		case kAnnotation, kParenthesized, kGenericType:
			n = o.first(n)
		case kIdentifier, kMember:
			if o.dotted(n) {
				return o.string(o.start(n), o.end(n))
			}
			return ""
		case kUnion:
			only := -1
			for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
				switch {
				case !o.has(c, named) || o.nothing(c):
				case only >= 0:
					return ""
				default:
					only = c
				}
			}
			n = only
		default:
			return ""
		}
	}
	return ""
}

// nothing says whether a type is null or undefined.
func (o *outliner) nothing(n int) bool {
	return o.code(n) == kNone && (o.textIs(n, "null") || o.textIs(n, "undefined"))
}

func (o *outliner) scriptFunction(n int) {
	name, this := o.field(n, fName), o.this
	o.this = ""
	if name >= 0 && o.code(n) == kFunction {
		o.bind(o.here(), o.word(name), local, "", true)
	}
	if of, ok := o.prototypes[n]; ok {
		o.this = of
	}
	o.scriptBody(n)
	o.this = this
}

// scriptBody reads what a function takes and does; the name of a function in an expression is known only in it.
func (o *outliner) scriptBody(n int) {
	name := o.field(n, fName)
	if o.code(name) == kComputed {
		o.visit(name)
	}
	o.inside(scope{}, func() {
		if o.code(n) == kLambda && name >= 0 {
			o.bind(o.here(), o.word(name), local, "", true)
		}
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			switch {
			case c == name:
			case o.code(c) == kBlock:
				o.below(c)
			case o.fieldOf(c) == fParameter:
				o.scriptPattern(c, o.here(), "")
			case o.code(c) == kParameters:
				o.scriptParameters(c)
			default:
				o.visit(c)
			}
		}
	})
}

func (o *outliner) scriptParameters(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kParameter {
			o.scriptParameter(c)
		} else if o.has(c, named) {
			o.scriptPattern(c, o.here(), "")
		}
	}
}

// scriptParameter reads a parameter of TypeScript; one with an access word is a field, too.
func (o *outliner) scriptParameter(n int) {
	pattern, typ := o.field(n, fPattern), o.scriptType(o.field(n, fType))
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch {
		case c == pattern:
			o.scriptPattern(c, o.here(), typ)
		case o.code(c) == kAccess && o.code(pattern) == kIdentifier:
			o.variable(o.class, o.words[o.word(pattern)], typ)
		default:
			o.visit(c)
		}
	}
}

// scriptPattern binds the names of a pattern and reads its defaults.
func (o *outliner) scriptPattern(n, s int, typ string) {
	switch o.code(n) {
	case kIdentifier, kPatternName:
		w := o.word(n)
		o.bind(s, w, local, typ, true)
		if b := o.slot[w]; typ != "" && b >= 0 {
			o.binds[b].said = true
		}
	case kPattern:
		o.deeper(func() {
			for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
				if o.has(c, named) {
					o.scriptPattern(c, s, "")
				}
			}
		})
	case kPairPattern:
		if key := o.field(n, fKey); o.code(key) == kComputed {
			o.visit(key)
		}
		o.deeper(func() { o.scriptPattern(o.field(n, fValue), s, "") })
	case kDefaultPattern:
		o.visit(o.field(n, fRight))
		o.deeper(func() { o.scriptPattern(o.field(n, fLeft), s, typ) })
	default:
		o.visit(n)
	}
}

// scriptVariables reads let, const and var.
func (o *outliner) scriptVariables(n int) {
	s := o.here()
	if o.code(n) == kVar {
		s = o.outermost()
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kDeclarator {
			in := o.in
			if o.has(c, marked) {
				o.in = o.marks[int32(c)]
			}
			o.scriptVariable(c, s)
			o.in = in
		}
	}
}

func (o *outliner) scriptVariable(n, s int) {
	name, typ, value := o.field(n, fName), o.field(n, fType), o.field(n, fValue)
	o.visit(typ)
	if o.scriptModule(name, value, s) {
		return
	}
	o.visit(value)
	of := o.scriptType(typ)
	if of != "" || o.code(name) != kIdentifier {
		o.scriptPattern(name, s, of)
		return
	}
	o.bind(s, o.word(name), local, o.scriptMade(value), typ >= 0 || value >= 0 && o.code(value) != kNone)
}

func (o *outliner) scriptForIn(n int) {
	o.inside(scope{block: true}, func() {
		left := o.field(n, fLeft)
		kind := o.field(n, fKind)
		switch {
		case kind < 0:
			o.visit(left)
		case o.textIs(kind, "var"):
			o.scriptPattern(left, o.outermost(), "")
		default:
			o.scriptPattern(left, o.here(), "")
		}
		o.besides(n, left)
	})
}

func (o *outliner) scriptAssign(n int) {
	left, right := o.field(n, fLeft), o.field(n, fRight)
	if o.textIs(left, "module.exports") || o.textIs(left, "exports.default") {
		o.scriptExported(right)
	}
	if o.code(left) == kMember {
		object, name := o.field(left, fObject), o.field(left, fProperty)
		if o.code(object) == kThis && o.code(right) != kNone {
			o.variable(o.this, o.words[o.word(name)], o.scriptMade(right))
		}
		if of, ok := o.prototype(object); ok && o.code(right) == kLambda {
			if o.prototypes == nil {
				o.prototypes = map[int]string{}
			}
			o.prototypes[right] = of
		}
	}
	o.visit(left)
	o.visit(right)
	if o.code(left) == kIdentifier {
		o.change(o.word(left), o.scriptMade(right))
	}
}

// prototype is the T of T.prototype.
func (o *outliner) prototype(n int) (string, bool) {
	object := o.field(n, fObject)
	if o.code(n) != kMember || o.code(object) != kIdentifier || !o.textIs(o.field(n, fProperty), "prototype") {
		return "", false
	}
	return o.words[o.word(object)], true
}

// scriptTag reads an element's name, which is a component where it begins with a capital or has dots.
func (o *outliner) scriptTag(n int) {
	name := o.field(n, fName)
	if b := o.bytes(o.start(name), o.end(name)); len(b) > 0 && (o.code(name) == kMember || b[0] < 'a' || b[0] > 'z') {
		o.scriptLead(name, true)
	}
	o.besides(n, name)
}
