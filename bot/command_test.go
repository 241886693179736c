package bot

import (
	"strings"
	"testing"
)

func TestParseCommand(t *testing.T) {
	for _, tt := range []struct {
		comment string
		want    command
	}{
		{"/redraft", command{verb: toStart}},
		{" \r\n/redraft\t\n", command{verb: toStart}},
		{"/redraft retry", command{verb: toRetry}},
		{"/redraft retry the empty list", command{verb: toRetry, words: "the empty list"}},
		{"/redraft retry $(rm -rf /)\u202e\x1b[31m", command{verb: toRetry, words: "$(rm -rf /)[31m"}},
		{"/redraft retry a\u2028b", command{verb: toRetry, words: "a b"}},
		{"/redraft accept 0123456789ab", command{verb: toAccept, sha: "0123456789ab"}},
		{"/redraft stop", command{verb: toStop}},
		{"/redraft explain", command{verb: toExplain}},
		{" /redraft diagnose\n", command{verb: toDiagnose}},
		{"/redraft diagnose now", command{}},
		{"/Redraft", command{}},
		{"/redraft  retry", command{}},
		{"/redraft retrying", command{}},
		{"/redraft retry\nthe empty list", command{}},
		{"/redraft retry a\nb", command{}},
		{"/redraft stop now", command{}},
		{"/redraft accept 0123456789abc", command{}},
		{"/redraft accept 0123456789AB", command{}},
		{"/redraft merge", command{}},
		{"> /redraft", command{}},
		{"`/redraft`", command{}},
		{"/redraft\n\nthanks", command{}},
		{"", command{}},
		{strings.Repeat("/redraft ", 1000), command{}},
	} {
		if got := parseCommand(tt.comment); got != tt.want {
			t.Errorf("%.60q: got %+v, want %+v", tt.comment, got, tt.want)
		}
	}
}
