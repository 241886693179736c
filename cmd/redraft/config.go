package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/registry"
	"github.com/redraft-dev/redraft/agent/trace"
)

// config is the operator's own file, config.yml. It alone may name addresses, raise ceilings or weaken the sandbox.
type config struct {
	Models  map[string]modelConfig `yaml:"models"` // by tier: small, big; others are there to be named by a repository or a workflow
	Sandbox sandboxConfig          `yaml:"sandbox"`
	Setup   setupConfig            `yaml:"setup"`
	Sign    signConfig             `yaml:"sign"`
	Limits  limitsConfig           `yaml:"limits"`
	Keep    keepConfig             `yaml:"keep"`
	GitHub  githubConfig           `yaml:"github"`
	Serve   serveConfig            `yaml:"serve"`
	State   string                 `yaml:"state"` // folder for mirrors, jobs and toolchain bases; the user's state folder if empty
}

type modelConfig struct {
	Name    string `yaml:"name"`
	BaseURL string `yaml:"base-url"`
	Model   string `yaml:"model"`
}

type sandboxConfig struct {
	Tier  string   `yaml:"tier"`  // strongest that works if empty
	Allow []string `yaml:"allow"` // weaker tiers allowed by name
}

// signConfig says what signs the evidence of what was proved.
type signConfig struct {
	KeyFile string `yaml:"key-file"` // private SSH key without a passphrase; nothing is signed if empty
}

// key is the operator's signing key, nil without one.
func (s signConfig) key() (*proof.Key, error) {
	if s.KeyFile == "" {
		return nil, nil
	}
	k, err := proof.LoadKey(s.KeyFile)
	if err != nil {
		return nil, usage("sign.key-file: %w", err)
	}
	return k, nil
}

// setupConfig lets the setup commands of repositories be run, and says where they may fetch from.
type setupConfig struct {
	Allow      bool             `yaml:"allow"` // setup commands are run; off if false
	Registries registriesConfig `yaml:"registries"`
}

// registriesConfig are https addresses, asked instead of the official registries where one is empty.
type registriesConfig struct {
	Go     string `yaml:"go"`     // as in GOPROXY
	NPM    string `yaml:"npm"`    // as in npm's registry
	PyPI   string `yaml:"pypi"`   // as in pip's index-url
	Crates string `yaml:"crates"` // a sparse index
}

// upstreams are the registries that are named, by ecosystem.
func (r registriesConfig) upstreams() map[string]string {
	all := map[string]string{"go": r.Go, "npm": r.NPM, "pypi": r.PyPI, "crates": r.Crates}
	maps.DeleteFunc(all, func(_, address string) bool { return address == "" })
	return all
}

// choice is the operator's word for jobs of one target, nil if there are to be no setup commands.
func (s setupConfig) choice(domain string) *trace.SetupChoice {
	if !s.Allow {
		return nil
	}
	return &trace.SetupChoice{Domain: domain, Registries: s.Registries.upstreams()}
}

type limitsConfig struct {
	Turns   int `yaml:"turns"`   // 6 if zero
	Minutes int `yaml:"minutes"` // 30 if zero
	Files   int `yaml:"files"`   // 50 if zero
	Lines   int `yaml:"lines"`   // 2000 if zero

	OpenDrafts int `yaml:"open-drafts"` // of one repository at once; 3 if zero
	PerDay     int `yaml:"per-day"`     // jobs of one repository; 10 if zero
}

// keepConfig says what of old jobs stays in the state folder.
type keepConfig struct {
	Days      int `yaml:"days"`      // evidence, and mirrors that nobody uses; 30 if zero
	Gigabytes int `yaml:"gigabytes"` // of the newest evidence; 5 if zero
}

// plan is what is said of limits; zero where nothing is.
func (l limitsConfig) plan() plan.Limits {
	return plan.Limits{Turns: l.Turns, Minutes: l.Minutes, Files: l.Files, Lines: l.Lines, OpenDrafts: l.OpenDrafts, PerDay: l.PerDay}
}

