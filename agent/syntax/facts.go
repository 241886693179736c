package syntax

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Fact is one thing that a text says, in a shape that is the same for every language: a lint asks for it by name and
// need not know grammars.
type Fact struct {
	Kind   FactKind
	Text   string   // see FactKind
	Args   []string // see FactKind
	Called bool     // of a Ref: it is called, with Args
	Start  int      // offset of the first byte
	Line   int      // from 1
	Func   string   // the function around it as Container.name, "" at the top level
	Guard  string   // of a Literal that is a result or is assigned: the literal that decides for it, "" for none
	Usage  Usage    // of a Literal
	Body   Body     // of a Func and a Catch
	Size   int      // of a Func: its statements
}

// FactKind says what the rest of a Fact means.
type FactKind int

const (
	NoFact  FactKind = iota
	Ref              // Text is a name with what leads to it, imports followed, as in os.environ.get or typeof x; Args are the arguments' texts
	Literal          // Text is a string's or number's value, joined where constants are added
	Assign           // Text is the name that is assigned to, as in a Ref, or a macro's with its !; Args is the value's text
	Func             // Text is Container.name; Args are the parameters' names
	Catch            // Text is what is caught, "" for everything
	Comment          // Text is the comment
	Mark             // Text is a decorator, attribute or annotation without its sign; Args is the word that opens what it is on
	Import           // Text is the module or package
	Keep             // of Go: the last result of a call of Text is given a name
	Discard          // of Go: the last result of a call of Text is given to nobody
	Count            // Text is a variable of the file's top level, or one that outlives a call, that counts on
)

// Usage says what a literal is for.
type Usage int

const (
	Other    Usage = iota
	Compared       // with something, or a case's label or a table's key
	Result         // what a function returns, or a table's value
)

// Body is how much a body does.
type Body int

const (
	Works    Body = iota
	Empty         // nothing at all
	Constant      // it gives a constant, or says that it is not written
	Rethrows      // it throws again
)

// Facts gives what a text says in the order in which it says it. The error is an *Error when it does not parse.
func (g Grammar) Facts(src []byte) ([]Fact, error) {
	if err := g.readable(src); err != nil {
		return nil, err
	}
	if s, ok := g.language.(sitter); ok {
		return s.facts(src)
	}
	return goFacts(src)
}

func (s sitter) facts(src []byte) ([]Fact, error) {
	t, err := s.tree(src)
	if err != nil {
		return nil, err
	}
	r := &reading{tree: t, alias: map[string]string{}}
	r.imports()
	for n := range t.nodes {
		r.visit(n)
	}
	slices.SortStableFunc(r.found, func(a, b Fact) int { return cmp.Compare(a.Start, b.Start) })
	return r.found, nil
}

// reading gathers the facts of a tree.
type reading struct {
	*tree
	alias   map[string]string // a name of this file and what it stands for
	found   []Fact
	outlive map[string]bool // see lasting; nil until it is asked for
}

// maxChain is how far a chain of names is followed; nobody writes longer ones by hand.
const maxChain = 40

func (r *reading) add(f Fact, n int) {
	f.Start, f.Line, f.Func = r.start(n), r.line(r.start(n)), r.around(n)
	r.found = append(r.found, f)
}

func (r *reading) visit(n int) {
	if r.comment(n) {
		r.add(Fact{Kind: Comment, Text: r.text(n)}, n)
		return
	}
	if !r.has(n, named) {
		return
	}
	switch {
	case r.is(n, funcKinds...):
		r.function(n)
	case r.is(n, "except_clause", "except_group_clause", "catch_clause"):
		r.catch(n)
	case r.is(n, "decorator", "attribute_item", "inner_attribute_item", "annotation", "marker_annotation"):
		r.mark(n)
	case r.is(n, "assignment", "augmented_assignment", "assignment_expression", "augmented_assignment_expression", "variable_declarator", "delete_statement"):
		r.assign(n)
	case r.is(n, "token_tree"):
		r.tokens(n)
	case r.is(n, "macro_definition"):
		r.add(Fact{Kind: Assign, Text: r.text(r.at(n, "name")) + "!", Args: []string{""}}, n)
	case r.is(n, "unary_expression") && r.child(n, "typeof") >= 0:
		r.add(Fact{Kind: Ref, Text: "typeof " + r.chain(r.last1(n), 0)}, n)
	}
	r.reference(n)
	r.literal(n)
	r.counts(n)
}

