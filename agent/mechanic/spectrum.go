package mechanic

import (
	"io/fs"
	"math"
	"sort"
	"strings"

	"golang.org/x/tools/cover"
)

// block is one basic block as the coverage tool draws it, with how many failing and passing tests ran it.
type block struct {
	fromLine, fromCol int
	toLine, toCol     int
	failed, passed    int
}

// spectrum is which blocks of which files the failing and the passing tests ran.
type spectrum struct {
	module          string
	blocks          map[string][]*block // by file, sorted by where they begin
	failing, passes int                 // tests that were run
}

func newSpectrum(module string) *spectrum {
	return &spectrum{module: module, blocks: map[string][]*block{}}
}

// add counts one test's profile. A profile without blocks counts nothing.
func (s *spectrum) add(profile string, red bool) bool {
	profiles, err := cover.ParseProfilesFromReader(strings.NewReader(profile))
	if err != nil || len(profiles) == 0 {
		return false
	}
	if red {
		s.failing++
	} else {
		s.passes++
	}
	for _, p := range profiles {
		name, ok := strings.CutPrefix(p.FileName, s.module+"/")
		if !ok || !fs.ValidPath(name) {
			continue
		}
		for _, b := range p.Blocks {
			s.count(name, b, red)
		}
	}
	return true
}

func (s *spectrum) count(file string, b cover.ProfileBlock, red bool) {
	list := s.blocks[file]
	at := sort.Search(len(list), func(i int) bool { return !before(list[i].fromLine, list[i].fromCol, b.StartLine, b.StartCol) })
	if at == len(list) || list[at].fromLine != b.StartLine || list[at].fromCol != b.StartCol {
		list = append(list, nil)
		copy(list[at+1:], list[at:])
		list[at] = &block{fromLine: b.StartLine, fromCol: b.StartCol, toLine: b.EndLine, toCol: b.EndCol}
		s.blocks[file] = list
	}
	switch {
	case b.Count == 0: // kept, since it may lie inside another block that ran
	case red:
		list[at].failed++
	default:
		list[at].passed++
	}
}

func before(line, col, otherLine, otherCol int) bool {
	return line < otherLine || line == otherLine && col < otherCol
}

// suspicion is Ochiai's coefficient of the block around a place: 1 when every failing test and no passing one
// ran it, 0 when no failing test did.
// Ochiai for fault localization: Abreu, Zoeteweij, van Gemund, "On the Accuracy of Spectrum-based Fault Localization", 2007.
func (s *spectrum) suspicion(file string, line, col int) float64 {
	list := s.blocks[file]
	// Blocks may nest where a function literal stands inside another block: the last that begins before the place wins.
	at := sort.Search(len(list), func(i int) bool { return before(line, col, list[i].fromLine, list[i].fromCol) })
	for i := at - 1; i >= 0; i-- {
		if b := list[i]; before(line, col, b.toLine, b.toCol) {
			return ochiai(b.failed, b.passed, s.failing)
		}
	}
	return 0
}

func ochiai(failed, passed, failing int) float64 {
	if failed == 0 || failing == 0 {
		return 0
	}
	return float64(failed) / math.Sqrt(float64(failing)*float64(failed+passed))
}
