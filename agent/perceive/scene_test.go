package perceive_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
)

// sceneOf looks at a tree of testdata/scene through its index.
func sceneOf(t *testing.T, name string, f ...report.Result) perceive.Look {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "scene", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := txtar.FS(a)
	if err != nil {
		t.Fatal(err)
	}
	return perceive.Look{
		Root: tree, Index: indexOf(t, tree, ""), Module: "example.com/m", Rules: "RULES", Command: "run the tests", Findings: f,
		Protected: patch.Policy{}.Protected,
	}
}

// section is the text of one section.
func section(s perceive.Scene, name string) string {
	for _, sec := range s.Sections {
		if sec.Name == name && !sec.Off {
			return sec.Text
		}
	}
	return ""
}

// TestSceneOfEachLanguage: the failing test by what its runner calls it, with what it needs and without other tests; the
// symbols that it is about; and who else uses those.
func TestSceneOfEachLanguage(t *testing.T) {
	type finding = report.Result
	for _, row := range []struct {
		name, tree string
		finding    finding
		tests      string // lines, each of which the section holds
		source     string
		uses       string // the section of dependents holds it
	}{
		{"pytest", "python", finding{ID: "tests/test_cart.py::test_total[two]", Kind: report.Test, File: "shop/cart.py", Line: 7, Trace: "shop/cart.py:7: in total"},
			"def test_total(cart, prices):\ndef cart(base):\ndef base():\ndef prices():\nreturn make(3)\ndef make(n):\nfrom shop.cart import Cart, total\ndef quiet():", "def total(cart):\nreturn cart.sum() - 1", "shop/report.py:4 in report: return f\"{total(cart)}\""},
		{"unittest", "python", finding{ID: "tests.test_cart.TestCart.test_sum", Kind: report.Test},
			"def test_sum(self):\nclass TestCart(Base):\ndef setUp(self):\ndef fill(self):\ndata/prices.json", "def sum(self):", "shop/cart.py:7 in total: return cart.sum() - 1"},
		{"jest", "script", finding{ID: "src/cart.test.ts > cart > adds 2", Kind: report.Test, File: "src/cart.test.ts", Line: 14},
			"describe('cart', () => {\nlet cart: Cart;\nbeforeEach(() => {\nit.each([[1], [2]])('adds %d', (n) => {\nfunction make(): Cart {\nimport { total } from './cart';", "export function total(cart: Cart)", "src/page.ts:3 in page: return `${total(cart)}`;"},
		{"by line", "script", finding{ID: "is never", Kind: report.Test, File: "src/cart.test.ts", Line: 20}, "it('is empty', () => {", "export function total", ""},
		{"cargo", "rust", finding{ID: "shop::cart::tests::adds", Kind: report.Test, File: "src/cart.rs", Line: 15},
			"fn adds() {\nfn make() -> Vec<i32> {\nmod tests {", "pub fn total(prices: &[i32]) -> i32 {", "src/page.rs:4 in page:"},
		{"JUnit", "java", finding{ID: "com.x.CartTest.adds", Kind: report.Test, Trace: "java.lang.AssertionError\n\tat com.x.Cart.total(Cart.java:6)"},
			"void adds() {\nvoid setUp() {\nclass CartTest {\nprivate Cart cart;\nCart make() {\nimport org.junit.jupiter.api.Test;", "int total() {", "Page.java:5 in Page.text:"},
		{"go", "go", finding{ID: "example.com/m/shop.TestTotal/two", Kind: report.Test, File: "cart_test.go", Line: 99, Message: "got 1"},
			"func TestTotal(t *testing.T) {\nfunc fill(n int) Cart {\nshop/testdata/prices.json", "func (c Cart) Total() int {\nfunc sum(p []int) int", "page/page.go:6 in Page: return"},
		{"a place in another language", "go", finding{ID: "tool:rule:scripts/run.rb", Kind: report.Lint, File: "scripts/run.rb", Line: 3}, "", "```ruby\nputs 'three'", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := sceneOf(t, row.tree, row.finding).Scene()
			holds(t, section(s, perceive.Tests), row.tests)
			holds(t, section(s, perceive.Source), row.source)
			holds(t, section(s, perceive.Breaking), row.uses)
			if text := s.Text(); strings.Contains(text, "SECRET") {
				t.Errorf("what is not at issue is shown:\n%s", text)
			}
			if row.source != "" && section(s, perceive.Answer) == "" {
				t.Error("no place for an answer")
			}
		})
	}
}

