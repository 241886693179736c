package scenes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// later are the arms that came after answers had been recorded.
var later = []string{perceive.Coverage}

// TestRecorded: the recorded answers of real models are read, and every arm was asked about the same cases, 24 or more.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "cases", "scenes", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no answers are recorded: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		answers, err := scenes.Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		rows := scenes.Rows(answers)
		if arms := len(scenes.Sections) + 1; len(rows)%arms != 0 && len(rows)%(arms-len(later)) != 0 {
			t.Errorf("%s: an arm is missing: %d rows", filepath.Base(name), len(rows))
		}
		for _, row := range rows {
			if row.Cases < 24 || row.Cases != rows[0].Cases {
				t.Errorf("%s: %s was asked about %d cases, want 24 or more and as many as the others", filepath.Base(name), row.Arm, row.Cases)
			}
		}
	}
}
