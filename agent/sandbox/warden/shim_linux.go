package warden

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// init takes this process over where it was started for that. A program's packages begin in the order of their names, as soon
// as what they import has begun, and most would be work for nothing here; see https://go.dev/ref/spec#Program_initialization.
func init() {
	if args := os.Args; len(args) >= 2 && args[len(args)-1] == Marker {
		syscall.Exit(serve()) // at once: nothing is to be run at the end, and a race detector would wait for a second
	}
}

// serve watches over one command. Its exit status says only whether it could answer.
func serve() int {
	w := &warden{kill: make(chan string, 8), empty: make(chan struct{}), sweep: make(chan struct{})}
	answer := os.NewFile(EndingFD, "ending")
	in := bufio.NewReader(os.NewFile(OrderFD, "order"))
	end := w.serve(in)
	if err := json.NewEncoder(answer).Encode(end); err != nil {
		return 125
	}
	return 0
}

// warden watches over one command.
type warden struct {
	order    Order
	main     int           // the command's process
	refused  *refusals     // nil without a filter
	kill     chan string   // reasons to end it: a limit's name, or "" when the caller wants no more
	empty    chan struct{} // closed when every descendant has been reaped
	sweep    chan struct{} // asks the confined thread to kill its whole Landlock domain
	canSweep bool          // it was seen that this thread's signals reach nothing outside the domain

	mu     sync.Mutex // guards what the reaper found
	status syscall.WaitStatus
	usage  syscall.Rusage
	total  struct{ user, sys time.Duration }
	ended  time.Time
}

func (w *warden) serve(in *bufio.Reader) Ending {
	if err := w.prepare(in); err != nil {
		return Ending{Failure: err.Error()}
	}
	start := time.Now()
	path, err := lookPath(w.order)
	if err == nil {
		err = w.start(path)
	}
	var nf notFound
	if errors.As(err, &nf) {
		return Ending{NotFound: nf.Error(), Exit: nf.exit, Wall: time.Since(start)}
	}
	if err != nil {
		return Ending{Failure: err.Error()}
	}
	done := make(chan struct{})
	go w.reap(done)
	go w.listen(in)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go w.watch(ctx, start)
	limit := w.await(done, start)
	forks := refusedForks(w.order.Count)
	w.killAll()
	end := w.ending(start, limit)
	end.Forks = forks
	return end
}

// prepare reads the order and makes this process fit to hold untrusted ones.
func (w *warden) prepare(in *bufio.Reader) error {
	if err := closeOnExec(3); err != nil {
		return err
	}
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if err := json.Unmarshal(line, &w.order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	// What the command starts cannot look into this process, nor read its memory under /proc.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become undumpable: %w", err)
	}
	if w.order.Tier != Bubblewrap { // there this is process 1 of its own namespace, to which all orphans fall
		if _, err := unix.Setsid(); err != nil {
			return fmt.Errorf("leave the session: %w", err)
		}
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("adopt orphans: %w", err)
		}
	} else if os.Getpid() != 1 {
		return errors.New("the shim is not process 1 of its namespace")
	}
	unix.Umask(0o022)
	haveThreads(w.order.Spare)
	signal.Notify(make(chan os.Signal, 1), deadly...)
	if err := handOut(w.order); err != nil {
		return err
	}
	return setLimits(w.order)
}

// haveThreads makes n threads and leaves them to the runtime, which keeps what it has.
func haveThreads(n int) {
	var up, work sync.WaitGroup
	up.Add(n)
	for range n {
		work.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			up.Done()
			up.Wait()
		})
	}
	work.Wait()
}

// deadly are the signals that would end or stop a Go program. Those that the command sends to this process are taken and
// dropped; ignored ones would be inherited. Each takes the runtime some 40 microseconds, so that the harmless are left out.
var deadly = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE,
	unix.SIGSEGV, unix.SIGTERM, unix.SIGSTKFLT, unix.SIGSYS, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}

