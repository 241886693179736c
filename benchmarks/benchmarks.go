// Package benchmarks holds cases: red checks of real projects, each with the repair that its own developers
// released. It makes a case into a repository on this machine and leaves solving it to the arms of its commands.
// No code of a case is kept here: a case is facts (names, versions, lists), and its code comes from the Go module
// proxy when a case is prepared.
package benchmarks

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed cases/gomodules/gomodules.json
var gomodules []byte

// GoCheck is the command that is red in every case of GoModules.
const GoCheck = "go test -vet=off ./..."

// listed is where the lists of red tests were cut.
const listed = 20

// Case is one red check: the good version of a module with some files of the bad one laid over it.
type Case struct {
	N       int      `json:"-"` // place in the set, from 0
	Module  string   `json:"module"`
	Bad     string   `json:"bad"`
	Good    string   `json:"good"`
	Files   []string `json:"files"`         // with slashes; "+file" is one that the bad version lacks
	Red     []string `json:"red"`           // ids of the failing tests, parents included, cut at 20
	Passing int      `json:"passing"`       // tests passing in the good version
	Lines   int      `json:"changed_lines"` // of the released repair
}

// GoModules are the cases of the set gomodules, in their order.
func GoModules() ([]Case, error) {
	var cases []Case
	if err := json.Unmarshal(gomodules, &cases); err != nil {
		return nil, fmt.Errorf("read cases/gomodules: %w", err)
	}
	for i := range cases {
		cases[i].N = i
	}
	return cases, nil
}

// SetHash names the set of cases that a report was made with: 12 hex digits over its file.
func SetHash() string {
	sum := sha256.Sum256(gomodules)
	return hex.EncodeToString(sum[:])[:12]
}

// String is the case for people, "7 github.com/goccy/go-yaml v1.19.0".
func (c Case) String() string { return fmt.Sprintf("%d %s %s", c.N, c.Module, c.Bad) }

// Reproduced says whether findings are this case's red: exactly its tests, or at least its tests where the list was cut.
// Findings leave out parents whose subtest failed, the list does not, so a listed test counts as found when it or a
// subtest of it is. The answer is empty when they match, else what differs, in words.
func (c Case) Reproduced(findings []string) (differs string) {
	var missing, extra []string
	for _, red := range c.Red {
		if !slices.ContainsFunc(findings, func(f string) bool { return covers(red, f) }) {
			missing = append(missing, red)
		}
	}
	for _, f := range findings {
		if len(c.Red) < listed && !slices.Contains(c.Red, f) {
			extra = append(extra, f)
		}
	}
	switch {
	case len(missing) > 0:
		return "not seen red: " + abridge(missing)
	case len(extra) > 0:
		return "red beyond the list: " + abridge(extra)
	case len(findings) == 0:
		return "nothing red"
	}
	return ""
}

// covers says whether finding is test, or a subtest of it.
func covers(test, finding string) bool {
	return finding == test || strings.HasPrefix(finding, test+"/")
}

func abridge(ids []string) string {
	if len(ids) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:3], ", "), len(ids)-3)
	}
	return strings.Join(ids, ", ")
}
