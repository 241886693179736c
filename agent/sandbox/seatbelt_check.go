package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What this file understands of Seatbelt's language is what seatbelt.go writes, and nothing else: a profile in which anything
// is unknown is refused. It reads the text and its parameters as sandbox-exec gets them, and shares no code with the writer.

// sbRule is one allow or deny.
type sbRule struct {
	allow   bool
	ops     []string
	filters []sbFilter // one of them must match; none means always
	text    string
}

// sbFilter is a test of what is asked. kind decides which of the others counts.
type sbFilter struct {
	kind string // literal, subpath, regex, name, prefix, target, domain, remote, local, unix, any, all, not
	text string
	re   *regexp.Regexp
	addr sbAddr
	of   []sbFilter
}

// sbAddr is an address; "*" is any host, -1 any port.
type sbAddr struct {
	host string
	port int
}

// sbAsk is one thing that a program wants to do. What does not belong to the operation is empty.
type sbAsk struct {
	op            string
	path          string // of a file, or of a socket
	name          string // of a service, a sysctl, a semaphore
	target        string // same-sandbox or others
	remote, local sbAddr
}

func (a sbAsk) String() string {
	what := a.path + a.name + a.target
	for _, at := range []sbAddr{a.remote, a.local} {
		if at.host != "" {
			what += at.host + ":" + strconv.Itoa(at.port)
		}
	}
	return a.op + " " + what
}

// decideProfile is the decision and the rule that made it: the last that matches.
func decideProfile(rules []sbRule, a sbAsk) (allow bool, by string) {
	by = "no rule"
	for _, r := range rules {
		if r.matches(a) {
			allow, by = r.allow, r.text
		}
	}
	return allow, by
}

func (r sbRule) matches(a sbAsk) bool {
	if !slices.ContainsFunc(r.ops, func(op string) bool { return covers(op, a.op) }) {
		return false
	}
	return len(r.filters) == 0 || slices.ContainsFunc(r.filters, func(f sbFilter) bool { return f.matches(a) })
}

// covers says whether a rule for an operation decides about another: default about all, "x*" about what begins with x, and
// the short name of shared memory about its parts.
func covers(op, asked string) bool {
	if stem, ok := strings.CutSuffix(op, "*"); ok {
		return strings.HasPrefix(asked, stem)
	}
	return op == "default" || op == asked || op == "ipc-posix-shm" && strings.HasPrefix(asked, "ipc-posix-shm-")
}

func (f sbFilter) matches(a sbAsk) bool {
	switch f.kind {
	case "literal":
		return a.path == f.text
	case "subpath":
		return a.path != "" && within(f.text, a.path)
	case "regex":
		return a.path != "" && f.re.MatchString(a.path)
	case "name":
		return a.name == f.text
	case "prefix":
		return a.name != "" && strings.HasPrefix(a.name, f.text)
	case "target":
		return a.target == f.text
	case "remote":
		return f.addr.matches(a.remote)
	case "local":
		return f.addr.matches(a.local)
	case "unix":
		return a.path != ""
	case "any":
		return slices.ContainsFunc(f.of, func(g sbFilter) bool { return g.matches(a) })
	case "all":
		return !slices.ContainsFunc(f.of, func(g sbFilter) bool { return !g.matches(a) })
	case "not":
		return !f.of[0].matches(a)
	}
	return false
}

// matches: "localhost" is 127.0.0.1 and ::1, and not the first inside of an IPv6 address.
// https://github.com/anthropic-experimental/sandbox-runtime/blob/main/src/sandbox/macos-sandbox-utils.ts
func (w sbAddr) matches(at sbAddr) bool {
	if at.host == "" || w.port >= 0 && w.port != at.port {
		return false
	}
	return w.host == "*" || slices.Contains([]string{"127.0.0.1", "::1"}, at.host)
}

// knownOps are the operations that rules may name, with what kinds of filter each takes.
var knownOps = map[string]string{
	"default": "", "process-fork": "", "mach-host*": "", "iokit-get-properties": "", "nvram*": "", "process-info*": "target", "signal": "target",
	"sysctl-read": "name prefix", "sysctl-write": "name", "mach-lookup": "name", "ipc-posix-sem": "prefix", "ipc-posix-shm": "prefix",
	"system-socket": "domain", "network*": "remote local subpath", "network-bind": "local", "network-inbound": "local subpath",
	"network-outbound": "remote unix subpath", "process-exec": paths, "file*": paths, "file-read*": paths, "file-test-existence": paths,
	"file-map-executable": paths, "file-write*": paths, "file-write-data": paths, "file-ioctl": paths, "file-read-metadata": paths,
	"file-write-setugid": paths,
}

const paths = "literal subpath regex"

