package sandbox

import (
	"strings"
	"testing"
)

func TestNested(t *testing.T) {
	for command, want := range map[string]string{
		"swift test": "--disable-sandbox", "swift build -c release && swift test --parallel": "--disable-sandbox", "swift test --disable-sandbox": "",
		"cd app; /usr/bin/swift build": "--disable-sandbox", "xcrun swift test": "--disable-sandbox", "swift --version": "", "swiftlint lint": "", "swift-test": "--disable-sandbox",
		"bazel test //...": "--spawn_strategy=local", "bazelisk --batch build //a:b": "--spawn_strategy=local", "bazel test --spawn_strategy=local //...": "",
		"bazel info": "", "A=1 env B=2 bazel run //x": "--spawn_strategy=local", "make bazel": "",
		"nix build .#x": "--option sandbox false", "nix --option sandbox false build": "", "nix-build": "--option sandbox false", "nix-shell --run 'make test'": "--option sandbox false",
		"nix --version": "", "go test ./...": "", "": "", "&&": "", "echo 'swift test'": "", "(swift test)": "--disable-sandbox", "FOO=bar": "",
	} {
		got := Nested(command)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q in it", command, got, want)
		}
	}
}

func TestNestedNote(t *testing.T) {
	const refused = "x\nsandbox-exec: sandbox_apply: Operation not permitted\n"
	for _, tt := range []struct {
		argv     []string
		out, err string
		want     string
	}{
		{[]string{"sh", "-e", "-c", "swift test"}, "", refused, "--disable-sandbox"}, {[]string{"bazel", "test", "//..."}, refused, "", "--spawn_strategy=local"},
		{[]string{"sh", "-e", "-c", "make"}, "", refused, "go without"}, {[]string{"sh", "-e", "-c", "swift test"}, "1 failed", "", ""},
	} {
		got := nestedNote(tt.argv, []byte(tt.out), []byte(tt.err))
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q: %q, want %q in it", tt.argv, got, tt.want)
		}
	}
}

func FuzzNested(f *testing.F) {
	f.Add("swift test && A=1 bazel 'test'")
	f.Fuzz(func(t *testing.T, line string) { Nested(line) })
}
