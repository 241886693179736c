package patch_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/patch"
)

// TestFixesOfTheWorldDoNotSmell holds the lint against repairs that people wrote for small bugs with tests, told every
// value that the tests compare. At most one in twenty may be refused.
func TestFixesOfTheWorldDoNotSmell(t *testing.T) {
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA names no folder")
	}
	quoted := regexp.MustCompile(`'[^'\n]*'|"[^"\n]*"|-?\d[\d.]*`)
	for lang, set := range map[string]string{"py": "python", "js": "js"} {
		raw, err := os.ReadFile(filepath.Join(data, "tasks", "humanevalpack-"+set+".jsonl"))
		if err != nil {
			t.Skip("REFUSED: ", err)
		}
		tried, refused := 0, 0
		for line := range bytes.Lines(raw) {
			var task struct {
				ID    string `json:"task_id"`
				Head  string `json:"prompt"`
				Bad   string `json:"buggy_solution"`
				Good  string `json:"canonical_solution"`
				Tests string `json:"test"`
			}
			if err := json.Unmarshal(line, &task); err != nil {
				t.Fatal(err)
			}
			tried++
			c := patch.Change{Files: []patch.FileChange{{Path: "p." + lang, Old: []byte(task.Head + task.Bad), New: []byte(task.Head + task.Good)}}}
			if left := patch.Unlinted(c); len(left) > 0 {
				t.Errorf("%s does not parse", task.ID)
			}
			bad := false
			for _, s := range patch.Lint(fstest.MapFS{}, c, patch.Tested{Compared: quoted.FindAllString(task.Tests, -1)}) {
				bad = bad || s.Fatal
				t.Logf("%s: %+v", task.ID, s)
			}
			if bad {
				refused++
			}
		}
		t.Logf("%s: %d of %d honest repairs refused", lang, refused, tried)
		if refused*20 > tried {
			t.Errorf("%d of %d honest repairs are refused", refused, tried)
		}
	}
}
