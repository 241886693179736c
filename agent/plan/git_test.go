package plan

import (
	"testing"
	"testing/fstest"
)

func TestUsesGit(t *testing.T) {
	for _, tt := range []struct {
		name, run string
		files     map[string]string
		want      bool
	}{
		{"a diff", "go generate ./... && git diff --exit-code", nil, true},
		{"a status in a substitution", `test -z "$(git status --porcelain)"`, nil, true},
		{"options before the command", "git -C . --no-pager -c core.pager=cat diff --quiet", nil, true},
		{"pre-commit", "pre-commit run --all-files", nil, true},
		{"a script", "./check.sh", map[string]string{"check.sh": "#!/bin/sh\nset -e\ngit describe --always\n"}, true},
		{"a list in a script", "python3 check.py", map[string]string{"check.py": `subprocess.run(["git", "ls-files"])`}, true},
		{"a list without spaces", "node check.js", map[string]string{"check.js": `execFileSync('git',['status'])` + "\n" + `run("git","status")`}, true},
		{"a Makefile's variable", "make test", map[string]string{"Makefile": "V := $(shell git rev-parse HEAD)\ntest:\n\techo $(V)\n"}, true},
		{"a script of npm", "npm test", map[string]string{"package.json": `{"scripts": {"test": "node x.js && git diff --exit-code"}}`}, true},
		{"a version by git", "pip install . && pytest", map[string]string{"pyproject.toml": "[build-system]\nrequires = [\"setuptools_scm[toml]>=8\"]\n"}, true},
		{"no git", "go test ./...", map[string]string{"go.mod": "module m\n"}, false},
		{"a file's name", "grep -q git README.md", map[string]string{"README.md": "git status\n"}, false},
		{"a word that ends so", "legit status && digit-diff", nil, false},
		{"a folder's name", "go test ./git/... ./status", nil, false},
		{"a script that nobody runs", "true", map[string]string{"check.sh": "git status\n"}, false},
		{"a version by git that nobody asks for", "go vet ./...", map[string]string{"pyproject.toml": "setuptools_scm"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for name, text := range tt.files {
				tree[name] = &fstest.MapFile{Data: []byte(text)}
			}
			set, err := FromCommand(tree, tt.run)
			if err != nil || set.Checks[0].Git != tt.want {
				t.Errorf("%q: %v, %v; want %v", tt.run, set.Checks[0].Git, err, tt.want)
			}
		})
	}
}

// A check that is moved to another folder runs the scripts of that folder.
func TestIn(t *testing.T) {
	tree := fstest.MapFS{"sub/check.sh": {Data: []byte("git status\n")}}
	set, err := FromCommand(tree, "sh check.sh")
	if err != nil || set.Checks[0].Git || len(set.Checks[0].Scripts) > 0 {
		t.Fatalf("at the top: %+v, %v", set, err)
	}
	if c := set.Checks[0].In(tree, "sub"); !c.Git || c.Dir != "sub" || len(c.Scripts) != 1 {
		t.Errorf("below: %+v", c)
	}
}
