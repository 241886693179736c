package trace

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed view.css
var viewCSS string

// maxDetail is how many lines of one text a page shows.
const maxDetail = 4000

// page is what a view shows. Every string in it is visible text; gomponents escapes it. A template of the standard library would
// do, at the price of every exported method of every type that the program links: the linker cannot leave any out beside one.
type page struct {
	Title, Stop, Next, Asked string
	Figures                  []pageFigure
	Findings                 []pageFinding
	Rungs                    []pageRung
	Parts                    []pagePart
}

type pageFigure struct{ Name, Value string }

type pageFinding struct {
	ID, Place, Got, Want, Message string
	Values                        bool
}

type pageRung struct{ ID, Shows, Status, Text, Class string }

type pagePart struct {
	Name  string
	Steps []pageStep
}

type pageStep struct {
	At, Type, Text, Class string
	Details               []pageDetail
}

type pageDetail struct {
	Name  string
	Lines []pageLine
	Open  bool
}

type pageLine struct{ Text, Class string }

// View writes a job as one HTML file that needs nothing else: no script, no network. It is rendered from the lines
// alone; nothing in them is markup.
func View(w io.Writer, events []Event) error {
	if err := tell(events, false).page().node().Render(w); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// viewPolicy lets a view hold text and its own style, and nothing else.
const viewPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

func (p page) node() g.Node {
	return h.Doctype(h.HTML(h.Lang("en"), h.Head(
		h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(viewPolicy)), h.Meta(h.Name("referrer"), h.Content("no-referrer")),
		h.TitleEl(g.Text(p.Title)), h.StyleEl(g.Raw("\n"+viewCSS)),
	), h.Body(h.Main(
		h.H1(g.Text(p.Title)), h.P(g.Text(p.Stop)),
		g.If(p.Next != "", h.P(h.Strong(g.Text("Next safe action:")), g.Text(" "+p.Next))),
		h.P(h.Class("soft"), g.Text(p.Asked)),
		h.Ul(h.Class("figures"), g.Map(p.Figures, func(f pageFigure) g.Node { return h.Li(h.B(g.Text(f.Value)), g.Text(f.Name)) })),
		h.H2(g.Text("What was seen")),
		g.If(len(p.Findings) == 0, h.P(g.Text("No finding."))), g.Map(p.Findings, pageFinding.node),
		g.If(len(p.Rungs) > 0, p.proof()),
		h.H2(g.Text("Step by step")), g.Map(p.Parts, pagePart.node),
	))))
}

func (f pageFinding) node() g.Node {
	return h.Section(
		h.P(h.Strong(g.Text(f.ID)), g.Text(" "+f.Place)),
		g.If(f.Values, h.Div(h.Class("values"), h.Div(g.Text("got"), h.Pre(g.Text(f.Got))), h.Div(g.Text("want"), h.Pre(g.Text(f.Want))))),
		g.If(f.Message != "", h.Pre(g.Text(f.Message))), g.Text("\n"),
	)
}

func (p page) proof() g.Node {
	column := func(name string) g.Node { return h.Th(h.Scope("col"), g.Text(name)) }
	return g.Group{h.H2(g.Text("Proof")), h.Div(h.Class("scroll"), h.Table(
		h.THead(h.Tr(column("rung"), column("shows"), column("status"), column("seen"))),
		h.TBody(g.Map(p.Rungs, func(r pageRung) g.Node {
			return h.Tr(h.Th(h.Scope("row"), g.Text(r.ID)), h.Td(g.Text(r.Shows)), h.Td(h.Class(r.Class), g.Text(r.Status)), h.Td(g.Text(r.Text)), g.Text("\n"))
		})),
	))}
}

func (p pagePart) node() g.Node {
	return g.Group{h.H3(g.Text(p.Name)), h.Ol(h.Class("time"), g.Text("\n"), g.Map(p.Steps, func(s pageStep) g.Node {
		return h.Li(h.Class(s.Class), h.Time(g.Text(s.At)), h.Strong(g.Text(s.Type)), g.Text(" "+s.Text+"\n"), g.Map(s.Details, pageDetail.node), g.Text("\n"))
	}))}
}

func (d pageDetail) node() g.Node {
	return h.Details(g.If(d.Open, g.Attr("open")), h.Summary(g.Text(d.Name)), h.Pre(g.Map(d.Lines, func(l pageLine) g.Node { return h.Span(h.Class(l.Class), g.Text(l.Text)) })))
}

