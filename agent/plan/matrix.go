package plan

import (
	"slices"
	"strings"
)

// maxCombinations is GitHub's own limit of jobs that one matrix makes.
const maxCombinations = 256

// combination is the values of one run of a job.
type combination struct {
	values *object
	named  []string // the keys that stand in the name GitHub gives it
}

// combinations are the runs of a job's matrix, in GitHub's order; one without values if there is no matrix. The error is
// an *Unplanned where the values come from a run.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations
func (s scope) combinations(strategy any) ([]combination, error) {
	o, _ := strategy.(*object)
	raw := o.get("matrix")
	if raw == nil {
		return []combination{{values: newObject()}}, nil
	}
	v, err := s.all(raw)
	if err != nil {
		return nil, matrixError(err)
	}
	m, ok := v.(*object)
	if !ok {
		return nil, unplanned(BadMatrix, "matrix", "the matrix is no mapping")
	}
	all, keys, err := product(m)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c combination) bool {
		return slices.ContainsFunc(list(m.get("exclude")), func(e any) bool { return c.matches(e) })
	})
	for _, e := range list(m.get("include")) {
		if o, ok := e.(*object); ok {
			all = include(all, keys, o)
		}
	}
	if len(all) == 0 || len(all) > maxCombinations {
		return nil, unplanned(BadMatrix, "matrix", "the matrix has %d combinations", len(all))
	}
	return all, nil
}

func matrixError(err error) error {
	if u, ok := err.(*Unplanned); ok { //nolint:errorlint // scope's own
		return unplanned(BadMatrix, u.What, "the values of the matrix are not known: %s", u.Text)
	}
	return err
}

// product is each value with each.
func product(m *object) (all []combination, keys []string, err error) {
	for _, k := range m.keys {
		if k == "include" || k == "exclude" {
			continue
		}
		values, ok := m.values[k].([]any)
		if !ok || len(values) == 0 {
			return nil, nil, unplanned(BadMatrix, "matrix."+k, "matrix.%s is no list of values", k)
		}
		keys = append(keys, k)
		if all == nil {
			all = []combination{{values: newObject()}}
		}
		var next []combination
		for _, c := range all {
			for _, v := range values {
				if len(next) > maxCombinations {
					return nil, nil, unplanned(BadMatrix, "matrix", "the matrix has more than %d combinations", maxCombinations)
				}
				one := c.values.clone()
				one.set(k, v)
				next = append(next, combination{one, keys})
			}
		}
		all = next
	}
	for i := range all {
		all[i].named = keys
	}
	return all, keys, nil
}

// matches reports whether the combination has all values of an exclude.
func (c combination) matches(exclude any) bool {
	o, ok := exclude.(*object)
	if !ok || len(o.keys) == 0 {
		return false
	}
	return !slices.ContainsFunc(o.keys, func(k string) bool {
		v, has := c.values.find(k)
		return !has || !same(v, o.values[k])
	})
}

// include adds the values to every combination whose own ones they leave alone, else makes one of them.
func include(all []combination, keys []string, o *object) []combination {
	added := false
	for _, c := range all {
		fits := len(c.named) > 0 && c.own(keys) && !slices.ContainsFunc(o.keys, func(k string) bool {
			return slices.Contains(keys, k) && !same(c.values.get(k), o.values[k])
		})
		if fits {
			for _, k := range o.keys {
				c.values.set(k, o.values[k])
			}
			added = true
		}
	}
	if added {
		return all
	}
	return append(all, combination{o.clone(), slices.Concat(o.keys, []string{})})
}

// own reports whether the combination is of the matrix itself, not made by an include.
func (c combination) own(keys []string) bool {
	return slices.Equal(c.named, keys)
}

// same compares values of a matrix, lists and mappings by what they hold.
func same(a, b any) bool {
	switch a := a.(type) {
	case *object:
		o, ok := b.(*object)
		return ok && len(a.keys) == len(o.keys) && !slices.ContainsFunc(a.keys, func(k string) bool {
			v, has := o.values[k]
			return !has || !same(a.values[k], v)
		})
	case []any:
		l, ok := b.([]any)
		return ok && slices.EqualFunc(a, l, same)
	}
	return equal(a, b)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// names are how GitHub may show the run of a job that has no name of its own.
func (c combination) names(id string) []string {
	var all []string
	for _, keys := range [][]string{c.named, c.values.keys} {
		var words []string
		for _, k := range keys {
			words = append(words, flatText(c.values.get(k))...)
		}
		if len(words) == 0 {
			all = append(all, id)
			continue
		}
		all = append(all, id+" ("+strings.Join(words, ", ")+")")
	}
	return all
}

// flatText is the scalars in a value.
func flatText(v any) []string {
	if t, ok := asText(v); ok {
		return []string{t}
	}
	var words []string
	for _, e := range items(v) {
		words = append(words, flatText(e)...)
	}
	return words
}

// has reports whether the combination has values with these texts.
func (c combination) has(want map[string]string) bool {
	for k, w := range want {
		v, found := c.values.find(k)
		t, scalar := asText(v)
		if !found || !scalar || t != w {
			return false
		}
	}
	return true
}
