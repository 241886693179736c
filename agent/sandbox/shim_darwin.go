package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A run has two processes of ours. The warden stays outside of the sandbox, where no command's signal reaches it: it watches
// the limits and ends the run. The keeper is the first process inside: it starts the command, reaps it, and at the end kills
// all that is inside with one call that only a process inside can make. sandbox-exec becomes the keeper by exec.

// order is what Run asks of the warden: one line of JSON on descriptor orderFD, which then stays open for as long as the caller
// wants the command to live. Its end of file means: kill everything.
type order struct {
	Launch []string // argv that starts the keeper
	Sealed bool     // the keeper must see that its signals stay inside
	Argv   []string
	Dir    string
	Env    []string
	Wall   time.Duration
	Memory int64
	Pids   int
	Disk   int64
	Watch  []string // folders whose new bytes count towards Disk, and in which orphans are taken for the command's
}

// ending is what the warden answers on descriptor endingFD, as JSON, when nothing of the command is alive any more.
type ending struct {
	Failure         string // our side could not start the command; the rest is void
	NotFound        string // the program could not be executed: a sentence for the command's stderr
	Exit            int
	Signal          string
	Limit           string
	Wall, User, Sys time.Duration
	MaxRSS          int64
}

// Descriptors that warden and keeper are started with, after the standard three.
const (
	orderFD  = 3
	endingFD = 4
)

// keep is what the warden asks of the keeper: one line of JSON on orderFD. The end of file means: kill everything.
type keep struct {
	Argv   []string
	Dir    string
	Env    []string
	Sealed bool
}

// word is what the keeper says on endingFD, a line each.
type word struct {
	Up  bool    // it runs, inside
	End *ending // of the command
}

// keeperMarker stands before shimMarker in the argv of a keeper.
const keeperMarker = "redraft-sandbox-keeper"

func shim() int {
	if n := len(os.Args); n >= 3 && os.Args[n-2] == keeperMarker {
		return keeper()
	}
	w := &warden{kill: make(chan string, 8), words: make(chan word, 2), gone: make(chan struct{})}
	answer := os.NewFile(endingFD, "ending")
	if err := json.NewEncoder(answer).Encode(w.serve(bufio.NewReader(os.NewFile(orderFD, "order")))); err != nil {
		return 125
	}
	return 0
}

// warden watches over one run from outside.
type warden struct {
	order  order
	keeper int           // its pid
	born   uint64        // its number: who was born before has a lower one
	hold   *os.File      // closing it tells the keeper to kill everything
	words  chan word     // closed when the keeper says no more
	kill   chan string   // reasons to end the command: a limit's name, or "" when the caller wants no more
	gone   chan struct{} // closed when the keeper has been reaped; how it ended is known then
	status syscall.WaitStatus

	mu  sync.Mutex // guards kin
	kin *kin
}

func (w *warden) serve(in *bufio.Reader) ending {
	if err := w.prepare(in); err != nil {
		return ending{Failure: err.Error()}
	}
	start := time.Now()
	if err := w.start(); err != nil {
		return ending{Failure: err.Error()}
	}
	go w.listen(in)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go w.watch(ctx, start)
	up, end, limit := w.await(start)
	took := time.Since(start)
	w.killAll()
	if end == nil {
		end = w.late(up)
	}
	end.Wall, end.Limit = took, limit
	if end.Signal == "SIGXFSZ" && limit == "" {
		end.Limit = "disk"
	}
	return *end
}

// prepare reads the order and makes this process fit to hold untrusted ones.
func (w *warden) prepare(in *bufio.Reader) error {
	if err := closeOnExec(3); err != nil {
		return err
	}
	if err := readLine(in, &w.order); err != nil {
		return err
	}
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("leave the session: %w", err)
	}
	unix.Umask(0o022)
	return setLimits(w.order.Disk)
}

func readLine(in *bufio.Reader, into any) error {
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, into)
	}
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	return nil
}

// closeOnExec keeps every descriptor from first up out of the programs that this process starts. macOS has no call for that, and
// lists the caller's own in /dev/fd.
func closeOnExec(first int) error {
	fds, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, e := range fds {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// setLimits sets what the kernel limits for a process. There is none for processes: that limit would count all of the user's.
// More open files than this are refused to whoever is not root. https://keith.github.io/xcode-man-pages/setrlimit.2.html
func setLimits(disk int64) error {
	const openMax = 10240
	for _, l := range []struct {
		what  int
		value uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NOFILE, openMax}, {unix.RLIMIT_FSIZE, uint64(disk)}} {
		var old syscall.Rlimit
		if err := syscall.Getrlimit(l.what, &old); err != nil {
			return fmt.Errorf("read limit %d: %w", l.what, err)
		}
		v := min(l.value, old.Max)
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("set limit %d: %w", l.what, err)
		}
	}
	return nil
}

