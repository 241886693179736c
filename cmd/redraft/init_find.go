package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/worktree"
)

// found is what init saw in a repository, each thing with where from.
type found struct {
	Checks    []foundCheck    `json:"checks"` // the likeliest first
	RunsOn    foundLabels     `json:"runs-on"`
	Branch    foundBranch     `json:"branch"`
	Workflows []foundWorkflow `json:"workflows"`
	Steps     []foundStep     `json:"steps"` // what the workflows run besides the checks
}

// foundCheck is a check of the plan, under the name that it gets in the file.
type foundCheck struct {
	ID         string          `json:"id"`
	Run        string          `json:"run"`
	Dir        string          `json:"dir"`
	Source     string          `json:"source"`
	Provenance plan.Provenance `json:"provenance"`
	Job        string          `json:"job,omitempty"` // the job of a workflow that runs it, "" if none was seen
	Active     bool            `json:"active"`        // it stands in the file, and not only as a comment
}

type foundLabels struct {
	Labels []string `json:"labels"`
	From   string   `json:"from"`
}

type foundBranch struct {
	Name string `json:"name"` // "" if it is not known
	From string `json:"from"`
}

type foundWorkflow struct {
	Name string `json:"name"` // as GitHub names it: its name, else its path; "" when it cannot be read
	Path string `json:"path"`
	Why  string `json:"why,omitempty"` // it is not one to answer
}

type foundStep struct {
	Run  string `json:"run"` // its first line
	From string `json:"from"`
}

func (c foundCheck) text() string {
	s := c.Run
	if c.Dir != "." {
		s += "   in " + c.Dir
	}
	if !c.Active {
		s += "   (as a comment: its name on GitHub is not known)"
	}
	return s
}

func (c foundCheck) from() string {
	s := fmt.Sprintf("%s (%s)", c.Source, c.Provenance)
	if c.Job != "" {
		s += ", run by " + c.Job
	}
	return s
}

// find looks at a checkout. It runs nothing of it.
func (a *app) find(ctx context.Context, repo worktree.Repo, root *os.Root, runsOn []string) (found, error) {
	tree := settled{root.FS()}
	f := found{Checks: []foundCheck{}, Workflows: []foundWorkflow{}, Steps: []foundStep{}, Branch: defaultBranch(repo)}
	set, err := plan.Find(tree)
	var none *plan.NoCheck
	if err != nil && !errors.As(err, &none) {
		return f, ourSide(err)
	}
	flows, err := readWorkflows(ctx, tree)
	if err != nil {
		return f, ourSide(err)
	}
	for _, w := range flows {
		f.Workflows = append(f.Workflows, a.seen(w))
	}
	f.Checks = a.checksIn(set.Checks, flows)
	f.Steps = a.steps(set.Checks, flows)
	f.RunsOn, err = a.runnerLabels(runsOn, flows, runtime.GOOS, runtime.GOARCH)
	return f, err
}

// settled opens only folders and regular files: a named pipe would never answer.
type settled struct{ fs.FS }

func (s settled) Open(name string) (fs.File, error) {
	info, err := fs.Stat(s.FS, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file")}
	}
	return s.FS.Open(name)
}

// defaultBranch is what the clone noted of its origin, else the branch of HEAD. The file is read here since a symbolic ref
// is always a file of its own where refs are files at all; where they are not, HEAD's branch counts.
func defaultBranch(repo worktree.Repo) foundBranch {
	const ref = "refs/remotes/origin/HEAD"
	if name, ok := symbolicRef(filepath.Join(repo.CommonDir, filepath.FromSlash(ref))); ok {
		return foundBranch{name, ref}
	}
	if repo.Branch != "" && printable(repo.Branch) {
		return foundBranch{repo.Branch, "HEAD: there is no " + ref}
	}
	return foundBranch{"", "neither " + ref + " nor HEAD, which is on no branch"}
}

