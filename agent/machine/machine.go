// Package machine looks at this machine as far as a job's evidence speaks of it: what this process is connected to. It
// leaves deciding to others and changes nothing. What a system does not tell is said to be unknown, never to be nothing.
package machine

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Sampler looks again and again at what this process is connected to. What is opened and closed between two looks goes
// unseen. Use it by pointer.
type Sampler struct {
	mu    sync.Mutex
	seen  map[netip.AddrPort]int
	looks int
	done  chan struct{}
}

// mostPeers bounds how many addresses are told apart.
const mostPeers = 256

// Sample looks at once, then every so often until ctx ends or Stop is called.
func Sample(ctx context.Context, every time.Duration) *Sampler {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sampler{seen: map[netip.AddrPort]int{}, done: make(chan struct{})}
	s.look()
	go func() {
		defer cancel()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.done:
				return
			case <-tick.C:
				s.look()
			}
		}
	}()
	return s
}

func (s *Sampler) look() {
	now, err := peers()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	for _, p := range now {
		if _, known := s.seen[p]; known || len(s.seen) < mostPeers {
			s.seen[p]++
		}
	}
}

// Peer is an address that the process was connected to, and in how many looks.
type Peer struct {
	Address netip.AddrPort
	Looks   int
}

// Stop ends the sampling with one more look, and tells what was seen, and in how many looks in all; 0 where this system
// does not tell.
func (s *Sampler) Stop() (all []Peer, looks int) {
	close(s.done)
	s.look()
	s.mu.Lock()
	defer s.mu.Unlock()
	for a, n := range s.seen {
		all = append(all, Peer{a, n})
	}
	slices.SortFunc(all, func(a, b Peer) int { return a.Address.Compare(b.Address) })
	return all, s.looks
}
