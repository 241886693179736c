package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Setup is what is to be run on the root before its check is, and with what. Its fields are set once.
type Setup struct {
	Commands []string // shell text each; nothing is set up if empty
	From     string   // absolute folder of the root's files, as sealed
	State    string   // absolute folder kept between jobs: prepared bases lie below it
	Domain   string   // whose jobs may share a base: one repository's one target; nobody's if empty

	Port  int               // of the commands' loopback, where the proxy is
	Env   []string          // how package managers find it, KEY=value
	Files map[string]string // likewise in their home, path below it -> text

	// Proxy starts the proxy, which writes its record into a file; what serve is given it answers for, until stop.
	Proxy func(ctx context.Context, record *os.File) (serve func(net.Listener), stop func() error, err error)
	Copy  func(ctx context.Context, from, to string) error // copies a folder to one that is not there yet, following no link
	Keep  func(name string, b []byte) error                // keeps a file as evidence; nothing is kept if nil

	Wall  time.Duration // of one command; 15 minutes if zero
	Quota int64         // bytes of all bases together; 10 GiB if zero
}

// RegistryFile is the record of what setup commands asked of registries, in the evidence.
const RegistryFile = "registry.jsonl"

// Unprepared is why a setup did not come to its end: the end of a job, not a failure of ours.
type Unprepared struct {
	Tier    bool   // this sandbox tier cannot do it
	Command string // that failed
	Why     string // a clause: what became of it
	Tail    string // of its output
}

func (u *Unprepared) Error() string {
	if u.Command == "" {
		return "set up: " + u.Why
	}
	return fmt.Sprintf("set up: `%s`: %s", u.Command, u.Why)
}

// prepared is the base that copies start from.
type prepared struct {
	dir   string // of its own below State
	setup proof.Setup
	runs  []setupRun
	size  int64
	files map[string]string // evidence, path -> sha256
	held  *os.File          // a shared lock: nobody removes it meanwhile
}

// setupRun is one setup command as it ran.
type setupRun struct {
	Record         proof.RunRecord
	Stdout, Stderr []byte
}

// Prepare runs the setup commands, or finds what an earlier job of the same target, root and commands left. It is called
// once, before See, and does nothing where there is no setup. The error is an *Unprepared when it is not our side's.
func (o *Oracle) Prepare(ctx context.Context) (err error) {
	if o.Setup == nil || len(o.Setup.Commands) == 0 {
		return nil
	}
	if !o.Box.Forwards() {
		return &Unprepared{Tier: true, Why: fmt.Sprintf("setup commands reach registries through a loopback of their own, which the %s tier does not have", o.Box.Tier())}
	}
	tree, err := patch.TreeID(o.Root, o.Links)
	if err != nil {
		return fmt.Errorf("hash the root: %w", err)
	}
	shelf := shelf{dir: filepath.Join(o.Setup.State, "prepared"), quota: o.Setup.Quota}
	b, err := shelf.find(ctx, o.setupKey(tree), func(dir string) (*prepared, error) { return o.prepare(ctx, dir, tree) })
	if err != nil {
		return err
	}
	b.setup.Commands = slices.Clone(o.Setup.Commands)
	o.base = b
	return o.keepSetup(b)
}

// setupKey is all that decides what a setup leaves, and for whom it may be used again.
func (o *Oracle) setupKey(tree string) string {
	domain := o.Setup.Domain
	if domain == "" {
		domain = "alone " + filepath.Base(o.Scratch) + time.Now().String()
	}
	b, err := json.Marshal([]any{1, tree, domain, o.Setup.Commands, o.Setup.Env, o.Setup.Files, o.Needs, o.Box.Tier()})
	if err != nil {
		return "" // of strings: cannot be
	}
	return proof.Sum(b)[:32]
}

// prepare runs the commands in dir, which is empty, and strips what they leave to what is not the root's.
func (o *Oracle) prepare(ctx context.Context, dir, tree string) (b *prepared, err error) {
	b = &prepared{dir: dir}
	if err := o.furnish(ctx, b); err != nil {
		return nil, err
	}
	record, err := os.Create(filepath.Join(dir, RegistryFile))
	if err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	defer record.Close()
	err = o.runSetup(ctx, b, tree, record)
	if err == nil {
		err = o.strip(b)
	}
	if err == nil {
		b.setup.At = time.Now().UTC().Truncate(time.Second)
		err = b.ledger()
	}
	if err != nil { // what was tried is shown all the same
		return nil, errors.Join(err, o.keepSetup(b))
	}
	return b, nil
}

// furnish makes the folders that a setup writes to.
func (o *Oracle) furnish(ctx context.Context, b *prepared) error {
	if err := o.Setup.Copy(ctx, o.Setup.From, b.tree()); err != nil {
		return fmt.Errorf("copy the root to set it up: %w", err)
	}
	if err := os.Mkdir(b.home(), 0o700); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	for name, text := range o.Setup.Files {
		file := filepath.Join(b.home(), filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return fmt.Errorf("set up: %w", err)
		}
	}
	return nil
}

func (b *prepared) tree() string { return filepath.Join(b.dir, "tree") }
func (b *prepared) home() string { return filepath.Join(b.dir, "home") }

