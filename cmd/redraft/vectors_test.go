package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/worktree"
)

// bait is a program that leaves a mark when anybody starts it.
type bait struct{ fire, mark, tmp string }

func newBait(t *testing.T) bait {
	t.Helper()
	dir := t.TempDir()
	b := bait{filepath.Join(dir, "fire.sh"), filepath.Join(dir, "mark"), filepath.Join(dir, "tmp")}
	if err := os.Mkdir(b.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	writeTo(t, b.fire, "#!/bin/sh\necho \"$0 $*\" >> '"+b.mark+"'\n", 0o755)
	return b
}

func writeTo(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// shell runs text with a git as anybody has it, in a home of the test's own.
func (b bait) shell(t *testing.T, dir, home, text string, env ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", text)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append([]string{"PATH=" + barePath(t), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "FIRE=" + b.fire, "MARK=" + b.mark, "TMP=" + b.tmp,
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org"}, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// fired says whether the bait was taken since it was last asked.
func (b bait) fired(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile(b.mark)
	if err == nil {
		t.Logf("%.300s", text)
		if err := os.RemoveAll(b.mark); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if err := os.RemoveAll(b.mark); err != nil { // a folder on the way to a branch's name
		t.Fatal(err)
	}
	return false
}

// gitVector is one of worktree's catalogue.
type gitVector struct{ name, plant, control string }

func gitVectors(t *testing.T) (all []gitVector) {
	t.Helper()
	text, err := os.ReadFile("../../worktree/testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n== ")
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		plant, control, ok := strings.Cut(text, "\n-- control\n")
		if !ok {
			t.Fatalf("%s has no control", name)
		}
		all = append(all, gitVector{name, parts[0] + "\n" + plant, parts[0] + "\n" + control})
	}
	return all
}

// local is a repository of one commit whose answer is wrong, and a home and a model to fix it with.
type local struct {
	t          *testing.T
	home, repo string
	env        []string // of the program, over what it gets here
}

func newLocal(t *testing.T, files map[string]string) *local {
	t.Helper()
	needBox(t)
	l := &local{t: t, home: t.TempDir(), repo: filepath.Join(t.TempDir(), "repo")}
	if err := linkBase(filepath.Join(l.home, ".local", "state", "redraft")); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{"answer.txt": []byte("the answer is wrong\n"), "a.txt": []byte("a\n")}
	for name, text := range files {
		all[name] = []byte(text)
	}
	if err := worktree.Init(t.Context(), l.repo, all, "one"); err != nil {
		t.Fatal(err)
	}
	return l
}

const rightCheck = "grep -q right answer.txt"

// redraft runs the program in the repository and answers with its exit status and all that it said.
func (l *local) redraft(args ...string) (int, string) {
	l.t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = l.repo
	cmd.Env = append([]string{"HOME=" + l.home, "PATH=" + barePath(l.t), "REDRAFT_TEST_MAIN=1"}, append(testEnv(), l.env...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), said.String()
}

// fix runs fix against a model that says the right thing at once, and always.
func (l *local) fix(args ...string) (int, string) {
	l.t.Helper()
	server := modeltest.New(l.t, func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: rightAnswer} })
	return l.redraft(append([]string{"fix", "--tiers", "small", "--base-url", server.URL()}, args...)...)
}

// TestVectorsFix takes every way in which a repository makes git start a program through the whole of fix, with the commit
// brought into the checkout where that may be: the repair is proved, and nothing is started.
func TestVectorsFix(t *testing.T) {
	for _, v := range gitVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			b := newBait(t)
			control := newLocal(t, nil)
			if err := b.shell(t, control.repo, control.home, v.plant); err != nil {
				t.Fatal(err)
			}
			b.fired(t) // by planting
			if err := b.shell(t, control.repo, control.home, v.control); !b.fired(t) {
				t.Skipf("REFUSED: the git of this machine does not fire it: %v", err)
			}
			b = newBait(t)
			l := newLocal(t, nil)
			if err := b.shell(t, l.repo, l.home, v.plant); err != nil {
				t.Fatal(err)
			}
			b.fired(t)
			code, said := l.fix("--check", rightCheck, "--apply")
			if code == exitUsage && strings.Contains(said, "--apply needs a clean checkout") {
				code, said = l.fix("--check", rightCheck)
			}
			if code != exitProved || !strings.Contains(said, "Branch: redraft/") {
				t.Errorf("exit %d:\n%s", code, said)
			}
			if b.fired(t) {
				t.Error("fired")
			}
		})
	}
}

