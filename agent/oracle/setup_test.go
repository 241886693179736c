package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// preparing is a world without Go whose oracle has setup commands, and a proxy that says hello.
type preparing struct {
	*world
	made int // proxies
	kept map[string]string
}

// newPreparing has a state folder that others may share.
func newPreparing(t *testing.T, check, state string, files map[string]string, commands ...string) *preparing {
	t.Helper()
	p := &preparing{world: newWorld(t, check, files), kept: map[string]string{}}
	if !box.Forwards() {
		t.Skip("REFUSED: this tier forwards no port")
	}
	p.Needs = plan.Needs{Env: []string{"PATH=/usr/bin:/bin"}}
	p.Check.Runs = 1
	p.Setup = &oracle.Setup{
		Commands: commands, From: p.root, State: state, Domain: "owner/name branch main", Port: 4873, Wall: time.Minute, Env: []string{"GREETER=127.0.0.1 4873"},
		Files: map[string]string{".cargo/config.toml": "here\n"},
		Copy:  func(_ context.Context, from, to string) error { return os.CopyFS(to, os.DirFS(from)) },
		Keep: func(name string, b []byte) error {
			p.kept[name] = string(b)
			return nil
		},
		Proxy: func(_ context.Context, record *os.File) (func(net.Listener), func() error, error) {
			p.made++
			return func(ln net.Listener) {
				_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprintf(record, "{\"host\":\"registry.example\",\"bytes\":5}\n")
					_, _ = io.WriteString(w, "hello")
				}))
			}, func() error { return nil }, nil
		},
	}
	return p
}

func (p *preparing) prepare(t *testing.T) *proof.Setup {
	t.Helper()
	if err := p.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.Prepared()
}

// out is what the check printed when it was seen.
func (p *preparing) out(t *testing.T) string {
	t.Helper()
	s := p.see(t)
	return string(s.Runs[0].Result.Stdout) + string(s.Runs[0].Result.Stderr)
}

const fetch = `exec 3<>/dev/tcp/127.0.0.1/4873 && printf "GET / HTTP/1.0\r\n\r\n" >&3 && tail -n1 <&3`

// TestPrepare: what the commands leave lies in every copy, what they changed of the root's does not, and the hash that is
// recorded is of the root's files alone.
func TestPrepare(t *testing.T) {
	p := newPreparing(t, `pwd; cat src/own.txt gen/a made.txt src/new.txt; ls -A; cat ~/x 2>/dev/null || echo no home; ls $CARGO_HOME 2>/dev/null || echo no cargo`, t.TempDir(),
		map[string]string{"src/own.txt": "own\n", "fixture": "f\n", "gone": "g\n"},
		`mkdir -p gen/deep .git && echo gen >gen/a && ln -s ../gen/a gen/deep/l && mkfifo gen/pipe && echo spoilt >src/own.txt && rm -r gone && mkdir gone && echo in >gone/x && echo new >src/new.txt; echo h >~/x; mkdir ~/.cargo/registry`,
		`bash -c '`+fetch+`' >made.txt; echo >>made.txt; pwd`)
	s := p.prepare(t)
	if diff := cmp.Diff([]string{"gen", "made.txt", "src/new.txt"}, s.Made); diff != "" {
		t.Errorf("made: %s", diff)
	}
	if s.Requests != 1 || s.Bytes != 5 || !slices.Equal(s.Hosts, []string{"registry.example"}) || p.kept[oracle.RegistryFile] == "" {
		t.Errorf("got the ledger %+v, kept %q", s, p.kept)
	}
	if len(p.world.kept) != 2 || p.world.kept[0].Phase != proof.SetupPhase {
		t.Errorf("kept %+v", p.world.kept)
	}
	seen := p.see(t)
	r := seen.Runs[0]
	want := "own\ngen\nhello\nnew\nfixture\ngen\ngone\nmade.txt\nsrc\nno home\nconfig.toml\nregistry\n"
	place, got, _ := strings.Cut(string(r.Result.Stdout), "\n")
	if got != want || seen.Color != report.Green {
		t.Errorf("got %q, want %q; %s", got, want, r.Result.Stderr)
	}
	if place != r.At || !strings.HasSuffix(place, "/tree") || r.Setup != s.Layer || len(r.Setup) != 64 {
		t.Errorf("the check stood in %s; the record says %+v", place, r.RunRecord)
	}
	id, err := patch.TreeID(p.Root, nil)
	if err != nil || r.Tree != id {
		t.Errorf("the copy hashes to %s, %v, the root to %s", r.Tree, err, id)
	}
}

