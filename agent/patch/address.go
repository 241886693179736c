package patch

import (
	"regexp"
	"strconv"
	"strings"
)

// address is an Addr that was understood.
type address struct {
	kind      kind
	from, to  int // lines, for span and before
	container string
	name      string
}

// kind is what an address points at.
type kind int

const (
	unknown kind = iota
	whole        // *
	span         // L3-L9, L3
	before       // +L4
	symbol       // name, C.name
	create       // +name, +C.name
	fit          // ?
)

var (
	spanAddr   = regexp.MustCompile(`^[Ll]?(\d{1,9})(?:[-–:][Ll]?(\d{1,9}))?$`)
	beforeAddr = regexp.MustCompile(`^\+[Ll]?(\d{1,9})$`)
	// A name may be private, as JavaScript's #name, or raw, as Rust's r#name.
	symbolAddr = regexp.MustCompile(`^(?:((?:r#)?[\pL_$][\pL\pN_$]*)\.)?(\+?)((?:r?#)?[\pL_$][\pL\pN_$]*)$`)
	// A receiver as Go spells it, or type parameters, say no more than the bare name.
	receiverAddr = regexp.MustCompile(`^(\+?)\(?\*?([\pL_$][\pL\pN_$]*)(?:\[[^\]]*\])?\)?\.`)
)

// parseAddr reads an address in its canonical form and in those that models fall into.
func parseAddr(s string) (address, bool) {
	if s == "*" {
		return address{kind: whole}, true
	}
	if s == Fit {
		return address{kind: fit}, true
	}
	if m := spanAddr.FindStringSubmatch(s); m != nil {
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
		return address{kind: span, from: from, to: to}, true
	}
	if m := beforeAddr.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		return address{kind: before, from: n}, true
	}
	return parseSymbolAddr(s)
}

func parseSymbolAddr(s string) (address, bool) {
	s = strings.TrimSuffix(s, "()")
	s = receiverAddr.ReplaceAllString(s, "$1$2.")
	bare, plus := strings.CutPrefix(s, "+")
	m := symbolAddr.FindStringSubmatch(bare)
	if m == nil || plus && m[2] != "" || m[2] != "" && m[1] == "" {
		return address{}, false
	}
	a := address{kind: symbol, container: m[1], name: m[3]}
	if plus || m[2] != "" {
		a.kind = create
	}
	return a, true
}

// String is the canonical form of an address: two addresses that point at the same place have the same.
func (a address) String() string {
	name := a.name
	if a.container != "" {
		name = a.container + "." + a.name
	}
	switch a.kind {
	case whole:
		return "*"
	case span:
		return linesAddr(a.from, a.to)
	case before:
		return "+L" + strconv.Itoa(a.from)
	case create:
		return "+" + name
	case fit:
		return Fit
	}
	return name
}

func linesAddr(from, to int) string {
	if from == to {
		return "L" + strconv.Itoa(from)
	}
	return "L" + strconv.Itoa(from) + "-L" + strconv.Itoa(to)
}
