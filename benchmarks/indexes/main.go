// Command indexes measures the index of agent/perceive beside others of its kind, in one run: universal-ctags, aider's
// repository map, and an index written in Python's ast. Each is a process of its own that makes one index of one tree and says how
// long that took without its own start, so its peak of memory is known as well. Trees are packages that registries serve, and copies
// of them; seconds are of one machine, which is why all ways take turns.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the caller chose.
type options struct {
	work, languages, big string
	files, rounds        int
	quick                bool
}

// run is the program. Exit: 0 measured and every goal met, 1 a goal missed, 2 usage, 3 not measured.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "child" {
		return child(ctx, args[1:], stdout, stderr)
	}
	var o options
	fl := flag.NewFlagSet("indexes", flag.ContinueOnError)
	fl.SetOutput(stderr)
	fl.StringVar(&o.work, "work", "", "folder that keeps what is fetched, the trees and aider; one in the user's cache if empty")
	fl.StringVar(&o.languages, "languages", "go,python,typescript", "languages of the small trees")
	fl.StringVar(&o.big, "big", "go", "languages of the large trees")
	fl.IntVar(&o.files, "files", 20000, "files of a large tree")
	fl.IntVar(&o.rounds, "rounds", 5, "how often each thing is measured; of a large tree a third as often")
	fl.BoolVar(&o.quick, "quick", false, "the small trees, once")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	if fl.NArg() > 0 || o.rounds < 1 || o.files < 1 || !known(o.languages) || !known(o.big) {
		fmt.Fprintln(stderr, "indexes: languages are go, python and typescript, --rounds and --files are 1 at least, and nothing follows")
		return 2
	}
	if o.quick {
		o.rounds, o.big = 1, ""
	}
	met, err := measure(ctx, o, stdout, stderr)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "indexes:", err)
		return 3
	case !met:
		return 1
	}
	return 0
}

// known says whether a list holds languages only.
func known(list string) bool {
	return !slices.ContainsFunc(split(list), func(l string) bool { return endings[l] == "" })
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// bench is one run of the program.
type bench struct {
	options
	exe, cache, python, driver string
	said                       io.Writer
}

func measure(ctx context.Context, o options, out, said io.Writer) (met bool, err error) {
	b, err := prepare(ctx, o, said)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(filepath.Dir(b.cache))
	fmt.Fprintf(out, "%s %s/%s, %d CPUs, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.versions(ctx))
	var all []*contest
	for _, l := range split(o.languages) {
		all = append(all, &contest{bench: b, tree: tree{language: l}, rounds: o.rounds})
	}
	for _, l := range split(b.big) {
		all = append(all, &contest{bench: b, tree: tree{language: l}, rounds: max(1, o.rounds/3), copies: o.files})
	}
	if err := b.contests(ctx, all); err != nil {
		return false, err
	}
	if err := b.firstParse(ctx, out); err != nil {
		return false, err
	}
	for _, c := range all {
		c.print(out)
	}
	return goals(out, all), nil
}

// contests measures: every round every way of every tree, the small trees first.
func (b *bench) contests(ctx context.Context, all []*contest) error {
	for _, c := range all {
		if err := c.lay(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.language, err)
		}
	}
	for _, large := range []bool{false, true} {
		for round := range b.rounds {
			for _, c := range all {
				if large != (c.copies > 0) || round >= c.rounds {
					continue
				}
				fmt.Fprintf(b.said, "indexes: %s, %d files, round %d of %d\n", c.language, c.files, round+1, c.rounds)
				if err := c.turn(ctx, round); err != nil {
					return fmt.Errorf("%s: %w", c.language, err)
				}
			}
		}
	}
	return nil
}

// firstParse says what the grammars take at the first parse of a process: compiled for the first time, and from the cache.
func (b *bench) firstParse(ctx context.Context, out io.Writer) error {
	fmt.Fprint(out, "grammars at the first parse of a process:")
	for _, when := range []string{"compiled", "kept"} {
		r, err := reported(ctx, b.exe, "child", "parse", b.work, "", b.cache+"-grammars")
		if err != nil {
			return err
		}
		fmt.Fprintf(out, " %s %.0f ms", when, 1000*r.Seconds)
	}
	fmt.Fprintln(out)
	return nil
}

//go:embed driver.py
var driver []byte

// aiderVersion is what is installed from PyPI.
const aiderVersion = "0.86.2"

// prepare looks for the other programs and installs aider into the work folder.
func prepare(ctx context.Context, o options, said io.Writer) (*bench, error) {
	b := &bench{options: o, said: said}
	for name, get := range map[string]string{"ctags": "apt-get install universal-ctags, or brew install universal-ctags", "python3": "install Python 3 with venv", "go": "install Go"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("REFUSED: no %s on this machine: %s", name, get)
		}
	}
	var err error
	if b.exe, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.work == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		b.work = filepath.Join(dir, "redraft-indexes")
	}
	if b.work, err = filepath.Abs(b.work); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return nil, err
	}
	run, err := os.MkdirTemp(b.work, "run-")
	if err != nil {
		return nil, err
	}
	b.cache, b.driver = filepath.Join(run, "cache"), filepath.Join(run, "driver.py")
	return b, errors.Join(os.WriteFile(b.driver, driver, 0o644), b.install(ctx))
}

func (b *bench) install(ctx context.Context) error {
	dir := filepath.Join(b.work, "aider-"+aiderVersion)
	b.python = filepath.Join(dir, "bin", "python")
	if exec.CommandContext(ctx, b.python, "-c", "import aider.repomap").Run() == nil {
		return nil
	}
	fmt.Fprintln(b.said, "indexes: installs aider, which takes a minute")
	for _, argv := range [][]string{{"python3", "-m", "venv", dir}, {b.python, "-m", "pip", "install", "--quiet", "aider-chat==" + aiderVersion}} {
		if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("REFUSED: aider cannot be installed: %w: %.500s", err, out)
		}
	}
	return nil
}

// versions names the programs that are compared.
func (b *bench) versions(ctx context.Context) string {
	first := func(argv ...string) string {
		out, _ := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		line, _, _ := strings.Cut(string(out), "\n")
		line, _, _ = strings.Cut(line, ",")
		return line
	}
	return fmt.Sprintf("%s, aider %s, %s", first("ctags", "--version"), aiderVersion, first(b.python, "--version"))
}
