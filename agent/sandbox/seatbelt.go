package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// seatbelt is all that decides the profile of one run on macOS. Its paths are real, absolute and clean.
type seatbelt struct {
	Shim    string   // this binary, started inside
	Read    []string // readable and executable
	Write   []string // readable, executable and writable, but for the names of neverWritten
	Tmp     string   // writable without exception
	Links   []string // other names of given paths, which lead there by links
	Home    string   // the operator's, whose credentials stay closed whatever is given; none if empty
	Network Network
	Closed  []int // ports that cannot be reached or listened on
}

// profile is a text for sandbox-exec -p and its parameters, each KEY=VALUE for -D. A path that is not a constant of this
// file is in the parameters alone, so that no byte of it is ever read as profile language.
type profile struct {
	text   string
	params []string
}

// In a profile the last rule that matches decides.
// https://github.com/bazelbuild/bazel/blob/master/src/main/java/com/google/devtools/build/lib/sandbox/DarwinSandboxedSpawnRunner.java
// A rule without a filter may instead be the default of its operation, wherever it stands: that is how Homebrew's work, which
// ends with its denials. https://github.com/Homebrew/brew/blob/master/Library/Homebrew/sandbox.rb
// Rules here mean the same either way, and also if a narrower operation went before a wider: rules without a filter come
// first, and each later rule names the very operations of the earlier one that it takes from or adds to. Given paths are
// sorted, so that what lies deeper decides.

// sealedOps are allowed under (deny default) when a profile says (version 1). https://crbug.com/799149
var sealedOps = []string{"iokit-get-properties", "nvram*", "process-info*"}

// sysctls are what runtimes ask of the machine at their start and what counts its processors. Not among them is kern.proc,
// the process table, and kern.procargs2, arguments and environments.
// https://source.chromium.org/chromium/chromium/src/+/main:sandbox/policy/mac/common.sb
var sysctls = []string{
	"hw.activecpu", "hw.byteorder", "hw.cacheconfig", "hw.cachelinesize", "hw.cachelinesize_compat", "hw.cachesize", "hw.cpufamily",
	"hw.cpufrequency", "hw.cpufrequency_compat", "hw.cpusubtype", "hw.cputype", "hw.cpu64bit_capable", "hw.l1dcachesize",
	"hw.l1dcachesize_compat", "hw.l1icachesize", "hw.l1icachesize_compat", "hw.l2cachesize", "hw.l2cachesize_compat", "hw.l3cachesize",
	"hw.l3cachesize_compat", "hw.logicalcpu", "hw.logicalcpu_max", "hw.machine", "hw.memsize", "hw.model", "hw.ncpu", "hw.nperflevels",
	"hw.packages", "hw.pagesize", "hw.pagesize_compat", "hw.physicalcpu", "hw.physicalcpu_max", "hw.tbfrequency",
	"hw.tbfrequency_compat", "hw.vectorunit", "kern.argmax", "kern.boottime", "kern.hostname", "kern.ipc.somaxconn", "kern.maxfiles",
	"kern.maxfilesperproc", "kern.maxproc", "kern.ngroups", "kern.osproductversion", "kern.osrelease", "kern.ostype",
	"kern.osvariant_status", "kern.osversion", "kern.secure_kernel", "kern.tcsm_available", "kern.tcsm_enable", "kern.usrstack64",
	"kern.version", "kern.willshutdown", "machdep.cpu.brand_string", "machdep.ptrauth_enabled", "security.mac.lockdown_mode_state",
	"sysctl.proc_cputype", "vm.loadavg",
}

var sysctlPrefixes = []string{"hw.optional.", "hw.perflevel", "machdep.cpu.", "net.routetable."}

// services are those that getpwuid and os_log speak to. Nothing that starts programs, opens documents, resolves names,
// verifies certificates or keeps keys is among them. https://crbug.com/792228, https://crbug.com/792229
var services = []string{
	"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership", "com.apple.logd", "com.apple.system.logger",
}

