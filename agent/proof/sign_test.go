package proof

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// keyFile writes a new private key of a kind.
func keyFile(t *testing.T, kind string) string {
	t.Helper()
	var key any
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func loaded(t *testing.T, file string) *Key {
	t.Helper()
	k, err := LoadKey(file)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestSignBesideSSHKeygen: ssh-keygen takes our signatures, and we take its.
func TestSignBesideSSHKeygen(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("REFUSED: there is no ssh-keygen")
	}
	message := []byte("what is signed\n")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			file := keyFile(t, kind)
			k, dir := loaded(t, file), t.TempDir()
			sig, err := k.Sign(message)
			if err != nil {
				t.Fatal(err)
			}
			signers := "who@example.com namespaces=\"git,redraft-*\" " + string(ssh.MarshalAuthorizedKey(k.signer.PublicKey()))
			for name, b := range map[string][]byte{"sig": sig, "signers": []byte(signers), "m": message} {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			verify := exec.Command(keygen, "-Y", "verify", "-f", "signers", "-I", "who@example.com", "-n", Namespace, "-s", "sig")
			verify.Dir, verify.Stdin = dir, strings.NewReader(string(message))
			if out, err := verify.CombinedOutput(); err != nil {
				t.Errorf("ssh-keygen does not take ours: %v: %s", err, out)
			}
			sign := exec.Command(keygen, "-Y", "sign", "-f", file, "-n", Namespace, "m")
			sign.Dir = dir
			if out, err := sign.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			theirs, err := os.ReadFile(filepath.Join(dir, "m.sig"))
			if err != nil {
				t.Fatal(err)
			}
			key, err := Signed(message, theirs)
			if err != nil {
				t.Fatalf("we do not take theirs: %v", err)
			}
			all, err := ReadSigners(filepath.Join(dir, "signers"))
			if err != nil || all.Name(key, time.Now()) != "who@example.com" {
				t.Errorf("got %q, %v", all.Name(key, time.Now()), err)
			}
		})
	}
}

// TestSignatureBytes: no byte of a signature can be touched, and it is of one message and one purpose.
func TestSignatureBytes(t *testing.T) {
	k := loaded(t, keyFile(t, "ed25519"))
	message := []byte("m")
	sig, err := k.Sign(message)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := Signed(message, sig); err != nil || ssh.FingerprintSHA256(key) != k.Fingerprint() {
		t.Fatalf("untouched: %v", err)
	}
	for i := range sig {
		sig[i] ^= 1
		if _, err := Signed(message, sig); err == nil {
			t.Errorf("byte %d may be touched", i)
		}
		sig[i] ^= 1
	}
	for name, text := range map[string]string{"longer": string(sig) + "\n", "before": "x\n" + string(sig), "empty": "", "cut": string(sig[:len(sig)/2]), "huge": strings.Repeat("A", mostSig+1)} {
		if _, err := Signed(message, []byte(text)); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := Signed([]byte("n"), sig); err == nil {
		t.Error("it is taken for another message")
	}
	other := armored(sigBlob{1, string(k.signer.PublicKey().Marshal()), "git", "", sigHash, ""})
	if _, err := Signed(message, other); err == nil || !strings.Contains(err.Error(), `"git"`) {
		t.Errorf("for another purpose: %v", err)
	}
}

// TestSigners: a key is somebody's by the list alone, and only while the list says so.
func TestSigners(t *testing.T) {
	k := loaded(t, keyFile(t, "ed25519"))
	public := string(ssh.MarshalAuthorizedKey(k.signer.PublicKey()))
	other := string(ssh.MarshalAuthorizedKey(loaded(t, keyFile(t, "ed25519")).signer.PublicKey()))
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct{ line, want, bad string }{
		{"a@example.com " + public, "a@example.com", ""},
		{"a@example.com " + other, "", ""},
		{`"a b" ` + public, "a b", ""},
		{"# nothing\n\na " + public, "a", ""},
		{"a namespaces=\"git\" " + public, "", ""},
		{"a namespaces=\"*,!redraft-evidence\" " + public, "", ""},
		{"a cert-authority " + public, "", ""},
		{"a valid-after=\"20260601Z\",valid-before=\"202606011201Z\" " + public, "a", ""},
		{"a valid-after=\"20260602Z\" " + public, "", ""},
		{"a valid-before=\"20260601120000Z\" " + public, "", ""},
		{"a valid-before=\"soon\" " + public, "", "line 1"},
		{"a touch-required " + public, "", "touch-required"},
		{"\na", "", "line 2"},
	} {
		file := filepath.Join(t.TempDir(), "signers")
		if err := os.WriteFile(file, []byte(row.line), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := ReadSigners(file)
		if row.bad != "" {
			if err == nil || !strings.Contains(err.Error(), row.bad) {
				t.Errorf("%q: got %v, want an error with %q", row.line, err, row.bad)
			}
			continue
		}
		if got := all.Name(k.signer.PublicKey(), at); err != nil || got != row.want {
			t.Errorf("%q: got %q, %v; want %q", row.line, got, err, row.want)
		}
	}
}

func TestLoadKey(t *testing.T) {
	file := keyFile(t, "ed25519")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("of a key that others may read: %v", err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.WriteFile(locked, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(locked); err == nil || !strings.Contains(err.Error(), "passphrase") {
		t.Errorf("of a locked key: %v", err)
	}
	if _, err := LoadKey(t.TempDir()); err == nil {
		t.Error("a folder is taken for a key")
	}
}