// parseProfile reads a profile with its parameters.
func parseProfile(p profile) ([]sbRule, error) {
	params := map[string]string{}
	for _, kv := range p.params {
		key, value, ok := strings.Cut(kv, "=")
		if _, twice := params[key]; !ok || twice || !paramKey.MatchString(key) || value == "" || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("parameter %q is twice there, or none", key)
		}
		params[key] = value
	}
	forms, err := readForms(p.text)
	if err != nil {
		return nil, err
	}
	if len(forms) < 2 || forms[0].String() != "(version 1)" || forms[1].String() != "(deny default)" {
		return nil, errors.New("it does not begin with (version 1) (deny default)")
	}
	r := sbReader{params: params, used: map[string]bool{}}
	rules := []sbRule{{ops: []string{"default"}, text: "(deny default)"}}
	for _, form := range forms[2:] {
		rule, err := r.rule(form)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", form, err)
		}
		rules = append(rules, rule)
	}
	if len(r.used) != len(params) {
		return nil, errors.New("a parameter is used nowhere")
	}
	return rules, inOrder(rules)
}

var paramKey = regexp.MustCompile(`^[A-Z]+(_[0-9]+)?$`)

// inOrder refuses a rule without a filter after one with: what it would mean there is not the same to everybody.
func inOrder(rules []sbRule) error {
	filtered := false
	for _, r := range rules {
		if len(r.filters) == 0 && filtered {
			return fmt.Errorf("%s: a rule without a filter stands after one with", r.text)
		}
		filtered = filtered || len(r.filters) > 0
	}
	return nil
}

// sbReader turns forms into rules.
type sbReader struct {
	params map[string]string
	used   map[string]bool
}

func (r sbReader) rule(form sbForm) (sbRule, error) {
	if len(form.list) < 2 || form.list[0].atom != "allow" && form.list[0].atom != "deny" {
		return sbRule{}, errors.New("neither allow nor deny")
	}
	rule := sbRule{allow: form.list[0].atom == "allow", text: form.String()}
	for _, part := range form.list[1:] {
		if part.list == nil {
			if _, ok := knownOps[part.atom]; !ok || part.atom == "default" || len(rule.filters) > 0 || part.quoted {
				return sbRule{}, fmt.Errorf("operation %s is not known", part)
			}
			rule.ops = append(rule.ops, part.atom)
			continue
		}
		f, err := r.filter(part)
		if err != nil {
			return sbRule{}, err
		}
		rule.filters = append(rule.filters, f)
	}
	if len(rule.ops) == 0 {
		return sbRule{}, errors.New("no operation")
	}
	return rule, rule.fits()
}

// fits refuses a filter that says nothing about an operation: Seatbelt refuses some of those, and ignores others.
func (r sbRule) fits() error {
	var kinds func(fs []sbFilter) []string
	kinds = func(fs []sbFilter) (out []string) {
		for _, f := range fs {
			if f.of != nil {
				out = append(out, kinds(f.of)...)
			} else {
				out = append(out, f.kind)
			}
		}
		return out
	}
	for _, op := range r.ops {
		for _, k := range kinds(r.filters) {
			if !slices.Contains(strings.Fields(knownOps[op]), k) {
				return fmt.Errorf("a filter on %s says nothing about %s", k, op)
			}
		}
	}
	return nil
}

// valued are the filters with one value, and what they become.
var valued = map[string]string{
	"literal": "literal", "subpath": "subpath", "global-name": "name", "sysctl-name": "name", "sysctl-name-prefix": "prefix", "ipc-posix-name-prefix": "prefix",
}

func (r sbReader) filter(form sbForm) (sbFilter, error) {
	if len(form.list) < 2 {
		return sbFilter{}, fmt.Errorf("%s is no filter", form)
	}
	head, rest := form.list[0].atom, form.list[1:]
	if combined, ok := map[string]string{"require-any": "any", "require-all": "all", "require-not": "not"}[head]; ok {
		return r.combined(combined, rest)
	}
	if kind, ok := valued[head]; ok && len(rest) == 1 {
		text, err := r.value(rest[0])
		if err == nil && (kind == "literal" || kind == "subpath") && !strings.HasPrefix(text, "/") {
			err = fmt.Errorf("path %q is not absolute", text)
		}
		return sbFilter{kind: kind, text: text}, err
	}
	switch {
	case head == "regex" && len(rest) == 1 && rest[0].raw:
		re, err := plainRegexp(rest[0].atom)
		return sbFilter{kind: "regex", re: re}, err
	case form.String() == "(target same-sandbox)":
		return sbFilter{kind: "target", text: "same-sandbox"}, nil
	case form.String() == "(socket-domain AF_UNIX)":
		return sbFilter{kind: "domain"}, nil
	case form.String() == "(remote unix-socket)":
		return sbFilter{kind: "unix"}, nil
	case (head == "remote" || head == "local") && len(rest) == 2 && rest[0].atom == "ip" && rest[1].quoted:
		addr, err := parseAddr(rest[1].atom)
		return sbFilter{kind: head, addr: addr}, err
	}
	return sbFilter{}, fmt.Errorf("filter %s is not known", form)
}

