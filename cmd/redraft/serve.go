package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/bot/web"
	"github.com/redraft-dev/redraft/worktree"
)

const (
	defaultListen = "127.0.0.1:8797"
	shutdown      = 30 * time.Second // for jobs under way to stop in order
	minSecret     = 16               // bytes of a webhook secret
)

func (a *app) serveCmd() *cobra.Command {
	var listen string
	var once onceFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "answer red checks on GitHub as an App's server",
		Long: "serve takes an App's webhooks, keeps them on disk, and answers red checks with proved draft pull requests. What it\n" +
			"needs stands in the operator's configuration (github, serve); secrets come from the files named there or from\n" +
			"REDRAFT_APP_KEY and REDRAFT_WEBHOOK_SECRET, never from flags. With --once it handles one stored payload and says\n" +
			"what it would do: nothing is asked of GitHub and nothing is written, unless --do says to do it.\n" +
			"Exit: 0 stopped by a signal, or --once accepted; 1 --once: skipped; 2 usage or configuration; 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if once.file != "" {
				return a.serveOnce(cmd.Context(), once)
			}
			if once.do || cmd.Flags().Changed("event") || cmd.Flags().Changed("policy") || cmd.Flags().Changed("permission") {
				return usage("--do, --event, --policy and --permission go with --once")
			}
			return a.serve(cmd.Context(), listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on (default "+defaultListen+", or the configuration's)")
	once.add(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context, listen string) error {
	log := slog.New(slog.NewTextHandler(a.err, nil))
	o, err := a.serverOptions(log)
	if err != nil {
		return err
	}
	if listen != "" {
		o.listen = listen
	}
	s, err := a.startServer(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "redraft serves http://%s/webhook (health: /healthz, /readyz)\n", s.addr)
	go a.sweepDaily(ctx, log, o.state)
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	fmt.Fprintln(a.out, "stopping: jobs under way are put back")
	return errors.Join(err, s.stop())
}

// serverOptions are what a server is made from.
type serverOptions struct {
	listen  string
	jobs    int
	state   string // queue, mirrors, evidence
	bases   string // toolchain bases
	hub     github.Options
	host    string
	secrets []string
	models  []trace.ModelChoice
	tiers   []string
	limits  plan.Limits
	sandbox trace.SandboxChoice
	setup   *trace.SetupChoice
	key     *proof.Key // signs evidence; nil if nothing does
	seed    int64
	bots    bool
	clean   *redact.Cleaner
	log     *slog.Logger
	onTrace func(trace.Event)
}

// serverOptions reads what a server needs from the operator's configuration, its files and the environment.
func (a *app) serverOptions(log *slog.Logger) (serverOptions, error) {
	c := a.config
	o := serverOptions{listen: orElse(c.Serve.Listen, defaultListen), jobs: c.Serve.Jobs, bots: c.GitHub.Bots, log: log, tiers: []string{"mechanic", "small", "big"}, limits: a.ceilings(), seed: 1,
		sandbox: trace.SandboxChoice{Tier: c.Sandbox.Tier, Allow: c.Sandbox.Allow}, setup: c.Setup.choice("")}
	var err error
	if o.state, err = a.stateDir(); err != nil {
		return o, err
	}
	o.bases = o.state
	if o.key, err = c.Sign.key(); err != nil {
		return o, err
	}
	if c.GitHub.AppID == 0 {
		return o, usage("github.app-id is missing in the configuration: the number on the App's settings page")
	}
	key, err := a.appKey()
	if err != nil {
		return o, err
	}
	if o.secrets, err = a.webhookSecrets(); err != nil {
		return o, err
	}
	o.clean = redact.New(append(append(secrets(a.getenv), o.secrets...), string(key))...)
	a.clean = o.clean
	o.hub = github.Options{API: c.GitHub.API, Git: c.GitHub.Git, CA: c.GitHub.CAFile, AppID: c.GitHub.AppID, Key: key, Log: log}
	o.host = hostOf(orElse(c.GitHub.Git, "https://github.com"))
	o.models = c.tiers()
	return o, nil
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// ceilings are the operator's limits over the defaults.
func (a *app) ceilings() plan.Limits {
	c, l := a.config.Limits.plan(), plan.DefaultLimits
	for _, x := range []struct {
		set int
		at  *int
	}{{c.Turns, &l.Turns}, {c.Minutes, &l.Minutes}, {c.Files, &l.Files}, {c.Lines, &l.Lines}, {c.OpenDrafts, &l.OpenDrafts}, {c.PerDay, &l.PerDay}} {
		if x.set > 0 {
			*x.at = x.set
		}
	}
	return l
}

// appKey is the App's private key, from the environment or the file that the configuration names.
func (a *app) appKey() ([]byte, error) {
	if key := a.getenv("REDRAFT_APP_KEY"); key != "" {
		return []byte(key), nil
	}
	name := a.config.GitHub.PrivateKeyFile
	if name == "" {
		return nil, usage("no private key: name its file in github.private-key-file, or set REDRAFT_APP_KEY")
	}
	return readSecret("github.private-key-file", name)
}

// webhookSecrets are the secrets that sign what GitHub sends.
func (a *app) webhookSecrets() ([]string, error) {
	var out []string
	if s := a.getenv("REDRAFT_WEBHOOK_SECRET"); s != "" {
		out = append(out, s)
	}
	for _, name := range a.config.GitHub.WebhookSecretFiles {
		b, err := readSecret("github.webhook-secret-files", name)
		if err != nil {
			return nil, err
		}
		out = append(out, strings.TrimRight(string(b), "\r\n"))
	}
	if len(out) == 0 {
		return nil, usage("no webhook secret: name its file in github.webhook-secret-files, or set REDRAFT_WEBHOOK_SECRET")
	}
	if len(out) > 2 {
		return nil, usage("%d webhook secrets; one is enough, and two while it is changed", len(out))
	}
	for _, s := range out {
		if len(s) < minSecret {
			return nil, usage("a webhook secret of %d bytes is too short to sign anything; take %d or more random ones", len(s), minSecret)
		}
	}
	return out, nil
}

// readSecret reads a small file; its content is in no error.
func readSecret(key, name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("read %s: %w", key, err)
	}
	if len(b) == 0 || len(b) > 64<<10 {
		return nil, usage("read %s: %s is empty or no secret (%d bytes)", key, name, len(b))
	}
	return b, nil
}

// server is a running server.
type server struct {
	addr   string
	queue  *queue.Queue
	bot    *bot.Bot
	failed chan error
	hangUp context.CancelFunc // no new deliveries
	closed chan struct{}      // the door is shut
}

// openServer opens the queue and makes the bot; nothing runs yet and nothing is taken.
func (a *app) openServer(ctx context.Context, o serverOptions) (*server, error) {
	hub, err := github.New(o.hub)
	if err != nil {
		return nil, usage("serve: %w", err)
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		return nil, ourSide(err)
	}
	store, err := worktree.Open(git, o.state)
	if err != nil {
		return nil, ourSide(err)
	}
	q, err := queue.Open(ctx, queue.Options{Path: filepath.Join(o.state, "queue.db"), Jobs: o.jobs, Log: o.log})
	if err != nil {
		return nil, ourSide(err)
	}
	s := &server{queue: q, failed: make(chan error, 1), hangUp: func() {}, closed: make(chan struct{})}
	s.bot = &bot.Bot{
		Hub: hub, Queue: q, Store: store, Host: o.host, Operator: bot.Operator{Limits: o.limits, Bots: o.bots}, Clean: o.clean, Log: o.log, OnTrace: o.onTrace,
		Repair: a.repairOptions(o),
	}
	return s, nil
}

// run starts the handlers.
func (s *server) run(ctx context.Context) error {
	return s.queue.Run(context.WithoutCancel(ctx), queue.Handlers{Delivery: s.bot.Handle, Job: s.bot.Work})
}

// startServer opens the queue, takes back what a dead one had begun, and begins to listen.
func (a *app) startServer(ctx context.Context, o serverOptions) (*server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, usage("listen on %s: %w. Choose another address with --listen or serve.listen", o.listen, err)
	}
	s, err := a.openServer(ctx, o)
	if err != nil {
		l.Close()
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		l.Close()
		return nil, ourSide(errors.Join(err, s.queue.Close(ctx)))
	}
	door, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	s.addr, s.hangUp = l.Addr().String(), hangUp
	go func() {
		defer close(s.closed)
		if err := (&web.Server{Queue: s.queue, Secrets: o.secrets, Version: version(), Log: o.log}).Serve(door, l); err != nil {
			s.failed <- ourSide(err)
		}
	}()
	return s, nil
}

// repairOptions are what every repair process of this server is given.
func (a *app) repairOptions(o serverOptions) bot.Repair {
	return bot.Repair{
		Exe: []string{repairExe()}, Getenv: a.getenv, State: o.bases, Models: o.models, Detect: detect, Named: a.named, Tiers: o.tiers, Sandbox: o.sandbox, Setup: o.setup, Key: o.key, Seed: o.seed,
		Sandboxes: append([]string{string(sandbox.Bubblewrap), string(sandbox.Landlock), string(sandbox.Seatbelt)}, o.sandbox.Allow...),
	}
}

// detect is a model that answers on this machine now, where the configuration names none.
func detect(ctx context.Context) []trace.ModelChoice {
	for _, found := range model.Detect(ctx) {
		if id := pick(found.Models, ""); id != "" {
			return []trace.ModelChoice{{Tier: "small", Name: id, BaseURL: found.BaseURL, Model: id}}
		}
	}
	return nil
}

// ended is how the newest job of a target ended; ok is false while it has not.
func (s *server) ended(ctx context.Context, repo int64, t bot.Target) (end bot.End, ok bool, err error) {
	j, ok, err := s.queue.Last(ctx, fmt.Sprintf("%d/%s", repo, t.Key()))
	if err != nil || !ok || j.State != queue.Closed {
		return end, false, err
	}
	return end, true, json.Unmarshal(j.End, &end)
}

// stop ends the server: no new deliveries, jobs under way are stopped in order and put back.
func (s *server) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	s.hangUp()
	<-s.closed
	if err := s.queue.Close(ctx); err != nil {
		return ourSide(fmt.Errorf("stop: %w", err))
	}
	return nil
}

