package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/chavacava/garif"
)

// documents reads reports that a tool wrote whole to its output, as eslint -f json does: they are taken from the run itself,
// since a line of such a report may be longer than any that readers are shown.
type documents struct {
	c    *collector
	done bool
}

func newDocuments(c *collector) lineReader { return &documents{c: c} }

// documentWakes are members and elements that each of these reports has near its beginning.
var documentWakes = []string{
	`"$schema"`, `"runs"`, "<checkstyle", `"filePath"`, `"end_location"`, `"generalDiagnostics"`, `"comments"`, `"endColumn"`, `"Issues"`,
	`"rubocop_version"`, `"suggestedFixesSkipped"`, `"filepath"`, `"column-origin"`,
}

// maxDocument is the largest report that is read, and maxDocuments how many lines of one output are looked at for one.
const (
	maxDocument  = 64 << 20
	maxDocuments = 200
)

// isDocument reports whether a line can begin a report that some reader of files knows.
func isDocument(line string) bool {
	return strings.HasPrefix(line, "<?xml") || strings.HasPrefix(line, "<checkstyle") || strings.HasPrefix(line, `[{"`) || line == "[" || line == "{" ||
		line == "[{" || strings.HasPrefix(line, `{"`)
}

func (r *documents) line(string) {}

func (r *documents) end() {
	if r.done {
		return
	}
	r.done = true
	out := trimmed(r.c.run.Stdout[:min(len(r.c.run.Stdout), maxMessage)])
	whole := len(out) > 0 && (out[0] == '{' || out[0] == '<') // collector.files takes it for a file
	r.find(r.c.run.Stdout, whole)
	r.find(r.c.run.Stderr, false)
}

// find looks for documents at the beginnings of lines; the first is left alone if others read it.
func (r *documents) find(b []byte, skip bool) {
	if len(b) > maxDocument {
		b = b[:maxDocument]
	}
	for tries := 0; len(b) > 0 && tries < maxDocuments; {
		line, rest := nextLine(b)
		if !isDocument(string(line[:min(len(line), 64)])) {
			b = rest
			continue
		}
		tries++
		n, known := r.read(b, skip)
		skip = skip && !known
		if n == 0 {
			b = rest
			continue
		}
		b = b[n:]
	}
}

// read gives the document at the start of b to the reader that knows it, and says how long it is.
func (r *documents) read(b []byte, skip bool) (n int, known bool) {
	reader := r.reader(b)
	if reader == nil {
		return 0, false
	}
	doc := b
	if b[0] != '<' {
		d := json.NewDecoder(bytes.NewReader(b))
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			r.c.partial = true
			r.c.note(reader.format + ": a report that breaks off")
			return 0, true
		}
		doc = raw
	}
	if skip {
		return len(doc), true
	}
	if err := reader.read(r.c, File{Name: "output", Data: doc}); err != nil {
		r.c.partial = true
		r.c.note(reader.format + ": " + err.Error())
	}
	return len(doc), true
}

func (r *documents) reader(b []byte) *fileReader {
	i := slices.IndexFunc(diagnosticFiles, func(f fileReader) bool { return f.knows("output", b[:min(len(b), maxMessage)]) })
	if i < 0 {
		return nil
	}
	return &diagnosticFiles[i]
}

// has reports whether a document's head holds all of the words.
func has(head []byte, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(head, []byte(w)) })
}

// trimmed is a head without a byte order mark and the space before its first sign.
func trimmed(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
}

func opensArray(head []byte) bool  { return bytes.HasPrefix(trimmed(head), []byte("[")) }
func opensObject(head []byte) bool { return bytes.HasPrefix(trimmed(head), []byte("{")) }

// decode reads one JSON document; what a tool wrote behind it, as golangci-lint its counts, is let be.
func decode(f File, into any) error {
	return json.NewDecoder(bytes.NewReader(trimmed(f.Data))).Decode(into)
}

// SARIF 2.1, whoever wrote it. https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func isSARIF(name string, head []byte) bool {
	return opensObject(head) && has(head, `"runs"`) && (has(head, `"$schema"`, "sarif") || has(head, `"version"`, "2.1.0") || strings.HasSuffix(name, "sarif.json")) ||
		opensObject(head) && strings.HasSuffix(name, ".sarif")
}

