package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"
)

// story is what the lines of a job add up to. Every view is made from it and from nothing else.
type story struct {
	events     []Event
	job        *Job // nil when no line told of it
	set        checkSet
	runs       []RunData
	verdicts   []said[VerdictData]
	patches    []said[PatchData]
	slips      int
	candidates []CandidateData
	models     []*modelUse
	rungs      []RungData // of the last claim
	receipt    *ReceiptData
	stop       *Stop
	admit      *AdmitData
	draft      *DraftData
	sampled    []EgressData
	flake      *FlakeData
	reduced    *ReducedData
	bisect     *BisectData
	torn       bool
}

// said is what an event told, with the event.
type said[T any] struct {
	Event
	V T
}

// modelUse is what one model was asked for in one tier.
type modelUse struct {
	tier, model, baseURL           string
	answered                       []string // ids that the answers named
	questions, answers             int
	prompt, cached, output, pieces int
	seconds                        float64
}

// checkSet is the part of plan.Set that a reader of evidence needs.
type checkSet struct {
	Checks []struct {
		ID         string `json:"id"`
		Run        string `json:"run"`
		Dir        string `json:"dir"`
		Shell      string `json:"shell"`
		Provenance string `json:"provenance"`
		Source     string `json:"source"`
	} `json:"checks"`
	Fingerprint string `json:"fingerprint"`
}

// decode reads an event's data as far as it can be read: a trace may come from anywhere.
func decode[T any](e Event) T {
	var v T
	_ = json.Unmarshal(e.Data, &v)
	return v
}

func tell(events []Event, torn bool) *story {
	s := &story{events: events, torn: torn}
	for _, e := range events {
		s.add(e)
	}
	return s
}

func (s *story) add(e Event) {
	switch e.Type {
	case TypeEvent:
		s.job = new(decode[Job](e))
		s.set = checkSet{}
		_ = json.Unmarshal(s.job.Checks, &s.set)
	case TypeRun:
		s.runs = append(s.runs, decode[RunData](e))
	case TypeVerdict:
		s.verdicts = append(s.verdicts, said[VerdictData]{e, decode[VerdictData](e)})
	case TypePatch:
		s.patches = append(s.patches, said[PatchData]{e, decode[PatchData](e)})
		s.rungs = nil // they spoke of another claim
	case TypeSlip:
		s.slips++
	case TypeCandidate:
		s.candidates = append(s.candidates, decode[CandidateData](e))
	case TypeRequest, TypeReply, TypeTokens:
		s.addModel(e)
	default:
		s.addEnd(e)
	}
}

func (s *story) addEnd(e Event) {
	switch e.Type {
	case TypeRung:
		s.rungs = append(s.rungs, decode[RungData](e))
	case TypeReceipt:
		s.receipt = new(decode[ReceiptData](e))
	case TypeStop:
		s.stop = new(decode[Stop](e))
	case TypeAdmit:
		s.admit = new(decode[AdmitData](e))
	case TypeDraft:
		s.draft = new(decode[DraftData](e))
	case TypeFlake:
		s.flake = new(decode[FlakeData](e))
	case TypeReduced:
		s.reduced = new(decode[ReducedData](e))
	case TypeBisect:
		s.bisect = new(decode[BisectData](e))
	case TypeEgress:
		s.sampled = append(s.sampled, decode[EgressData](e))
	}
}

// addModel counts a question, a frame or an answer for the model that was asked last.
func (s *story) addModel(e Event) {
	if e.Type == TypeRequest {
		s.ask(decode[RequestData](e))
		return
	}
	if len(s.models) == 0 {
		s.models = append(s.models, &modelUse{})
	}
	m := s.models[len(s.models)-1]
	if e.Type == TypeTokens {
		m.pieces = max(m.pieces, decode[TokensData](e).N)
		return
	}
	r := decode[ReplyData](e)
	m.answers++
	m.prompt, m.cached, m.output = m.prompt+r.Prompt, m.cached+r.Cached, m.output+r.Output
	m.seconds += r.Seconds
	if r.Model != "" && !slices.Contains(m.answered, r.Model) {
		m.answered = append(m.answered, r.Model)
	}
}

