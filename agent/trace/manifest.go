package trace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// ManifestVersion is the version of manifest.json that this program writes. Version 1, which has no sum, is read as well.
const ManifestVersion = 2

// SignatureFile is the signature of manifest.json, if it has one.
const SignatureFile = ManifestFile + ".sig"

const maxManifest = 64 << 20

// Codes of what can be wrong with evidence.
const (
	EvidenceMissing  = "evidence_missing"  // a file that the manifest names is not there
	EvidenceTampered = "evidence_tampered" // a file, or the manifest, is not what it was
	EvidenceExtra    = "evidence_extra"    // a file that the manifest does not name
)

// Problem is one way in which evidence is not what its manifest says.
type Problem struct {
	Code string `json:"code"`
	Path string `json:"path"` // within the evidence, forward slashes
	Text string `json:"text"`
}

// Manifest is manifest.json: every file of the evidence but itself and its signature, sorted by path.
type Manifest struct {
	SchemaVersion int            `json:"schema_version"`
	Files         []ManifestFact `json:"files"`
	Sum           string         `json:"sum,omitempty"` // sha256 of this file as it would be without a sum
}

// ManifestFact is one file as it was.
type ManifestFact struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// unlisted says which files no manifest lists: itself, and what is made of it.
func unlisted(name string) bool { return name == ManifestFile || name == SignatureFile }

// sum is what Sum is to be.
func (m Manifest) sum() (string, error) {
	m.Sum = ""
	b, err := m.bytes()
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

func (m Manifest) bytes() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

func writeManifest(dir string) error {
	fsys := os.DirFS(dir)
	m := Manifest{SchemaVersion: ManifestVersion, Files: []ManifestFact{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || unlisted(name) {
			return err
		}
		fact, err := factOf(fsys, name)
		m.Files = append(m.Files, fact)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	sortFacts(m.Files)
	if m.Sum, err = m.sum(); err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	b, err := m.bytes()
	if err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if err := remove(dir, SignatureFile); err != nil { // it was of another list
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return writeFile(dir, ManifestFile, b)
}

func factOf(fsys fs.FS, name string) (ManifestFact, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return ManifestFact{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return ManifestFact{}, fmt.Errorf("hash %s: %w", name, err)
	}
	return ManifestFact{Path: name, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// VerifyManifest holds an evidence directory to its manifest. Problems are sorted by path; none means that every byte
// is as it was. An error is our side's: a file could not be read.
func VerifyManifest(dir fs.FS) ([]Problem, error) {
	m, problem, err := readManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("verify evidence: %w", err)
	}
	if problem != nil {
		return []Problem{*problem}, nil
	}
	there, problems, err := listFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("verify evidence: %w", err)
	}
	for _, want := range m.Files {
		p, err := holdTo(dir, want, there)
		if err != nil {
			return nil, fmt.Errorf("verify evidence: %w", err)
		}
		if p != nil {
			problems = append(problems, *p)
		}
		delete(there, want.Path)
	}
	delete(there, CancelFile) // anyone may leave that marker at any time; one that was there is listed
	for name := range there {
		problems = append(problems, Problem{EvidenceExtra, name, "the manifest does not name it"})
	}
	sortProblems(problems)
	return problems, nil
}

// readManifest returns the manifest, or the problem that makes it worthless. It must stand there byte for byte as this
// program writes it.
func readManifest(dir fs.FS) (Manifest, *Problem, error) {
	tampered := func(text string) (Manifest, *Problem, error) {
		return Manifest{}, &Problem{EvidenceTampered, ManifestFile, text}, nil
	}
	f, err := dir.Open(ManifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, &Problem{EvidenceMissing, ManifestFile, "there is no manifest"}, nil
	}
	if err != nil {
		return Manifest{}, nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Manifest{}, nil, err
	}
	var m Manifest
	if len(b) > maxManifest || json.Unmarshal(b, &m) != nil {
		return tampered("it is no manifest")
	}
	if m.SchemaVersion < 1 || m.SchemaVersion > ManifestVersion {
		return tampered(fmt.Sprintf("its version is %d, this program reads %d", m.SchemaVersion, ManifestVersion))
	}
	if again, err := m.bytes(); err != nil || !bytes.Equal(b, again) {
		return tampered("it is not written as a manifest is")
	}
	if sum, err := m.sum(); err != nil || m.SchemaVersion > 1 && m.Sum != sum || m.SchemaVersion == 1 && m.Sum != "" {
		return tampered("its own bytes are not what they were")
	}
	if !wellFormed(m.Files) {
		return tampered("it names a file twice, out of order, or outside the evidence")
	}
	return m, nil, nil
}

func wellFormed(facts []ManifestFact) bool {
	for i, f := range facts {
		if !fs.ValidPath(f.Path) || f.Path != path.Clean(f.Path) || unlisted(f.Path) {
			return false
		}
		if i > 0 && facts[i-1].Path >= f.Path {
			return false
		}
	}
	return facts != nil
}

// listFiles is every regular file that a manifest should name. What is no regular file has no place in evidence.
func listFiles(dir fs.FS) (map[string]bool, []Problem, error) {
	there := map[string]bool{}
	var problems []Problem
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case !d.Type().IsRegular():
			problems = append(problems, Problem{EvidenceExtra, name, "it is no regular file"})
		case !unlisted(name):
			there[name] = true
		}
		return nil
	})
	return there, problems, err
}

func holdTo(dir fs.FS, want ManifestFact, there map[string]bool) (*Problem, error) {
	if !there[want.Path] {
		return &Problem{EvidenceMissing, want.Path, "the manifest names it"}, nil
	}
	info, err := fs.Stat(dir, want.Path)
	if err != nil {
		return nil, err
	}
	if info.Size() != want.Size {
		return &Problem{EvidenceTampered, want.Path, fmt.Sprintf("%d bytes where %d were", info.Size(), want.Size)}, nil
	}
	got, err := factOf(dir, want.Path)
	if err != nil {
		return nil, err
	}
	if got != want {
		return &Problem{EvidenceTampered, want.Path, "its bytes are not what they were"}, nil
	}
	return nil, nil
}

func sortFacts(facts []ManifestFact) {
	slices.SortFunc(facts, func(a, b ManifestFact) int { return strings.Compare(a.Path, b.Path) })
}

func sortProblems(problems []Problem) {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Code, b.Code))
	})
}
