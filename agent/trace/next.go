package trace

import (
	"encoding/json"
	"fmt"
)

// StopOf reads the stop of a stop line. A reason that is none of the closed list is an error.
func StopOf(e Event) (Stop, error) {
	if e.Type != TypeStop {
		return Stop{}, fmt.Errorf("read stop: line %d is of type %q", e.Seq, e.Type)
	}
	var s Stop
	if err := json.Unmarshal(e.Data, &s); err != nil {
		return Stop{}, fmt.Errorf("read stop: line %d: %w", e.Seq, err)
	}
	if _, ok := endings[s.Reason]; !ok {
		return Stop{}, fmt.Errorf("read stop: line %d: %q is no reason", e.Seq, s.Reason)
	}
	return s, nil
}

// ending is what a kind of stop asks of people.
type ending struct {
	decisions []string // stable names
	next      string   // one sentence
}

var endings = map[Reason]ending{
	Fixed: {[]string{"review_and_merge"},
		"Read the diff, check the proof with `redraft verify`, and decide whether it is merged."},
	NotReproduced: {nil,
		"Compare this machine with the one where the check was red: toolchain, environment, time, order of the tests."},
	Flaky: {[]string{"decide_on_flaky_test"},
		"Repair the test or its isolation first: it is red in some runs of the same files only."},
	BaseDrift: {[]string{"update_branch"},
		"Bring the branch up to date with its base: only the two together are red."},
	BaseRed: {[]string{"repair_base"},
		"Repair the base first: the same finding is red there."},
	PlanChanged: {[]string{"review_commands"},
		"Review the changed commands on the default branch: a change cannot choose the command that judges it."},
	NeedsConfiguration: {[]string{"configure_check"},
		"Name the check in .github/redraft.yml, or give it with --check."},
	NeedsTier: {[]string{"allow_sandbox_tier"},
		"Install bubblewrap, or allow another sandbox tier by name: this check needs what the tier in use refuses."},
	Infra: {[]string{"repair_machine"},
		"Put this machine right and start the job again: nothing was said about the code."},
	Exhausted: {[]string{"repair_by_hand"},
		"Repair it by hand with the findings and the tries in this evidence, or allow more turns, minutes or a bigger model."},
	NotProven: {[]string{"repair_by_hand"},
		"Read which rung did not hold: the change turned the check green without being proved."},
	Superseded: {nil, "Nothing: a newer job has taken this one's place."},
	Cancelled:  {nil, "Start the job again if it is still wanted: nothing was left behind."},
}

const nextInterrupted = "Start the job again as a new attempt: what was under way when it died is not taken for done."

func (s *story) next() string {
	switch {
	case len(s.events) == 0:
		return ""
	case s.stop == nil:
		return nextInterrupted
	case s.stop.Next != "":
		return s.stop.Next
	}
	return endings[s.stop.Reason].next
}

func (s *story) decisions() []string {
	switch {
	case s.stop == nil && len(s.events) > 0:
		return []string{"start_again"}
	case s.stop == nil:
		return []string{}
	}
	return append([]string{}, endings[s.stop.Reason].decisions...)
}
