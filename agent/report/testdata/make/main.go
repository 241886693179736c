// Make writes the reports in testdata by running the real tools on small programs of ours. README.md beside it says how
// programs and tools are laid out. It is never built with the product: its folder is named testdata.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// fixture is one command on one program, and the report files that it leaves.
type fixture struct {
	name, command string
	files         []string
}

func main() {
	log.SetFlags(0)
	cache, err := os.UserCacheDir()
	if err != nil {
		log.Fatal(err)
	}
	dir := flag.String("dir", "agent/report/testdata", "the testdata folder")
	tools := flag.String("tools", filepath.Join(cache, "redraft-report-tools"), "where tools are installed")
	flag.Parse()
	archives, err := filepath.Glob(filepath.Join(*dir, "make", "*", "*.txtar"))
	if err != nil || len(archives) == 0 {
		log.Fatalf("no programs under %s: %v", *dir, err)
	}
	var failed bool
	for _, a := range archives {
		if !wanted(flag.Args(), a) {
			continue
		}
		if err := makeAll(*dir, *tools, a); err != nil {
			log.Printf("%s: %v", a, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// wanted reports whether an archive is of a named tool, or is named itself as tool/program; all are if none is named.
func wanted(names []string, archive string) bool {
	tool := filepath.Base(filepath.Dir(archive))
	program := tool + "/" + strings.TrimSuffix(filepath.Base(archive), ".txtar")
	for _, n := range names {
		if n == tool || n == program {
			return true
		}
	}
	return len(names) == 0
}

// makeAll makes every fixture of one archive.
func makeAll(dir, tools, archive string) error {
	tool := filepath.Base(filepath.Dir(archive))
	home := filepath.Join(tools, tool)
	if err := install(home, filepath.Join(filepath.Dir(archive), "setup.sh")); err != nil {
		return fmt.Errorf("install %s: %w", tool, err)
	}
	a, err := txtar.ParseFile(archive)
	if err != nil {
		return err
	}
	fixtures, err := parse(string(a.Comment))
	if err != nil {
		return err
	}
	for _, f := range fixtures {
		out, err := f.make(home, a)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		to := filepath.Join(dir, tool, f.name+".txt")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, out, 0o644); err != nil {
			return err
		}
		fmt.Println(to)
	}
	return nil
}

// parse reads an archive's comment: "NAME $ COMMAND" and "NAME < FILE" lines; # begins a remark.
func parse(comment string) ([]fixture, error) {
	var out []fixture
	at := map[string]int{}
	for _, line := range strings.Split(comment, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " ", 3)
		if len(f) != 3 || f[1] != "$" && f[1] != "<" {
			return nil, fmt.Errorf("neither NAME $ COMMAND nor NAME < FILE: %q", line)
		}
		if f[1] == "$" {
			at[f[0]] = len(out)
			out = append(out, fixture{name: f[0], command: f[2]})
			continue
		}
		i, ok := at[f[0]]
		if !ok {
			return nil, fmt.Errorf("a file of no command: %q", line)
		}
		out[i].files = append(out[i].files, f[2])
	}
	return out, nil
}

// install runs a tool's setup.sh in its folder, once for each text of it. A tool without one is on PATH.
func install(home, script string) error {
	text, err := os.ReadFile(script)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	mark := filepath.Join(home, ".installed")
	if done, err := os.ReadFile(mark); err == nil && bytes.Equal(done, text) {
		return nil
	}
	if err := errors.Join(os.RemoveAll(home), os.MkdirAll(home, 0o755)); err != nil {
		return err
	}
	cmd := exec.Command("bash", "-euc", string(text))
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(mark, text, 0o644)
}

// make runs the command in a fresh tree and gives the text of the fixture, without want: lines.
func (f fixture) make(home string, a *txtar.Archive) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "report-make-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return nil, err
	}
	tree := filepath.Join(tmp, "tree")
	if err := unpack(tree, a); err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("sh", "-c", f.command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = tree, &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Join(home, "bin")+":"+filepath.Join(home, "node_modules", ".bin")+":"+os.Getenv("PATH"),
		"TOOL="+home, "CI=true", "TERM=dumb", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1")
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	scrub := func(b []byte) []byte { return scrubbed(b, tree, home) }
	return f.text(tree, cmd.ProcessState, scrub, stdout.Bytes(), stderr.Bytes())
}

// text puts a fixture together: header, blank line, standard output, standard error, files.
func (f fixture) text(tree string, state *os.ProcessState, scrub func([]byte) []byte, stdout, stderr []byte) ([]byte, error) {
	var head, raw bytes.Buffer
	fmt.Fprintf(&head, "command: %s\nexit: %d\n", f.command, state.ExitCode())
	raw.Write(scrub(stdout))
	if stderr = scrub(stderr); len(stderr) > 0 {
		fmt.Fprintf(&head, "stderr: %d\n", len(stderr))
		raw.Write(stderr)
	}
	for _, pattern := range f.files {
		names, _ := filepath.Glob(filepath.Join(tree, pattern))
		if len(names) == 0 {
			return nil, fmt.Errorf("no file %s was left; standard error: %s", pattern, stderr)
		}
		sort.Strings(names)
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			rel, _ := filepath.Rel(tree, name)
			b = scrub(b)
			fmt.Fprintf(&head, "file: %s %d\n", filepath.ToSlash(rel), len(b))
			raw.Write(b)
		}
	}
	return append(append(head.Bytes(), '\n'), raw.Bytes()...), nil
}

func unpack(tree string, a *txtar.Archive) error {
	for _, f := range a.Files {
		name := filepath.Join(tree, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			return err
		}
	}
	return os.MkdirAll(tree, 0o755)
}

// scrubbed hides where this machine keeps things, and who it is.
func scrubbed(b []byte, tree, home string) []byte {
	host, _ := os.Hostname()
	user, _ := os.UserHomeDir()
	for _, p := range [][2]string{{tree, "/tree"}, {home, "/tool"}, {filepath.Dir(tree), "/tmp"}, {`hostname="` + host + `"`, `hostname="host"`}, {user + "/", "/home/dev/"}} {
		b = bytes.ReplaceAll(b, []byte(p[0]), []byte(p[1]))
	}
	return b
}
