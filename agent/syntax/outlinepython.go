package syntax

import (
	"bytes"
	"strings"
)

var pythonReader = reader{visit: pythonOutline}

// pythonOutline reads one node of Python. A function's names are its own throughout, a class's only in its body, and
// a comprehension's only in it.
func pythonOutline(o *outliner, n int) {
	switch o.code(n) {
	case kComment, kNone:
	case kIdentifier, kAttribute, kCall:
		o.pythonLead(n, false)
	case kFunction:
		o.pythonFunction(n)
	case kLambda:
		o.pythonLambda(n)
	case kDecorated:
		o.pythonDecorated(n)
	case kClass:
		o.pythonClass(n)
	case kAssign:
		o.pythonAssign(n)
	case kAugmented:
		o.visit(o.field(n, fRight))
		o.pythonTarget(o.field(n, fLeft), o.outermost(), "", true)
	case kWalrus:
		o.visit(o.field(n, fValue))
		o.pythonTarget(o.field(n, fName), o.outermost(), "", true)
	case kFor:
		o.pythonTarget(o.field(n, fLeft), o.outermost(), "", true)
		o.besides(n, o.field(n, fLeft))
	case kComprehension:
		o.pythonComprehension(n)
	case kAsTarget:
		o.pythonTarget(o.first(n), o.outermost(), "", true)
	case kGlobal, kNonlocal:
		o.pythonFree(n)
	case kImport:
		o.pythonImport(n)
	case kFrom:
		o.pythonFrom(n)
	case kType:
		o.pythonType(n)
	case kTypeAlias:
		o.pythonAlias(n)
	case kArgument:
		o.visit(o.field(n, fValue))
	case kCase:
		o.pythonCase(n)
	default:
		o.below(n)
	}
}

// pythonLead reads a chain of names.
func (o *outliner) pythonLead(n int, called bool) lead {
	switch o.code(n) {
	case kIdentifier:
		return o.use(o.start(n), o.end(n), nil, called)
	case kAttribute:
		by := o.pythonLead(o.field(n, fObject), false)
		name := o.field(n, fAttribute)
		return o.use(o.start(name), o.end(name), &by, called)
	case kCall:
		return o.pythonCall(n)
	case kParenthesized:
		if c := o.first(n); o.code(c) == kCall {
			return o.pythonLead(c, false)
		}
	}
	o.visit(n)
	return nowhere()
}

func (o *outliner) pythonCall(n int) lead {
	f := o.field(n, fFunction)
	if o.code(f) == kIdentifier && o.textIs(f, "super") && o.class != "" {
		o.visit(o.field(n, fArguments))
		return lead{root: -1, from: o.start(f), to: o.end(f), typ: o.base}
	}
	o.deeper(func() { o.pythonLead(f, true) })
	o.visit(o.field(n, fArguments))
	l := nowhere()
	l.typ = o.pythonMade(n)
	return l
}

// pythonMade is the type that a call makes: what is called is a class of this text, or has a class's name.
func (o *outliner) pythonMade(n int) string {
	f := o.field(n, fFunction)
	if o.code(n) != kCall || o.code(f) != kIdentifier && o.code(f) != kAttribute || !o.dotted(f) {
		return ""
	}
	text := o.string(o.start(f), o.end(f))
	if last := text[strings.LastIndexByte(text, '.')+1:]; o.types[text] || last[0] >= 'A' && last[0] <= 'Z' && strings.ToUpper(last) != last {
		return text
	}
	return ""
}

// dotted says whether a node's text is names with dots between them.
func (o *outliner) dotted(n int) bool { return isDotted(o.bytes(o.start(n), o.end(n))) }

func isDotted(text []byte) bool {
	start := true
	for _, b := range text {
		letter := b == '_' || b >= 0x80 || b|0x20 >= 'a' && b|0x20 <= 'z'
		switch {
		case letter, !start && b >= '0' && b <= '9':
			start = false
		case b == '.' && !start:
			start = true
		default:
			return false
		}
	}
	return !start
}