// poison makes a home and an environment in which every git does what it should not.
func (b bait) poison(t *testing.T, home string) (env []string) {
	t.Helper()
	for _, h := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit", "pre-push", "pre-auto-gc", "post-merge"} {
		writeTo(t, filepath.Join(home, "template", "hooks", h), "#!/bin/sh\nexec '"+b.fire+"'\n", 0o755)
	}
	text := strings.ReplaceAll(`
[core]
	fsmonitor = FIRE
	hooksPath = HOME/template/hooks
	sshCommand = FIRE
	askPass = FIRE
	pager = FIRE
	editor = FIRE
	attributesFile = HOME/attributes
	alternateRefsCommand = FIRE
[init]
	templateDir = HOME/template
[filter "evil"]
	clean = FIRE
	smudge = FIRE
	process = FIRE
[filter "lfs"]
	clean = FIRE
	smudge = FIRE
	process = FIRE
	required = true
[diff]
	external = FIRE
[diff "evil"]
	textconv = FIRE
	command = FIRE
[merge "evil"]
	driver = FIRE
[credential]
	helper = !FIRE
[gpg]
	program = FIRE
[commit]
	gpgSign = true
[tag]
	gpgSign = true
[log]
	showSignature = true
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[url "ext::FIRE "]
	insteadOf = https://
	insteadOf = file://
	insteadOf = /
[submodule]
	recurse = true
[fetch]
	recurseSubmodules = true
[uploadpack]
	packObjectsHook = FIRE
[trailer "evil"]
	command = FIRE
`, "FIRE", b.fire)
	text = strings.ReplaceAll(text, "HOME", home)
	for _, name := range []string{".gitconfig", ".config/git/config", "system"} {
		writeTo(t, filepath.Join(home, name), text, 0o644)
	}
	for _, name := range []string{"attributes", ".config/git/attributes"} {
		writeTo(t, filepath.Join(home, name), "* filter=evil diff=evil merge=evil\n", 0o644)
	}
	return []string{
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_SYSTEM=" + filepath.Join(home, "system"), "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
		"GIT_SSH_COMMAND=" + b.fire, "GIT_SSH=" + b.fire, "GIT_ASKPASS=" + b.fire, "SSH_ASKPASS=" + b.fire, "GIT_EXTERNAL_DIFF=" + b.fire, "GIT_PAGER=" + b.fire, "PAGER=" + b.fire,
		"GIT_EDITOR=" + b.fire, "EDITOR=" + b.fire, "GIT_PROXY_COMMAND=" + b.fire, "GIT_TEMPLATE_DIR=" + filepath.Join(home, "template"), "GIT_ALLOW_PROTOCOL=ext:file:https",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=" + b.fire, "GIT_CONFIG_PARAMETERS='core.fsmonitor'='" + b.fire + "'",
		"GIT_TRACE=" + b.mark, "GIT_TRACE2_EVENT=" + b.mark, "GIT_TRACE_CURL=" + b.mark,
	}
}

