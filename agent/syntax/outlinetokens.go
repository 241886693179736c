package syntax

import "strings"

// rustUse notes what a use tree brings, its prefix in front. Exported says that it is given on.
func (o *outliner) rustUse(n int, prefix string, exported bool) {
	if n < 0 || o.depth > maxNesting {
		return
	}
	o.depth++
	defer func() { o.depth-- }()
	note := func(from, name, as string) {
		o.imported(o.here(), Imported{From: o.rooted(from), Name: name, As: as, Exported: exported}, o.start(n))
	}
	switch o.code(n) {
	case kScopedList:
		if path := o.field(n, fPath); path >= 0 {
			prefix = joined(prefix, o.string(o.start(path), o.end(path)))
		}
		o.rustUse(o.field(n, fList), prefix, exported)
	case kUseList:
		for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
			if o.has(c, named) {
				o.rustUse(c, prefix, exported)
			}
		}
	case kUseAs:
		from, name := split(joined(prefix, o.string(o.start(o.field(n, fPath)), o.end(o.field(n, fPath)))))
		as := o.words[o.word(o.field(n, fAlias))]
		if as == "_" {
			as = ""
		}
		note(from, name, as)
	case kGlob:
		if c := o.first(n); c >= 0 {
			prefix = joined(prefix, o.string(o.start(c), o.end(c)))
		}
		note(prefix, "*", "")
	case kIdentifier, kScoped, kSelf, kPathWord:
		from, name := split(joined(prefix, o.string(o.start(n), o.end(n))))
		as := name
		if name == "" {
			as = from[strings.LastIndexByte(from, ':')+1:]
		}
		note(from, name, as)
	}
}

func joined(prefix, path string) string {
	if prefix == "" {
		return path
	}
	return prefix + "::" + path
}

// split parts a path from its last name; one that ends in self means what is in front of it, and one name alone is a
// crate or a module.
func split(path string) (from, name string) {
	at := strings.LastIndex(path, "::")
	switch {
	case at < 0:
		return path, ""
	case path[at+2:] == "self":
		return path[:at], ""
	}
	return path[:at], path[at+2:]
}

// rooted is a path as it would be said at the top of the file: inside a module of the file, self and super count from
// there.
func (o *outliner) rooted(path string) string {
	if len(o.mods) == 0 {
		return path
	}
	up := 0
	for strings.HasPrefix(path, "super::") && up < len(o.mods) {
		path, up = path[len("super::"):], up+1
	}
	if path == "super" && up < len(o.mods) {
		path, up = "", up+1
	}
	if path, inside := strings.CutPrefix(path, "self"); inside && up == 0 && (path == "" || path[0] == ':') {
		return strings.Join(append([]string{"self"}, o.mods...), "::") + path
	}
	if up == 0 {
		return path
	}
	at := append([]string{"self"}, o.mods[:len(o.mods)-up]...)
	switch {
	case path == "":
		return strings.Join(at, "::")
	case up == len(o.mods) && (path == "super" || strings.HasPrefix(path, "super::")):
		return path
	}
	return strings.Join(append(at, path), "::")
}

// rustAttribute reads what is derived; other attributes have words of their own.
func (o *outliner) rustAttribute(n int) {
	a := o.first(n)
	if name := o.first(a); o.textIs(name, "derive") {
		o.visit(o.field(a, fArguments))
	}
}

// defining are the words behind which a name is defined and not used.
func defining(word string) bool {
	switch word {
	case "fn", "struct", "enum", "union", "trait", "mod", "type", "const", "static", "let", "ref", "mut", "macro_rules", "for", "'":
		return true
	}
	return false
}

// rustTokens reads a macro's arguments, of which only the tokens are known: paths, calls, names with a capital, and
// what is reached through self or a variable.
func (o *outliner) rustTokens(n int) {
	before := ""
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		switch o.code(c) {
		case kTokens:
			o.visit(c)
		case kIdentifier, kSelf, kPathWord:
			c = o.rustChain(c, int(o.nodes[n].next), before)
		}
		before = o.token(c)
	}
}

// token is a token's text, "" for what is none.
func (o *outliner) token(n int) string {
	if !o.leaf(n) || o.end(n)-o.start(n) > len("macro_rules") {
		return ""
	}
	return o.words[o.word(n)]
}

// rustChain reads a chain of names among tokens and gives its last token.
func (o *outliner) rustChain(n, end int, before string) int {
	parts := []int{n}
	last := n
	for c := n + 1; c+1 < end; c += 2 {
		if sep := o.token(c); sep != "." && sep != "::" || o.code(c+1) != kIdentifier {
			break
		}
		parts, last = append(parts, c+1), c+1
	}
	next, after := last+1, ""
	if next < end {
		after = o.token(next)
	}
	called := next < end && (o.code(next) == kTokens && o.src[o.start(next)] == '(' || after == "!")
	capital := o.code(n) == kIdentifier && o.src[o.start(n)] >= 'A' && o.src[o.start(n)] <= 'Z'
	if len(parts) == 1 && (after == ":" || after == "=" && !capital) || defining(before) {
		return last
	}
	var by *lead
	if before == "." {
		l := nowhere()
		by = &l
	} else if !o.telling(parts, called) {
		return last
	}
	for i, p := range parts {
		l := o.rustToken(p, by, called && i == len(parts)-1, i+1 < len(parts) && o.token(p+1) == "::")
		by = &l
	}
	return last
}

// telling says whether a chain among tokens can be nothing but names.
func (o *outliner) telling(parts []int, called bool) bool {
	n := parts[0]
	if o.code(n) != kIdentifier {
		return len(parts) > 1
	}
	if first := o.src[o.start(n)]; first >= 'A' && first <= 'Z' || called && len(parts) == 1 {
		return true
	}
	return len(parts) > 1 && (o.token(n+1) == "::" || o.slot[o.word(n)] >= 0)
}

func (o *outliner) rustToken(n int, by *lead, called, path bool) lead {
	switch {
	case by != nil:
		return o.use(o.start(n), o.end(n), by, called)
	case o.code(n) == kSelf && path:
		return lead{root: -1, from: o.start(n), to: o.end(n)}
	}
	return o.rustLead(n, called)
}
