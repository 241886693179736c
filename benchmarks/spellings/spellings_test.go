package spellings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
	"github.com/redraft-dev/redraft/benchmarks/spellings"
)

// recorded are the answers of real models, as they came.
var recorded = filepath.Join("..", "cases", "spellings")

// TestRecordedAnswersLand lands every recorded answer again, of those that there are: what became of it stays.
func TestRecordedAnswersLand(t *testing.T) {
	corpus, err := hacks.Load(os.DirFS(filepath.Join("..", "cases")))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(recorded, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		answers, err := spellings.Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			tree := fstest.MapFS{}
			for file, text := range corpus.Programs[a.Program].Files {
				tree[file] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
			}
			_, slip := spellings.Land(tree, patch.Policy{}, a)
			if slip != a.Slip {
				t.Errorf("%s, %s, seed %d: slip %q, recorded %q:\n%s", a.Program, a.Spelling, a.Seed, slip, a.Slip, a.Text)
			}
		}
		for _, row := range spellings.Rows(answers) {
			want := 100
			if strings.Contains(name, "0.5b") { // it repairs nothing however it is asked, which half as many say
				want = 50
			}
			if row.Answers < want {
				t.Errorf("%s: %d answers with %s edits, want %d", filepath.Base(name), row.Answers, row.Spelling, want)
			}
		}
		t.Logf("%s: %d answers", filepath.Base(name), len(answers))
	}
	if len(files) == 0 {
		t.Error("no answers are recorded")
	}
}

// TestLand: an answer in each spelling becomes the same change, and what does not become one says why.
func TestLand(t *testing.T) {
	tree := fstest.MapFS{"cart.py": {Data: []byte("def total(n):\n    return n + 1\n\n\ndef other():\n    return 1\n"), Mode: 0o644}}
	const right = "def total(n):\n    return n + 2\n\n\ndef other():\n    return 1\n"
	for _, row := range []struct{ finish, text, slip string }{
		{"stop", "```python\n# edit: cart.py :: total\ndef total(n):\n    return n + 2\n```\n", ""},
		{"stop", "```python\n# edit: cart.py :: *\n" + right + "```\n", ""},
		{"stop", "cart.py\n<<<<<<< SEARCH\n    return n + 1\n=======\n    return n + 2\n>>>>>>> REPLACE\n", ""},
		{"length", "```python\n# edit: cart.py :: total\ndef total(n):\n    return n + 2\n```\n", "too_long"},
		{"stop", "I cannot.", patch.NoEdit},
		{"stop", "```python\n# edit: cart.py :: nothing\ndef nothing():\n    pass\n```\n", patch.NoSymbol},
	} {
		change, slip := spellings.Land(tree, patch.Policy{}, spellings.Answer{Finish: row.finish, Text: row.text})
		if slip != row.slip || slip == "" && (len(change.Files) != 1 || string(change.Files[0].New) != right) {
			t.Errorf("slip %q, want %q; %+v of:\n%s", slip, row.slip, change.Files, row.text)
		}
	}
}

func TestRows(t *testing.T) {
	answers, err := spellings.Read([]byte(strings.Join([]string{
		`{"model":"m","program":"p","spelling":"search","seed":1,"landed":true,"solved":true,"output":10,"prompt":5,"seconds":1}`,
		`{"model":"m","program":"p","spelling":"search","seed":2,"slip":"no_edit","output":20}`,
		`{"model":"m","program":"q","spelling":"search","seed":1,"landed":true,"output":3}`,
		`{"model":"m","program":"p","spelling":"addressed","seed":1,"slip":"too_long"}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []spellings.Row{
		{Model: "m", Spelling: "addressed", Answers: 1, Programs: 1, Slips: map[string]int{"too_long": 1}},
		{Model: "m", Spelling: "search", Answers: 3, Programs: 2, Landed: 2, Solved: 1, Greedy: 1, Any: 1, Slips: map[string]int{"no_edit": 1}, Output: 33, Prompt: 5, Seconds: 1},
	}
	if d := cmp.Diff(want, spellings.Rows(answers)); d != "" {
		t.Errorf("Rows mismatch (-want +got):\n%s", d)
	}
	var b strings.Builder
	spellings.Print(&b, want)
	for _, part := range []string{"addressed        1", "search        3  2 (21-94 %)", "no_edit 1", "1 of  2"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, b.String())
		}
	}
	if _, err := spellings.Read([]byte(`{"model":"m","program":"p","spelling":"search","seed":1}` + "\n{}")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("half a line: %v", err)
	}
}
