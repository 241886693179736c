package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// canary is a secret that must not arrive in the jail, and the shell command that goes for it.
type canary struct {
	what string // what kind of secret
	road string // how it is gone for
	text string // the secret itself, random
	try  string // prints the secret where the road is open
}

// canaryFiles are where secrets of people lie below a home.
var canaryFiles = []struct{ what, name string }{
	{"ssh key", ".ssh/id_ed25519"}, {"aws credentials", ".aws/credentials"}, {"gh token", ".config/gh/hosts.yml"}, {"netrc", ".netrc"},
	{"keychain", "Library/Keychains/login.keychain-db"}, {"runner credentials", "actions-runner/.credentials"},
}

// fate is what became of a canary.
type fate struct {
	What    string `json:"what"`
	Road    string `json:"road"`
	Outside bool   `json:"outside"` // it arrives without a jail, so that the road is one
	Inside  bool   `json:"inside"`  // it arrived in the jail
}

// canaries plants secrets in a home of its own below the state folder, in a process and behind a port, and goes for each by
// every road, outside and in the jail.
func (a *app) canaries(ctx context.Context) ([]fate, error) {
	state, err := a.stateDir()
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err != nil {
		return nil, err
	}
	top, err := os.MkdirTemp(state, "canary-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(top)
	outside, err := sandbox.Open(sandbox.Options{Tier: sandbox.Unconfined, Allow: []sandbox.Tier{sandbox.Unconfined}, TmpDir: top})
	if err != nil {
		return nil, err
	}
	inside, err := sandbox.Open(sandbox.Options{Tier: sandbox.Tier(a.config.Sandbox.Tier), TmpDir: top})
	if err != nil {
		return nil, err
	}
	all, done, err := plant(ctx, outside, top)
	if err != nil {
		return nil, err
	}
	defer done()
	var fates []fate
	for _, c := range all {
		fates = append(fates, fate{What: c.what, Road: c.road})
	}
	for i, box := range []*sandbox.Sandbox{outside, inside} {
		said, err := goFor(ctx, box, filepath.Join(top, fmt.Sprint("tree-", i)), all)
		if err != nil {
			return nil, err
		}
		for j, c := range all {
			if arrived := strings.Contains(said[j], c.text); i == 0 {
				fates[j].Outside = arrived
			} else {
				fates[j].Inside = arrived
			}
		}
	}
	return fates, nil
}

// plant makes the secrets; done takes process and port away.
func plant(ctx context.Context, box *sandbox.Sandbox, top string) (all []canary, done func(), err error) {
	secret := func() string { return "canary-" + strings.ToLower(rand.Text()) }
	home := filepath.Join(top, "home")
	for _, f := range canaryFiles {
		name := filepath.Join(home, f.name)
		text := secret()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			return nil, nil, err
		}
		q := quoted(name)
		all = append(all,
			canary{f.what, "by its path", text, "cat " + q}, canary{f.what, "through a link", text, "ln -sf " + q + " link; cat link; rm -f link"},
			canary{f.what, "by a second name", text, "ln -f " + q + " name; cat name; rm -f name"}, canary{f.what, "through a process", text, "cat /proc/[0-9]*/root" + q},
			canary{f.what, "from the working folder upwards", text, "cat ../home/" + f.name})
	}
	environment, argument, port := secret(), secret(), secret()
	all = append(all,
		canary{"environment", "of another process", environment, "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep CANARY"},
		canary{"argument", "of another process", argument, "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep canary-; ps ax -o args 2>/dev/null | grep canary-"})
	victim, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = box.Run(victim, sandbox.Command{Argv: []string{"sh", "-c", "sleep 120", argument}, Dir: top, Write: []string{top}, Env: []string{"PATH=/usr/bin:/bin", "CANARY=" + environment}})
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return nil, nil, err
	}
	go answer(l, port)
	all = append(all, canary{"port of this machine", "on loopback", port, fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && head -n 1 <&3", l.Addr().(*net.TCPAddr).Port)})
	time.Sleep(300 * time.Millisecond) // the process is there by then
	return all, func() { stop(); <-ended; l.Close() }, nil
}

// quoted is a word of a shell: as it is where that is plain.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// answer tells everyone who connects the secret, as a server of this machine that trusts its neighbours.
func answer(l net.Listener, text string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = fmt.Fprintln(c, text)
		c.Close()
	}
}

// goFor tries every road in one run, and returns what was printed on each.
func goFor(ctx context.Context, box *sandbox.Sandbox, dir string, all []canary) ([]string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var script strings.Builder
	for _, c := range all {
		fmt.Fprintf(&script, "( %s ) 2>/dev/null\necho; echo '%s'\n", c.try, roadEnd)
	}
	res, err := box.Run(ctx, sandbox.Command{
		Argv: []string{"bash", "-c", script.String()}, Dir: dir, Write: []string{dir}, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + dir}, Wall: time.Minute,
	})
	said := strings.Split(string(res.Stdout), "\n"+roadEnd+"\n")
	if err == nil && len(said) != len(all)+1 {
		err = fmt.Errorf("%d of %d roads were tried: %s", len(said)-1, len(all), res.Stderr)
	}
	return said, err
}

// roadEnd stands alone on a line after what one road printed.
const roadEnd = "-- end of the road --"

// doctorCanary shows what became of each canary.
func (a *app) doctorCanary(ctx context.Context) error {
	all, err := a.canaries(ctx)
	if err != nil {
		return ourSide(fmt.Errorf("try canaries: %w", err))
	}
	arrived, blocked, none := 0, 0, 0
	for _, f := range all {
		switch {
		case f.Inside:
			arrived++
		case f.Outside:
			blocked++
		default:
			none++
		}
	}
	if a.json {
		a.printJSON(map[string]any{"ok": arrived == 0, "canaries": all})
	} else {
		for _, f := range all {
			word := "kept out"
			if f.Inside {
				word = "ARRIVED "
			} else if !f.Outside {
				word = "no road " // it does not arrive outside either
			}
			fmt.Fprintf(a.out, "%s  %-22s %s\n", word, f.What, f.Road)
		}
		fmt.Fprintf(a.out, "%d kept out, %d arrived, %d roads that are none on this machine\n", blocked, arrived, none)
	}
	if arrived > 0 {
		return stopped()
	}
	return nil
}
