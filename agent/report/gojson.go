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
	e, ok := s.quick(line)
	if !ok && (len(line) > maxEvent || json.Unmarshal(line, &e) != nil) {
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

// quick reads an event of the plain form that test2json writes; ok is false for anything unusual, which is left to
// encoding/json. It is several times faster, and streams of 50 MiB are nothing special.
func (s *stream) quick(line []byte) (e event, ok bool) {
	rest := bytes.TrimRight(line, " \r")
	if len(rest) > maxEvent || len(rest) < 2 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return e, false
	}
	for rest = rest[1:]; ; rest = rest[1:] {
		var key, value []byte
		if key, rest, ok = plainString(rest); !ok || len(rest) == 0 || rest[0] != ':' {
			return e, false
		}
		rest = rest[1:]
		if string(key) == "Elapsed" {
			end := max(bytes.IndexAny(rest, ",}"), 0)
			if json.Unmarshal(rest[:end], &e.Elapsed) != nil {
				return e, false
			}
			rest = rest[end:]
		} else if value, rest, ok = plainString(rest); ok && string(key) == "Output" {
			e.Output = string(value)
		} else if ok {
			ok = s.set(&e, key, value)
		} else if value, rest, ok = escapedString(rest); ok && string(key) == "Output" {
			ok = json.Unmarshal(value, &e.Output) == nil
		} else {
			return e, false
		}
		if !ok || len(rest) == 0 {
			return e, false
		}
		if rest[0] != ',' {
			return e, len(rest) == 1 && rest[0] == '}'
		}
	}
}

// set fills one field, and keeps one copy of names that repeat from line to line.
func (s *stream) set(e *event, key, value []byte) bool {
	var field *string
	switch string(key) {
	case "Time", "Key", "Value", "Path", "OutputType":
		return true
	case "Action":
		field = &e.Action
	case "Package":
		field = &e.Package
	case "Test":
		field = &e.Test
	case "ImportPath":
		field = &e.ImportPath
	case "FailedBuild":
		field = &e.FailedBuild
	default:
		return false
	}
	for i := range s.names {
		if s.names[i] == string(value) {
			*field = s.names[i]
			return true
		}
	}
	*field = string(value)
	s.names[s.nextName] = *field
	s.nextName = (s.nextName + 1) % len(s.names)
	return true
}

// plainString cuts a JSON string of printable ASCII without escapes off the front.
func plainString(b []byte) (value, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return b[1:i], b[i+1:], true
		case c == '\\' || c < ' ' || c >= 0x7f:
			return nil, b, false
		}
	}
	return nil, b, false
}

// escapedString cuts any JSON string off the front, with its quotes.
func escapedString(b []byte) (quoted, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			return b[:i+1], b[i+1:], true
		case '\\':
			i++
		}
	}
	return nil, b, false
}

func (s *stream) testEvent(e event) {
	p := s.json[e.Package]
	if p == nil || p.status != "" && e.Action == "start" {
		p = newPkg(cut(clean(e.Package), maxID))
		p.verbose = true
		s.json[e.Package] = p
		s.addPkg(p)
		s.unclosed++
	}
	if len(p.passed) > 0 {
		p.unpack()
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
