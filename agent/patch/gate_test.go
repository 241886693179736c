package patch_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/redraft-dev/redraft/agent/patch"
)

type gateCase struct {
	name string
	code patch.Code
	diff string
}

// over makes the diff of a change of a file's only line.
func over(name, old, new string) string {
	return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%s\n+%s\n", name, name, name, name, old, new)
}

// newFile makes the diff of a new file of one line.
func newFile(name, line string) string {
	return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n", name, name, name, line)
}

const okDiff = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n"

func change(old, new string) string {
	if !strings.Contains(okDiff, old) {
		panic(old)
	}
	return strings.Replace(okDiff, old, new, 1)
}

var gateCases = []gateCase{
	{"as it should be", "", okDiff},
	{"with an index line", "", change("--- a/", "index 0123456..789abcd 100644\n--- a/")},
	{"with a function in the hunk", "", change(" @@\n", " @@ func f() {\n")},
	{"empty", patch.NothingChanged, ""},
	{"blank", patch.NothingChanged, "\n"},

	{"words in front", patch.BadDiff, "Here it is:\n" + okDiff},
	{"words behind", patch.BadDiff, okDiff + "Done.\n"},
	{"blank line behind", patch.BadDiff, okDiff + "\n"},
	{"signature of a mail behind", patch.BadDiff, okDiff + "-- \n2.40\n"},
	{"a line that git passes over", patch.BadDiff, change("--- a/", "shrug\n--- a/")},
	{"without the first line", patch.BadDiff, strings.SplitN(okDiff, "\n", 2)[1]},
	{"without names", patch.BadDiff, change("--- a/a.txt\n+++ b/a.txt\n", "")},
	{"without a hunk", patch.BadDiff, okDiff[:strings.Index(okDiff, "@@")]},
	{"nothing but a header", patch.BadDiff, "diff --git a/a.txt b/a.txt\n"},
	{"two names in the first line", patch.BadDiff, change("b/a.txt\n", "b/c.go\n")},
	{"another old name", patch.BadDiff, change("--- a/a.txt", "--- a/c.go")},
	{"another new name", patch.BadDiff, change("+++ b/a.txt", "+++ b/c.go")},
	{"names without prefix", patch.BadDiff, strings.NewReplacer("a/a", "a", "b/a", "a").Replace(okDiff)},
	{"another prefix", patch.BadDiff, strings.NewReplacer("a/a", "c/a", "b/a", "d/a").Replace(okDiff)},
	{"rename", patch.BadDiff, "diff --git a/a.txt b/a.txt\nsimilarity index 100%\nrename from a.txt\nrename to b.txt\n"},
	{"copy", patch.BadDiff, "diff --git a/a.txt b/a.txt\ncopy from a.txt\ncopy to b.txt\n"},
	{"too few lines", patch.BadDiff, change("-1,3 +1,3", "-1,4 +1,4")},
	{"too many lines", patch.BadDiff, change("-1,3 +1,3", "-1,2 +1,2")},
	{"huge counts", patch.BadDiff, change("-1,3 +1,3", "-1,999999999999 +1,3")},
	{"no counts", patch.BadDiff, change("@@ -1,3 +1,3 @@", "@@ @@")},
	{"empty line of context", patch.BadDiff, change("\n a\n-b", "\n\n-b")},
	{"hunk that changes nothing", patch.BadDiff, "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n b\n a\n"},
	{"hunk without context", patch.BadDiff, "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,0 +2 @@\n+x\n"},
	{"context after the last line", patch.BadDiff, change("+c\n a\n", "+c\n\\ No newline at end of file\n a\n")},
	{"glued lines", patch.BadDiff, change("+c\n", "+c\n\\ No newline at end of file\n+d\n")},

	{"other context", patch.NoFit, change("\n a\n-b", "\n z\n-b")},
	{"other old line", patch.NoFit, change("-b", "-z")},
	{"white space in context", patch.NoFit, change("\n a\n-b", "\n a \n-b")},
	{"CRLF in context", patch.NoFit, strings.Replace(okDiff, " a\n", " a\r\n", 1)},
	{"one line off", patch.NoFit, change("-1,3 +1,3", "-2,3 +2,3")},
	{"past the end", patch.NoFit, change("-1,3 +1,3", "-900,3 +900,3")},
	{"newline that is not missing", patch.NoFit, strings.Replace(okDiff, "+c\n a\n", "+c\n a\n\\ No newline at end of file\n", 1)},
	{"last line in the middle", patch.NoFit, "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"},
	{"two hunks for one place", patch.NoFit, okDiff + "@@ -1,3 +1,3 @@\n a\n-b\n+d\n a\n"},
	{"no change in the end", patch.NothingChanged, change("+c", "+b")},

	{"two parts for a file", patch.TwoEditsAFile, okDiff + okDiff},
	{"two files that are one", patch.Collision, newFile("n.txt", "x") + newFile("N.txt", "x")},
	{"two folders that are one", patch.Collision, newFile("n/a.txt", "x") + newFile("N/b.txt", "x")},
	{"file and folder", patch.Collision, newFile("n.txt", "x") + newFile("N.txt/b.txt", "x")},
	{"create what is there", patch.Exists, newFile("a.txt", "x")},
	{"create what is there in another case", patch.Collision, newFile("A.TXT", "x")},
	{"create below a folder in another case", patch.Collision, newFile("D/x.go", "package e")},
	{"change what is not there", patch.UnknownFile, over("zz.txt", "a", "b")},
	{"delete", "", "diff --git a/d/e.go b/d/e.go\ndeleted file mode 100644\n--- a/d/e.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-package e\n"},
	{"delete in part", patch.NoFit, "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
	{"delete without saying what", patch.NoFit, "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n"},
	{"delete with another mode", patch.Mode, "diff --git a/d/e.go b/d/e.go\ndeleted file mode 100755\n--- a/d/e.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-package e\n"},

	{"mode", patch.Mode, "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"},
	{"mode and text", patch.Mode, change("--- a/", "old mode 100644\nnew mode 100755\n--- a/")},
	{"type", patch.Mode, "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 120000\n"},
	{"new executable", patch.Mode, strings.Replace(newFile("n.txt", "x"), "100644", "100755", 1)},
	{"new with a strange mode", patch.Mode, strings.Replace(newFile("n.txt", "x"), "100644", "104755", 1)},
	{"new link", patch.Symlink, strings.Replace(newFile("n.txt", "/etc/passwd"), "100644", "120000", 1)},
	{"new submodule", patch.Submodule, strings.Replace(newFile("n", "Subproject commit 0"), "100644", "160000", 1)},
	{"link changed", patch.Symlink, over("link.go", "c.go", "/etc/passwd")},
	{"link said in the index line", patch.Symlink, change("--- a/", "index 0123456..789abcd 120000\n--- a/")},
	{"through a link", patch.Symlink, newFile("dirlink/x.go", "package x")},
	{"submodule", patch.Submodule, newFile("sub/x.go", "package x")},
	{"submodule itself", patch.Submodule, newFile("sub", "x")},
	{"repository within", patch.Submodule, newFile("nested/x.go", "package x")},
	{"binary patch", patch.NotText, "diff --git a/logo.bin b/logo.bin\nindex 0123456..789abcd 100644\nGIT binary patch\nliteral 1\nIcmZ0\n\n"},
	{"binary files", patch.NotText, "diff --git a/logo.bin b/logo.bin\nindex 0123456..789abcd 100644\nBinary files a/logo.bin and b/logo.bin differ\n"},
	{"binary content", patch.NotText, newFile("n.txt", "a\x00b")},
	{"binary file", patch.NotText, over("logo.bin", "a\x00b", "c")},
	{"no Go any more", patch.DoesNotParse, over("d/e.go", "package e", "package")},
	{"new file is no Go", patch.DoesNotParse, newFile("n.go", "hello")},
}

func TestGate(t *testing.T) {
	for _, tt := range gateCases {
		t.Run(tt.name, func(t *testing.T) { wantCode(t, slipTree(), tt.diff, patch.Policy{}, tt.code) })
	}
}

func wantCode(t *testing.T, root fs.FS, diff string, policy patch.Policy, code patch.Code) {
	t.Helper()
	got, err := patch.Gate(root, []byte(diff), policy)
	var s *patch.Slip
	switch {
	case code == "" && err != nil:
		t.Errorf("got %v, want it let through", err)
	case code == "" && len(got.Files) == 0:
		t.Error("let through, but nothing comes of it")
	case code != "" && !errors.As(err, &s):
		t.Errorf("got %v %v, want %s", got, err, code)
	case code != "" && s.Code != code:
		t.Errorf("got %s: %v, want %s", s.Code, s, code)
	}
}

// escapes are paths that must not get by in any form.
var escapes = []string{
	"../x", "a/../../x", "a/..", "..", "./x", "a/./x", "a//x", "/x", "//x", "~/x", "C:/x", "c:x", `a\x`, `..\x`, "a/", "",
	".git", ".git/config", ".GIT/config", ".Git/hooks/pre-commit", "a/.git/config", "a/b/.gIt",
	".git /x", ".git./x", ".git../x", ".git. . /x", ".git::$INDEX_ALLOCATION/config", ".git:stream", "a.txt::$DATA", "a.txt:$x",
	"git~1/config", "GIT~1/config", "Git~1", "git~2/x", "gitmod~1", "GITIGN~1", "gitatt~1", "gi7eba~1",
	".g\u200cit/config", ".\u200dgit/x", ".gi\u200et", ".git\u200f/x", ".g\u202ait", ".git\u206a", ".\ufeffgit/x", "\ufeff.git/config",
	".g\u200bit/x", ".gi\u00adt/x", ".g\u2060it", ".git\ufe0f", ".g\u034fit", ".\U000e0067git",
	".g\u0131t/config", ".ｇｉｔ/x", "．git/x", ".git\u3000",
	"a\nb", "a\x00b", "a\x7fb", "a\u0085b", "a\u2028b", "a\u202eb", "a\u2066b", "\x1b[31m", "a\tb",
	"a\xff", "\xc0\xae\xc0\xae/x", ".git\xff", "‥/x", "…/x", " /x", "\u200b/x",
	strings.Repeat("a", 256), strings.Repeat("a/", 2100) + "a",
	"new\u200bname.go", "e\u0301.go", "nul:x", "trailing./x.go", "trailing /x.go", "x.go.", "x.go ", "x\ufe0f.go",
}

func TestEscapes(t *testing.T) {
	root := slipTree()
	for _, name := range escapes {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			_, _, err := patch.Resolve(root, patch.Set{edit(name, "*", "package x\n")}, patch.Policy{Allow: []string{"**"}})
			refused(t, "Resolve", err)
			for _, n := range []string{name, quoted(name)} {
				for _, diff := range []string{newFile(n, "package x"), strings.ReplaceAll(strings.ReplaceAll(newFile("NAME", "package x"), "a/NAME", `"a/`+n+`"`), "b/NAME", `"b/`+n+`"`), over(n, "a", "b")} {
					_, err := patch.Gate(root, []byte(diff), patch.Policy{Allow: []string{"**"}})
					refused(t, "Gate", err)
				}
			}
		})
	}
}

