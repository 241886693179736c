package plan

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds on following scripts into the scripts they run.
const (
	maxScripts    = 64
	maxScriptSize = 256 << 10
	maxNesting    = 5
)

// Scripts are the files of tree that shell text executes when it is run in dir: scripts by name, what an interpreter
// is given, the Makefile of make, the package.json of npm; and in turn what those execute. Sorted. It reads words and
// runs nothing, so a name made up at run time is not seen.
func Scripts(tree fs.FS, dir, run string) []string {
	f := finder{tree: tree, seen: map[string]bool{}}
	f.shell(run, path.Clean(path.Join(".", dir)), 0)
	var out []string
	for name := range f.seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

type finder struct {
	tree fs.FS
	seen map[string]bool
	each func(words []string, dir string) // told of every command, if not nil
	bin  string                           // where npm and its like look for tools while one of their scripts is read
}

// add notes a file if the tree has it, and returns its content the first time.
func (f *finder) add(dir, name string) (content string, fresh bool) {
	full := below(dir, name)
	if path.IsAbs(name) || !fs.ValidPath(full) || f.seen[full] || len(f.seen) >= maxScripts {
		return "", false
	}
	b, err := readFile(f.tree, full, maxScriptSize)
	if err != nil {
		return "", false
	}
	f.seen[full] = true
	return string(b), true
}

// shell goes through the commands of a text. A cd moves those that follow it, inside brackets up to their end.
func (f *finder) shell(text, dir string, nesting int) {
	if nesting > maxNesting {
		return
	}
	var outer []string
	for _, words := range commands(here(text)) {
		words = unwrap(words)
		switch {
		case len(words) == 0:
		case words[0] == "(":
			outer = append(outer, dir)
		case words[0] == ")":
			if last := len(outer) - 1; last >= 0 {
				dir, outer = outer[last], outer[:last]
			}
		case words[0] == "cd" && len(words) > 1:
			dir = below(dir, words[1])
		default:
			f.command(words, dir, nesting)
		}
	}
}

// wrappers run the command that follows them, after their own flags.
var wrappers = []string{"env", "time", "nice", "nohup", "exec", "command", "sudo", "timeout", "xvfb-run", "then", "do", "else", "if", "while", "until", "!", "{"}

// unwrap drops assignments and wrappers before the command itself.
func unwrap(words []string) []string {
	for len(words) > 0 {
		name, _, assigns := strings.Cut(words[0], "=")
		switch {
		case assigns && envName.MatchString(name):
			words = words[1:]
		case slices.Contains(wrappers, words[0]):
			limit := words[0] == "timeout"
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || limit && strings.Trim(words[0], "0123456789.smhd") == "") {
				words = words[1:]
			}
		default:
			return words
		}
	}
	return nil
}

// runWords are two words that run the command behind them.
var runWords = []string{"bundle exec", "poetry run", "uv run", "pipenv run", "pdm run", "hatch run", "rye run", "pnpm exec", "yarn exec", "mise exec"}

func (f *finder) command(words []string, dir string, nesting int) {
	if f.each != nil {
		f.each(words, dir)
	}
	args := words[1:]
	switch tool := path.Base(words[0]); {
	case len(args) > 1 && slices.Contains(runWords, tool+" "+args[0]):
		f.inner(args[1:], dir, nesting)
	case tool == "npx" && len(args) > 0:
		f.inner(args, dir, nesting)
	case words[0] == "." || words[0] == "source":
		f.script(firstFile(args), dir, nesting)
	case tool == "sh" || tool == "bash" || tool == "dash" || tool == "zsh" || tool == "ksh":
		if i := slices.IndexFunc(args, func(a string) bool { return shellText(a) }); i >= 0 && i+1 < len(args) {
			f.shell(args[i+1], dir, nesting+1)
			return
		}
		f.script(firstFile(args), dir, nesting)
	case isInterpreter(tool):
		f.add(dir, firstFile(args))
	case tool == "make" || tool == "gmake":
		f.make(args, dir, nesting)
	case tool == "npm" || tool == "yarn" || tool == "pnpm" || tool == "bun":
		f.npm(args, dir, nesting)
	case tool == "tox":
		f.tox(dir, nesting)
	case tool == "pre-commit":
		f.preCommit(args, dir, nesting)
	case tool == "rake":
		f.addFirst(dir, "rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb")
	case tool == "cargo":
		f.addFirst(dir, ".cargo/config.toml", ".cargo/config") // aliases, as cargo xtask
	case tool == "nox":
		f.add(dir, "noxfile.py")
	case tool == "just":
		f.addFirst(dir, "justfile", "Justfile", ".justfile")
	case tool == "task":
		f.addFirst(dir, "Taskfile.yml", "Taskfile.yaml")
	case strings.Contains(words[0], "/"):
		f.script(words[0], dir, nesting)
	}
}

