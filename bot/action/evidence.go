package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/queue"
)

// indexFile names the file beside the jobs' folders that says which folder is of which job.
const indexFile = "jobs.json"

// entry is one job of the index.
type entry struct {
	Folder string `json:"folder"`
	Key    string `json:"key"`
	Root   string `json:"root"`
}

// index makes the evidence's folder, with a word on which job's will be where, for the half that publishes.
func (r *Run) index(jobs []queue.Job) ([]entry, error) {
	var all []entry
	for _, j := range jobs {
		all = append(all, entry{Folder: j.ID + "-1", Key: j.Key, Root: j.Head})
	}
	if err := os.MkdirAll(r.Bot.Evidence, 0o700); err != nil {
		return nil, fmt.Errorf("make the evidence folder: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(r.Bot.Evidence, indexFile)); err == nil {
		return nil, fmt.Errorf("%s holds the evidence of another run; every run has a folder of its own", r.Bot.Evidence)
	}
	return all, r.writeIndex(all)
}

func (r *Run) writeIndex(all []entry) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.Bot.Evidence, indexFile), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the index of the evidence: %w", err)
	}
	return nil
}

// Bounds of evidence that comes from another machine.
const (
	mostFiles  = 20_000
	mostBytes  = 1 << 30
	indexBytes = 1 << 20
)

var folderName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,99}$`)

// receive copies evidence that another machine made into a new folder below temp: plain files alone, so that nothing is
// written through a link of somebody else's, and at most so many bytes.
func receive(from, temp string) (into string, all []entry, err error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		return "", nil, fmt.Errorf("download the artifact of the repair job there first: %w", err)
	}
	defer root.Close()
	if all, err = readIndex(root); err != nil {
		return "", nil, err
	}
	if into, err = os.MkdirTemp(temp, "redraft-received-"); err != nil {
		return "", nil, err
	}
	c := copier{from: root, bytes: mostBytes, files: mostFiles}
	for _, e := range all {
		if err := c.folder(e.Folder, filepath.Join(into, e.Folder)); err != nil {
			return "", nil, fmt.Errorf("copy %s: %w", e.Folder, err)
		}
	}
	return into, all, nil
}

func readIndex(root *os.Root) (all []entry, err error) {
	f, err := root.Open(indexFile)
	if err != nil {
		return nil, fmt.Errorf("it is not what a repair job left: %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, indexBytes)).Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	if len(all) > mostJobs {
		return nil, fmt.Errorf("%s names %d jobs; a run has at most %d", indexFile, len(all), mostJobs)
	}
	for _, e := range all {
		if !folderName.MatchString(e.Folder) {
			return nil, fmt.Errorf("%s: %q is no folder of a job", indexFile, e.Folder)
		}
	}
	return all, nil
}

// copier copies plain files, within bounds for all of them together.
type copier struct {
	from  *os.Root
	bytes int64
	files int
}

var errTooMuch = errors.New("it is larger than evidence is")

// folder copies a folder; one that is not there is an empty one, as after a repair job that died.
func (c *copier) folder(name, into string) error {
	if err := os.MkdirAll(into, 0o700); err != nil {
		return err
	}
	dir, err := c.from.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(mostFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, e := range entries {
		if c.files--; c.files < 0 {
			return errTooMuch
		}
		from, to := path.Join(name, e.Name()), filepath.Join(into, e.Name())
		switch {
		case e.IsDir():
			err = c.folder(from, to)
		case e.Type().IsRegular():
			err = c.file(from, to)
		default:
			err = fmt.Errorf("%s is no plain file", from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) file(from, to string) error {
	in, err := c.from.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is no plain file", from))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, c.bytes+1))
	if c.bytes -= n; err == nil && c.bytes < 0 {
		err = errTooMuch
	}
	return errors.Join(err, out.Close())
}

// evidenceOf is the evidence of a job, or why there is none to admit.
func (r *Run) evidenceOf(j bot.Job) (e entry, missing string) {
	for _, e := range r.found {
		switch {
		case e.Key == j.Key && e.Root == j.Root:
			return e, ""
		case e.Key == j.Key:
			missing = fmt.Sprintf("the evidence is of %.12s, and %.12s is red now", e.Root, j.Root)
		}
	}
	if missing == "" {
		missing = fmt.Sprintf("the repair job left no evidence for %s", j.Target)
	}
	return e, missing
}
