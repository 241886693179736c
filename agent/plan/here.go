package plan

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// hereMark stands for the root of the copy that a command runs in, while expressions are evaluated and scripts are looked for: nobody knows
// the copy's place before it runs. No text of a workflow may hold its first byte.
const hereMark = "\x02workspace"

// hereVariable is GitHub's name for that root.
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables#default-environment-variables
const hereVariable = "GITHUB_WORKSPACE"

// here puts the mark in the place of the variable, as far as scripts are looked for.
func here(text string) string {
	if !strings.Contains(text, hereVariable) {
		return text
	}
	text = strings.ReplaceAll(text, "${"+hereVariable+"}", hereMark)
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$"+hereVariable)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if text = after; after != "" && envName.MatchString("A"+after[:1]) { // a longer name
			b.WriteString("$" + hereVariable)
			continue
		}
		b.WriteString(hereMark)
	}
}

// below is a name as it is found from a folder; one behind the mark is found from the root.
func below(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, hereMark); ok {
		return path.Join(".", rest)
	}
	return path.Join(dir, name)
}

// marked reports whether a value holds the mark: then nothing but text can be made of it.
func marked(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, hereMark)
	case filtered:
		return slices.ContainsFunc(v, marked)
	case []any:
		return slices.ContainsFunc(v, marked)
	case *object:
		return slices.ContainsFunc(v.keys, func(k string) bool { return marked(v.values[k]) })
	}
	return false
}

// settle makes of the marks what a shell finds out when it runs: the root, as a variable, from where the command begins. Where that could
// be another text than GitHub's the error names it; a variable that the step does not speak of is left out instead.
func (p *place) settle(c *Check) error {
	var names []string
	for name, v := range c.Env {
		if marked(v) && name != hereVariable {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	_, asks := c.Env[hereVariable]
	if p.container && (len(names) > 0 || marked(c.Run)) { // where GitHub's text is another than the variable's
		if err := p.leaveOut(c, names); err != nil {
			return err
		}
		names = nil
	}
	switch {
	case len(names) == 0 && !marked(c.Run) && !asks:
		return nil
	case p.astray(c) && asks:
		return p.leaveOut(c, append(names, hereVariable))
	case p.astray(c):
		return p.leaveOut(c, names)
	}
	run, ok := spliced(c.Run)
	if !ok {
		return asksWorkspace("github.workspace stands in a here-document, a case or backquotes, where it cannot be told how a shell reads it")
	}
	lines := []string{"export " + hereVariable + `="$PWD"`}
	if c.Dir != "." {
		lines[0] = "export " + hereVariable + `="${PWD%/` + c.Dir + `}"`
	}
	for _, name := range names {
		quoted := "'" + strings.ReplaceAll(strings.ReplaceAll(c.Env[name], "'", `'\''`), hereMark, `'"$`+hereVariable+`"'`) + "'"
		lines = append(lines, "export "+name+"="+quoted)
		delete(c.Env, name)
	}
	delete(c.Env, hereVariable)
	c.Run = strings.Join(append(lines, run), "\n")
	return nil
}

// astray reports whether the root is not for sure what GitHub calls the workspace, or not what a shell makes of it.
func (p *place) astray(c *Check) bool {
	_, taken := p.env.find(hereVariable)
	return p.moved || taken || !harmless(c.Dir) || linked(p.tree, c.Dir)
}

// leaveOut takes inherited variables out that hold the workspace, unless the command names one or the step sets it.
func (p *place) leaveOut(c *Check, names []string) error {
	named := variables(c.Run)
	no := asksWorkspace("that github.workspace is the repository's root is not sure: the job checks out into another folder, runs in a container, or begins in a folder that is a link or has an odd name")
	for _, name := range names {
		if slices.Contains(named, name) || slices.Contains(p.sets, name) {
			return no
		}
		delete(c.Env, name)
		p.wants = append(p.wants, fmt.Sprintf("variable %s (github.workspace), which is left out", name))
	}
	if marked(c.Run) {
		return no
	}
	return nil
}

func asksWorkspace(text string) error {
	no := unplanned(BadExpression, "github.workspace", "%s", text)
	no.Asks = "github.workspace"
	return no
}

// linked reports whether a folder of the tree is reached through a symbolic link, by which a shell may know it under another name.
func linked(tree fs.FS, dir string) bool {
	parent := "."
	for name := range strings.SplitSeq(dir, "/") {
		entries, _ := fs.ReadDir(tree, parent) // what is not there is no link
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && e.Type()&fs.ModeSymlink != 0 }) {
			return true
		}
		parent = path.Join(parent, name)
	}
	return false
}

// spliced puts the variable in the place of each mark in shell text, so that the shell reads the very words that it would read with the
// root's name there: quotes around it are closed and opened again. Not ok where this scanner could take one kind of quote for another.
func spliced(text string) (string, bool) {
	if !strings.Contains(text, hereMark) {
		return text, true
	}
	if strings.Contains(text, "<<") || strings.Contains(text, "esac") || strings.Contains(text, "`") {
		return "", false
	}
	var b strings.Builder
	in := []byte{'n'} // what is open: n nothing, s ' d " a $' c #; each $( and ( opens an n
	for i := 0; i < len(text); i++ {
		now := in[len(in)-1]
		if strings.HasPrefix(text[i:], hereMark) {
			b.WriteString(map[byte]string{'n': `"${` + hereVariable + `}"`, 'd': `${` + hereVariable + `}`, 's': `'"${` + hereVariable + `}"'`, 'a': `'"${` + hereVariable + `}"$'`, 'c': "$" + hereVariable}[now])
			i += len(hereMark) - 1
			continue
		}
		c := text[i]
		b.WriteByte(c)
		switch {
		case c == '\\' && (now == 'n' || now == 'd' || now == 'a') && i+1 < len(text):
			if strings.HasPrefix(text[i+1:], hereMark) {
				return "", false
			}
			i++
			b.WriteByte(text[i])
		case now == 's' && c == '\'', now == 'a' && c == '\'', now == 'd' && c == '"', now == 'c' && c == '\n':
			in = in[:len(in)-1]
		case now == 'd' && c == '(' && text[i-1] == '$', now == 'n' && c == '(':
			in = append(in, 'n')
		case now != 'n':
		case c == ')' && len(in) > 1:
			in = in[:len(in)-1]
		case c == '\'' && i > 0 && text[i-1] == '$':
			in = append(in, 'a')
		case c == '\'':
			in = append(in, 's')
		case c == '"':
			in = append(in, 'd')
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;&|()", text[i-1]) >= 0):
			in = append(in, 'c')
		}
	}
	return b.String(), len(in) == 1 || len(in) == 2 && in[1] == 'c'
}
