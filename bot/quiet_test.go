package bot

import "testing"

func TestReach(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"+	return a - b", ""},
		{"+	if n < 0 {", ""},
		{"+// retries the exec of a plan", ""},
		{"+	for _, net := range nets {", ""},
		{"-	cmd := exec.Command(\"sh\")", ""},
		{"+++ b/os/exec.go", ""},
		{" 	\"os/exec\"", ""},
		{"+	\"os/exec\"", "starts a process"},
		{"+	out, _ := exec.Command(\"sh\", \"-c\", x).Output()", "starts a process"},
		{"+import subprocess", "starts a process"},
		{"+    os.system(cmd)", "starts a process"},
		{"+const { execSync } = require('child_process')", "starts a process"},
		{"+	\"net/http\"", "opens a connection"},
		{"+  await fetch(url)", "opens a connection"},
		{"+	x := \"http://a.example\"", "opens a connection"},
		{"+	t := os.Getenv(\"GITHUB_TOKEN\")", "reads the environment"},
		{"+  key = process.env.KEY", "reads the environment"},
		{"+	b, _ := os.ReadFile(name)", "reaches files outside the tree"},
		{"+	p := \"/etc/passwd\"", "reaches files outside the tree"},
		{"+	p := `../../x`", "reaches files outside the tree"},
		{"+    eval(text)", "runs text as code"},
		{"+	\"unsafe\"", "runs text as code"},
		{"+//go:linkname a b", "runs text as code"},
	} {
		if got := Reach([]byte("diff --git a/x b/x\n" + c.line + "\n")); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
	if quiet(Job{}, []byte("+x\n")) != "" || quiet(Job{Strange: true}, []byte("+x\n")) == "" {
		t.Error("text of a stranger in the scene decides")
	}
}
