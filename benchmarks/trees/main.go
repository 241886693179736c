// Command trees measures how long a tree takes to be cut, sealed and copied, each beside the plain tool that does the like: git's
// own worktree and clone, and cp. It leaves judging to whoever reads it, but for the cut, which has a limit. Seconds are of one
// machine and disk; every ratio is of two measurements taken one after the other, and the median of several rounds.
package main

import (
	"context"
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
	"time"

	"github.com/redraft-dev/redraft/worktree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// limit is how much longer than git's own a cut may take.
const limit = 1.10

// run is the program. Exit: 0 measured and the cut within its limit, 1 over it, 2 usage, 3 not measured.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("trees", flag.ContinueOnError)
	fl.SetOutput(stderr)
	files := fl.Int("files", 20000, "files of the larger tree; the smaller one has a twentieth")
	rounds := fl.Int("rounds", 7, "how often each thing is measured")
	dir := fl.String("dir", "", "folder on the disk to measure; the system's for temporary files if empty")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	if fl.NArg() > 0 || *files < 20 || *files > 1_000_000 || *rounds < 1 || *rounds > 1000 {
		fmt.Fprintln(stderr, "trees: --files is 20 to 1000000, --rounds 1 to 1000, and nothing follows")
		return 2
	}
	within, err := measure(ctx, stdout, *dir, *files, *rounds)
	if err != nil {
		fmt.Fprintln(stderr, "trees:", err)
		return 3
	}
	if !within {
		return 1
	}
	return 0
}

func measure(ctx context.Context, out io.Writer, dir string, files, rounds int) (within bool, err error) {
	dir, err = os.MkdirTemp(dir, "redraft-trees-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	git, err := worktree.OpenGit("")
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s/%s, %d CPUs, git %s; medians of %d rounds\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), git.Version(), rounds)
	for _, n := range []int{files / 20, files} {
		b := &bench{git: git, dir: filepath.Join(dir, fmt.Sprint(n)), files: n}
		if err := b.prepare(ctx); err != nil {
			return false, fmt.Errorf("make a repository of %d files: %w", n, err)
		}
		if err := b.rounds(ctx, rounds); err != nil {
			return false, fmt.Errorf("%d files: %w", n, err)
		}
		within = b.print(out)
		if err := os.RemoveAll(b.dir); err != nil {
			return false, err
		}
	}
	return within, nil
}

// bench measures over one repository.
type bench struct {
	git   *worktree.Git
	dir   string
	files int
	n     int // things made so far, for names

	bare   string // as git clone --bare makes it
	mirror *worktree.Mirror
	sealed string // a sealed copy
	tree   *worktree.Tree
	copies *worktree.Copies
	took   map[string][]time.Duration
}

// prepare makes the repository, its mirror, a bare clone and a sealed copy.
func (b *bench) prepare(ctx context.Context) error {
	repo := filepath.Join(b.dir, "repo")
	files := map[string][]byte{}
	for i := range b.files {
		name := fmt.Sprintf("d%02d/e%02d/file_%05d.go", i/400, i/20%20, i) // twenty in a folder
		files[name] = []byte(strings.Repeat(fmt.Sprintf("// line %d of a file of source, as long as such lines are\n", i), 10+i*7%120))
	}
	if err := worktree.Init(ctx, repo, files, "one"); err != nil {
		return err
	}
	store, err := worktree.Open(b.git, filepath.Join(b.dir, "state"))
	if err != nil {
		return err
	}
	if b.mirror, err = store.Mirror(ctx, repo); err != nil {
		return err
	}
	b.bare = filepath.Join(b.dir, "bare.git")
	if err := b.plain(ctx, "clone", "--quiet", "--bare", "--no-local", repo, b.bare); err != nil {
		return err
	}
	if b.tree, err = b.mirror.Cut(ctx, b.mirror.Head()); err != nil {
		return err
	}
	b.sealed, err = b.tree.Seal(ctx, "root")
	b.took = map[string][]time.Duration{}
	return err
}

// plain runs git as anybody would.
func (b *bench) plain(ctx context.Context, args ...string) error {
	return b.start(ctx, b.git.Path(), args...)
}

func (b *bench) start(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %.300s", filepath.Base(program), args[0], err, out)
	}
	return nil
}

// fresh is a path where nothing is.
func (b *bench) fresh() string {
	b.n++
	return filepath.Join(b.dir, fmt.Sprintf("made-%d", b.n))
}

