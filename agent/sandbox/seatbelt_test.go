package sandbox

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden profiles anew")

const (
	testHome = "/Users/maintainer"
	testRun  = "/private/var/folders/ab/cdef/T/redraft-run-1/tmp"
	testCopy = "/Users/maintainer/.local/state/redraft/trees/7/tree"
	testShim = "/usr/local/bin/redraft"
)

func testSeatbelt() seatbelt {
	return seatbelt{
		Shim: testShim, Tmp: testRun, Home: testHome, Read: []string{"/opt/homebrew/bin", "/usr/local/go", "/Users/maintainer/go/pkg/mod"},
		Write: []string{testCopy, "/Users/maintainer/.local/state/redraft/jobs/7/cache"}, Closed: []int{11434, 1234},
	}
}

func TestSeatbeltGolden(t *testing.T) {
	none := testSeatbelt()
	none.Network, none.Closed, none.Home = None, nil, ""
	odd := testSeatbelt()
	odd.Write = []string{`/Users/maintainer/a "b") (allow default`, "/private/tmp/new\nline", "/private/tmp/=x;#$(y)"}
	odd.Links = []string{"/tmp/new\nline"}
	odd.Read = []string{"/private/tmp/new\nline/sealed", "/usr/local/var/lib"}
	for name, s := range map[string]seatbelt{"loopback": testSeatbelt(), "none": none, "odd": odd} {
		t.Run(name, func(t *testing.T) {
			p, err := s.compile()
			if err != nil {
				t.Fatal(err)
			}
			got := p.text
			for _, kv := range p.params {
				got += fmt.Sprintf("; -D %q\n", kv)
			}
			file := filepath.Join("testdata", "seatbelt", name+".sb")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-update writes it anew, after a look:\n%s", diff)
			}
		})
	}
}

