// Package syntax knows grammars: where the symbols of a text begin and end, what each one promises to its
// callers, and whether a text parses. It leaves addresses, edits and files to others and works on bytes in
// memory only, a cache of its own compiled grammars aside. Whatever the bytes, it answers with symbols or an error, never with a panic, and every span it
// gives is made of whole lines.
package syntax

import (
	"fmt"
	"path"
	"strings"
)

// MaxSource is the longest text that is parsed; a longer one is an error.
const MaxSource = 4 << 20

// Symbol is one definition of a file. Offsets are bytes into the text that was given, byte order mark and
// carriage returns included.
type Symbol struct {
	Name      string
	Container string // type of a method, without pointer and type parameters, or the type or module around a definition; empty at top level
	Kind      string // func, method, type, const, var
	Start     int    // start of the first line, doc comment included
	End       int    // after the last line's ending
	BodyStart int    // where a body begins, with its brace if it has one; End where there is none
	First     int    // first line, from 1, doc comment, decorators and attributes included
	Last      int    // last line
	Head      int    // line on which the definition itself begins, below its doc comment
	Line      int    // line on which the name stands
	Exported  bool
	Grouped   bool   // one of the specs between the parentheses of a const, var or type declaration
	Signature string // what callers rely on, normalised: a doc comment, a parameter's name or a body does not change it
	Decl      Span   // the whole declaration, parentheses included; the symbol itself unless Grouped
}

// Span is whole lines of a text: bytes Start up to End, lines First to Last.
type Span struct{ Start, End, First, Last int }

// String is the symbol's address: name, or Container.name.
func (s Symbol) String() string {
	if s.Container == "" {
		return s.Name
	}
	return s.Container + "." + s.Name
}

// Error says where and why a text does not parse.
type Error struct {
	Line    int // from 1; 0 when no line is to blame
	Column  int // from 1, in bytes
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Grammar reads one language. The zero Grammar reads nothing; For gives the ones there are.
type Grammar struct {
	Name     string // go, python, javascript, typescript, tsx, rust, java
	language language
}

// language is what a grammar has to be able to do. Texts are at most MaxSource long.
type language interface {
	symbols(src []byte) ([]Symbol, error) // in order of their position
	parse(src []byte) error
	fragment(src []byte) ([]Symbol, error)
	literals(src []byte) map[int]bool
	outline(src []byte) (Outline, error)
}

// For gives the grammar of a file by its name. ok is false where there is none.
func For(name string) (g Grammar, ok bool) {
	language := extensions[strings.ToLower(path.Ext(name))]
	if language == "go" {
		return Grammar{Name: "go", language: golang{}}, true
	}
	s, ok := sitters[language]
	if !ok {
		return Grammar{}, false
	}
	return Grammar{Name: language, language: s}, true
}

var extensions = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".pyw": "python",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
	".rs": "rust", ".java": "java",
}

// Exact says whether what does not parse is no program for the language's own tools either. A grammar that is not
// exact may be older than the language: a file that it cannot read may still be one.
func (g Grammar) Exact() bool { return g.Name == "go" }

// Nested says whether a type's methods stand inside it, and are no definitions without it.
func (g Grammar) Nested() bool { return g.Name != "go" && g.Name != "" }

// Symbols gives the definitions of a text in the order in which they stand. The error is an *Error when the
// text does not parse; then there are no symbols.
func (g Grammar) Symbols(src []byte) ([]Symbol, error) {
	if err := g.readable(src); err != nil {
		return nil, err
	}
	return g.language.symbols(src)
}

// Parse is nil when the text is a whole file of the language, and an *Error otherwise.
func (g Grammar) Parse(src []byte) error {
	if err := g.readable(src); err != nil {
		return err
	}
	return g.language.parse(src)
}

// Fragment gives what a text would define if it stood alone at top level, offsets and lines counted in that
// text. The error is an *Error when it could not stand there.
func (g Grammar) Fragment(src []byte) ([]Symbol, error) {
	if err := g.readable(src); err != nil {
		return nil, err
	}
	return g.language.fragment(src)
}

// Literals gives the lines, from 1, that begin inside a string or a comment: their leading white space is
// content and must not be touched. It works on texts that do not parse, too.
func (g Grammar) Literals(src []byte) map[int]bool {
	if g.readable(src) != nil {
		return nil
	}
	return g.language.literals(src)
}

// Enclosing gives the smallest symbol that holds a line, from 1. ok is false where none does, or where the text
// does not parse.
func (g Grammar) Enclosing(src []byte, line int) (sym Symbol, ok bool) {
	all, err := g.Symbols(src)
	if err != nil {
		return Symbol{}, false
	}
	for _, s := range all {
		holds := s.First <= line && line <= s.Last
		if holds && (!ok || s.Last-s.First < sym.Last-sym.First) {
			sym, ok = s, true
		}
	}
	return sym, ok
}

func (g Grammar) readable(src []byte) error {
	if g.language == nil {
		return &Error{Message: "no grammar for this file"}
	}
	if len(src) > MaxSource {
		return &Error{Message: fmt.Sprintf("longer than %d bytes, which is too long to parse", MaxSource)}
	}
	return nil
}
