package main

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/redraft-dev/redraft/agent/trace"
)

// modelPorts are the ports of the models' addresses. Where commands share the machine's loopback these are closed to them: what
// reaches a model may ask it anything, and who takes its port while it is down answers for it.
func modelPorts(models []trace.ModelChoice) []int {
	var out []int
	for _, m := range models {
		u, err := url.Parse(m.BaseURL)
		if err != nil || u.Host == "" {
			continue
		}
		n, err := strconv.Atoi(u.Port())
		if err != nil {
			n = map[string]int{"http": 80, "https": 443}[u.Scheme]
		}
		if n >= 1 && n <= 65535 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
