package patch

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// dropped gives what the root was strict about and the change is not: an error that had a name and is given to nobody,
// a lint that was denied, a checker that was asked for.
func dropped(was, now read) []noted {
	kept, strict := map[string]int{}, map[string]syntax.Fact{}
	for _, f := range was.facts {
		if f.Kind == syntax.Keep {
			kept[f.Func+"\x00"+f.Text]++
		}
		if s := was.stern(f); s != "" {
			strict[s] = f
		}
	}
	var out []noted
	for _, f := range now.facts {
		if f.Kind == syntax.Keep {
			kept[f.Func+"\x00"+f.Text]--
		}
		delete(strict, now.stern(f))
	}
	for _, f := range now.facts {
		if f.Kind == syntax.Discard && kept[f.Func+"\x00"+f.Text] > 0 {
			out = append(out, now.note(Swallowed, f, true))
		}
	}
	if len(now.facts) == 0 {
		return out // a file that is gone or is not read lost more than that
	}
	for s := range strict {
		out = append(out, noted{Smell: Smell{Suppression, now.name, 0, s, true}})
	}
	return out
}

// stern is what makes a checker stricter.
func (r read) stern(f syntax.Fact) string {
	text := strings.TrimSpace(strings.TrimLeft(f.Text, "/*#! \t"))
	switch {
	case f.Kind == syntax.Mark && r.lang == "rust" && (strings.HasPrefix(f.Text, "deny(") || strings.HasPrefix(f.Text, "forbid(")),
		f.Kind == syntax.Comment && r.lang == "javascript" && (strings.HasPrefix(text, "@ts-check") || strings.HasPrefix(text, "@flow")),
		f.Kind == syntax.Comment && r.lang == "python" && (strings.HasPrefix(text, "mypy: strict") || strings.HasPrefix(text, "pyright: strict")):
		return text
	}
	return ""
}

// counting gives the functions of the root that count now how often they were called.
func counting(was, now read) []noted {
	before := map[string]bool{}
	for _, f := range was.facts {
		if f.Kind == syntax.Func {
			before[f.Text] = true
		}
		if f.Kind == syntax.Count {
			before["\x00"+f.Text] = true
		}
	}
	var out []noted
	for _, f := range now.facts {
		if f.Kind == syntax.Count && before[f.Func] && !before["\x00"+f.Text] {
			out = append(out, now.note(Counting, f, true))
		}
	}
	return out
}

// rewound gives the lines of the root that read the clock and are not in the change any more, where the failing
// assertions compare how long something took.
func rewound(old, fresh []read, tested Tested) []noted {
	if !slices.ContainsFunc(tested.Compared, lasts) {
		return nil
	}
	left := map[string]int{}
	for _, r := range fresh {
		for _, l := range r.lines {
			left[strings.TrimSpace(l)]++
		}
	}
	var out []noted
	for i, r := range old {
		last := 0
		for _, f := range r.facts {
			if f.Kind != syntax.Ref || f.Line == last || f.Line > len(r.lines) || r.testFile() || !clocks().has(r.lang, strings.TrimSuffix(f.Text, "()")) {
				continue
			}
			last = f.Line
			line := strings.TrimSpace(r.lines[f.Line-1])
			if left[line]--; left[line] < 0 {
				out = append(out, noted{Smell: Smell{Timing, fresh[i].name, 0, line, true}})
			}
		}
	}
	return out
}

// lasts says whether a value is a time that something took.
func lasts(v string) bool { return duration().MatchString(v) }

var duration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\d\s?(ns|us|µs|ms|s|sec|secs|seconds|milliseconds)\b|\btook\b|\belapsed\b`)
})

// clocks say what time it is.
var clocks = names(map[string]string{
	"go": "time.Now time.Since time.Until", "python": "time.time time.monotonic time.perf_counter time.process_time time.perf_counter_ns time.time_ns",
	"javascript": "Date.now performance.now process.hrtime process.hrtime.bigint", "java": "System.nanoTime System.currentTimeMillis Instant.now",
	"rust": "std.time.Instant.now Instant.now time.Instant.now std.time.SystemTime.now SystemTime.now",
})