// systemTrees hold the system's programs and libraries, and developer tools that are installed for everybody. Not /System as a
// whole: all user data is a second time below /System/Volumes/Data.
var systemTrees = []string{
	"/bin", "/sbin", "/usr", "/System/Cryptexes", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/System/iOSSupport",
	"/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/Library/Java", "/Library/Perl", "/Library/Ruby",
	"/private/etc/paths.d", "/private/etc/ssl", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select",
}

// macFiles are what programs read of a machine to work at all; none holds a secret. The folder "/" is one: dyld and getcwd
// read it, and names at the top are all that is in it. The file of Xcode says that its licence was agreed to.
// https://github.com/openai/codex/blob/main/codex-rs/sandboxing/src/restricted_read_only_platform_defaults.sbpl
var macFiles = []string{
	"/", "/dev/autofs_nowait", "/dev/random", "/dev/urandom", "/Library/Preferences/.GlobalPreferences.plist",
	"/Library/Preferences/com.apple.dt.Xcode.plist", "/private/etc/bashrc", "/private/etc/group", "/private/etc/hosts",
	"/private/etc/localtime", "/private/etc/networks", "/private/etc/passwd", "/private/etc/paths", "/private/etc/profile",
	"/private/etc/protocols", "/private/etc/rpc", "/private/etc/services", "/private/etc/shells", "/private/etc/zprofile",
	"/private/etc/zshenv", "/private/etc/zshrc", "/private/var/db/DarwinDirectory/local/recordStore.data",
	"/private/var/db/xcode_select_link",
}

// macLinks are only looked at on the way.
var macLinks = []string{"/dev", "/dev/stderr", "/dev/stdin", "/dev/stdout", "/etc", "/tmp", "/var", "/private/tmp"}

// macDevices are read and written.
var macDevices = []string{"/dev/dtracehelper", "/dev/null", "/dev/zero"}

// closedTrees lie in trees that are open, or may be given as a whole, and hold settings with passwords, and databases. What is
// given below one of them by name is open. openAgain are their certificates.
var (
	closedTrees = []string{
		"/System/Volumes/Data", "/nix/var", "/opt/homebrew/etc", "/opt/homebrew/var", "/opt/local/etc", "/opt/local/var",
		"/usr/local/etc", "/usr/local/var",
	}
	openAgain = []string{
		"/opt/homebrew/etc/ca-certificates", "/opt/homebrew/etc/openssl@3", "/opt/local/etc/openssl", "/usr/local/etc/ca-certificates",
		"/usr/local/etc/openssl@3",
	}
)

// prefixes are package managers' trees: a bin folder is full of links to the rest, so whoever gets any part gets all of it.
var prefixes = []struct{ any, all string }{{"/nix", "/nix/store"}, {"/opt/homebrew", "/opt/homebrew"}, {"/opt/local", "/opt/local"}}

// credentials are below the operator's home. They are closed even to a command that was given the folder around them.
var credentials = []string{
	".aws", ".azure", ".cargo/credentials", ".cargo/credentials.toml", ".config/gcloud", ".config/gh", ".config/git/credentials",
	".docker", ".gem/credentials", ".git-credentials", ".gnupg", ".kube", ".m2/settings.xml", ".m2/settings-security.xml", ".netrc", ".npmrc",
	".password-store", ".pypirc", ".ssh", ".terraform.d/credentials.tfrc.json", ".vault-token", "Library/Cookies", "Library/Keychains",
}

// neverWritten are names that some tool of a person runs or obeys when it finds them: repositories, what a shell, direnv and
// editors read, and what launchd starts. Whoever opens a kept copy with such a tool finds what the repository had.
var neverWritten = []string{
	".git", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".envrc", ".inputrc", ".profile", ".zlogin", ".zlogout", ".zprofile",
	".zshenv", ".zshrc", ".idea", ".vscode", "LaunchAgents", "LaunchDaemons",
}

// hooks are git's, in a folder whose name ends in hooks, and in husky's. "update" is left out: programs are called that.
// https://git-scm.com/docs/githooks
var hooks = []string{
	"applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-merge", "post-receive",
	"post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
	"pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate",
}

