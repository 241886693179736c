//go:build linux || darwin

package sandbox

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// wires are what one run is connected to the caller by: the command's streams, the order that keeps it alive as long as it is
// open, and the answer.
type wires struct {
	out, err capture

	life   *os.File      // closing it ends the command
	ending *os.File      // the shim's answer comes by it
	quiet  chan struct{} // closed when both streams have ended
	answer chan []byte   // the shim's, empty if it died without one
}

// pipes are open files that are closed together.
type pipes []*os.File

func (p pipes) close() {
	for _, f := range p {
		f.Close()
	}
}

// start connects a launcher and starts it. It gets the order's and the answer's pipe as the first two descriptors after the
// standard three, then files. ours are to be closed when all is over.
func (w *wires) start(cmd *exec.Cmd, stdin io.Reader, files []*os.File) (ours pipes, err error) {
	var theirs pipes
	defer func() {
		theirs.close()
		if err != nil {
			ours.close()
		}
	}()
	pair := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	inR, inW := pair()
	outR, outW := pair()
	errR, errW := pair()
	orderR, orderW := pair()
	endR, endW := pair()
	theirs, ours = pipes{inR, outW, errW, orderR, endW}, pipes{inW, outR, errR, orderW, endR}
	if err != nil {
		return ours, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = inR, outW, errW, append([]*os.File{orderR, endW}, files...)
	if err := cmd.Start(); err != nil {
		return ours, err
	}
	w.life, w.ending, w.quiet, w.answer = orderW, endR, make(chan struct{}), make(chan []byte, 1)
	go feed(inW, stdin)
	go w.collect(outR, errR)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(endR, 1<<20))
		w.answer <- b
	}()
	return ours, nil
}

// feed gives the command its input. A command that does not read all of it is no error.
func feed(w io.WriteCloser, r io.Reader) {
	if r != nil {
		_, _ = io.Copy(w, r)
	}
	w.Close()
}

func (w *wires) collect(stdout, stderr io.Reader) {
	done := make(chan struct{})
	go func() {
		w.out.fill(stdout)
		close(done)
	}()
	w.err.fill(stderr)
	<-done
	close(w.quiet)
}

// drain is over when all that was written is read. All writers are dead: what they left in the pipes is read by now or soon.
func (w *wires) drain(ours pipes) {
	select {
	case <-w.quiet:
	case <-time.After(lastWords):
		ours.close()
		<-w.quiet
	}
}

// lastWords is how long what the dead have said may take to arrive.
const lastWords = 2 * time.Second

// lastWord is the answer of a run that everything was done to end. Somebody may still hold its other end, another user's process
// perhaps: that is not waited for.
func (w *wires) lastWord() []byte {
	select {
	case a := <-w.answer:
		return a
	case <-time.After(lastWords):
		w.ending.Close()
		return <-w.answer
	}
}

// said is how a launcher ended, in its own words where it had any.
func said(state error, stderr []byte) string {
	text := "exit status 0"
	if state != nil {
		text = state.Error()
	}
	if first, _, _ := bytes.Cut(bytes.TrimSpace(stderr), []byte("\n")); len(first) > 0 {
		text += ": " + strings.ToValidUTF8(string(first[:min(len(first), 500)]), "?")
	}
	return text
}
