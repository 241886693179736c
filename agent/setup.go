package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/trace"
)

// SetupClass is the class of infra that a failed setup stops with.
const SetupClass = "setup"

// prepare runs the setup commands, where there are any. over says that the job ends with their failure.
func (a *Agent) prepare(ctx context.Context) (stop trace.Stop, over bool, err error) {
	s := a.Oracle.Setup
	if s == nil || len(s.Commands) == 0 {
		return trace.Stop{}, false, nil
	}
	a.step(fmt.Sprintf("setting up: %s", strings.Join(s.Commands, "; ")))
	err = a.Oracle.Prepare(ctx)
	var no *oracle.Unprepared
	switch {
	case errors.As(err, &no) && ctx.Err() == nil:
		return unprepared(no), true, nil
	case err != nil:
		return trace.Stop{}, false, err
	}
	p := a.Oracle.Prepared()
	a.step(fmt.Sprintf("set up: %d requests to %s, %d bytes", p.Requests, orNone(p.Hosts), p.Bytes))
	return trace.Stop{}, false, a.broken()
}

func orNone(hosts []string) string {
	if len(hosts) == 0 {
		return "no registry"
	}
	return strings.Join(hosts, ", ")
}

// unprepared is the stop of a setup that did not come to its end.
func unprepared(no *oracle.Unprepared) trace.Stop {
	if no.Tier {
		return trace.Stop{Reason: trace.NeedsTier, Class: SetupClass, Text: "The setup commands cannot be run here: " + no.Why + ".",
			Next: "Use a machine with bubblewrap, or leave setup out of .github/redraft.yml."}
	}
	text := "The setup did not come to its end: " + no.Why + "."
	if no.Command != "" {
		text = fmt.Sprintf("The setup command `%s` failed: %s.", no.Command, no.Why)
	}
	if no.Tail != "" {
		text += " Its last words:\n" + no.Tail
	}
	return trace.Stop{Reason: trace.Infra, Class: SetupClass, Text: text,
		Next: "Look at reports/setup-N and " + oracle.RegistryFile + " in the evidence: what was asked of registries and refused stands there. Then correct setup in .github/redraft.yml on the default branch."}
}

// KeepFile writes a file below the evidence directory; it is Setup.Keep.
func KeepFile(evidence string) func(name string, b []byte) error {
	return func(name string, b []byte) error {
		return writeFile(filepath.Join(evidence, filepath.FromSlash(name)), b)
	}
}
