package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Plant makes a tree hostile to whoever opens it: a repository whose configuration, hooks and filters run a program,
// nested and redirected ones, and the files by which editors, shells, package managers and test runners are made to run
// something. The program adds a line to the file mark. Nothing of it may happen to a host that only copies and reads.
func Plant(dir, mark string) error {
	fire := filepath.Join(dir, "fire.sh")
	texts := map[string]string{"fire.sh": "#!/bin/sh\necho fired >>'" + mark + "'\ncat 2>/dev/null\nexit 0\n"}
	for _, repo := range []string{".git", "nested/.git", "vendor/deep/.git"} {
		repository(texts, repo, fire)
	}
	texts["linked/.git"] = "gitdir: ../.git\n"
	texts["worktree/.git"] = "gitdir: " + filepath.Join(dir, ".git/worktrees/w") + "\n"
	texts[".git/worktrees/w/commondir"] = filepath.Join(dir, "nested/.git") + "\n"
	texts[".git/worktrees/w/gitdir"] = filepath.Join(dir, "worktree/.git") + "\n"
	texts[".git/worktrees/w/HEAD"] = "ref: refs/heads/main\n"
	texts[".git/objects/info/alternates"] = filepath.Dir(mark) + "\n"
	for name, format := range runners {
		texts[name] = strings.ReplaceAll(format, "FIRE", fire)
	}
	for _, name := range sorted(texts) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("plant %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(texts[name]), 0o755); err != nil {
			return fmt.Errorf("plant %s: %w", name, err)
		}
	}
	return nil
}

func sorted(texts map[string]string) []string {
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// repository lays out what is taken for a repository without a program that makes one.
func repository(texts map[string]string, at, fire string) {
	texts[at+"/HEAD"] = "ref: refs/heads/main\n"
	texts[at+"/refs/heads/kept"], texts[at+"/objects/kept"] = "", ""
	texts[at+"/config"] = strings.ReplaceAll(`[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = FIRE
	hooksPath = FIRE.d
	sshCommand = FIRE
	askPass = FIRE
	editor = FIRE
	pager = FIRE
	gitProxy = FIRE
	alternateRefsCommand = FIRE
[filter "evil"]
	clean = FIRE
	smudge = FIRE
	process = FIRE
	required = true
[diff]
	external = FIRE
[diff "evil"]
	command = FIRE
	textconv = FIRE
[merge "evil"]
	driver = FIRE
[gpg]
	program = FIRE
[credential]
	helper = !FIRE
[alias]
	status = !FIRE
[uploadpack]
	packObjectsHook = FIRE
[include]
	path = more
[url "ext::FIRE "]
	insteadOf = https://
`, "FIRE", fire)
	texts[at+"/more"] = "[core]\n\tfsmonitor = " + fire + "\n"
	texts[at+"/info/attributes"] = "* filter=evil diff=evil merge=evil\n"
	for _, hook := range []string{"pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "post-merge"} {
		texts[at+"/hooks/"+hook] = "#!/bin/sh\nexec '" + fire + "'\n"
	}
}

// runners are files that make a program run something by lying in a folder.
var runners = map[string]string{
	".gitattributes":          "* filter=evil diff=evil merge=evil\n",
	".gitmodules":             "[submodule \"nested\"]\n\tpath = nested\n\turl = ./nested\n\tupdate = !FIRE\n",
	".envrc":                  "FIRE\n",
	".env":                    "PATH=FIRE\nLD_PRELOAD=FIRE\n",
	".vscode/tasks.json":      `{"version":"2.0.0","tasks":[{"label":"x","type":"shell","command":"FIRE","runOptions":{"runOn":"folderOpen"}}]}`,
	".vscode/settings.json":   `{"git.path":"FIRE","python.defaultInterpreterPath":"FIRE"}`,
	".idea/workspace.xml":     `<project><component name="RunManager"><configuration type="ShConfigurationType"><option name="SCRIPT_PATH" value="FIRE"/></configuration></component></project>`,
	".husky/pre-commit":       "FIRE\n",
	".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - {id: x, name: x, language: system, entry: FIRE}\n",
	".mise.toml":              "[hooks]\nenter = \"FIRE\"\n",
	".bazelrc":                "build --workspace_status_command=FIRE\n",
	".npmrc":                  "script-shell=FIRE\ngit=FIRE\n",
	".cargo/config.toml":      "[build]\nrustc-wrapper = \"FIRE\"\n",
	"Cargo.toml":              "[package]\nname = \"x\"\nversion = \"0.1.0\"\nbuild = \"build.rs\"\n",
	"build.rs":                "fn main() { std::process::Command::new(\"FIRE\").status().unwrap(); }\n",
	"Makefile":                "X := $(shell FIRE)\ntest:\n\tFIRE\n",
	"package.json":            `{"name":"x","scripts":{"preinstall":"FIRE","prepare":"FIRE","test":"FIRE"}}`,
	"pyproject.toml":          "[tool.pytest.ini_options]\naddopts = \"-p conftest\"\n",
	"conftest.py":             "import os\nos.system('FIRE')\n",
	"sitecustomize.py":        "import os\nos.system('FIRE')\n",
	"setup.py":                "import os\nos.system('FIRE')\n",
	"go.mod":                  "module example.com/x\n\ngo 1.26\n\ntoolchain go1.99.0\n",
	"x_test.go":               "package x\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc Test(t *testing.T) { _ = exec.Command(\"FIRE\").Run() }\n",
	"git":                     "#!/bin/sh\nexec 'FIRE'\n",
	"sh":                      "#!/bin/sh\nexec 'FIRE'\n",
}