// counts finds what a function counts on from call to call: a variable of the file's top level, or a static of Rust.
func (r *reading) counts(n int) {
	of := -1
	switch r.kind(n) {
	case "augmented_assignment", "augmented_assignment_expression":
		of = r.at(n, "left")
	case "update_expression":
		of = r.at(n, "argument")
	case "call", "call_expression":
		f := r.at(n, "function")
		if r.is(f, "identifier") && r.text(f) == "next" {
			if args := r.named(r.at(n, "arguments")); len(args) == 1 {
				of = args[0]
			}
		} else if r.is(f, "field_expression") && strings.HasPrefix(r.text(r.at(f, "field")), "fetch_") {
			of = r.at(f, "value")
		}
	}
	for of >= 0 && !r.is(of, "identifier") && len(r.named(of)) > 0 {
		of = r.named(of)[0]
	}
	if of >= 0 && r.is(of, "identifier") && r.around(n) != "" && r.lasting()[r.text(of)] {
		r.add(Fact{Kind: Count, Text: r.text(of)}, n)
	}
}

// lasting are the variables that outlive a call.
func (r *reading) lasting() map[string]bool {
	if r.outlive != nil {
		return r.outlive
	}
	r.outlive = map[string]bool{}
	for n := range r.nodes {
		switch {
		case r.is(n, "static_item"):
			r.outlive[r.text(r.at(n, "name"))] = true
		case r.is(n, "variable_declarator") && r.around(n) == "":
			r.outlive[r.text(r.at(n, "name"))] = true
		case r.is(n, "assignment") && r.around(n) == "":
			r.outlive[r.text(r.at(n, "left"))] = true
		}
	}
	return r.outlive
}

var funcKinds = []string{
	"function_definition", "function_declaration", "function_expression", "generator_function_declaration", "generator_function", "arrow_function",
	"method_definition", "function_item", "method_declaration", "constructor_declaration", "lambda", "closure_expression", "lambda_expression",
}

// name of a function, with the type it stands in. A function that is a variable's value has the variable's name.
func (r *reading) name(n int) string {
	name := r.text(r.at(n, "name"))
	p := r.up(n)
	if name == "" {
		switch {
		case r.is(p, "variable_declarator", "public_field_definition", "pair"):
			name = r.text(r.at(p, "name"))
		case r.is(p, "assignment_expression", "assignment"):
			name = r.text(r.at(p, "left"))
		case r.is(p, "field_definition"):
			name = r.text(r.at(p, "property"))
		}
	}
	for ; p >= 0; p = r.up(p) {
		switch r.kind(p) {
		case "class_definition", "class_declaration", "class", "abstract_class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "trait_item":
			return r.text(r.at(p, "name")) + "." + name
		case "impl_item":
			return (&walk{tree: r.tree}).rustType(r.at(p, "type")) + "." + name
		case "function_definition", "function_declaration", "function_item", "method_definition", "method_declaration":
			return name
		}
	}
	return name
}

// around is the nearest function with a name.
func (r *reading) around(n int) string {
	for p := r.up(n); p >= 0; p = r.up(p) {
		if r.is(p, funcKinds...) {
			if name := r.name(p); name != "" && !strings.HasSuffix(name, ".") {
				return name
			}
		}
	}
	return ""
}

func (r *reading) function(n int) {
	body := r.at(n, "body")
	if body < 0 {
		return
	}
	f := Fact{Kind: Func, Text: r.name(n)}
	for c := range r.all(r.at(n, "parameters")) {
		if r.is(c, "identifier", "self") {
			f.Args = append(f.Args, r.text(c))
		}
	}
	if p := r.at(n, "parameter"); p >= 0 {
		f.Args = append(f.Args, r.text(p))
	}
	f.Body, f.Size = r.body(body)
	r.add(f, n)
}