// githubConfig is how the server gets into GitHub. Secrets themselves never stand here: files or the environment hold them.
type githubConfig struct {
	AppID              int64    `yaml:"app-id"`
	PrivateKeyFile     string   `yaml:"private-key-file"`     // PEM; REDRAFT_APP_KEY holds the key itself instead
	WebhookSecretFiles []string `yaml:"webhook-secret-files"` // one, or two while a secret is changed; REDRAFT_WEBHOOK_SECRET holds one instead
	API                string   `yaml:"api"`                  // https://api.github.com if empty; https://HOST/api/v3 on Enterprise Server
	Git                string   `yaml:"git"`                  // https://github.com if empty
	CAFile             string   `yaml:"ca-file"`              // PEM of a private authority; the system's if empty
	Bots               bool     `yaml:"bots"`                 // answer red checks of bots' pull requests too
}

type serveConfig struct {
	Listen string `yaml:"listen"` // 127.0.0.1:8797 if empty
	Jobs   int    `yaml:"jobs"`   // at once; 1 if zero
}

// readConfig reads the operator's file; none is an empty one. Errors name line, column and key.
func readConfig(getenv func(string) string) (c config, name string, err error) {
	if name = getenv("REDRAFT_CONFIG"); name == "" {
		dir, err := configDir(getenv)
		if err != nil {
			return c, "", nil //nolint:nilerr // no home, no file
		}
		name = filepath.Join(dir, "config.yml")
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && getenv("REDRAFT_CONFIG") == "" {
		return c, "", nil
	}
	if err != nil {
		return c, name, usage("read the configuration: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return c, name, usage("read the configuration %s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return c, name, c.check(name)
}

// check refuses what the form of the file allows and its meaning does not.
func (c config) check(name string) error {
	for tier, m := range c.Models {
		if m.BaseURL == "" {
			return usage("read the configuration %s: models.%s has no base-url", name, tier)
		}
	}
	if err := registry.CheckUpstreams(c.Setup.Registries.upstreams()); err != nil {
		return usage("read the configuration %s: setup.registries: %w", name, err)
	}
	l := c.Limits
	for key, n := range map[string]int{
		"limits.turns": l.Turns, "limits.minutes": l.Minutes, "limits.files": l.Files, "limits.lines": l.Lines, "limits.open-drafts": l.OpenDrafts,
		"limits.per-day": l.PerDay, "keep.days": c.Keep.Days, "keep.gigabytes": c.Keep.Gigabytes, "serve.jobs": c.Serve.Jobs, "github.app-id": int(min(c.GitHub.AppID, 1)),
	} {
		if n < 0 {
			return usage("read the configuration %s: %s is below zero", name, key)
		}
	}
	return nil
}

// configDir is $XDG_CONFIG_HOME/redraft, and on macOS ~/Library/Application Support/redraft.
func configDir(getenv func(string) string) (string, error) {
	return userDir(getenv, "XDG_CONFIG_HOME", ".config")
}

// stateDir is where mirrors, jobs and toolchain bases live, never inside a repository.
func (a *app) stateDir() (string, error) {
	if a.config.State != "" {
		return filepath.Abs(a.config.State)
	}
	return userDir(a.getenv, "XDG_STATE_HOME", filepath.Join(".local", "state"))
}

func userDir(getenv func(string) string, xdg, below string) (string, error) {
	if d := getenv(xdg); filepath.IsAbs(d) {
		return filepath.Join(d, "redraft"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", usage("find your %s folder: neither %s nor HOME is set", below, xdg)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "redraft"), nil
	}
	return filepath.Join(home, below, "redraft"), nil
}

// tiers reads --tiers: a subset of mechanic, small, big, in that order.
func tiers(s string) ([]string, error) {
	var out []string
	rank := map[string]int{"mechanic": 1, "small": 2, "big": 3}
	last := 0
	for _, t := range strings.Split(s, ",") {
		t = strings.TrimSpace(t)
		n, ok := rank[t]
		if !ok {
			return nil, usage("--tiers %s: %q is none of mechanic, small, big", s, t)
		}
		if n <= last {
			return nil, usage("--tiers %s: name each tier once, in the order mechanic, small, big", s)
		}
		last = n
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--tiers is empty")
	}
	return out, nil
}