// TestSeatbeltDecides: what a program may do, by the checker's reading of the profile.
func TestSeatbeltDecides(t *testing.T) {
	var (
		file   = func(op, p string) sbAsk { return sbAsk{op: op, path: p} }
		read   = func(p string) sbAsk { return file("file-read-data", p) }
		look   = func(p string) sbAsk { return file("file-read-metadata", p) }
		write  = func(p string) sbAsk { return file("file-write-create", p) }
		start  = func(p string) sbAsk { return file("process-exec", p) }
		dial   = func(host string, port int) sbAsk { return sbAsk{op: "network-outbound", remote: sbAddr{host, port}} }
		listen = func(host string, port int) sbAsk { return sbAsk{op: "network-bind", local: sbAddr{host, port}} }
		speak  = func(p string) sbAsk { return file("network-outbound", p) }
		named  = func(op, name string) sbAsk { return sbAsk{op: op, name: name} }
		target = func(op, who string) sbAsk { return sbAsk{op: op, target: who} }
	)
	const yes, no = true, false
	p, err := testSeatbelt().compile()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := parseProfile(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ask  sbAsk
		want bool
	}{
		{read(testCopy + "/a.go"), yes}, {write(testCopy + "/a.go"), yes}, {start(testCopy + "/a.test"), yes}, {read(testCopy), yes},
		{file("file-link", testCopy+"/a"), yes}, {file("file-map-executable", testCopy+"/a.so"), yes},
		{read(testCopy + "-other/a"), no}, {read(path.Dir(testCopy)), no}, {look(path.Dir(testCopy)), yes}, {write(path.Dir(testCopy) + "/x"), no},
		// Names that somebody's tools obey.
		{write(testCopy + "/.git"), no}, {write(testCopy + "/.git/config"), no}, {read(testCopy + "/.git/config"), yes},
		{write(testCopy + "/sub/.git/hooks/x"), no}, {write(testCopy + "/sub/.GIT/config"), no}, {write(testCopy + "/.gitignore"), yes},
		{write(testCopy + "/x.git/config"), yes}, {write(testCopy + "/.envrc"), no}, {write(testCopy + "/a/b/.zshrc"), no}, {write(testCopy + "/zshrc"), yes},
		{write(testCopy + "/.zshrc.bak"), yes}, {write(testCopy + "/xzshrc"), yes}, {write(testCopy + "/a/.Bash_Profile"), no},
		{write(testCopy + "/.vscode/tasks.json"), no}, {write(testCopy + "/Library/LaunchAgents/x.plist"), no},
		{write(testCopy + "/.husky/pre-commit"), no}, {write(testCopy + "/.githooks/post-checkout"), no}, {write(testCopy + "/src/hooks/useThing.ts"), yes},
		{write(testCopy + "/bin/pre-commit"), yes}, {write(testCopy + "/hooks/pre-commit.sample"), yes}, {write(testCopy + "/Hooks/Pre-Commit"), no},
		{write(testRun + "/repo/.git/config"), yes}, {write(testRun + "/.zshrc"), yes}, {write(path.Dir(testRun) + "/lock"), no},
		{file("file-write-setugid", testCopy+"/a"), no}, {file("file-write-setugid", testRun+"/a"), no},
		// The operator's.
		{read(testHome + "/.ssh/id_ed25519"), no}, {look(testHome + "/.ssh"), no}, {write(testHome + "/.ssh/authorized_keys"), no}, {read(testHome + "/.netrc"), no},
		{read(testHome + "/.config/gh/hosts.yml"), no}, {read(testHome + "/Library/Keychains/login.keychain-db"), no}, {read("/Library/Keychains/System.keychain"), no},
		{write(testHome + "/Library/LaunchAgents/x.plist"), no}, {write(testHome + "/.zshrc"), no}, {read(testHome), no}, {look(testHome), yes},
		{read("/System/Volumes/Data/Users/maintainer/.ssh/id_ed25519"), no}, {read("/System/Volumes/Data/private/x"), no},
		// Toolchains.
		{read("/usr/local/go/src/fmt/print.go"), yes}, {write("/usr/local/go/src/fmt/print.go"), no}, {start("/usr/local/go/bin/go"), yes}, {start("/bin/sh"), yes},
		{start(testShim), yes}, {write(testShim), no}, {read("/opt/homebrew/Cellar/make/4.4/bin/gmake"), yes}, {read("/opt/homebrew/var/postgresql/x"), no},
		{read("/opt/homebrew/etc/my.cnf"), no}, {read("/opt/homebrew/etc/openssl@3/cert.pem"), yes}, {read("/usr/local/etc/npmrc"), no},
		{read("/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e"), yes}, {read("/private/etc/passwd"), yes},
		{read("/private/etc/master.passwd"), no}, {read("/private/etc/sudoers"), no}, {read("/private/tmp/x"), no}, {write("/private/tmp/x"), no}, {look("/tmp"), yes},
		{read("/Applications/Mail.app/x"), no}, {write("/dev/tty"), no}, {read("/dev/tty"), no}, {read("/dev/disk0"), no}, {file("file-write-data", "/dev/null"), yes},
		{read("/dev/urandom"), yes}, {file("file-write-data", "/dev/urandom"), no}, {read("/"), yes}, {read("/private"), no}, {file("file-write-unlink", testCopy), yes},
		// The network.
		{dial("127.0.0.1", 8080), yes}, {dial("::1", 8080), yes}, {dial("127.0.0.1", 11434), no}, {dial("::1", 1234), no}, {listen("127.0.0.1", 11434), no},
		{listen("127.0.0.1", 0), yes}, {listen("0.0.0.0", 8080), no}, {dial("192.0.2.1", 443), no}, {dial("169.254.169.254", 80), no}, {dial("192.0.2.1", 11434), no},
		{dial("::ffff:127.0.0.1", 8080), no}, {sbAsk{op: "network-inbound", local: sbAddr{"127.0.0.1", 8080}}, yes},
		{sbAsk{op: "network-inbound", local: sbAddr{"192.168.1.2", 8080}}, no},
		{speak("/private/var/run/mDNSResponder"), no}, {speak("/private/var/run/docker.sock"), no}, {speak(testHome + "/.gnupg/S.gpg-agent"), no},
		{speak("/private/tmp/com.apple.launchd.x/Listeners"), no}, {speak(testRun + "/x.sock"), yes}, {speak(testCopy + "/x.sock"), yes},
		{file("network-bind", testRun+"/x.sock"), yes}, {file("network-bind", testHome+"/x.sock"), no},
		// Processes, services, memory.
		{target("signal", "same-sandbox"), yes}, {target("signal", "others"), no}, {target("process-info-pidinfo", "others"), no},
		{target("process-info-listpids", "others"), no}, {target("process-info-pidinfo", "same-sandbox"), yes}, {sbAsk{op: "process-fork"}, yes},
		{named("mach-lookup", "com.apple.system.opendirectoryd.libinfo"), yes}, {named("mach-lookup", "com.apple.SecurityServer"), no},
		{named("mach-lookup", "com.apple.securityd.xpc"), no}, {named("mach-lookup", "com.apple.coreservices.launchservicesd"), no},
		{named("mach-lookup", "com.apple.coreservices.appleevents"), no}, {named("mach-lookup", "com.apple.trustd.agent"), no},
		{named("mach-lookup", "com.apple.dnssd.service"), no}, {named("mach-lookup", "com.apple.pasteboard.1"), no}, {sbAsk{op: "appleevent-send"}, no},
		{sbAsk{op: "lsopen"}, no}, {sbAsk{op: "iokit-open"}, no}, {sbAsk{op: "iokit-get-properties"}, no}, {sbAsk{op: "nvram-get"}, no}, {sbAsk{op: "pseudo-tty"}, no},
		{sbAsk{op: "job-creation"}, no}, {sbAsk{op: "mach-priv-task-port", target: "same-sandbox"}, no}, {sbAsk{op: "authorization-right-obtain"}, no},
		{named("sysctl-read", "hw.ncpu"), yes}, {named("sysctl-read", "hw.optional.arm.FEAT_LSE"), yes}, {named("sysctl-read", "kern.procargs2"), no},
		{named("sysctl-read", "kern.proc.all"), no}, {named("sysctl-read", "kern.proc.pid.1"), no}, {named("sysctl-write", "kern.hostname"), no},
		{named("ipc-posix-sem", "/mp-abc"), yes}, {named("ipc-posix-sem", "/other"), no}, {named("ipc-posix-shm-write-create", "/psm_1"), yes},
		{named("ipc-posix-shm-read-data", "apple.cfprefs.501v1"), no}, {sbAsk{op: "ipc-sysv-shm"}, no},
	} {
		for name, decide := range readings {
			if got, by := decide(rules, tt.ask); got != tt.want {
				t.Errorf("%s: allowed %v by %s, as %s", tt.ask, got, by, name)
			}
		}
	}
}

