package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// listed are copies that exist only as names, one of which cannot be made or removed.
type listed struct {
	mu      sync.Mutex
	made    int
	removed []string
	bad     string
	stays   string
}

func (l *listed) Fresh(context.Context) (string, func(context.Context) error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	name := fmt.Sprint(l.made)
	if name == l.bad {
		return "", nil, errors.New("no room")
	}
	return name, func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.removed = append(l.removed, name)
		if name == l.stays {
			return errors.New("busy")
		}
		return nil
	}, nil
}

// Copies come one after the other, no more than one is made in vain, and every one is removed before the end.
func TestCopiesAhead(t *testing.T) {
	for _, tc := range []struct {
		name         string
		expect, take int
		bad, stays   string
		made         int
		err          string
	}{
		{name: "as expected", expect: 3, take: 3, made: 3},
		{name: "fewer", expect: 5, take: 2, made: 3},
		{name: "more", expect: 1, take: 4, made: 4},
		{name: "none", expect: 3, take: 0, made: 0},
		{name: "cannot be made", expect: 3, take: 2, bad: "2", made: 2, err: "no room"},
		{name: "cannot be made and is not wanted", expect: 3, take: 1, bad: "2", made: 2},
		{name: "cannot be removed", expect: 2, take: 2, stays: "1", made: 2, err: "remove a copy: busy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &listed{bad: tc.bad, stays: tc.stays}
			err := take(t, &Oracle{Trees: l}, tc.expect, tc.take)
			if got := fmt.Sprint(err); err != nil && got != tc.err || err == nil && tc.err != "" {
				t.Errorf("got error %q, want %q", got, tc.err)
			}
			lost := 0
			if tc.bad != "" {
				lost = 1
			}
			if slices.Sort(l.removed); l.made != tc.made || len(slices.Compact(l.removed)) != tc.made-lost {
				t.Errorf("%d made, removed %v; want %d", l.made, l.removed, tc.made)
			}
		})
	}
}

// take asks for n copies as runs do, one at a time.
func take(t *testing.T, o *Oracle, expect, n int) (err error) {
	defer o.lookAhead(t.Context(), expect, &err)()
	for i := range n {
		dir, remove, err := o.copy(t.Context())
		if err != nil {
			return err
		}
		if want := fmt.Sprint(i + 1); dir != want {
			t.Errorf("got copy %s, want %s", dir, want)
		}
		if err := remove(t.Context()); err != nil {
			return err
		}
	}
	return nil
}