func setLimits(o Order) error {
	for _, l := range []struct {
		what  int
		value uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NOFILE, 65536}, {unix.RLIMIT_FSIZE, uint64(o.Disk)}} {
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

// closeOnExec keeps every descriptor from first up out of the programs that this process starts.
func closeOnExec(first uint) error {
	err := unix.CloseRange(first, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	fds, err := os.ReadDir("/proc/self/fd") // kernels before 5.11
	if err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, e := range fds {
		var fd uint
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= first {
			unix.CloseOnExec(int(fd))
		}
	}
	return nil
}

// start confines a thread of its own and starts the command from it: what a thread is denied, its children are
// denied, and the other threads keep their rights. The thread lives as long as this process, since the command dies
// with it.
func (w *warden) start(path string) error {
	type started struct {
		pid int
		err error
	}
	out := make(chan started)
	go func() {
		runtime.LockOSThread()
		if err := w.join(); err != nil {
			out <- started{err: err}
			return
		}
		if err := w.confine(); err != nil {
			out <- started{err: err}
			return
		}
		pid, err := syscall.ForkExec(path, w.order.Argv, &syscall.ProcAttr{
			Dir: w.order.Dir, Env: w.order.Env, Files: []uintptr{0, 1, 2},
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		})
		out <- started{pid, execError(w.order.Argv[0], err)}
		w.sweepThread()
	}()
	s := <-out
	w.main = s.pid
	return s.err
}

// refusedForks reads a count in the form of the file pids.events.
func refusedForks(fd int) (n int64) {
	buf := make([]byte, 128)
	if got, err := unix.Pread(fd, buf, 0); fd > 0 && err == nil {
		_, _ = fmt.Sscanf(string(buf[:got]), "max %d", &n)
	}
	return n
}

// join puts the calling thread into the control groups that the caller opened for it.
func (w *warden) join() error {
	for _, fd := range w.order.Join {
		if _, err := unix.Write(fd, []byte("0")); err != nil {
			return fmt.Errorf("join the control group: %w", err)
		}
		unix.Close(fd)
	}
	return nil
}

// confine applies the tier to the calling thread.
func (w *warden) confine() error {
	if w.order.Tier == Unconfined {
		return nil
	}
	if err := dropThread(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if w.order.Tier == Landlock {
		abi, err := LandlockABI()
		if err != nil {
			return err
		}
		if err := landlockThread(abi, w.order.Grants); err != nil {
			return err
		}
		w.canSweep = abi >= 6 && os.Getppid() > 1 && sealed(os.Getppid())
	}
	calls := refused(w.order.Tier, w.order.Loopback)
	listener, err := filterThread(calls)
	if err != nil {
		return err
	}
	w.refused = newRefusals(calls)
	w.refused.alone = w.order.Tier == Bubblewrap && w.order.Loopback
	go w.refused.serve(listener)
	return nil
}

// notFound is a program that could not be executed, as a shell would say it.
type notFound struct {
	name string
	why  string
	exit int
}

func (n notFound) Error() string { return fmt.Sprintf("redraft: %s: %s", n.name, n.why) }

func execError(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOENT):
		return notFound{name, "no such program, or its interpreter is missing", 127}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return notFound{name, "permission denied", 126}
	case errors.Is(err, syscall.ENOEXEC):
		return notFound{name, "not a program of this machine", 126}
	case errors.Is(err, syscall.E2BIG):
		return notFound{name, "argument list too long", 126}
	}
	return fmt.Errorf("start the command: %w", err)
}

// lookPath finds the program in the PATH of the command's own environment.
func lookPath(o Order) (string, error) {
	name := o.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	var list string
	for _, kv := range o.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	denied := false
	for _, dir := range strings.Split(list, ":") {
		if !path.IsAbs(dir) { // a relative entry would find what the repository planted
			continue
		}
		file := path.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() {
			if fi.Mode()&0o111 != 0 {
				return file, nil
			}
			denied = true
		}
	}
	if denied {
		return "", notFound{name, "permission denied", 126}
	}
	return "", notFound{name, "command not found", 127}
}

// listen waits for the end of the order's stream: the caller is gone or wants no more. A line before that names the limit
// for which the command must end.
func (w *warden) listen(in *bufio.Reader) {
	if limit, err := in.ReadString('\n'); err == nil {
		w.stop(strings.TrimSpace(limit))
	}
	_, _ = io.Copy(io.Discard, in)
	w.stop("")
}

func (w *warden) stop(reason string) {
	select {
	case w.kill <- reason:
	default:
	}
}

// await is over when the command ended by itself or must end; it returns the limit that is to blame.
func (w *warden) await(done <-chan struct{}, start time.Time) string {
	wall := time.NewTimer(time.Until(start.Add(w.order.Wall)))
	defer wall.Stop()
	select {
	case <-done:
		return ""
	case limit := <-w.kill:
		return limit
	case <-wall.C:
		return "wall"
	}
}

// reap collects every child that there is or that falls to this process, until none is left. done is closed when
// the command itself has ended.
func (w *warden) reap(done chan<- struct{}) {
	for {
		var st syscall.WaitStatus
		var ru syscall.Rusage
		pid, err := syscall.Wait4(-1, &st, 0, &ru)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			close(w.empty)
			return
		}
		w.mu.Lock()
		w.total.user += time.Duration(ru.Utime.Nano())
		w.total.sys += time.Duration(ru.Stime.Nano())
		w.usage.Maxrss = max(w.usage.Maxrss, ru.Maxrss)
		if pid == w.main {
			w.status, w.ended = st, time.Now()
			close(done)
		}
		w.mu.Unlock()
	}
}

// ending is the answer once all is quiet.
func (w *warden) ending(start time.Time, limit string) Ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := Ending{
		Exit: w.status.ExitStatus(), Limit: limit, Wall: w.ended.Sub(start), User: w.total.user, Sys: w.total.sys,
		MaxRSS: w.usage.Maxrss << 10,
	}
	if w.status.Signaled() {
		e.Exit, e.Signal = -1, unix.SignalName(w.status.Signal())
		if w.status.Signal() == syscall.SIGXFSZ && limit == "" {
			e.Limit = "disk"
		}
	}
	if w.refused != nil {
		e.Refused, e.Egress = w.refused.list(), w.refused.attempts()
	}
	return e
}
