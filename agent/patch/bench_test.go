package patch_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// BenchmarkApply lands ten edits on a file of a thousand lines, the gate included, beside the parses alone that this needs.
func BenchmarkApply(b *testing.B) {
	for _, row := range []struct{ name, head, def, call string }{
		{"a.go", "package a\n\n", "func F%[1]d(a int) int {\n\tb := a\n\tfor i := range a {\n\t\tb += %[2]d\n\t}\n\treturn b\n}\n\n", "F%d"},
		{"a.py", "import os\n\n\n", "def f%[1]d(a):\n    \"\"\"Adds.\"\"\"\n    b = a\n    for i in range(a):\n        b += %[2]d\n    # done\n    return b\n\n\n", "f%d"},
		{"a.ts", "import x from \"y\";\n\n", "export function f%[1]d(a: number): number {\n  let b = a;\n  for (const i of [a]) {\n    b += %[2]d;\n  }\n  return b;\n}\n\n", "f%d"},
	} {
		b.Run(row.name, func(b *testing.B) {
			var text strings.Builder
			text.WriteString(row.head)
			for i := range 110 {
				fmt.Fprintf(&text, row.def, i, 1)
			}
			old := text.String()
			root := tree(row.name, old)
			var set patch.Set
			for i := range 10 {
				set = append(set, edit(row.name, fmt.Sprintf(row.call, i*11), fmt.Sprintf(row.def, i*11, 2)))
			}
			change, _, err := patch.Resolve(root, set, patch.Policy{})
			if err != nil {
				b.Fatal(err)
			}
			var parses, all time.Duration
			for b.Loop() {
				began := cpu(b)
				parseAlone(row.name, []byte(old), change.Files[0].New, set)
				parsed := cpu(b)
				if _, _, err := patch.Resolve(root, set, patch.Policy{}); err != nil {
					b.Fatal(err)
				}
				parses += parsed - began
				all += cpu(b) - parsed
			}
			ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
			b.ReportMetric(ms(parses), "ms-parses")
			b.ReportMetric(ms(all-parses), "ms-beyond")
			b.ReportMetric(float64(all)/float64(parses), "ratio")
		})
	}
}

// cpu is the processor time of this process: the clock on the wall says little where others work.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// parseAlone is what of landing a set is reading texts: the file before and after, and what in them and in the bodies is a
// string or a comment.
func parseAlone(name string, old, fresh []byte, set patch.Set) {
	g, _ := syntax.For(name)
	_, _ = g.Symbols(old)
	g.Literals(old)
	for _, e := range set {
		g.Literals(e.Body)
	}
	_, _ = g.Symbols(fresh)
}
