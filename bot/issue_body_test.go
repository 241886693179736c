package bot

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/plan"
)

func TestBodyCheck(t *testing.T) {
	checks := []plan.Check{{ID: "unit"}, {ID: "test (linux)"}, {ID: "api/*"}}
	for body, want := range map[string]string{
		"check: unit":                            "unit",
		"It fails.\r\n\r\nCheck: unit\r\n":       "unit",
		"* **check:** `test (linux)`":            "test (linux)",
		"- check : unit  ":                       "unit",
		"### Check\n\nunit\n\n### What\n\nfails": "unit",
		"check: other\ncheck: unit":              "unit",
		"check: api/*":                           "api/*",
		"check: api/v1":                          "",
		"check: other":                           "",
		"please check: unit":                     "",
		"unit":                                   "",
		"check: unit tests":                      "",
		"<!-- check: unit -->":                   "",
		"<!--\ncheck: unit\n":                    "",
		"<!-- hint -->\ncheck: unit":             "unit",
		"":                                       "",
		strings.Repeat("check: x\n", 60) + "check: unit": "", // the first fifty count
	} {
		if got := bodyCheck(body, checks); got != want {
			t.Errorf("%.60q: got %q, want %q", body, got, want)
		}
	}
}

func TestBodyRun(t *testing.T) {
	issue := "https://github.com/acme/widget/issues/9"
	for body, want := range map[string]int64{
		"https://github.com/acme/widget/actions/runs/123":                                            123,
		"see https://github.com/Acme/Widget/actions/runs/123/job/456?pr=7#step:3:1 please":           123,
		"[run](https://github.com/acme/widget/actions/runs/123/attempts/2).":                         123,
		"https://github.com/acme/other/actions/runs/1 https://github.com/acme/widget/actions/runs/2": 2,
		"https://github.com/corp/gadget/actions/runs/123":                                            123, // its new name
		"http://github.com/acme/widget/actions/runs/123":                                             0,
		"https://github.com.evil.example/acme/widget/actions/runs/123":                               0,
		"https://evil.example/acme/widget/actions/runs/123":                                          0,
		"https://evil.example/https://github.com/acme/other/actions/runs/123":                        0,
		"https://github.com/acme/widget/actions/runs/123abc":                                         0,
		"https://github.com/acme/widget/actions/runs/123%2f..":                                       0,
		"https://github.com/acme/widget/actions/runs/1234567890123456":                               0,
		"https://github.com/acme/widget/actions/runs/-1":                                             0,
		"https://github.com/acme/widget/../other/actions/runs/1":                                     0,
		"<!-- https://github.com/acme/widget/actions/runs/123 -->":                                   0,
		"": 0,
	} {
		if got := bodyRun(body, issue, widget, Repo{Owner: "corp", Name: "gadget"}); got != want {
			t.Errorf("%q: got %d, want %d", body, got, want)
		}
	}
	if got := bodyRun("https://github.com/acme/widget/actions/runs/123", "", widget); got != 0 {
		t.Errorf("without the issue's address any host would do: got %d", got)
	}
	if got := bodyRun("https://ghe.example:8443/acme/widget/actions/runs/123", "https://ghe.example:8443/acme/widget/issues/9", widget); got != 123 {
		t.Errorf("another forge's host: got %d, want 123", got)
	}
}