// readings are the ways in which the language could be meant, as far as public word of it goes. A profile must not depend on
// which is true.
var readings = map[string]func([]sbRule, sbAsk) (bool, string){
	"the last rule":                       decideProfile,
	"a rule without filters as a default": bareAsDefault,
	"the narrower operation first":        narrowFirst,
}

func bareAsDefault(rules []sbRule, a sbAsk) (allow bool, by string) {
	order := slices.Clone(rules)
	slices.SortStableFunc(order, func(x, y sbRule) int { return min(len(x.filters), 1) - min(len(y.filters), 1) })
	return decideProfile(order, a)
}

// narrowFirst lets "file-read-metadata" decide before "file-read*", and that before "file*".
func narrowFirst(rules []sbRule, a sbAsk) (allow bool, by string) {
	width := -1
	for _, r := range rules {
		if !r.matches(a) {
			continue
		}
		for _, op := range r.ops {
			if n := len(strings.TrimSuffix(strings.TrimPrefix(op, "default"), "*")); covers(op, a.op) && n >= width {
				width, allow, by = n, r.allow, r.text
			}
		}
	}
	return allow, by
}

// TestSeatbeltDeeperWins: of given paths within each other the deepest decides, whatever the order they are named in.
func TestSeatbeltDeeperWins(t *testing.T) {
	s := testSeatbelt()
	s.Read = []string{testCopy + "/sealed", "/private/tmp/job"}
	s.Write = []string{testCopy + "/sealed/out", "/private/tmp/job/tree", testCopy}
	p, err := s.compile()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := parseProfile(p)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{
		testCopy + "/x": true, testCopy + "/sealed/x": false, testCopy + "/sealed/out/x": true, "/private/tmp/job/x": false, "/private/tmp/job/tree/x": true,
		testCopy + "/sealed/out/.git": false, testCopy + "/sealed-not/x": true,
	} {
		if got, by := decideProfile(rules, sbAsk{op: "file-write-data", path: at}); got != want {
			t.Errorf("writing %s: %v by %s", at, got, by)
		}
	}
}

// TestSeatbeltRefuses: what cannot be confined is an error.
func TestSeatbeltRefuses(t *testing.T) {
	for name, change := range map[string]func(*seatbelt){
		"a relative path":     func(s *seatbelt) { s.Write = []string{"tree"} },
		"a path upwards":      func(s *seatbelt) { s.Write = []string{"/private/tmp/../etc"} },
		"a NUL":               func(s *seatbelt) { s.Read = []string{"/private/tmp/\x00"} },
		"the home for read":   func(s *seatbelt) { s.Read = []string{testHome} },
		"above the home":      func(s *seatbelt) { s.Write = []string{"/Users"} },
		"credentials":         func(s *seatbelt) { s.Write = []string{testHome + "/.ssh"} },
		"a keychain for read": func(s *seatbelt) { s.Read = []string{"/Library/Keychains"} },
		"the system":          func(s *seatbelt) { s.Write = []string{"/usr/lib"} },
		"above the system":    func(s *seatbelt) { s.Write = []string{"/System"} },
		"a repository":        func(s *seatbelt) { s.Write = []string{"/private/tmp/.git"} },
		"no port":             func(s *seatbelt) { s.Closed = []int{0} },
		"too high a port":     func(s *seatbelt) { s.Closed = []int{65536} },
		"no shim":             func(s *seatbelt) { s.Shim = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := testSeatbelt()
			change(&s)
			if p, err := s.compile(); err == nil {
				t.Errorf("a profile was made:\n%s", p.text)
			}
		})
	}
}