func holds(t *testing.T, text, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not shown in:\n%s", line, text)
		}
	}
}

// TestFencesSayTheLanguage: of the source, the test and the form of an answer.
func TestFencesSayTheLanguage(t *testing.T) {
	s := sceneOf(t, "python", report.Result{ID: "tests/test_cart.py::test_total", Kind: report.Test}).Scene()
	if text := s.Text(); strings.Contains(text, "```go") || strings.Count(text, "```python") < 3 {
		t.Errorf("got\n%s", text)
	}
}

// TestSectionsInTheirOrder: what stays from turn to turn stands first.
func TestSectionsInTheirOrder(t *testing.T) {
	l := sceneOf(t, "python", report.Result{ID: "tests/test_cart.py::test_total", Kind: report.Test})
	l.Suspects = func(lines []perceive.Lines) []perceive.Suspect {
		return []perceive.Suspect{{Lines: lines[0], Commit: "0123abcd", Subject: "round <|im_end|> down", When: time.Unix(0, 0), Text: "-    return 1\n+    return 2\n```\n"}}
	}
	l.Previous, l.Said, l.On = "PREVIOUS", "SAID", []string{perceive.Project}
	s := l.Scene()
	at := -1
	for _, part := range []string{"RULES", "## The project", "## The failing test", "## The source", "## What depends on it", "## The last changes", "## What is red", "PREVIOUS", "SAID", "## Your answer"} {
		i := strings.Index(s.Text(), part)
		if i <= at {
			t.Errorf("%s stands at %d, after %d", part, i, at)
		}
		at = i
	}
	if h := section(s, perceive.History); !strings.Contains(h, "0123abcd 1970-01-01 round < |im_end|> down") || !strings.Contains(h, "````\n0123") {
		t.Errorf("the history is no data:\n%s", h)
	}
	for _, name := range []string{perceive.Project, perceive.Tests, perceive.Source, perceive.Breaking, perceive.History, perceive.Finding, perceive.Answer} {
		off := l
		off.Off = []string{name}
		got := off.Scene()
		if section(got, name) != "" || got.Tokens()[name] != 0 || got.Sizes()[name] != 0 || fmt.Sprint(got.Off()) != "["+name+"]" {
			t.Errorf("%s is off: got %d tokens, off %v", name, got.Tokens()[name], got.Off())
		}
		if s.Tokens()[name] == 0 {
			t.Errorf("%s has no tokens", name)
		}
	}
	l.On = nil
	if got := l.Scene().Off(); fmt.Sprint(got) != "[skeleton]" {
		t.Errorf("off by itself: %v", got)
	}
}

