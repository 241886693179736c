package githubtest

import (
	"strings"
	"testing"
)

// FuzzPush: whatever a client sends as the beginning of a push is read within bounds or refused.
func FuzzPush(f *testing.F) {
	zero, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	f.Add(pkt(zero+" "+one+" refs/heads/a\x00report-status side-band-64k") + pkt(one+" "+zero+" refs/heads/b\n") + "0000PACK")
	f.Add("0000")
	f.Add("0003")
	f.Add("zzzz")
	f.Add("ffff")
	f.Fuzz(func(t *testing.T, text string) {
		wishes, _, err := readWishes(strings.NewReader(text))
		if err != nil && wishes != nil {
			t.Errorf("got %v beside %v", wishes, err)
		}
		if len(wishes) > 1000 {
			t.Errorf("got %d refs", len(wishes))
		}
	})
}

func TestReadWishes(t *testing.T) {
	zero, one := strings.Repeat("0", 40), strings.Repeat("1", 40)
	got, caps, err := readWishes(strings.NewReader(pkt(zero+" "+one+" refs/heads/a\x00report-status side-band-64k") + pkt(one+" "+zero+" refs/heads/b\n") + "0000PACK"))
	if err != nil || len(got) != 2 || got[0] != (wish{zero, one, "refs/heads/a"}) || got[1] != (wish{one, zero, "refs/heads/b"}) || !strings.Contains(caps, "side-band-64k") {
		t.Errorf("got %v %q %v", got, caps, err)
	}
	for _, bad := range []string{"", "000", "0003", "0008abc", "-001", strings.Repeat(pkt("a b c"), 1001) + "0000"} {
		if got, _, err := readWishes(strings.NewReader(bad)); err == nil {
			t.Errorf("%.20q: got %v", bad, got)
		}
	}
}

// TestOldGit: where git cannot merge by itself, pull requests have no merge ref and all else works.
func TestOldGit(t *testing.T) {
	s, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.git.merges = false
	r, err := s.AddRepo("acme", "widget", Seed{Files: map[string]string{"a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Commit("topic", map[string]string{"b": "1"}, Person{}, "b"); err != nil {
		t.Fatal(err)
	}
	n, err := r.OpenPull(NewPull{Title: "t", Head: "topic"})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := r.Pull(n); p.Merge != "" || p.Conflict || p.HeadSHA == "" {
		t.Errorf("got %+v", p)
	}
	if err := r.MergePull(n, "acme"); err == nil {
		t.Error("merged without a merge")
	}
}

func TestSignature(t *testing.T) {
	for text, want := range map[string]signature{
		"A B <a@example.com> 10 +0200": {name: "A B", email: "a@example.com"},
		"A, B <a> 10 +0000":            {name: "A, B", email: "a"},
		"<> 10 +0000":                  {},
		"nothing":                      {name: "nothing"},
	} {
		got := parseSignature(text)
		if got.name != want.name || got.email != want.email || strings.Contains(text, "10 +") && got.at.Unix() != 10 {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}