// contest is one thing done in several ways; the first is what the others are held against.
type contest struct {
	name string
	ways []way
}

type way struct {
	name string
	do   func(*bench, context.Context) (undo func() error, err error)
}

var contests = []contest{
	{"cut", []way{{"git worktree add", (*bench).addWorktree}, {"cut", (*bench).cut}}},
	{"cut beside a clone", []way{{"git clone", (*bench).clone}, {"cut", (*bench).cut}}},
	{"sealed copy", []way{{"cp -a --reflink=auto", (*bench).cp}, {"sealed copy", (*bench).seal}}},
	{"throw-away repository", []way{{"cp -a --reflink=auto", (*bench).cp}, {"throw-away repository", (*bench).throwaway}}},
}

func (b *bench) addWorktree(ctx context.Context) (func() error, error) {
	dir := b.fresh()
	err := b.plain(ctx, "--git-dir="+b.bare, "worktree", "add", "--quiet", "--detach", dir, b.mirror.Head())
	return func() error {
		return errors.Join(os.RemoveAll(dir), b.plain(ctx, "--git-dir="+b.bare, "worktree", "prune"))
	}, err
}

func (b *bench) clone(ctx context.Context) (func() error, error) {
	dir := b.fresh()
	return func() error { return os.RemoveAll(dir) }, b.plain(ctx, "clone", "--quiet", "file://"+b.bare, dir)
}

func (b *bench) cut(ctx context.Context) (func() error, error) {
	tree, err := b.mirror.Cut(ctx, b.mirror.Head())
	return func() error { return tree.Close(ctx) }, err
}

func (b *bench) cp(ctx context.Context) (func() error, error) {
	dir := b.fresh()
	args := []string{"-a", "--reflink=auto", b.sealed, dir}
	if runtime.GOOS == "darwin" {
		args = []string{"-a", "-c", b.sealed, dir}
	}
	return func() error { return os.RemoveAll(dir) }, b.start(ctx, "cp", args...)
}

func (b *bench) seal(ctx context.Context) (func() error, error) {
	dir := b.fresh()
	_, err := worktree.Copy(ctx, b.sealed, dir)
	return func() error { return os.RemoveAll(dir) }, err
}

// throwaway is a copy with a repository in it; what is made once for all copies is not counted.
func (b *bench) throwaway(ctx context.Context) (func() error, error) {
	if b.copies == nil {
		b.copies = &worktree.Copies{From: b.sealed, Into: filepath.Dir(b.sealed)}
	}
	dir, remove, err := b.copies.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	_, err = b.copies.Repository(ctx, dir)
	return func() error { return remove(ctx) }, err
}

// rounds measures every way once a round, in another order each time: what comes second finds a warmer cache.
func (b *bench) rounds(ctx context.Context, n int) error {
	for round := range n + 1 { // the first is thrown away
		for _, c := range contests {
			ways := slices.Clone(c.ways)
			if round%2 == 1 {
				slices.Reverse(ways)
			}
			for _, w := range ways {
				begin := time.Now()
				undo, err := w.do(b, ctx)
				took := time.Since(begin)
				if err != nil {
					return err
				}
				if err := undo(); err != nil {
					return err
				}
				if round > 0 {
					b.took[c.name+w.name] = append(b.took[c.name+w.name], took)
				}
			}
		}
	}
	return b.tree.Close(ctx)
}

// print says how the ways compare.
func (b *bench) print(out io.Writer) (within bool) {
	fmt.Fprintf(out, "\n%d files\n", b.files)
	for _, c := range contests {
		first := b.took[c.name+c.ways[0].name]
		for _, w := range c.ways[1:] {
			these := b.took[c.name+w.name]
			var ratios []float64
			for i, took := range these {
				ratios = append(ratios, took.Seconds()/first[i].Seconds())
			}
			ratio := median(ratios)
			fmt.Fprintf(out, "  %-22s %6.0f ms   %-20s %6.0f ms   %.2fx (%.2f to %.2f)\n", w.name, millis(these), c.ways[0].name, millis(first), ratio, slices.Min(ratios), slices.Max(ratios))
			if c.name == "cut" {
				within = ratio <= limit
			}
		}
	}
	return within
}

func millis(all []time.Duration) float64 {
	var ms []float64
	for _, d := range all {
		ms = append(ms, d.Seconds()*1000)
	}
	return median(ms)
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