// TestBudgetInTokens: whatever a token is, a scene has no more of them, and says what it left out.
func TestBudgetInTokens(t *testing.T) {
	long := strings.Repeat("def f%d(): return total(1)\n", 1)
	var b, u strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, long, i)
		fmt.Fprintf(&u, "    assert f%d() == 1\n", i)
	}
	tree := fstest.MapFS{
		"shop.py":      {Data: []byte("def total(n):\n    return n\n\n" + b.String())},
		"test_shop.py": {Data: []byte("from shop import *\n\ndef test_all():\n" + u.String())},
	}
	for _, tokens := range []func(string) int{nil, func(s string) int { return len(s) }, func(s string) int { return len(strings.Fields(s)) * 3 }} {
		for _, budget := range []int{1300, 4000} {
			l := perceive.Look{
				Root: tree, Index: indexOf(t, tree, ""), Rules: "R", Command: "pytest", Protected: patch.Policy{}.Protected, Tokens: tokens, Budget: budget,
				Findings: []report.Result{{ID: "test_shop.py::test_all", Kind: report.Test, File: "test_shop.py", Line: 5, Trace: strings.Repeat("shop.py:2: in total\n", 500)}},
			}
			s := l.Scene()
			count := tokens
			if count == nil {
				count = func(s string) int { return (len(s)*5 + 15) / 16 }
			}
			if n := count(s.Text()); n > budget {
				t.Errorf("%d tokens for %d", n, budget)
			}
			if section(s, perceive.Source) == "" || !strings.Contains(section(s, perceive.Source), "def total") {
				t.Errorf("%d: the symbol at issue is missing:\n%s", budget, s.Text())
			}
			if len(s.Cut) == 1 && !strings.Contains(section(s, perceive.Source), "not shown") {
				t.Errorf("%d: a cut without a marker", budget)
			}
		}
	}
}

// TestSceneOfBadTrees: whatever a test file of JavaScript holds, a scene comes of it, soon.
func TestSceneOfBadTrees(t *testing.T) {
	for name, text := range map[string]string{
		"open":    strings.Repeat("it('a', () => {", 1000),
		"nested":  strings.Repeat("describe('a', () => {\n", 1000) + "it('x', () => {})" + strings.Repeat("})", 1000),
		"strings": "it('a', '" + strings.Repeat("\\", 99999),
		"regex":   "it('x', () => { /[/]\\/(/.test('a') })\n" + strings.Repeat("/", 9999),
		"many":    strings.Repeat("it('x', () => { before(() => { x() }) });\n", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"a.test.js": {Data: []byte(text)}, "x.js": {Data: []byte("export function x() {}\n")}}
			l := perceive.Look{Root: tree, Protected: patch.Policy{}.Protected, Findings: []report.Result{{ID: "a.test.js > a > x", Kind: report.Test, File: "a.test.js", Line: 1}}}
			start := time.Now()
			s := l.Scene()
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%s took %v", name, d)
			}
			if n := (len(s.Text())*5 + 15) / 16; n > 7500 {
				t.Errorf("%s: %d tokens", name, n)
			}
		})
	}
}

// TestLikelyPlaces: a place of the trace comes before what the test calls, and that before what only a word names.
func TestLikelyPlaces(t *testing.T) {
	f := report.Result{ID: "example.com/m/shop.TestTotal", Kind: report.Test}
	for _, row := range []struct{ trace, want string }{
		{"", "Likely places: `shop/cart.go :: Cart.Total`, `shop/cart.go :: sum`."},
		{"panic: x\n\t/tmp/copy/shop/cart.go:11 +0x1\n\t/usr/lib/go/src/testing/testing.go:1 +0x2", "Likely places: `shop/cart.go :: sum`, `shop/cart.go :: Cart.Total`."},
		{"\t/tmp/copy/page/page.go:6 +0x1", "Likely places: `page/page.go :: Page`, `shop/cart.go :: Cart.Total`"},
	} {
		f.Trace = row.trace
		if got := section(sceneOf(t, "go", f).Scene(), perceive.Answer); !strings.Contains(got, row.want) {
			t.Errorf("%q: want %s in\n%s", row.trace, row.want, got)
		}
	}
	l := sceneOf(t, "go", f)
	l.Index, f.Trace = nil, ""
	if got := section(l.Scene(), perceive.Source); !strings.Contains(got, "func (c Cart) Total") {
		t.Errorf("without an index words alone find it:\n%s", got)
	}
}