func refused(t *testing.T, who string, err error) {
	t.Helper()
	var s *patch.Slip
	if !errors.As(err, &s) {
		t.Errorf("%s says %v, want a slip", who, err)
	}
}

// quoted is a name in octal escapes, as a diff may have it.
func quoted(name string) string {
	var b strings.Builder
	for i := range len(name) {
		fmt.Fprintf(&b, `\%03o`, name[i])
	}
	return b.String()
}

// TestHonestNames holds that what looks a little like an escape is none.
func TestHonestNames(t *testing.T) {
	for _, name := range []string{
		"a..b/c.txt", "a/..b/x.txt", "a.git/x.txt", "git/x.txt", "gift~1/x.txt", "a~1/x.txt", "x.gitx/y.txt", "日本/ファイル.txt", "ünï/é.txt",
		"a b/c d.txt", "app/[id]/(group)/x.txt", "@scope/x+y=z.txt", `quo"te/x'y.txt`, "$x/{y}/#z%.txt", "-dash.txt", "ß.txt", "İ.txt",
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(name, "a\n")
			c, _, err := patch.Resolve(root, patch.Set{edit(name, "L1", "b\n")}, patch.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			sameAfterGate(t, root, c)
			c, _, err = patch.Resolve(tree("z.txt", ""), patch.Set{edit(name, "*", "b\n")}, patch.Policy{})
			if err != nil {
				t.Error(err)
			}
			sameAfterGate(t, tree("z.txt", ""), c)
		})
	}
}