// body says how much a body does, and in how many statements.
func (r *reading) body(n int) (Body, int) {
	if !r.is(n, "block", "statement_block", "constructor_body") {
		if r.constant(n, 0) {
			return Constant, 1
		}
		return Works, 1
	}
	var rest []int
	for _, c := range r.named(n) {
		docs := r.is(c, "expression_statement") && len(r.named(c)) == 1 && r.is(r.named(c)[0], "string", "ellipsis")
		if !docs && !r.is(c, "pass_statement", "empty_statement") {
			rest = append(rest, c)
		}
	}
	switch {
	case len(rest) == 0:
		return Empty, 0
	case len(rest) == 1 && r.gives(rest[0]):
		return Constant, 1
	case r.is(rest[len(rest)-1], "raise_statement", "throw_statement"):
		return Rethrows, len(rest)
	}
	return Works, len(rest)
}

// gives says whether a statement does no more than give a constant, go on, or say that there is nothing here.
func (r *reading) gives(n int) bool {
	switch r.kind(n) {
	case "return_statement", "expression_statement", "return_expression":
		inner := r.named(n)
		return len(inner) == 0 || len(inner) == 1 && (r.constant(inner[0], 0) || r.is(inner[0], "return_expression") && r.gives(inner[0]))
	case "continue_statement", "break_statement":
		return true
	case "raise_statement", "throw_statement":
		text := r.text(n)
		return strings.Contains(text, "NotImplemented") || strings.Contains(text, "not implemented") || strings.Contains(text, "UnsupportedOperation")
	}
	return r.constant(n, 0)
}

func (r *reading) constant(n, depth int) bool {
	if n < 0 || depth > maxChain {
		return false
	}
	switch r.kind(n) {
	case "true", "false", "none", "null", "undefined", "ellipsis", "boolean_literal", "null_literal", "unit_expression", "char_literal", "character_literal":
		return true
	case "identifier":
		return r.text(n) == "undefined" || r.text(n) == "None"
	case "macro_invocation":
		m := r.text(r.at(n, "macro"))
		return m == "unimplemented" || m == "todo"
	case "list", "dictionary", "array", "object", "tuple", "array_expression", "parenthesized_expression", "unary_operator", "unary_expression", "not_operator", "arguments", "tuple_expression":
		for _, c := range r.named(n) {
			if !r.constant(c, depth+1) {
				return false
			}
		}
		return true
	case "call_expression": // Ok(…), Some(…)
		f := r.text(r.at(n, "function"))
		return (f == "Ok" || f == "Some" || f == "Err") && r.constant(r.at(n, "arguments"), depth+1)
	}
	_, ok := r.value(n, depth)
	return ok
}

// value is a constant's, parts that are added joined.
func (r *reading) value(n, depth int) (string, bool) {
	if n < 0 || depth > maxChain {
		return "", false
	}
	switch r.kind(n) {
	case "string", "string_literal", "raw_string_literal", "template_string":
		return r.unquoted(n)
	case "integer", "float", "number", "integer_literal", "float_literal", "decimal_integer_literal", "decimal_floating_point_literal", "hex_integer_literal":
		return numeral(r.text(n)), true
	case "unary_operator", "unary_expression":
		if v, ok := r.value(r.last1(n), depth+1); ok && strings.HasPrefix(r.text(n), "-") {
			return "-" + v, true
		}
	case "parenthesized_expression":
		return r.value(r.last1(n), depth+1)
	case "concatenated_string":
		whole := ""
		for _, c := range r.named(n) {
			v, ok := r.value(c, depth+1)
			if !ok {
				return "", false
			}
			whole += v
		}
		return whole, true
	case "binary_operator", "binary_expression":
		a, ok := r.value(r.at(n, "left"), depth+1)
		b, also := r.value(r.at(n, "right"), depth+1)
		if ok && also && r.child(n, "+") >= 0 && strings.ContainsAny(r.text(n), "'\"`") {
			return a + b, true
		}
		if op := r.child(n, "+", "-", "*", "<<"); ok && also && op >= 0 {
			return folded(a, r.text(op), b)
		}
	}
	return "", false
}

