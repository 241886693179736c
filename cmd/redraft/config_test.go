package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The published schema knows exactly the keys that the program reads.
func TestConfigSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal([]byte(configSchema), &schema); err != nil {
		t.Fatal(err)
	}
	sameKeys(t, "", reflect.TypeFor[config](), schema)
}

func sameKeys(t *testing.T, at string, typ reflect.Type, schema map[string]any) {
	t.Helper()
	if typ.Kind() == reflect.Map { // models, by tier
		for name, s := range schema["properties"].(map[string]any) {
			sameKeys(t, at+"."+name, typ.Elem(), s.(map[string]any))
		}
		return
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s: unknown keys are allowed", at)
	}
	properties := schema["properties"].(map[string]any)
	var fields []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fields = append(fields, key)
		if s, ok := properties[key].(map[string]any); ok {
			sameKeys(t, at+"."+key, f.Type, s)
		}
	}
	for key := range properties {
		if !slices.Contains(fields, key) {
			t.Errorf("%s.%s: in the schema, and not read", at, key)
		}
	}
	for _, key := range fields {
		if _, ok := properties[key]; !ok {
			t.Errorf("%s.%s: read, and not in the schema", at, key)
		}
	}
}

func TestReadConfig(t *testing.T) {
	name := filepath.Join(t.TempDir(), "config.yml")
	for _, c := range []struct{ text, want string }{
		{"github: {app-id: 7, private-key-file: k.pem, webhook-secret-files: [s]}\nserve: {jobs: 2}\nlimits: {per-day: 5}\n", ""},
		{"", ""},
		{"github: {app-id: seven}\n", "config.yml"},
		{"github: {private-key: inline}\n", "private-key"},
		{"limits: {per-day: -1}\n", "limits.per-day"},
		{"models: {huge: {name: x}}\n", "models.huge has no base-url"},
		{"models: {small: {name: x}}\n", "base-url"},
		{"setup: {allow: true, registries: {go: \"https://goproxy.example/\"}}\n", ""},
		{"setup: {registries: {npm: \"http://npm.example/\"}}\n", "setup.registries"},
		{"setup: {registries: {npm: \"https://me:secret@npm.example/\"}}\n", "setup.registries"},
		{"setup: {registries: {maven: \"https://maven.example/\"}}\n", "maven"},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, from, err := readConfig(func(k string) string { return map[string]string{"REDRAFT_CONFIG": name}[k] })
		if c.want == "" && (err != nil || from != name) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v from %q, want an error that names %q", c.text, err, from, c.want)
		}
	}
}
