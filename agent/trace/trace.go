// Package trace is the flight recorder: what a job did, one JSON line an event, appended and never changed. It
// also holds what crosses a process border: the job, its stop, progress and cancel. It leaves deciding
// anything to others, and every view of a job (summary, log, replay) is rendered from its lines alone.
package trace
