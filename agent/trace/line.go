package trace

import (
	"fmt"
	"slices"
	"strings"
)

// EventText is one event on one line of plain words, safe for a terminal: for logs and progress.
func EventText(e Event) string {
	if f, ok := eventTexts[e.Type]; ok {
		return strings.TrimSpace(f(e))
	}
	return oneLine(string(e.Data), 200)
}

var eventTexts = map[string]func(Event) string{
	TypeEvent:     func(e Event) string { return jobText(decode[Job](e)) },
	TypeTree:      func(e Event) string { return treeText(decode[TreeData](e)) },
	TypeGit:       func(e Event) string { return gitText(decode[GitData](e)) },
	TypeRun:       func(e Event) string { return runText(decode[RunData](e)) },
	TypeVerdict:   func(e Event) string { return verdictText(decode[VerdictData](e)) },
	TypeScene:     func(e Event) string { return sceneText(decode[SceneData](e)) },
	TypeRan:       func(e Event) string { return RanText(decode[RanData](e)) },
	TypeRequest:   func(e Event) string { return requestText(decode[RequestData](e)) },
	TypeTokens:    func(e Event) string { return count(decode[TokensData](e).N, "piece") + " so far" },
	TypeReply:     func(e Event) string { return replyText(decode[ReplyData](e)) },
	TypeSlip:      func(e Event) string { return slipText(decode[SlipData](e)) },
	TypePatch:     func(e Event) string { return patchText(decode[PatchData](e)) },
	TypeCandidate: func(e Event) string { return candidateText(decode[CandidateData](e)) },
	TypeEscalate:  func(e Event) string { return escalateText(decode[EscalateData](e)) },
	TypeRung: func(e Event) string {
		r := decode[RungData](e)
		return oneLine(r.ID, 12) + " " + statusWord(r.Status) + ": " + oneLine(r.Text, 200)
	},
	TypeReceipt: func(e Event) string {
		r := decode[ReceiptData](e)
		return "sha256 " + oneLine(r.SHA256, 64) + " of tree " + short(r.Tree)
	},
	TypeEgress: func(e Event) string {
		d := decode[EgressData](e)
		return fmt.Sprintf("%s was connected to %s (%s)", oneLine(d.Process, 20), orNone(reaches(d.To)), count(d.Samples, "look"))
	},
	TypeStep:    func(e Event) string { return oneLine(decode[StepData](e).Text, 300) },
	TypeReduced: func(e Event) string { return reducedText(decode[ReducedData](e)) },
	TypeFlake:   func(e Event) string { return flakeText(decode[FlakeData](e)) },
	TypeBisect:  func(e Event) string { return BisectText(decode[BisectData](e)) },

	TypeStop:  func(e Event) string { return stopText(decode[Stop](e)) },
	TypeAdmit: func(e Event) string { return admitText(decode[AdmitData](e)) },
	TypeDraft: func(e Event) string { return draftText(decode[DraftData](e)) },
}

func jobText(j Job) string {
	text := fmt.Sprintf("%s: %s of %s at %s", word(j.Trigger), word(j.Target), word(j.Repo), word(short(j.Root)))
	if j.RetryOf != "" {
		text += fmt.Sprintf(", attempt %d, after %s", max(1, j.Attempt), oneLine(j.RetryOf, 128))
	}
	return text
}

func treeText(t TreeData) string {
	text := word(t.Phase) + " " + short(t.Hash)
	if t.Files > 0 {
		text += ", " + count(t.Files, "file")
	}
	return text
}

func gitText(g GitData) string {
	return fmt.Sprintf("%s: exit %d in %s", oneLine(strings.Join(g.Argv, " "), 200), g.Exit, seconds(g.Seconds))
}

func runText(r RunData) string {
	text := fmt.Sprintf("%s %d %s: %s in %s", word(r.Phase), r.N, oneLine(r.Mode, 20), colorOf(r.Color), seconds(r.Seconds))
	return text + runTail(r)
}

// runTail is what was odd about a run; nothing for a run that ended as most do.
func runTail(r RunData) string {
	var odd []string
	switch {
	case r.Limit != "":
		odd = append(odd, "ended by the limit on "+oneLine(r.Limit, 20))
	case r.Signal != "":
		odd = append(odd, "ended by "+oneLine(r.Signal, 20))
	case r.Exit != 0:
		odd = append(odd, fmt.Sprintf("exit %d", r.Exit))
	}
	if len(r.Refused) > 0 {
		odd = append(odd, "refused "+oneLine(strings.Join(r.Refused, ", "), 120))
	}
	if len(r.Egress) > 0 {
		odd = append(odd, "tried to reach "+oneLine(reaches(r.Egress), 200))
	}
	if r.ThrownAway != "" {
		odd = append(odd, "thrown away: "+oneLine(r.ThrownAway, 120))
	}
	if len(odd) == 0 {
		return ""
	}
	return " (" + strings.Join(odd, "; ") + ")"
}

