package syntax

// Outline is what one text says about names: what it defines, uses, imports and builds upon. It is what one file gives
// to an index of many; which definition a use means is for the index to say.
type Outline struct {
	Symbols []Symbol
	Uses    []Use
	Imports []Imported
	Supers  []Super
}

// Use is one place at which a name of something defined elsewhere stands. Names that the function around it defines
// itself, as a parameter or a variable, are not uses.
type Use struct {
	Name   string // the last part: total in cart.total
	Before string // what leads to it as it is written, in cart.total "cart"; "" for a name alone, "?" for what is no chain of names
	Type   string // the type of Before where the text itself says it: self, this, a typed parameter, a variable made by calling a type; "" if not
	In     string // the symbol around it as Container.name, "" at the top level
	Start  int    // offset of the name's first byte
	Line   int    // from 1
	Called bool
}

// Imported is one name that a text takes from elsewhere.
type Imported struct {
	From string // module, package or file as written: ./cart, shop.cart, crate::cart, ..models
	Name string // what is taken from it; "" for the module itself, "*" for everything
	As   string // the name by which this text knows it
	Line int
}

// Super is a type that another builds upon: a base class, an interface, a trait, an embedded struct.
type Super struct {
	Of   string // the type, as Container.name
	Name string // what it builds upon, as it is written
	Line int
}

// Outline reads a text. The error is an *Error when it does not parse; then the outline is empty.
func (g Grammar) Outline(src []byte) (Outline, error) {
	if err := g.readable(src); err != nil {
		return Outline{}, err
	}
	symbols, err := g.language.symbols(src)
	return Outline{Symbols: symbols}, err
}