// start starts the keeper with an empty environment, in a session of its own, and gives it its order.
func (w *warden) start() error {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orderR.Close()
	endR, endW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer endW.Close()
	w.keeper, err = syscall.ForkExec(w.order.Launch[0], w.order.Launch, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: []uintptr{0, 1, 2, orderR.Fd(), endW.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", w.order.Launch[0], err)
	}
	id, maker := numbers(w.keeper)
	w.born = id
	w.kin = newKin(relative{pid: w.keeper, parent: os.Getpid(), group: w.keeper, id: id, maker: maker})
	w.hold = orderW
	go func() { // one that died does not read it: its silence tells
		_ = json.NewEncoder(orderW).Encode(keep{w.order.Argv, w.order.Dir, w.order.Env, w.order.Sealed})
	}()
	go w.hear(endR)
	go w.reap()
	return nil
}

// hear passes on what the keeper says. It is not believed to be short.
func (w *warden) hear(r io.Reader) {
	defer close(w.words)
	in := json.NewDecoder(io.LimitReader(r, 1<<20))
	for {
		var said word
		if in.Decode(&said) != nil {
			return
		}
		w.words <- said
	}
}

func (w *warden) reap() {
	for {
		_, err := syscall.Wait4(w.keeper, &w.status, 0, nil)
		if err != syscall.EINTR {
			close(w.gone)
			return
		}
	}
}

// listen waits for the end of the order's stream: the caller is gone or wants no more.
func (w *warden) listen(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	w.stop("")
}

func (w *warden) stop(reason string) {
	select {
	case w.kill <- reason:
	default:
	}
}

// await is over when the command ended by itself or must end. It returns whether the keeper ever ran, the command's end where
// it is known, and the limit that is to blame.
func (w *warden) await(start time.Time) (up bool, end *ending, limit string) {
	wall := time.NewTimer(time.Until(start.Add(w.order.Wall)))
	defer wall.Stop()
	for {
		select {
		case said, more := <-w.words:
			up = up || said.Up
			if said.End != nil || !more {
				return up, said.End, ""
			}
		case limit := <-w.kill:
			return up, nil, limit
		case <-wall.C:
			return up, nil, "wall"
		}
	}
}

// late is the end of a command that was told after it was killed, or not at all. A keeper that was killed from inside, which
// its command can do, has ended its command: that is how it is told.
func (w *warden) late(up bool) *ending {
	for said := range w.words {
		if up = up || said.Up; said.End != nil {
			return said.End
		}
	}
	if !up {
		return &ending{Failure: fmt.Sprintf("%s ended before the command was started (%s)", w.order.Launch[0], statusText(w.status))}
	}
	return &ending{Exit: -1, Signal: "SIGKILL"}
}

func statusText(st syscall.WaitStatus) string {
	if st.Signaled() {
		return unix.SignalName(st.Signal())
	}
	return "exit status " + strconv.Itoa(st.ExitStatus())
}

// alive are the command's processes of this moment, without the keeper. An orphan that was born during the run and works in one
// of its folders is taken for one: its makers were gone before anybody saw them.
func (w *warden) alive() (map[int]relative, error) {
	list, err := table()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.kin.grow(list)
	for _, p := range list {
		if _, known := in[p.pid]; known || p.parent != 1 || p.id <= w.born {
			continue
		}
		if at := folder(p.pid); slices.ContainsFunc(w.order.Watch, func(d string) bool { return within(d, at) }) {
			w.kin.add(p)
			in[p.pid] = p
		}
	}
	delete(in, w.keeper)
	return in, nil
}

// sweepTime is how long the keeper may take to kill what is inside.
const sweepTime = 3 * time.Second

// killAll ends everything that belongs, and returns when nothing is seen any more and the keeper is gone. From outside everybody
// is stopped before anybody is killed, so that nobody forks meanwhile; the keeper sweeps from inside at the same time and is
// woken in case the command stopped it.
func (w *warden) killAll() {
	w.hold.Close()
	begun := time.Now()
	for round := 0; ; round++ {
		_ = unix.Kill(w.keeper, unix.SIGCONT)
		left := w.killOnce()
		select {
		case <-w.gone:
			if left == 0 || time.Since(begun) > 2*sweepTime {
				return
			}
		case <-time.After(min(time.Duration(round+1)*time.Millisecond, 20*time.Millisecond)):
		}
		if time.Since(begun) > sweepTime {
			_ = unix.Kill(w.keeper, unix.SIGKILL)
		}
	}
}

// killOnce stops all that can be seen, looks again until nobody new appears, and kills them. It returns how many there were.
func (w *warden) killOnce() int {
	var all map[int]relative
	for range 20 {
		alive, err := w.alive()
		if err != nil {
			break
		}
		news := 0
		for pid, p := range alive {
			if _, known := all[pid]; !known && same(p) {
				_ = unix.Kill(pid, unix.SIGSTOP)
				news++
			}
		}
		if all = alive; news == 0 {
			break
		}
	}
	for pid, p := range all {
		if same(p) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	return len(all)
}

// same says whether a pid still is the process that was seen.
func same(p relative) bool {
	id, _ := numbers(p.pid)
	return id == p.id
}

// keeper is the first process inside.
func keeper() int {
	if err := closeOnExec(3); err != nil {
		return 125
	}
	out := json.NewEncoder(os.NewFile(endingFD, "ending"))
	in := bufio.NewReader(os.NewFile(orderFD, "order"))
	var k keep
	if err := readLine(in, &k); err != nil {
		return 125
	}
	signal.Notify(make(chan os.Signal, 1)) // taken and dropped; ignored ones would be inherited
	sealed := keepsIn()
	if k.Sealed && !sealed {
		_ = out.Encode(word{Up: true, End: &ending{Failure: "the sandbox does not keep signals in"}})
		return 125
	}
	_ = out.Encode(word{Up: true})
	pid, end := begin(k)
	if end != nil {
		_ = out.Encode(word{End: end})
		return 0
	}
	swept := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		sweep(sealed, pid)
		close(swept)
	}()
	_ = out.Encode(word{End: waitFor(pid)})
	<-swept
	return 0
}

// keepsIn says whether this process is denied to signal the one that started it, which runs as the same user and would be
// reached without a sandbox. It is asked while that one is alive for certain.
func keepsIn() bool {
	parent := os.Getppid()
	return parent > 1 && unix.Kill(parent, 0) == unix.EPERM
}

// begin starts the command, or says why not.
func begin(k keep) (pid int, end *ending) {
	path, err := lookPath(k.Argv[0], k.Env)
	if err == nil {
		pid, err = syscall.ForkExec(path, k.Argv, &syscall.ProcAttr{Dir: k.Dir, Env: k.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}})
		err = execError(k.Argv[0], err)
	}
	var nf notFound
	if errors.As(err, &nf) {
		return 0, &ending{NotFound: nf.Error(), Exit: nf.exit}
	}
	if err != nil {
		return 0, &ending{Failure: err.Error()}
	}
	return pid, nil
}

