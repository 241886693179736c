package main

import (
	"fmt"
	"strings"
)

// program is one that is red for one wrong line.
type program struct {
	name    string
	needs   string // a program of this machine
	command string
	files   map[string]string
	file    string // that is wrong
	wrong   string
	right   string
}

func programs() []program {
	return []program{goModule(), unittests(), nodeTests(), sleeper(), bigTree()}
}

// goModule has a dozen packages, each with tests, that use enough of the standard library to be worth compiling.
func goModule() program {
	p := program{name: "go", needs: "go", command: "go test ./...", file: "p07/sum.go", wrong: "+ 1 // off", right: "", files: map[string]string{"go.mod": "module example.com/sums\n\ngo 1.22\n"}}
	for i := range 12 {
		dir, off := fmt.Sprintf("p%02d", i), ""
		if i == 7 {
			off = "+ 1 // off"
		}
		p.files[dir+"/sum.go"] = fmt.Sprintf("package %s\n\nimport (\n\t\"encoding/json\"\n\t\"net/url\"\n)\n\nfunc Sum(text string) (int, error) {\n\tvar all []int\n\tif err := json.Unmarshal([]byte(text), &all); err != nil {\n\t\treturn 0, err\n\t}\n\tn := 0\n\tfor _, x := range all {\n\t\tn += x %s\n\t}\n\treturn n, nil\n}\n\nfunc Path(s string) string { return url.PathEscape(s) }\n", dir, off)
		p.files[dir+"/sum_test.go"] = fmt.Sprintf("package %s\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got, err := Sum(\"[1, 2, 39]\"); got != 42 || err != nil {\n\t\tt.Errorf(\"Sum = %%d, %%v; want %%d\", got, err, 42)\n\t}\n}\n\nfunc TestPath(t *testing.T) {\n\tif got := Path(\"a b\"); got != \"a%%20b\" {\n\t\tt.Errorf(\"got %%q\", got)\n\t}\n}\n", dir)
	}
	return p
}

// unittests is a program in Python with a hundred and one tests.
func unittests() program {
	var tests strings.Builder
	for i := range 100 {
		fmt.Fprintf(&tests, "    def test_%d(self):\n        time.sleep(0.005)\n        self.assertEqual(double(%d), %d)\n\n", i, i, 2*i)
	}
	return program{
		name: "unittest", needs: "python3", command: "python3 -m unittest", file: "sums.py", wrong: "return x + y + 1", right: "return x + y",
		files: map[string]string{
			"sums.py":      "def double(x):\n    return 2 * x\n\n\ndef add(x, y):\n    return x + y + 1\n",
			"test_sums.py": "import time\nimport unittest\n\nfrom sums import add, double\n\n\nclass TestSums(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 40), 42)\n\n" + tests.String(),
		},
	}
}

// nodeTests is one in JavaScript.
func nodeTests() program {
	var tests strings.Builder
	for i := range 100 {
		fmt.Fprintf(&tests, "test('doubles %d', async () => {\n  await new Promise((r) => setTimeout(r, 5))\n  assert.strictEqual(double(%d), %d)\n})\n", i, i, 2*i)
	}
	return program{
		name: "node-test", needs: "node", command: "node --test", file: "sums.js", wrong: "x + y + 1", right: "x + y",
		files: map[string]string{
			"package.json":      `{"name": "sums", "version": "1.0.0", "scripts": {"test": "node --test"}}` + "\n",
			"sums.js":           "exports.double = (x) => 2 * x\nexports.add = (x, y) => x + y + 1\n",
			"test/sums.test.js": "const test = require('node:test')\nconst assert = require('node:assert')\nconst { add, double } = require('../sums.js')\n\ntest('adds', () => {\n  assert.strictEqual(add(2, 40), 42)\n})\n" + tests.String(),
		},
	}
}

// sleeper takes two seconds whatever it is asked, so that all that it takes longer is the machinery's.
func sleeper() program {
	return program{
		name: "sleep", needs: "sh", command: "sleep 2 && grep -q 42 answer.conf", file: "answer.conf", wrong: "answer = 41", right: "answer = 42",
		files: map[string]string{"answer.conf": "answer = 41\n", "notes.conf": strings.Repeat("# nothing of interest\n", 100)},
	}
}

// bigTree is the sleeper among four thousand files, about as many as a big repository has.
func bigTree() program {
	p := sleeper()
	p.name = "big-tree"
	for i := range 4000 {
		p.files[fmt.Sprintf("docs/%02d/page%d.conf", i%50, i)] = strings.Repeat(fmt.Sprintf("page %d\n", i), 500)
	}
	return p
}