func sameAfterGate(t *testing.T, root fs.FS, c patch.Change) {
	t.Helper()
	again, err := patch.Gate(root, c.Diff(), patch.Policy{Allow: []string{"**"}, Lines: 1 << 20, Bytes: 1 << 30, Files: 1000})
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Diff())
	}
	same := func(a, b patch.FileChange) bool {
		return a.Path == b.Path && a.Mode == b.Mode && a.Created == b.Created && a.Deleted == b.Deleted &&
			bytes.Equal(a.Old, b.Old) && bytes.Equal(a.New, b.New)
	}
	if !slices.EqualFunc(c.Files, again.Files, same) {
		t.Errorf("the diff says something else: %s\n%s", cmp.Diff(c, again, cmpopts.EquateEmpty()), c.Diff())
	}
}

// foldingFS answers to names as a Mac's file system does: whatever their case and composition.
type foldingFS struct{ fs.FS }

func (f foldingFS) find(name string) string {
	out := "."
	for part := range strings.SplitSeq(name, "/") {
		entries, _ := fs.ReadDir(f.FS, out)
		for _, e := range entries {
			if e.Name() == part || macFold(e.Name()) == macFold(part) {
				part = e.Name()
				break
			}
		}
		out = path.Join(out, part)
	}
	return out
}

