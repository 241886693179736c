package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/trace"
)

// frame is how many pieces of an answer one tokens line of the trace holds.
const frame = 16

// memory is what the turns of one tier carry on.
type memory struct {
	previous string // the previous answer as a diff and what it got
	seen     map[string]int
	same     int // turns in a row with a failure seen before
	budget   int // tokens of a scene
	set      patch.Set
	shown    []perceive.Lines // by any of its scenes
	extra    bool             // a remedy offered on the last turn earned one more, once
}

// turns asks one model until a claim holds or its turns are spent.
func (a *Agent) turns(ctx context.Context, tier string, p Proposer) (trace.Stop, bool, error) {
	limit := a.Job.Limits.Turns
	if limit <= 0 {
		limit = 6
	}
	m := &memory{seen: map[string]int{}, budget: sceneTokens(p.Context, a.maxTokens())}
	a.covered(ctx) // here, so that it is told before a turn is
	for n := 1; n <= limit; n++ {
		if a.tokensSpent() {
			return a.exhausted("the job's tokens are spent"), true, nil
		}
		a.spent.turns++
		a.now.Store(int32(a.spent.turns))
		a.step(fmt.Sprintf("turn %d: asking %s", a.spent.turns, p.Name))
		stop, done, slipped, err := a.turn(ctx, tier, p, n, m)
		if err != nil || done {
			return stop, done, err
		}
		if m.same >= 3 {
			break // the same failure three times over, wider scene included: this tier has no more to say
		}
		if n == limit && slipped && !m.extra {
			m.extra, limit = true, limit+1
		}
	}
	return trace.Stop{}, false, nil
}

// turn is one question and what came of it.
func (a *Agent) turn(ctx context.Context, tier string, p Proposer, n int, m *memory) (stop trace.Stop, done, slipped bool, err error) {
	reply, err := a.ask(ctx, tier, p, n, m)
	if err != nil {
		return stop, false, false, err
	}
	change, landings, slip := a.land(reply, m)
	if slip != nil {
		a.add(a.spent.turns, trace.TypeSlip, trace.SlipData{Code: slip.Code, File: slip.File, Addr: slip.Addr, Text: slip.Text, Remedy: slip.Remedy})
		m.note("", slip.Error(), slip.Code)
		return stop, false, true, a.broken()
	}
	stop, done, note, err := a.try(ctx, a.spent.turns, tier, change, strings.Join(landings, "; "))
	m.note(string(change.Diff()), note, note)
	return stop, done, false, err
}

// ask builds the scene, asks, and writes down what was sent and what came back.
func (a *Agent) ask(ctx context.Context, tier string, p Proposer, n int, m *memory) (model.Reply, error) {
	look := perceive.Look{
		Root: a.Root, Index: a.indexed(ctx), Module: a.Oracle.Module, Rules: Rules(), Command: a.command, Findings: a.seen.Findings, Ran: a.covered(ctx),
		Protected: a.Policy.Protected, Tokens: p.Tokens, Budget: m.budget, Answer: a.maxTokens(), Wide: m.same > 0, Said: a.Job.Said, Suspects: Suspects(a.Job.Recent), Off: a.Job.Off, On: a.Job.On,
	}
	if n%2 == 0 { // every second turn is memoryless: a small model that is shown its own answer repeats it
		look.Previous = m.previous
	}
	scene := look.Scene()
	m.shown = append(m.shown, scene.Shown...)
	turn := a.spent.turns
	a.add(turn, trace.TypeScene, trace.SceneData{Digest: scene.Digest(), Sections: scene.Sizes(), Off: scene.Off()})
	req := model.Request{
		Messages:    []model.Message{{Role: "user", Content: scene.Text()}},
		Temperature: temperature(n), Seed: a.Job.Seed + int64(turn), MaxTokens: a.maxTokens(), OnToken: a.frames(turn),
	}
	req.OnSend = func(body []byte) {
		a.add(turn, trace.TypeRequest, trace.RequestData{Tier: tier, Model: p.ID, BaseURL: p.BaseURL, Body: json.RawMessage(body), Seed: req.Seed, Temperature: req.Temperature})
	}
	start := time.Now()
	reply, err := p.Model.Complete(ctx, req)
	var me *model.Error
	if errors.As(err, &me) && me.Class == model.ContextExceeded && m.budget > leastScene {
		m.budget /= 2 // the server counts tokens otherwise than we guessed
		return a.ask(ctx, tier, p, n, m)
	}
	if err != nil {
		return reply, err
	}
	a.spent.tokens += reply.Usage.Output
	a.add(turn, trace.TypeReply, trace.ReplyData{Model: reply.Model, Text: reply.Text, Finish: reply.Finish, Prompt: reply.Usage.Prompt,
		Cached: reply.Usage.Cached, Output: reply.Usage.Output, Seconds: time.Since(start).Seconds()})
	return reply, a.broken()
}

