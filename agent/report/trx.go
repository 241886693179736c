package report

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// trxFile is the report of Visual Studio's test tools and of dotnet test.
var trxFile = fileReader{
	format: "trx", tests: true,
	knows: func(_ string, head []byte) bool { return rootElement(head) == "TestRun" },
	read:  readTRX,
}

// nunitFile is NUnit 3's own report.
var nunitFile = fileReader{
	format: "nunit", tests: true,
	knows: func(_ string, head []byte) bool { return rootElement(head) == "test-run" },
	read:  readNUnit,
}

type trxResult struct {
	Test     string `xml:"testId,attr"`
	Name     string `xml:"testName,attr"`
	Outcome  string `xml:"outcome,attr"`
	Duration string `xml:"duration,attr"`
	Message  string `xml:"Output>ErrorInfo>Message"`
	Stack    string `xml:"Output>ErrorInfo>StackTrace"`
}

type trxTest struct {
	ID     string `xml:"id,attr"`
	Method struct {
		Class string `xml:"className,attr"`
		Name  string `xml:"name,attr"`
	} `xml:"TestMethod"`
}

func readTRX(c *collector, f File) error {
	c.recognise("trx")
	var results []trxResult
	classes := map[string]string{}
	err := eachElement(f.Data, func(d *xml.Decoder, e xml.StartElement, _ []xml.StartElement) (bool, error) {
		switch e.Name.Local {
		case "UnitTestResult":
			var r trxResult
			if err := d.DecodeElement(&r, &e); err != nil {
				return false, err
			}
			if len(results) < maxTests {
				results = append(results, r)
			}
			return true, nil
		case "UnitTest":
			var t trxTest
			if err := d.DecodeElement(&t, &e); err != nil {
				return false, err
			}
			class, _, _ := strings.Cut(t.Method.Class, ", ") // the assembly's name may follow
			classes[t.ID] = class
			return true, nil
		case "ResultSummary":
			if o := attr(e, "outcome"); o == "Aborted" || o == "Timeout" || o == "Error" {
				c.partial = true
				c.note("trx: the run ended as " + o)
			}
		}
		return false, nil
	})
	for _, t := range results {
		c.addFromFile("trx", c.trxResult(t, classes[t.Test]))
	}
	return err
}

var trxOutcomes = map[string]Status{
	"Passed": Pass, "PassedButRunAborted": Pass, "Warning": Pass, "Completed": Pass, "Failed": Fail, "Error": Error, "Timeout": Error, "Aborted": Error,
	"NotExecuted": Skip, "Inconclusive": Skip, "NotRunnable": Skip, "Pending": Skip, "Disconnected": Error, "": Pass,
}

func (c *collector) trxResult(t trxResult, class string) Result {
	r := Result{ID: t.Name, Kind: Test, Seconds: trxSeconds(t.Duration)}
	if class != "" && !strings.HasPrefix(t.Name, class+".") {
		r.ID = class + "." + t.Name
	}
	var known bool
	if r.Status, known = trxOutcomes[t.Outcome]; !known {
		r.Status = Error
	}
	c.describeNet(&r, t.Message, t.Stack)
	if t.Outcome == "Timeout" {
		r.Class = Timeout
	}
	return r
}

// describeNet takes what a .NET test that did not pass says.
func (c *collector) describeNet(r *Result, message, stack string) {
	r.Message = strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n"))
	if !r.failed() {
		return
	}
	r.Class = Assertion
	r.File, r.Line = c.netPlace(stack)
	kind, _, _ := strings.Cut(r.Message, ":")
	kind = strings.TrimSpace(kind)
	if strings.HasSuffix(kind, "Exception") && !strings.Contains(kind, " ") && !strings.Contains(kind, "Assert") && !strings.Contains(kind, "Xunit.Sdk") {
		r.Status, r.Class, r.Trace = Error, Panic, stack
		return
	}
	r.Got, r.Want = gotWant(r.Message)
}

// netPlace reads "   at Shop.Cart.Total() in C:\shop\Cart.cs:line 12".
func (c *collector) netPlace(stack string) (file string, line int) {
	for _, l := range strings.Split(cut(stack, maxCapture), "\n") {
		l = strings.TrimRight(l, "\r ")
		i, j := strings.LastIndex(l, " in "), strings.LastIndex(l, ":line ")
		if i < 0 || j < i+4 {
			continue
		}
		if rel, mine := c.own(l[i+4 : j]); mine {
			line, _, _ = digits(l[j+6:])
			return rel, line
		}
	}
	return "", 0
}

// trxSeconds reads "00:00:01.2345678".
func trxSeconds(s string) float64 {
	total := 0.0
	for _, part := range strings.Split(s, ":") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0
		}
		total = total*60 + v
	}
	return min(total, 1e9)
}

type nunitCase struct {
	Name     string `xml:"fullname,attr"`
	Result   string `xml:"result,attr"`
	Label    string `xml:"label,attr"`
	Duration string `xml:"duration,attr"`
	Message  string `xml:"failure>message"`
	Stack    string `xml:"failure>stack-trace"`
	Reason   string `xml:"reason>message"`
}

func readNUnit(c *collector, f File) error {
	c.recognise("nunit")
	return eachElement(f.Data, func(d *xml.Decoder, e xml.StartElement, _ []xml.StartElement) (bool, error) {
		if e.Name.Local != "test-case" {
			return false, nil
		}
		var t nunitCase
		if err := d.DecodeElement(&t, &e); err != nil {
			return false, err
		}
		r := Result{ID: t.Name, Kind: Test, Status: Skip, Message: t.Reason, Seconds: junitSeconds(t.Duration)}
		switch t.Result {
		case "Passed", "Warning":
			r.Status = Pass
		case "Failed":
			r.Status = Fail
			if c.describeNet(&r, t.Message, t.Stack); t.Label == "Error" && r.Class == Assertion {
				r.Status, r.Class = Error, Panic
			}
		}
		c.addFromFile("nunit", r)
		return true, nil
	})
}