func (o *outliner) textIs(n int, want string) bool {
	return n >= 0 && string(o.bytes(o.start(n), o.end(n))) == want
}

// pythonDecorated reads decorators and what they are on.
func (o *outliner) pythonDecorated(n int) {
	static := false
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.fieldOf(c) == fDefinition {
			o.static = static
		} else {
			static = static || o.textIs(o.first(c), "staticmethod")
		}
		o.visit(c)
	}
	o.static = false
}

func (o *outliner) pythonFunction(n int) {
	name, parameters := o.field(n, fName), o.field(n, fParameters)
	method := o.scopes[o.here()].class && !o.static
	o.static = false
	o.bind(o.outermost(), o.word(name), local, "", true)
	read := func() {
		o.pythonSurroundings(parameters)
		o.visit(o.field(n, fReturn))
		o.inside(scope{}, func() {
			o.pythonParameters(parameters, method)
			o.visit(o.field(n, fBody))
		})
	}
	types := o.field(n, fTypeParameters)
	if types < 0 {
		read()
		return
	}
	o.inside(scope{block: true}, func() {
		o.pythonTypeParameters(types)
		read()
	})
}

// pythonSurroundings reads what a parameter list takes from outside: types and defaults.
func (o *outliner) pythonSurroundings(n int) {
	if n < 0 {
		return
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		o.visit(o.field(c, fType))
		o.visit(o.field(c, fValue))
	}
}

// pythonParameters binds parameters; a method's first one is of its class.
func (o *outliner) pythonParameters(n int, method bool) {
	if n < 0 {
		return
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kIdentifier:
			typ := ""
			if method && (o.textIs(c, "self") || o.textIs(c, "cls") || o.textIs(c, "mcs")) {
				typ = o.class
			}
			o.bind(o.here(), o.word(c), local, typ, true)
		case kParameter:
			typ := ""
			if o.code(o.first(c)) == kIdentifier {
				typ = o.pythonTypeName(o.field(c, fType))
			}
			o.pythonTarget(o.first(c), o.here(), typ, true)
		case kDefaultParameter:
			o.pythonTarget(o.field(c, fName), o.here(), o.pythonTypeName(o.field(c, fType)), true)
		case kPattern:
			o.pythonTarget(c, o.here(), "", true)
		default:
			continue
		}
		method = false
	}
}

func (o *outliner) pythonLambda(n int) {
	parameters := o.field(n, fParameters)
	o.pythonSurroundings(parameters)
	o.inside(scope{}, func() {
		o.pythonParameters(parameters, false)
		o.visit(o.field(n, fBody))
	})
}

func (o *outliner) pythonClass(n int) {
	name, supers := o.field(n, fName), o.field(n, fSupers)
	o.bind(o.outermost(), o.word(name), local, "", true)
	class, base := o.class, o.base
	o.class, o.base = o.words[o.word(name)], ""
	bases := 0
	for c := supers + 1; supers >= 0 && c < int(o.nodes[supers].next); c = int(o.nodes[c].next) {
		if b := o.pythonBase(c); b != "" {
			o.super(n, b, o.start(c))
			o.base = b
			bases++
		}
	}
	if bases > 1 {
		o.base = ""
	}
	o.inside(scope{class: true}, func() {
		o.pythonTypeParameters(o.field(n, fTypeParameters))
		o.visit(supers)
		o.visit(o.field(n, fBody))
	})
	o.class, o.base = class, base
}

// pythonBase is a base class as it is written, without what is in brackets.
func (o *outliner) pythonBase(n int) string {
	if o.code(n) == kSubscript {
		n = o.field(n, fValue)
	}
	if (o.code(n) == kIdentifier || o.code(n) == kAttribute) && o.dotted(n) {
		return o.string(o.start(n), o.end(n))
	}
	return ""
}

// super notes what a type builds upon, where the type is a symbol.
func (o *outliner) super(of int, name string, at int) {
	if o.in != "" && o.has(of, marked) {
		o.out.Supers = append(o.out.Supers, Super{Of: o.marks[int32(of)], Name: name, Line: o.lineOf(at)})
	}
}

