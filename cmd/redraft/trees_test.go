package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oddTree is a repository that is unusual in one way, what fix makes of it, and what is to be seen afterwards.
type oddTree struct {
	name  string
	make  string   // shell text, run in a new folder with plain git; it leaves a repository there, or below it at $AT
	at    string   // where in it fix is started; "." if empty
	check string   // rightCheck if empty
	args  []string // of fix besides
	exit  int
	says  string // in what fix prints
	after string // shell text that must succeed in the folder; $BRANCH is the branch, if one was left
}

// begin makes a repository with the wrong answer; end commits what is there.
const (
	begin = "git init -q -b main .\necho 'the answer is wrong' > answer.txt\n"
	end   = "\ngit add -A\ngit commit -q -m one\n"
)

// same says that the branch differs from HEAD in the answer alone.
const same = `test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt; test "$(git status --porcelain --ignore-submodules=all)" = ""`

// deepest is a path of 4,000 characters below the top: more than a path of the kernel's can have once the top is counted.
var deepest = strings.Repeat(strings.Repeat("d", 199)+"/", 20)

var oddTrees = []oddTree{
	{name: "pointers of large files", make: begin + `
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345678\n' 7 > big.bin` + end,
		check: rightCheck + " && grep -q git-lfs big.bin", after: same},
	{name: "submodules", make: begin + `
git add -A
git commit -q -m zero
git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),vendored/module"
printf '[submodule "m"]\n\tpath = vendored/module\n\turl = https://127.0.0.1:1/m.git\n' > .gitmodules
mkdir -p vendored/module` + end,
		check: rightCheck + ` && test -d vendored/module && test -z "$(ls -A vendored/module)"`, after: same + `; git ls-tree "$BRANCH" vendored/module | grep -q '^160000 commit'`},
	{name: "links out of the tree", make: begin + `
ln -s /etc/passwd absolute
ln -s ../../outside relative
ln -s . loop
ln -s absolute/../../x through
ln -s no-such dangling
printf 'kept\n' > ../outside` + end,
		check: rightCheck + " && test -L absolute && test -L loop/loop/relative", after: same + `; test "$(cat ../outside)" = kept`},
	{name: "an answer that is a link", make: begin + `
printf 'the answer is wrong\n' > ../victim
rm answer.txt
ln -s ../victim answer.txt` + end,
		check: "grep -q right ./answer.txt", exit: exitStopped, says: "exhausted: ", after: `grep -q wrong ../victim; test -z "$BRANCH"`},
	{name: "names of every kind", make: begin + `
printf 1 > "$(printf 'line\nbreak')"
printf 2 > "$(printf 'latin-\351')"
printf 3 > '-rf'
printf 4 > ':(top)x'
printf 5 > 'quo"te back\slash'
printf 6 > '$(touch pwned)'
mkdir "$(printf 'f\351lder\n')"
printf 7 > "$(printf 'f\351lder\n')/x"` + end, after: same},
	{name: "names that differ in case", make: begin + `
mkdir Dir dir
for f in Name name NAME Dir/x dir/x; do echo "$f" > "$f"; done` + end,
		check: rightCheck + ` && test "$(cat Dir/x dir/x)" = "Dir/x
dir/x"`, after: same},
	{name: "a path of 4,000 characters", make: begin + `
mkdir .git/none
python3 -c '
import os
for part in "` + deepest + `".split("/")[:-1]:
    os.mkdir(part); os.chdir(part)
open("f","w").write("deep\n")'` + end, says: "fixed: ", after: `test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt`},
	{name: "folders too deep", make: begin + `
blob=$(echo x | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$blob,$(printf 'd/%.0s' $(seq 300))f"
git add answer.txt
git commit -q -m deep
`, exit: exitStopped, says: "infra: cut ", after: `test -z "$BRANCH"`},
	{name: "conversions of every kind", make: begin + `
printf '* text=auto eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.x filter=none\n' > .gitattributes
printf '$Id$\n' > a.id
printf 'one\r\ntwo\n' > mixed.txt
git config core.autocrlf true
git -c core.autocrlf=false -c core.safecrlf=false add -A
git update-index --add --cacheinfo "100644,$(printf 'no UTF-16' | git hash-object -w --no-filters --stdin),b.u16"
git commit -q -m one
git checkout -q -f HEAD -- . || :
`, check: rightCheck + ` && test "$(cat a.id)" = '$Id$' && test "$(cat b.u16)" = 'no UTF-16' && ! grep -q "$(printf '\r')" answer.txt`, after: `test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt`},
	{name: "a sparse checkout", make: begin + `
mkdir in out
echo 1 > in/x
echo 2 > out/x` + end + `git sparse-checkout set in
`, check: rightCheck + " && test -e out/x", args: []string{"--apply"}, says: "not applied: ", after: `test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt; test ! -e out/x`},
	{name: "a linked worktree", make: "mkdir main\ncd main\n" + begin + end + `
echo right > answer.txt
git worktree add -q --detach ../linked
git checkout -q -b other
git commit -q -a -m 'another HEAD in the main one'
`, at: "linked", args: []string{"--apply"}, says: "fixed: ", after: `cd linked; grep -q right answer.txt; test -z "$(git status --porcelain)"; test "$(git -C ../main rev-parse --abbrev-ref HEAD)" = other`},
	{name: "a linked worktree of a bare repository", make: "mkdir main\ncd main\n" + begin + end + `
cd ..
git clone -q --bare main bare.git
git -C bare.git worktree add -q ../linked main
`, at: "linked", after: "cd linked\n" + same},
	{name: "a submodule's own checkout", make: "mkdir sub\ncd sub\n" + begin + end + `
cd ..
mkdir top
cd top
git init -q -b main .
git -c protocol.file.allow=always submodule --quiet add ../sub sub
git commit -q -m top
`, at: "top/sub", after: "cd top/sub\n" + same},
	{name: "a shallow clone", make: "mkdir full\ncd full\n" + begin + end + `
echo 2 > b.txt
git add -A
git commit -q -m two
git clone -q --depth 1 "file://$PWD" ../shallow
`, at: "shallow", after: "cd shallow\n" + same + `; test -e .git/shallow`},
	{name: "a partial clone", make: "mkdir full\ncd full\n" + begin + end + `
echo 2 > answer.txt
git commit -q -a -m two
echo 'the answer is wrong' > answer.txt
git commit -q -a -m three
git config uploadpack.allowFilter true
git clone -q --filter=blob:none "file://$PWD" ../partial
`, at: "partial", after: "cd partial\n" + same},
	{name: "a partial clone that lacks files of HEAD", make: "mkdir full\ncd full\n" + begin + end + `
git config uploadpack.allowFilter true
git clone -q --filter=blob:none --no-checkout "file://$PWD" ../partial
`, at: "partial", exit: exitFailed, says: "git fetch --refetch --no-filter"},
	{name: "names of SHA-256", make: "git init -q -b main --object-format=sha256 .\necho wrong > answer.txt\n" + end, exit: exitUsage, says: "object format sha256 is not supported, only sha1"},
	{name: "a bare repository", make: "git init -q --bare .\n", exit: exitUsage, says: "not a git repository"},
	{name: "a .git by another name", make: begin + `
git add -A
blob=$(echo x | git hash-object -w --stdin)
git -c core.protectNTFS=false update-index --add --cacheinfo "100644,$blob,git~1/config"
git -c core.protectNTFS=false commit -q -m evil
`, exit: exitStopped, says: "invalid path 'git~1/config'", after: `test -z "$BRANCH"`},
	{name: "a file's mode of long ago", make: begin + `
blob=$(git hash-object -w answer.txt)
printf '100664 %s\tanswer.txt\n' "$blob" | sed 's/^100664 /&blob /' | git mktree > tree
git update-ref refs/heads/main "$(git commit-tree -m old "$(cat tree)")"
rm tree
git reset -q --hard
`, after: `test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt`},
	{name: "replaced commits", make: begin + end + `
echo 2 > b.txt
git add -A
git commit -q -m two
echo 'the answer is right' > answer.txt
git replace HEAD "$(git commit-tree -p HEAD~1 -m fake "$(git add -A && git write-tree)")"
git -c core.useReplaceRefs=false reset -q --hard
`, after: `export GIT_NO_REPLACE_OBJECTS=1; test "$(git diff --name-only HEAD "$BRANCH")" = answer.txt`},
}

