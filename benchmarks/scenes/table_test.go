package scenes_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/benchmarks/scenes"
)

// TestRows: three cases with all sections, without tests, and with the skeleton. The figures are worked out by hand.
func TestRows(t *testing.T) {
	answer := func(name, arm, digest, from string, solved bool) scenes.Answer {
		return scenes.Answer{
			Model: "m", Case: name, Arm: arm, Budget: 3000, Most: 1024, Seed: 1, Digest: digest, From: from, Landed: solved || name == "c",
			Solved: solved, Aimed: solved, Prompt: 100 + 10*len(name+from), Output: 6, Seconds: 2, Reach: 0.5 * float64(len(from)),
		}
	}
	answers := []scenes.Answer{
		answer("a", scenes.All, "1", "", true), answer("b", scenes.All, "2", "", true), answer("c", scenes.All, "3", "", false),
		answer("a", perceive.Project, "1p", "", true), answer("b", perceive.Project, "2p", "", true), answer("c", perceive.Project, "3p", "", true),
		answer("a", perceive.Tests, "1t", "", false), answer("b", perceive.Tests, "2t", "", false), answer("c", perceive.Tests, "3", "all", false),
		answer("a", scenes.All, "1", "", false), // a second answer about the same
	}
	want := []scenes.Row{
		// Wilson for 2, 0 and 3 of 3: (p+z*z/2n ± z*sqrt(p*(1-p)/n+z*z/4n*n)) / (1+z*z/n) with z*z = 3.8415
		{Arm: scenes.All, Cases: 3, Answers: 3, Aimed: 2, Landed: 3, Solved: 2, Low: 20.77, High: 93.85, Prompt: 110, Output: 6, Seconds: 6, P: 1},
		{Arm: perceive.Tests, Cases: 3, Differs: 2, Reach: 0.5, Answers: 3, Landed: 1, Solved: 0, Low: 0, High: 56.15, Prompt: 120, Output: 6, Seconds: 4, With: 2, P: 0.5},
		{Arm: perceive.Project, Cases: 3, Differs: 3, Answers: 3, Aimed: 3, Landed: 3, Solved: 3, Low: 43.85, High: 100, Prompt: 110, Output: 6, Seconds: 6, With: 1, P: 1},
	}
	got := scenes.Rows(answers)
	for i := range got {
		got[i].Low, got[i].High = math.Round(got[i].Low*100)/100, math.Round(got[i].High*100)/100
		got[i].Model, got[i].Budget, got[i].Most = "", 0, 0
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Rows (-want +got):\n%s", d)
	}
	var b strings.Builder
	if err := scenes.Print(&b, scenes.Rows(answers)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"m, scenes of at most 3000 tokens, answers of at most 1024", "without tests  ", "with skeleton  ", "       2   21-94 %  ", "only without     p", "  0.50"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, b.String())
		}
	}
}

// TestRowsApart: budgets, lengths of answers and models are not mixed.
func TestRowsApart(t *testing.T) {
	var answers []scenes.Answer
	for i, a := range []scenes.Answer{{Model: "m"}, {Model: "n"}, {Model: "m", Budget: 1}, {Model: "m", Most: 1}, {Model: "m", Seed: 2}} {
		a.Case, a.Arm, a.Solved = "a", scenes.All, i != 4
		answers = append(answers, a)
	}
	rows := scenes.Rows(answers)
	if len(rows) != 4 || rows[0].Answers != 2 || rows[0].Solved != 1 || rows[0].Cases != 1 {
		t.Errorf("got %+v, want four rows, the first of one case with two answers", rows)
	}
}

func TestSign(t *testing.T) {
	for _, tt := range []struct {
		a, b int
		want float64
	}{
		{0, 0, 1}, {1, 0, 1}, {3, 3, 1}, {5, 0, 2.0 / 32}, {0, 5, 2.0 / 32}, {6, 1, 2 * (1 + 7) / 128.0}, {8, 2, 2 * (1 + 10 + 45) / 1024.0},
	} {
		if got := scenes.Sign(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("Sign(%d, %d) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	const good = `{"model":"m","case":"a","arm":"all","digest":"1","seed":1}`
	if got, err := scenes.Read([]byte(good + "\n" + strings.Replace(good, "all", "tests", 1) + "\n")); err != nil || len(got) != 2 || got[1].Arm != perceive.Tests {
		t.Errorf("got %+v, %v; want two answers", got, err)
	}
	for _, bad := range []string{"{", `{"case":"a","arm":"all","digest":"1"}`, strings.Replace(good, "all", "everything", 1), "{}", "7"} {
		if _, err := scenes.Read([]byte(good + "\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: got %v, want an error about line 2", bad, err)
		}
	}
	if _, err := scenes.Read([]byte(`{"text":"` + strings.Repeat("x", 5<<20) + `"}`)); err == nil {
		t.Error("a line without end is no error")
	}
}
