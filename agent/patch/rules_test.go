package patch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRules holds that every test that RULES.md names is there.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("testdata/RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	held := regexp.MustCompile(`(?:\.\./)*(?:(?:Test|Fuzz)\w+|[\w/]+\.txtar)`)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 || strings.TrimSpace(cells[0]) == "rule" {
			continue
		}
		rules++
		at := held.FindAllStringIndex(cells[1], -1)
		if len(at) == 0 {
			t.Errorf("nothing holds %q", cells[0])
		}
		for i, a := range at {
			end := len(cells[1])
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			named(t, cells[1][a[0]:a[1]], strings.Trim(cells[1][a[1]:end], "/, "))
		}
	}
	if rules < 50 {
		t.Errorf("%d rules", rules)
	}
}

// named holds that a test, and a case of it if one is named, stands in the test files of its folder.
func named(t *testing.T, test, row string) {
	t.Helper()
	if strings.HasSuffix(test, ".txtar") {
		if _, err := os.Stat(test); err != nil {
			t.Error(err)
		}
		return
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(test), "*_test.go"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+filepath.Base(test)+"(") {
			if all := string(text); row != "" && !strings.Contains(all, `{"`+row+`"`) && !strings.Contains(all, `name: "`+row+`"`) {
				t.Errorf("%s has no case %q", test, row)
			}
			return
		}
	}
	t.Errorf("there is no %s", test)
}
