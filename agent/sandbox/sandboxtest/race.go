//go:build unix

package sandboxtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// testSwaps has something exchange files and folders for links to a secret, as fast as it can, while the host harvests.
// A host that looks first and opens then is seen to be deceived; Harvest never is. It also reads the honest file often
// enough that the race was one.
func testSwaps(t *testing.T, tally *tally) {
	for _, s := range []struct{ what, name string }{{"a file", "report"}, {"a folder", "out/report"}} {
		tally.run(t, "E21", s.what+" for a link", func(t *testing.T) {
			dir, secret := t.TempDir(), t.TempDir()
			must(t, os.WriteFile(filepath.Join(secret, "report"), []byte("secret"), 0o600))
			stop := swap(t, dir, secret, s.name == "report")
			defer stop()
			if !deceived(filepath.Join(dir, s.name), 5*time.Second) {
				tally.refuse(t, "E21", "nobody lost the race on this machine, not even who looks before opening")
			}
			honest := 0
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
				b, err := sandbox.Harvest(dir, s.name, 100)
				if bytes.Contains(b, []byte("secret")) {
					t.Fatal("the secret was harvested")
				}
				if err == nil {
					honest++
				}
			}
			if honest == 0 {
				t.Error("the honest file was never harvested")
			}
		})
	}
}

// deceived looks at a name, finds a plain file below plain folders, and opens it: until it reads the secret.
func deceived(path string, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); {
		up, err := os.Lstat(filepath.Dir(path))
		if err != nil || !up.IsDir() {
			continue
		}
		if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if b, err := os.ReadFile(path); err == nil && string(b) == "secret" {
			return true
		}
	}
	return false
}

// swap lets the name "report", or the folder "out" that holds it, be honest and a link in turn, until it is stopped.
func swap(t *testing.T, dir, secret string, file bool) (stop func()) {
	t.Helper()
	name, honest, link := "out", filepath.Join(dir, "honest"), filepath.Join(dir, "link")
	target := secret
	if file {
		name, target = "report", filepath.Join(secret, "report")
		must(t, os.WriteFile(honest, []byte("honest"), 0o600))
	} else {
		must(t, os.Mkdir(honest, 0o700))
		must(t, os.WriteFile(filepath.Join(honest, "report"), []byte("honest"), 0o600))
	}
	must(t, os.Symlink(target, link))
	place, quit, done := filepath.Join(dir, name), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			for _, from := range []string{honest, link} {
				_ = os.Rename(from, place)
				_ = os.Rename(place, from)
			}
		}
	}()
	return func() { close(quit); <-done }
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
