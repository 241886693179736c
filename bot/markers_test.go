package bot

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/redact"
)

func TestMarkers(t *testing.T) {
	m := Markers{Key: "4242/branch/main--x->y/\u202e%41 -->\n<!-- redraft:key=z", Run: "r", Root: rootSHA, Tree: "t", Fingerprint: "f", Receipt: "s", Superseded: true}
	text := m.String()
	got, ok := ParseMarkers("Some text.\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n\r\nAnother program's summary.\r\n")
	if d := cmp.Diff(m, got); !ok || d != "" {
		t.Errorf("ok %v (-want +got):\n%s", ok, d)
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.Count(l, "--") != 2 || strings.Count(l, ">") != 1 || !strings.HasSuffix(l, " -->") {
			t.Errorf("%q could end early", l)
		}
	}
	if len(Markers{Key: strings.Repeat("é", 5000)}.String()) > 200 {
		t.Error("a long value is not bounded")
	}
}

func TestParseMarkers(t *testing.T) {
	ours, theirs := Markers{Key: "ours", Root: "r"}.String(), Markers{Key: "theirs", Tree: "t"}.String()
	for _, row := range []struct {
		name, body, key string
		ok              bool
	}{
		{"none", "Some text.\n<!-- something -->", "", false},
		{"nothing", "", "", false},
		{"the last that stand together", theirs + "\n\n" + ours, "ours", true},
		{"what stands in a fence before ours", "```\n" + theirs + "\n```\n\n" + ours + "\n", "ours", true},
		{"lines without a key", ours + "\n\n<!-- redraft:run=x -->", "ours", true},
		{"not at a line's start", "> " + ours, "", false},
		{"a name of later versions", ours + "\n<!-- redraft:later=x -->", "ours", true},
		{"a character that we never write", "<!-- redraft:key=a b -->", "", false},
	} {
		got, ok := ParseMarkers(row.body)
		if got.Key != row.key || ok != row.ok || row.ok && got.Tree != "" {
			t.Errorf("%s: got %+v, %v", row.name, got, ok)
		}
	}
}

func TestMark(t *testing.T) {
	_, body := DraftText(modelStory(t), redact.New())
	m, ok := ParseMarkers(body)
	if want := modelStory(t).Markers(redact.New()); !ok || m != want {
		t.Fatalf("got %+v, want %+v", m, want)
	}
	m.Superseded = true
	marked := Mark(body, m)
	if got, _ := ParseMarkers(marked); got != m || strings.Count(marked, "redraft:key=") != 1 {
		t.Errorf("got %+v", got)
	}
	if got := strings.Replace(marked, "<!-- redraft:superseded=yes -->\n", "", 1); got != body {
		t.Errorf("more was changed:\n%s", cmp.Diff(body, got))
	}
	if got, ok := ParseMarkers(Mark("A text.", m)); !ok || got != m {
		t.Errorf("added to a text: %+v", got)
	}
}

// TestMarkersOfAnything: any value comes back, and no value leaves its line.
func TestMarkersOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, 1+r.IntN(40))
		for i := range b {
			b[i] = "-->%!\n\r aZ0/._:\xff\u00e9"[r.IntN(18)]
		}
		m := Markers{Key: string(b)}
		if got, ok := ParseMarkers(m.String()); !ok || got != m || strings.Contains(m.String(), "\n") {
			t.Fatalf("%q came back as %q from %q", b, got.Key, m.String())
		}
	}
}

func FuzzParseMarkers(f *testing.F) {
	f.Add("<!-- redraft:key=a%2 -->\n<!-- redraft:root=%zz -->")
	f.Fuzz(func(t *testing.T, body string) {
		m, ok := ParseMarkers(body)
		if ok && len(m.Key) <= longestMarker {
			if again, _ := ParseMarkers(Mark(body, m)); again.Key != m.Key {
				t.Errorf("%q became %q", m.Key, again.Key)
			}
		}
	})
}
