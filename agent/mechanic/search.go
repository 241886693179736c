package mechanic

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// search tries the catalogue's edits at the places that the failing tests suspect, the likeliest first.
func (h *hunt) search(ctx context.Context) (err error) {
	red := h.failing(h.seen.Findings)
	if len(red) == 0 || h.Module == "" {
		return nil
	}
	h.tests = slices.DeleteFunc(slices.Clone(h.seen.Findings), func(f report.Result) bool { return f.Kind != report.Test })
	if len(h.tests) < len(h.seen.Findings) {
		return nil // what else is red is no test's business
	}
	defer func() { err = errors.Join(err, h.leave()) }()
	var list []Candidate
	over, err := h.spend(ctx, func(ctx context.Context) (err error) {
		list, err = h.candidates(ctx, red)
		return err
	})
	if err != nil || over || len(list) == 0 {
		return err
	}
	return h.try(ctx, list)
}

// candidates are the changes to be tried, in order: every one parses.
func (h *hunt) candidates(ctx context.Context, red []testID) ([]Candidate, error) {
	dirs := dirsOf(red)
	h.project = load(h.Root, h.Module, dirs)
	if err := h.enter(ctx, 1); err != nil {
		return nil, err
	}
	s, err := h.spectra(ctx, h.lanes[0], red, h.passing(h.seen.Passed, dirs))
	if err != nil {
		return nil, err
	}
	h.spectrum = s
	list := ranked(suspect(h.project, s, red, h.seen.Findings), h.may)
	var out []Candidate
	seen := map[[sha256.Size]byte]bool{} // several edits may come to one text
	for _, e := range list {
		if len(out) == h.max() {
			break
		}
		c, ok := h.candidate(e)
		if !ok {
			continue
		}
		text := sha256.Sum256(append([]byte(c.File+"\x00"), c.Change.Files[0].New...))
		if !seen[text] {
			seen[text] = true
			out = append(out, c)
		}
	}
	return out, nil
}

// may says whether a file is ours to edit.
func (h *hunt) may(s *source) bool {
	_, protected := h.Policy.Protected(s.path)
	return !protected && !s.generated()
}

// candidate makes a change of an edit; ok is false when it does not parse.
func (h *hunt) candidate(e edit) (Candidate, bool) {
	src := h.project.find(e.file)
	if src == nil {
		return Candidate{}, false
	}
	if !h.parses(src, e) {
		return Candidate{}, false
	}
	c := Candidate{Change: h.change(e.file, src.text, e.apply(src.text)), Score: e.score, File: e.file, Line: e.line, Edit: e.kind, edit: e}
	c.Why = fmt.Sprintf("%s at %s:%d: %s", e.kind, e.file, e.line, becomes(e))
	return c, true
}

// parses says whether an edit leaves Go behind: its function alone is parsed where it lies in one.
func (h *hunt) parses(src *source, e edit) bool {
	text := e.apply(src.text)
	if e.fn != nil {
		from, to := h.project.offset(e.fn.Pos()), h.project.offset(e.fn.End())
		if e.from < from {
			return false
		}
		to += len(e.text) - (e.to - e.from)
		text = append([]byte("package p\n"), text[from:min(to, len(text))]...)
	}
	_, err := parser.ParseFile(token.NewFileSet(), e.file, text, parser.SkipObjectResolution)
	return err == nil
}

// becomes says what an edit does, in a few words.
func becomes(e edit) string {
	switch {
	case e.text == "":
		return "without " + short(e.old)
	case e.old == "":
		return "with " + short(e.text)
	}
	return short(e.old) + " becomes " + short(e.text)
}

func short(s string) string {
	if len(s) > 60 {
		s = s[:57] + "..."
	}
	return strconv.Quote(s)
}

// firstCache is the build cache of the first lane, and of all that runs before there are lanes.
const firstCache = "mech-0"

// lane is one worker's own tree and build cache. Between candidates its files are the root's, but for what tests write.
type lane struct {
	dir, cache string
	end        func() error
}

// enter makes lanes until there are n.
func (h *hunt) enter(ctx context.Context, n int) error {
	for len(h.lanes) < n {
		dir, end, err := h.fresh(ctx)
		if err != nil {
			return err
		}
		cache := firstCache
		if len(h.lanes) > 0 {
			cache = "mech-" + strconv.Itoa(len(h.lanes))
		}
		h.lanes = append(h.lanes, lane{dir: dir, cache: cache, end: end})
	}
	return nil
}

// leave removes the lanes.
func (h *hunt) leave() (err error) {
	for _, l := range h.lanes {
		err = errors.Join(err, l.end())
	}
	h.lanes = nil
	return err
}

// try judges candidates, as many at once as there are lanes, and offers the green ones in order.
func (h *hunt) try(ctx context.Context, list []Candidate) (err error) {
	if err := h.enter(ctx, min(h.width(), len(list))); err != nil {
		return err
	}
	if !h.plain {
		if list, err = h.switched(ctx, h.lanes, list); err != nil {
			return err
		}
	}
	return h.one(ctx, h.lanes, list)
}