func (s *story) page() page {
	p := page{Title: "redraft: no job", Stop: "There is no stop line: " + string(s.state()) + ".", Next: oneLine(s.next(), 600), Figures: s.figures()}
	if len(s.events) > 0 {
		p.Title = "redraft: job " + oneLine(s.events[0].Job, 128)
	}
	if s.stop != nil {
		p.Stop = stopText(*s.stop)
	}
	if s.job != nil {
		p.Asked = jobText(*s.job)
	}
	if v := s.seen(); v != nil {
		for _, f := range v.Findings[:min(len(v.Findings), 50)] {
			p.Findings = append(p.Findings, pageFinding{word(f.ID), place(f.File, f.Line), clipLines(visible(f.Got), 200),
				clipLines(visible(f.Want), 200), clipLines(visible(f.Message), 200), f.Got != "" || f.Want != ""})
		}
	}
	for _, r := range s.rungs {
		class := map[string]string{"held": "green", "failed": "red"}[r.Status]
		p.Rungs = append(p.Rungs, pageRung{oneLine(r.ID, 12), rungTitles[r.ID], statusWord(r.Status), oneLine(r.Text, 400), class})
	}
	p.Parts = s.parts()
	return p
}

func (s *story) figures() []pageFigure {
	u, t := s.usage(), s.timings()
	level, _ := s.egress()
	return []pageFigure{
		{"from first to last line", seconds(t.Seconds)}, {"in the jail, summed", seconds(t.RunSeconds)}, {"waiting for models", seconds(t.ModelSeconds)},
		{"runs", fmt.Sprint(u.Runs)}, {"turns", fmt.Sprint(u.Turns)}, {"small edits tried", fmt.Sprint(u.Candidates)},
		{"tokens read", fmt.Sprint(u.PromptTokens)}, {"tokens written", fmt.Sprint(u.OutputTokens)}, {"egress", strings.ReplaceAll(level, "_", " ")},
	}
}

// parts groups the events as a replay does. The frames of an answer are left out: the answer itself follows.
func (s *story) parts() []pagePart {
	var parts []pagePart
	for i, e := range s.events {
		name := sectionOf(e)
		if len(parts) == 0 && name == "" {
			name = "the job"
		}
		if len(parts) == 0 || name != "" && name != parts[len(parts)-1].Name {
			parts = append(parts, pagePart{Name: name})
		}
		if e.Type == TypeTokens && i+1 < len(s.events) {
			continue
		}
		last := &parts[len(parts)-1]
		last.Steps = append(last.Steps, pageStep{e.TS.UTC().Format("15:04:05.000"), oneLine(e.Type, 30), EventText(e), classOf(e), detailsOf(e)})
	}
	return parts
}

func classOf(e Event) string {
	switch e.Type {
	case TypeRun:
		return colorOf(decode[RunData](e).Color)
	case TypeVerdict:
		return colorOf(decode[VerdictData](e).Color)
	case TypeSlip:
		return "red"
	}
	return ""
}

// detailsOf are the long texts of an event.
func detailsOf(e Event) []pageDetail {
	switch e.Type {
	case TypePatch:
		return []pageDetail{{"diff", diffLines(decode[PatchData](e).Diff), true}}
	case TypeRequest:
		var out []pageDetail
		for _, m := range messagesOf(decode[RequestData](e).Body) {
			out = append(out, pageDetail{"prompt: " + oneLine(m.Role, 20), textLines(m.Content), false})
		}
		return out
	case TypeReply:
		return []pageDetail{{"answer", textLines(decode[ReplyData](e).Text), false}}
	case TypeVerdict:
		var out []pageDetail
		for _, f := range decode[VerdictData](e).Findings {
			out = append(out, pageDetail{"finding " + word(f.ID), textLines(FindingText(f)), false})
		}
		return out
	}
	return nil
}

func textLines(s string) []pageLine {
	var out []pageLine
	for line := range strings.Lines(clipLines(visible(s), maxDetail)) {
		out = append(out, pageLine{Text: strings.TrimSuffix(line, "\n")})
	}
	return out
}

func diffLines(s string) []pageLine {
	classes := map[string]string{green: "add", red: "del", cyan: "hunk"}
	out := textLines(s)
	for i := range out {
		out[i].Class = classes[diffPaint(out[i].Text)]
	}
	return out
}
