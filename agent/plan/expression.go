package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// The values of an expression are nil, bool, float64, string, []any and *object, and unknown where only a run of the
// workflow knows. How they are compared and become text is GitHub's:
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions

// unknown is the value of what only a run knows. It holds the words that are to blame.
type unknown string

// filtered is what .* gives, and what a property is taken of one by one.
type filtered []any

// Bounds on expressions: of one file each, and of what they give.
const (
	maxExpression = 4 << 10
	maxText       = 128 << 10
	maxParens     = 100
)

// scope is what the expressions of one place may speak of: github, env, matrix, inputs, strategy, runner. A context that
// is not here is unknown.
type scope map[string]any

// with is the scope and one context more.
func (s scope) with(name string, v any) scope {
	out := scope{}
	for k, old := range s {
		out[k] = old
	}
	out[name] = v
	return out
}

// text puts values in place of the ${{ }} of a text.
func (s scope) text(raw string) (string, error) {
	v, err := s.template(raw)
	if err != nil {
		return "", err
	}
	out, ok := asText(v)
	if !ok {
		return "", unplanned(BadExpression, clipped(raw), "%s gives a list or a mapping where text is wanted", clipped(raw))
	}
	return out, nil
}

// template is text, but for a text that is one expression alone, which keeps its kind.
func (s scope) template(raw string) (any, error) {
	if strings.Contains(raw, hereMark[:1]) {
		return nil, unplanned(BadExpression, clipped(raw), "%q holds a control character", clipped(raw))
	}
	var b strings.Builder
	rest := raw
	for {
		before, after, found := strings.Cut(rest, "${{")
		if !found {
			b.WriteString(rest)
			return b.String(), nil
		}
		end := endOfExpression(after)
		if end < 0 {
			return nil, unplanned(BadExpression, clipped("${{"+after), "an expression is not closed: %s", clipped("${{"+after))
		}
		v, err := s.expression(after[:end])
		if err != nil {
			return nil, err
		}
		rest = after[end+2:]
		if before == "" && rest == "" && b.Len() == 0 {
			return v, nil
		}
		t, ok := asText(v)
		if !ok {
			return nil, unplanned(BadExpression, clipped(after[:end]), "${{%s}} gives a list or a mapping where text is wanted", clipped(after[:end]))
		}
		b.WriteString(before)
		b.WriteString(t)
		if b.Len() > maxText {
			return nil, unplanned(BadExpression, "", "a text grows over %d bytes once its expressions are evaluated", maxText)
		}
	}
}

// endOfExpression is where }} stands outside of quotes, or -1.
func endOfExpression(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case !quoted && strings.HasPrefix(s[i:], "}}"):
			return i
		}
	}
	return -1
}

// all puts values in place of the expressions of a value and of all that it holds.
func (s scope) all(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return s.template(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = s.all(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *object:
		out := newObject()
		for _, k := range v.keys {
			w, err := s.all(v.values[k])
			if err != nil {
				return nil, err
			}
			out.set(k, w)
		}
		return out, nil
	}
	return v, nil
}

// expression is the value of what stands between ${{ and }}.
func (s scope) expression(source string) (v any, err error) {
	source = strings.TrimSpace(source)
	defer func() { // the text is anyone's, and the parser another's
		if p := recover(); p != nil {
			v, err = nil, unplanned(BadExpression, clipped(source), "this expression cannot be read: %s", clipped(source))
		}
	}()
	if len(source) > maxExpression || strings.Count(source, "(")+strings.Count(source, "[")+strings.Count(source, "!") > maxParens {
		return nil, unplanned(BadExpression, clipped(source), "this expression is too long: %s", clipped(source))
	}
	node, bad := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(source + "}}"))
	if bad != nil {
		return nil, unplanned(BadExpression, clipped(source), "this expression cannot be read: %s: %s", clipped(source), firstLine(bad.Message))
	}
	v, err = s.known(node)
	if u, ok := err.(*unknownError); ok { //nolint:errorlint // eval never wraps
		no := unplanned(BadExpression, clipped(source), "only a run of the workflow knows ${{ %s }}: it asks for %s", clipped(source), u.what)
		if no.Asks = u.what; strings.HasPrefix(u.what, "matrix") {
			no.Reason = BadMatrix
		}
		return nil, no
	}
	return v, err
}

// unknownError ends an evaluation at what only a run knows.
type unknownError struct{ what string }

func (u *unknownError) Error() string { return u.what }

// known is the value of a node, or the error that nobody but a run knows it.
func (s scope) known(n actionlint.ExprNode) (any, error) {
	v, err := s.eval(n)
	switch u := v.(type) {
	case unknown:
		return nil, &unknownError{string(u)}
	case open:
		return nil, &unknownError{u.name}
	}
	return v, err
}

