package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

var (
	errLong      = fmt.Errorf("longer than %d bytes", maxLine) // the reader stands inside the line
	errLongEnded = fmt.Errorf("%w", errLong)                   // the reader stands behind the line
)

// Read returns the events of a trace file; a torn last line is left out and reported by torn. A file that is no trace,
// or one with a line changed, missing or twice, is an error that names the line.
func Read(path string) (events []Event, torn bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxTrace {
		return nil, false, fmt.Errorf("read trace %s: %d bytes, larger than any trace", path, info.Size())
	}
	_, torn, err = scan(io.LimitReader(f, maxTrace), func(e Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("read trace %s: %w", path, err)
	}
	return events, torn, nil
}

// scan calls fn for every whole line, in order. good is the number of bytes of the whole lines; torn says that
// something follows them that is no whole line. A line that is no event is an error, unless it is the last of
// several: that is what a power cut leaves.
func scan(r io.Reader, fn func(Event) error) (good int64, torn bool, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var last Event
	for n := 1; ; n++ {
		line, err := readLine(br, maxLine)
		if err == io.EOF {
			return good, len(line) > 0, unlessTrace(n, line)
		}
		if err != nil {
			return good, false, fmt.Errorf("line %d: %w", n, err)
		}
		e, err := parseLine(line, last)
		if err != nil && n > 1 && errors.Is(err, errNotEvent) && atEnd(br) {
			return good, true, nil
		}
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return good, false, fmt.Errorf("line %d: %w", n, err)
		}
		last, good = e, good+int64(len(line))
	}
}

// unlessTrace is the error for a file that is one line without an end and does not begin as a trace does.
func unlessTrace(n int, line []byte) error {
	if n == 1 && len(line) > 0 && line[0] != '{' {
		return fmt.Errorf("line 1: %w", errNotEvent)
	}
	return nil
}

func atEnd(br *bufio.Reader) bool {
	_, err := br.Peek(1)
	return err == io.EOF
}

var errNotEvent = errors.New("not a line of a trace")

// parseLine reads one line and holds it to the one before it: the same job, the next number.
func parseLine(line []byte, last Event) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, errNotEvent
	}
	switch {
	case e.Type == "" || e.Seq == 0:
		return e, fmt.Errorf("%w: no type or no number", errNotEvent)
	case e.Seq != last.Seq+1:
		return e, fmt.Errorf("its number is %d where %d belongs", e.Seq, last.Seq+1)
	case last.Seq > 0 && e.Job != last.Job:
		return e, fmt.Errorf("it is of job %q, the lines before it of %q", e.Job, last.Job)
	}
	return e, nil
}

// readLine returns the next line with its newline. At the end of the input it returns what is left and io.EOF; a
// line over max bytes is errLong or errLongEnded.
func readLine(br *bufio.Reader, max int) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > max && err == nil {
			return nil, errLongEnded
		}
		if len(line) > max {
			return nil, errLong
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
