package trace

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// JobFile is the name of the file that the repair process is started with.
const JobFile = "JOB.json"

const maxJob = 16 << 20

//go:embed job.schema.json
var jobSchema []byte

// JobSchema is the JSON schema (draft 2020-12) of JOB.json.
func JobSchema() []byte { return bytes.Clone(jobSchema) }

// WriteJob writes dir/JOB.json atomically, readable by its owner alone, and returns its path. A job that ReadJob
// would refuse is not written.
func WriteJob(dir string, job Job) (path string, err error) {
	if err := job.check(); err != nil {
		return "", fmt.Errorf("write %s: %w", JobFile, err)
	}
	b, err := json.MarshalIndent(job, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", JobFile, err)
	}
	return filepath.Join(dir, JobFile), writeDurable(dir, JobFile, append(b, '\n'))
}

// ReadJob reads a JOB.json, strictly: another version, an unknown field, a relative path or a value out of its
// range is an error that names it.
func ReadJob(path string) (Job, error) {
	f, err := os.Open(path)
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJob+1))
	if err == nil && len(b) > maxJob {
		err = fmt.Errorf("larger than %d bytes", maxJob)
	}
	var job Job
	if err == nil {
		job, err = decodeJob(b)
	}
	if err != nil {
		return Job{}, fmt.Errorf("read job %s: %w", path, err)
	}
	return job, nil
}

func decodeJob(b []byte) (Job, error) {
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Job{}, err
	}
	if head.Version == nil {
		return Job{}, errors.New("version is missing")
	}
	if *head.Version != JobVersion {
		return Job{}, fmt.Errorf("version is %d, this program reads %d", *head.Version, JobVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var job Job
	if err := dec.Decode(&job); err != nil {
		return Job{}, err
	}
	return job, job.check()
}

var (
	idPattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	allTiers      = []string{"mechanic", "small", "big"}
	allModes      = []string{"", ModeDiagnose, ModeLook, ModeAgain}
)

// check says everything that is wrong with a job at once.
func (j Job) check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(j.Version == JobVersion, "version is %d, this program reads %d", j.Version, JobVersion)
	want(idPattern.MatchString(j.ID), "id: %q is not safe as a file name", j.ID)
	want(j.RetryOf == "" || idPattern.MatchString(j.RetryOf), "retry_of: %q is no job id", j.RetryOf)
	want(commitPattern.MatchString(j.Root), "root: %q is no commit id", j.Root)
	want(j.Base == "" || commitPattern.MatchString(j.Base), "base: %q is no commit id", j.Base)
	want(j.RootTree == "" || commitPattern.MatchString(j.RootTree), "root_tree: %q is no tree id", j.RootTree)
	want(j.Attempt >= 0, "attempt: %d is below zero", j.Attempt)
	want(slices.Contains(allModes, j.Mode), "mode: %q is none of %s", j.Mode, strings.Join(allModes[1:], ", "))
	want(j.Check != "", "check: which check is red is missing")
	want(isObject(j.Checks), "checks: not an object")
	want(isObject(j.Needs), "needs: not an object")
	errs = append(errs, j.checkPaths(), j.checkModels(), j.Limits.check())
	return errors.Join(errs...)
}

func (j Job) checkPaths() error {
	var errs []error
	for _, p := range []struct {
		name, path string
		need       bool
	}{
		{"trees.root", j.Trees.Root, true},
		{"trees.merge", j.Trees.Merge, false},
		{"trees.base", j.Trees.Base, false},
		{"evidence", j.Evidence, true},
		{"scratch", j.Scratch, true},
		{"state", j.State, true},
	} {
		switch {
		case p.path == "" && p.need:
			errs = append(errs, fmt.Errorf("%s: missing", p.name))
		case p.path != "" && (!filepath.IsAbs(p.path) || strings.ContainsRune(p.path, 0)):
			errs = append(errs, fmt.Errorf("%s: %q is not an absolute path", p.name, p.path))
		}
	}
	return errors.Join(errs...)
}

func (j Job) checkModels() error {
	var errs []error
	for i, t := range j.Tiers {
		if !slices.Contains(allTiers, t) {
			errs = append(errs, fmt.Errorf("tiers: %q is none of %s", t, strings.Join(allTiers, ", ")))
		}
		if slices.Contains(j.Tiers[:i], t) {
			errs = append(errs, fmt.Errorf("tiers: %q stands there twice", t))
		}
	}
	for i, m := range j.Models {
		if !slices.Contains(allTiers[1:], m.Tier) {
			errs = append(errs, fmt.Errorf("models[%d].tier: %q is none of %s", i, m.Tier, strings.Join(allTiers[1:], ", ")))
		}
		if m.BaseURL == "" {
			errs = append(errs, fmt.Errorf("models[%d].base_url: missing", i))
		}
	}
	return errors.Join(errs...)
}

func (l Limits) check() error {
	for _, n := range []int64{int64(l.Turns), int64(l.Tokens), int64(l.Wall), int64(l.Runs), int64(l.Width),
		int64(l.MaxTokens), int64(l.Files), int64(l.Lines)} {
		if n < 0 {
			return fmt.Errorf("limits: %d is below zero", n)
		}
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}