func readSARIF(c *collector, f File) error {
	var log garif.LogFile
	if err := decode(f, &log); err != nil {
		return fmt.Errorf("read SARIF: %w", err)
	}
	for _, run := range log.Runs {
		if run == nil {
			continue
		}
		tool := "sarif"
		if run.Tool != nil && run.Tool.Driver != nil && run.Tool.Driver.Name != "" {
			tool = toolName(run.Tool.Driver.Name)
		}
		c.recognise(tool)
		for _, r := range run.Results {
			if r != nil && len(r.Suppressions) == 0 {
				m := sarifRemark(tool, r)
				m.harmless = c.run.Exit == 0
				c.remark(m)
			}
		}
		c.sarifTrouble(tool, run)
	}
	return nil
}

// sarifTrouble takes in what kept the tool from looking at a file: ESLint puts its parse errors there.
func (c *collector) sarifTrouble(tool string, run *garif.Run) {
	for _, i := range run.Invocations {
		if i == nil {
			continue
		}
		for _, n := range slices.Concat(i.ToolConfigurationNotifications, i.ToolExecutionNotifications) {
			if n == nil || n.Level != "error" || n.Message == nil {
				continue
			}
			m := sarifRemark(tool, &garif.Result{Level: "error", Message: n.Message, Locations: n.Locations})
			if tool == "eslint" {
				m.rule = parseRule(m.message)
			}
			m.harmless = c.run.Exit == 0
			c.remark(m)
		}
	}
}

// toolName spells a tool as its command.
func toolName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if !isWord(name) {
		name = strings.ReplaceAll(cut(clean(name), 60), " ", "-")
	}
	return strings.ReplaceAll(name, ":", "-")
}

func sarifRemark(tool string, r *garif.Result) remark {
	m := remark{tool: tool, rule: r.RuleId, mild: r.Level != "error"}
	if m.rule == "" {
		m.rule = string(r.Level)
	}
	if r.Message != nil {
		m.message = r.Message.Text
	}
	for _, l := range r.Locations {
		if l == nil || l.PhysicalLocation == nil || l.PhysicalLocation.ArtifactLocation == nil {
			continue
		}
		m.file = fromURI(l.PhysicalLocation.ArtifactLocation.Uri)
		if region := l.PhysicalLocation.Region; region != nil {
			m.line = max(region.StartLine, 0)
		}
		break
	}
	return m
}

// fromURI is the file that a URI names.
func fromURI(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "" && u.Scheme != "file" {
		return uri
	}
	return u.Path
}

// Checkstyle's XML, which many linters write. The source of an error names the tool in front of the rule, as in
// "eslint.rules.no-undef", "ShellCheck.SC2086"; the one of golangci-lint is its linter alone.
// https://checkstyle.org/config.html
func isCheckstyle(_ string, head []byte) bool { return has(head, "<checkstyle") }

func readCheckstyle(c *collector, f File) error {
	var doc struct {
		Files []struct {
			Name   string `xml:"name,attr"`
			Errors []struct {
				Line     string `xml:"line,attr"`
				Severity string `xml:"severity,attr"`
				Message  string `xml:"message,attr"`
				Source   string `xml:"source,attr"`
			} `xml:"error"`
		} `xml:"file"`
	}
	if err := xml.NewDecoder(bytes.NewReader(trimmed(f.Data))).Decode(&doc); err != nil {
		return fmt.Errorf("read checkstyle: %w", err)
	}
	tool := "checkstyle"
	for _, file := range doc.Files {
		for _, e := range file.Errors {
			if t, _ := sourceOf(e.Source); t != "checkstyle" {
				tool = t
			}
		}
	}
	for _, file := range doc.Files {
		for _, e := range file.Errors {
			m := remark{file: file.Name, mild: e.Severity != "error", message: e.Message, harmless: c.run.Exit == 0}
			if m.tool, m.rule = sourceOf(e.Source); e.Source == "" {
				m.tool = tool // it names no rule where a file could not be parsed
			}
			if m.rule == "" {
				m.rule = parseRule(e.Message)
			}
			m.message = strings.TrimSuffix(m.message, " ("+m.rule+")")
			m.line, _ = strconv.Atoi(e.Line)
			m.line = max(m.line, 0)
			c.remark(m)
		}
	}
	return nil
}

func sourceOf(source string) (tool, rule string) {
	if rule, ok := strings.CutPrefix(source, "eslint.rules."); ok {
		return "eslint", rule
	}
	if rule, ok := strings.CutPrefix(source, "ShellCheck."); ok {
		return "shellcheck", rule
	}
	if golangciLinters()[source] || isCheck(source) {
		return "golangci-lint", source
	}
	return "checkstyle", source[strings.LastIndexByte(source, '.')+1:]
}

// eslint -f json. https://eslint.org/docs/latest/use/formatters/#json
func isESLintJSON(_ string, head []byte) bool {
	return opensArray(head) && has(head, `"filePath"`, `"messages"`)
}