// TestOddTrees takes them through fix from end to end.
func TestOddTrees(t *testing.T) {
	for _, o := range oddTrees {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			b := newBait(t)
			l := newLocal(t, nil)
			l.repo = filepath.Join(t.TempDir(), "odd")
			if err := os.Mkdir(l.repo, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := b.shell(t, l.repo, l.home, o.make); err != nil {
				t.Fatal(err)
			}
			o.fix(t, l, b)
		})
	}
}

func (o oddTree) fix(t *testing.T, l *local, b bait) {
	t.Helper()
	top := l.repo
	l.repo = filepath.Join(top, o.at)
	code, said := l.fix(append([]string{"--check", orElse(o.check, rightCheck)}, o.args...)...)
	if code != o.exit || !strings.Contains(said, o.says) {
		t.Errorf("exit %d, want %d and %q:\n%s", code, o.exit, o.says, said)
	}
	branch := ""
	if _, rest, ok := strings.Cut(said, "Branch: "); ok {
		branch, _, _ = strings.Cut(rest, " ")
	}
	if err := b.shell(t, top, l.home, strings.ReplaceAll(o.after, "; ", "\n"), "BRANCH="+branch); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(l.home, ".local", "state", "redraft", "trees")); len(left) > 0 {
		t.Errorf("%d trees are left", len(left))
	}
}