// compile makes the profile, reads it back with the checker and asks that what must hold. A profile that is not understood or
// says something else is an error, and nothing runs.
func (s seatbelt) compile() (profile, error) {
	if err := s.check(); err != nil {
		return profile{}, fmt.Errorf("make a Seatbelt profile: %w", err)
	}
	p := s.render()
	rules, err := parseProfile(p)
	if err == nil {
		err = s.prove(rules)
	}
	if err != nil {
		return profile{}, fmt.Errorf("check the Seatbelt profile: %w", err)
	}
	return p, nil
}

func (s seatbelt) check() error {
	for _, p := range slices.Concat(s.Read, s.Write, s.Links, []string{s.Shim, s.Tmp}) {
		if !path.IsAbs(p) || p != path.Clean(p) || strings.ContainsRune(p, 0) {
			return fmt.Errorf("path %q is not absolute and clean", p)
		}
	}
	for _, p := range slices.Concat(s.Read, s.Write) {
		if s.Home != "" && within(p, s.Home) {
			return fmt.Errorf("path %s holds the home folder", p)
		}
	}
	for _, w := range append(slices.Clone(s.Write), s.Tmp) {
		if slices.ContainsFunc(systemTrees, func(d string) bool { return within(d, w) && !within("/usr/local", w) || within(w, d) }) {
			return fmt.Errorf("path %s belongs to the system and is not given for writing", w)
		}
	}
	for _, n := range s.Closed {
		if n < 1 || n > 65535 {
			return fmt.Errorf("%d is no port", n)
		}
	}
	return nil
}

// render writes the rules, from wide to narrow.
func (s seatbelt) render() profile {
	w := &profileWriter{}
	w.line("(version 1)")
	w.line("(deny default)")
	w.rule("deny", sealedOps)
	w.rule("allow", []string{"process-fork", "mach-host*"})
	s.basics(w)
	s.files(w)
	s.network(w)
	return profile{text: w.b.String(), params: w.params}
}

func (s seatbelt) basics(w *profileWriter) {
	w.rule("allow", []string{"signal", "process-info*"}, `(target same-sandbox)`)
	w.rule("allow", []string{"sysctl-read"}, append(quoted("sysctl-name", sysctls), quoted("sysctl-name-prefix", sysctlPrefixes)...)...)
	// Java hands a buffer in with a question, which counts as a write.
	w.rule("allow", []string{"sysctl-write"}, quoted("sysctl-name", []string{"kern.grade_cputype"})...)
	w.rule("allow", []string{"mach-lookup"}, quoted("global-name", services)...)
	// The names that Python's multiprocessing takes; they are the whole machine's.
	w.rule("allow", []string{"ipc-posix-sem"}, quoted("ipc-posix-name-prefix", []string{"/mp-"})...)
	w.rule("allow", []string{"ipc-posix-shm"}, quoted("ipc-posix-name-prefix", []string{"/psm_"})...)
}

var (
	readOps   = []string{"file-read*", "file-test-existence"}
	readRuns  = []string{"file-read*", "file-test-existence", "file-map-executable", "process-exec"}
	writeRuns = []string{"file*", "file-read*", "file-test-existence", "file-map-executable", "file-write*", "process-exec"}
	lookOps   = []string{"file-read-metadata", "file-test-existence"}
	closeOps  = []string{"file*", "file-read*", "file-read-metadata", "file-test-existence", "file-map-executable", "file-write*", "process-exec"}
)

func (s seatbelt) files(w *profileWriter) {
	w.rule("allow", readRuns, quoted("subpath", systemTrees)...)
	w.rule("allow", readOps, quoted("literal", macFiles)...)
	w.rule("allow", slices.Concat(readOps, []string{"file-write-data", "file-ioctl"}), quoted("literal", macDevices)...)
	w.rule("allow", slices.Concat(readOps, []string{"file-write-data"}), quoted("subpath", []string{"/dev/fd"})...)
	w.rule("allow", readRuns, w.param("literal", "SHIM", s.Shim))
	for i, e := range s.entries() {
		s.entry(w, i, e)
	}
	w.rule("deny", []string{"file-write*"}, forbiddenNames()...)
	w.rule("allow", writeRuns, w.param("subpath", "TMP", s.Tmp))
	s.ancestors(w)
	w.rule("deny", []string{"file-write-setugid"}, quoted("subpath", []string{"/"})...)
	closed := []string{`(regex #"/[lL]ibrary/[kK]eychains(/|$)")`}
	if s.Home != "" {
		for i, c := range credentials {
			closed = append(closed, w.param("subpath", "SECRET_"+strconv.Itoa(i), path.Join(s.Home, c)))
		}
	}
	w.rule("deny", closeOps, closed...)
}

