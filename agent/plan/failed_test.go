package plan

import (
	"errors"
	"testing"
)

const legsText = `on: push
jobs:
  test:
    name: Test
    runs-on: ${{ matrix.os }}
    strategy: {matrix: {os: [macos-14, ubuntu-latest, windows-latest]}}
    steps:
      - run: make ${{ matrix.os }}
      - name: Say a > b
        run: echo again
      - {name: "2", run: echo two}
      - {name: twice, run: echo first}
      - {name: twice, run: echo second}
      - {name: "${{ secrets.A }}", run: echo hidden}
      - "not a step"
  plain:
    name: plain ${{ github.ref_name }}
    runs-on: ubuntu-latest
    steps: [{run: echo plain}]
  other:
    name: Other
    runs-on: ubuntu-latest
    steps: [{run: echo other, id: odd}, {run: echo $RUNNER_OS}]
`

// TestFromFailed reads steps by the names that GitHub shows, and takes the one that fits this machine's system.
func TestFromFailed(t *testing.T) {
	files := tree(ciFile, legsText)
	at := func(job, step string, nth ...int) Failed {
		a := At{Job: job, Step: step, Shown: true, GitHub: map[string]string{"ref_name": "main"}}
		if len(nth) == 2 {
			a.Nth, a.Of = nth[0], nth[1]
		}
		return Failed{ciFile, a}
	}
	mac, linux, windows := at("Test (macos-14)", "Run make macos-14"), at("Test (ubuntu-latest)", "Run make ubuntu-latest"), at("Test (windows-latest)", "Run make windows-latest")
	for _, tt := range []struct {
		name  string
		goos  string
		steps []Failed
		want  string // the command, or the reason
		line  int
	}{
		{"here as there", "linux", []Failed{windows, mac, linux}, "make ubuntu-latest", 8},
		{"on a Mac", "darwin", []Failed{windows, linux, mac}, "make macos-14", 8},
		{"on another system", "linux", []Failed{windows, mac}, "make macos-14", 8},
		{"on none", "linux", []Failed{windows}, string(BadRunner), 0},
		{"a name of its own", "linux", []Failed{at("plain main", "Run echo plain")}, "echo plain", 19},
		{"not by the id of the job", "linux", []Failed{at("plain", "Run echo plain")}, string(NoStep), 0},
		{"not by the id of the step", "linux", []Failed{at("Other", "odd")}, string(NoStep), 0},
		{"a name with an arrow", "linux", []Failed{at("Test (ubuntu-latest)", "Say a > b")}, "echo again", 9},
		{"a name that is a number", "linux", []Failed{at("Test (ubuntu-latest)", "2")}, "echo two", 11},
		{"the second of a name", "linux", []Failed{at("Test (ubuntu-latest)", "twice", 2, 2)}, "echo second", 13},
		{"which of a name", "linux", []Failed{at("Test (ubuntu-latest)", "twice", 1, 1)}, string(NoStep), 0},
		{"more of a name than there are", "linux", []Failed{at("Test (ubuntu-latest)", "twice", 2, 3)}, string(NoStep), 0},
		{"a name that only a run knows", "linux", []Failed{at("Test (ubuntu-latest)", "***")}, string(NoStep), 0},
		{"no name", "linux", []Failed{at("Test (ubuntu-latest)", "")}, string(NoStep), 0},
		{"the system, here as there", "linux", []Failed{at("Other", "Run echo $RUNNER_OS")}, "echo $RUNNER_OS", 23},
		{"the system of another machine", "darwin", []Failed{at("Other", "Run echo $RUNNER_OS")}, string(BadRunner), 0},
		{"another file", "linux", []Failed{{File: "../ci.yml"}}, string(BadFile), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, taken, err := FromFailed(files, tt.steps, tt.goos)
			var no *Unplanned
			switch {
			case errors.As(err, &no):
				if string(no.Reason) != tt.want {
					t.Errorf("got %v", err)
				}
			case err != nil:
				t.Error(err)
			default:
				c := set.Checks[0]
				if c.Run != tt.want || c.Line != tt.line || c.Provenance != Workflow || taken.Step == "" {
					t.Errorf("got %+v of %+v", c, taken)
				}
			}
		})
	}
	var none *NoCheck
	if _, _, err := FromFailed(files, nil, "linux"); !errors.As(err, &none) {
		t.Errorf("of no steps: %v", err)
	}
}
