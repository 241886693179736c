package modeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Weights that the tests and benchmarks know, as files of the cache folder.
const (
	Small = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
	Big   = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
)

// Cache is the folder in which the real server and weights are looked for: $REDRAFT_MODELS, else redraft-models in the
// user's cache folder. Tests ask before they change HOME.
func Cache(getenv func(string) string) string {
	if dir := getenv("REDRAFT_MODELS"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "redraft-models")
	}
	return filepath.Join(getenv("HOME"), ".cache", "redraft-models")
}

// Missing says what of the real server and the given weights is not in the cache folder; empty if nothing.
func Missing(cache, weights string) string {
	for _, name := range []string{filepath.Join("llama-server", "bin", "llama-server"), weights} {
		if info, err := os.Stat(filepath.Join(cache, name)); err != nil || !info.Mode().IsRegular() {
			return "no " + name + " in the models' cache folder"
		}
	}
	return ""
}

// Child is a running llama-server.
type Child struct {
	url  string
	id   string
	stop context.CancelFunc
	gone chan struct{} // closed when the process has ended
	log  *tail
}

// Llama starts the real llama-server on a free loopback port with weights from the cache folder, and comes back when it is
// ready. The process ends with Close, with ctx, and with this process. Flags are added to
// "-ngl 0 -t 2 -c 8192 --device none"; a later flag wins.
func Llama(ctx context.Context, cache, weights string, flags ...string) (*Child, error) {
	if m := Missing(cache, weights); m != "" {
		return nil, fmt.Errorf("start llama-server: %s", m)
	}
	c, err := start(ctx, cache, weights, flags)
	for range 3 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, errPort) {
			break
		}
		c, err = start(ctx, cache, weights, flags)
	}
	return c, err
}

// URL is the base URL, ending in /v1.
func (c *Child) URL() string { return c.url + "/v1" }

// Root is the base URL without /v1.
func (c *Child) Root() string { return c.url }

// ID is the model's id: the name of its file without extension.
func (c *Child) ID() string { return c.id }

// Close kills the server and waits until it is gone. It may be called twice.
func (c *Child) Close() {
	c.stop()
	<-c.gone
}

func start(ctx context.Context, cache, weights string, flags []string) (*Child, error) {
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("start llama-server: %w", err)
	}
	id := strings.TrimSuffix(filepath.Base(weights), ".gguf")
	running, stop := context.WithCancel(ctx)
	c := &Child{url: "http://127.0.0.1:" + strconv.Itoa(port), id: id, stop: stop, gone: make(chan struct{}), log: &tail{}}
	bin := filepath.Join(cache, "llama-server", "bin")
	args := append([]string{"-m", filepath.Join(cache, weights), "--alias", id, "--device", "none", "-ngl", "0", "-t", "2",
		"-c", "8192", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--offline", "--no-ui"}, flags...)
	cmd := exec.CommandContext(running, filepath.Join(bin, "llama-server"), args...)
	cmd.Env = []string{"LD_LIBRARY_PATH=" + bin, "DYLD_LIBRARY_PATH=" + bin}
	cmd.Dir = bin
	cmd.Stdout, cmd.Stderr = c.log, c.log
	cmd.WaitDelay = 2 * time.Second
	dieWithUs(cmd)
	if err := runThread(cmd, c.gone); err != nil {
		stop()
		return nil, fmt.Errorf("start llama-server: %w", err)
	}
	if err := c.ready(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("start llama-server: %w", err)
	}
	return c, nil
}

// ready waits until the server says that it is well, for a minute at most.
func (c *Child) ready(ctx context.Context) error {
	deadline := time.After(time.Minute)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.gone:
			if c.log.has("bind") {
				return errPort
			}
			return fmt.Errorf("it ended: %s", c.log.last())
		case <-deadline:
			return errors.New("it was not ready within a minute")
		case <-time.After(50 * time.Millisecond):
		}
		if resp, err := loopback.Get(c.url + "/health"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// errPort is a port that somebody took between our choosing it and the server's binding it.
var errPort = errors.New("its port was taken")

var loopback = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// tail keeps the end of what the server writes.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - 8192; n > 0 {
		t.buf = bytes.Clone(t.buf[n:])
	}
	return len(p), nil
}

func (t *tail) has(word string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.buf, []byte(word))
}

// last is the last line, for an error.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.buf), []byte("\n"))
	return string(lines[len(lines)-1])
}
