package report

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// events are lines of go test -json of one package: "run A", "pass A", "pass" for the package itself.
func events(pkg string, steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		action, test, _ := strings.Cut(s, " ")
		fmt.Fprintf(&b, `{"Action":%q,"Package":%q,"Test":%q,"Output":"x\n"}`+"\n", action, pkg, test)
	}
	return b.String()
}

// Tests that passed are packed at their package's end; nobody sees it, also where events come late.
func TestPackedTests(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []string
		want  string
	}{
		"in order":            {[]string{"run A", "pass A", "run B", "skip B", "run C", "pass C", "output", "pass"}, "A pass, B skip, C pass, [exit] skip"},
		"run twice":           {[]string{"run A", "pass A", "run A", "pass A", "run B", "pass B", "pass"}, "A pass, B pass, [exit] skip"},
		"output that is late": {[]string{"run A", "pass A", "run B", "skip B", "pass", "output A", "run C", "pass C"}, "A pass, B skip, C pass, [exit] skip"},
		"failed after all":    {[]string{"run A", "pass A", "run B", "pass B", "pass", "fail B", "fail"}, "A pass, B fail"},
		"two ends":            {[]string{"run A", "pass A", "pass", "pass", "pass"}, "A pass, [exit] skip"},
		"started again":       {[]string{"run A", "pass A", "pass", "start", "run A", "fail A", "fail"}, "A fail, [exit] skip"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Read(Run{Stdout: []byte(events("p", tc.steps...))}).Results {
				got = append(got, strings.TrimPrefix(r.ID, "p.")+" "+string(r.Status))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

// A test that passed costs a few bytes more than its name until the results are made.
func TestPassedTestsAreSmall(t *testing.T) {
	const packages, each = 50, 100
	s := newStream(Run{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for p := range packages {
		var steps []string
		for i := range each {
			test := fmt.Sprintf("TestTotal/case_%d", p*each+i)
			steps = append(steps, "run "+test, "output "+test, "pass "+test)
		}
		s.read([]byte(events(fmt.Sprintf("example.com/shop/p%d", p), append(steps, "pass")...)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / (packages * each); n > 64 {
		t.Errorf("%d bytes a test", n)
	}
	if n := len(s.others.found); n > 0 || len(s.pkgs) != packages {
		t.Errorf("%d results and %d packages", n, len(s.pkgs))
	}
}

// A byte that is no text becomes three, so that a name may only be cut once it is text.
func TestFileNamesAreBounded(t *testing.T) {
	r := Read(Run{Stdout: []byte(strings.Repeat("\xff", maxID) + ".c:1:1: error: expected ';'\n"), Exit: 1})
	checkReport(t, r)
	places := newPlaces(Run{Dir: "/tree"})
	if got := places.relative(strings.Repeat("\xff", maxID)); len(got) > maxID {
		t.Errorf("a file's name of %d bytes", len(got))
	}
}