// TestVectorsOperator is a machine whose operator has been had: home and environment, each alone and both together.
func TestVectorsOperator(t *testing.T) {
	for _, of := range []string{"home", "environment"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			b := newBait(t)
			l := newLocal(t, nil)
			home := l.home
			if of == "environment" {
				home = t.TempDir()
			}
			env := b.poison(t, home)
			if of == "home" {
				env = nil
			}
			if err := b.shell(t, l.repo, l.home, "git status; git diff; git log", env...); !b.fired(t) {
				t.Fatalf("the control did not fire: %v", err)
			}
			l.env = env
			if code, said := l.fix("--check", rightCheck, "--apply"); code != exitProved || strings.Contains(said, "not applied") {
				t.Errorf("exit %d:\n%s", code, said)
			}
			if b.fired(t) {
				t.Error("fired")
			}
		})
	}
}

// insidePlain plants in the copy that a check runs in what the host's git would fire, were it ever run there; insideGit does
// so in the throw-away repository of a check that calls git.
const (
	insidePlain = `
for d in . sub "$HOME" "${TMPDIR:-.}"; do
	mkdir -p "$d/.git/hooks" "$d/.git/objects" "$d/.git/refs/heads" "$d/.git/info"
	echo 'ref: refs/heads/main' > "$d/.git/HEAD"
	printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s\n[filter "evil"]\n\tclean = %s\n\tsmudge = %s\n' FIRE FIRE FIRE > "$d/.git/config"
	echo '* filter=evil' > "$d/.git/info/attributes"
	printf '#!/bin/sh\nexec FIRE\n' > "$d/.git/hooks/post-index-change"
	chmod +x "$d/.git/hooks/post-index-change"
done
cp .git/config "$HOME/.gitconfig"
`
	insideGit = `
git config core.fsmonitor FIRE
git config core.hooksPath "$PWD/hooks"
git config diff.external FIRE
mkdir -p hooks
printf '#!/bin/sh\nexec FIRE\n' > hooks/post-index-change
chmod +x hooks/post-index-change
git tag v1 || :
ln -sf /etc/passwd .git/description
`
)

// TestVectorsInside runs checks that plant in their own copies.
func TestVectorsInside(t *testing.T) {
	for name, plant := range map[string]string{"plain": insidePlain, "in the throw-away repository": insideGit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBait(t)
			plant = strings.ReplaceAll(plant, "FIRE", b.fire)
			control := t.TempDir()
			if err := b.shell(t, control, t.TempDir(), "git init -q -b main .\n"+plant+"\ngit status"); !b.fired(t) {
				t.Fatalf("the control did not fire: %v", err)
			}
			l := newLocal(t, map[string]string{"check.sh": "(" + plant + ") >&2\n" + rightCheck + "\n"})
			code, said := l.fix("--check", "sh check.sh")
			if code != exitProved || !strings.Contains(said, "Branch: redraft/") {
				t.Errorf("exit %d:\n%s", code, said)
			}
			if b.fired(t) {
				t.Error("fired")
			}
		})
	}
}

// TestVectorsPrepared has setup commands plant it in what later copies start from, and takes a second job from there.
func TestVectorsPrepared(t *testing.T) {
	b := newBait(t)
	l := newLocal(t, map[string]string{
		"plant.sh":            "(" + strings.ReplaceAll(insidePlain, "FIRE", b.fire) + ") >&2\nmkdir -p made/sub \"$HOME/.local\" \"$HOME/go\"\ncp -r .git made/sub/.git\ncp -r .git \"$HOME/.local/.git\"\ncp -r .git \"$HOME/go/.git\"\n",
		".github/redraft.yml": "version: 1\nsetup: [\"sh plant.sh\"]\nchecks: {unit: {run: \"" + rightCheck + " && test -e made/sub && git status && ! test -e .git/hooks\"}}\n",
	})
	writeTo(t, filepath.Join(l.home, ".config", "redraft", "config.yml"), "setup: {allow: true}\n", 0o600)
	for range 2 {
		code, said := l.fix()
		if strings.Contains(said, "needs_tier") {
			t.Skipf("REFUSED: setup commands cannot be run here:\n%s", said)
		}
		if code != exitProved || !strings.Contains(said, "Branch: redraft/") {
			t.Errorf("exit %d:\n%s", code, said)
		}
	}
	if prepared, _ := os.ReadDir(filepath.Join(l.home, ".local", "state", "redraft", "prepared")); len(prepared) == 0 {
		t.Error("nothing was prepared, so this test shows little")
	}
	if b.fired(t) {
		t.Error("fired")
	}
}

