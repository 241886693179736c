package oracle

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// maxMutations is how many findings have a literal mutated; all of them in one run.
const maxMutations = 20

// mutatedRuns runs the check over the patched tree with other values in the failing assertions. Nil with the reason where
// there is no literal to be found cheaply.
func (o *Oracle) mutatedRuns(ctx context.Context, seen Sight, change patch.Change) ([]Run, string, error) {
	muts, lay := o.mutations(seen, change.Overlay(o.Root))
	if len(muts) == 0 {
		return nil, "mutated literals: no failing assertion compares with a literal that is easily found", nil
	}
	run, err := o.fresh(ctx, &change, request{
		phase: "mutated", mode: modeOf(seen.Trusted), cache: "confirm", keep: true, mutated: muts, lay: lay,
	})
	return []Run{run}, "", err
}

// mutations finds the literals that failing assertions ask for, and gives the texts with others in their place.
func (o *Oracle) mutations(seen Sight, tree fs.FS) ([]proof.Mutation, map[string]string) {
	texts, edits := map[string]string{}, map[string][]literal{}
	var out []proof.Mutation
	for _, f := range seen.Findings {
		if len(out) >= maxMutations || f.Kind != report.Test || f.Class != report.Assertion || f.File == "" || f.Line < 1 || !slices.Contains(seen.Failed, f.ID) {
			continue
		}
		if _, protected := o.Policy.Protected(f.File); !protected {
			continue // the change may have touched it
		}
		text, there := texts[f.File]
		if !there {
			b, err := fs.ReadFile(tree, f.File)
			if err != nil || len(b) > maxSource {
				continue
			}
			text = string(b)
		}
		texts[f.File] = text
		all := asked(f, text)
		for _, lit := range all {
			out = append(out, proof.Mutation{ID: f.ID, File: f.File, Line: 1 + strings.Count(text[:lit.at], "\n"), From: lit.text, To: lit.other()})
		}
		edits[f.File] = append(edits[f.File], all...)
	}
	lay := map[string]string{}
	for name, all := range edits {
		if len(all) > 0 {
			lay[name] = edited(texts[name], all)
		}
	}
	return out, lay
}

// edited is a text with other literals, each changed once however often it is named.
func edited(text string, all []literal) string {
	slices.SortFunc(all, func(a, b literal) int { return b.at - a.at })
	end := len(text)
	for _, l := range all {
		if l.at+len(l.text) <= end {
			text, end = text[:l.at]+l.other()+text[l.at+len(l.text):], l.at
		}
	}
	return text
}

// literal is one literal of a text, or a value that is no literal and what it becomes.
type literal struct {
	at   int
	text string
	to   string // what it becomes; another of its kind if empty
	said string // the wanted value, as the runner printed it, if this says it
}

// other is a literal of the same kind and another value, of the same length or one longer, and on the same line.
func (l literal) other() string {
	if l.to != "" {
		return l.to
	}
	if q := l.text[0]; strings.IndexByte("\"'`", q) >= 0 {
		return l.text[:len(l.text)-1] + "~" + l.text[len(l.text)-1:]
	}
	switch l.text {
	case "true":
		return "false"
	case "false":
		return "true"
	case "True":
		return "False"
	case "False":
		return "True"
	}
	if strings.Trim(l.text, "0123456789") == "" && len(l.text) > 2 {
		return fewer(l.text)
	}
	i := strings.IndexAny(l.text, "0123456789")
	d := byte('1')
	if l.text[i] != '9' && l.text[i] != '0' {
		d = l.text[i] + 1
	}
	return l.text[:i] + string(d) + l.text[i+1:]
}

// fewer is a whole number that fits where this one does: the largest of its type has none above it.
func fewer(digits string) string {
	b := []byte(digits)
	switch {
	case b[0] >= '2':
		b[0]--
	case b[1] > '0':
		b[1]--
	default:
		b[1]++
	}
	return string(b)
}

