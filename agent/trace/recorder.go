package trace

// Recorder appends events to the trace.jsonl of one evidence directory. Safe for several goroutines.
type Recorder struct{}

// Open opens or continues dir/trace.jsonl; a torn last line is cut off. onEvent, if not nil, sees every event after it is on
// file. clean, if not nil, is applied to every string before it is written.
func Open(dir, job string, clean func(string) string, onEvent func(Event)) (*Recorder, error) {
	panic("stub")
}

// Add appends one event; data is marshalled. fsync happens at stop, reply, tokens, verdict and receipt lines.
func (r *Recorder) Add(turn int, typ string, data any) error { panic("stub") }

// Close syncs and closes the file.
func (r *Recorder) Close() error { panic("stub") }

// Read returns the events of a trace file; a torn last line is left out and reported by torn.
func Read(path string) (events []Event, torn bool, err error) { panic("stub") }

// Render writes status.json, SUMMARY.md, COMMANDS.md, LOG.md, PATCHES.md (only when something changed) and patch.diff
// from dir/trace.jsonl, then manifest.json over every file of the directory.
func Render(dir string) error { panic("stub") }
