package sandbox

import (
	"bytes"
	"fmt"
	"io"
)

// capture keeps the head and the tail of one stream, at most max bytes in all, and never holds more than about
// twice the tail. It is filled by one goroutine.
type capture struct {
	max  int64
	head []byte
	tail []byte // the newest bytes past the head, trimmed now and then
	seen int64
}

// half is how much of either end is kept.
func (c *capture) half() int { return int(max(c.max/2, 1)) }

// Write takes all of p, always.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.seen += int64(n)
	if room := c.half() - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*c.half()+64<<10 {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.half():]...)
	}
	return n, nil
}

// fill reads r to its end. A broken stream ends it like EOF: what came is what there is.
func (c *capture) fill(r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		_, _ = c.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// bytes is what was kept, and whether that is less than what came. The marker takes a line of its own.
func (c *capture) bytes() ([]byte, bool) {
	tail := c.tail[max(0, len(c.tail)-c.half()):]
	left := c.seen - int64(len(c.head)) - int64(len(tail))
	if left <= 0 {
		return append(c.head, tail...), false
	}
	var b bytes.Buffer
	b.Grow(len(c.head) + len(tail) + 64)
	b.Write(c.head)
	if !bytes.HasSuffix(c.head, []byte("\n")) {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[%d bytes left out]\n", left)
	b.Write(tail)
	return b.Bytes(), true
}