// TestOddPlaces starts fix in folders whose names a careless program does not survive.
func TestOddPlaces(t *testing.T) {
	for name, place := range map[string]string{
		"quotes": oddName, "a line's break": "line\nbreak $(touch pwned)", "not UTF-8": "f\xe9", "like an option": "--upload-pack=x", "a colon": "a:b",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocal(t, nil)
			old := l.repo
			l.repo = filepath.Join(filepath.Dir(old), place)
			if err := os.Rename(old, l.repo); err != nil {
				t.Fatal(err)
			}
			if code, said := l.fix("--check", rightCheck, "--apply"); code != exitProved || strings.Contains(said, "not applied") {
				t.Errorf("exit %d:\n%s", code, said)
			}
			if b, err := os.ReadFile(filepath.Join(l.repo, "answer.txt")); string(b) != needle {
				t.Errorf("answer.txt is %q, %v", b, err)
			}
		})
	}
}

// TestLargeTrees takes a large file and many files through fix: 10 MB and 1,000, or with REDRAFT_TREES=all 200 MB and 20,000.
func TestLargeTrees(t *testing.T) {
	megabytes, files := 10, 1000
	if os.Getenv("REDRAFT_TREES") == "all" {
		megabytes, files = 200, 20000
	}
	for name, make := range map[string]string{
		"a large file": fmt.Sprintf("%s\nhead -c %d /dev/zero > large.bin\nprintf x >> large.bin%s", begin, megabytes<<20, end),
		"many files":   fmt.Sprintf("%s\nfor i in $(seq 100); do mkdir d$i; for j in $(seq %d); do echo $i $j > d$i/f$j; done; done%s", begin, files/100, end),
	} {
		for _, check := range []string{rightCheck, rightCheck + " && git diff --exit-code"} {
			t.Run(name+" "+check, func(t *testing.T) {
				b := newBait(t)
				l := newLocal(t, nil)
				l.repo = t.TempDir()
				if err := b.shell(t, l.repo, l.home, make); err != nil {
					t.Fatal(err)
				}
				oddTree{check: check, says: "fixed: ", after: same}.fix(t, l, b)
			})
		}
	}
}

// TestOddTier runs a check that calls git in the tier that needs nothing installed.
func TestOddTier(t *testing.T) {
	l := newLocal(t, nil)
	if code, said := l.redraft("jail", "--tier", "landlock", "--", "true"); code != 0 {
		t.Skipf("REFUSED: landlock does not work here: %s", said)
	}
	check := rightCheck + ` && git diff --exit-code && test "$(git rev-list --count HEAD)" = 1`
	if code, said := l.fix("--check", check, "--sandbox", "landlock"); code != exitProved || !strings.Contains(said, "in sandbox landlock") {
		t.Errorf("exit %d:\n%s", code, said)
	}
}
