package githubtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"time"
)

// authority is a throw-away one and the certificate that it signed. Its key is forgotten at once.
type authority struct {
	pool *x509.CertPool
	leaf tls.Certificate
}

// newAuthority makes one for this machine's loopback and writes its certificate to a file.
func newAuthority(file string) (*authority, error) {
	root, rootKey, err := certificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: "githubtest, for this run only"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	leaf, leafKey, err := certificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: "githubtest"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}, root, rootKey)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	a := &authority{pool: x509.NewCertPool(), leaf: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}}
	a.pool.AddCert(root)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("write the authority: %w", err)
	}
	return a, nil
}

// certificate fills a template for two days and has it signed; by itself if there is no parent.
func certificate(t, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if parent == nil {
		parent, by = t, key
	}
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	t.NotBefore, t.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(48*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, by)
	if err != nil {
		return nil, nil, err
	}
	c, err := x509.ParseCertificate(der)
	return c, key, err
}

// appKey is made once a process: it takes longer than all the rest of a server.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// AppKey is the App's private key, PEM, as GitHub lets it be downloaded.
func (s *Server) AppKey() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key)})
}
