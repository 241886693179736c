package plan

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"
)

// convention is one file that makes a command customary.
type convention struct {
	id      string
	sources []string                  // file names, the first that is there counts
	says    func(content string) bool // whether the file means it; nil for always
	run     string
}

// conventions finds the customary checks. A language's own tool comes before a Makefile, which often does more than
// check; the top folder comes before the folders below, and there a go.mod counts alone, since each begins a module
// that the one above it leaves out.
//
//	go.mod                                       go test ./...
//	package.json with a test script              npm test
//	Cargo.toml                                   cargo test
//	pytest.ini, pyproject.toml, tox.ini, …       pytest -q
//	Makefile with the target test, else check    make test, make check
//	go.mod in folders below, by name             go test ./... there
func conventions(tree fs.FS) ([]Check, error) {
	var found []Check
	for _, c := range customs {
		for _, name := range c.sources {
			b, err := readFile(tree, name, 1<<20)
			if err != nil || c.says != nil && !c.says(string(b)) {
				continue
			}
			found = append(found, Check{ID: c.id, Run: c.run, Dir: ".", Provenance: Convention, Source: name})
			break
		}
	}
	below, err := modules(tree)
	for _, dir := range below {
		found = append(found, Check{
			ID: "go:" + dir, Run: "go test ./...", Dir: dir, Provenance: Convention, Source: path.Join(dir, "go.mod"),
		})
	}
	return withoutDoubles(found), err
}

var customs = []convention{
	{"go", []string{"go.mod"}, nil, "go test ./..."},
	{"npm", []string{"package.json"}, hasTestScript, "npm test"},
	{"cargo", []string{"Cargo.toml"}, nil, "cargo test"},
	{"pytest", []string{"pytest.ini", ".pytest.ini"}, nil, "pytest -q"},
	{"pytest", []string{"pyproject.toml"}, matches(`(?m)^\[tool\.pytest[\].]`), "pytest -q"},
	{"pytest", []string{"tox.ini"}, matches(`(?m)^\[pytest\]|\bpytest\b`), "pytest -q"},
	{"pytest", []string{"setup.cfg"}, matches(`(?m)^\[tool:pytest\]`), "pytest -q"},
	{"make", makefiles, matches(`(?m)^test[ \t]*:(?:[^=]|$)`), "make test"},
	{"make", makefiles, matches(`(?m)^check[ \t]*:(?:[^=]|$)`), "make check"},
}

// makefiles in the order in which GNU make looks for them.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

func matches(expr string) func(string) bool { return regexp.MustCompile(expr).MatchString }

// hasTestScript tells npm's placeholder from a test script.
func hasTestScript(content string) bool {
	var p struct{ Scripts struct{ Test string } }
	return json.Unmarshal([]byte(content), &p) == nil && p.Scripts.Test != "" &&
		!strings.Contains(p.Scripts.Test, "Error: no test specified")
}

// withoutDoubles keeps the first check of each id.
func withoutDoubles(found []Check) []Check {
	seen := map[string]bool{}
	var out []Check
	for _, c := range found {
		if !seen[c.ID] {
			seen[c.ID] = true
			out = append(out, c)
		}
	}
	return out
}

// Bounds on the search below the top folder.
const (
	maxDepth   = 6
	maxEntries = 50_000
	maxModules = 50
)

// modules are the folders below the top that hold a go.mod, sorted. Folders that the go command passes over, and
// those of packages, are left out.
func modules(tree fs.FS) ([]string, error) {
	var dirs []string
	entries := 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch entries++; {
		case err != nil && name == ".":
			return err
		case err != nil:
			return fs.SkipDir // one folder that cannot be read hides its own modules alone
		case entries > maxEntries || len(dirs) >= maxModules:
			return fs.SkipAll
		}
		if d.IsDir() && name != "." && (passedOver(d.Name()) || strings.Count(name, "/") >= maxDepth) {
			return fs.SkipDir
		}
		if d.Name() == "go.mod" && d.Type().IsRegular() && name != "go.mod" {
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	sort.Strings(dirs)
	return dirs, err
}

func passedOver(dir string) bool {
	return dir[0] == '.' || dir[0] == '_' || dir == "vendor" || dir == "testdata" || dir == "node_modules"
}
