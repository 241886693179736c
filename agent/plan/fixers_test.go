package plan

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFixers(t *testing.T) {
	tree := fstest.MapFS{
		"Makefile":         {Data: []byte("lint:\n\t@golangci-lint run ./...\nfmt:\n\ttest -z \"$$(gofmt -s -l .)\"\n")},
		"scripts/style.sh": {Data: []byte("#!/bin/sh\nset -e\nblack --check src\ncd web && npx prettier -c \"src/**/*.ts\"\n")},
		"package.json":     {Data: []byte(`{"scripts": {"lint": "eslint src && prettier --check .", "test": "node --test"}}`)},
	}
	for _, tt := range []struct {
		run  string
		want string // tool|kind|argv|dir|bin, one a line
	}{
		{`test -z "$(gofmt -l .)"`, "gofmt|format|gofmt -w .|.|"},
		{"go mod tidy -diff", "go mod tidy|tidy|go mod tidy|.|"},
		{"go generate ./... && git diff --exit-code", "go generate|codegen|go generate ./...|.|"},
		{"cd sub && go vet ./...", "go vet|lint|go vet -fix ./...|sub|"},
		{"make lint", "golangci-lint run|lint|golangci-lint run --fix ./...|.|\ngofmt|format|gofmt -w -s .|.|"},
		{"./scripts/style.sh", "black|format|black src|.|\nprettier|format|npx prettier --write src/**/*.ts|web|"},
		{"npm run lint", "eslint|lint|eslint --fix src|.|node_modules/.bin\nprettier|format|prettier --write .|.|node_modules/.bin"},
		{"npm test", ""},
		{"python -m ruff check --no-fix . && python -m ruff format --check .", "ruff check|lint|python -m ruff check --fix .|.|\nruff format|format|python -m ruff format .|.|"},
		{"cargo fmt --all -- --check", "cargo fmt|format|cargo fmt --all|.|"},
		{"cargo clippy --all-targets -- -D warnings", "cargo clippy|lint|cargo clippy --fix --allow-no-vcs --allow-dirty --all-targets -- -D warnings|.|"},
		{"biome ci .", "biome ci|lint|biome check --write .|.|"},
		{"black --check $FILES", ""},
		{"go test ./...", ""},
		{"echo gofmt -l .", ""},
	} {
		var got []string
		for _, f := range Fixers(tree, Check{Run: tt.run}) {
			got = append(got, strings.Join([]string{f.Tool, string(f.Kind), strings.Join(f.Argv, " "), f.Dir, f.Bin}, "|"))
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.run, d)
		}
	}
}
