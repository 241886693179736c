package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestCapture(t *testing.T) {
	for _, tt := range []struct {
		name string
		max  int64
		in   string
		want string
		cut  bool
	}{
		{"empty", 10, "", "", false},
		{"fits", 10, "0123456789", "0123456789", false},
		{"one over", 10, "0123456789a", "01234\n[1 bytes left out]\n6789a", true},
		{"head ends a line", 10, "0123\n56789abcde", "0123\n[5 bytes left out]\nabcde", true},
		{"tiny", 1, "abc", "a\n[1 bytes left out]\nc", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, step := range []int{1, 3, len(tt.in) + 1} {
				c := capture{max: tt.max}
				for part := range bytes.Lines([]byte(cutEvery(tt.in, step))) {
					part = bytes.TrimSuffix(part, []byte("\n"))
					if n, err := c.Write(bytes.ReplaceAll(part, []byte{0}, []byte("\n"))); n != len(part) || err != nil {
						t.Fatalf("Write = %d, %v", n, err)
					}
				}
				if got, cut := c.bytes(); string(got) != tt.want || cut != tt.cut {
					t.Errorf("in steps of %d: %q, %v; want %q, %v", step, got, cut, tt.want, tt.cut)
				}
			}
		})
	}
}

// cutEvery puts a newline after every n bytes; newlines of the text itself become NUL.
func cutEvery(s string, n int) string {
	s = strings.ReplaceAll(s, "\n", "\x00")
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String() + s
}

func TestCaptureHoldsLittle(t *testing.T) {
	c := capture{max: 1 << 16}
	for i := range 10000 {
		fmt.Fprintf(&c, "%01023d\n", i)
	}
	if held := cap(c.head) + cap(c.tail); held > 1<<19 {
		t.Errorf("%d bytes held for a limit of %d", held, c.max)
	}
}