// folded is the value of whole numbers that are added, taken away, multiplied or shifted.
func folded(a, op, b string) (string, bool) {
	x, err := strconv.ParseInt(a, 10, 64)
	y, also := strconv.ParseInt(b, 10, 64)
	if err != nil || also != nil || max(x, y) > 1<<31 || min(x, y) < -1<<31 {
		return "", false
	}
	switch op {
	case "+":
		return strconv.FormatInt(x+y, 10), true
	case "-":
		return strconv.FormatInt(x-y, 10), true
	case "*":
		return strconv.FormatInt(x*y, 10), true
	case "<<":
		if y >= 0 && y < 31 {
			return strconv.FormatInt(x<<y, 10), true
		}
	}
	return "", false
}

// last1 is the last named child.
func (r *reading) last1(n int) int {
	if all := r.named(n); len(all) > 0 {
		return all[len(all)-1]
	}
	return -1
}

// unquoted is a string's value; one with parts that are computed has none.
func (r *reading) unquoted(n int) (string, bool) {
	for c := range r.children(n) {
		if r.is(c, "interpolation", "template_substitution") {
			return "", false
		}
	}
	text := strings.TrimLeft(r.text(n), "rRbBuUfFcC#")
	for _, q := range []string{`"""`, "'''", `"`, "'", "`"} {
		if in, ok := strings.CutPrefix(text, q); ok {
			return unescaped(strings.TrimSuffix(strings.TrimRight(in, "#"), q)), true
		}
	}
	return "", false
}

// unescaped reads the escapes that every language has.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		c, _, rest, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			b.WriteByte(s[0])
			s = s[1:]
			if strings.HasPrefix(s, "'") || strings.HasPrefix(s, `"`) {
				b.Reset()
			}
			continue
		}
		b.WriteRune(c)
		s = rest
	}
	return b.String()
}

// numeral is a number without the signs that change nothing.
func numeral(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "_", "")
	for _, suffix := range []string{"usize", "isize", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f32", "f64", "n", "l", "d"} {
		if cut, ok := strings.CutSuffix(s, suffix); ok && cut != "" && !strings.HasPrefix(s, "0x") {
			s = cut
			break
		}
	}
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return strconv.FormatInt(v, 10)
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return s
}

// literal adds a constant that is no part of a larger one.
func (r *reading) literal(n int) {
	v, ok := r.value(n, 0)
	if !ok {
		return
	}
	p := r.up(n)
	if _, inside := r.value(p, 0); inside || r.is(p, "import_statement", "expression_statement") && r.is(n, "string") {
		return
	}
	f := Fact{Kind: Literal, Text: v}
	f.Usage, f.Guard = r.usage(n)
	r.add(f, n)
}

// usage looks at what is around a literal, up to the statement.
func (r *reading) usage(n int) (Usage, string) {
	for c, p, i := n, r.up(n), 0; p >= 0 && i < maxChain; c, p, i = p, r.up(p), i+1 {
		switch r.kind(p) {
		case "comparison_operator", "switch_case", "case_pattern", "match_pattern", "switch_label", "case_clause":
			if !r.is(c, "block") && r.fieldName(c) != "consequence" && r.fieldName(c) != "body" {
				return Compared, ""
			}
			return Other, ""
		case "binary_expression", "binary_operator":
			if r.child(p, "==", "===", "!=", "!==") >= 0 {
				return Compared, ""
			}
		case "pair":
			if r.fieldName(c) == "key" {
				return Compared, ""
			}
			k, ok := r.value(r.at(p, "key"), 0)
			if key := r.at(p, "key"); !ok && (r.constant(key, 0) || r.is(key, "property_identifier")) {
				k = r.text(r.at(p, "key"))
			}
			return Result, k
		case "return_statement", "return_expression":
			return Result, r.guard(p)
		case "assignment", "assignment_expression", "variable_declarator", "let_declaration":
			return Other, r.guard(p)
		case "ternary_expression", "conditional_expression":
			if r.fieldName(c) != "condition" {
				return Result, r.guard(c)
			}
		case "match_arm", "switch_rule":
			return Result, r.guard(c)
		case "block", "arrow_function", "closure_expression":
			if r.is(p, "arrow_function", "closure_expression") || r.is(r.up(p), "function_item", "if_expression", "else_clause") && r.last1(p) == c {
				return Result, r.guard(c)
			}
			return Other, ""
		case "statement_block", "module", "program", "source_file", "class_body":
			return Other, ""
		}
	}
	return Other, ""
}

