package patch

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Slip is the model's mistake: refused, with a remedy in one sentence. It is told to the model, never to the log.
type Slip struct {
	Code   Code   `json:"code"`
	File   string `json:"file,omitempty"`
	Addr   string `json:"addr,omitempty"`
	Text   string `json:"text"`   // what was wrong
	Remedy string `json:"remedy"` // what to do instead
}

func (s *Slip) Error() string { return s.Text + " " + s.Remedy }

// Code names a kind of slip. The list is closed: Codes has all of them.
type Code = string

const (
	NoEdit     Code = "no_edit"    // nothing in the answer is an edit
	Unclosed   Code = "unclosed"   // a fence is not closed: the answer was cut off
	BadHeader  Code = "bad_header" // a header without an address that can be read
	NoBody     Code = "no_body"    // a header without a fence
	SameAnswer Code = "same_answer"
	Limit      Code = "limits" // too many files, lines, bytes or edits

	IsProtected Code = "protected"
	Escapes     Code = "escapes"   // a path that leads out, into .git, or means different things on different machines
	Collision   Code = "collision" // a path that another one cannot be told apart from on every machine
	NotText     Code = "not_text"  // binary
	Symlink     Code = "symlink"
	Submodule   Code = "submodule"
	Mode        Code = "mode"
	BadDiff     Code = "bad_diff" // a diff that says what no edit may say, or that cannot be read

	UnknownFile   Code = "unknown_file"
	TwoEditsAFile Code = "two_edits_a_file" // two edits make the same new file
	Empty         Code = "empty"            // a new file or a whole file without content
	BadRange      Code = "bad_range"
	NoFit         Code = "no_fit"     // old text that stands nowhere in the file, or in several places
	NotShown      Code = "not_shown"  // an edit that replaces lines the model has not seen
	NoGrammar     Code = "no_grammar" // a symbol of a file whose language is not known
	NoSymbol      Code = "no_symbol"
	Ambiguous     Code = "ambiguous_symbol"
	Exists        Code = "exists" // what is to be created is there
	NoContainer   Code = "no_container"
	Overlap       Code = "overlap"

	DoesNotParse   Code = "does_not_parse"
	SymbolGone     Code = "symbol_gone" // a replacement that no longer defines its symbol
	OtherName      Code = "other_name"  // a creation whose body defines another name
	LostExport     Code = "lost_export"
	NothingChanged Code = "nothing_changed"
)

// Codes is every code that a Slip of this package can have.
var Codes = []Code{
	NoEdit, Unclosed, BadHeader, NoBody, SameAnswer, Limit,
	IsProtected, Escapes, Collision, NotText, Symlink, Submodule, Mode, BadDiff,
	UnknownFile, TwoEditsAFile, Empty, BadRange, NoFit, NotShown, NoGrammar, NoSymbol, Ambiguous, Exists, NoContainer, Overlap,
	DoesNotParse, SymbolGone, OtherName, LostExport, NothingChanged,
}

// form is the way an edit is written, said in one line, so that a note with it in it never reads as an edit.
const form = "write a line such as `# edit: FILE :: ADDRESS` and below it the new text in a fence of three backticks"

// RepeatedAnswer is the slip for an answer that was given in an earlier turn. Whoever keeps the turns decides it.
func RepeatedAnswer(turn int) *Slip {
	return &Slip{Code: SameAnswer, Text: fmt.Sprintf("This is the answer of turn %d again.", turn),
		Remedy: "That one did not work; change something else, or rewrite the whole function."}
}

func slip(code Code, e Edit, text, remedy string) *Slip {
	return &Slip{Code: code, File: e.File, Addr: e.Addr, Text: text, Remedy: remedy}
}

// about is an edit that stands for a file alone, for slips.
func about(file string) Edit { return Edit{File: file} }

// place names an edit in a sentence.
func (e Edit) place() string { return quote(e.File) + " :: " + quote(e.Addr) }

// quote shows a text of unknown origin in one short line.
func quote(s string) string {
	const longest = 160
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || hidden(r) {
			return '\ufffd'
		}
		return r
	}, s)
}

// list joins a few names with commas; of many it shows the first ones.
func list(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
