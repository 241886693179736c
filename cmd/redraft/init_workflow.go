package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// workflowFile is as much of a workflow file as init asks about.
type workflowFile struct {
	path string
	name string // as GitHub shows it: name, else the path
	why  string // it is not one to answer; "" if it is
	jobs []workflowJob
}

type workflowJob struct {
	id, name string // name is "" if not said
	matrix   bool
	runsOn   []string
	steps    []workflowStep
}

type workflowStep struct {
	run, uses string
	dir       string // that run begins in, "" for the top
}

// parseWorkflow reads a workflow. Nodes are walked and aliases followed one at a time, never expanded, so that no file
// grows as it is read.
func parseWorkflow(name string, b []byte) (w workflowFile, err error) {
	defer func() { // the file is anyone's; the YAML library's own slips are not to end the process
		if p := recover(); p != nil {
			w, err = workflowFile{}, fmt.Errorf("this is no YAML: %v", p)
		}
	}()
	if err := bearable(b); err != nil {
		return workflowFile{}, err
	}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return workflowFile{}, yamlError(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return workflowFile{}, errors.New("it is empty")
	}
	d := document{}
	ast.Walk(d, file.Docs[0].Body)
	top := d.fields(file.Docs[0].Body)
	if top["jobs"] == nil || top["on"] == nil {
		return workflowFile{}, errors.New("it has no jobs, or nothing starts it")
	}
	w = workflowFile{path: name, name: orElse(d.text(top["name"]), name), why: d.unanswered(top["on"])}
	for _, j := range d.pairs(top["jobs"]) {
		w.jobs = append(w.jobs, d.job(j.key, d.fields(j.value), d.runDir(top)))
	}
	if slices.ContainsFunc(w.jobs, workflowJob.redrafts) {
		w.why = "it uses redraft itself"
	}
	return w, nil
}

// redrafts says whether a job has a step that is this project's action.
func (j workflowJob) redrafts() bool {
	return slices.ContainsFunc(j.steps, func(s workflowStep) bool { return strings.HasPrefix(s.uses, "redraft-dev/redraft@") })
}

// nested are the openings of nodes in one line, of which YAML takes any number: the parser goes as deep, and not quickly.
var nested = regexp.MustCompile(`(?:(?:[-?:]|[!&*]\S*)[ \t]+){30}`)

// bearable refuses what a recursive and quadratic parser should not see.
func bearable(b []byte) error {
	depth, deepest := 0, 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		deepest = max(deepest, depth)
	}
	switch {
	case !utf8.Valid(b):
		return errors.New("it is not UTF-8")
	case strings.Count(string(b), "\n") > mostLines:
		return fmt.Errorf("it has more than %d lines", mostLines)
	case deepest > 100 || nested.Match(b):
		return errors.New("it nests too deep")
	}
	return nil
}

func yamlError(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil {
		text, _, _ := strings.Cut(syntax.Message, "\n")
		return fmt.Errorf("line %d: %s", syntax.Token.Position.Line, text)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(text)
}

// document is the anchors of one YAML document, by their names.
type document map[string]ast.Node

// Visit notes the anchors.
func (d document) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		d[a.Name.GetToken().Value] = a.Value
	}
	return d
}

// mostHops is how many anchors and aliases may stand between a key and its value.
const mostHops = 10

// node is the value that anchors, aliases and tags stand before; nil if they lead nowhere.
func (d document) node(n ast.Node) ast.Node {
	for range mostHops {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			n = d[v.Value.GetToken().Value]
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
	return nil
}

// pair is one key of a mapping.
type pair struct {
	key   string
	value ast.Node
}

// pairs are the keys of a mapping in the file's order; none of anything else.
func (d document) pairs(n ast.Node) (all []pair) {
	var values []*ast.MappingValueNode
	switch m := d.node(n).(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	}
	for _, v := range values {
		if key := v.Key.GetToken(); key != nil {
			all = append(all, pair{key.Value, v.Value})
		}
	}
	return all
}

func (d document) fields(n ast.Node) map[string]ast.Node {
	all := map[string]ast.Node{}
	for _, p := range d.pairs(n) {
		all[p.key] = p.value
	}
	return all
}

// text is a scalar as it is written, "" of anything else.
func (d document) text(n ast.Node) string {
	switch v := d.node(n).(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return v.GetToken().Value
	}
	return ""
}

// texts are the scalars of a list, or the one that stands in place of a list.
func (d document) texts(n ast.Node) (all []string) {
	if list, ok := d.node(n).(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			all = append(all, d.text(v))
		}
		return all
	}
	if s := d.text(n); s != "" {
		return []string{s}
	}
	return nil
}

// runDir is the folder that run steps below a workflow or a job begin in, "" if it is not said.
func (d document) runDir(fields map[string]ast.Node) string {
	return d.text(d.fields(d.fields(fields["defaults"])["run"])["working-directory"])
}

func (d document) job(id string, fields map[string]ast.Node, dir string) workflowJob {
	j := workflowJob{id: id, name: d.text(fields["name"]), matrix: d.fields(fields["strategy"])["matrix"] != nil, runsOn: d.texts(fields["runs-on"])}
	if group := d.fields(fields["runs-on"]); group["labels"] != nil { // a runner of a group, by its labels
		j.runsOn = d.texts(group["labels"])
	}
	dir = orElse(d.runDir(fields), dir)
	if steps, ok := d.node(fields["steps"]).(*ast.SequenceNode); ok {
		for _, n := range steps.Values {
			s := d.fields(n)
			j.steps = append(j.steps, workflowStep{run: d.text(s["run"]), uses: d.text(s["uses"]), dir: orElse(d.text(s["working-directory"]), dir)})
		}
	}
	return j
}

// unanswered is why a red run of a workflow with these events is none of a check, "" if it is. What a release, a person or
// a clock starts mostly is none: a person who knows better adds its name.
func (d document) unanswered(on ast.Node) string {
	events := d.texts(on)
	fields := d.fields(on)
	for _, p := range d.pairs(on) {
		events = append(events, p.key)
	}
	for _, e := range []string{"pull_request", "merge_group"} {
		if slices.Contains(events, e) {
			return ""
		}
	}
	if !slices.Contains(events, "push") {
		return "it starts on neither push nor pull_request"
	}
	push := d.fields(fields["push"])
	if tags := push["tags"] != nil || push["tags-ignore"] != nil; tags && push["branches"] == nil && push["branches-ignore"] == nil {
		return "it starts on tags alone"
	}
	return ""
}
