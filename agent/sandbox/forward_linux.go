package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
	"golang.org/x/sys/unix"
)

// doors are the forwarded ports of one run, on the caller's side. The shim opens them in its own network namespace and sends
// the listening sockets over a pair: a socket stays in the namespace it was made in, whoever holds it.
type doors struct {
	ours   *net.UnixConn
	theirs *os.File
	work   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	open   []net.Listener
}

// openDoors makes the pair; nil where nothing is forwarded.
func openDoors(forwards []Forward) (*doors, error) {
	if len(forwards) == 0 {
		return nil, nil
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("forward ports: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "forward")
	defer ours.Close()
	d := &doors{theirs: os.NewFile(uintptr(fds[1]), "forward")}
	conn, err := net.FileConn(ours)
	if err != nil {
		d.theirs.Close()
		return nil, fmt.Errorf("forward ports: %w", err)
	}
	d.ours = conn.(*net.UnixConn)
	d.work.Go(func() { d.serve(forwards) })
	return d, nil
}

// serve takes the listeners as they come, in the order of the forwards.
func (d *doors) serve(forwards []Forward) {
	for _, f := range forwards {
		ln, err := d.receive()
		if err != nil {
			return // the run is over, or ends with the shim's own words
		}
		d.work.Go(func() { f.Serve(ln) })
	}
}

func (d *doors) receive() (net.Listener, error) {
	data, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := d.ours.ReadMsgUnix(data, oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no socket came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("no socket came")
	}
	unix.CloseOnExec(fds[0])
	f := os.NewFile(uintptr(fds[0]), "forwarded port")
	defer f.Close() // FileListener works on a copy
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.Join(net.ErrClosed, ln.Close())
	}
	d.open = append(d.open, ln)
	return ln, nil
}

// close closes the ports and waits until nobody serves them any more, but not for ever: what they serve is the caller's.
func (d *doors) close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.closed = true
	open := d.open
	d.mu.Unlock()
	d.ours.Close()
	d.theirs.Close()
	for _, ln := range open {
		ln.Close()
	}
	quiet := make(chan struct{})
	go func() {
		d.work.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-time.After(2 * time.Second):
	}
}

// forward tells the shim which ports to open, and gives the launcher the pair's other end after its own files.
func (l *launch) forward(forwards []Forward) (err error) {
	if l.doors, err = openDoors(forwards); l.doors == nil {
		return err
	}
	l.order.Door = warden.FirstFileFD + len(l.files)
	for _, f := range forwards {
		l.order.Forward = append(l.order.Forward, f.Port)
	}
	l.files = append(l.files, l.doors.theirs)
	return nil
}