func (s scope) eval(n actionlint.ExprNode) (any, error) {
	switch n := n.(type) {
	case *actionlint.NullNode:
		return nil, nil
	case *actionlint.BoolNode:
		return n.Value, nil
	case *actionlint.IntNode:
		return float64(n.Value), nil
	case *actionlint.FloatNode:
		return n.Value, nil
	case *actionlint.StringNode:
		return n.Value, nil
	case *actionlint.VariableNode:
		for name, v := range s {
			if strings.EqualFold(name, n.Name) {
				return v, nil
			}
		}
		return unknown(n.Name), nil
	case *actionlint.ObjectDerefNode:
		return s.property(n.Receiver, n.Property)
	case *actionlint.ArrayDerefNode:
		v, err := s.known(n.Receiver)
		return items(v), err
	case *actionlint.IndexAccessNode:
		return s.index(n)
	case *actionlint.NotOpNode:
		v, err := s.known(n.Operand)
		return !truthy(v), err
	case *actionlint.CompareOpNode:
		return s.compare(n)
	case *actionlint.LogicalOpNode:
		v, err := s.known(n.Left)
		if err != nil || truthy(v) == (n.Kind == actionlint.LogicalOpNodeKindOr) {
			return v, err
		}
		return s.known(n.Right)
	case *actionlint.FuncCallNode:
		return s.call(n)
	}
	return nil, &unknownError{"something of another kind"}
}

// property is what a receiver has by a name; of what is unknown, unknown under its longer name.
func (s scope) property(receiver actionlint.ExprNode, name string) (any, error) {
	v, err := s.eval(receiver)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case unknown:
		return unknown(string(v) + "." + name), nil
	case open:
		if w, ok := v.known.find(name); ok {
			return w, nil
		}
		return unknown(v.name + "." + name), nil
	case *object:
		w, _ := v.find(name)
		return w, nil
	case filtered:
		out := filtered{}
		for _, e := range v {
			if o, ok := e.(*object); ok {
				if w, has := o.find(name); has {
					out = append(out, w)
				}
			}
		}
		return out, nil
	}
	return nil, nil
}

// items are what a list or a mapping holds.
func items(v any) filtered {
	switch v := v.(type) {
	case []any:
		return filtered(v)
	case filtered:
		var out filtered
		for _, e := range v {
			out = append(out, items(e)...)
		}
		return out
	case *object:
		var out filtered
		for _, k := range v.keys {
			out = append(out, v.values[k])
		}
		return out
	}
	return filtered{}
}

func (s scope) index(n *actionlint.IndexAccessNode) (any, error) {
	key, err := s.known(n.Index)
	if err != nil {
		return nil, err
	}
	if marked(key) {
		return nil, &unknownError{"github.workspace"}
	}
	if name, ok := key.(string); ok {
		return s.property(n.Operand, name)
	}
	v, err := s.known(n.Operand)
	if f, ok := v.(filtered); ok {
		v = []any(f)
	}
	list, ok := v.([]any)
	i := number(key)
	if err != nil || !ok || !(i >= 0 && i < float64(len(list))) {
		return nil, err
	}
	return list[int(i)], nil
}

func (s scope) compare(n *actionlint.CompareOpNode) (any, error) {
	a, err := s.known(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := s.known(n.Right)
	if err != nil {
		return nil, err
	}
	if marked(a) || marked(b) {
		return nil, &unknownError{"github.workspace"}
	}
	switch n.Kind {
	case actionlint.CompareOpNodeKindEq:
		return equal(a, b), nil
	case actionlint.CompareOpNodeKindNotEq:
		return !equal(a, b), nil
	}
	order, ok := ordered(a, b)
	switch n.Kind {
	case actionlint.CompareOpNodeKindLess:
		return ok && order < 0, nil
	case actionlint.CompareOpNodeKindLessEq:
		return ok && order <= 0, nil
	case actionlint.CompareOpNodeKindGreater:
		return ok && order > 0, nil
	}
	return ok && order >= 0, nil
}

// equal compares as GitHub does: text without case, values of different kinds as numbers, lists and mappings never.
func equal(a, b any) bool {
	order, ok := ordered(a, b)
	return ok && order == 0
}

// ordered is how a stands to b; not ok where neither is less nor equal, as with what is no number.
func ordered(a, b any) (order int, ok bool) {
	if x, isText := a.(string); isText {
		if y, both := b.(string); both {
			return strings.Compare(strings.ToUpper(x), strings.ToUpper(y)), true
		}
	}
	x, y := number(a), number(b)
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}

// number is a value as a number: NaN for lists, mappings and text that is none.
func number(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		t := strings.TrimSpace(v)
		if t == "" {
			return 0
		}
		if f, ok := plain(t).(float64); ok {
			return f
		}
	}
	return math.NaN()
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	}
	return true
}

// asText is a value as text; not ok for lists and mappings.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return numberText(v), true
	case string:
		return v, true
	}
	return "", false
}

