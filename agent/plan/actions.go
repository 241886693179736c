package plan

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// knownAction is an action that does no more than run one tool. An input that neither Run nor Ignore knows is refused.
type knownAction struct {
	Uses     string            `json:"uses"`
	Run      string            `json:"run"` // what it runs; expressions over its inputs
	Dir      string            `json:"dir"` // the input that names the folder; none if empty
	Defaults map[string]string `json:"defaults"`
	Ignore   []string          `json:"ignore"` // inputs that choose a version, or what is shown
	Source   string            `json:"source"` // where it can be read that it does
}

//go:embed actions.json
var actionsJSON []byte

var knownActions = sync.OnceValue(func() []knownAction {
	var all []knownAction
	if err := json.Unmarshal(actionsJSON, &all); err != nil {
		panic(err) // it is ours, and a test reads it
	}
	return all
})

// actionName is owner/name of what a step uses, without its version.
func actionName(uses string) string {
	name, _, _ := strings.Cut(uses, "@")
	return name
}

// known is the step that runs the tool of a known action.
func (p place) known(uses string, with *object) (*object, scope, error) {
	all := knownActions()
	i := slices.IndexFunc(all, func(k knownAction) bool { return strings.EqualFold(k.Uses, actionName(uses)) })
	if i < 0 {
		return nil, nil, unplanned(BadAction, uses, "%s is not known to run one command; name the command in %s", uses, FileName)
	}
	k := all[i]
	inputs := newObject()
	for name, v := range k.Defaults {
		inputs.set(name, v)
	}
	step := newObject()
	step.set("run", strings.TrimSpace(k.Run))
	step.set("shell", "sh")
	step.set("working-directory", ".")
	for _, name := range with.names() {
		v, err := p.scope.all(with.get(name))
		switch {
		case slices.Contains(k.Ignore, name):
			continue
		case err != nil:
			return nil, nil, err
		case name == k.Dir:
			step.set("working-directory", v)
		case !strings.Contains(k.Run, "inputs."+name):
			return nil, nil, unplanned(BadAction, uses, "what %s does with its input %s is not known; name the command in %s", uses, name, FileName)
		default:
			inputs.set(name, v)
		}
	}
	return step, p.scope.with("inputs", inputs), nil
}

// names are the keys, none if o is nil.
func (o *object) names() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// localAction reads the action in a folder of the tree.
func localAction(tree fs.FS, uses string) (*object, error) {
	dir := path.Clean(strings.TrimPrefix(uses, "./"))
	for _, name := range []string{"action.yml", "action.yaml"} {
		o, err := readObject(tree, path.Join(dir, name))
		if err == nil {
			return o, nil
		}
		if u, ok := err.(*Unplanned); !ok || u.What != "" { //nolint:errorlint // readObject's own
			return nil, err
		}
	}
	return nil, unplanned(BadAction, uses, "the action %s is not in this tree", uses)
}

// readObject reads a YAML file that is a mapping. The error is an *Unplanned, without What where there is no such file.
func readObject(tree fs.FS, name string) (*object, error) {
	if !fs.ValidPath(name) {
		return nil, unplanned(BadFile, "", "%s lies outside the tree", name)
	}
	b, err := readFile(tree, name, maxWorkflow+1)
	if err != nil {
		return nil, unplanned(BadFile, "", "there is no file %s in this tree", name)
	}
	v, err := readYAML(b)
	if err != nil {
		return nil, unplanned(BadFile, name, "read %s: %v", name, err)
	}
	o, ok := v.(*object)
	if !ok {
		return nil, unplanned(BadFile, name, "read %s: it is no mapping", name)
	}
	return o, nil
}
