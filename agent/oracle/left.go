package oracle

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/redraft-dev/redraft/agent/report"
)

// Bounds on the report files of one run that are taken.
const (
	maxLeft      = 500
	maxLeftBytes = 32 << 20
	maxLeftLook  = 100_000 // entries that are looked at
)

// leaving are the report files that tools write into the tree by themselves.
// https://maven.apache.org/surefire/maven-surefire-plugin/test-mojo.html#reportsDirectory
// https://docs.gradle.org/current/userguide/java_testing.html#test_reporting
// https://nexte.st/docs/machine-readable/junit/
var leaving = []struct{ word, glob string }{
	{"mvn", "**/target/surefire-reports/TEST-*.xml"},
	{"mvn", "**/target/failsafe-reports/TEST-*.xml"},
	{"gradle", "**/build/test-results/*/TEST-*.xml"},
	{"nextest", "**/target/nextest/*/junit.xml"},
}

// globs are where the check's command leaves reports in the tree, relative to it.
func (o *Oracle) globs() []string {
	var out []string
	if o.Check.Report != "" {
		out = append(out, path.Join(slash(o.Check.Dir), o.Check.Report), o.Check.Report)
	}
	for _, l := range leaving {
		if strings.Contains(o.Check.Run, l.word) || strings.Contains(o.Check.Run, "make") {
			out = append(out, l.glob)
		}
	}
	return out
}

// left are the report files of a run: what lies in its own folder, and what its tools wrote into the tree. One that was
// written before the run began or after it ended is of another run, and is not believed.
func (o *Oracle) left(reports, tree string, began, ended time.Time) []report.File {
	l := lookout{began: began.Add(-2 * time.Second), ended: ended.Add(2 * time.Second), clean: o.Clean} // file systems count in steps
	if reports != "" {
		l.take(reports, nil)
	}
	if globs := o.globs(); len(globs) > 0 {
		l.take(tree, globs)
	}
	return l.found
}

// lookout looks for report files.
type lookout struct {
	began, ended time.Time
	clean        func(string) string
	found        []report.File
	bytes        int64
	looked       int
}

// take walks a folder and takes the files that match a glob, or all if there is none. Links are never followed.
func (l *lookout) take(dir string, globs []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if l.looked++; l.looked > maxLeftLook || len(l.found) >= maxLeft {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "node_modules" || d.Name() == ".git") {
				return fs.SkipDir
			}
			return nil // what cannot be read is no report
		}
		wanted := len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool {
			ok, err := doublestar.Match(g, name)
			return ok && err == nil
		})
		if wanted && d.Type().IsRegular() {
			l.read(root, name)
		}
		return nil
	})
}

func (l *lookout) read(root *os.Root, name string) {
	f, err := root.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.ModTime().Before(l.began) || fi.ModTime().After(l.ended) || l.bytes+fi.Size() > maxLeftBytes {
		return
	}
	b, err := io.ReadAll(io.LimitReader(f, maxLeftBytes-l.bytes))
	if err != nil {
		return
	}
	if l.clean != nil {
		b = []byte(l.clean(string(b)))
	}
	l.bytes += int64(len(b))
	l.found = append(l.found, report.File{Name: filepath.ToSlash(name), Data: b})
}
