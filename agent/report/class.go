package report

import (
	"slices"
	"strings"
)

// unjudged are the classes under which an exit status says nothing about the code.
var unjudged = map[Class]bool{
	MissingDependency: true, MissingAsset: true, NetworkNeeded: true, SecretNeeded: true, ServiceNeeded: true,
	NeedsTier: true, OutOfMemory: true, DiskFull: true, CommandNotFound: true, NoTests: true, Infra: true,
}

// ranked are the classes of findings, weakest first.
var ranked = []Class{FormatClass, LintClass, TypecheckClass, Assertion, Timeout, Panic, Compile, MissingDependency}

func strength(c Class) int { return slices.Index(ranked, c) }

// strongest is the class of the failing result that hides most of the others; Assertion if there is none.
func strongest(results []Result) Class {
	best := Class("")
	for _, f := range results {
		if f.failed() && strength(f.Class) > strength(best) {
			best = f.Class
		}
	}
	if best == "" {
		return Assertion
	}
	return best
}

// class is why the run is not green, or empty.
func (s *stream) class(rep Report) Class {
	switch {
	case rep.Limit != "":
		return limitClass(rep.Limit)
	case rep.Signal != "" || rep.Exit < 0:
		return Infra
	case rep.Exit == 0:
		return s.classOfZero(rep)
	case rep.Exit == 127 || rep.Exit == 126 || s.notFound: // POSIX sh: not found, not executable
		return CommandNotFound
	case s.diskFull:
		return DiskFull
	case s.noMemory:
		return OutOfMemory
	case refusedSocket(s.run.Refused):
		return NeedsTier
	case s.missing || s.others.marks[MissingDependency]:
		return MissingDependency
	case s.others.marks[NoTests] && !s.others.ran && !s.others.failed():
		return NoTests
	case s.killed || killedByShell(rep.Exit):
		return Infra
	}
	return strongest(rep.Results)
}

// classOfZero doubts an exit status of zero: everything that was begun must have been seen to end.
func (s *stream) classOfZero(rep Report) Class {
	isTest := rep.Format == "go-test" || rep.Format == "go-test-json"
	switch {
	case rep.Truncated || s.broken || s.dropped || s.unended > 0 || s.others.dropped || s.others.partial || len(rep.Failed()) > 0:
		return Infra
	case (isTest || s.others.tests()) && !s.ran && !s.others.ran:
		return NoTests
	}
	return ""
}

func limitClass(limit string) Class {
	switch limit {
	case "wall":
		return Timeout
	case "memory":
		return OutOfMemory
	case "disk":
		return DiskFull
	}
	return Infra
}

// killedByShell reports whether a shell passed on that its child was ended from outside: 128 plus HUP, INT, KILL or TERM.
func killedByShell(exit int) bool { return slices.Contains([]int{129, 130, 137, 143}, exit) }

// refusedSocket reports whether the filter refused a call that a stronger tier's own loopback would have served, or the
// sandbox a second one inside of itself.
func refusedSocket(refused []string) bool {
	return slices.ContainsFunc(refused, func(call string) bool {
		name, _, _ := strings.Cut(call, " ")
		return slices.Contains([]string{"socket", "socketpair", "connect", "bind", "sendto", "sandbox_apply"}, name)
	})
}

var nextSafeActions = map[Class]string{
	Assertion:         "Read got and want of the first finding; the code under test or the test is wrong, and a person decides which.",
	Panic:             "Read the trace from its first frame inside the tree; the process died there, so later tests did not run.",
	Compile:           "Fix the first compiler message; nothing after it was tested.",
	LintClass:         "Run the linter's own fixer, or change the line it names.",
	FormatClass:       "Run the project's formatter.",
	TypecheckClass:    "Fix the first type error.",
	MissingDependency: "Make the dependency or toolchain available on this machine (for Go: go mod download), then run again; no code needs changing.",
	MissingAsset:      "Put the missing file or data set where the check expects it, then run again; no code needs changing.",
	NetworkNeeded:     "Run this check where it may reach the network, or give it a local stand-in; runs here have no route out.",
	SecretNeeded:      "Leave this check to a place that holds its secret; runs here have none.",
	ServiceNeeded:     "Start the service the check expects inside its own command, then run again.",
	NeedsTier:         "Install bubblewrap so that runs get a loopback of their own; this sandbox tier refuses sockets.",
	Timeout:           "See which test was still running and why it waits; raise the timeout only when it is honestly slow.",
	OutOfMemory:       "Free memory or raise the run's memory ceiling, then run again.",
	DiskFull:          "Free disk space, then run again.",
	CommandNotFound:   "Install the command or correct its name in the configuration, then run again.",
	NoTests:           "Check that the command selects tests and that nothing ends the test process early; zero tests prove nothing.",
	Infra:             "Run again; the run did not come to an end that can be judged.",
}

// NextSafeAction is one sentence: what a person should do about a class.
func (c Class) NextSafeAction() string {
	if s := nextSafeActions[c]; s != "" {
		return s
	}
	if c == "" {
		return "Nothing needs doing."
	}
	return "Read the raw output; this class is not known here."
}