// judged is what became of one candidate.
type judged struct {
	outcome Outcome
	seconds float64
}

// one judges candidates with one build each.
func (h *hunt) one(ctx context.Context, lanes []lane, list []Candidate) error {
	for len(list) > 0 {
		wave := list[:min(len(lanes), len(list))]
		list = list[len(wave):]
		results := make([]judged, len(wave))
		over, err := h.spend(ctx, func(ctx context.Context) error {
			g, ctx := errgroup.WithContext(ctx)
			for i, c := range wave {
				g.Go(func() (err error) {
					results[i], err = h.judge(ctx, lanes[i], c)
					return err
				})
			}
			return g.Wait()
		})
		if err != nil || over {
			return err
		}
		if err := h.settle(wave, results); err != nil {
			return err
		}
	}
	return nil
}

// settle tells of judged candidates and offers the green ones.
func (h *hunt) settle(wave []Candidate, results []judged) error {
	for i, c := range wave {
		r := results[i]
		if r.outcome == LooksGreen {
			tidy(c.Change)
		}
		if r.outcome == LooksGreen && !h.gated(c.Change) {
			r.outcome = Refused
		}
		h.told(c, r.outcome, r.seconds)
		if r.outcome == LooksGreen {
			if err := h.offer(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge runs the failing tests, then the tests of their packages, on one candidate in a lane.
func (h *hunt) judge(ctx context.Context, l lane, c Candidate) (r judged, err error) {
	begin := time.Now()
	defer func() { r.seconds = time.Since(begin).Seconds() }()
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return r, fmt.Errorf("open a tree: %w", err)
	}
	defer root.Close()
	if err := write(root, c.Change, false); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, write(root, c.Change, true)) }()
	if r.outcome, err = h.alone(ctx, l); err != nil || r.outcome != LooksGreen {
		return r, err
	}
	r.outcome, err = h.others(ctx, l)
	return r, err
}

// write puts a change of existing files into a tree, or takes it back.
func write(root *os.Root, c patch.Change, back bool) error {
	for _, f := range c.Files {
		text := f.New
		if back {
			text = f.Old
		}
		if err := put(root, f.Path, text, f.Mode); err != nil {
			return err
		}
	}
	return nil
}

// alone runs the findings' tests and nothing else.
func (h *hunt) alone(ctx context.Context, l lane) (Outcome, error) {
	argv := h.Oracle.OnlyCommand(h.tests)
	if argv == nil {
		return Untried, nil
	}
	rep, err := h.goTest(ctx, l, argv[2:])
	if err != nil {
		return Untried, err
	}
	switch color := rep.Color(); {
	case rep.Class == report.Compile:
		return NoCompile, nil
	case rep.Limit != "" && rep.Limit != "wall":
		return Untried, nil
	case color != report.Green:
		return StillRed, nil
	}
	statuses := rep.Statuses()
	for _, f := range h.tests {
		if statuses[f.ID] != report.Pass {
			return StillRed, nil // not seen passing is not green
		}
	}
	return LooksGreen, nil
}

// others runs all tests of the findings' packages: what passed on the root has to pass still.
func (h *hunt) others(ctx context.Context, l lane) (Outcome, error) {
	args := h.flags()
	for _, dir := range dirsOf(h.failing(h.tests)) {
		args = append(args, dotted(dir))
	}
	rep, err := h.goTest(ctx, l, args)
	if err != nil {
		return Untried, err
	}
	if rep.Color() == report.Green {
		return LooksGreen, nil
	}
	statuses := rep.Statuses()
	for _, id := range h.seen.Passed {
		t, ok := splitID(h.Root, h.Module, id)
		if ok && slices.Contains(dirsOf(h.failing(h.tests)), t.dir) && statuses[id] != report.Pass {
			return Breaks, nil
		}
	}
	if len(h.seen.Passed) == 0 {
		return Breaks, nil
	}
	return LooksGreen, nil
}

// goTest runs go test with what a candidate may take of time.
func (h *hunt) goTest(ctx context.Context, l lane, args []string) (report.Report, error) {
	argv := append([]string{"go", "test", "-json", "-vet=off", "-timeout", h.patience()}, args...)
	_, rep, err := h.Oracle.Exec(ctx, oracle.Exec{Phase: "cheap", Dir: l.dir, Argv: argv, Env: h.env(), Cache: l.cache,
		Timeout: 3 * time.Minute})
	if err != nil {
		return rep, fmt.Errorf("try a candidate: %w", err)
	}
	return rep, nil
}

// patience is how long the findings' tests may take on a candidate, as a flag: many times what they took on the root.
func (h *hunt) patience() string {
	took := h.took
	for _, f := range h.tests {
		took += f.Seconds
	}
	return min(max(time.Duration(20*took*float64(time.Second)), 2*time.Second), time.Minute).Round(time.Second).String()
}
