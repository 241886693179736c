package report

import (
	"strconv"
	"strings"
)

// moreTestReaders are the runners of Rust, Java, C and C++, Ruby, PHP, Swift and .NET.
var moreTestReaders = []textReader{
	cargoReader, nextestReader, surefireReader, gradleReader, antReader, ctestReader, gtestReader, catchReader,
	rspecReader, minitestReader, rubyReader, phpunitReader, phpReader, xctestReader, swiftTestingReader, dotnetReader,
}

// said is what a runner prints of one test, bounded.
type said struct {
	lines []string
	size  int
}

func (s *said) add(line string) {
	if s.size += len(line) + 1; s.size <= 2*maxTrace {
		s.lines = append(s.lines, line)
	}
}

func (s *said) text() string { return strings.TrimSpace(strings.Join(s.lines, "\n")) }

// take gives the lines and begins anew.
func (s *said) take() []string {
	lines := s.lines
	*s = said{}
	return lines
}

// hasAny reports whether one of the words stands in s.
func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// between is what stands in s after the first left and before the next right.
func between(s, left, right string) (string, bool) {
	_, s, ok := strings.Cut(s, left)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, right)
	return s, ok
}

// filePlace reads "FILE:LINE" or "FILE:LINE:COLUMN" at the start of s, up to a blank.
func filePlace(s string) (file string, line int, ok bool) {
	if i := strings.IndexAny(s, " \n"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSuffix(s, ":")
	for range 2 {
		i := strings.LastIndexByte(s, ':')
		if i <= 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || n < 0 {
			break
		}
		s, line, ok = s[:i], n, true
	}
	return s, line, ok && s != ""
}

// number is the first number in s, or 0.
func number(s string) int {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return 0
	}
	end := i
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[i:min(end, i+9)])
	return n
}

// minusPlus are the two sides of a diff without its context: what was wanted and is not, what is and was not wanted.
func minusPlus(lines []string) (minus, plus string) {
	var m, p []string
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "):
		case strings.HasPrefix(l, "-"):
			m = append(m, l[1:])
		case strings.HasPrefix(l, "+"):
			p = append(p, l[1:])
		}
	}
	return strings.Join(m, "\n"), strings.Join(p, "\n")
}

// seconds reads a duration as runners print it, "0.003 s" or "12 ms".
func seconds(s string) float64 {
	num, unit, _ := strings.Cut(strings.TrimSpace(s), " ")
	if unit == "" {
		unit = strings.TrimLeft(num, "0123456789.")
		num = strings.TrimSuffix(num, unit)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(num, ",", ""), 64)
	if err != nil || v < 0 || v > 1e9 {
		return 0
	}
	if unit == "ms" {
		v /= 1000
	}
	return v
}