// runSetup runs the commands one after the other in the same folders, as far as they end well.
func (o *Oracle) runSetup(ctx context.Context, b *prepared, tree string, record *os.File) (err error) {
	serve, stop, err := o.Setup.Proxy(ctx, record)
	if err != nil {
		return fmt.Errorf("start the registry proxy: %w", err)
	}
	defer func() { err = errors.Join(err, stop()) }()
	remove, err := o.repository(ctx, b.tree())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	cache, err := o.cache(setupCache)
	if err != nil {
		return err
	}
	for i, command := range o.Setup.Commands {
		res, err := o.Box.Run(ctx, sandbox.Command{
			Argv: []string{"sh", "-e", "-c", command}, Dir: b.tree(), Env: o.setupEnv(b, cache), Read: o.Needs.Read,
			Write: write(b.tree(), b.home(), cache), Wall: o.setupWall(), Output: maxSetupOutput,
			Forward: []sandbox.Forward{{Port: o.Setup.Port, Serve: serve}},
		})
		if err != nil {
			return fmt.Errorf("set up: %w", err)
		}
		if err := o.ranSetup(b, i+1, command, tree, res); err != nil {
			return err
		}
	}
	return nil
}

const (
	setupCache     = "base-setup"
	maxSetupOutput = 1 << 20
	maxTail        = 1500
)

func (o *Oracle) setupWall() time.Duration {
	if o.Setup.Wall > 0 {
		return o.Setup.Wall
	}
	return 15 * time.Minute
}

// setupEnv is a setup command's environment: the check's own tools, the proxy, and a home whose caches stay.
func (o *Oracle) setupEnv(b *prepared, cache string) []string {
	env := newEnviron(o.env(request{dir: b.tree(), argv: []string{}}, o.Check, b.home(), cache, "", ""))
	env.drop(plan.Offline...)
	modules := env.get("GOMODCACHE")
	for _, kv := range o.Setup.Env {
		env.setPair(kv)
	}
	if here := filepath.Join(modules, "cache", "download"); modules != "" && isDir(here) { // what the machine has need not be fetched
		env.set("GOPROXY", "file://"+filepath.ToSlash(here)+","+env.get("GOPROXY"))
	}
	env.set("GOMODCACHE", filepath.Join(b.home(), "go", "pkg", "mod"))
	env.set("CARGO_HOME", filepath.Join(b.home(), ".cargo"))
	env.set("PYTHONUSERBASE", filepath.Join(b.home(), ".local"))
	return env.list()
}

// ranSetup records one command, and is its failure if it has failed.
func (o *Oracle) ranSetup(b *prepared, n int, command, tree string, res sandbox.Result) error {
	if o.Clean != nil {
		res.Stdout, res.Stderr = []byte(o.Clean(string(res.Stdout))), []byte(o.Clean(string(res.Stderr)))
	}
	r := setupRun{Stdout: res.Stdout, Stderr: res.Stderr, Record: proof.RunRecord{
		Phase: proof.SetupPhase, N: n, Mode: proof.Plain, Command: command, Dir: ".", Tree: tree, Place: b.tree(), Tier: string(o.Box.Tier()), Exit: res.Exit,
		Signal: res.Signal, Limit: res.Limit, Truncated: res.Truncated, Refused: res.Refused, Seconds: res.Wall.Seconds(),
	}}
	b.runs = append(b.runs, r)
	o.told(Run{RunRecord: r.Record, Result: res, Report: report.Report{Exit: res.Exit, Signal: res.Signal, Limit: res.Limit}})
	why := fmt.Sprintf("exit status %d", res.Exit)
	switch {
	case res.Limit != "":
		why = "it was ended by the " + res.Limit + " limit"
	case res.Signal != "":
		why = "it was ended by " + res.Signal
	case res.Exit == 0:
		return nil
	}
	return &Unprepared{Command: command, Why: why, Tail: tail(slices.Concat(res.Stdout, []byte("\n"), res.Stderr))}
}

// tail is the end of an output, in whole lines where there are some.
func tail(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) > maxTail {
		b = b[len(b)-maxTail:]
		if _, rest, ok := bytes.Cut(b, []byte("\n")); ok {
			b = rest
		}
	}
	return strings.ToValidUTF8(string(b), "?")
}

// ledger adds up what the proxy recorded. Nothing depends on it: it is for people.
func (b *prepared) ledger() error {
	f, err := os.Open(filepath.Join(b.dir, RegistryFile))
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	defer f.Close()
	for d := json.NewDecoder(io.LimitReader(f, maxRecord)); ; {
		var r struct {
			Host  string
			Bytes int64
		}
		if err := d.Decode(&r); err != nil {
			break
		}
		b.setup.Requests++
		b.setup.Bytes += r.Bytes
		if r.Host != "" && !slices.Contains(b.setup.Hosts, r.Host) {
			b.setup.Hosts = append(b.setup.Hosts, r.Host)
		}
	}
	slices.Sort(b.setup.Hosts)
	return nil
}

const maxRecord = 64 << 20

// keepSetup writes the outputs of the commands and the record of registries into the evidence.
func (o *Oracle) keepSetup(b *prepared) error {
	b.files = map[string]string{}
	for _, r := range b.runs {
		if o.Keep == nil {
			break
		}
		files, err := o.Keep(r.Record, sandbox.Result{Stdout: r.Stdout, Stderr: r.Stderr})
		if err != nil {
			return fmt.Errorf("keep the output of setup-%d: %w", r.Record.N, err)
		}
		for name, sum := range files {
			b.files[name] = sum
		}
	}
	if o.Setup.Keep == nil {
		return nil
	}
	f, err := os.Open(filepath.Join(b.dir, RegistryFile))
	if err != nil {
		return fmt.Errorf("keep %s: %w", RegistryFile, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err == nil {
		err = o.Setup.Keep(RegistryFile, text)
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", RegistryFile, err)
	}
	b.files[RegistryFile] = proof.Sum(text)
	return nil
}

// Prepared is what was set up, or nil.
func (o *Oracle) Prepared() *proof.Setup {
	if o.base == nil {
		return nil
	}
	s := o.base.setup
	return &s
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}