func (o *outliner) pythonAssign(n int) {
	value, typ := o.field(n, fRight), o.field(n, fType)
	o.visit(typ)
	o.visit(value)
	of := o.pythonTypeName(typ)
	if typ < 0 {
		of = o.pythonMade(value)
	}
	left := o.field(n, fLeft)
	if o.code(left) == kAttribute {
		o.pythonVariable(left, of, value)
	}
	if class := o.scopes[o.here()].class; class && o.code(left) == kIdentifier && typ >= 0 {
		o.variable(o.class, o.words[o.word(left)], of)
	}
	o.pythonTarget(left, o.outermost(), of, typ >= 0 || value >= 0 && o.code(value) != kNone)
}

// pythonVariable notes the type of self.x where it is assigned to.
func (o *outliner) pythonVariable(n int, typ string, value int) {
	object := o.field(n, fObject)
	if o.code(object) != kIdentifier || o.code(value) == kNone && typ == "" {
		return
	}
	at := o.slot[o.word(object)]
	if at < 0 || o.binds[at].typ != o.class {
		return
	}
	if o.code(value) == kIdentifier && typ == "" {
		if v := o.slot[o.word(value)]; v >= 0 && o.binds[v].how == local {
			typ = o.binds[v].typ
		}
	}
	o.variable(o.class, o.words[o.word(o.field(n, fAttribute))], typ)
}

// pythonTarget binds what is assigned to, or reads it where it is no name.
func (o *outliner) pythonTarget(n, scope int, typ string, sure bool) {
	switch o.code(n) {
	case kIdentifier:
		if as := o.bind(scope, o.word(n), local, typ, sure); as == free || as == outer {
			o.loosen(o.word(n))
			o.use(o.start(n), o.end(n), nil, false)
		}
	case kPattern, kSplat, kParenthesized:
		o.deeper(func() {
			for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
				if o.has(c, named) {
					o.pythonTarget(c, scope, "", true)
				}
			}
		})
	default:
		o.visit(n)
	}
}

// pythonComprehension reads the clauses in front of the value; the first one's iterable is the surroundings' affair.
func (o *outliner) pythonComprehension(n int) {
	outer := -1
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kForClause {
			outer = o.field(c, fRight)
			break
		}
	}
	o.visit(outer)
	o.inside(scope{block: true}, func() {
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			if o.code(c) != kForClause {
				o.visit(c)
				continue
			}
			o.pythonTarget(o.field(c, fLeft), o.here(), "", true)
			if right := o.field(c, fRight); right != outer {
				o.visit(right)
			}
		}
	})
}

func (o *outliner) pythonFree(n int) {
	as := outer
	if o.code(n) == kGlobal {
		as = free
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kIdentifier && o.outermost() > 0 {
			o.bind(o.outermost(), o.word(c), as, "", true)
		}
	}
}

func (o *outliner) pythonImport(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kDotted:
			name := o.string(o.start(c), o.end(c))
			o.imported(o.outermost(), Imported{From: name, As: name}, o.start(c))
		case kAlias:
			name, as := o.field(c, fName), o.field(c, fAlias)
			o.imported(o.outermost(), Imported{From: o.string(o.start(name), o.end(name)), As: o.words[o.word(as)]}, o.start(c))
		}
	}
}

func (o *outliner) pythonFrom(n int) {
	module := o.field(n, fModule)
	from := o.string(o.start(max(module, n)), o.end(module))
	for c := int(o.nodes[module].next); c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kDotted:
			name := o.string(o.start(c), o.end(c))
			o.imported(o.outermost(), Imported{From: from, Name: name, As: name}, o.start(c))
		case kAlias:
			name, as := o.field(c, fName), o.field(c, fAlias)
			o.imported(o.outermost(), Imported{From: from, Name: o.string(o.start(name), o.end(name)), As: o.words[o.word(as)]}, o.start(c))
		case kStar:
			o.imported(o.outermost(), Imported{From: from, Name: "*"}, o.start(c))
		}
	}
}

