package syntax

// Outline is what one text says about names: what it defines, uses, imports and builds upon. It is what one file gives
// to an index of many; which definition a use means is for the index to say.
type Outline struct {
	Package string // what Go's package clause and Java's package line say
	Default string // of JavaScript and TypeScript: the name of what it exports by default, where that has one
	Symbols []Symbol
	Uses    []Use // in no order that means anything; Start has it
	Imports []Imported
	Supers  []Super
}

// Use is one place at which a name of something defined elsewhere stands. Names that the function around it defines
// itself, as a parameter or a variable, are not uses; what is reached through them is. Each name of a chain is a use
// of its own.
type Use struct {
	Name   string // the last part: total in cart.total
	Before string // what leads to it as it is written, in cart.total "cart"; "" for a name alone, "super" for super().total, "?" for what is no chain of names
	Type   string // the type of Before where the text itself says it: self, this, a typed parameter, a variable made by calling a type; of a name alone the type, namespace or module of this text whose member it is; "" if not
	Local  bool   // Before begins with a name of the function around: no import and nothing of the file's top level has to do with it
	In     string // the symbol around it as Container.name, "" at the top level
	Start  int    // offset of the name's first byte
	Line   int    // from 1
	Called bool
}

// Imported is one name that a text takes from elsewhere. Go: From is the path, As the package's name as its last
// element has it, and a dot import's Name is "*". Python: import a.b is known as a.b. JavaScript: the default export's
// Name is "default", and require and import() count where their argument is a string. Rust: self and super count from
// the file's own module, and mod cart; is an import From "self::cart" without a Name. Java: From is the package, or the
// type of a static import.
type Imported struct {
	From     string // module, package or file as written: ./cart, shop.cart, crate::cart, ..models
	Name     string // what is taken from it; "" for the module itself, "*" for everything
	As       string // the name by which this text knows it; of an export-from the name by which others do; "" for none
	In       string // the symbol inside which alone it is known, "" for the whole text
	Exported bool   // it is given on: export … from, pub use
	Line     int
}

// Super is a type that another builds upon: a base class, an interface, a trait, an embedded struct.
type Super struct {
	Of   string // the type, as Container.name
	Name string // what it builds upon as it is written, without type parameters and references
	Line int
}

// Outline reads a text. The error is an *Error when it does not parse; then the outline is empty. What is nested very
// deeply is left out.
func (g Grammar) Outline(src []byte) (out Outline, err error) {
	if err := g.readable(src); err != nil {
		return Outline{}, err
	}
	defer func() { // a tree of an unforeseen shape costs its own file alone
		if recover() != nil {
			out, err = Outline{}, &Error{Message: "its outline could not be made"}
		}
	}()
	return g.language.outline(src)
}