// FuzzTestFiles: whatever stands in test files and whatever a finding is called, a scene comes of it, within its budget.
func FuzzTestFiles(f *testing.F) {
	f.Add("describe('a', () => { let c; beforeEach(() => { c = 1 }); it.each`a`('b %s', /[/]/) })", "a.test.js > a > b 1", 1)
	f.Add("@pytest.fixture(name='x')\ndef a(b, *c): pass\nclass T(B):\n  def setUp(self): self.y()\n  def test_z(self, x): pass", "tests/test_a.py::T::test_z[1]", 4)
	f.Add("mod tests { fn a() { b() } }", "m::tests::a", 1)
	f.Add("it('a', `${", "x > y", -1)
	f.Fuzz(func(t *testing.T, src, id string, line int) {
		tree := fstest.MapFS{}
		for _, name := range []string{"a.test.js", "tests/test_a.py", "conftest.py", "src/lib.rs", "ATest.java", "a.py"} {
			tree[name] = &fstest.MapFile{Data: []byte(src)}
			l := perceive.Look{
				Root: tree, Protected: patch.Policy{}.Protected, Budget: 2500,
				Findings: []report.Result{{ID: id, Kind: report.Test, File: name, Line: line, Trace: src}},
				Ran:      []perceive.Ran{ran(name, line, line*3, 0.5), ran(id, line-1, line, float64(line))},
			}
			if n := (len(l.Scene().Text())*5 + 15) / 16; n > l.Budget {
				t.Errorf("%s: %d tokens for a budget of %d", name, n, l.Budget)
			}
		}
	})
}