// numberText is a number with 15 digits at most, as GitHub writes one.
func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if err != nil {
		short = f
	}
	if a := math.Abs(short); a >= 1e-5 && a < 1e15 {
		return strconv.FormatFloat(short, 'f', -1, 64)
	}
	return strconv.FormatFloat(short, 'E', -1, 64)
}

// call is a function of GitHub's. hashFiles and those of a job's state need a run.
func (s scope) call(n *actionlint.FuncCallNode) (any, error) {
	name := strings.ToLower(n.Callee)
	switch name {
	case "always", "success":
		return true, nil // a step that failed did begin
	case "failure", "cancelled":
		return unknown(n.Callee + "()"), nil
	}
	least, known := map[string]int{"contains": 2, "startswith": 2, "endswith": 2, "format": 1, "join": 1, "tojson": 1, "fromjson": 1}[name]
	if !known || len(n.Args) < least {
		return unknown(n.Callee + "()"), nil
	}
	var args []any
	for _, a := range n.Args {
		v, err := s.known(a)
		if err != nil {
			return nil, err
		}
		if name != "format" && name != "join" && marked(v) {
			return nil, &unknownError{"github.workspace"}
		}
		args = append(args, v)
	}
	switch name {
	case "contains":
		return contains(args[0], args[1]), nil
	case "startswith", "endswith":
		x, okX := asText(args[0])
		y, okY := asText(args[1])
		x, y = strings.ToUpper(x), strings.ToUpper(y)
		return okX && okY && (name == "startswith" && strings.HasPrefix(x, y) || name == "endswith" && strings.HasSuffix(x, y)), nil
	case "format":
		return format(args)
	case "join":
		return joined(args), nil
	case "tojson":
		return toJSON(args[0])
	}
	text, _ := asText(args[0])
	return fromJSON(text)
}

func contains(in, what any) bool {
	if f, ok := in.(filtered); ok {
		in = []any(f)
	}
	if list, ok := in.([]any); ok {
		for _, e := range list {
			if equal(e, what) {
				return true
			}
		}
		return false
	}
	x, okX := asText(in)
	y, okY := asText(what)
	return okX && okY && strings.Contains(strings.ToUpper(x), strings.ToUpper(y))
}

// format puts arguments in place of {0}, {1} …; two brackets are one.
func format(args []any) (any, error) {
	pattern, _ := asText(args[0])
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if (c == '{' || c == '}') && i+1 < len(pattern) && pattern[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(pattern[i:], '}')
		if c != '{' || end < 0 {
			b.WriteByte(c)
			continue
		}
		k, err := strconv.Atoi(pattern[i+1 : i+end])
		if err != nil || k < 0 || k+1 >= len(args) {
			return nil, &unknownError{"a format without its argument"}
		}
		t, _ := asText(args[k+1])
		b.WriteString(t)
		i += end
		if b.Len() > maxText {
			return nil, &unknownError{"a text too long"}
		}
	}
	return b.String(), nil
}

func joined(args []any) any {
	separator := ","
	if len(args) > 1 {
		separator, _ = asText(args[1])
	}
	if t, ok := asText(args[0]); ok {
		return t
	}
	if f, ok := args[0].(filtered); ok {
		args[0] = []any(f)
	}
	var parts []string
	for _, e := range list(args[0]) {
		t, _ := asText(e)
		parts = append(parts, t)
	}
	return strings.Join(parts, separator)
}

// toJSON writes a value as GitHub does, two blanks a level.
func toJSON(v any) (any, error) {
	g, err := plainValue(v)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g); err != nil || b.Len() > maxText {
		return nil, &unknownError{"a value that is no JSON"}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// MarshalJSON keeps the order of the keys.
func (o *object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[k])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%s", key, value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// plainValue refuses a value that holds what only a run knows.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case unknown:
		return nil, &unknownError{string(v)}
	case filtered:
		return plainValue([]any(v))
	case []any:
		for _, e := range v {
			if _, err := plainValue(e); err != nil {
				return nil, err
			}
		}
	case *object:
		for _, k := range v.keys {
			if _, err := plainValue(v.values[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// fromJSON reads JSON, which is YAML as far as values go; the order of keys is kept.
func fromJSON(text string) (any, error) {
	if len(text) > maxText || !json.Valid([]byte(text)) || depth([]byte(text)) > maxYAMLDepth {
		return nil, &unknownError{"fromJSON of what is no JSON"}
	}
	d := json.NewDecoder(strings.NewReader(text))
	return jsonValue(d)
}

func jsonValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, &unknownError{"fromJSON of what is no JSON"}
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := jsonValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		o := newObject()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := jsonValue(d)
			if err != nil {
				return nil, err
			}
			o.set(fmt.Sprint(key), v)
		}
		_, err = d.Token()
		return o, err
	}
	return t, nil
}

// clipped is a text short enough for an error, in one line.
func clipped(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}
