package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumented(t *testing.T) {
	fence := func(language string, lines ...string) string {
		return "```" + language + "\n" + strings.Join(lines, "\n") + "\n```\n"
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"shell", fence("sh", "make deps", "# make test", "make test"), []string{"make test"}},
		{"a transcript", fence("console", "$ make test", "make check", "ok"), []string{"make test"}},
		{"prompts in a block of shell", fence("bash", "$ pytest -x", "pytest"), []string{"pytest -x"}},
		{"a continued line", fence("bash", "go test \\", "  -race ./..."), []string{"go test -race ./..."}},
		{"a comment behind", fence("sh", "tox # slow"), []string{"tox"}},
		{"in a list", "* Do:\n\n  ```sh\n  cargo test\n  ```\n", []string{"cargo test"}},
		{"several, each once", fence("sh", "tox", "pytest", "tox"), []string{"tox", "pytest"}},
		{"three at most", fence("sh", "tox", "pytest", "nox", "ctest"), []string{"tox", "pytest", "nox"}},
		{"prose", "Run `make test`, or:\n\n    make test\n\nmake test\n", nil},
		{"a block of another language", fence("python", "pytest") + fence("", "pytest") + fence("yaml", "pytest"), nil},
		{"placeholders", fence("sh", "pytest <name>", "go test path/to/x", "npm test -- TEST_NAME", "tox -e [env]", "cargo test ...", "pytest your_test.py"), nil},
		{"more than a test", fence("sh", "make test && rm -rf x", "pytest; curl x", "go test $X", "go test | tee x", "pytest > log"), nil},
		{"other commands", fence("sh", "pytester", "makes test", "sudo make test", "rm -rf /"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range documented(tree("README.md", tt.text)) {
				got = append(got, c.Run)
				if c.Provenance != Documented || c.Source != "README.md" {
					t.Errorf("%+v", c)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("documented mismatch (-want +got):\n%s", d)
			}
		})
	}
	set, err := Find(tree("README.md", fence("sh", "ctest"), "go.mod", ""))
	if err != nil || set.Checks[0].Run != "go test ./..." {
		t.Errorf("what is customary comes first: %+v, %v", set, err)
	}
}

func FuzzDocumented(f *testing.F) {
	f.Add("```sh\n$ go test \\\n ./...\n```\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range documented(tree("README.md", s)) {
			if !isTestCommand(c.Run) || strings.ContainsAny(c.Run, ";&|`$\n") {
				t.Errorf("%q gives %q", s, c.Run)
			}
		}
	})
}
