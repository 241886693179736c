package main

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestServeDiagnose: a label asks what is red and why. It is answered, with the commit that turned it red, by a comment and a
// check run; no model is asked, nothing is drafted, and the label goes.
func TestServeDiagnose(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	commit := func(text, message string) string {
		if _, err := f.repo.Commit("main", map[string]string{"answer.txt": text}, githubtest.Person{}, message); err != nil {
			t.Fatal(err)
		}
		return f.repo.Tip("main")
	}
	files := map[string]string{"answer.txt": needle, ".github/redraft.yml": "version: 1\nchecks:\n  unit: {run: \"sh check.sh\"}\n",
		"check.sh": "if grep -q right answer.txt; then echo '1..1\nok 1 - the answer'; else echo '1..1\nnot ok 1 - the answer'; exit 1; fi\n"}
	if _, err := f.repo.Commit("main", files, githubtest.Person{}, "Right"); err != nil {
		t.Fatal(err)
	}
	commit(needle+"more\n", "Still right")
	suspect := commit("wrong\n", "A slip")
	root := commit("wrong\nagain\n", "Something else")
	f.serve()
	issue := f.repo.OpenIssue("The answer is wrong", "It should be right.", "writer")
	if err := f.repo.AddLabel(issue, "redraft:diagnose", "writer"); err != nil {
		t.Fatal(err)
	}
	f.until("the label is gone", func() bool { return len(f.repo.Labels(issue)) == 0 })
	if c := f.ended(root); c.Conclusion != "neutral" || !strings.HasPrefix(c.Title, "diagnosed") {
		t.Errorf("the check run is %+v", c)
	}
	f.settled()
	got := f.repo.Comments(issue)
	if len(got) != 1 || !strings.Contains(got[0].Body, "redraft: diagnosed") || !strings.Contains(got[0].Body, "Suspect: "+suspect[:12]) || !strings.Contains(got[0].Body, "not ok 1") {
		t.Errorf("comments: %+v", got)
	}
	if f.modelAsked() || len(f.drafts()) != 0 || len(f.repo.Branches()) != 1 {
		t.Error("somebody tried to repair it")
	}
}

// TestServeBaseRed: what is red on the pull request's base in the same way was not caused by it, and is not repaired there.
func TestServeBaseRed(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	files := map[string]string{".github/redraft.yml": "version: 1\nchecks:\n  unit: {run: \"sh check.sh\", runs: 1}\n",
		"check.sh": "echo '1..1\nnot ok 1 - the answer'; exit 1\n"}
	if _, err := f.repo.Commit("main", files, githubtest.Person{}, "A test that is red"); err != nil {
		t.Fatal(err)
	}
	if err := f.repo.SetBranch("feature", f.repo.Tip("main"), "writer"); err != nil {
		t.Fatal(err)
	}
	n := f.pull()
	f.serve()
	f.fail("", n)
	if c := f.ended(f.repo.Tip("feature")); c.Conclusion != "neutral" || !strings.HasPrefix(c.Title, "red on the base as well") || !strings.Contains(c.Summary, "the answer") {
		t.Errorf("the check run is %+v", c)
	}
	f.settled()
	if f.modelAsked() || len(f.drafts()) != 0 || len(f.repo.Comments(n)) != 0 {
		t.Error("somebody tried to repair it, or spoke without being asked")
	}
}
