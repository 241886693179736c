package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/trace"
)

// named finds the models that a repository or a workflow names: among the operator's own, else among what answers on this
// machine. Addresses are never named from outside.
func (a *app) named(ctx context.Context, small, big string) (all []trace.ModelChoice, err error) {
	var here []model.Found
	for _, want := range []struct{ tier, name string }{{"small", small}, {"big", big}} {
		if want.name == "" {
			if own, ok := a.config.Models[want.tier]; ok { // the operator's stays where nobody names another
				all = append(all, trace.ModelChoice{Tier: want.tier, Name: own.Name, BaseURL: own.BaseURL, Model: own.Model})
			}
			continue
		}
		c, ok := a.config.model(want.name)
		if !ok {
			if here == nil {
				here = model.Detect(ctx)
			}
			if c, ok = serving(here, want.name); !ok {
				return nil, fmt.Errorf("%q is none of %s", want.name, a.modelNames(here))
			}
		}
		c.Tier = want.tier
		all = append(all, c)
	}
	return all, nil
}

// model is the operator's model of a name: a key of models, a name, or an id at its server.
func (c config) model(name string) (trace.ModelChoice, bool) {
	for _, key := range slices.Sorted(maps.Keys(c.Models)) {
		if m := c.Models[key]; name == key || name == m.Name || name == m.Model {
			return trace.ModelChoice{Name: orElse(m.Name, key), BaseURL: m.BaseURL, Model: m.Model}, true
		}
	}
	return trace.ModelChoice{}, false
}

func serving(here []model.Found, name string) (trace.ModelChoice, bool) {
	for _, f := range here {
		if slices.Contains(f.Models, name) {
			return trace.ModelChoice{Name: name, BaseURL: f.BaseURL, Model: name}, true
		}
	}
	return trace.ModelChoice{}, false
}

// modelNames are those that could have been named.
func (a *app) modelNames(here []model.Found) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(a.config.Models)) {
		all = append(all, orElse(a.config.Models[key].Name, key))
	}
	for _, f := range here {
		all = append(all, f.Models...)
	}
	if len(all) == 0 {
		return "the models here: there are none"
	}
	return "the models here: " + strings.Join(all, ", ")
}
