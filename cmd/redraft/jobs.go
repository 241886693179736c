package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/trace"
)

// jobsCmd looks at this machine's jobs by their evidence, whoever began them, and cancels one by its id.
func (a *app) jobsCmd() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "list this machine's jobs; show or cancel one by its id",
		Long: "jobs lists the jobs of this machine, newest first, whoever began them: fix, demo or the server. It reads their evidence\n" +
			"and changes nothing.\nExit: 0 listed, 2 usage.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.listJobs(limit) },
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many")
	cmd.AddCommand(&cobra.Command{
		Use:   "show ID",
		Short: "print how a job stands",
		Long:  "show prints a job's state, stop and next safe action; with --json its whole status.json.\nExit: 0 shown, 2 no such job.",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.showJob(args[0]) },
	}, &cobra.Command{
		Use:   "cancel ID",
		Short: "cancel a job that runs",
		Long: "cancel leaves a durable mark that the job sees within a second. Cancelling twice is cancelling once.\n" +
			"Exit: 0 cancelled or cancelled before, 1 it had ended already, 2 no such job.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.cancelJob(args[0]) },
	})
	return cmd
}

// oneJob is a job as its evidence has it.
type oneJob struct {
	ID     string       `json:"id"`
	Began  time.Time    `json:"began"`
	Live   bool         `json:"live"` // its trace has no stop yet, and somebody may be at work
	Status trace.Status `json:"status"`
}

func (a *app) jobsDir() (string, error) {
	state, err := a.stateDir()
	return filepath.Join(state, "jobs"), err
}

// readJob reads a job's trace. An id is a folder's name and nothing else.
func readJob(dir, id string) (oneJob, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return oneJob{}, fmt.Errorf("%q is no id of a job", id)
	}
	events, torn, err := trace.Read(filepath.Join(dir, id, trace.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return oneJob{}, fmt.Errorf("there is no job %s on this machine; redraft jobs lists them", id)
	}
	if err != nil {
		return oneJob{}, err
	}
	j := oneJob{ID: id, Status: trace.StatusOf(events, torn)}
	j.Live = j.Status.Stop == nil
	if len(events) > 0 {
		j.Began = events[0].TS
	}
	return j, nil
}

func (a *app) listJobs(limit int) error {
	if limit < 1 {
		return usage("--limit takes a number from 1")
	}
	dir, err := a.jobsDir()
	if err != nil {
		return err
	}
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ourSide(fmt.Errorf("list the jobs: %w", err))
	}
	slices.SortFunc(names, func(x, y fs.DirEntry) int { return cmp.Compare(y.Name(), x.Name()) }) // ids begin with the time
	all := []oneJob{}
	for _, n := range names {
		if j, err := readJob(dir, n.Name()); err == nil && len(all) < limit {
			all = append(all, j)
		}
	}
	if a.json {
		a.printJSON(map[string]any{"jobs": all})
		return nil
	}
	for _, j := range all {
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%-28s  %-20s  %-18s  %s\n", j.ID, deref(j.Status.Repo), j.ending(), deref(j.Status.Target))))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.out, "No job has left evidence on this machine yet.")
	}
	return nil
}

func (j oneJob) ending() string {
	if j.Status.Stop == nil {
		return "under way or dead"
	}
	return string(j.Status.Stop.Reason)
}

func deref(s *string) string {
	if s == nil {
		return "?"
	}
	return *s
}

// jobByID is one job and its folder.
func (a *app) jobByID(id string) (oneJob, string, error) {
	dir, err := a.jobsDir()
	if err != nil {
		return oneJob{}, "", err
	}
	j, err := readJob(dir, id)
	if err != nil {
		return j, "", usage("%w", err)
	}
	return j, filepath.Join(dir, id), nil
}

func (a *app) showJob(id string) error {
	j, dir, err := a.jobByID(id)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(j)
		return nil
	}
	text := fmt.Sprintf("%s\n  %s, %s, by %s\n  root      %.12s\n  ended     %s\n", j.ID, deref(j.Status.Repo), deref(j.Status.Target), deref(j.Status.Trigger), deref(j.Status.Root), j.ending())
	if j.Status.Stop != nil {
		text += "            " + j.Status.Stop.Text + "\n"
	}
	if j.Status.NextSafeAction != nil {
		text += "  next      " + *j.Status.NextSafeAction + "\n"
	}
	fmt.Fprint(a.out, a.clean.Terminal(text+"  evidence  "+dir+"\n"))
	return nil
}

func (a *app) cancelJob(id string) error {
	j, dir, err := a.jobByID(id)
	if err != nil {
		return err
	}
	if !j.Live {
		fmt.Fprintf(a.out, "%s has ended already: %s\n", id, j.ending())
		return stopped()
	}
	if err := trace.RequestCancel(dir, "redraft jobs cancel"); err != nil {
		return ourSide(err)
	}
	fmt.Fprintf(a.out, "%s is asked to stop\n", id)
	return nil
}
