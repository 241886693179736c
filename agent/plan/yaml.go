package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// object is a mapping in its file's order. Names of a workflow's contexts are found whatever their case.
type object struct {
	keys   []string
	values map[string]any
	line   int // of its first key in the file, from 1; 0 if it is of no file
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(key string, v any) {
	if _, old := o.values[key]; !old {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// get is the value of a key as it is written, nil if o is nil or has none.
func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	return o.values[key]
}

// find is get whatever the case of the key.
func (o *object) find(key string) (any, bool) {
	if v, ok := o.values[key]; ok {
		return v, true
	}
	for _, k := range o.keys {
		if strings.EqualFold(k, key) {
			return o.values[k], true
		}
	}
	return nil, false
}

func (o *object) clone() *object {
	c := newObject()
	if o != nil {
		for _, k := range o.keys {
			c.set(k, o.values[k])
		}
	}
	return c
}

// Bounds on a workflow file. GitHub's own is 512 KiB.
const (
	maxWorkflow      = 512 << 10
	maxWorkflowLines = 5000
	maxNodes         = 50_000 // after aliases are followed
	maxYAMLDepth     = 60
)

// readYAML is the first document of a file as null, bool, float64, string, []any and *object. Plain words are
// what YAML 1.2 takes them for, as GitHub does.
func readYAML(b []byte) (v any, err error) {
	defer func() { // the file is anyone's; the YAML library's own slips are not to end the process
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("this is no YAML: %v", p)
		}
	}()
	if err := bearable(b); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, errors.New("it is empty")
	}
	y := yamlReader{anchors: map[string]ast.Node{}}
	ast.Walk(y, file.Docs[0].Body)
	return y.value(file.Docs[0].Body, 0, &y.nodes)
}

// bearable refuses what a recursive parser should not see.
func bearable(b []byte) error {
	switch {
	case len(b) > maxWorkflow:
		return fmt.Errorf("it has %d bytes, at most %d are read", len(b), maxWorkflow)
	case !utf8.Valid(b):
		return errors.New("it is not UTF-8")
	case strings.Count(string(b), "\n") > maxWorkflowLines:
		return fmt.Errorf("it has more than %d lines", maxWorkflowLines)
	case depth(b) > 100 || stacked(string(b)):
		return errors.New("it nests too deep")
	}
	return nil
}

// stacked reports whether one line opens 30 nodes, of which YAML takes any number: the parser goes as deep.
func stacked(text string) bool {
	for line := range strings.Lines(text) {
		run := 0
		for _, w := range strings.Fields(line) {
			switch {
			case w == "-" || w == "?" || w == ":" || w[0] == '!' || w[0] == '&' || w[0] == '*':
				if run++; run >= 30 {
					return true
				}
			default:
				run = 0
			}
		}
	}
	return false
}

type yamlReader struct {
	anchors map[string]ast.Node
	nodes   int
}

// Visit notes the anchors.
func (y yamlReader) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		y.anchors[a.Name.GetToken().Value] = a.Value
	}
	return y
}

func (y yamlReader) value(n ast.Node, depth int, seen *int) (any, error) {
	if *seen++; *seen > maxNodes || depth > maxYAMLDepth {
		return nil, errors.New("it is too large once its aliases are followed, or nests too deep")
	}
	switch v := n.(type) {
	case *ast.AnchorNode:
		return y.value(v.Value, depth+1, seen)
	case *ast.AliasNode:
		to, ok := y.anchors[v.Value.GetToken().Value]
		if !ok {
			return nil, errors.New("an alias has no anchor")
		}
		return y.value(to, depth+1, seen)
	case *ast.TagNode:
		return y.value(v.Value, depth+1, seen)
	case *ast.SequenceNode:
		list := []any{}
		for _, e := range v.Values {
			item, err := y.value(e, depth+1, seen)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	case *ast.MappingNode:
		return y.mapping(v.Values, depth, seen)
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{v}, depth, seen)
	}
	return scalar(n), nil
}

func (y yamlReader) mapping(pairs []*ast.MappingValueNode, depth int, seen *int) (any, error) {
	o := newObject()
	for _, p := range pairs {
		if _, merge := p.Key.(*ast.MergeKeyNode); merge {
			return nil, errors.New("it merges mappings with <<, which GitHub does not read")
		}
		v, err := y.value(p.Value, depth+1, seen)
		if err != nil {
			return nil, err
		}
		if t := p.Key.GetToken(); t != nil {
			if o.line == 0 && t.Position != nil {
				o.line = t.Position.Line
			}
			o.set(t.Value, v)
		}
	}
	return o, nil
}

func scalar(n ast.Node) any {
	switch v := n.(type) {
	case nil:
		return nil
	case *ast.LiteralNode:
		if v.Value == nil {
			return ""
		}
		return v.Value.Value
	case *ast.StringNode:
		if t := v.GetToken(); t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType) {
			return v.Value
		}
		return plain(v.Value)
	case *ast.NullNode:
		return nil
	}
	if t := n.GetToken(); t != nil {
		return plain(strings.TrimSpace(t.Value))
	}
	return nil
}

// plain is what YAML 1.2's core schema takes a word without quotes for.
// https://yaml.org/spec/1.2.2/#1032-tag-resolution
func plain(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case ".inf", ".Inf", ".INF", "+.inf":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	for prefix, base := range map[string]int{"0x": 16, "0o": 8} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			if i, err := strconv.ParseUint(rest, base, 53); err == nil {
				return float64(i)
			}
		}
	}
	if strings.Trim(s, "0123456789.eE+-") == "" && strings.ContainsAny(s, "0123456789") {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	}
	return s
}
