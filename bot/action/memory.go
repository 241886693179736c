package action

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/bot/queue"
)

// memory is the queue of one run: it holds what the run's one event leads to, and ends with the process. What must not
// happen twice is kept by GitHub itself: one branch and one draft a target, one check run a key.
type memory struct {
	newID func() string

	mu     sync.Mutex
	jobs   []queue.Job
	values map[string][]byte
}

func newMemory(newID func() string) *memory {
	return &memory{newID: newID, values: map[string][]byte{}}
}

func (m *memory) Note(context.Context, string, string, string) error { return nil }

func (m *memory) Submit(_ context.Context, j queue.Job) (string, queue.Submission, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.jobs, func(k queue.Job) bool { return k.Key == j.Key }); i >= 0 {
		return m.jobs[i].ID, queue.Waiting, nil
	}
	j.ID = m.newID()
	m.jobs = append(m.jobs, j)
	return j.ID, queue.Added, nil
}

func (m *memory) Enter(context.Context, string, queue.State, any) error { return nil }

// Cancel finds nothing: jobs of other runs are ended by ending those runs.
func (m *memory) Cancel(context.Context, string, string, string) (int, error) { return 0, nil }

func (m *memory) Last(context.Context, string) (queue.Job, bool, error) {
	return queue.Job{}, false, nil
}

// Since knows of no run before this one; the bot counts drafts instead.
func (m *memory) Since(context.Context, string, time.Time) (int, error) { return 0, nil }

func (m *memory) Put(_ context.Context, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = slices.Clone(value)
	return nil
}

func (m *memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.values[name]), nil
}

// get reads a value that was put as JSON; ok is false when it was not.
func (m *memory) get(name string, into any) (ok bool) {
	b, _ := m.Get(context.Background(), name)
	return b != nil && json.Unmarshal(b, into) == nil
}

// waiting are the jobs of the run.
func (m *memory) waiting() []queue.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.jobs)
}