func waitFor(pid int) *ending {
	var st syscall.WaitStatus
	var ru syscall.Rusage
	for {
		if _, err := syscall.Wait4(pid, &st, 0, &ru); err != syscall.EINTR {
			break
		}
	}
	e := &ending{Exit: st.ExitStatus(), User: time.Duration(ru.Utime.Nano()), Sys: time.Duration(ru.Stime.Nano()), MaxRSS: ru.Maxrss} // in bytes here
	if st.Signaled() {
		e.Exit, e.Signal = -1, unix.SignalName(st.Signal())
	}
	return e
}

// sysKill is the number of kill, whose third argument the library does not let a caller choose.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/kern/syscalls.master
const sysKill = 37

// sweep kills everybody inside but this process. The call means "everybody that the caller may signal", and it was seen that this
// is nobody outside; its third argument keeps the caller itself out of it. Without a sandbox only the command's group is reached.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/kern/kern_sig.c (killpg1_allfilt)
func sweep(sealed bool, pid int) {
	if !sealed {
		_ = unix.Kill(-pid, unix.SIGKILL)
		return
	}
	for range 200 {
		_, _, errno := unix.Syscall(sysKill, ^uintptr(0), uintptr(unix.SIGKILL), 0)
		if errno != 0 { // nobody is left
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
