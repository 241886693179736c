package plan

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// FileName is where a repository's configuration lies. Callers take it from the default branch.
const FileName = ".github/redraft.yml"

// Schema is the JSON schema of the file, as published.
//
//go:embed schema.json
var Schema []byte

// maxFile bounds the file: it is a page of settings.
const maxFile = 64 << 10

// FileError says where a configuration is wrong.
type FileError struct {
	Line, Column int // from 1; 0 when the place is not known
	Text         string
	Nearest      string // the known key that an unknown one comes close to, or empty
}

func (e *FileError) Error() string {
	s := FileName
	if e.Line > 0 {
		s += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	s += ": " + e.Text
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// ParseFile reads a repository's configuration. Errors are *FileError: they name line, column and the nearest known
// key. Whole numbers are digits alone: no booleans, fractions, signs or quotes.
func ParseFile(b []byte) (f File, err error) {
	defer func() { // the file is anyone's; the YAML library's own slips are not to end the process
		if p := recover(); p != nil {
			f, err = File{}, &FileError{Text: fmt.Sprintf("this cannot be read as YAML: %v", p)}
		}
	}()
	body, err := document(b)
	if err != nil {
		return File{}, err
	}
	f = File{Limits: Limits{}}
	if err := mapping("the file", body, &f, topKeys); err != nil {
		return File{}, err
	}
	if f.Version == 0 {
		return File{}, wrong(body, "version is missing; write version: 1")
	}
	return f, nil
}

// document is the one mapping that the file holds.
func document(b []byte) (ast.Node, error) {
	if len(b) > maxFile {
		return nil, &FileError{Text: fmt.Sprintf("the file has %d bytes, at most %d are read", len(b), maxFile)}
	}
	if !utf8.Valid(b) {
		return nil, &FileError{Text: "the file is not UTF-8"}
	}
	if depth(b) > 100 {
		return nil, &FileError{Text: "the file nests more than 100 deep"}
	}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, &FileError{Text: "the file is empty; write version: 1"}
	case 1:
		return bodies[0], nil
	}
	return nil, wrong(bodies[1], "a second document; the file holds one")
}

// depth bounds how deep brackets nest, before a recursive parser sees them.
func depth(b []byte) int {
	deepest, now := 0, 0
	for _, c := range b {
		switch c {
		case '[', '{':
			now++
		case ']', '}':
			now--
		}
		deepest = max(deepest, now)
	}
	return deepest
}

func syntaxError(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil {
		return &FileError{Line: syntax.Token.Position.Line, Column: syntax.Token.Position.Column, Text: firstLine(syntax.Message)}
	}
	return &FileError{Text: firstLine(err.Error())}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// wrong is an error at a node.
func wrong(n ast.Node, format string, args ...any) error {
	e := &FileError{Text: fmt.Sprintf(format, args...)}
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}

// keys are the known keys of one mapping, each with what reads its value.
type keys[T any] map[string]func(into *T, value ast.Node) error

var topKeys = keys[File]{
	"version": func(f *File, n ast.Node) (err error) {
		if f.Version, err = whole(n, 1, 1); err != nil {
			return wrong(n, "version must be 1")
		}
		return nil
	},
	"checks":   func(f *File, n ast.Node) error { return checks(f, n) },
	"setup":    func(f *File, n ast.Node) (err error) { f.Setup, err = texts(n); return err },
	"protect":  func(f *File, n ast.Node) error { return mapping("protect", n, f, protectKeys) },
	"allow":    func(f *File, n ast.Node) (err error) { f.Allow, err = texts(n); return err },
	"triggers": func(f *File, n ast.Node) error { return mapping("triggers", n, &f.Triggers, triggerKeys) },
	"limits":   func(f *File, n ast.Node) error { return mapping("limits", n, &f.Limits, limitKeys) },
	"models":   func(f *File, n ast.Node) error { return mapping("models", n, f, modelKeys) },
	"publish":  func(f *File, n ast.Node) error { return mapping("publish", n, &f.Publish, publishKeys) },
	"privacy":  func(f *File, n ast.Node) error { return mapping("privacy", n, &f.Privacy, privacyKeys) },
}

var checkKeys = keys[Check]{
	"run": func(c *Check, n ast.Node) (err error) {
		if c.Run, err = text(n); err == nil && strings.TrimSpace(c.Run) == "" {
			return wrong(n, "run is empty")
		}
		return err
	},
	"working-directory": func(c *Check, n ast.Node) (err error) {
		s, err := text(n)
		if c.Dir = path.Clean(s); err == nil && !fs.ValidPath(c.Dir) {
			return wrong(n, "working-directory must lie inside the repository, written relative to it")
		}
		return err
	},
	"shell":   func(c *Check, n ast.Node) (err error) { c.Shell, err = oneOf(n, "sh", "bash"); return err },
	"env":     func(c *Check, n ast.Node) error { return environment(c, n) },
	"report":  func(c *Check, n ast.Node) (err error) { c.Report, err = text(n); return err },
	"timeout": func(c *Check, n ast.Node) (err error) { c.Timeout, err = duration(n); return err },
	"paths":   func(c *Check, n ast.Node) (err error) { c.Paths, err = texts(n); return err },
	"runs":    func(c *Check, n ast.Node) (err error) { c.Runs, err = whole(n, 1, 20); return err },
}

var protectKeys = keys[File]{
	"tests":  func(_ *File, n ast.Node) error { _, err := oneOf(n, "auto"); return err }, // a file cannot switch it off
	"paths":  func(f *File, n ast.Node) (err error) { f.Protect, err = texts(n); return err },
	"fixers": func(f *File, n ast.Node) (err error) { f.Fixers, err = flag(n); return err },
}

var limitKeys = keys[Limits]{
	"turns":       func(l *Limits, n ast.Node) (err error) { l.Turns, err = whole(n, 1, 1000); return err },
	"minutes":     func(l *Limits, n ast.Node) (err error) { l.Minutes, err = whole(n, 1, 10_000); return err },
	"files":       func(l *Limits, n ast.Node) (err error) { l.Files, err = whole(n, 1, 10_000); return err },
	"lines":       func(l *Limits, n ast.Node) (err error) { l.Lines, err = whole(n, 1, 1_000_000); return err },
	"open-drafts": func(l *Limits, n ast.Node) (err error) { l.OpenDrafts, err = whole(n, 1, 1000); return err },
	"per-day":     func(l *Limits, n ast.Node) (err error) { l.PerDay, err = whole(n, 1, 10_000); return err },
}

var modelKeys = keys[File]{
	"small":       func(f *File, n ast.Node) (err error) { f.Small, err = modelName(n); return err },
	"big":         func(f *File, n ast.Node) (err error) { f.Big, err = modelName(n); return err },
	"temperature": func(f *File, n ast.Node) (err error) { f.Temperature, err = temperatures(n); return err },
}

var triggerKeys = keys[Triggers]{
	"workflows":      func(t *Triggers, n ast.Node) (err error) { t.Workflows, err = texts(n); return err },
	"labels":         func(t *Triggers, n ast.Node) (err error) { t.Labels, err = texts(n); return err },
	"commands":       func(t *Triggers, n ast.Node) (err error) { t.Commands, err = flag(n); return err },
	"never-branches": func(t *Triggers, n ast.Node) (err error) { t.NeverBranches, err = texts(n); return err },
}

var publishKeys = keys[Publish]{
	"branch-prefix": func(p *Publish, n ast.Node) (err error) {
		if p.BranchPrefix, err = text(n); err == nil && !branchPrefix.MatchString(p.BranchPrefix) {
			return wrong(n, "branch-prefix must be redraft/ or begin with it")
		}
		return err
	},
	"labels":    func(p *Publish, n ast.Node) (err error) { p.Labels, err = texts(n); return err },
	"reviewers": func(p *Publish, n ast.Node) (err error) { p.Reviewers, err = text(n); return err },
}

var privacyKeys = keys[Privacy]{
	"egress":     func(p *Privacy, n ast.Node) (err error) { p.Egress, err = oneOf(n, "none"); return err },
	"transcript": func(p *Privacy, n ast.Node) (err error) { p.Transcript, err = oneOf(n, "artifact", "none"); return err },
}

// ValidPrefix says whether branches may have a prefix: redraft/, or one folder below it.
func ValidPrefix(s string) bool { return branchPrefix.MatchString(s) }

var (
	branchPrefix = regexp.MustCompile(`^redraft/(?:[A-Za-z0-9][A-Za-z0-9_-]*/)?$`)
	checkName    = regexp.MustCompile(`^[\pL\pN*?_.,:()\[\]{}/ -]{1,100}$`)
	envName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	digits       = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,8})$`)
	model        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$`)
)

