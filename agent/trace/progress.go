package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// WriteProgress writes one event as one line, in one write: what the repair process tells its parent on its
// standard output.
func WriteProgress(w io.Writer, e Event) error {
	line, err := marshal(e)
	if err != nil {
		return fmt.Errorf("write progress: %w", err)
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write progress: %w", err)
	}
	return nil
}

// ScanProgress calls fn for every event that r brings, until r ends. Lines that are no event are passed over, and
// so are lines too long to be one: what a child prints by accident is no reason to lose sight of it.
func ScanProgress(r io.Reader, fn func(Event)) error { return scanProgress(r, maxLine, fn) }

func scanProgress(r io.Reader, limit int, fn func(Event)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br, limit)
		switch err {
		case errLong:
			err = skipLine(br)
		case errLongEnded:
			err = nil
		}
		var e Event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil && e.Type != "" {
			fn(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
	}
}

// skipLine reads to the end of the line that the reader stands in.
func skipLine(br *bufio.Reader) error {
	for {
		if _, err := br.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
	}
}