func readESLintJSON(c *collector, f File) error {
	var files []struct {
		FilePath string
		Messages []struct {
			RuleID   *string `json:"ruleId"`
			Severity int
			Message  string
			Line     int
		}
	}
	if err := decode(f, &files); err != nil {
		return fmt.Errorf("read ESLint's JSON: %w", err)
	}
	c.recognise("eslint")
	tooMany := c.run.Exit != 0 && c.said("ESLint found too many warnings")
	for _, file := range files {
		for _, e := range file.Messages {
			m := remark{tool: "eslint", rule: parseRule(e.Message), file: file.FilePath, line: e.Line, message: e.Message}
			if e.RuleID != nil && *e.RuleID != "" {
				m.rule = *e.RuleID
			}
			m.mild = e.Severity != 2 && !tooMany
			c.remark(m)
		}
	}
	return nil
}

// ruffMessage is one of ruff check --output-format=json, and of json-lines. https://docs.astral.sh/ruff/settings/#output-format
type ruffMessage struct {
	Code     *string
	Filename string
	Message  string
	Location struct{ Row int }
}

func (r ruffMessage) remark() remark {
	m := remark{tool: "ruff", rule: "invalid-syntax", file: r.Filename, line: r.Location.Row, message: r.Message}
	if r.Code != nil && *r.Code != "" {
		m.rule = *r.Code
	}
	return m
}

func isRuffJSON(_ string, head []byte) bool {
	return opensArray(head) && has(head, `"filename"`, `"end_location"`, `"row"`)
}

func readRuffJSON(c *collector, f File) error {
	var found []ruffMessage
	if err := decode(f, &found); err != nil {
		return fmt.Errorf("read ruff's JSON: %w", err)
	}
	c.recognise("ruff")
	for _, r := range found {
		c.remark(r.remark())
	}
	return nil
}

// pyright --outputjson, whose lines count from 0. https://microsoft.github.io/pyright/#/command-line?id=json-output
func isPyrightJSON(_ string, head []byte) bool {
	return opensObject(head) && has(head, `"generalDiagnostics"`)
}

func readPyrightJSON(c *collector, f File) error {
	var doc struct {
		GeneralDiagnostics []struct {
			File, Severity, Message, Rule string
			Range                         struct{ Start struct{ Line int } }
		}
	}
	if err := decode(f, &doc); err != nil {
		return fmt.Errorf("read pyright's JSON: %w", err)
	}
	c.recognise("pyright")
	fail := c.run.Exit != 0 && strings.Contains(c.run.Command, "--warnings")
	for _, d := range doc.GeneralDiagnostics {
		m := remark{tool: "pyright", rule: d.Rule, file: d.File, line: max(d.Range.Start.Line, 0) + 1, message: strings.ReplaceAll(d.Message, "\u00a0", " ")}
		if m.rule == "" {
			m.rule = d.Severity
		}
		m.mild = d.Severity != "error" && !(fail && d.Severity == "warning")
		c.remark(m)
	}
	return nil
}

// shellcheck -f json and json1. https://www.shellcheck.net/wiki/Integration
func isShellcheckJSON(_ string, head []byte) bool {
	return opensArray(head) && has(head, `"endColumn"`, `"level"`, `"code"`) || opensObject(head) && has(head, `"comments"`, `"level"`, `"code"`)
}

func readShellcheckJSON(c *collector, f File) error {
	type comment struct {
		File, Level, Message string
		Line, Code           int
	}
	var doc struct{ Comments []comment }
	into := any(&doc)
	if opensArray(f.Data) {
		into = &doc.Comments
	}
	if err := decode(f, into); err != nil {
		return fmt.Errorf("read shellcheck's JSON: %w", err)
	}
	c.recognise("shellcheck")
	for _, e := range doc.Comments {
		c.remark(remark{tool: "shellcheck", rule: "SC" + strconv.Itoa(e.Code), file: e.File, line: e.Line, message: e.Message})
	}
	return nil
}

// golangci-lint's JSON. https://golangci-lint.run/docs/configuration/file/#output-configuration
func isGolangciJSON(_ string, head []byte) bool {
	return opensObject(head) && has(head, `"Issues"`) && (has(head, `"FromLinter"`) || has(head, `"Report"`))
}

func readGolangciJSON(c *collector, f File) error {
	var doc struct {
		Issues []struct {
			FromLinter, Text string
			Pos              struct {
				Filename string
				Line     int
			}
			LineRange struct{ From int }
		}
	}
	if err := decode(f, &doc); err != nil {
		return fmt.Errorf("read golangci-lint's JSON: %w", err)
	}
	c.recognise("golangci-lint")
	for _, i := range doc.Issues {
		c.remark(remark{
			tool: "golangci-lint", rule: i.FromLinter, file: i.Pos.Filename, line: max(cmp.Or(i.Pos.Line, i.LineRange.From), 0), message: i.Text,
		})
	}
	return nil
}