// guard is the literal that decides whether a node is come to, by the nearest condition around it in its function.
func (r *reading) guard(n int) string {
	for c, p := n, r.up(n); p >= 0 && !r.is(p, funcKinds...); c, p = p, r.up(p) {
		cond := -1
		switch r.kind(p) {
		case "if_statement", "elif_clause", "if_expression", "while_statement", "ternary_expression":
			cond = r.at(p, "condition")
		case "conditional_expression":
			if all := r.named(p); len(all) == 3 {
				cond = all[1]
			}
		case "match_arm":
			cond = r.at(p, "pattern")
		case "case_clause", "switch_case", "switch_rule", "switch_block_statement_group":
			if all := r.named(p); len(all) > 0 {
				cond = all[0]
			}
		}
		if cond < 0 || cond == c {
			continue
		}
		for d := range r.all(cond) {
			if v, ok := r.value(d, 0); ok {
				return v
			}
		}
	}
	return ""
}

func (r *reading) catch(n int) {
	f := Fact{Kind: Catch}
	body := r.at(n, "body")
	for _, c := range r.named(n) {
		switch {
		case r.is(c, "block", "statement_block"):
			body = c
		case r.is(c, "catch_formal_parameter"):
			f.Text = r.text(r.child(c, "catch_type"))
		case r.is(n, "except_clause", "except_group_clause"):
			f.Text = r.text(c)
			if as := r.child(c, "as_pattern_target"); as >= 0 && len(r.named(c)) > 0 {
				f.Text = r.text(r.named(c)[0])
			}
		}
	}
	f.Body, f.Size = r.body(body)
	r.add(f, n)
}

func (r *reading) mark(n int) {
	text := strings.TrimLeft(r.text(n), "@#![")
	if r.is(n, "attribute_item", "inner_attribute_item") {
		text = strings.TrimSuffix(text, "]")
	}
	on := ""
	if r.is(n, "inner_attribute_item") {
		on = "file"
	} else if p := r.up(n); p >= 0 {
		after := int(r.nodes[n].next)
		for after < int(r.nodes[p].next) && (r.is(after, "attribute_item") || r.comment(after)) {
			after = int(r.nodes[after].next)
		}
		if after < int(r.nodes[p].next) {
			on = r.kind(after)
		}
	}
	r.add(Fact{Kind: Mark, Text: strings.Join(strings.Fields(text), ""), Args: []string{on}}, n)
}

func (r *reading) assign(n int) {
	left, right := r.at(n, "left"), r.at(n, "right")
	if r.is(n, "variable_declarator") {
		left, right = r.at(n, "name"), r.at(n, "value")
	}
	if r.is(n, "delete_statement") {
		left = r.last1(n)
	}
	for c := range r.all(left) {
		if r.is(c, memberKinds...) && (c == left || !r.is(r.up(c), memberKinds...)) || c == left && r.is(c, "identifier") {
			r.add(Fact{Kind: Assign, Text: r.chain(c, 0), Args: []string{r.text(right)}}, n)
		}
	}
}

// tokens finds names and calls in what a macro is given, which its grammar does not read.
func (r *reading) tokens(n int) {
	chain, first := "", -1
	var flush = func(called bool, args string) {
		if chain != "" {
			r.add(Fact{Kind: Ref, Text: r.resolved(chain), Called: called, Args: []string{args}}, first)
		}
		chain, first = "", -1
	}
	joined := false
	for c := range r.children(n) {
		switch {
		case r.is(c, "identifier", "self", "crate", "super", "primitive_type"):
			if !joined {
				flush(false, "")
				first = c
			} else if chain != "" {
				chain += "."
			}
			chain += r.text(c)
			joined = false
		case r.is(c, "::", "."):
			joined = chain != ""
		case r.is(c, "token_tree"):
			flush(true, strings.Trim(r.text(c), "()"))
			joined = false
		default:
			flush(false, "")
			joined = false
		}
	}
	flush(false, "")
}