// onceFlags are those of serve --once.
type onceFlags struct {
	file, event, policy, permission string
	do                              bool
}

func (f *onceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "once", "", "handle one stored payload, EVENT.json, and say what would be done")
	cmd.Flags().BoolVar(&f.do, "do", false, "with --once: do it, with the configured App, and wait for the end; the server must not be running")
	cmd.Flags().StringVar(&f.event, "event", "", "with --once: the event's name, as in check_run (default: the file name up to its first dot)")
	cmd.Flags().StringVar(&f.policy, "policy", "", "with --once: configuration to decide under (default: .github/redraft.yml of this folder, if there is one)")
	cmd.Flags().StringVar(&f.permission, "permission", "write", "with --once: the sender's permission to assume")
}

// serveOnce decides about a stored payload as the server would, from the payload alone.
func (a *app) serveOnce(ctx context.Context, f onceFlags) error {
	payload, err := os.ReadFile(f.file)
	if err != nil {
		return usage("read the payload: %w", err)
	}
	name := f.event
	if name == "" {
		name, _, _ = strings.Cut(filepath.Base(f.file), ".")
	}
	if f.do {
		return a.doOnce(ctx, name, payload)
	}
	policy, err := oncePolicy(f.policy)
	if err != nil {
		return err
	}
	e, err := bot.Decode(name, "once", payload)
	var did bot.Did
	if err == nil {
		hub := bot.Offline{Event: e, Policy: policy, Permit: f.permission, Me: bot.Self{App: a.config.GitHub.AppID, Login: "redraft[bot]"}}
		b := &bot.Bot{Hub: hub, Queue: noQueue{}, Operator: bot.Operator{Limits: a.ceilings(), Bots: a.config.GitHub.Bots}, Clean: a.clean, Log: slog.New(slog.DiscardHandler)}
		did, err = b.Decide(ctx, e)
	}
	var skip *bot.Skip
	if err != nil && !errors.As(err, &skip) {
		return ourSide(err)
	}
	a.showOnce(e, name, did.Decision, skip)
	if skip != nil {
		return stopped()
	}
	return nil
}