// TestPreparedShared: the same target, root and commands find what is there, and nobody else does.
func TestPreparedShared(t *testing.T) {
	state := t.TempDir()
	files := map[string]string{"a": "1\n"}
	first := newPreparing(t, "cat n", state, files, "date +%N >n")
	want := first.prepare(t)
	again := newPreparing(t, "cat n", state, files, "date +%N >n")
	if got := again.prepare(t); again.made != 0 || cmp.Diff(want, got) != "" {
		t.Errorf("it was made again: %d, %s", again.made, cmp.Diff(want, got))
	}
	if again.kept[oracle.RegistryFile] != first.kept[oracle.RegistryFile] || len(again.world.kept) != 1 {
		t.Errorf("the evidence of what was found is %q, %v", again.kept, again.world.kept)
	}
	if first.out(t) != again.out(t) {
		t.Error("what was found is something else")
	}
	for name, other := range map[string]func(*preparing){
		"a pull request":   func(p *preparing) { p.Setup.Domain = "owner/name pull request 7" },
		"nobody":           func(p *preparing) { p.Setup.Domain = "" },
		"nobody else":      func(p *preparing) { p.Setup.Domain = "" },
		"other commands":   func(p *preparing) { p.Setup.Commands = []string{"date +%N >n; true"} },
		"another registry": func(p *preparing) { p.Setup.Env = []string{"GREETER=x"} },
		"another tool":     func(p *preparing) { p.Needs.Env = append(p.Needs.Env, "LANG=C.UTF-8") },
	} {
		p := newPreparing(t, "cat n", state, files, "date +%N >n")
		other(p)
		if got := p.prepare(t); p.made != 1 || got.Layer == want.Layer {
			t.Errorf("%s: got what was not its own", name)
		}
	}
	p := newPreparing(t, "cat n", state, map[string]string{"a": "2\n"}, "date +%N >n")
	if p.prepare(t); p.made != 1 {
		t.Error("another root: got what was not its own")
	}
}

