// Command intake measures how long a signed webhook takes to be acknowledged, which is when it is on disk, over loopback
// against the real door and the real queue. It leaves deciding to nobody: the handler does nothing. Milliseconds are
// of one machine and disk; the ratio is to a bare append and fsync of the same bytes, taken in the same run.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/bot/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// load is what is sent.
type load struct {
	rate    int           // deliveries a second
	seconds time.Duration // how long
	bytes   int           // of a payload
	dir     string        // the disk
}

// run is the program. Exit: 0 measured, 1 a delivery was not stored or not handled, 2 usage, 3 not measured.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var l load
	fl := flag.NewFlagSet("intake", flag.ContinueOnError)
	fl.SetOutput(stderr)
	fl.IntVar(&l.rate, "rate", 200, "deliveries a second")
	seconds := fl.Float64("seconds", 10, "how long")
	fl.IntVar(&l.bytes, "bytes", 20<<10, "size of a payload")
	fl.StringVar(&l.dir, "dir", "", "folder on the disk to measure; the system's for temporary files if empty")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	l.seconds = time.Duration(*seconds * float64(time.Second))
	if fl.NArg() > 0 || l.rate < 1 || l.rate > 10000 || l.seconds <= 0 || l.bytes < 40 || l.bytes > 20<<20 {
		fmt.Fprintln(stderr, "intake: --rate is 1 to 10000, --seconds more than 0, --bytes 40 to 20 MiB, and nothing follows")
		return 2
	}
	dir, err := os.MkdirTemp(l.dir, "redraft-intake-")
	if err != nil {
		fmt.Fprintln(stderr, "intake:", err)
		return 3
	}
	defer os.RemoveAll(dir)
	line, ok, err := measure(ctx, dir, l)
	if err != nil {
		fmt.Fprintln(stderr, "intake:", err)
		return 3
	}
	fmt.Fprintln(stdout, line)
	if !ok {
		return 1
	}
	return 0
}

const secret = "of-the-benchmark-alone"

// measure starts the door, sends the load, and reads what came of it. ok says that everything was stored and handled.
func measure(ctx context.Context, dir string, l load) (line string, ok bool, err error) {
	q, err := queue.Open(ctx, queue.Options{Path: filepath.Join(dir, "queue.db")})
	if err != nil {
		return "", false, err
	}
	defer q.Close(context.WithoutCancel(ctx))
	none := queue.Handlers{
		Delivery: func(context.Context, queue.Delivery) error { return nil },
		Job:      func(context.Context, queue.Job) error { return nil },
	}
	if err := q.Run(ctx, none); err != nil {
		return "", false, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", false, err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- (&web.Server{Queue: q, Secrets: []string{secret}}).Serve(serving, listener) }()

	before, err := appends(dir, l, 100)
	if err != nil {
		return "", false, err
	}
	times, failed := send(ctx, "http://"+listener.Addr().String()+"/webhook", l)
	after, err := appends(dir, l, 100)
	if err != nil {
		return "", false, err
	}
	stop()
	if err := errors.Join(<-served, ctx.Err()); err != nil {
		return "", false, err
	}
	s, err := settle(ctx, q)
	if err != nil {
		return "", false, err
	}
	return report(l, times, append(before, after...), failed, s), failed == 0 && s.Deliveries == len(times) && s.Unhandled == 0, nil
}

// send sends at the times the rate gives, whether or not earlier ones are answered, so that a stall shows in every
// delivery that it held up. A time is from when a delivery was due until it was acknowledged.
func send(ctx context.Context, url string, l load) (times []time.Duration, failed int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	times = make([]time.Duration, int(float64(l.rate)*l.seconds.Seconds()))
	bad := make([]bool, len(times))
	var sends sync.WaitGroup
	start := time.Now()
	for i := range times {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(l.rate))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			sends.Wait()
			return times[:i], len(times) - i
		}
		sends.Go(func() {
			bad[i] = one(ctx, client, url, i, payload(i, l.bytes)) != nil
			times[i] = time.Since(due)
		})
	}
	sends.Wait()
	for _, b := range bad {
		if b {
			failed++
		}
	}
	return times, failed
}

func payload(i, size int) []byte {
	head := fmt.Sprintf(`{"n":%d,"pad":"`, i)
	return []byte(head + strings.Repeat("x", max(0, size-len(head)-2)) + `"}`)
}

func one(ctx context.Context, client *http.Client, url string, i int, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	r.Header.Set("X-GitHub-Event", "check_run")
	r.Header.Set("X-GitHub-Delivery", fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	if resp.StatusCode != http.StatusAccepted {
		return errors.New(resp.Status)
	}
	return nil
}

// appends is the baseline: the payload appended to a file, and fsync.
func appends(dir string, l load, n int) (times []time.Duration, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "append"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body := payload(0, l.bytes)
	for range n {
		start := time.Now()
		if _, err := f.Write(body); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// settle waits until every delivery is handled, for a minute at most.
func settle(ctx context.Context, q *queue.Queue) (s queue.Stats, err error) {
	for range 600 {
		if s, err = q.Stats(ctx); err != nil || s.Unhandled == 0 {
			return s, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return s, nil
}

func report(l load, times, bare []time.Duration, failed int, s queue.Stats) string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	median, base := quantile(times, 0.5), quantile(bare, 0.5)
	return fmt.Sprintf("intake: %d deliveries of %d bytes at %d/s: acknowledged on disk after median %.2f ms, p99 %.2f ms, most %.2f ms; "+
		"bare append and fsync median %.2f ms, p99 %.2f ms (ratio of medians %.1f); %d not stored, %d stored, %d unhandled",
		len(times), l.bytes, l.rate, ms(median), ms(quantile(times, 0.99)), ms(quantile(times, 1)), ms(base), ms(quantile(bare, 0.99)),
		float64(median)/float64(base), failed, s.Deliveries, s.Unhandled)
}

// quantile is the time that this share of all stay within; 0 of none.
func quantile(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
