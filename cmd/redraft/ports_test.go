package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/trace"
)

func TestModelPorts(t *testing.T) {
	var models []trace.ModelChoice
	for _, u := range []string{
		"http://127.0.0.1:8080/v1", "http://[::1]:11434", "https://models.example/v1", "http://localhost", "", "::", "http://127.0.0.1:8080", "http://h:99999", "ftp://x",
	} {
		models = append(models, trace.ModelChoice{BaseURL: u})
	}
	if diff := cmp.Diff([]int{8080, 11434, 443, 80}, modelPorts(models)); diff != "" {
		t.Error(diff)
	}
}
