package perceive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// manifests is what the tree's own files say about the names of its modules.
type manifests struct {
	modules  []place // go.mod, the longest module path first
	crates   []place // Cargo.toml with a package, the deepest folder first
	packages []scriptPackage
	configs  []scriptConfig // the deepest folder first
}

// place is a name and the folder that it stands for.
type place struct{ name, dir string }

type scriptPackage struct {
	place
	entries []string // what the package itself means, without the folder
}

type scriptConfig struct {
	dir, base string
	paths     []place // pattern and target, both perhaps with one *
}

// maxManifest is how much of a manifest is read.
const maxManifest = 1 << 20

func manifest(name string) bool {
	switch name {
	case "go.mod", "Cargo.toml", "package.json", "tsconfig.json", "jsconfig.json":
		return true
	}
	return false
}

// readManifests reads what it can; a manifest that is broken says nothing.
func readManifests(tree fs.FS, names []string) (m manifests) {
	for _, name := range names {
		text, err := readSource(tree, name)
		if err != nil || len(text) > maxManifest {
			continue
		}
		dir := path.Dir(name)
		switch path.Base(name) {
		case "go.mod":
			if module := goModule(text); module != "" {
				m.modules = append(m.modules, place{module, dir})
			}
		case "Cargo.toml":
			if crate, ok := cargoPackage(text); ok {
				m.crates = append(m.crates, place{crate, dir})
			}
		case "package.json":
			m.addPackage(dir, text)
		default:
			m.addConfig(dir, text)
		}
	}
	slices.SortStableFunc(m.modules, func(a, b place) int { return cmp.Compare(len(b.name), len(a.name)) })
	slices.SortStableFunc(m.crates, func(a, b place) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	slices.SortStableFunc(m.configs, func(a, b scriptConfig) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	return m
}

func goModule(text []byte) string {
	for line := range bytes.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), "\"`")
		}
	}
	return ""
}

// goFolder is the folder of a package of the tree.
func (m manifests) goFolder(importPath string) (string, bool) {
	for _, mod := range m.modules {
		if importPath == mod.name {
			return mod.dir, true
		}
		if below, ok := strings.CutPrefix(importPath, mod.name+"/"); ok {
			return path.Join(mod.dir, below), true
		}
	}
	return "", false
}

// goPath is the import path of a folder, "" outside of modules.
func (m manifests) goPath(dir string) string {
	best, depth := "", -1
	for _, mod := range m.modules {
		below, ok := under(dir, mod.dir)
		if ok && len(mod.dir) > depth {
			best, depth = path.Join(mod.name, below), len(mod.dir)
		}
	}
	return best
}

// under is the part of a path below a folder.
func under(name, dir string) (string, bool) {
	if dir == "." {
		return name, true
	}
	if name == dir {
		return ".", true
	}
	return strings.CutPrefix(name, dir+"/")
}

// cargoPackage is the crate's name as programs write it: package.name, or lib.name.
func cargoPackage(text []byte) (name string, ok bool) {
	section := ""
	for line := range bytes.Lines(text) {
		l := strings.TrimSpace(string(line))
		if strings.HasPrefix(l, "[") {
			section = strings.Trim(l, "[] ")
			ok = ok || section == "package"
			continue
		}
		key, value, found := strings.Cut(l, "=")
		if !found || strings.TrimSpace(key) != "name" || section != "package" && section != "lib" {
			continue
		}
		value, _, _ = strings.Cut(value, "#")
		name = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return strings.ReplaceAll(name, "-", "_"), ok
}

func (m manifests) crateFolder(name string) (string, bool) {
	for _, c := range m.crates {
		if c.name == name {
			return c.dir, true
		}
	}
	return "", false
}

// crateHolding is the folder of the package that a file belongs to; ok is false where no Cargo.toml is above it.
func (m manifests) crateHolding(name string) (dir string, ok bool) {
	for _, c := range m.crates {
		if _, in := under(name, c.dir); in {
			return c.dir, true
		}
	}
	return ".", len(m.crates) == 0
}

func (m *manifests) addPackage(dir string, text []byte) {
	var p struct {
		Name                        string
		Source, Types, Module, Main string
		Exports                     json.RawMessage
	}
	if json.Unmarshal(text, &p) != nil || p.Name == "" {
		return
	}
	pack := scriptPackage{place: place{p.Name, dir}}
	for _, e := range []string{p.Source, p.Types, p.Module, p.Main, exported(p.Exports), "src/index", "index"} {
		if e != "" {
			pack.entries = append(pack.entries, e)
		}
	}
	m.packages = append(m.packages, pack)
}

// exported is the file that "exports" names for the package itself.
// https://nodejs.org/api/packages.html#exports
func exported(raw json.RawMessage) string {
	for range 4 {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			return one
		}
		var many map[string]json.RawMessage
		if json.Unmarshal(raw, &many) != nil {
			return ""
		}
		raw = nil
		for _, key := range []string{".", "source", "types", "import", "module", "default", "require"} {
			if v, ok := many[key]; ok {
				raw = v
				break
			}
		}
	}
	return ""
}

// workspace are the paths that a package of the tree, or a file of it, may lie at.
func (m manifests) workspace(from string) (out []string) {
	for _, p := range m.packages {
		if from == p.name {
			for _, e := range p.entries {
				out = append(out, path.Join(p.dir, e))
			}
		}
		if below, ok := strings.CutPrefix(from, p.name+"/"); ok {
			out = append(out, path.Join(p.dir, below), path.Join(p.dir, "src", below))
		}
	}
	return out
}

func (m *manifests) addConfig(dir string, text []byte) {
	var c struct {
		CompilerOptions struct {
			BaseURL string
			Paths   map[string][]string
		}
	}
	if json.Unmarshal(plainJSON(text), &c) != nil {
		return
	}
	o := c.CompilerOptions
	config := scriptConfig{dir: dir}
	if o.BaseURL != "" {
		config.base = path.Join(dir, o.BaseURL)
	}
	for pattern, targets := range o.Paths {
		for _, t := range targets {
			config.paths = append(config.paths, place{pattern, path.Join(dir, o.BaseURL, t)})
		}
	}
	slices.SortFunc(config.paths, func(a, b place) int {
		return cmp.Or(cmp.Compare(len(b.name), len(a.name)), strings.Compare(a.name, b.name), strings.Compare(a.dir, b.dir))
	})
	m.configs = append(m.configs, config)
}

// aliases are the paths that a tsconfig.json above a folder gives a name.
func (m manifests) aliases(dir, from string) (out []string) {
	for _, c := range m.configs {
		if _, in := under(dir, c.dir); !in {
			continue
		}
		for _, p := range c.paths {
			before, after, star := strings.Cut(p.name, "*")
			switch {
			case !star && from == p.name:
				out = append(out, p.dir)
			case star && len(from) >= len(before)+len(after) && strings.HasPrefix(from, before) && strings.HasSuffix(from, after):
				out = append(out, strings.Replace(p.dir, "*", from[len(before):len(from)-len(after)], 1))
			}
		}
		if c.base != "" {
			out = append(out, path.Join(c.base, from))
		}
	}
	return out
}

// plainJSON is JSON with comments and trailing commas taken out, as tsconfig.json may have them.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, text[i:min(end+1, len(text))]...)
			i = end
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 3
		case c == '}' || c == ']':
			trimmed := bytes.TrimRight(out, " \t\r\n")
			if n := len(trimmed); n > 0 && trimmed[n-1] == ',' {
				out = trimmed[:n-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}
