package proof

import (
	"bytes"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Namespace is what signatures of evidence are for, so that one made for another purpose is none.
const Namespace = "redraft-evidence"

// SignatureSuffix is added to a file's name for that of its signature.
const SignatureSuffix = ".sig"

// sigMagic begins a signature and what is signed. https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
const sigMagic = "SSHSIG"

const (
	sigBlock = "SSH SIGNATURE"
	sigHash  = "sha512"
	sigWidth = 70      // characters of a line, as ssh-keygen writes it
	mostSig  = 1 << 16 // bytes of a signature
	mostKey  = 1 << 16 // bytes of a key's file
	mostSigs = 1 << 20 // bytes of a file of signers
)

// Key signs admitted evidence. It is the publisher's alone.
type Key struct{ signer ssh.Signer }

// LoadKey reads a private SSH key without a passphrase, from a file that nobody else may read.
func LoadKey(file string) (*Key, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > mostKey {
		return nil, fmt.Errorf("read the signing key: %s is no key", file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read the signing key: others may read %s (mode %04o); chmod 600 it", file, info.Mode().Perm())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("read the signing key: %s has a passphrase, which nobody is there to type; use a key of its own without one", file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the signing key %s: %w", file, err)
	}
	return &Key{signer}, nil
}

// Fingerprint names the key, as in "SHA256:…".
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.signer.PublicKey()) }

// sigBlob is a signature without its magic.
type sigBlob struct {
	Version                                       uint32
	Key, Namespace, Reserved, HashAlgo, Signature string
}

// sigMessage is what is signed, without its magic.
type sigMessage struct{ Namespace, Reserved, HashAlgo, Hash string }

func signed(message []byte) []byte {
	sum := sha512.Sum512(message)
	return append([]byte(sigMagic), ssh.Marshal(sigMessage{Namespace, "", sigHash, string(sum[:])})...)
}

// Sign signs a message as `ssh-keygen -Y sign -n redraft-evidence` does.
func (k *Key) Sign(message []byte) ([]byte, error) {
	data := signed(message)
	sig, err := k.signer.Sign(rand.Reader, data)
	if s, ok := k.signer.(ssh.AlgorithmSigner); ok && k.signer.PublicKey().Type() == ssh.KeyAlgoRSA { // never with SHA-1
		sig, err = s.SignWithAlgorithm(rand.Reader, data, ssh.KeyAlgoRSASHA512)
	}
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return armored(sigBlob{1, string(k.signer.PublicKey().Marshal()), Namespace, "", sigHash, string(ssh.Marshal(sig))}), nil
}

// armored is a signature as it stands in a file.
func armored(b sigBlob) []byte {
	block := pem.EncodeToMemory(&pem.Block{Type: sigBlock, Bytes: append([]byte(sigMagic), ssh.Marshal(b)...)})
	lines := strings.Split(strings.TrimSpace(string(block)), "\n")
	body := strings.Join(lines[1:len(lines)-1], "")
	var out strings.Builder
	out.WriteString(lines[0] + "\n")
	for len(body) > sigWidth {
		out.WriteString(body[:sigWidth] + "\n")
		body = body[sigWidth:]
	}
	out.WriteString(body + "\n" + lines[len(lines)-1] + "\n")
	return []byte(out.String())
}

// Signed checks a signature of a message and returns the key that made it. Every byte of the signature counts.
func Signed(message, signature []byte) (ssh.PublicKey, error) {
	if len(signature) > mostSig {
		return nil, errors.New("it is too long for a signature")
	}
	block, _ := pem.Decode(signature)
	if block == nil || block.Type != sigBlock || !bytes.HasPrefix(block.Bytes, []byte(sigMagic)) {
		return nil, errors.New("it is no SSH signature")
	}
	var b sigBlob
	if err := ssh.Unmarshal(block.Bytes[len(sigMagic):], &b); err != nil {
		return nil, errors.New("it is no SSH signature")
	}
	if b.Version != 1 || b.Namespace != Namespace || b.HashAlgo != sigHash {
		return nil, fmt.Errorf("it is of version %d for %q with %q; wanted are 1, %q and %q", b.Version, clipped(b.Namespace), clipped(b.HashAlgo), Namespace, sigHash)
	}
	if !bytes.Equal(armored(b), signature) {
		return nil, errors.New("it is not written as a signature is")
	}
	key, err := ssh.ParsePublicKey([]byte(b.Key))
	if err != nil {
		return nil, errors.New("its key cannot be read")
	}
	var sig ssh.Signature
	if err := ssh.Unmarshal([]byte(b.Signature), &sig); err != nil || sig.Format == ssh.KeyAlgoRSA {
		return nil, errors.New("it is of a kind that proves nothing")
	}
	if err := key.Verify(signed(message), &sig); err != nil {
		return nil, errors.New("it is not a signature of these bytes")
	}
	return key, nil
}

