package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bubblewrapped is a sandbox of the only tier here that forwards ports and shows paths elsewhere.
func bubblewrapped(t *testing.T) *Sandbox {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("REFUSED: no bash to open connections with")
	}
	s, err := Open(Options{Tier: Bubblewrap, TmpDir: t.TempDir()})
	if err != nil {
		t.Skipf("REFUSED: no bubblewrap here: %v", err)
	}
	return s
}

// echo answers every line with itself, until its listener is closed.
func echo(ended chan<- struct{}) func(net.Listener) {
	return func(ln net.Listener) {
		defer close(ended)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				fmt.Fprintf(c, "heard %s", line)
			}()
		}
	}
}

const dialing = `dial() { (exec 3<>/dev/tcp/$1/$2 && echo "$3" >&3 && cat <&3) 2>/dev/null || echo "no way to $1 $2"; }; `

func TestForward(t *testing.T) {
	box := bubblewrapped(t)
	outside, err := net.Listen("tcp4", "127.0.0.1:0") // stands for the model's server
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	_, model, _ := net.SplitHostPort(outside.Addr().String())
	dir, ended := t.TempDir(), [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	script := dialing + fmt.Sprintf(`dial 127.0.0.1 4873 one; dial 127.0.0.1 4874 two; dial 127.0.0.1 4873 three
		dial 127.0.0.1 %s x; dial 127.0.0.1 4875 x; dial 192.0.2.1 80 x; ls /proc/self/fd | tr '\n' ' '`, model)
	res, err := box.Run(t.Context(), Command{
		Argv: []string{"bash", "-c", script}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Write: []string{dir}, Wall: 20 * time.Second,
		Forward: []Forward{{Port: 4873, Serve: echo(ended[0])}, {Port: 4874, Serve: echo(ended[1])}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("heard one\nheard two\nheard three\nno way to 127.0.0.1 %s\nno way to 127.0.0.1 4875\nno way to 192.0.2.1 80\n0 1 2 3 ", model)
	if got := string(res.Stdout); got != want {
		t.Errorf("got %q, want %q; stderr %s", got, want, res.Stderr)
	}
	for _, e := range ended {
		select {
		case <-e:
		case <-time.After(5 * time.Second):
			t.Error("a port is still open after the run")
		}
	}
}

// TestForwardDies ends runs whose shim never came to open a port, or that are cancelled while one is open.
func TestForwardDies(t *testing.T) {
	box := bubblewrapped(t)
	dir, ended := t.TempDir(), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	go func() {
		<-started
		cancel()
	}()
	_, err := box.Run(ctx, Command{Argv: []string{"sleep", "60"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Write: []string{dir},
		Forward: []Forward{{Port: 4873, Serve: func(ln net.Listener) {
			close(started)
			echo(ended)(ln)
		}}}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v from a cancelled run", err)
	}
	<-ended
	_, err = box.Run(t.Context(), Command{Argv: []string{"true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Write: []string{dir},
		Forward: []Forward{{Port: 80, Serve: func(net.Listener) { t.Error("a port was opened without the right to it") }}}})
	if err == nil || !strings.Contains(err.Error(), "forward port 80") {
		t.Errorf("got %v from a port that may not be opened", err)
	}
	broken := *box
	broken.shim = []string{"/bin/true"}
	if _, err := broken.Run(t.Context(), Command{Argv: []string{"true"}, Dir: dir, Write: []string{dir},
		Forward: []Forward{{Port: 4873, Serve: func(net.Listener) { t.Error("a port was opened") }}}}); err == nil {
		t.Error("a run without a shim ended well")
	}
	if left := openPairs(t); left != "" {
		t.Errorf("left open: %s", left)
	}
}

// openPairs names the descriptors of forwarded ports that this process holds.
func openPairs(t *testing.T) string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range fds {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if strings.HasPrefix(to, "socket:") {
			left = append(left, e.Name()+" "+to)
		}
	}
	return strings.Join(left, ", ")
}

func TestForwardRefused(t *testing.T) {
	serve, dir := func(net.Listener) {}, t.TempDir()
	for _, tt := range []struct {
		name    string
		tier    Tier
		command Command
		want    string
	}{
		{"no port", Bubblewrap, Command{Forward: []Forward{{0, serve}}}, "port 0 cannot be forwarded"},
		{"twice", Bubblewrap, Command{Forward: []Forward{{80, serve}, {80, serve}}}, "forwarded twice"},
		{"nobody", Bubblewrap, Command{Forward: []Forward{{80, nil}}}, "leads to nobody"},
		{"no network", Bubblewrap, Command{Network: None, Forward: []Forward{{80, serve}}}, "without a network"},
		{"landlock", Landlock, Command{Forward: []Forward{{80, serve}}}, "landlock forwards no port"},
		{"unconfined", Unconfined, Command{Forward: []Forward{{80, serve}}}, "none forwards no port"},
		{"landlock place", Landlock, Command{Places: map[string]string{dir: "/x"}}, "shows every path where it is"},
		{"place not given", Bubblewrap, Command{Places: map[string]string{"/y": "/x"}}, "not given"},
		{"place of the system", Bubblewrap, Command{Places: map[string]string{dir: "/usr/x"}}, "no path can be shown at /usr/x"},
		{"wide place", Bubblewrap, Command{Places: map[string]string{dir: "/home"}}, "no path can be shown at /home"},
		{"crooked place", Bubblewrap, Command{Places: map[string]string{dir: "/x/../usr"}}, "no path can be shown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.command
			c.Argv, c.Dir, c.Write = []string{"true"}, dir, []string{dir}
			_, err := (&Sandbox{tier: tt.tier}).Run(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestPlaces shows a folder at another place: there it is written, and where it lies nothing is to be seen.
func TestPlaces(t *testing.T) {
	box := bubblewrapped(t)
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(other, "tree")
	res, err := box.Run(t.Context(), Command{
		Argv: []string{"sh", "-c", `pwd; echo x >../made; ls ` + dir + ` 2>/dev/null || echo hidden`}, Dir: filepath.Join(dir, "sub"),
		Env: []string{"PATH=/usr/bin:/bin"}, Write: []string{dir}, Places: map[string]string{dir: at},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := at + "/sub\nhidden\n"; string(res.Stdout) != want {
		t.Errorf("got %q, want %q; stderr %s", res.Stdout, want, res.Stderr)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || string(b) != "x\n" {
		t.Errorf("got %q, %v in the folder", b, err)
	}
	res, err = box.Run(t.Context(), Command{Argv: []string{"sh", "-c", `i=0; while :; do echo 0123456789 >>f; done`}, Dir: dir, Disk: 1 << 20,
		Env: []string{"PATH=/usr/bin:/bin"}, Write: []string{dir}, Places: map[string]string{dir: at}, Wall: 20 * time.Second})
	if err != nil || res.Limit != "disk" {
		t.Errorf("got limit %q, %v: what is written at a place does not count", res.Limit, err)
	}
}