func macFold(s string) string { return cases.Fold().String(norm.NFD.String(s)) }

func (f foldingFS) Open(name string) (fs.File, error)          { return f.FS.Open(f.find(name)) }
func (f foldingFS) ReadFile(name string) ([]byte, error)       { return fs.ReadFile(f.FS, f.find(name)) }
func (f foldingFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, f.find(name)) }
func (f foldingFS) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(f.FS, f.find(name)) }
func (f foldingFS) ReadLink(name string) (string, error)       { return fs.ReadLink(f.FS, f.find(name)) }

// TestSameVerdictOnAMac holds every case against a file system that folds names.
func TestSameVerdictOnAMac(t *testing.T) {
	plain := slipTree()
	plain["unï/é.txt"] = &fstest.MapFile{Data: []byte("a\n")}
	folding := foldingFS{plain}
	verdict := func(root fs.FS, diff string) string {
		c, err := patch.Gate(root, []byte(diff), patch.Policy{})
		return fmt.Sprint(c, err)
	}
	diffs := []string{over("unï/é.txt", "a", "b"), over(norm.NFD.String("unï/é.txt"), "a", "b"), over("UNÏ/é.txt", "a", "b"),
		newFile(norm.NFD.String("unï/x.txt"), "a"), newFile("C.GO", "package c"), newFile("D/new.go", "package d")}
	for _, c := range gateCases {
		diffs = append(diffs, c.diff)
	}
	for _, name := range escapes {
		diffs = append(diffs, newFile(name, "x"), over(name, "a", "b"))
	}
	for _, d := range diffs {
		if a, b := verdict(plain, d), verdict(folding, d); a != b {
			t.Errorf("one says %s, the other %s\n%s", a, b, d)
		}
	}
	if _, err := patch.Gate(plain, []byte(diffs[0]), patch.Policy{}); err != nil {
		t.Error("the control is refused:", err)
	}
}

func TestGateLimits(t *testing.T) {
	root := slipTree()
	var many strings.Builder
	for i := range 51 {
		many.WriteString(newFile(fmt.Sprintf("n%d.txt", i), "x"))
	}
	long := fmt.Sprintf("diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2001 @@\n%s", strings.Repeat("+x\n", 2001))
	for _, tt := range []struct {
		name, diff string
		policy     patch.Policy
		code       patch.Code
	}{
		{"51 files", many.String(), patch.Policy{}, patch.Limit},
		{"51 files allowed", many.String(), patch.Policy{Files: 51}, ""},
		{"2001 lines", long, patch.Policy{}, patch.Limit},
		{"2001 lines allowed", long, patch.Policy{Lines: 2001}, ""},
		{"600 KiB", newFile("n.txt", strings.Repeat("x", 600<<10)), patch.Policy{}, patch.Limit},
		{"600 KiB allowed", newFile("n.txt", strings.Repeat("x", 600<<10)), patch.Policy{Bytes: 1 << 20}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCode(t, root, tt.diff, tt.policy, tt.code) })
	}
}

// text makes a text of few different lines, with every oddity that a text file can have.
func text(r *rand.Rand) []byte {
	words := []string{"a", "b", "c", "", "\t", " x", "-", "+", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", `\ No newline at end of file`, "\xff\xfe", "é", "a\rb", "\ufeff"}
	var b bytes.Buffer
	for range r.IntN(24) {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)])
	}
	out := b.Bytes()
	if r.IntN(3) == 0 {
		out = bytes.TrimRight(out, "\r\n")
	}
	return append([]byte{}, out...)
}

