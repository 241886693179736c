package scenes

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
)

// View is what the scene of a case shows, and where it points.
type View struct {
	Case     string  `json:"case"`
	Language string  `json:"language"`
	Budget   int     `json:"budget"` // tokens of a scene at most
	Tokens   int     `json:"tokens"` // of this one, estimated
	Reach    float64 `json:"reach"`  // share of the places of the released repair that it shows, by Reach
	First    bool    `json:"first"`  // the address that it offers first is one that the repair changes, by Aimed
}

// View tells what the scenes of cases show. No model is asked, and a case whose red was seen before is not run again.
func (b *Bench) View(ctx context.Context, cases []Case, on func(View)) error {
	for _, c := range cases {
		view := func(look perceive.Look, fix map[string][]byte) error {
			on(b.view(c, look, fix))
			return nil
		}
		first, ok := b.seen(c)
		var err error
		if ok {
			err = b.again(ctx, c, first, view)
		} else {
			err = b.with(ctx, c, func(t turn) error { return view(t.look, t.fix) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// again looks at a case as it was seen first.
func (b *Bench) again(ctx context.Context, c Case, first sight, do func(perceive.Look, map[string][]byte) error) error {
	tree, err := c.Lay(ctx, b.Work)
	if err != nil {
		return fmt.Errorf("lay %s out: %w", c.ID, err)
	}
	root, shut, err := oracle.FS(tree.Dir)
	if err != nil {
		return err
	}
	defer shut() //nolint:errcheck // it is only read
	set, err := plan.FromCommand(root, c.Check)
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.ID, err)
	}
	look, err := indexed(ctx, root)
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.ID, err)
	}
	look.Module, look.Command, look.Findings, look.Ran = first.Module, first.Command, first.Findings, first.Ran
	look.Protected = proof.PatchPolicy(nil, nil, set.AllScripts(), 0, 0).Protected
	return do(look, tree.Fix)
}

// view tells what one scene shows.
func (b *Bench) view(c Case, look perceive.Look, fix map[string][]byte) View {
	a := b.blank(c, All, 1)
	scene := b.scene(look, a)
	v := View{Case: c.ID, Language: c.Language, Budget: a.Budget, Reach: Reach(scene.Text(), look.Root, fix)}
	for _, s := range scene.Sections {
		v.Tokens += s.Tokens
		if s.Name == perceive.Answer { // its form is an answer with nothing in it
			v.First = Aimed(s.Text, look.Root, fix)
		}
	}
	return v
}

// Reach is the share of the places of the released repair that a prompt shows: a model can hardly change what it does not see.
// A place is a line that the repair replaces, or two between which it puts something. A line is shown where it stands in the
// prompt beside a neighbour of its own; blank lines, white space around lines, and places of brackets alone say nothing. Reach is 0 of
// a repair without a place.
func Reach(prompt string, tree fs.FS, fix map[string][]byte) float64 {
	shown, last := map[[2]string]bool{}, ""
	for line := range strings.Lines(prompt) {
		if line = strings.TrimSpace(line); line != "" {
			shown[[2]string{last, line}], last = true, line
		}
	}
	seen, all := 0, 0
	for name, after := range fix {
		before, err := fs.ReadFile(tree, name)
		if err != nil { // a file that the repair adds
			continue
		}
		for _, p := range places(string(before), string(after)) {
			all++
			for _, pair := range p {
				if shown[pair] {
					seen++
					break
				}
			}
		}
	}
	return float64(seen) / float64(max(all, 1))
}

// places are those of a text that another version of it changes, each as the pairs of lines by which it can be known.
func places(before, after string) (out [][][2]string) {
	before, after = strings.ReplaceAll(before, "\r\n", "\n"), strings.ReplaceAll(after, "\r\n", "\n")
	var lines []string
	var starts []int
	at := 0
	for line := range strings.Lines(before) {
		if text := strings.TrimSpace(line); text != "" {
			lines, starts = append(lines, text), append(starts, at)
		}
		at += len(line)
	}
	near := func(i int) string {
		if i < 0 || i >= len(lines) {
			return ""
		}
		return lines[i]
	}
	i := 0
	for _, e := range udiff.Lines(before, after) {
		for i < len(starts) && starts[i] < e.Start {
			i++
		}
		if e.Start == e.End && len(near(i-1)+near(i)) >= 8 {
			out = append(out, [][2]string{{near(i - 1), near(i)}})
		}
		for ; i < len(starts) && starts[i] < e.End; i++ {
			if len(lines[i]) >= 4 {
				out = append(out, [][2]string{{near(i - 1), lines[i]}, {lines[i], near(i + 1)}})
			}
		}
	}
	return out
}
