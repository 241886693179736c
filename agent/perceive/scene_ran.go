package perceive

import (
	"cmp"
	"math"
	"path"
	"slices"
)

// Why a symbol is at issue.
const (
	traced  = iota // the trace goes through it
	used           // the failing test uses it
	reached        // what the failing test uses leads to it, or the test ran it
	named          // words name it
)

// Scores where it is known what the failing tests ran: suspicion counts most. By redraft bench scene --reach --each 28 scenes of 3,000
// tokens show 52 % of the places that released repairs change, and 37 % where nothing is known of what ran.
const (
	suspected = 8000 // of what failing tests alone ran, and the less the more others ran it
	firstHit  = 8000 // what a trace goes through last, instead of framed; so much less for each frame before it:
	nextHit   = 500  // but never less than asked
)

// ranFiles are the files of which failing tests ran something, the most suspected first.
func (v *viewer) ranFiles() (out []string) {
	most := map[string]float64{}
	for _, r := range v.Ran {
		if _, ok := most[r.File]; !ok {
			out = append(out, r.File)
		}
		most[r.File] = max(most[r.File], r.Suspicion)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a, b)) })
	return out
}

// suspicion is that of the most suspected of some lines; 0 where no failing test ran any of them.
func (v *viewer) suspicion(file string, at span) (most float64) {
	if v.suspected == nil {
		v.suspected, v.watched = map[string]map[int]float64{}, map[string]bool{}
		for _, r := range v.Ran {
			t := v.text(r.File)
			if t == nil {
				continue
			}
			v.watched[path.Ext(r.File)] = true
			if v.suspected[r.File] == nil {
				v.suspected[r.File] = map[int]float64{}
			}
			for line := max(r.First, 1); line <= min(r.Last, len(t.lines)); line++ {
				v.suspected[r.File][line] = max(v.suspected[r.File][line], r.Suspicion)
			}
		}
	}
	for line := at.first; line <= at.last && len(v.suspected[file]) > 0; line++ {
		most = max(most, v.suspected[file][line])
	}
	return most
}

// weigh says why a symbol is at issue, by what the trace and the index gave it, and weighs that by what the failing tests ran: what none
// of them ran is hardly wrong, whatever names it.
func (v *viewer) weigh(s *symbol) {
	switch {
	case s.score >= framed-maxFrames*maxTests:
		s.why = traced
	case s.score >= asked:
		s.why = used
	case s.score > maxWord:
		s.why = reached
	default:
		s.why = named
	}
	if len(v.Ran) == 0 {
		return
	}
	score := s.score
	if s.why == traced {
		score = max(firstHit-nextHit*(framed-s.score), asked)
	}
	switch s.suspicion = v.suspicion(s.file, v.body(*s)); {
	case !s.function():
		s.score = score
	case s.suspicion > 0:
		s.why, s.score = min(s.why, reached), score/2+int(suspected*s.suspicion)
	case v.watched[path.Ext(s.file)]:
		s.score = score / 3
	}
}

// body is a function's lines without that of its head in Python, which runs where the function is made.
func (v *viewer) body(s symbol) span {
	if path.Ext(s.file) == ".py" && s.first < s.last {
		return span{s.first + 1, s.last}
	}
	return s.span
}

// mass is how much a symbol weighs as a place of the repair, by its score alone.
func (v *viewer) mass(s symbol) float64 {
	score := float64(s.score)
	if !s.function() {
		score /= 2
	}
	return score * math.Sqrt(float64(v.text(s.file).code(s.span)))
}
