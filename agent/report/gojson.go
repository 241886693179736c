package report

import (
	"bytes"
	"encoding/json"
	"strings"
)

// event is one line of go test -json, or of go build -json since Go 1.24.
// https://pkg.go.dev/cmd/test2json, https://pkg.go.dev/cmd/go#hdr-Build__json_encoding
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

var eventStarts = [][]byte{[]byte(`{"Time":"`), []byte(`{"Action":"`), []byte(`{"ImportPath":"`), []byte(`{"Package":"`), []byte(`{"Test":"`)}

func looksLikeEvent(line []byte) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	for _, p := range eventStarts {
		if bytes.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// event takes in one JSON line and reports whether it was one of these events.
func (s *stream) event(line []byte) bool {
	var e event
	if len(line) > maxEvent || json.Unmarshal(line, &e) != nil {
		s.broken = true
		s.problem("a JSON event could not be read: " + string(line[:min(len(line), 120)]))
		return len(line) > maxEvent
	}
	if strings.HasPrefix(e.Action, "build-") {
		s.block = nil
		s.buildEvent(e)
		return true
	}
	switch e.Action {
	case "start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "attr", "artifacts":
	default:
		return false // another tool's JSON
	}
	s.block, s.sawJSON = nil, true
	s.testEvent(e)
	return true
}

func (s *stream) testEvent(e event) {
	p := s.json[e.Package]
	if p == nil || p.status != "" && e.Action == "start" {
		p = newPkg(cut(clean(e.Package), maxID))
		p.verbose = true
		s.json[e.Package] = p
		s.pkgs = append(s.pkgs, p)
		s.unclosed++
	}
	if e.Test == "" {
		s.packageEvent(p, e)
		return
	}
	switch e.Action {
	case "run":
		s.started(p, e.Test)
	case "pause":
		s.named(p, e.Test).paused = true
	case "cont":
		s.named(p, e.Test).paused = false
	case "pass", "fail", "skip":
		t := s.named(p, e.Test)
		p.ended(t, worst(t.status, Status(e.Action)), e.Elapsed)
	case "output":
		s.testOutput(p, e)
	}
}

// testOutput keeps what a test printed. Its "---" line also stands in for a missing event, which some releases of
// go lose: https://github.com/golang/go/issues/38382.
func (s *stream) testOutput(p *pkg, e event) {
	t := s.named(p, e.Test)
	if strings.HasPrefix(e.Output, "=== ") {
		return
	}
	if r, ok := parseReport(strings.TrimRight(e.Output, "\r\n")); ok {
		if r.name == t.name {
			t.reported = r.status
			p.reports++
			t.seq = p.reports
		}
		return
	}
	p.print(t, []byte(e.Output))
}

func (s *stream) packageEvent(p *pkg, e event) {
	line := strings.TrimRight(e.Output, "\r\n")
	switch e.Action {
	case "output":
		p.said(line)
		if sum, ok := parseSummary(line); ok {
			p.note = sum.note
			if p.path == "" {
				p.path = cut(clean(sum.path), maxID)
			}
		} else if line != "PASS" && line != "FAIL" && !strings.HasPrefix(line, "=== ") {
			p.print(nil, []byte(e.Output))
		}
	case "pass", "fail", "skip":
		if p.status == "" {
			s.unclosed--
		}
		p.failedBuild = e.FailedBuild
		s.end(p, summary{status: Status(e.Action), seconds: e.Elapsed, note: p.note})
	}
}