// entry is a path that decides for itself and all below it.
type entry struct {
	path string
	do   access // "" closes it
}

// entries are the given paths and the closed ones, from the top down: of two rules about a path the deeper one comes last. At
// the same place what is closed comes first and what is written last.
func (s seatbelt) entries() []entry {
	var out []entry
	add := func(do access, paths ...string) {
		for _, p := range paths {
			out = append(out, entry{p, do})
		}
	}
	add("", closedTrees...)
	add(readRun, openAgain...)
	for _, p := range prefixes {
		if slices.ContainsFunc(s.Read, func(r string) bool { return within(p.any, r) }) {
			add(readRun, p.all)
		}
	}
	add(readRun, s.Read...)
	add(readWrite, s.Write...)
	slices.SortStableFunc(out, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(out)
}

// entry writes the rules of one path. What is only readable below something writable cannot be written.
func (s seatbelt) entry(w *profileWriter, i int, e entry) {
	at := w.param("subpath", "PATH_"+strconv.Itoa(i), e.path)
	switch e.do {
	case readWrite:
		w.rule("allow", writeRuns, at)
	case readRun:
		w.rule("allow", readRuns, at)
		if slices.ContainsFunc(s.Write, func(d string) bool { return within(d, e.path) }) {
			w.rule("deny", []string{"file-write*"}, at)
		}
	default:
		w.rule("deny", closeOps, at)
	}
}

// ancestors lets programs look at, and not into, the folders on the way to what is open: realpath does.
func (s seatbelt) ancestors(w *profileWriter) {
	own := slices.Concat(s.Read, s.Write, s.Links, []string{s.Tmp, s.Shim})
	fixed := slices.Concat(macLinks, above(slices.Concat(systemTrees, macFiles, macLinks)))
	looks := quoted("literal", compactSorted(fixed))
	n := 0
	for _, p := range compactSorted(append(above(own), s.Links...)) {
		if !slices.Contains(fixed, p) {
			looks = append(looks, w.param("literal", "UP_"+strconv.Itoa(n), p))
			n++
		}
	}
	w.rule("allow", lookOps, looks...)
}

// above are the folders over paths, without the root.
func above(paths []string) []string {
	var out []string
	for _, p := range paths {
		for d := path.Dir(p); d != "/" && d != "."; d = path.Dir(d) {
			out = append(out, d)
		}
	}
	return out
}

func compactSorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// network opens the machine's loopback but for closed ports, and sockets in the run's own folders. A closed port cannot be
// listened on either: a command would be taken for who belongs there. The resolver's socket is a file elsewhere.
func (s seatbelt) network(w *profileWriter) {
	w.rule("allow", []string{"system-socket"}, `(socket-domain AF_UNIX)`)
	if s.Network == Loopback {
		w.rule("allow", []string{"network-bind", "network-inbound"}, `(local ip "localhost:*")`)
		w.rule("allow", []string{"network-outbound"}, `(remote ip "localhost:*")`)
		for _, n := range s.Closed {
			w.rule("deny", []string{"network*", "network-bind", "network-inbound"}, fmt.Sprintf(`(local ip "*:%d")`, n))
			w.rule("deny", []string{"network*", "network-outbound"}, fmt.Sprintf(`(remote ip "*:%d")`, n))
		}
	}
	w.rule("deny", []string{"network-outbound"}, `(remote unix-socket)`)
	own := []string{`(subpath (param "TMP"))`}
	for i, d := range s.Write {
		own = append(own, w.param("subpath", "SOCKETS_"+strconv.Itoa(i), d))
	}
	w.rule("allow", []string{"network*", "network-inbound", "network-outbound"}, own...)
}

// forbiddenNames match what is never written, at any depth. Names on a Mac's disk are the same in either case.
func forbiddenNames() []string {
	var out []string
	for _, n := range neverWritten {
		out = append(out, `(regex #"/`+anyCase(n)+`(/|$)")`)
	}
	var names []string
	for _, h := range hooks {
		names = append(names, anyCase(h))
	}
	in := "(" + anyCase(".husky") + "|[^/]*" + anyCase("hooks") + ")"
	return append(out, `(regex #"/`+in+`/(`+strings.Join(names, "|")+`)$")`)
}

// anyCase is a regular expression for a name. A byte that is neither letter nor digit stands in brackets, where none of
// those used here means anything; what else a name might hold is not written at all, and the checker refuses the rest.
func anyCase(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			b.WriteString("[" + strings.ToLower(string(c)) + strings.ToUpper(string(c)) + "]")
		case '0' <= c && c <= '9':
			b.WriteByte(c)
		case c == '.' || c == '_' || c == '-':
			b.WriteString("[" + string(c) + "]")
		default:
			b.WriteString(`"`)
		}
	}
	return b.String()
}

