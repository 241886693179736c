package main

import (
	"fmt"
	"io"
	"strings"
)

// printRow is one case for people: a line with a word for each arm, and a line for everything that needs more words.
func printRow(w io.Writer, row Row) {
	fmt.Fprintf(w, "%3d %-34s %-9s %4d lines", row.N, strings.TrimPrefix(row.Module, "github.com/"), row.Bad, row.Lines)
	if row.Refused != "" {
		fmt.Fprintf(w, "  REFUSED: %s\n", row.Refused)
		return
	}
	for _, o := range row.Outcomes {
		mark := ""
		if !o.OK {
			mark = "!"
		}
		fmt.Fprintf(w, "  %s %s%s %.1fs", o.Arm, mark, o.Word, o.Seconds)
	}
	fmt.Fprintln(w)
	for _, o := range row.Outcomes {
		if o.Text != "" && (!o.OK || o.Word == "refused" || o.Arm == "mechanic" || o.Arm == "small") {
			fmt.Fprintf(w, "      %s: %s\n", o.Arm, strings.ReplaceAll(o.Text, "\n", "\n        "))
		}
	}
}

// printTotals counts what each arm did, with the name of the set.
func printTotals(w io.Writer, r Report, these []arm) {
	refused := 0
	for _, row := range r.Rows {
		if row.Refused != "" {
			refused++
		}
	}
	fmt.Fprintf(w, "\nset gomodules %s, %s, %d CPUs, %d cases", r.Set, r.Go, r.CPUs, len(r.Rows))
	if refused > 0 {
		fmt.Fprintf(w, ", %d REFUSED", refused)
	}
	fmt.Fprintln(w)
	for _, a := range these {
		n, of, seconds := 0, 0, 0.0
		for _, row := range r.Rows {
			for _, o := range row.Outcomes {
				if o.Arm == a.name && o.Word != "refused" {
					of, seconds = of+1, seconds+o.Seconds
					if counts(a, o) {
						n++
					}
				}
			}
		}
		fmt.Fprintf(w, "%-9s %s %d of %d in %.0f s\n", a.name, a.short, n, of, seconds)
	}
}

// counts says whether an outcome is one of those that the arm's column counts.
func counts(a arm, o Outcome) bool {
	if a.short == "repaired" {
		return o.Word == "proved"
	}
	return o.OK
}
