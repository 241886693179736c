package plan

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// tox notes the file that tox reads, and follows the commands of its environments.
func (f *finder) tox(dir string, nesting int) {
	content, fresh := f.add(dir, "tox.ini")
	if !fresh {
		return
	}
	inCommands := false
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		name, value, assigns := strings.Cut(line, "=")
		switch indented := strings.TrimLeft(line, " \t") != line; {
		case assigns && !indented:
			name = strings.TrimSpace(name)
			if inCommands = name == "commands" || name == "commands_pre" || name == "commands_post"; inCommands {
				f.toxCommand(value, dir, nesting)
			}
		case !indented:
			inCommands = false
		case inCommands:
			f.toxCommand(line, dir, nesting)
		}
	}
}

// toxCommand follows one line of commands. https://tox.wiki/en/latest/config.html#commands
func (f *finder) toxCommand(line, dir string, nesting int) {
	line = strings.NewReplacer("{posargs}", "", "{toxinidir}/", "", "{tox_root}/", "").Replace(strings.TrimLeft(line, " \t-!"))
	f.shell(line, dir, nesting+1)
}

// preCommit notes the configuration of pre-commit, and the scripts that its local hooks run.
// https://pre-commit.com/#repository-local-hooks
func (f *finder) preCommit(args []string, dir string, nesting int) {
	name := ".pre-commit-config.yaml"
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, "--config="); ok {
			name = rest
		} else if (a == "-c" || a == "--config") && i+1 < len(args) {
			name = args[i+1]
		}
	}
	content, fresh := f.add(dir, name)
	if !fresh {
		return
	}
	v, err := readYAML([]byte(content))
	if err != nil {
		return
	}
	o, _ := v.(*object)
	for _, r := range list(o.get("repos")) {
		repo, _ := r.(*object)
		for _, h := range list(repo.get("hooks")) {
			hook, _ := h.(*object)
			entry, _ := asText(hook.get("entry"))
			language, _ := asText(hook.get("language"))
			switch {
			case repo.get("repo") != "local" || entry == "":
			case slices.Contains([]string{"script", "unsupported_script"}, language):
				f.script(firstFile(strings.Fields(entry)), dir, nesting)
			default:
				f.shell(entry, dir, nesting+1)
			}
		}
	}
}

// maxIncluded bounds a folder that a makefile includes from.
const maxIncluded = 1000

// makeIncludes are the files that an include of a makefile names: variables of make for its own folder taken off, and
// patterns looked up.
func (f *finder) makeIncludes(dir string, words []string) []string {
	var names []string
	for _, w := range words {
		w = strings.NewReplacer("$(CURDIR)/", "", "$(TOPDIR)/", "", "$(ROOT)/", "", "./", "").Replace(w)
		if !strings.ContainsAny(w, "*?[") {
			names = append(names, w)
			continue
		}
		folder := path.Join(dir, path.Dir(w))
		if !fs.ValidPath(folder) {
			continue
		}
		entries, err := fs.ReadDir(f.tree, folder)
		if err != nil || len(entries) > maxIncluded {
			continue
		}
		for _, e := range entries {
			if ok, err := path.Match(path.Base(w), e.Name()); ok && err == nil {
				names = append(names, path.Join(path.Dir(w), e.Name()))
			}
		}
	}
	return names
}
