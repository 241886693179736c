package sandboxtest_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redraft-dev/redraft/agent/sandbox/sandboxtest"
)

var update = flag.Bool("update", false, "write the table of rows into docs/security.md and rows.json anew")

// The table in the document is between these lines.
const (
	begin = "<!-- rows of agent/sandbox/sandboxtest: begin; go test ./agent/sandbox/sandboxtest -run TestTable -update writes them -->\n"
	end   = "<!-- rows of agent/sandbox/sandboxtest: end -->\n"
)

// TestTable: what people and programs read of the rows is what the suite has.
func TestTable(t *testing.T) {
	document := filepath.Join("..", "..", "..", "docs", "security.md")
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := between(text, "\n"+sandboxtest.Markdown()+"\n")
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	list, err := sandboxtest.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{document: want, "rows.json": list} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Errorf("%s differs from the suite (-update writes it): %v\n%s", filepath.Base(name), err, diff)
		}
	}
}

// between puts a table between the two lines.
func between(text []byte, table string) ([]byte, error) {
	head, rest, ok := bytes.Cut(text, []byte(begin))
	if !ok {
		return nil, fmt.Errorf("no line %q", begin)
	}
	_, tail, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, fmt.Errorf("no line %q after the first", end)
	}
	return []byte(string(head) + begin + table + end + string(tail)), nil
}

// TestRows: E01 to E40, each once, short enough for a phone, and every cell says something.
func TestRows(t *testing.T) {
	list := sandboxtest.Rows()
	if len(list) != 40 {
		t.Fatalf("%d rows, want 40", len(list))
	}
	for i, r := range list {
		if want := fmt.Sprintf("E%02d", i+1); r.ID != want {
			t.Errorf("row %d is %s, want %s", i, r.ID, want)
		}
		if n := len(r.Tried); n == 0 || n > 50 || strings.Contains(r.Tried, "|") {
			t.Errorf("%s: %q", r.ID, r.Tried)
		}
		for tier, gaps := range r.Gaps {
			if len(gaps) == 0 {
				t.Errorf("%s: no gap in tier %s", r.ID, tier)
			}
		}
	}
	for _, line := range strings.Split(sandboxtest.Markdown(), "\n") {
		if regexp.MustCompile(`^\| E`).MatchString(line) && (strings.Count(line, "|") != 6 || strings.Contains(line, "|  |")) {
			t.Errorf("a line of the table: %s", line)
		}
	}
}