// TestSeatbeltHostile: paths that hold the language's own signs change values of parameters and nothing else (E38).
func TestSeatbeltHostile(t *testing.T) {
	plain := testSeatbelt()
	plain.Write, plain.Read = []string{"/private/tmp/a"}, []string{"/private/tmp/b"}
	want, err := plain.compile()
	if err != nil {
		t.Fatal(err)
	}
	const signs = "\"\\()#;|[]{}$^*+?.=\n\r\t' \x7f\xff\x01é"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		name := func() string {
			b := []byte("x")
			for range rng.IntN(12) {
				b = append(b, signs[rng.IntN(len(signs))])
			}
			return string(b)
		}
		s := plain
		s.Write, s.Read = []string{"/private/tmp/a" + name()}, []string{"/private/tmp/b" + name()}
		got, err := s.compile()
		if err != nil {
			t.Fatalf("%q: %v", s.Write, err)
		}
		if got.text != want.text {
			t.Fatalf("%q changed the text of the profile", s.Write)
		}
		if rules, err := parseProfile(got); err != nil {
			t.Fatal(err)
		} else if allow, by := decideProfile(rules, sbAsk{op: "file-read-data", path: "/Users/other/x"}); allow {
			t.Fatalf("%q opened more, by %s", s.Write, by)
		}
	}
}

func TestProfileNotUnderstood(t *testing.T) {
	const head = "(version 1)\n(deny default)\n"
	for _, text := range []string{
		"", "(version 1)", "(deny default)(version 1)", "(version 2)(deny default)", "(version 1)(allow default)", head + "(allow default)", head + "(import \"system.sb\")",
		head + "(allow file-read*", head + "allow", head + "(allow)", head + "(allow file-read* (literal \"/a))", head + "(allow file-read* (literal \"a\"))",
		head + "(allow file-read* (literal /a))", head + "(allow no-such-operation)", head + "(allow \"file*\")", head + "(allow file-read* (regex \"/a\"))",
		head + "(allow file-read* (regex #\"/a\\.b\"))", head + "(allow file-read* (regex #\"/a{2}\"))", head + "(allow file-read* (regex #\"/a(\"))",
		head + "(allow file-read* (subpath (param \"NOT_GIVEN\")))", head + "(allow file-read* (subpath (string-append \"/a\" \"b\")))",
		head + "(allow signal (target others))", head + "(allow network-outbound (remote ip \"192.0.2.1:80\"))", head + "(allow network-outbound (remote ip \"*:0\"))",
		head + "(allow network-outbound (remote tcp \"*:80\"))", head + "(allow file-read* (global-name \"x\"))", head + "(allow mach-lookup (subpath \"/\"))",
		head + "(allow file-read* (literal \"/a\"))(deny file-read*)", head + "(allow file-read* (with no-sandbox) (literal \"/a\"))", head + strings.Repeat("(", 99),
		head + "(allow file-read* (require-not (literal \"/a\") (literal \"/b\")))", head + "(allow file-read* (require-all))", head + "\x00", head + "(define x 1)",
	} {
		if rules, err := parseProfile(profile{text: text}); err == nil {
			t.Errorf("%q was understood as %d rules", text, len(rules))
		}
	}
	for _, params := range [][]string{{"A"}, {"A=/x", "A=/y"}, {"a=/x"}, {"A="}, {"A=/x\x00"}, {"UNUSED=/x"}} {
		if _, err := parseProfile(profile{text: head + `(allow file-read* (subpath (param "A")))`, params: params}); err == nil {
			t.Errorf("parameters %q were taken", params)
		}
	}
}

func TestProfileFilters(t *testing.T) {
	p := profile{params: []string{"A=/a=b"}, text: `(version 1) ; a word
(deny default)
(allow file-read* (require-all (subpath (param "A")) (require-not (regex #"/[xX]$"))) (require-any (literal "/c") (literal "/d")))`}
	rules, err := parseProfile(p)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{"/a=b/y": true, "/a=b/x": false, "/a=bc": false, "/a": false, "/c": true, "/d": true, "/c/x": false} {
		if got, by := decideProfile(rules, sbAsk{op: "file-read-data", path: at}); got != want {
			t.Errorf("%s: %v by %s", at, got, by)
		}
	}
}

func FuzzProfile(f *testing.F) {
	p, err := testSeatbelt().compile()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.text)
	f.Add(`(version 1)(deny default)(allow file-read* (subpath "/"))`)
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := parseProfile(profile{text: text, params: p.params})
		if err != nil {
			return
		}
		decideProfile(rules, sbAsk{op: "file-read-data", path: "/x"})
	})
}
