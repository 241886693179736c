package proof

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// maxSources is how many entries of a tree are looked at for the places of classes.
const maxSources = 100_000

// Placed are findings whose files lie in the tree where that can be told: a JVM names a source by the folders of its package,
// as in com/example/CartTest.java, and not by the source folder that these lie in. Findings are changed in a copy.
func Placed(root fs.FS, findings []report.Result) []report.Result {
	asked := map[string]string{}
	for _, f := range findings {
		if isClass(f.File) && fs.ValidPath(f.File) {
			if _, err := fs.Stat(root, f.File); err != nil {
				asked[f.File] = ""
			}
		}
	}
	if len(asked) == 0 {
		return findings
	}
	findSources(root, asked)
	out := slices.Clone(findings)
	for i, f := range out {
		if at := asked[f.File]; at != "" {
			out[i].File = at
		}
	}
	return out
}

func isClass(file string) bool {
	return slices.Contains([]string{".java", ".kt", ".groovy", ".scala"}, path.Ext(file))
}

// findSources finds the one file of the tree that each name is the end of; it stays empty where there are several.
func findSources(root fs.FS, asked map[string]string) {
	several, looked := map[string]bool{}, 0
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if looked++; looked > maxSources {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{".git", "node_modules", "target", "build"}, d.Name()) {
				return fs.SkipDir
			}
			return nil // what cannot be read holds no source
		}
		if !isClass(name) {
			return nil
		}
		for short, at := range asked {
			if strings.HasSuffix(name, "/"+short) {
				several[short] = several[short] || at != ""
				asked[short] = name
			}
		}
		return nil
	})
	for short := range several {
		if several[short] {
			asked[short] = ""
		}
	}
}
