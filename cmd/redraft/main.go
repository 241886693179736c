// Command redraft answers red checks: it sees the red on this machine, lets a model on this machine repair it,
// and keeps only what the repository's own check proves. This package is wiring, flags and configuration; it decides
// nothing. Everything it prints passes agent/redact.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

func main() {
	sandbox.Main() // this binary is also the sandbox's shim, and then never returns from here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