// mapping reads a mapping whose keys are all known.
func mapping[T any](where string, n ast.Node, into *T, known keys[T]) error {
	return pairs(where, n, func(name string, key, value ast.Node) error {
		read := known[name]
		if read == nil {
			err := wrong(key, "unknown key %q in %s", name, where).(*FileError)
			err.Nearest = nearest(name, known)
			return err
		}
		return read(into, value)
	})
}

// pairs calls each once for every key of a mapping, in the file's order.
func pairs(where string, n ast.Node, each func(name string, key, value ast.Node) error) error {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return wrong(n, "%s must be a mapping of keys, not %s", where, kind(n))
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return wrong(v.Key, "a key of %s must be plain text, not %s", where, kind(v.Key))
		}
		if seen[key.Value] {
			return wrong(key, "%q stands twice in %s", key.Value, where)
		}
		seen[key.Value] = true
		if err := each(key.Value, key, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// checks reads the mapping of names to checks; a check without a command is refused.
func checks(f *File, n ast.Node) error {
	return pairs("checks", n, func(name string, key, value ast.Node) error {
		if !checkName.MatchString(name) {
			return wrong(key, "the name of a check is at most 100 letters, digits, blanks and marks of a glob")
		}
		c := Check{ID: name, Dir: ".", Provenance: Configured, Source: FileName + ": checks." + name}
		if err := mapping("checks."+name, value, &c, checkKeys); err != nil {
			return err
		}
		if c.Run == "" {
			return wrong(key, "checks.%s has no run", name)
		}
		f.Checks = append(f.Checks, c)
		return nil
	})
}

func environment(c *Check, n ast.Node) error {
	c.Env = map[string]string{}
	return pairs("env", n, func(name string, key, value ast.Node) (err error) {
		if !envName.MatchString(name) {
			return wrong(key, "%q is no name of an environment variable", name)
		}
		c.Env[name], err = text(value)
		return err
	})
}

// text reads a string; a number or a truth value must be quoted to be one.
func text(n ast.Node) (string, error) {
	var s string
	switch v := n.(type) {
	case *ast.StringNode:
		s = v.Value
	case *ast.LiteralNode:
		s = v.Value.Value
	default:
		return "", wrong(n, "this must be text, not %s; quote it", kind(n))
	}
	if strings.ContainsRune(s, 0) {
		return "", wrong(n, "text must not hold NUL")
	}
	return s, nil
}

func oneOf(n ast.Node, allowed ...string) (string, error) {
	s, err := text(n)
	if err != nil {
		return "", err
	}
	for _, a := range allowed {
		if s == a {
			return s, nil
		}
	}
	return "", wrong(n, "%q is not allowed here; write %s", s, strings.Join(allowed, " or "))
}

func texts(n ast.Node) ([]string, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, wrong(n, "this must be a list, not %s", kind(n))
	}
	var out []string
	for _, v := range list.Values {
		s, err := text(v)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// whole reads digits alone: YAML's other spellings of a number are refused, and so is what only looks like one.
func whole(n ast.Node, low, high int) (int, error) {
	v, ok := n.(*ast.IntegerNode)
	if !ok || !digits.MatchString(v.GetToken().Value) {
		return 0, wrong(n, "this must be a whole number of digits alone, not %s", kind(n))
	}
	var i int
	for _, d := range v.GetToken().Value {
		i = 10*i + int(d-'0')
	}
	if i < low || i > high {
		return 0, wrong(n, "%d is out of range: from %d to %d", i, low, high)
	}
	return i, nil
}

func flag(n ast.Node) (bool, error) {
	v, ok := n.(*ast.BoolNode)
	if !ok {
		return false, wrong(n, "this must be true or false, not %s", kind(n))
	}
	return v.Value, nil
}

func duration(n ast.Node) (time.Duration, error) {
	s, err := text(n)
	if err != nil {
		return 0, wrong(n, "this must be a time such as 10m or 90s, not %s", kind(n))
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return 0, wrong(n, "%q is no time from 1s to 24h; write 10m or 90s", s)
	}
	return d, nil
}

func temperatures(n ast.Node) ([]float64, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, wrong(n, "temperature must be a list, not %s", kind(n))
	}
	var out []float64
	for _, v := range list.Values {
		t := -1.0
		switch v := v.(type) {
		case *ast.FloatNode:
			t = v.Value
		case *ast.IntegerNode:
			i, err := whole(v, 0, 2)
			if err != nil {
				return nil, err
			}
			t = float64(i)
		}
		if !(t >= 0 && t <= 2) {
			return nil, wrong(v, "a temperature is a number from 0 to 2")
		}
		out = append(out, t)
	}
	return out, nil
}

// modelName reads the name of a model of the operator's file: a repository never names an address.
func modelName(n ast.Node) (string, error) {
	s, err := text(n)
	if err == nil && (!model.MatchString(s) || strings.Contains(s, "://")) {
		return "", wrong(n, "%q is no name of a model; addresses stand in the operator's file alone", s)
	}
	return s, err
}

// kind names what a node is, for an error.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode:
		return "a number spelt another way"
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number with a fraction"
	case *ast.BoolNode:
		return "a truth value"
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor, alias or merge"
	case *ast.TagNode:
		return "a tag"
	}
	return "that"
}

// nearest is the known key with the least edits from name, if it is near at all.
func nearest[T any](name string, known keys[T]) string {
	return Nearest(name, slices.Collect(maps.Keys(known)))
}

// Nearest is the known word with the least edits from one that is not known, or "" if none is near.
func Nearest(name string, known []string) string {
	best, least := "", len(name)/2+2
	for _, k := range known {
		if d := levenshtein.ComputeDistance(cutRunes(name, 40), k); d < least || d == least && best != "" && k < best {
			best, least = k, d
		}
	}
	return best
}

func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