// pythonType reads an annotation; one in quotes counts where it is no more than a name.
func (o *outliner) pythonType(n int) {
	c := o.first(n)
	if o.code(c) != kString {
		o.below(n)
		return
	}
	from, to := o.unquoted(c)
	if !isDotted(o.bytes(from, to)) {
		return
	}
	var by *lead
	for at := from; at < to; {
		end := to
		if dot := bytes.IndexByte(o.bytes(at, to), '.'); dot >= 0 {
			end = at + dot
		}
		l := o.use(at, end, by, false)
		by, at = &l, end+1
	}
}

// unquoted is what stands between plain quotes.
func (o *outliner) unquoted(n int) (from, to int) {
	from, to = o.start(n), o.end(n)
	if to-from < 2 || o.src[from] != o.src[to-1] || o.src[from] != '"' && o.src[from] != '\'' {
		return from, from
	}
	return from + 1, to - 1
}

// pythonTypeName is the class that an annotation names: C of C, m.C, C[T], "C", C | None and Optional[C].
func (o *outliner) pythonTypeName(n int) string {
	for range maxNesting {
		switch o.code(n) {
		case kType, kParenthesized:
			n = o.first(n)
		case kString:
			if from, to := o.unquoted(n); isDotted(o.bytes(from, to)) {
				return o.string(from, to)
			}
			return ""
		case kBinary:
			left, right := o.field(n, fLeft), o.field(n, fRight)
			switch {
			case o.code(right) == kNone:
				n = left
			case o.code(left) == kNone:
				n = right
			default:
				return ""
			}
		case kGenericType:
			if name := o.first(n); o.textIs(name, "Optional") {
				n = o.first(int(o.nodes[name].next))
			} else {
				n = name
			}
		case kSubscript:
			n = o.field(n, fValue)
		case kIdentifier, kAttribute:
			if o.dotted(n) {
				return o.string(o.start(n), o.end(n))
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// pythonTypeParameters binds the parameters of a generic definition and reads their bounds.
func (o *outliner) pythonTypeParameters(n int) {
	if n < 0 {
		return
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		name := o.first(c)
		for depth := 0; name >= 0 && o.code(name) != kIdentifier && depth < 4; depth++ {
			name = o.first(name)
		}
		if o.code(name) == kIdentifier {
			o.bind(o.here(), o.word(name), local, "", true)
			o.below(c)
		}
	}
}

// pythonAlias reads type A[T] = ….
func (o *outliner) pythonAlias(n int) {
	left := o.first(n)
	name := o.first(left)
	o.inside(scope{}, func() {
		if o.code(name) == kGenericType {
			for c := name + 1; c < int(o.nodes[name].next); c = int(o.nodes[c].next) {
				if o.code(c) == kTypeParameters {
					o.pythonTypeParameters(c)
				}
			}
			name = o.first(name)
		}
		o.besides(n, left)
	})
	if o.code(name) == kIdentifier {
		o.bind(o.outermost(), o.word(name), local, "", true)
	}
}

// pythonCase reads a pattern of match: a name alone is bound, one with dots or of a class is used.
func (o *outliner) pythonCase(n int) {
	switch o.code(n) {
	case kDotted:
		c := o.first(n)
		if o.nodes[c].next == o.nodes[n].next {
			o.pythonTarget(c, o.outermost(), "", true)
			return
		}
		o.pythonDotted(n)
	case kIdentifier: // behind as, a star, or two stars
		o.pythonTarget(n, o.outermost(), "", true)
	case kAttribute, kCall, kString:
		o.visit(n)
	default:
		class, key := o.code(n) == kClassPattern, o.code(n) == kKeywordPattern
		o.deeper(func() {
			for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
				switch {
				case class && o.code(c) == kDotted:
					o.pythonDotted(c)
				case key && o.code(c) == kIdentifier:
				default:
					o.pythonCase(c)
				}
				class, key = false, false
			}
		})
	}
}

// pythonDotted uses the names of a dotted one.
func (o *outliner) pythonDotted(n int) {
	var by *lead
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.code(c) == kIdentifier {
			l := o.use(o.start(c), o.end(c), by, false)
			by = &l
		}
	}
}