// frames writes an answer down as it arrives, every 16 pieces.
func (a *Agent) frames(turn int) func(int, string) {
	var b strings.Builder
	return func(n int, text string) {
		b.WriteString(text)
		if n%frame == 0 {
			a.add(turn, trace.TypeTokens, trace.TokensData{N: n, Text: b.String()})
			b.Reset()
		}
	}
}

// land turns an answer into a change of the root, or a slip.
func (a *Agent) land(reply model.Reply, m *memory) (patch.Change, []string, *patch.Slip) {
	if reply.Finish == "length" {
		return patch.Change{}, nil, &patch.Slip{Code: "too_long", Text: "The answer was cut at the length limit.", Remedy: "Answer with the one function that must change and nothing else."}
	}
	set, slips := patch.Parse(reply.Text)
	if len(set) == 0 {
		return patch.Change{}, nil, first(slips)
	}
	change, landings, err := patch.Resolve(a.Root, set, a.policy(set, m))
	var slip *patch.Slip
	if errors.As(err, &slip) {
		return patch.Change{}, nil, slip
	}
	if err != nil {
		return patch.Change{}, nil, &patch.Slip{Code: "not_text", Text: err.Error() + ".", Remedy: "Edit another place."}
	}
	// Revisions of several files merge across turns; one that no longer lands stands alone.
	if len(m.set) > 0 {
		merged := patch.Merge(m.set, set)
		if c, l, err := patch.Resolve(a.Root, merged, a.policy(merged, m)); err == nil && len(merged) > len(set) {
			if _, tried := a.judged[key(change)]; tried {
				change, landings, set = c, l, merged
			}
		}
	}
	m.set = set
	if idle(change) {
		return change, nil, &patch.Slip{Code: patch.NothingChanged, Text: "The edit changes layout and comments alone.", Remedy: "Change what the program does."}
	}
	if got, again := a.judged[key(change)]; again {
		return change, nil, &patch.Slip{Code: "same_answer", Text: "This is the same answer as in an earlier turn; it got: " + got, Remedy: "Look for the cause elsewhere and answer differently."}
	}
	var lines []string
	for _, l := range landings {
		lines = append(lines, l.String())
	}
	return change, lines, nil
}

// policy is the job's, with what no scene has shown of files that some have shown in part. Who switches the source off lets a model guess.
func (a *Agent) policy(set patch.Set, m *memory) patch.Policy {
	p := a.Policy
	if !slices.Contains(a.Job.Off, perceive.Source) {
		p.Unseen = Unseen(set, m.shown)
	}
	return p
}

// Unseen are the lines of the files of a set that are not among those that were shown. A file of which nothing was shown is no truncated
// context: what red output names without a place may be any file, and the proof is the judge of it.
func Unseen(set patch.Set, shown []perceive.Lines) map[string][]patch.Lines {
	out := map[string][]patch.Lines{}
	for _, e := range set {
		if out[e.File] != nil {
			continue
		}
		var seen []perceive.Lines
		for _, l := range shown {
			if l.File == e.File {
				seen = append(seen, l)
			}
		}
		if len(seen) == 0 {
			continue
		}
		slices.SortFunc(seen, func(a, b perceive.Lines) int {
			return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
		})
		next := 1
		for _, l := range seen {
			if next < l.First {
				out[e.File] = append(out[e.File], patch.Lines{First: next, Last: l.First - 1})
			}
			next = max(next, l.Last+1)
		}
		out[e.File] = append(out[e.File], patch.Lines{First: next, Last: math.MaxInt})
	}
	return out
}