func symbolicRef(file string) (branch string, ok bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<10 {
		return "", false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	branch, ok = strings.CutPrefix(strings.TrimRight(string(b), "\n"), "ref: refs/remotes/origin/")
	return branch, ok && branch != "" && printable(branch)
}

// printable says whether a text may stand in a file of ours: one line, of signs that can be seen, of a bearable length.
func printable(s string) bool {
	return utf8.ValidString(s) && len(s) <= 200 && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// plain is printable, without an expression, and untouched by the cleaner: what is shown is what is written.
func (a *app) plain(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && printable(s) && !strings.Contains(s, "${{") && a.clean.Terminal(s) == s
}

// seen is a workflow as a person is told of it.
func (a *app) seen(w workflowFile) foundWorkflow {
	f := foundWorkflow{Name: a.clean.Terminal(w.name), Path: a.clean.Terminal(w.path), Why: a.clean.Terminal(w.why)}
	if f.Why == "" && !a.plain(w.name) {
		f.Why = "its name holds signs that are not put into a file; add it by hand"
	}
	return f
}

// answered are the names of the workflows to answer, each once.
func (f found) answered() (names []string) {
	for _, w := range f.Workflows {
		if w.Why == "" && !slices.Contains(names, w.Name) {
			names = append(names, w.Name)
		}
	}
	return names
}

// runnerLabels are the given labels, else those of a self-hosted runner in a workflow here, a Mac's first, else this
// machine's as its runner would register.
func (a *app) runnerLabels(given []string, flows []workflowFile, goos, goarch string) (foundLabels, error) {
	if len(given) > 0 {
		for i, l := range given {
			if given[i] = strings.TrimSpace(l); !a.plain(given[i]) {
				return foundLabels{}, usage("--runs-on: %q is no label; write words of letters, digits and dashes, separated by commas", l)
			}
		}
		return foundLabels{given, "--runs-on"}, nil
	}
	var first foundLabels
	for _, w := range flows {
		for _, j := range w.jobs {
			if !hasFold(j.runsOn, "self-hosted") || slices.ContainsFunc(j.runsOn, func(l string) bool { return !a.plain(l) }) {
				continue
			}
			l := foundLabels{j.runsOn, a.clean.Terminal(w.path + ", job " + j.id)}
			if hasFold(l.Labels, "macOS") {
				return l, nil
			}
			if first.Labels == nil {
				first = l
			}
		}
	}
	if first.Labels != nil {
		return first, nil
	}
	own := machineLabels(goos, goarch)
	if own == nil {
		return first, usage("find the labels of a runner: no workflow here names a self-hosted one, and GitHub's runner does not run on %s. Name them with --runs-on", goos)
	}
	return foundLabels{own, "this machine, as its runner would register: no workflow here names a self-hosted runner"}, nil
}

func hasFold(all []string, one string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, one) })
}

// machineLabels are the labels that GitHub's runner gives itself; none where it does not run.
// https://docs.github.com/en/actions/how-tos/manage-runners/self-hosted-runners/use-in-a-workflow
func machineLabels(goos, goarch string) []string {
	system := map[string]string{"darwin": "macOS", "linux": "Linux", "windows": "Windows"}[goos]
	arch := map[string]string{"amd64": "X64", "arm64": "ARM64", "arm": "ARM"}[goarch]
	if system == "" || arch == "" {
		return nil
	}
	return []string{"self-hosted", system, arch}
}

// checksIn gives the checks the names that they get in the file. GitHub's jobs are matched with checks by name, so one of
// several checks is of use only under its job's name: those whose job is seen are active under it, and if there is none the
// likeliest is. A single check answers for every job, under any name.
func (a *app) checksIn(checks []plan.Check, flows []workflowFile) []foundCheck {
	out := []foundCheck{}
	taken := map[string]bool{}
	for _, c := range checks {
		base := foundCheck{ID: fitting(c.ID), Run: c.Run, Dir: orElse(c.Dir, "."), Source: a.clean.Terminal(c.Source), Provenance: c.Provenance}
		if !a.plain(base.Dir) || !fits(base) {
			continue // a folder whose name no file of ours can hold
		}
		entries := []foundCheck{}
		for _, j := range jobsOf(c, flows) {
			n := base
			n.ID, n.Job, n.Active = j.key(), a.clean.Terminal(j.from), true
			if !taken[n.ID] && a.plain(n.ID) && fits(n) {
				taken[n.ID] = true
				entries = append(entries, n)
			}
		}
		if len(entries) == 0 {
			entries = append(entries, base)
		}
		if len(checks) == 1 {
			entries[0].ID, entries = base.ID, entries[:1]
		}
		out = append(out, entries...)
	}
	if len(out) > 0 && !slices.ContainsFunc(out, func(c foundCheck) bool { return c.Active }) {
		out[0].Active = true
	}
	return out
}

// fits says whether a check can stand in a file: the parser of that file is asked.
func fits(c foundCheck) bool {
	c.Active = true
	f, err := plan.ParseFile([]byte("version: 1\nchecks:\n" + c.entry()))
	return err == nil && len(f.Checks) == 1 && f.Checks[0].ID == c.ID && f.Checks[0].Run == c.Run && f.Checks[0].Dir == c.Dir
}

