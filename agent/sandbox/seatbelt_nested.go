package sandbox

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Nested says for a command that confines its own children how it is told not to, "" where nothing is known or the command says
// so already. Seatbelt takes a profile once: a program inside that brings another one fails with "sandbox_apply: Operation not
// permitted". command is a line for a shell; what it calls in other files is not looked at.
func Nested(command string) (hint string) {
	for _, words := range simpleCommands(command) {
		for _, n := range nestings {
			if n.starts(words) && !slices.ContainsFunc(n.done, func(d string) bool { return strings.Contains(strings.Join(words, " "), d) }) {
				return words[0] + " confines what it starts, which cannot be done a second time inside of this sandbox: give it `" + n.flag + "` (" + n.source + ")"
			}
		}
	}
	return ""
}

// nestedNote is what to say of a run in which somebody was refused a sandbox of its own: the hint for its command where there is
// one. What a command prints is not to be believed, and nothing but these words hangs on it.
func nestedNote(argv []string, streams ...[]byte) string {
	if !slices.ContainsFunc(streams, func(b []byte) bool { return bytes.Contains(b, []byte("sandbox_apply: Operation not permitted")) }) {
		return ""
	}
	line := strings.Join(argv, " ")
	if slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(argv[0])) {
		line = argv[len(argv)-1]
	}
	if hint := Nested(line); hint != "" {
		return "redraft: " + hint + "\n"
	}
	return "redraft: a program was refused a sandbox of its own, which cannot be made inside of this one: tell it to go without\n"
}

// nesting is a program that confines its children.
type nesting struct {
	programs []string
	verbs    []string // of which one follows; any if nil
	done     []string // text that shows that it is told not to
	flag     string
	source   string
}

var nestings = []nesting{
	{[]string{"swift"}, []string{"build", "test", "run", "package"}, []string{"--disable-sandbox"}, "--disable-sandbox",
		"https://docs.swift.org/swiftpm/documentation/packagemanagerdocs/swiftbuild"},
	{[]string{"swift-build", "swift-test", "swift-run", "swift-package"}, nil, []string{"--disable-sandbox"}, "--disable-sandbox",
		"https://docs.swift.org/swiftpm/documentation/packagemanagerdocs/swiftbuild"},
	{[]string{"bazel", "bazelisk"}, []string{"build", "test", "run", "coverage"}, []string{"--spawn_strategy=local", "--spawn_strategy local", "--spawn_strategy=standalone"},
		"--spawn_strategy=local", "https://bazel.build/docs/user-manual#spawn-strategy"},
	{[]string{"nix"}, []string{"build", "develop", "flake", "run", "shell", "profile"}, nixDone, "--option sandbox false", "https://nix.dev/manual/nix/latest/command-ref/conf-file#conf-sandbox"},
	{[]string{"nix-build", "nix-shell", "nix-env"}, nil, nixDone, "--option sandbox false", "https://nix.dev/manual/nix/latest/command-ref/conf-file#conf-sandbox"},
}

var nixDone = []string{"--option sandbox false", "--no-sandbox", "NIX_CONFIG=sandbox = false"}

func (n nesting) starts(words []string) bool {
	if len(words) == 0 || !slices.Contains(n.programs, path.Base(words[0])) {
		return false
	}
	return n.verbs == nil || slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(n.verbs, w) })
}

// wrappers are programs that start the rest of their words.
var wrappers = []string{"command", "env", "exec", "nice", "nohup", "time", "xcrun", "sudo"}

// simpleCommands are the words of each command of a line, as far as that can be said without a shell. Quotes are taken off,
// assignments and wrappers in front are dropped.
func simpleCommands(line string) [][]string {
	var out [][]string
	for _, part := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(";&|\n(){}`", c) }) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(part))
		for len(words) > 0 && (slices.Contains(wrappers, path.Base(words[0])) || strings.Contains(words[0], "=") || strings.HasPrefix(words[0], "-")) {
			words = words[1:]
		}
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}