func first(slips []*patch.Slip) *patch.Slip {
	if len(slips) == 0 {
		return &patch.Slip{Code: "no_edit", Text: "No edit was found in the answer.", Remedy: "Answer in the form that the rules show."}
	}
	return slips[0]
}

// note remembers what a turn got, and counts failures that were there before.
func (m *memory) note(diff, got, key string) {
	m.seen[key]++
	if m.seen[key] > 1 {
		m.same++
	} else {
		m.same = 0
	}
	var b strings.Builder
	b.WriteString("## The previous try\n")
	if diff != "" {
		b.WriteString("This change was tried and did not work:\n" + perceive.Fence("", diff))
	}
	b.WriteString(perceive.Clean(got, 2<<10) + "\n")
	m.previous = b.String()
}

// temperature is greedy first, then rises from 0.7 to 1.0.
func temperature(n int) float64 {
	if n == 1 {
		return 0
	}
	return min(0.7+0.1*float64(n-2), 1)
}

func (a *Agent) maxTokens() int {
	if a.Job.Limits.MaxTokens > 0 {
		return a.Job.Limits.MaxTokens
	}
	return 1024
}

func (a *Agent) tokensSpent() bool {
	limit := a.Job.Limits.Tokens
	if limit <= 0 {
		limit = 60000
	}
	return a.spent.tokens >= limit
}

// Bounds of a scene in tokens, whatever the model's context.
const (
	leastScene = 1300
	mostScene  = 15000
)

// sceneTokens is how much fits beside an answer and what a template puts around both.
func sceneTokens(context, answer int) int {
	if context <= 0 {
		context = 8192
	}
	return min(max(context-answer-256, leastScene), mostScene)
}

// indexTime is how long the root's index may take. Without one a scene goes by words alone.
const indexTime = 30 * time.Second

// indexed is the index of the root, made at the first question and shared by all turns; nil where it could not be made.
func (a *Agent) indexed(ctx context.Context) *perceive.Index {
	if a.index != nil || a.unindexed {
		return a.index
	}
	within, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	x, err := perceive.NewIndex(within, a.Root, perceive.IndexOptions{})
	if err != nil {
		a.unindexed = true
		if ctx.Err() == nil {
			a.step(fmt.Sprintf("no index of the root: %v", err))
		}
		return nil
	}
	if err := x.Types(within); err != nil && ctx.Err() == nil {
		a.step(fmt.Sprintf("types of the root are left out of its index: %v", err))
	}
	a.index = x
	return x
}

// covered is what the failing tests ran, seen at the first question and shared by all turns. Nothing is known of it where it is switched
// off or could not be seen.
func (a *Agent) covered(ctx context.Context) []perceive.Ran {
	if a.watched || a.Coverage == nil || slices.Contains(a.Job.Off, perceive.Coverage) {
		return a.ran
	}
	a.watched = true
	a.step("seeing what the failing tests run")
	ran, err := a.Coverage(ctx, a.seen.Verdict)
	if err != nil && ctx.Err() == nil {
		a.step(fmt.Sprintf("what the failing tests run is not known: %v", err))
	}
	if err != nil || len(ran) == 0 {
		return nil
	}
	a.ran = ran
	var data trace.RanData
	for _, r := range ran {
		data.Lines = append(data.Lines, trace.RanLines{File: r.File, First: r.First, Last: r.Last, Suspicion: r.Suspicion})
	}
	a.add(0, trace.TypeRan, data)
	return ran
}

// Shell is an argv as a person would type it.
func Shell(argv []string) string {
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for _, s := range argv {
			if strings.ContainsAny(s, " ()|$^*?\\") {
				s = "'" + s + "'"
			}
			if !yield(s) {
				return
			}
		}
	}), " ")
}
