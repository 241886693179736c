package plan

import "fmt"

// Reason is why no command can be told from a step of a workflow.
type Reason string

const (
	BadFile        Reason = "file"        // the workflow, or an action that it uses, cannot be read
	NoStep         Reason = "step"        // no step is meant, or more than one
	BadExpression  Reason = "expression"  // an expression that only a run knows the value of: secrets, needs, steps, vars
	BadMatrix      Reason = "matrix"      // which values of the matrix are meant is not known
	BadShell       Reason = "shell"       // neither sh nor bash
	BadRunner      Reason = "runner"      // the job runs where this machine cannot follow
	BadFolder      Reason = "folder"      // the working directory lies outside the tree
	BadEnvironment Reason = "environment" // a variable that a step before this one, or the runner, sets
	BadAction      Reason = "action"      // an action that is not known to run a command
)

// Unplanned says why a step gives no command, and what of it is to be configured. It is a *NoCheck as well.
type Unplanned struct {
	Reason Reason `json:"reason"`
	What   string `json:"what,omitempty"` // the expression, variable, action or shell that is meant
	Asks   string `json:"asks,omitempty"` // of an expression: the part that only a run knows, as in secrets.TOKEN
	Text   string `json:"text"`
}

func (u *Unplanned) Error() string { return u.Text }

// Unwrap lets whoever knows a *NoCheck alone stop for the same reason.
func (u *Unplanned) Unwrap() error { return &NoCheck{u.Text} }

func unplanned(r Reason, what, format string, args ...any) *Unplanned {
	return &Unplanned{Reason: r, What: what, Text: fmt.Sprintf(format, args...)}
}

// blame is the value of what an expression with this error gives.
func (u *Unplanned) blame() unknown {
	if u.Asks != "" {
		return unknown(u.Asks)
	}
	return unknown(u.What)
}