func clipped(s string) string { return strings.ToValidUTF8(s[:min(len(s), 60)], "?") }

// Signers are the keys that an operator trusts, by name. https://man.openbsd.org/ssh-keygen#ALLOWED_SIGNERS
type Signers []allowed

type allowed struct {
	name        string
	key         []byte
	from, until time.Time // zero where there is no limit
}

// ReadSigners reads a file of allowed signers. Lines of authorities, and of keys for other purposes alone, are passed over.
func ReadSigners(file string) (Signers, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read the signers: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > mostSigs {
		return nil, fmt.Errorf("read the signers: %s is no list of them", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the signers: %w", err)
	}
	var all Signers
	for n, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, counts, err := readSigner(line)
		if err != nil {
			return nil, fmt.Errorf("read the signers: %s, line %d: %w", file, n+1, err)
		}
		if counts {
			all = append(all, one)
		}
	}
	return all, nil
}

// readSigner reads one line; counts is false for one that is of no use here.
func readSigner(line string) (one allowed, counts bool, err error) {
	name, rest, ok := strings.Cut(line, " ")
	if quoted, after, is := strings.Cut(strings.TrimPrefix(line, `"`), `"`); is && strings.HasPrefix(line, `"`) {
		name, rest = quoted, after
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if !ok || err != nil {
		return one, false, errors.New("not a name and a key")
	}
	one, counts = allowed{name: name, key: key.Marshal()}, true
	for _, o := range options {
		option, value, _ := strings.Cut(o, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(option) {
		case "cert-authority":
			counts = false
		case "namespaces":
			counts = counts && matches(value, Namespace)
		case "valid-after":
			one.from, err = signerTime(value)
		case "valid-before":
			one.until, err = signerTime(value)
		default:
			return one, false, fmt.Errorf("option %q is not known", clipped(option))
		}
		if err != nil {
			return one, false, err
		}
	}
	return one, counts, nil
}

// matches says whether a list of patterns, as ssh has them, takes a word: one that begins with ! refuses it.
func matches(list, word string) bool {
	found := false
	for _, p := range strings.Split(list, ",") {
		p, no := strings.CutPrefix(strings.TrimSpace(p), "!")
		if ok, err := path.Match(p, word); err != nil || !ok {
			continue
		}
		if no {
			return false
		}
		found = true
	}
	return found
}

// signerTime reads YYYYMMDD[HHMM[SS]][Z], local without the Z.
func signerTime(s string) (time.Time, error) {
	where := time.Local
	if rest, utc := strings.CutSuffix(s, "Z"); utc {
		s, where = rest, time.UTC
	}
	for _, form := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(form, s, where); err == nil && len(s) == len(form) {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", clipped(s))
}

// Name is whose key it is at a time, "" if nobody's.
func (all Signers) Name(key ssh.PublicKey, at time.Time) string {
	for _, one := range all {
		if bytes.Equal(one.key, key.Marshal()) && (one.from.IsZero() || !at.Before(one.from)) && (one.until.IsZero() || at.Before(one.until)) {
			return one.name
		}
	}
	return ""
}

// SignerOf checks the signature that lies beside a file of the evidence. key is nil when there is none; the error is a *Refusal.
func SignerOf(evidence fs.FS, name string) (key ssh.PublicKey, err error) {
	sig, err := fs.ReadFile(evidence, name+SignatureSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse("evidence_invalid", "%s: %v", name+SignatureSuffix, err)
	}
	b, err := fs.ReadFile(evidence, name)
	if err != nil {
		return nil, missing(err, name)
	}
	if key, err = Signed(b, sig); err != nil {
		return nil, refuse("evidence_tampered", "%s: %v", name+SignatureSuffix, err)
	}
	return key, nil
}