// fitting is the name of a check with a dash for each sign that no name may hold.
func fitting(id string) string {
	id = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.,:()/ -", r) {
			return r
		}
		return '-'
	}, id)
	return strings.Trim(redact.Clip(id, 90), " ")
}

// steps are what the workflows to answer run besides the checks, each once: worth a person's look, and in no file.
func (a *app) steps(checks []plan.Check, flows []workflowFile) []foundStep {
	out := []foundStep{}
	seen := map[string]bool{}
	for _, w := range flows {
		if w.why != "" {
			continue
		}
		for _, j := range w.jobs {
			for _, s := range j.steps {
				line, _, _ := strings.Cut(strings.TrimSpace(s.run), "\n")
				line = redact.Clip(a.clean.Terminal(strings.TrimSpace(line)), 100)
				if line == "" || seen[line] || slices.ContainsFunc(checks, func(c plan.Check) bool { return s.runs(c) }) {
					continue
				}
				seen[line] = true
				out = append(out, foundStep{line, a.clean.Terminal(w.path + ", job " + j.id)})
			}
		}
	}
	return out
}

// jobOf is a job that was seen to run a check.
type jobOf struct {
	workflowJob
	from string
}

// mostJobs are the jobs that are taken for one check.
const mostJobs = 5

func jobsOf(c plan.Check, flows []workflowFile) (all []jobOf) {
	for _, w := range flows {
		for _, j := range w.jobs {
			if w.why == "" && len(all) < mostJobs && slices.ContainsFunc(j.steps, func(s workflowStep) bool { return s.runs(c) }) {
				all = append(all, jobOf{j, w.path + ", job " + j.id})
			}
		}
	}
	return all
}

// runs says whether a step runs a check's command in its folder: with other arguments it is that check still.
func (s workflowStep) runs(c plan.Check) bool {
	if s.run == "" || path.Clean(orElse(s.dir, ".")) != orElse(c.Dir, ".") {
		return false
	}
	var words []string // go test, npm test, pytest: what stands before the arguments
	for _, w := range strings.Fields(c.Run) {
		if strings.ContainsAny(w[:1], "-.") || len(words) == 2 {
			break
		}
		words = append(words, regexp.QuoteMeta(w))
	}
	command := regexp.MustCompile(`(?:^|[\s;&|(])` + strings.Join(words, `[ \t]+(?:run[ \t]+)?`) + `(?:$|[\s;&|)])`)
	return command.MatchString(s.run)
}

var expression = regexp.MustCompile(`\$\{\{.*?\}\}`)

// key is the name of the job's checks on GitHub, or a glob of it: a matrix writes its values behind it.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idname
func (j workflowJob) key() string {
	switch name := orElse(j.name, j.id); {
	case expression.MatchString(name):
		return expression.ReplaceAllString(name, "*")
	case j.matrix:
		return name + " (*)"
	default:
		return name
	}
}

// Bounds on reading workflows, which are anyone's.
const (
	mostWorkflows   = 200
	longestWorkflow = 256 << 10
	mostLines       = 10_000
	timeToRead      = 20 * time.Second // for all; the parser takes quadratic time
)

// readWorkflows reads the workflows of a tree. What cannot be read says why; an error is about the folder itself.
func readWorkflows(ctx context.Context, tree fs.FS) (all []workflowFile, err error) {
	names, err := fs.ReadDir(tree, workflowDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the workflows: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, timeToRead)
	defer cancel()
	for _, d := range names {
		if ext := path.Ext(d.Name()); ext != ".yml" && ext != ".yaml" || len(all) >= mostWorkflows {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w := workflowFile{path: workflowDir + "/" + d.Name(), why: "not read: the others took too long"}
		if limited.Err() == nil {
			w = openWorkflow(tree, w.path)
		}
		all = append(all, w)
	}
	return all, nil
}

func openWorkflow(tree fs.FS, name string) workflowFile {
	b, err := readBounded(tree, name, longestWorkflow)
	if err != nil {
		return workflowFile{path: name, why: "cannot be read: " + err.Error()}
	}
	w, err := parseWorkflow(name, b)
	if err != nil {
		return workflowFile{path: name, why: "cannot be read: " + err.Error()}
	}
	return w
}

func readBounded(tree fs.FS, name string, most int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("it has more than %d KiB", most>>10)
	}
	return b, err
}
