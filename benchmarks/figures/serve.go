package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	goalStart = 200 * time.Millisecond // from exec to a server that is ready
	goalRSS   = 40                     // MiB of an idle one
	starts    = 7
)

// serve measures how long redraft serve takes until it is ready, on a queue that is there, and what it holds when it idles. Both are
// goals, not limits. Beside them stands the program's own start (redraft --version) in the same run.
func (b *bench) serve(ctx context.Context) (bool, error) {
	address, err := b.serverConfig()
	if err != nil {
		return false, err
	}
	var ready, bare []time.Duration
	var rss int
	for i := range starts {
		took, idle, err := b.serveOnce(ctx, address, i == starts-1)
		if err != nil {
			return false, err
		}
		ready, rss = append(ready, took), max(rss, idle)
		cmd, err := b.command(ctx, b.dir, "--version")
		if err != nil {
			return false, err
		}
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return false, err
		}
		bare = append(bare, time.Since(start))
	}
	slices.Sort(ready)
	slices.Sort(bare)
	median, own := ready[len(ready)/2], bare[len(bare)/2]
	fmt.Fprintf(b.out, "serve ready in %.0f ms (goal %.0f), %.1f times redraft --version's %.0f ms (median of %d); idle %d MiB resident (goal %d)\n",
		ms(median), ms(goalStart), ms(median)/ms(own), ms(own), starts, rss, goalRSS)
	return true, nil
}

// serverConfig writes a configuration of an App that nobody has, and finds a free port.
func (b *bench) serverConfig() (address string, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address = l.Addr().String()
	dir := filepath.Join(b.dir, "config", "redraft")
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	config := fmt.Sprintf("github: {app-id: 1, private-key-file: %q, webhook-secret-files: [%q]}\nserve: {listen: %q}\n", filepath.Join(dir, "key"), filepath.Join(dir, "hook"), address)
	err = errors.Join(l.Close(), os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "key"), pemKey, 0o600),
		os.WriteFile(filepath.Join(dir, "hook"), []byte(rand.Text()), 0o600), os.WriteFile(filepath.Join(dir, "config.yml"), []byte(config), 0o600))
	return address, err
}

// serveOnce starts the server and stops it: how long until it was ready, and if asked what it holds after a while, in MiB.
func (b *bench) serveOnce(ctx context.Context, address string, rest bool) (took time.Duration, rss int, err error) {
	cmd, err := b.command(ctx, b.dir, "serve")
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err = errors.Join(err, cmd.Wait())
	}()
	for {
		if resp, err := http.Get("http://" + address + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Since(start) > 20*time.Second {
			return 0, 0, errors.New("the server is not ready after 20 s")
		}
		time.Sleep(2 * time.Millisecond)
	}
	took = time.Since(start)
	if rest {
		time.Sleep(5 * time.Second)
		rss = resident(cmd.Process.Pid)
	}
	return took, rss, nil
}

// resident is a process's resident memory in MiB, 0 where /proc does not tell.
func resident(pid int) (mib int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib >> 10
		}
	}
	return 0
}
