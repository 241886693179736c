package bot

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// group is what one job is for: the checks of one workflow, or one check of a third party.
type group struct {
	id       string // within the target: the path of a workflow, else "check:" and a name
	workflow string // path; "" of a third party
	title    string
	running  bool    // some check has not ended
	red      []Check // in the order of their names
	check    string  // id of the configured check, where the issue names it
}

const (
	workflows  = ".github/workflows/"
	checkGroup = "check:"
)

// groupOf is the group that a check belongs to, without the check. Neither form of its id can be taken for a part of a
// branch's name, where a colon or a leading dot cannot be: a job's key can be read back.
func groupOf(c Check) group {
	g := group{workflow: workflowFile(c.Workflow), title: cmp.Or(c.Title, c.Name)}
	switch {
	case path.Dir(g.workflow)+"/" == workflows:
		g.id = g.workflow
	case g.workflow != "": // one that GitHub runs by itself
		g.id = checkGroup + g.workflow
	default:
		g.id, g.title = checkGroup+c.Name, c.Name
	}
	if len(g.id) > longestName {
		g.id = clip(g.id, longestName-13) + "~" + digest([]byte(g.id))[:12]
	}
	return g
}

// groups are the checks of the root by what they belong to, in the order of their ids; ours are left out.
func (l look) groups() (all []group) {
	by := map[string]*group{}
	for _, c := range l.f.Checks {
		if c.own(l.self) {
			continue
		}
		g := groupOf(c)
		if by[g.id] == nil {
			by[g.id] = &g
		}
		into := by[g.id]
		into.running = into.running || !c.Done
		if c.Red() {
			into.red = append(into.red, c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		slices.SortFunc(by[id].red, func(a, b Check) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), strings.Compare(a.URL, b.URL))
		})
		all = append(all, *by[id])
	}
	return all
}

// repairable are the groups that jobs begin for, at least one unless there is a no.
func (l look) repairable() ([]group, *Skip) {
	all := l.groups()
	if l.target().Kind == ForIssue {
		return l.repairableOfIssue(all)
	}
	if d := l.draft(); d != nil { // the draft is of one of them
		all = slices.DeleteFunc(all, func(g group) bool { return jobKey(l.e.Repo.ID, l.target(), g.id) != d.Key })
	}
	return l.red(all)
}

// red are the listed groups that are red and complete.
func (l look) red(all []group) (red []group, no *Skip) {
	for _, g := range all {
		listed := l.f.Policy.workflow(g.workflow, g.title)
		switch {
		case g.running && listed:
			no = l.say(Running, "%q is not complete; when it ends red, a job begins by itself", g.title)
		case len(g.red) > 0 && listed:
			red = append(red, g)
		case len(g.red) > 0 && no == nil:
			no = l.say(NotListed, "%q is red, and not in triggers.workflows", g.title)
		}
	}
	switch {
	case len(red) > 0:
		return red, nil
	case no == nil:
		no = l.say(Green, "no check of %.12s is red", l.f.Tip.SHA)
	}
	return nil, no
}

// repairableOfIssue is the one group that an issue is about: what its body names, else the first that is red on the
// default branch, else whatever the repository's own check turns out to be.
func (l look) repairableOfIssue(all []group) ([]group, *Skip) {
	named := l.f.Failing
	switch {
	case named == "":
		if red, no := l.red(all); no == nil {
			return red[:1], nil
		}
		return []group{{id: checkGroup}}, nil
	case configured(named, l.f.Policy.File.Checks):
		return []group{{id: checkGroup + named, check: named}}, nil
	}
	want := groupOf(Check{Workflow: named})
	for _, g := range all {
		switch {
		case g.id != want.id:
			continue
		case g.running:
			return nil, l.say(Running, "%q is not complete on %q", g.title, l.f.Tip.Branch)
		case len(g.red) == 0:
			return nil, l.say(Green, "%q is green on %q by now", g.title, l.f.Tip.Branch)
		}
		return []group{g}, nil
	}
	return []group{want}, nil // it ran elsewhere than on the default branch
}

// jobKey is a job's key: repository, target and what is red.
func jobKey(repo int64, t Target, group string) string {
	return fmt.Sprintf("%d/%s/%s", repo, t.Key(), group)
}

// target is what a draft of ours is for, as its key says.
func (d Draft) target(repo int64) (Target, bool) {
	rest, ok := strings.CutPrefix(d.Key, fmt.Sprintf("%d/", repo))
	kind, rest, cut := strings.Cut(rest, "/")
	if !ok || !cut {
		return Target{}, false
	}
	switch k := TargetKind(kind); k {
	case ForPull, ForIssue:
		number, _, cut := strings.Cut(rest, "/")
		n, err := strconv.ParseInt(number, 10, 32)
		return Target{Kind: k, Number: int(n), Branch: d.Base}, cut && err == nil && n > 0
	case ForBranch:
		end := strings.Index(rest, "/"+workflows)
		if c := strings.Index(rest, "/"+checkGroup); end < 0 || c >= 0 && c < end {
			end = c
		}
		if end <= 0 {
			return Target{}, false
		}
		return Target{Kind: k, Branch: rest[:end]}, true
	}
	return Target{}, false
}

// same says whether two targets are one; where a draft goes may have changed.
func (t Target) same(u Target) bool { return t.Kind == u.Kind && t.Key() == u.Key() }
