package sandbox

import (
	"errors"
	"fmt"
	"net"
)

// Forward is a port of the command's own loopback that leads to the caller, and nowhere else. What listens there is the
// caller's: it is handed the listener, so that nothing of the machine's network and no socket file is shown to the command.
type Forward struct {
	Port  int                // on 127.0.0.1 as the command sees it; never zero
	Serve func(net.Listener) // called once, in a goroutine of its own; the listener is closed when the run ends
}

// Forwards says whether this tier can lead a port to the caller. Landlock's commands have no loopback, and where nothing is
// confined a port would be an open door beside open doors.
func (s *Sandbox) Forwards() bool {
	return s != nil && s.tier != "" && s.tier != Landlock && s.tier != Unconfined
}

// checkForwards refuses ports that no tier could lead anywhere.
func (s *Sandbox) checkForwards(c Command) error {
	if len(c.Forward) > 0 && !s.Forwards() {
		return fmt.Errorf("the tier %s forwards no port", s.tier)
	}
	seen := map[int]bool{}
	for _, f := range c.Forward {
		switch {
		case f.Port < 1 || f.Port > 65535 || seen[f.Port]:
			return fmt.Errorf("port %d cannot be forwarded: it is no port, or forwarded twice", f.Port)
		case f.Serve == nil:
			return fmt.Errorf("port %d leads to nobody", f.Port)
		}
		seen[f.Port] = true
	}
	if len(c.Forward) > 0 && c.Network == None {
		return errors.New("a command without a network has no port to forward")
	}
	return nil
}
