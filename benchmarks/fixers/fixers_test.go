package main

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/plan"
)

// Every case is whole, and the plan knows the writing form of its tool.
func TestCases(t *testing.T) {
	cases, err := Read(filepath.Join("..", "cases", "fixers"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Errorf("%d cases, want 40", len(cases))
	}
	for _, c := range cases {
		tree := fstest.MapFS{}
		for name, data := range c.Files {
			tree[name] = &fstest.MapFile{Data: data}
		}
		var tools []string
		for _, f := range plan.Fixers(tree, plan.Check{Run: c.Check}) {
			tools = append(tools, f.Tool)
		}
		if got := strings.Join(tools, ", "); !strings.Contains(got, c.Tool) {
			t.Errorf("%s: tools %q, want %q", c.Name, got, c.Tool)
		}
	}
}
