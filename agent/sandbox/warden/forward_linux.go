package warden

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// backlog is how many connections of a command may wait at a forwarded port.
const backlog = 128

// handOut opens the ports and sends the listening sockets away, before anything of the command runs. Nothing of the pair
// stays open.
func handOut(o Order) error {
	if len(o.Forward) == 0 {
		return nil
	}
	defer unix.Close(o.Door)
	for _, port := range o.Forward {
		if err := sendListener(o.Door, port); err != nil {
			return fmt.Errorf("forward port %d: %w", port, err)
		}
	}
	return nil
}

func sendListener(door, port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return err
	}
	return unix.Sendmsg(door, []byte{1}, unix.UnixRights(fd), nil, 0)
}