// says reports whether the literal spells a value as a runner prints it.
func (l literal) says(want string) bool {
	want = strings.TrimSpace(want)
	if want == "" {
		return false
	}
	if l.text == want {
		return true
	}
	if strings.IndexByte("\"'`", l.text[0]) < 0 || strings.Contains(l.text, `\`) {
		return false
	}
	inner := l.text[1 : len(l.text)-1]
	return inner == want || len(want) >= 2 && strings.IndexByte("\"'`", want[0]) >= 0 && want[len(want)-1] == want[0] && want[1:len(want)-1] == inner
}

// asked are the literals that a failing assertion asks for: one, or one of each row of its table. Where the report says what
// the root answered, they ask for that instead: an answer that is still the root's passes then, as under an equality that was
// loosened, and a repaired one never does.
func asked(f report.Result, text string) []literal {
	all := found(f, text)
	same := func(l literal) bool { return l.said == f.Want }
	for i, l := range all {
		all[i] = l.toward(f, text)
	}
	if slices.ContainsFunc(all, same) && !subtest(f.ID) { // what other rows ask for would be red as well, and show less
		all = slices.DeleteFunc(all, func(l literal) bool { return !same(l) })
	}
	return all
}

// subtest says whether a Go test is one of a table's: each row of it is judged by its own id.
func subtest(id string) bool {
	i := strings.LastIndex(id, ".Test")
	return i >= 0 && strings.Contains(id[i:], "/")
}

// toward is the literal with what the root answered for its other value, if it says the value that was wanted and both are
// numbers, texts or truths.
func (l literal) toward(f report.Result, text string) literal {
	signed := l
	if l.to == "" && l.at > 1 && text[l.at-1] == '-' && strings.IndexByte(" \t({[,:=", text[l.at-2]) >= 0 {
		signed.at, signed.text = l.at-1, "-"+l.text
	}
	if l.to != "" || !signed.says(f.Want) {
		return l
	}
	signed.said = f.Want
	got, _, _ := strings.Cut(strings.TrimSpace(f.Got), ", ")
	switch {
	case number(signed.text) && number(got) && strings.Contains(signed.text, ".") == strings.Contains(got, "."):
		x, _ := strconv.ParseFloat(signed.text, 64)
		if y, _ := strconv.ParseFloat(got, 64); x != y { // 2.50 is no other value than 2.5
			signed.to = got
		}
	case f.Got != "" && strings.IndexByte("\"'", signed.text[0]) >= 0:
		signed.to = quotedAs(f.Got, signed.text[:1])
	}
	if signed.to == signed.text || signed.to == "" {
		l.said = f.Want
		return l
	}
	return signed
}

// number says whether a text is one as people write it.
func number(s string) bool {
	whole, frac, dot := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (len(whole) == 1 || whole[0] != '0') && (!dot || digits(frac))
}

// quotedAs is a value that a runner printed as a literal of a test, or nothing where it would have to be escaped.
func quotedAs(got, quote string) string {
	if got = strings.TrimSpace(got); len(got) > 1 && strings.IndexByte("\"'", got[0]) >= 0 && got[len(got)-1] == got[0] {
		got = got[1 : len(got)-1]
	}
	for _, r := range got {
		if r < ' ' || r > '~' || strings.ContainsRune("\"'`\\", r) {
			return ""
		}
	}
	return quote + got + quote
}

func found(f report.Result, text string) []literal {
	if path.Ext(f.File) == ".go" {
		return askedGo(f, text)
	}
	if l, ok := stands(f.File, text, f.Line); ok {
		return []literal{l}
	}
	if l, ok := onLine(f, text); ok {
		return []literal{l}
	}
	return nil
}

// onLine is the one literal of the wanted value on a line that asserts something, in any language.
func onLine(f report.Result, text string) (literal, bool) {
	start := 0
	for n := 1; n < f.Line; n++ {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return literal{}, false
		}
		start += i + 1
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	if !asserting.MatchString(line) || unequal.MatchString(line) || strings.Count(line, "(") != strings.Count(line, ")") {
		return literal{}, false
	}
	return only(literals(line, start), f.Want)
}

var (
	unequal   = regexp.MustCompile(`(?i)less|great|least|most|above|below|within|close|near|delta|raises|throws|\bnot|assertnot|approx\([^)]*,|_ne!|!=|[^=-]>|<=?\s`)
	asserting = regexp.MustCompile(`(?i)assert|expect|should|==`)
	literalRE = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b\d[\d_]*(?:\.\d+)?\b|\b(?:true|false|True|False)\b`)
)

// literals are those of one line, comments left out as far as a line can tell.
func literals(line string, offset int) []literal {
	var out []literal
	for _, m := range literalRE.FindAllStringIndex(line, -1) {
		if before := literalRE.ReplaceAllString(line[:m[0]], ""); strings.Contains(before, "//") || strings.Contains(before, "#") {
			break
		}
		out = append(out, literal{at: offset + m[0], text: line[m[0]:m[1]]})
	}
	return out
}

// only is the one literal that says the value; where several do, none is it.
func only(all []literal, want string) (literal, bool) {
	all = slices.DeleteFunc(all, func(l literal) bool { return !l.says(want) })
	if len(all) != 1 {
		return literal{}, false
	}
	return all[0], true
}
