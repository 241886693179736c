package scenes

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/redraft-dev/redraft/benchmarks/spellings"
)

// Row adds up the answers of one arm.
type Row struct {
	Model   string  `json:"model"`
	Budget  int     `json:"budget"` // tokens of a scene at most
	Most    int     `json:"most"`   // tokens of an answer at most
	Arm     string  `json:"arm"`
	Cases   int     `json:"cases"`
	Differs int     `json:"differs"` // cases whose prompt is not that of All: the section had something to show
	Reach   float64 `json:"reach"`   // share of the places of the repair that prompts show, the mean of the answers
	Answers int     `json:"answers"`
	Aimed   int     `json:"aimed"` // answers that edit what the released repair changes, by Aimed
	Landed  int     `json:"landed"`
	Solved  int     `json:"solved"`  // answers
	Low     float64 `json:"low"`     // of Solved, in percent, by spellings.Wilson
	High    float64 `json:"high"`    // the same
	Prompt  float64 `json:"prompt"`  // tokens, the mean
	Output  float64 `json:"output"`  // tokens, the mean
	Seconds float64 `json:"seconds"` // of the requests that were made for this arm
	With    int     `json:"with"`    // cases with more answers solved with the section, in this arm and All
	Without int     `json:"without"` // cases with more answers solved without it
	P       float64 `json:"p"`       // of With against Without: how likely as much is by chance; 1 for All
}

// group is what rows are compared in.
type group struct {
	model        string
	budget, most int
}

// tally is what one case came to in one arm.
type tally struct {
	digests map[int64]string // of the prompt, by seed
	solved  map[int64]bool
}

// Rows adds up answers, by model and budget, and in the order in which arms are asked. Of two answers about the
// same the first counts.
func Rows(answers []Answer) (rows []Row) {
	seen := map[place]bool{}
	groups := map[group]map[string][]Answer{}
	for _, a := range answers {
		if seen[a.place()] {
			continue
		}
		seen[a.place()] = true
		g := group{a.Model, a.Budget, a.Most}
		if groups[g] == nil {
			groups[g] = map[string][]Answer{}
		}
		groups[g][a.Arm] = append(groups[g][a.Arm], a)
	}
	for g, arms := range groups {
		base := tallies(arms[All])
		for arm, of := range arms {
			rows = append(rows, row(g, arm, of, base))
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Most, b.Most),
			cmp.Compare(slices.Index(Sections, a.Arm), slices.Index(Sections, b.Arm))) // All is at -1
	})
	return rows
}

func tallies(answers []Answer) map[string]tally {
	out := map[string]tally{}
	for _, a := range answers {
		if _, ok := out[a.Case]; !ok {
			out[a.Case] = tally{map[int64]string{}, map[int64]bool{}}
		}
		out[a.Case].digests[a.Seed], out[a.Case].solved[a.Seed] = a.Digest, a.Solved
	}
	return out
}

func row(g group, arm string, answers []Answer, base map[string]tally) Row {
	r := Row{Model: g.model, Budget: g.budget, Most: g.most, Arm: arm, Answers: len(answers)}
	for _, a := range answers {
		r.Prompt, r.Output, r.Reach = r.Prompt+float64(a.Prompt), r.Output+float64(a.Output), r.Reach+a.Reach
		if a.From == "" {
			r.Seconds += a.Seconds
		}
		if a.Aimed {
			r.Aimed++
		}
		if a.Landed {
			r.Landed++
		}
		if a.Solved {
			r.Solved++
		}
	}
	n := float64(max(len(answers), 1))
	r.Prompt, r.Output, r.Reach = r.Prompt/n, r.Output/n, r.Reach/n
	r.Low, r.High = spellings.Wilson(r.Solved, r.Answers)
	mine := tallies(answers)
	r.Cases = len(mine)
	for name, t := range mine {
		differs, more := t.against(base[name])
		if differs {
			r.Differs++
		}
		if added(arm) {
			more = -more
		}
		switch {
		case more > 0:
			r.With++
		case more < 0:
			r.Without++
		}
	}
	r.P = Sign(r.With, r.Without)
	return r
}

// against compares an arm of a case with All, over the seeds that both have: whether a prompt differs, and how many more answers
// of All are solved.
func (t tally) against(base tally) (differs bool, more int) {
	for seed, digest := range t.digests {
		other, ok := base.digests[seed]
		if !ok {
			continue
		}
		differs = differs || digest != other
		if base.solved[seed] {
			more++
		}
		if t.solved[seed] {
			more--
		}
	}
	return differs, more
}

// Sign is the two-sided p-value of the exact sign test: how likely it is that of a+b cases, each of which falls to either side
// with the same chance, so many or more fall to one side. For pairs of yes and no it is McNemar's test in its exact form
// (Q. McNemar, Psychometrika 12, 1947).
func Sign(a, b int) float64 {
	n, sum := a+b, 0.0
	term := math.Exp2(-float64(n)) // of the binomial distribution, from no case on that side
	for k := range min(a, b) + 1 {
		sum += term
		term *= float64(n-k) / float64(k+1)
	}
	return min(1, 2*sum)
}

// Print writes the table for people.
func Print(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	last := group{}
	for _, r := range rows {
		if g := (group{r.Model, r.Budget, r.Most}); g != last {
			last = g
			fmt.Fprintf(t, "\n%s, scenes of at most %d tokens, answers of at most %d\n", r.Model, r.Budget, r.Most)
			fmt.Fprint(t, "\tcases\tdiffer\treach\taimed\tlanded\tsolved\t95 %\tprompt\tanswer\tseconds\tonly with\tonly without\tp\t\n")
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f %%\t%d\t%d of %d\t%d\t%.0f-%.0f %%\t%.0f\t%.0f\t%.0f\t", r.name(), r.Cases, r.Differs, 100*r.Reach, r.Aimed, r.Landed, r.Answers, r.Solved,
			r.Low, r.High, r.Prompt, r.Output, r.Seconds)
		if r.Arm == All {
			fmt.Fprint(t, "\t\t\t\n")
			continue
		}
		fmt.Fprintf(t, "%d\t%d\t%.2f\t\n", r.With, r.Without, r.P)
	}
	return t.Flush()
}

func (r Row) name() string {
	switch {
	case r.Arm == All:
		return All
	case added(r.Arm):
		return "with " + r.Arm
	}
	return "without " + r.Arm
}

// Read takes recorded answers, one JSON value a line. Each is about a case and of an arm that there is.
func Read(b []byte) ([]Answer, error) {
	return spellings.Lines(b, func(a Answer) error {
		if a.Case == "" || a.Digest == "" || a.Seed < 1 || a.Arm != All && !slices.Contains(Sections, a.Arm) {
			return fmt.Errorf("it is no answer about a case in %s", strings.Join(append([]string{All}, Sections...), ", "))
		}
		return nil
	})
}