// doOnce handles a payload for good: through the queue, as a delivery of its own, to the end of what it leads to.
func (a *app) doOnce(ctx context.Context, event string, payload []byte) error {
	o, err := a.serverOptions(slog.New(slog.NewTextHandler(a.err, nil)))
	if err != nil {
		return err
	}
	s, err := a.openServer(ctx, o)
	if err != nil {
		return err
	}
	close(s.closed) // there is no door
	id := "once-" + strings.ToLower(rand.Text())
	_, err = s.queue.Receive(ctx, queue.Delivery{ID: id, Event: event, Payload: payload, Received: time.Now()})
	if err == nil {
		err = s.run(ctx)
	}
	for idle := false; err == nil && !idle; {
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
			var n queue.Stats
			n, err = s.queue.Stats(ctx)
			idle = n.Unhandled+n.Waiting+n.Running == 0
		}
	}
	_, fate, _, readErr := s.queue.Delivery(context.WithoutCancel(ctx), id)
	if err := errors.Join(err, readErr); err != nil {
		return ourSide(errors.Join(err, s.stop()))
	}
	if a.json {
		a.printJSON(map[string]any{"event": event, "outcome": fate.Outcome, "text": fate.Text, "trouble": fate.Trouble})
	} else {
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%s: %s\n", fate.Outcome, orElse(fate.Text, fate.Trouble))))
	}
	if err := s.stop(); err != nil {
		return err
	}
	if fate.Failed {
		return ourSide(errors.New(fate.Trouble))
	}
	if fate.Outcome != "accepted" {
		return stopped()
	}
	return nil
}