// rubocop --format json. https://docs.rubocop.org/rubocop/formatters.html#json-formatter
func isRubocopJSON(_ string, head []byte) bool {
	return opensObject(head) && has(head, `"rubocop_version"`)
}

func readRubocopJSON(c *collector, f File) error {
	var doc struct {
		Files []struct {
			Path     string
			Offenses []struct {
				Message   string
				CopName   string `json:"cop_name"`
				Corrected bool
				Location  struct{ Line int }
			}
		}
	}
	if err := decode(f, &doc); err != nil {
		return fmt.Errorf("read RuboCop's JSON: %w", err)
	}
	c.recognise("rubocop")
	for _, file := range doc.Files {
		for _, o := range file.Offenses {
			if !o.Corrected {
				c.remark(remark{tool: "rubocop", rule: o.CopName, file: file.Path, line: o.Location.Line, message: o.Message})
			}
		}
	}
	return nil
}

// biome --reporter=json. https://biomejs.dev/reference/reporters/#json
func isBiomeJSON(_ string, head []byte) bool {
	return opensObject(head) && has(head, `"summary"`, `"suggestedFixesSkipped"`) || opensObject(head) && has(head, `"diagnostics"`, `"category"`, `"advices"`)
}

func readBiomeJSON(c *collector, f File) error {
	var doc struct {
		Diagnostics []struct {
			Severity, Message, Category string
			Location                    struct {
				Path  json.RawMessage
				Start struct{ Line int }
			}
		}
	}
	if err := decode(f, &doc); err != nil {
		return fmt.Errorf("read Biome's JSON: %w", err)
	}
	c.recognise("biome")
	fail := c.run.Exit != 0 && strings.Contains(c.run.Command, "--error-on-warnings")
	for _, d := range doc.Diagnostics {
		m := remark{tool: "biome", rule: d.Category, line: max(d.Location.Start.Line, 0), message: d.Message}
		if m.rule == "format" || strings.HasPrefix(m.rule, "assist/") {
			m.kind = Format
		}
		if strings.HasPrefix(m.message, "Code formatting aborted") {
			m.rule = "syntax"
		}
		var in struct{ File string } // releases before 2.4
		if json.Unmarshal(d.Location.Path, &m.file) != nil && json.Unmarshal(d.Location.Path, &in) == nil {
			m.file = in.File
		}
		m.mild = d.Severity != "error" && d.Severity != "fatal" && !(fail && d.Severity == "warning")
		c.remark(m)
	}
	return nil
}

// actionlint -format '{{json .}}'. https://github.com/rhysd/actionlint/blob/main/docs/usage.md#format
func isActionlintJSON(_ string, head []byte) bool {
	return opensArray(head) && has(head, `"filepath"`, `"kind"`, `"line"`, `"column"`)
}

func readActionlintJSON(c *collector, f File) error {
	var found []struct {
		Message, Filepath, Kind string
		Line                    int
	}
	if err := decode(f, &found); err != nil {
		return fmt.Errorf("read actionlint's JSON: %w", err)
	}
	for _, e := range found {
		c.remark(remark{tool: "actionlint", rule: e.Kind, file: e.Filepath, line: e.Line, message: e.Message})
	}
	return nil
}

// gcc -fdiagnostics-format=json. https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html
func isGccJSON(_ string, head []byte) bool {
	return opensArray(head) && has(head, `"column-origin"`, `"kind"`)
}

func readGccJSON(c *collector, f File) error {
	var found []struct {
		Kind, Message, Option string
		Locations             []struct {
			Caret struct {
				File string
				Line int
			}
		}
	}
	if err := decode(f, &found); err != nil {
		return fmt.Errorf("read gcc's JSON: %w", err)
	}
	c.recognise("gcc")
	for _, d := range found {
		m := remark{tool: "gcc", rule: "error", message: d.Message, mild: d.Kind == "warning"}
		if d.Kind != "error" && d.Kind != "fatal error" && !m.mild || len(d.Locations) == 0 {
			continue
		}
		m.file, m.line = d.Locations[0].Caret.File, max(d.Locations[0].Caret.Line, 0)
		if m.mild {
			m.kind, m.rule = Lint, "warning"
		}
		if d.Option != "" {
			m.kind, m.rule = Lint, strings.TrimPrefix(strings.TrimPrefix(d.Option, "-W"), "error=")
		}
		c.remark(m)
	}
	return nil
}
