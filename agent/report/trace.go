package report

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// frame is one call on a printed stack.
type frame struct {
	fn   string // "example.com/m/p.TestX.func1"
	file string // as printed
	line int
}

// frames reads the calls of one goroutine, or of one half of a race, innermost first.
func frames(trace string) []frame {
	var out []frame
	fn := ""
	for len(trace) > 0 {
		var line string
		line, trace, _ = strings.Cut(trace, "\n")
		body := strings.TrimLeft(line, " \t")
		if file, n, ok := framePosition(body); ok && fn != "" && len(line) > len(body) {
			out = append(out, frame{fn, file, n})
			fn = ""
			continue
		}
		fn = functionName(body)
	}
	return out
}

// framePosition reads "/src/p/x.go:12 +0x1d".
func framePosition(s string) (file string, line int, ok bool) {
	pos, _, _ := strings.Cut(s, " +0x")
	i := strings.LastIndexByte(pos, ':')
	if i < 0 || !strings.HasSuffix(pos[:i], ".go") && !strings.HasSuffix(pos[:i], ".s") {
		return "", 0, false
	}
	line, err := strconv.Atoi(pos[i+1:])
	return pos[:i], line, err == nil && line > 0
}

// functionName reads "p.F(0x1)", "p.(*T).M(...)" and "created by p.F in goroutine 7".
func functionName(s string) string {
	s = strings.TrimPrefix(s, "created by ")
	s, _, _ = strings.Cut(s, " in goroutine ")
	if strings.HasSuffix(s, ")") {
		if i := strings.LastIndexByte(s, '('); i > 0 {
			s = s[:i]
		}
	}
	if strings.ContainsAny(s, " \t") {
		return ""
	}
	return s
}

// packageOf is the import path in a function's name, in which a dot of the last element is written %2e.
func packageOf(fn string) string {
	slash := strings.LastIndexByte(fn, '/') + 1
	dot := strings.IndexByte(fn[slash:], '.')
	if dot < 0 {
		return ""
	}
	return strings.ReplaceAll(fn[:slash+dot], "%2e", ".")
}

// place is the first frame inside the tree.
func (p *places) place(trace string) (file string, line int) {
	all := frames(trace)
	goroot := goRoot(all)
	for _, f := range all {
		if in, ok := p.inTree(f.file); ok {
			return in, f.line
		}
		own := path.IsAbs(f.file) && p.dir == "" && !strings.Contains(f.file, "/pkg/mod/")
		if own && (goroot == "" || !strings.HasPrefix(f.file, goroot)) {
			return path.Clean(f.file), f.line
		}
	}
	return "", 0
}

// goRoot is where the standard library's frames come from, with a slash at its end.
func goRoot(all []frame) string {
	for _, f := range all {
		for _, own := range []string{"testing/testing.go", "runtime/panic.go", "runtime/proc.go", "time/sleep.go", "os/proc.go"} {
			if root, ok := strings.CutSuffix(f.file, own); ok {
				return root
			}
		}
	}
	return ""
}

// learnFrames takes the module's path from frames inside the tree.
func (p *places) learnFrames(trace string) {
	if p.module != "" || p.dir == "" {
		return
	}
	for _, f := range frames(trace) {
		if in, ok := p.inTree(f.file); ok {
			p.learn(packageOf(f.fn), in)
		}
	}
}

// goroutines are the stacks of a crash, the one that died first.
func goroutines(crash string) []string {
	var out []string
	for _, part := range strings.Split(crash, "\n\n") {
		if i := strings.Index("\n"+part, "\ngoroutine "); i >= 0 {
			out = append(out, part[i:])
		}
	}
	return out
}

// A method's frame has a bracket before the dot and is no test function.
var testFrame = regexp.MustCompile(`[^)]\.((?:Test|Fuzz|Example)(?:[^a-z.(\s][^.(\s]*)?)((?:\.\S*)?)$`)

// testOnStack is the test function that the dying goroutine came from, or empty; itself reports that the function's own
// body was running, not one of its closures.
func testOnStack(crash string) (name string, itself bool) {
	gs := goroutines(crash)
	if len(gs) == 0 {
		return "", false
	}
	stack, made, _ := strings.Cut(gs[0], "created by ")
	for _, f := range frames(stack + "\ncreated by " + made) {
		if m := testFrame.FindStringSubmatch(f.fn); m != nil && m[1] != "TestMain" {
			itself = itself || m[2] == "" && strings.Contains(stack, f.fn+"(")
			name = m[1]
		}
	}
	return name, itself
}

var timedOut = regexp.MustCompile(`^panic: test timed out after `)

// runningTests are the tests that a timeout's panic lists, or nil when it is none. Releases before Go 1.20 list none.
func runningTests(crash string) (names []string, ok bool) {
	if !timedOut.MatchString(crash) {
		return nil, false
	}
	_, list, _ := strings.Cut(crash, "\n\trunning tests:\n")
	for _, line := range strings.Split(list, "\n") {
		body, found := strings.CutPrefix(line, "\t\t")
		if !found {
			break
		}
		name, _, _ := strings.Cut(body, " (")
		names = append(names, name)
	}
	return names, true
}

// waitingPlace is where a test that did not end stands: in a goroutine that is not only waiting for a subtest.
func (p *places) waitingPlace(crash string) (file string, line int) {
	for _, g := range goroutines(crash) {
		if fs := frames(g); len(fs) > 0 && strings.HasPrefix(fs[0].fn, "testing.(*T).Run") {
			continue
		}
		if file, line = p.place(g); file != "" {
			return file, line
		}
	}
	return "", 0
}

const (
	raceMark  = "WARNING: DATA RACE\n"
	raceFrame = "==================\n"
)

// race cuts the first data race out of an output, with its frame of equal signs.
func race(text string) (stack, rest string) {
	before, after, ok := strings.Cut(text, raceMark)
	if !ok {
		return "", text
	}
	body, after, _ := strings.Cut(after, raceFrame)
	return raceMark + body, strings.TrimSuffix(before, raceFrame) + after
}