// oncePolicy is the configuration to decide under, nil if there is none.
func oncePolicy(name string) ([]byte, error) {
	given := name != ""
	b, err := os.ReadFile(orElse(name, plan.FileName))
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, usage("read the configuration: %w", err)
	}
	return b, nil
}

// showOnce says what would be done.
func (a *app) showOnce(e bot.Event, name string, d bot.Decision, skip *bot.Skip) {
	if a.json {
		a.printJSON(map[string]any{"event": name, "action": e.Action, "repo": e.Repo.String(), "sender": e.Sender.Login, "skip": skip, "decision": d})
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s in %s by %s\n", name, e.Action, orElse(strings.Trim(e.Repo.String(), "/"), "no repository"), orElse(e.Sender.Login, "nobody"))
	if skip != nil {
		fmt.Fprintf(&b, "skipped      %s: %s\n", skip.Reason, skip.Text)
	}
	for _, c := range d.Cancel {
		fmt.Fprintf(&b, "would cancel unfinished jobs of %s (%s): %s\n", c.Target, c.Reason, c.Why)
	}
	for _, c := range d.Close {
		fmt.Fprintf(&b, "would close  draft %d: %s\n", c.Draft.Number, c.Why)
	}
	for _, j := range d.Start {
		fmt.Fprintf(&b, "would start  a job for %s\n  key        %s\n  root       %s\n  red        %s\n  draft      against %s\n", j.Target, j.Key, j.Root, orElse(strings.Join(j.Checks, ", "), "whatever check the configuration names"), j.Target.Branch)
	}
	if d.Explain != nil {
		fmt.Fprintf(&b, "would say again how the last job of %s ended\n", d.Explain)
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

// noQueue is a queue that knows nothing and takes nothing, for decisions that are only looked at.
type noQueue struct{ bot.Queue }

func (noQueue) Get(context.Context, string) ([]byte, error)           { return nil, nil }
func (noQueue) Since(context.Context, string, time.Time) (int, error) { return 0, nil }
