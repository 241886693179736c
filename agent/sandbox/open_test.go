package sandbox

import (
	"runtime"
	"strings"
	"testing"
)

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  Options
		want string
	}{
		{"unconfined without a word", Options{Tier: Unconfined}, "must be allowed by name"},
		{"unknown tier", Options{Tier: "jail"}, "--sandbox none"},
		{"no such folder", Options{TmpDir: "/no/such/folder"}, "no such file"},
		{"no such shim", Options{Shim: []string{"/no/such/shim"}}, "bubblewrap: "},
		{"a shim that is none", Options{Shim: []string{"/bin/true"}}, "--sandbox none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && tt.opt.Shim != nil {
				tt.want = strings.Replace(tt.want, "bubblewrap: ", "seatbelt: ", 1)
			}
			box, err := Open(tt.opt)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, error %v, want one that says %q", box, err, tt.want)
			}
		})
	}
}

// TestOpenTakesTheStrongest: the tier that is opened unasked is the first that can be opened by name.
func TestOpenTakesTheStrongest(t *testing.T) {
	var want Tier
	for _, tier := range []Tier{Bubblewrap, Landlock, Seatbelt, Unconfined} {
		if _, err := Open(Options{Tier: tier, Allow: []Tier{Unconfined}}); err == nil {
			want = tier
			break
		}
	}
	box, err := Open(Options{Allow: []Tier{Unconfined}})
	if err != nil {
		t.Fatal(err)
	}
	if box.Tier() != want {
		t.Errorf("tier %s, want %s", box.Tier(), want)
	}
	if len(box.Gaps()) == 0 {
		t.Error("a tier without gaps is not believable")
	}
}

func TestRunWithoutOpen(t *testing.T) {
	for _, s := range []*Sandbox{nil, {}} {
		if _, err := s.Run(t.Context(), Command{Argv: []string{"true"}, Dir: "/"}); err == nil {
			t.Error("a sandbox that passed no probe ran a command")
		}
	}
}
