package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// constraints are what the types of Job do not say and Job.check does.
var constraints = map[string]map[string]any{
	"Job.version":          {"const": JobVersion},
	"Job.id":               {"pattern": idPattern.String()},
	"Job.retry_of":         {"pattern": "^$|" + idPattern.String()},
	"Job.root":             {"pattern": commitPattern.String()},
	"Job.base":             {"pattern": "^$|" + commitPattern.String()},
	"Job.root_tree":        {"pattern": "^$|" + commitPattern.String()},
	"Job.check":            {"minLength": 1},
	"Job.evidence":         {"pattern": "^/"},
	"Job.scratch":          {"pattern": "^/"},
	"Job.state":            {"pattern": "^/"},
	"Trees.root":           {"pattern": "^/"},
	"Trees.merge":          {"pattern": "^(/|$)"},
	"Trees.base":           {"pattern": "^(/|$)"},
	"Job.tiers":            {"uniqueItems": true, "items": map[string]any{"type": "string", "enum": allTiers}},
	"Job.mode":             {"enum": allModes},
	"ModelChoice.tier":     {"enum": allTiers[1:]},
	"ModelChoice.base_url": {"minLength": 1},
}

// TestJobSchema keeps job.schema.json in step with the struct: names, types, what must be there, and the comments.
func TestJobSchema(t *testing.T) {
	schema := schemaOf(reflect.TypeFor[Job](), fieldComments(t))
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = fmt.Sprintf("JOB.json of redraft, version %d", JobVersion)
	want, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("job.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, JobSchema()) {
		t.Error("job.schema.json is not in step with Job: go test ./agent/trace -run TestJobSchema -update")
	}
}

func schemaOf(typ reflect.Type, comments map[string]string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for f := range fieldsOf(typ) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		key := typ.Name() + "." + name
		p := typeOf(f.Type, comments)
		for k, v := range constraints[key] {
			p[k] = v
		}
		if c := comments[typ.Name()+"."+f.Name]; c != "" {
			p["description"] = c
		}
		properties[name] = p
		if opts != "omitempty" {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}

func fieldsOf(typ reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range typ.NumField() {
			if !yield(typ.Field(i)) {
				return
			}
		}
	}
}

func typeOf(typ reflect.Type, comments map[string]string) map[string]any {
	switch {
	case typ == reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object"}
	case typ == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "minimum": 0}
	case typ.Kind() == reflect.Struct:
		return schemaOf(typ, comments)
	case typ.Kind() == reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": typeOf(typ.Elem(), comments)}
	case typ.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeOf(typ.Elem(), comments)}
	case typ.Kind() == reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0}
	case typ.Kind() == reflect.Int64:
		return map[string]any{"type": "integer"}
	}
	return map[string]any{"type": "string"}
}

// fieldComments are the line comments of job.go's struct fields.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "job.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					comments[spec.Name.Name+"."+name.Name] = strings.TrimSpace(f.Comment.Text())
				}
			}
		}
		return false
	})
	return comments
}

// TestSchemaAndReaderAgree holds the same files against both.
func TestSchemaAndReaderAgree(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(JobSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for name, job := range map[string]Job{"all": sampleJob(), "least": smallestJob()} {
		if err := against(schema, any(jobMap(t, job))); err != nil {
			t.Errorf("%s: the schema refuses what ReadJob takes: %v", name, err)
		}
	}
	for name, tc := range badJobs {
		m := jobMap(t, sampleJob())
		tc.change(m)
		b, _ := json.Marshal(m)
		var v any
		_ = json.Unmarshal(b, &v)
		if against(schema, v) == nil {
			t.Errorf("%s: the schema takes what ReadJob refuses", name)
		}
	}
}

// against checks v by the part of JSON schema that job.schema.json uses.
func against(schema map[string]any, v any) error {
	if err := againstType(schema["type"], v); err != nil {
		return err
	}
	if c, ok := schema["const"]; ok && c != v {
		return fmt.Errorf("%v is not %v", v, c)
	}
	if e, ok := schema["enum"].([]any); ok && !slices.Contains(e, v) {
		return fmt.Errorf("%v is none of %v", v, e)
	}
	switch v := v.(type) {
	case string:
		if p, ok := schema["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return fmt.Errorf("%q does not match %s", v, p)
		}
		if n, ok := schema["minLength"].(float64); ok && len(v) < int(n) {
			return fmt.Errorf("%q is too short", v)
		}
	case float64:
		if n, ok := schema["minimum"].(float64); ok && v < n {
			return fmt.Errorf("%v is below %v", v, n)
		}
	case []any:
		return againstItems(schema, v)
	case map[string]any:
		return againstObject(schema, v)
	}
	return nil
}

func againstType(want any, v any) error {
	names := []any{want}
	if list, ok := want.([]any); ok {
		names = list
	}
	got := "null"
	switch v := v.(type) {
	case string:
		got = "string"
	case float64:
		got = "number"
		if v == float64(int64(v)) {
			got = "integer"
		}
	case []any:
		got = "array"
	case map[string]any:
		got = "object"
	}
	if !slices.Contains(names, any(got)) {
		return fmt.Errorf("%v is of type %s, not %v", v, got, want)
	}
	return nil
}

func againstItems(schema map[string]any, list []any) error {
	for i, item := range list {
		if schema["uniqueItems"] == true && slices.Contains(list[:i], item) {
			return fmt.Errorf("%v stands there twice", item)
		}
		if err := against(schema["items"].(map[string]any), item); err != nil {
			return err
		}
	}
	return nil
}

func againstObject(schema, m map[string]any) error {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := m[name.(string)]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for name, v := range m {
		p, ok := properties[name].(map[string]any)
		if !ok && schema["additionalProperties"] == false {
			return fmt.Errorf("%s is unknown", name)
		}
		if !ok {
			continue
		}
		if err := against(p, v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