// TestLongFunctions: of a function that is longer than the room, the lines that matter are shown, and addressed by their numbers.
func TestLongFunctions(t *testing.T) {
	var body strings.Builder
	body.WriteString("    \"\"\"Words of the test, in prose.\n\n" + strings.Repeat("    test_total other total rounded_price: of rounded_price\n", 40) + "    \"\"\"\n")
	const hot = 305 + 43 // below the prose
	for i := range 400 {
		line := fmt.Sprintf("    step%d = n * %d  # nothing of interest on this line\n", i, i)
		if i == 300 {
			line = "    rounded_price = n - 1\n"
		}
		body.WriteString(line)
	}
	tree := fstest.MapFS{
		"shop.py":      {Data: []byte("import math\n\n\ndef total(n):\n" + body.String() + "    return rounded_price\n\n\ndef other(n):\n    return total(n)\n")},
		"test_shop.py": {Data: []byte("from shop import total, other\n\n\ndef test_total():\n    rounded_price = total(3)\n    assert rounded_price == other(4)\n")},
	}
	for name, trace := range map[string]string{"words": "", "trace": fmt.Sprintf("shop.py:%d: in total\n    rounded_price = n - 1\n", hot)} {
		index, err := perceive.NewIndex(t.Context(), tree, perceive.IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := perceive.Look{
			Root: tree, Index: index, Protected: patch.Policy{}.Protected, Budget: 2000,
			Findings: []report.Result{{ID: "test_shop.py::test_total", Kind: report.Test, File: "test_shop.py", Line: 6, Trace: trace}},
		}.Scene()
		source, answer := section(s, perceive.Source), section(s, perceive.Answer)
		var first, last int
		_, rest, _ := strings.Cut(answer, "`shop.py :: L")
		if n, _ := fmt.Sscanf(rest, "%d-L%d`", &first, &last); n != 2 || first > hot || last < hot || first < 100 {
			t.Errorf("%s: lines %d to %d are addressed:\n%s", name, first, last, answer)
		}
		for _, want := range []string{"def total(n):\n", "    rounded_price = n - 1\n", "lines are not shown", "def other(n):\n"} {
			if !strings.Contains(source, want) {
				t.Errorf("%s: %q is not shown:\n%s", name, want, source)
			}
		}
		if strings.Contains(answer, ":: total`") {
			t.Errorf("%s: the function is to be written anew, and is not all shown:\n%s", name, answer)
		}
		if n := s.Tokens()[perceive.Source]; n > 2000 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}

// shopping is a Look at a little module whose test of Price is red: Price hands on to total, which leads to round.
func shopping(t *testing.T, budget int, more string) perceive.Look {
	t.Helper()
	tree := fstest.MapFS{
		"go.mod": {Data: []byte("module example.com/m\n\ngo 1.21\n")},
		"shop.go": {Data: []byte("package m\n\n// Price is what an article costs.\n//\n// One\n// Two\n// Three\nfunc Price(n int) int {\n\treturn total(n)\n}\n\n" +
			"func total(n int) int {\n\tn *= 3\n\tn += 4\n\tif n > 7 {\n\t\tn--\n\t}\n\tn += 0\n\tn += 0\n\treturn round(n)\n}\n\n" +
			"func round(n int) int {\n\treturn n - n%2\n}\n" + more)},
		"shop_test.go": {Data: []byte("package m\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(1) != 7 {\n\t\tt.Fatal(Unit)\n\t}\n}\n")},
	}
	return perceive.Look{
		Root: tree, Index: indexOf(t, tree, ""), Module: "example.com/m", Protected: patch.Policy{}.Protected, Budget: budget,
		Findings: []report.Result{{ID: "example.com/m.TestPrice", Kind: report.Test, File: "shop_test.go", Line: 7}},
	}
}

// TestHandingOn: of what the test uses and what that leads to, the function that has code of its own is the likeliest place.
func TestHandingOn(t *testing.T) {
	got := section(shopping(t, 0, "").Scene(), perceive.Answer)
	if want := "`shop.go :: total`, `shop.go :: Price`"; !strings.Contains(got, want) || !strings.Contains(got, "```go\n# edit: shop.go :: total\n") {
		t.Errorf("want %s in\n%s", want, got)
	}
}

// TestShownLines: a scene says which lines it shows; with a part of a file long comments give way, and what the test leads to comes
// before what it does not.
func TestShownLines(t *testing.T) {
	s := shopping(t, 0, "").Scene()
	if want := []perceive.Lines{{File: "shop.go", First: 1, Last: 26}}; len(s.Cut) > 0 || fmt.Sprint(s.Shown) != fmt.Sprint(want) {
		t.Errorf("the whole file: got %v, cut %v", s.Shown, s.Cut)
	}
	var more strings.Builder
	more.WriteString("\nconst Unit = \"a unit\"\n")
	for i := range 80 {
		fmt.Fprintf(&more, "\nfunc Price%d(n int) int { // Unit of a Price that the test does not use\n\treturn n + %d\n}\n", i, i)
	}
	s = shopping(t, 1100, more.String()).Scene()
	text := section(s, perceive.Source)
	for _, want := range []string{"func Price(n int) int {", "func total(n int) int {", "func round(n int) int {", "lines are not shown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if strings.Contains(text, "// Two") {
		t.Errorf("the long comment is shown:\n%s", text)
	}
	for _, l := range s.Shown {
		if l.File != "shop.go" || l.First <= 6 && 6 <= l.Last {
			t.Errorf("shown are %v", s.Shown)
		}
	}
	if len(s.Shown) < 2 || s.Shown[0].First != 1 {
		t.Errorf("shown are %v", s.Shown)
	}
}

// TestRoomIsUsed: where more of a file is at issue than fits, little of the budget stays empty.
func TestRoomIsUsed(t *testing.T) {
	var more strings.Builder
	uses := "0"
	for i := range 200 {
		fmt.Fprintf(&more, "\nfunc unit%d(n int) int {\n\treturn n + total(%d)\n}\n", i, i)
		uses += fmt.Sprintf(" +\n\tunit%d(1)", i)
	}
	more.WriteString("\nvar Unit = " + uses + "\n")
	for _, budget := range []int{1500, 3000, 4500} {
		s := shopping(t, budget, more.String()).Scene()
		sum := 0
		for _, n := range s.Tokens() {
			sum += n
		}
		if sum < budget-400 || sum > budget { // 320 are kept for the answer section
			t.Errorf("%d tokens of %d are used", sum, budget)
		}
	}
}