// inner follows a command that another one runs; whoever is told of each has been told of it with that one.
func (f *finder) inner(words []string, dir string, nesting int) {
	each := f.each
	f.each = nil
	if words = unwrap(words); len(words) > 0 && nesting <= maxNesting {
		f.command(words, dir, nesting+1)
	}
	f.each = each
}

// shellText reports whether a flag of a shell says that its text follows: -c, -ec, -xeuc.
func shellText(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
}

func isInterpreter(tool string) bool {
	return slices.Contains([]string{"node", "nodejs", "ruby", "perl", "php", "deno", "Rscript", "lua", "tclsh"}, tool) ||
		strings.HasPrefix(tool, "python") && strings.Trim(tool[len("python"):], "0123456789.") == ""
}

// firstFile is the first argument that is no flag, unless a flag says that what follows is no file.
func firstFile(args []string) string {
	for _, a := range args {
		switch {
		case a == "-c" || a == "-e" || a == "-m" || a == "--eval":
			return ""
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return a
		}
	}
	return ""
}

// script notes a file, and follows what it runs if it is shell text.
func (f *finder) script(name, dir string, nesting int) {
	if name == "" {
		return
	}
	content, fresh := f.add(dir, name)
	if !fresh || strings.ContainsRune(content, 0) {
		return
	}
	first, _, _ := strings.Cut(content, "\n")
	if !strings.HasPrefix(first, "#!") || strings.Contains(first, "sh") {
		f.shell(content, dir, nesting+1)
	}
}

// npm notes the package.json and follows the script that is asked for.
func (f *finder) npm(args []string, dir string, nesting int) {
	f.add(dir, "package.json")
	content, err := readFile(f.tree, path.Join(dir, "package.json"), maxScriptSize)
	if err != nil {
		return
	}
	if text, ok := packageScript(string(content), args); ok {
		outer := f.bin
		f.bin = path.Join(dir, "node_modules/.bin")
		f.shell(text, dir, nesting+1)
		f.bin = outer
	}
}

func (f *finder) addFirst(dir string, names ...string) {
	for _, n := range names {
		if _, ok := f.add(dir, n); ok {
			return
		}
	}
}

// make notes the file that make reads, and follows its recipes and includes.
func (f *finder) make(args []string, dir string, nesting int) {
	names := makefiles
	for i, a := range args {
		value := strings.TrimPrefix(strings.TrimPrefix(a, "--file="), "--directory=")
		if (a == "-f" || a == "-C" || a == "--file" || a == "--directory") && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case a == "-f" || strings.HasPrefix(a, "--file"):
			names = []string{value}
		case a == "-C" || strings.HasPrefix(a, "--directory"):
			dir = below(dir, value)
		}
	}
	for _, n := range names {
		if content, ok := f.add(dir, n); ok {
			f.makefile(content, dir, nesting)
			return
		}
	}
}

func (f *finder) makefile(content, dir string, nesting int) {
	if nesting > maxNesting {
		return
	}
	content = strings.ReplaceAll(content, "\\\n", " ")
	for _, line := range strings.Split(content, "\n") {
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			f.shell(strings.NewReplacer("$(MAKE)", "make", "${MAKE}", "make", "$(CURDIR)/", "", "$("+hereVariable+")", hereMark, "$$", "$").Replace(strings.TrimLeft(recipe, "@-+ \t")), dir, nesting+1)
			continue
		}
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "include" || words[0] == "-include" || words[0] == "sinclude") {
			for _, w := range f.makeIncludes(dir, words[1:]) {
				if inner, ok := f.add(dir, w); ok {
					f.makefile(inner, dir, nesting+1)
				}
			}
		}
	}
}

// commands splits shell text into its simple commands' words, quotes taken off; a bracket is a command of its own. Comments, redirections and what a
// substitution holds are read well enough to find names, no better.
func commands(text string) [][]string {
	var all [][]string
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				word.WriteByte(text[i])
				inWord = true
			}
		case c == '\'' || c == '"':
			end := closingQuote(text, i)
			word.WriteString(unquoted(text[i+1:end], c))
			if _, inner, ok := strings.Cut(text[i+1:end], "$("); ok && c == '"' { // what a substitution inside quotes runs is run too
				all = append(all, commands(inner)...)
			}
			inWord = true
			i = end
		case c == '#' && !inWord:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case strings.IndexByte(" \t\r", c) >= 0:
			endWord()
		case c == '(' || c == ')':
			endCommand()
			all = append(all, []string{string(c)})
		case strings.IndexByte("\n;&|`", c) >= 0 || c == '$' && i+1 < len(text) && text[i+1] == '(':
			endCommand()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endCommand()
	return all
}

// closingQuote is where the quote at open is closed, or the end of the text.
func closingQuote(text string, open int) int {
	for i := open + 1; i < len(text); i++ {
		if text[i] == '\\' && text[open] == '"' {
			i++
			continue
		}
		if text[i] == text[open] {
			return i
		}
	}
	return len(text)
}

// unquoted takes the backslashes off that double quotes know.
func unquoted(s string, quote byte) string {
	if quote == '\'' {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
}