// ask moves the model asked now to the end of the list.
func (s *story) ask(r RequestData) {
	i := slices.IndexFunc(s.models, func(m *modelUse) bool {
		return m.tier == r.Tier && m.model == r.Model && m.baseURL == r.BaseURL
	})
	m := &modelUse{tier: r.Tier, model: r.Model, baseURL: r.BaseURL}
	if i >= 0 {
		m = s.models[i]
		s.models = slices.Delete(s.models, i, i+1)
	}
	m.questions++
	s.models = append(s.models, m)
}

// seen is the verdict that began the job: the last of the phase see.
func (s *story) seen() *VerdictData {
	for i := len(s.verdicts) - 1; i >= 0; i-- {
		if s.verdicts[i].V.Phase == "see" {
			return &s.verdicts[i].V
		}
	}
	return nil
}

// judged is the verdict on a patch: of those before the next patch the full check's, else the cheap one's.
func (s *story) judged(p Event) *VerdictData {
	var cheap *VerdictData
	for i := range s.verdicts {
		v := &s.verdicts[i]
		switch {
		case v.Seq < p.Seq:
		case s.patchBetween(p.Seq, v.Seq):
			return cheap
		case v.V.Phase == "judge":
			return &v.V
		case v.V.Phase == "cheap":
			cheap = &v.V
		}
	}
	return cheap
}

func (s *story) patchBetween(from, to int) bool {
	for _, p := range s.patches {
		if p.Seq > from && p.Seq < to {
			return true
		}
	}
	return false
}

// patch is the change that the job stands by: the receipt's, else the last one that landed.
func (s *story) patch() *PatchData {
	for i := len(s.patches) - 1; i >= 0 && s.receipt != nil; i-- {
		if s.patches[i].V.Tree == s.receipt.Tree && s.receipt.Tree != "" {
			return &s.patches[i].V
		}
	}
	if len(s.patches) == 0 {
		return nil
	}
	return &s.patches[len(s.patches)-1].V
}

// turns is the number of the last turn.
func (s *story) turns() int {
	n := 0
	for _, e := range s.events {
		n = max(n, e.Turn)
	}
	return n
}

// span is from the first to the last line.
func (s *story) span() (from, to time.Time) {
	if len(s.events) == 0 {
		return from, to
	}
	return s.events[0].TS, s.events[len(s.events)-1].TS
}

// egress says which hosts the models were asked at, and the widest of them: none, loopback or configured_host.
func (s *story) egress() (level string, hosts []string) {
	level = "none"
	for _, m := range s.models {
		if m.questions == 0 {
			continue
		}
		host, loop := hostOf(m.baseURL)
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		switch {
		case !loop:
			level = "configured_host"
		case level == "none":
			level = "loopback"
		}
	}
	sort.Strings(hosts)
	return level, hosts
}

// tried is what the commands of all runs tried to reach and were refused, most often tried first.
func (s *story) tried() []Reach {
	sum := map[string]int{}
	for _, r := range s.runs {
		for _, e := range r.Egress {
			sum[e.To] += max(e.N, 1)
		}
	}
	all := []Reach{}
	for to, n := range sum {
		all = append(all, Reach{to, n})
	}
	slices.SortFunc(all, func(a, b Reach) int { return cmp.Or(b.N-a.N, cmp.Compare(a.To, b.To)) })
	return all[:min(len(all), 100)]
}

// reaches are addresses in words, as in "192.0.2.1:443 ×2".
func reaches(all []Reach) string {
	var out []string
	for _, r := range all {
		s := r.To
		if r.N > 1 {
			s += fmt.Sprintf(" ×%d", r.N)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func orNone(s string) string { return cmp.Or(s, "nothing") }

func hostOf(base string) (host string, loopback bool) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "unknown", false
	}
	name := u.Hostname()
	ip := net.ParseIP(name)
	return u.Host, name == "localhost" || ip != nil && ip.IsLoopback()
}