// TestDiffRoundTrip holds that Gate reads out of a diff exactly the change that Diff wrote into it.
func TestDiffRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1200 {
		root := fstest.MapFS{}
		var c patch.Change
		for _, name := range []string{"a b.txt", "d/é.txt", "e.txt", "f/g/h.txt"} {
			f := patch.FileChange{Path: name, Old: text(r), New: text(r), Mode: []fs.FileMode{0o644, 0o755, 0o600}[r.IntN(3)]}
			switch r.IntN(5) {
			case 0:
				f.Created, f.Old, f.Mode = true, nil, 0o644
			case 1:
				f.Deleted, f.New = true, nil
			}
			if !f.Created {
				root[name] = &fstest.MapFile{Data: f.Old, Mode: f.Mode}
			}
			if f.Created || f.Deleted || !bytes.Equal(f.Old, f.New) {
				c.Files = append(c.Files, f)
			}
		}
		if len(c.Files) > 0 {
			sameAfterGate(t, root, c)
		}
	}
}

// TestNarrowing holds that a range edit gives the text with those lines swapped and no other byte touched.
func TestNarrowing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		old := bytes.ReplaceAll(bytes.TrimPrefix(text(r), []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
		body := bytes.ReplaceAll(bytes.TrimPrefix(text(r), []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
		lines := strings.SplitAfter(string(old), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if len(lines) == 0 || len(body) == 0 || body[len(body)-1] != '\n' {
			continue
		}
		from := r.IntN(len(lines))
		to := from + 1 + r.IntN(len(lines)-from)
		want := strings.Join(lines[:from], "") + string(body) + strings.Join(lines[to:], "")
		if to == len(lines) && old[len(old)-1] != '\n' {
			want = strings.TrimSuffix(want, "\n")
		}
		c, landings, err := patch.Resolve(fstest.MapFS{"a.txt": {Data: old}}, patch.Set{edit("a.txt", fmt.Sprintf("L%d-L%d", from+1, to), string(body))}, patch.Policy{})
		var s *patch.Slip
		if want == string(old) {
			if !errors.As(err, &s) || s.Code != patch.NothingChanged {
				t.Fatalf("got %v, want nothing changed", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Files[0].New); got != want {
			t.Fatalf("L%d-L%d of %q with %q: got %q, want %q", from+1, to, old, body, got, want)
		}
		if l := landings[0]; l.Total != to-from || l.Rewritten > l.Total {
			t.Fatalf("%+v", l)
		}
	}
}

// FuzzGate holds that no diff makes the gate panic, and that what it lets through is what its own diff says.
func FuzzGate(f *testing.F) {
	for _, c := range gateCases {
		f.Add([]byte(c.diff))
	}
	root := slipTree()
	delete(root, "large.txt")
	f.Fuzz(func(t *testing.T, diff []byte) {
		c, err := patch.Gate(root, diff, patch.Policy{Allow: []string{"**"}})
		if err != nil {
			refused(t, "Gate", err)
			return
		}
		sameAfterGate(t, root, c)
		for _, file := range c.Files {
			if !fs.ValidPath(file.Path) || strings.Contains(strings.ToLower(file.Path), ".git/") {
				t.Fatalf("%q got through", file.Path)
			}
		}
	})
}

// FuzzResolve holds that no answer makes Resolve panic, that a refusal is a slip, and that what lands is gated.
func FuzzResolve(f *testing.F) {
	f.Add("c.go", "Cart.Total", "func (c *Cart) Total() int { return 0 }\n")
	f.Add("c.go", "+New", "func New() {}\n")
	f.Add("c.go", "high", "const high = 3\n")
	f.Add("a.txt", "L1-L2", "x\r\ny")
	f.Add("a.txt", "+L4", "")
	f.Add("n.go", "*", "package n\n")
	root := slipTree()
	delete(root, "large.txt")
	f.Fuzz(func(t *testing.T, file, addr, body string) {
		c, _, err := patch.Resolve(root, patch.Set{edit(file, addr, body)}, patch.Policy{})
		if err != nil {
			refused(t, "Resolve", err)
			return
		}
		sameAfterGate(t, root, c)
	})
}