// hostile gives the forge's default branch what a repository can hold of it, since no configuration comes with a clone: names
// of filters and drivers, submodules and large files with addresses of theirs, links, and a branch called like an option.
func (f *forge) hostile(b bait) {
	f.t.Helper()
	bare, _ := filepath.Glob(filepath.Join(f.home, "github", "repos", "*.git"))
	if len(bare) != 1 {
		f.t.Fatalf("repositories: %v", bare)
	}
	work := filepath.Join(f.t.TempDir(), "work")
	text := `
git clone -q "` + bare[0] + `" "` + work + `"
cd "` + work + `"
echo '* filter=evil diff=evil merge=evil
*.bin filter=lfs diff=lfs merge=lfs -text' > .gitattributes
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12\n' 0 > big.bin
printf '[lfs]\n\turl = ext::%s\n\tstandalonetransferagent = evil\n[lfs "customtransfer.evil"]\n\tpath = %s\n' "$FIRE" "$FIRE" > .lfsconfig
printf '[submodule "module"]\n\tpath = module\n\turl = ext::%s\n\tupdate = !%s\n[submodule "-u%s"]\n\tpath = other\n\turl = -u%s\n' "$FIRE" "$FIRE" "$FIRE" "$FIRE" > .gitmodules
ln -s /etc/passwd out
ln -s .git/hooks hooks
git add -A
git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),module"
git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),other"
git commit -q -m hostile
sha=$(git rev-parse HEAD)
cd "` + bare[0] + `"
git fetch -q "` + work + `" HEAD
git update-ref refs/heads/main $sha
git update-ref "refs/heads/--output=$MARK" $sha
git update-ref "refs/heads/--upload-pack=$FIRE" $sha
`
	if err := b.shell(f.t, f.home, f.t.TempDir(), text); err != nil {
		f.t.Fatal(err)
	}
	control := "git clone -q --recurse-submodules file://" + bare[0] + " " + filepath.Join(f.t.TempDir(), "control")
	if err := b.shell(f.t, f.home, f.home, control); !b.fired(f.t) {
		f.t.Fatalf("the control did not fire: %v", err)
	}
	if err := f.repo.SetBranch("main", f.branch(bare[0], "main"), "writer"); err != nil {
		f.t.Fatal(err)
	}
}

// branch is what a branch of a repository on disk stands at.
func (f *forge) branch(bare, name string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(bare, "refs", "heads", name))
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestVectorsServe answers a red check of a hostile repository on a machine whose operator has been had.
func TestVectorsServe(t *testing.T) {
	f := newForge(t, rightAnswer)
	b := newBait(t)
	b.poison(t, f.home)
	f.hostile(b)
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	if c := f.ended(root); c.Conclusion != "success" {
		t.Errorf("the check run is %+v; the server said:\n%s", c, f.said)
	}
	f.once("main", root)
	f.settled()
	if b.fired(t) {
		t.Error("fired")
	}
}

// TestVectorsAction does so in a step of a workflow, with the environment poisoned too.
func TestVectorsAction(t *testing.T) {
	f := newActionForge(t, rightAnswer)
	b := newBait(t)
	env := b.poison(t, f.home)
	f.hostile(b)
	f.fail("main", 0)
	s := f.newStep("workflow_run", nil)
	s.env = map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		s.env[name] = value
	}
	if !slices.Contains(slices.Collect(maps.Keys(s.env)), "GIT_SSH") {
		t.Fatal("the environment is not poisoned")
	}
	f.wantDraft(s.run())
	if b.fired(t) {
		t.Error("fired")
	}
}