func colorOf(s string) string {
	if s == "red" || s == "green" {
		return s
	}
	return "unknown"
}

func verdictText(v VerdictData) string {
	text := word(v.Phase) + ": " + colorOf(v.Color)
	if v.Class != "" {
		text += ", " + oneLine(v.Class, 40)
	}
	if v.Passed+v.Skipped > 0 {
		text += fmt.Sprintf(", %d passed, %d skipped", v.Passed, v.Skipped)
	}
	if len(v.Unstable) > 0 {
		text += fmt.Sprintf(", %d unstable", len(v.Unstable))
	}
	if n := len(v.Findings); n > 0 {
		text += ", " + count(n, "finding") + ": " + oneLine(v.Findings[0].ID, 120)
		if n > 1 {
			text += ", …"
		}
	}
	if v.Text != "" {
		text += ". " + oneLine(v.Text, 200)
	}
	return text
}

// RanText says in a line what the failing tests ran.
func RanText(r RanData) string {
	files := map[string]bool{}
	lines, most := 0, RanLines{}
	for _, l := range r.Lines {
		files[l.File] = true
		lines += max(l.Last-l.First+1, 0)
		if l.Suspicion > most.Suspicion {
			most = l
		}
	}
	text := fmt.Sprintf("the failing tests run %s of %s", count(lines, "line"), count(len(files), "file"))
	if most.File != "" {
		text += fmt.Sprintf(", most suspected %s:%d", oneLine(most.File, 120), most.First)
	}
	return text
}

func sceneText(sc SceneData) string {
	var parts []string
	for _, name := range sortedKeys(sc.Sections) {
		if n := sc.Sections[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", oneLine(name, 30), n))
		}
	}
	text := short(sc.Digest)
	if len(parts) > 0 {
		text += ", bytes: " + strings.Join(parts, ", ")
	}
	if len(sc.Off) > 0 {
		text += "; off: " + oneLine(strings.Join(sc.Off, ", "), 120)
	}
	return text
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func requestText(r RequestData) string {
	return modelName(r.Tier, r.Model, r.BaseURL) + ", " + sampling(r)
}

func modelName(tier, model, base string) string {
	text := oneLine(tier, 20)
	if model != "" {
		text += " " + oneLine(model, 80)
	}
	if host, _ := hostOf(base); base != "" {
		text += " at " + oneLine(host, 80)
	}
	return strings.TrimSpace(text)
}

func sampling(r RequestData) string {
	if r.Temperature == 0 {
		return "greedy"
	}
	return fmt.Sprintf("temperature %.3g, seed %d", r.Temperature, r.Seed)
}

func replyText(r ReplyData) string {
	text := fmt.Sprintf("%d tokens written, %d read", r.Output, r.Prompt)
	if r.Cached > 0 {
		text += fmt.Sprintf(" (%d cached)", r.Cached)
	}
	text += " in " + seconds(r.Seconds)
	if r.Finish != "" && r.Finish != "stop" {
		text += ", cut off: " + oneLine(r.Finish, 20)
	}
	return text
}

func slipText(s SlipData) string {
	text := word(s.Code)
	if at := oneLine(strings.TrimSpace(s.File+" "+s.Addr), 120); at != "" {
		text += " " + at
	}
	return text + ": " + oneLine(s.Text+" "+s.Remedy, 300)
}

func patchText(p PatchData) string {
	text := "by " + word(p.By)
	if len(p.Landings) > 0 {
		text += ": " + oneLine(strings.Join(p.Landings, "; "), 200)
	}
	if p.Why != "" {
		text += " (" + oneLine(p.Why, 120) + ")"
	}
	return text + ", tree " + short(p.Tree)
}

func candidateText(c CandidateData) string {
	got := strings.ReplaceAll(oneLine(c.Got, 30), "_", " ")
	return fmt.Sprintf("%s at %s, suspicion %.3g: %s", word(c.Edit), place(c.File, c.Line), c.Score, got)
}

func escalateText(e EscalateData) string {
	text := "to " + word(e.To)
	if e.From != "" {
		text = "from " + oneLine(e.From, 20) + " " + text
	}
	if e.Why != "" {
		text += ": " + oneLine(e.Why, 200)
	}
	return text
}

func stopText(s Stop) string {
	text := word(string(s.Reason))
	if s.Class != "" {
		text += ", " + oneLine(s.Class, 40)
	}
	if s.Text != "" {
		text += ": " + oneLine(s.Text, 600)
	}
	return text
}

func admitText(a AdmitData) string {
	text := "not admitted"
	if a.Admitted {
		text = "admitted"
	}
	if a.Code != "" {
		text += ", " + oneLine(a.Code, 60)
	}
	if a.Text != "" {
		text += ": " + oneLine(a.Text, 300)
	}
	return text
}

func draftText(d DraftData) string {
	text := strings.ReplaceAll(word(d.State), "_", " ") + " " + oneLine(d.Where, 200)
	if d.Commit != "" {
		text += " at " + short(d.Commit)
	}
	return text
}
