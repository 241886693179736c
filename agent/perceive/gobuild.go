package perceive

import (
	"go/build/constraint"
	"path"
	"strings"
)

// The systems that Go's file names and constraints know, https://go.dev/src/internal/syslist/syslist.go.
const (
	goSystems = " aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos "
	goUnix    = " aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris "
	goArches  = " 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm amd64p32 armbe arm64be mips64p32 " +
		"mips64p32le ppc riscv s390 sparc sparc64 "
)

// builds says whether a file is part of its package on a system, as in linux/amd64, without tags of its own.
// https://pkg.go.dev/cmd/go#hdr-Build_constraints
func builds(name, line, system string) bool {
	goos, arch, _ := strings.Cut(system, "/")
	tagged := func(tag string) bool {
		switch {
		case tag == goos || tag == arch || tag == "gc":
			return true
		case tag == "unix":
			return strings.Contains(goUnix, " "+goos+" ")
		case goos == "android" && tag == "linux", goos == "illumos" && tag == "solaris", goos == "ios" && tag == "darwin":
			return true
		}
		return strings.HasPrefix(tag, "go1.")
	}
	if line != "" {
		if e, err := constraint.Parse(line); err == nil && !e.Eval(tagged) {
			return false
		}
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
	_, after, found := strings.Cut(stem, "_") // what stands before the first _ is no system
	if !found {
		return true
	}
	parts := strings.Split(after, "_")
	last := parts[len(parts)-1]
	switch {
	case len(parts) > 1 && strings.Contains(goSystems, " "+parts[len(parts)-2]+" ") && strings.Contains(goArches, " "+last+" "):
		return tagged(parts[len(parts)-2]) && tagged(last)
	case strings.Contains(goSystems, " "+last+" "), strings.Contains(goArches, " "+last+" "):
		return tagged(last)
	}
	return true
}