func (r sbReader) combined(kind string, rest []sbForm) (sbFilter, error) {
	f := sbFilter{kind: kind}
	if kind == "not" && len(rest) != 1 {
		return f, errors.New("require-not takes one filter")
	}
	for _, part := range rest {
		g, err := r.filter(part)
		if err != nil {
			return f, err
		}
		f.of = append(f.of, g)
	}
	return f, nil
}

// value is a quoted string, or a parameter's.
func (r sbReader) value(form sbForm) (string, error) {
	if form.quoted && !form.raw && form.atom != "" {
		return form.atom, nil
	}
	if len(form.list) != 2 || form.list[0].atom != "param" || !form.list[1].quoted {
		return "", fmt.Errorf("%s is neither a string nor a parameter", form)
	}
	key := form.list[1].atom
	v, ok := r.params[key]
	if !ok {
		return "", fmt.Errorf("parameter %q is not given", key)
	}
	r.used[key] = true
	return v, nil
}

// plainRegexp takes the few signs that mean the same to every engine: no backslash, no braces, no classes by name.
func plainRegexp(text string) (*regexp.Regexp, error) {
	if i := strings.IndexFunc(text, func(c rune) bool { return !strings.ContainsRune(`/[]()|$^*._-`, c) && !isWord(c) }); i >= 0 {
		return nil, fmt.Errorf("the expression has a %q", text[i])
	}
	return regexp.Compile(text)
}

func isWord(c rune) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func parseAddr(text string) (sbAddr, error) {
	host, port, _ := strings.Cut(text, ":")
	n, err := -1, error(nil)
	if port != "*" {
		n, err = strconv.Atoi(port)
	}
	if err != nil || host != "*" && host != "localhost" || port != "*" && (n < 1 || n > 65535) {
		return sbAddr{}, fmt.Errorf("address %q: only * and localhost are known", text)
	}
	return sbAddr{host, n}, nil
}

// sbForm is a list, a word, or a string.
type sbForm struct {
	list        []sbForm // nil for an atom
	atom        string
	quoted, raw bool
}

func (f sbForm) String() string {
	switch {
	case f.raw:
		return `#"` + f.atom + `"`
	case f.quoted:
		return strconv.Quote(f.atom)
	case f.list == nil:
		return f.atom
	}
	parts := make([]string, len(f.list))
	for i, p := range f.list {
		parts[i] = p.String()
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// maxProfile bounds the text, maxDepth its nesting.
const (
	maxProfile = 1 << 20
	maxDepth   = 8
)

// readForms reads all forms of a text.
func readForms(text string) ([]sbForm, error) {
	if len(text) > maxProfile {
		return nil, errors.New("it is too long")
	}
	var out []sbForm
	for {
		text = skipBlank(text)
		if text == "" {
			return out, nil
		}
		form, rest, err := readForm(text, 0)
		if err != nil {
			return nil, err
		}
		if form.list == nil {
			return nil, fmt.Errorf("%s stands alone", form)
		}
		out, text = append(out, form), rest
	}
}

func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\n")
		if !strings.HasPrefix(text, ";") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// readForm reads one form at the beginning of a text that is not blank.
func readForm(text string, depth int) (form sbForm, rest string, err error) {
	switch {
	case depth > maxDepth:
		return form, "", errors.New("it is nested too deep")
	case strings.HasPrefix(text, "("):
		return readList(text[1:], depth)
	case strings.HasPrefix(text, `#"`):
		return readString(text[2:], true)
	case strings.HasPrefix(text, `"`):
		return readString(text[1:], false)
	}
	end := strings.IndexFunc(text, func(c rune) bool { return c != '*' && c != '-' && c != '_' && !isWord(c) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return form, "", fmt.Errorf("a %q is not known", text[0])
	}
	return sbForm{atom: text[:end]}, text[end:], nil
}

func readList(text string, depth int) (sbForm, string, error) {
	form := sbForm{list: []sbForm{}}
	for {
		text = skipBlank(text)
		if text == "" {
			return form, "", errors.New("a parenthesis is not closed")
		}
		if text[0] == ')' {
			return form, text[1:], nil
		}
		part, rest, err := readForm(text, depth+1)
		if err != nil {
			return form, "", err
		}
		form.list, text = append(form.list, part), rest
	}
}

// readString reads up to the next quote. There are no escapes: a string with a backslash is not one of ours.
func readString(text string, raw bool) (sbForm, string, error) {
	end := strings.IndexByte(text, '"')
	if end < 0 || strings.ContainsAny(text[:end], "\\\n\x00") {
		return sbForm{}, "", errors.New("a string is not closed, or not plain")
	}
	return sbForm{atom: text[:end], quoted: true, raw: raw}, text[end+1:], nil
}