// TestPreparedOnce: of several jobs that want the same at once, one makes it.
func TestPreparedOnce(t *testing.T) {
	state := t.TempDir()
	var work sync.WaitGroup
	var all []*preparing
	for range 4 {
		p := newPreparing(t, "true", state, map[string]string{"a": "1\n"}, "sleep 0.3; echo 1 >n")
		all = append(all, p)
		work.Go(func() {
			if err := p.Prepare(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	made := 0
	for _, p := range all {
		made += p.made
	}
	if made != 1 {
		t.Errorf("it was made %d times", made)
	}
}

// TestUnprepared: a setup that fails ends in words, and leaves nothing but evidence.
func TestUnprepared(t *testing.T) {
	for _, tt := range []struct{ name, command, why, tail string }{
		{"fails", "echo one; echo two >&2; exit 3", "exit status 3", "one\n\ntwo"},
		{"is not there", "no-such-tool", "exit status 127", "no-such-tool"},
		{"is killed", "kill -9 $$", "it was ended by SIGKILL", ""},
		{"takes too long", "sleep 30", "it was ended by the wall limit", ""},
		{"scatters", "for i in $(seq 2100); do : >f$i; done", "2101 places", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPreparing(t, "true", t.TempDir(), map[string]string{"a": "1\n"}, "echo before", tt.command, "echo after >never")
			if strings.HasPrefix(tt.command, "sleep") {
				p.Setup.Wall = time.Second
			}
			err := p.Prepare(t.Context())
			var no *oracle.Unprepared
			if !errors.As(err, &no) || !strings.Contains(no.Why, tt.why) || !strings.Contains(no.Tail, tt.tail) || p.Prepared() != nil {
				t.Fatalf("got %v, %+v", err, no)
			}
			left, _ := filepath.Glob(filepath.Join(p.Setup.State, "prepared", "*"))
			if len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if len(p.world.kept) < 2 {
				t.Errorf("kept %+v", p.world.kept)
			}
		})
	}
}

// TestPrepareTier: where a command has no loopback that leads anywhere, nothing is run.
func TestPrepareTier(t *testing.T) {
	p := newPreparing(t, "true", t.TempDir(), map[string]string{"a": "1\n"}, "echo 1")
	weak, err := sandbox.Open(sandbox.Options{Tier: sandbox.Landlock})
	if err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	p.Box = weak
	var no *oracle.Unprepared
	if err := p.Prepare(t.Context()); !errors.As(err, &no) || !no.Tier || p.made != 0 {
		t.Errorf("got %v", err)
	}
}

// TestConfirmPrepared: a change over a layer is proved with it, and one that goes into the layer is not.
func TestConfirmPrepared(t *testing.T) {
	p := newPreparing(t, `test "$(cat gen/word) $(cat a)" = "made two"`, t.TempDir(), map[string]string{"a": "one\n"}, "mkdir gen; echo made >gen/word")
	p.prepare(t)
	s := p.see(t)
	if s.Color != report.Red {
		t.Fatalf("got %v", s.Color)
	}
	id, err := patch.TreeID(p.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	claim := proof.Claim{Root: "r", RootTree: id, Base: "b", Diff: patch.Change{Files: []patch.FileChange{{Path: "a", Old: []byte("one\n"), New: []byte("two\n"), Mode: 0o644}}}.Diff(), Findings: s.Failed}
	receipt, v, err := p.Confirm(t.Context(), s, claim)
	if err != nil || v.Color != report.Green {
		t.Fatalf("got %v (%s), %v", v.Color, v.Text, err)
	}
	if receipt.Setup == nil || receipt.Evidence[oracle.RegistryFile] == "" || !slices.Contains(receipt.Gaps, receipt.Setup.Gap()) || receipt.Evidence["reports/setup-1"] == "" {
		t.Errorf("got the receipt %+v", receipt)
	}
	claim.Diff = patch.Change{Files: []patch.FileChange{
		{Path: "a", Old: []byte("one\n"), New: []byte("two\n"), Mode: 0o644}, {Path: "gen/more", New: []byte("x\n"), Mode: 0o644, Created: true},
	}}.Diff()
	if _, v, err = p.Confirm(t.Context(), s, claim); err != nil || v.Color == report.Green || !strings.Contains(v.Text, "gen/more: setup commands make files there") {
		t.Errorf("got %v (%s), %v", v.Color, v.Text, err)
	}
}

// TestPreparedIsSealed: a run cannot change what the next one starts from.
func TestPreparedIsSealed(t *testing.T) {
	p := newPreparing(t, `cat gen/a; echo worse >gen/a; echo worse >"$CARGO_HOME/config.toml" || echo sealed`, t.TempDir(), map[string]string{"a": "1\n"}, "mkdir gen ~/.cargo/registry; echo good >gen/a")
	p.prepare(t)
	for range 2 {
		if got := p.out(t); !strings.HasPrefix(got, "good\nsealed\n") {
			t.Errorf("got %q", got)
		}
	}
}

// TestShelf: halves of killed makers, the long unused, and what is above the quota go; what somebody holds stays.
func TestShelf(t *testing.T) {
	state := t.TempDir()
	make := func(domain string, quota int64) string {
		p := newPreparing(t, "true", state, map[string]string{"a": "1\n"}, "head -c 200000 /dev/zero >n")
		p.Setup.Domain, p.Setup.Quota = domain, quota
		p.prepare(t)
		t.Cleanup(func() { _ = p.Prepared() }) // held until then
		dirs, _ := filepath.Glob(filepath.Join(state, "prepared", "*", "base.json"))
		slices.SortFunc(dirs, func(a, b string) int { return modified(t, a).Compare(modified(t, b)) })
		return filepath.Dir(dirs[len(dirs)-1])
	}
	held := make("one", 0)
	half, old, big := filepath.Join(state, "prepared", "half"), filepath.Join(state, "prepared", "old"), filepath.Join(state, "prepared", "big")
	for _, dir := range []string{half, old, big} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "tree"), 0o700), os.WriteFile(dir+".lock", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{old, big} {
		if err := os.WriteFile(filepath.Join(dir, "base.json"), []byte(`{"Version":1,"Size":900000}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long, recent := time.Now().Add(-15*24*time.Hour), time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(filepath.Join(old, "base.json"), long, long), os.Chtimes(filepath.Join(big, "base.json"), recent, recent)); err != nil {
		t.Fatal(err)
	}
	make("two", 0)
	for dir, want := range map[string]bool{held: true, half: false, old: false, big: true} {
		if there(dir) != want || there(dir+".lock") != want {
			t.Errorf("%s: there %v, lock %v, want %v", filepath.Base(dir), there(dir), there(dir+".lock"), want)
		}
	}
	make("three", 1_000_000)
	if there(big) || !there(held) {
		t.Errorf("above the quota: big %v, held %v", there(big), there(held))
	}
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func modified(t *testing.T, name string) time.Time {
	t.Helper()
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return fi.ModTime()
}
