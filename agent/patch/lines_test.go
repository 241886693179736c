package patch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDiffLines holds that what the runs say makes the new list of the old one, and that many small changes of a long text
// stay small.
func TestDiffLines(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var old, new []string
		for i := range r.IntN(600) {
			line := fmt.Sprint(i / (1 + r.IntN(3)))
			old = append(old, line)
			switch r.IntN(8) {
			case 0:
			case 1:
				new = append(new, line, line)
			case 2:
				new = append(new, fmt.Sprint(r.IntN(600)))
			default:
				new = append(new, line)
			}
		}
		var got []string
		at, last := 0, -1
		for _, d := range diffLines(old, new) {
			if d.From <= last && last >= 0 || d.From > d.To || d.NewFrom > d.NewTo {
				t.Fatalf("%v after line %d", d, last)
			}
			got = append(append(got, old[at:d.From]...), new[d.NewFrom:d.NewTo]...)
			at, last = d.To, d.To
		}
		if got = append(got, old[at:]...); !slices.Equal(got, new) {
			t.Fatalf("got %q, want %q", got, new)
		}
	}
	var old, new []string
	for i := range 5000 {
		old = append(old, fmt.Sprint("line ", i), "}")
		if new = append(new, fmt.Sprint("line ", i), "}"); i%10 == 0 {
			new[len(new)-1] = "};"
		}
	}
	if got := diffLines(old, new); len(got) != 500 {
		t.Errorf("%d runs, want 500", len(got))
	}
}