// profileWriter collects lines and parameters.
type profileWriter struct {
	b      strings.Builder
	params []string
}

func (w *profileWriter) line(text string) { w.b.WriteString(text + "\n") }

// rule is one rule, with filters of which one must match. Without filters it is the default of its operations.
func (w *profileWriter) rule(action string, ops []string, filters ...string) {
	head := "(" + action + " " + strings.Join(ops, " ")
	if len(filters) == 1 {
		w.line(head + " " + filters[0] + ")")
		return
	}
	w.b.WriteString(head)
	for _, f := range filters {
		w.b.WriteString("\n  " + f)
	}
	w.line(")")
}

// param is a filter on a parameter's value.
func (w *profileWriter) param(kind, key, value string) string {
	w.params = append(w.params, key+"="+value)
	return "(" + kind + ` (param "` + key + `"))`
}

// quoted are filters on constants of this file.
func quoted(kind string, constants []string) []string {
	out := make([]string, len(constants))
	for i, c := range constants {
		out[i] = "(" + kind + ` "` + c + `")`
	}
	return out
}

// prove asks the rules what must hold of every run.
func (s seatbelt) prove(rules []sbRule) error {
	type must struct {
		allow bool
		ask   sbAsk
	}
	outside := sbAddr{host: "192.0.2.1", port: 443} // https://www.rfc-editor.org/rfc/rfc5737
	list := []must{
		{false, sbAsk{op: "file-read-data", path: "/private/var/audit/x"}}, {false, sbAsk{op: "file-write-create", path: "/private/var/audit/x"}},
		{false, sbAsk{op: "network-outbound", remote: outside}}, {false, sbAsk{op: "process-info-pidinfo", target: "others"}},
		{false, sbAsk{op: "network-outbound", path: "/private/var/run/mDNSResponder"}}, {false, sbAsk{op: "signal", target: "others"}},
		{false, sbAsk{op: "mach-lookup", name: "com.apple.SecurityServer"}}, {true, sbAsk{op: "process-exec", path: s.Shim}},
		{true, sbAsk{op: "file-write-create", path: s.Tmp + "/x"}},
	}
	for _, w := range s.Write {
		list = append(list, must{true, sbAsk{op: "file-write-create", path: w + "/x"}}, must{true, sbAsk{op: "file-read-data", path: w + "/x"}},
			must{within(s.Tmp, w), sbAsk{op: "file-write-create", path: w + "/.git/x"}})
	}
	for _, r := range s.Read {
		list = append(list, must{true, sbAsk{op: "file-read-data", path: r}})
	}
	for _, n := range s.Closed {
		list = append(list, must{false, sbAsk{op: "network-outbound", remote: sbAddr{"127.0.0.1", n}}}, must{false, sbAsk{op: "network-bind", local: sbAddr{"127.0.0.1", n}}})
	}
	if s.Home != "" {
		list = append(list, must{false, sbAsk{op: "file-read-data", path: s.Home + "/.ssh/id"}}, must{false, sbAsk{op: "file-read-data", path: s.Home + "/Library/Keychains/x"}})
	}
	for _, m := range list {
		if allow, by := decideProfile(rules, m.ask); allow != m.allow {
			return fmt.Errorf("%s is decided by %s", m.ask, by)
		}
	}
	return nil
}
