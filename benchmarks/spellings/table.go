package spellings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// Row adds up the answers of one model in one spelling.
type Row struct {
	Model    string         `json:"model"`
	Spelling string         `json:"spelling"`
	Answers  int            `json:"answers"`
	Programs int            `json:"programs"`
	Landed   int            `json:"landed"`
	Solved   int            `json:"solved"`
	Greedy   int            `json:"solved_greedy"` // of the first answers alone, one a program
	Any      int            `json:"solved_any"`    // programs of which some answer is green
	Slips    map[string]int `json:"slips"`
	Prompt   int            `json:"prompt"` // tokens in all
	Output   int            `json:"output"` // tokens in all
	Seconds  float64        `json:"seconds"`
}

// Rows adds up answers, by model and in the order of All.
func Rows(answers []Answer) []Row {
	rows, solved := map[string]*Row{}, map[string]map[string]bool{}
	for _, a := range answers {
		key := a.Model + "\x00" + a.Spelling
		r := rows[key]
		if r == nil {
			r = &Row{Model: a.Model, Spelling: a.Spelling, Slips: map[string]int{}}
			rows[key], solved[key] = r, map[string]bool{}
		}
		r.add(a)
		solved[key][a.Program] = solved[key][a.Program] || a.Solved
	}
	var out []Row
	for key, r := range rows {
		r.Programs = len(solved[key])
		for _, yes := range solved[key] {
			if yes {
				r.Any++
			}
		}
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Row) int {
		if a.Model != b.Model {
			return strings.Compare(a.Model, b.Model)
		}
		return slices.Index(All, a.Spelling) - slices.Index(All, b.Spelling)
	})
	return out
}

func (r *Row) add(a Answer) {
	r.Answers++
	r.Prompt, r.Output, r.Seconds = r.Prompt+a.Prompt, r.Output+a.Output, r.Seconds+a.Seconds
	switch {
	case a.Landed:
		r.Landed++
	default:
		r.Slips[a.Slip]++
	}
	if a.Solved {
		r.Solved++
		if a.Seed == 1 {
			r.Greedy++
		}
	}
}

// Wilson is the 95 % interval of a share, in percent (E. B. Wilson, 1927).
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 100
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return 100 * max(0, middle-half), 100 * min(1, middle+half)
}

// Print writes the table for people.
func Print(w io.Writer, rows []Row) {
	model := ""
	for _, r := range rows {
		if r.Model != model {
			model = r.Model
			fmt.Fprintf(w, "\n%s\n%10s  answers  landed          solved           programs  tokens written  slips\n", model, "")
		}
		var slips []string
		for _, code := range slices.SortedFunc(maps.Keys(r.Slips), func(a, b string) int { return r.Slips[b]*1000 - r.Slips[a]*1000 + strings.Compare(a, b) }) {
			slips = append(slips, fmt.Sprintf("%s %d", code, r.Slips[code]))
		}
		share := func(k int) string {
			low, high := Wilson(k, r.Answers)
			return fmt.Sprintf("%d (%.0f-%.0f %%)", k, low, high)
		}
		fmt.Fprintf(w, "%10s  %7d  %-14s  %-15s  %2d of %2d  %14.0f  %s\n", r.Spelling, r.Answers, share(r.Landed), share(r.Solved), r.Any, r.Programs,
			float64(r.Output)/float64(max(r.Answers, 1)), strings.Join(slips, ", "))
	}
}

// Read takes recorded answers, one JSON value a line. Each is about a program and in a spelling that there is.
func Read(b []byte) ([]Answer, error) {
	return Lines(b, func(a Answer) error {
		if a.Program == "" || a.Seed < 1 || !slices.Contains(All, a.Spelling) {
			return fmt.Errorf("it is no answer about a program in %s edits", strings.Join(All, ", "))
		}
		return nil
	})
}

// Lines reads JSON values, one a line. check says what is wrong with one.
func Lines[T any](b []byte, check func(T) error) (all []T, err error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 4<<20)
	n := 1
	for ; lines.Scan(); n++ {
		var one T
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil {
			err = check(one)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return all, nil
}
