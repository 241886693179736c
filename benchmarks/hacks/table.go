package hacks

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report is a whole run.
type Report struct {
	Sets     map[string]string `json:"sets"` // hash of each
	Sandbox  string            `json:"sandbox"`
	CPUs     int               `json:"cpus"`
	Seconds  float64           `json:"seconds"`
	Tables   []Table           `json:"tables"` // one a set
	Outcomes []Outcome         `json:"outcomes"`
}

// Table is what one set came to.
type Table struct {
	Set             string   `json:"set"`
	Hash            string   `json:"hash"`
	Hacks           int      `json:"hacks"`  // that are green on their own, or cheat from run to run
	Honest          int      `json:"honest"` // that are green on their own
	Rungs           []Count  `json:"rungs"`
	Kinds           []Share  `json:"kinds"`
	Languages       []Share  `json:"languages"`
	Accepted        []string `json:"accepted_hacks"`
	RefusedHonest   []string `json:"refused_honest"` // with what refused them
	Invalid, Failed []string `json:"-"`
}

// Count is what one rung refuses.
type Count struct {
	Rung        string `json:"rung"`
	Judged      int    `json:"judged"`       // hacks of which it was evaluated
	Alone       int    `json:"alone"`        // hacks that it refuses by itself, of those
	Cumulative  int    `json:"cumulative"`   // hacks that it or one above it refuses
	HonestAlone int    `json:"honest_alone"` // honest changes that it refuses by itself
	Honest      int    `json:"honest"`       // honest changes that it or one above it refuses
}

// Share is one kind or language.
type Share struct {
	Name     string `json:"name"`
	Hacks    int    `json:"hacks"`
	Accepted int    `json:"accepted"`
	Honest   int    `json:"honest"`
	Refused  int    `json:"refused"` // of the honest
}

// NewReport adds outcomes up.
func NewReport(c Corpus, outcomes []Outcome) Report {
	slices.SortFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(a.Case, b.Case) })
	r := Report{Sets: c.Hashes, CPUs: runtime.NumCPU(), Outcomes: outcomes}
	for _, set := range Sets {
		var of []Outcome
		for _, o := range outcomes {
			if strings.HasPrefix(o.Case, set+"/") {
				of = append(of, o)
			}
		}
		if len(of) > 0 {
			t := newTable(of)
			t.Set, t.Hash = set, c.Hashes[set]
			r.Tables = append(r.Tables, t)
		}
	}
	return r
}

func newTable(all []Outcome) Table {
	t := Table{}
	var judged []Outcome
	for _, o := range all {
		switch {
		case o.Verdict == Invalid:
			t.Invalid = append(t.Invalid, o.Case+": "+o.Text)
		case o.Verdict == Failed:
			t.Failed = append(t.Failed, o.Case+": "+o.Text)
		default:
			judged = append(judged, o)
		}
	}
	for _, o := range judged {
		switch {
		case o.Honest:
			if t.Honest++; o.Verdict == Refused {
				t.RefusedHonest = append(t.RefusedHonest, fmt.Sprintf("%s: %s", o.Case, o.Text))
			}
		default:
			if t.Hacks++; o.Verdict == Accepted {
				t.Accepted = append(t.Accepted, o.Case)
			}
		}
	}
	for i, rung := range Ladder {
		t.Rungs = append(t.Rungs, count(judged, rung, Ladder[:i+1]))
	}
	t.Kinds = shares(judged, func(o Outcome) string { return o.Kind })
	t.Languages = shares(judged, func(o Outcome) string { return o.Language })
	return t
}

func count(all []Outcome, rung string, upTo []string) Count {
	c := Count{Rung: rung}
	for _, o := range all {
		alone := slices.Contains(o.By, rung)
		any := slices.ContainsFunc(o.By, func(by string) bool { return slices.Contains(upTo, by) })
		status := o.Rungs[rung]
		add := func(to *int, yes bool) {
			if yes {
				*to++
			}
		}
		if o.Honest {
			add(&c.HonestAlone, alone)
			add(&c.Honest, any)
			continue
		}
		add(&c.Judged, status == "held" || status == "failed" || rung == Gate || rung == Admit && len(o.By) == 0 || alone)
		add(&c.Alone, alone)
		add(&c.Cumulative, any)
	}
	return c
}

func shares(all []Outcome, of func(Outcome) string) []Share {
	by := map[string]*Share{}
	for _, o := range all {
		s := by[of(o)]
		if s == nil {
			s = &Share{Name: of(o)}
			by[s.Name] = s
		}
		switch {
		case o.Honest && o.Verdict == Refused:
			s.Honest, s.Refused = s.Honest+1, s.Refused+1
		case o.Honest:
			s.Honest++
		case o.Verdict == Accepted:
			s.Hacks, s.Accepted = s.Hacks+1, s.Accepted+1
		default:
			s.Hacks++
		}
	}
	var out []Share
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

// Line is one outcome for people.
func (o Outcome) Line() string {
	why := strings.Join(o.By, " ")
	if o.Verdict != Accepted && o.Text != "" {
		first, _, _ := strings.Cut(o.Text, "\n")
		why += "  " + first[:min(len(first), 160)]
	}
	return fmt.Sprintf("%-8s %5.1fs  %-46s %-10s %s\n", o.Verdict, o.Seconds, o.Case, o.Kind, why)
}

// Print writes the tables for people.
func (r Report) Print(w io.Writer) {
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\nset %s %s: %d hacks, %d honest changes; sandbox %s, %d CPUs, %.0f s\n\n", t.Set, t.Hash, t.Hacks, t.Honest, r.Sandbox, r.CPUs, r.Seconds)
		t.print(w)
	}
}

func (t Table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "rung\tjudged\trefuses alone\tadded up\thonest alone\tadded up\t\n")
	for _, c := range t.Rungs {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d of %d\t%d\t%d of %d\t\n", c.Rung, c.Judged, c.Alone, c.Cumulative, t.Hacks, c.HonestAlone, c.Honest, t.Honest)
	}
	for _, by := range []struct {
		name string
		of   []Share
	}{{"language", t.Languages}, {"kind", t.Kinds}} {
		fmt.Fprintf(tw, "\n%s\thacks\taccepted\thonest\trefused\t\n", by.name)
		for _, s := range by.of {
			fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t\n", s.Name, s.Hacks, s.Accepted, s.Honest, s.Refused)
		}
	}
	tw.Flush() //nolint:errcheck // the writer's own errors are its caller's
	fmt.Fprintf(w, "\naccepted hacks: %d of %d%s\nrefused honest changes: %d of %d%s\n", len(t.Accepted), t.Hacks, percent(len(t.Accepted), t.Hacks),
		len(t.RefusedHonest), t.Honest, percent(len(t.RefusedHonest), t.Honest))
	for _, list := range []struct {
		what  string
		names []string
	}{{"accepted", t.Accepted}, {"refused", t.RefusedHonest}, {"invalid", t.Invalid}, {"failed", t.Failed}} {
		for _, name := range list.names {
			fmt.Fprintf(w, "  %-8s  %s\n", list.what, name)
		}
	}
}

func percent(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f%%)", 100*float64(n)/float64(of))
}
