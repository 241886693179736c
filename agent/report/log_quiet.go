package report

import "bytes"

// Most lines of most logs are for nobody. While no reader is awake such a line is only kept as it is, the last of them, and
// read once a line comes that somebody cares for: what came before it is then read as if nothing had been left out.
const (
	quietKept = 16 << 10 // of the last quiet lines, at least where there are so many
	quietRoom = 64 << 10
)

// quietly takes a line that nobody cares for and reports whether it was one.
func (l *logReader) quietly(line []byte) bool {
	if !l.asleep || len(line) > maxMessage {
		return false
	}
	if goBegins(line) || l.s.others.cares(line) {
		return false
	}
	if len(l.quiet)+len(line) >= quietRoom {
		rest := l.quiet[len(l.quiet)-quietKept:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[i+1:]
		}
		l.quiet = append(l.quiet[:0], rest...)
	}
	l.quiet = append(append(l.quiet, line...), '\n')
	return true
}

// loud reads what was kept, and then the line.
func (l *logReader) loud(line []byte) {
	l.unquiet()
	l.machine(line)
	l.s.readLine(line)
	l.asleep = l.s.idle()
}

// unquiet reads what was kept.
func (l *logReader) unquiet() {
	for rest := l.quiet; len(rest) > 0 && l.s != nil; {
		var line []byte
		line, rest = nextLine(rest)
		l.s.readLine(line)
	}
	l.quiet = l.quiet[:0]
}

// idle reports whether nothing of the run is being read: no package, no block, no reader that is awake.
func (s *stream) idle() bool {
	return s.cur == nil && s.unclosed == 0 && s.block == nil && s.vetJSON == nil && s.others.sleeps()
}

// goBegins reports whether a line may be the go command's by how it begins.
func goBegins(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	switch line[0] {
	case 'o':
		return bytes.HasPrefix(line, []byte("ok"))
	case 'F', 'P', '?', '=', '-', '{':
		return bytes.HasPrefix(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("PASS")) || line[0] == '?' || line[0] == '{' ||
			bytes.HasPrefix(line, []byte("=== ")) || bytes.HasPrefix(line, []byte("--- "))
	case '#':
		return bytes.HasPrefix(line, []byte("# "))
	case 'g':
		return bytes.HasPrefix(line, []byte("go: "))
	case 'm':
		return bytes.HasPrefix(line, []byte("make"))
	}
	return isCrashLine(line)
}
