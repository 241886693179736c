package oracle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/oracle"
)

// TestWatch: which lines each test of Python runs is told, of those that were asked for alone and in their order, whatever else the
// check's command and the tests are.
func TestWatch(t *testing.T) {
	const shop = "import threading\n\n\ndef double(x):\n    if x == 4:\n        raise ValueError(x)\n    return x + 1\n\n\ndef later(x):\n    t = threading.Thread(target=double, args=(x,))\n    t.start()\n    t.join()\n"
	const cases = "import os\nimport sys\nimport unittest\n\nimport shop\n\n\nclass TestShop(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(shop.double(2), 4)\n\n    def test_later(self):\n        shop.later(5)\n\n    def test_raises(self):\n        os.chdir('/')\n        sys.settrace(None)\n        sys.setrecursionlimit(900)\n        shop.double(4)\n\n    def test_left_out(self):\n        shop.double(4)\n"
	for _, r := range []struct {
		runner
		tests []string
		want  []oracle.TestLines
	}{
		{
			runner{
				name: "unittest", tools: []string{"python3"}, run: "PYTHONPATH=lib python3 -m unittest",
				files: map[string]string{"lib/shop.py": shop, "test_shop.py": cases},
			},
			[]string{"test_shop.TestShop.test_later", "test_shop.TestShop.test_double"},
			[]oracle.TestLines{
				{Test: "test_shop.TestShop.test_double", Lines: map[string][]int{"lib/shop.py": {5, 7}, "test_shop.py": {10}}},
				{Test: "test_shop.TestShop.test_later", Lines: map[string][]int{"lib/shop.py": {5, 7, 11, 12, 13}, "test_shop.py": {13}}},
			},
		},
		{
			runner{
				name: "pytest", tools: []string{"python3", "pytest"}, probe: []string{"python3", "-c", "import pytest"},
				run: "cd . && PYTHONPATH=lib python3 -m pytest -q tests", files: map[string]string{
					"lib/shop.py": shop, "tests/test_class.py": cases,
					"tests/test_shop.py": "import pytest\nimport shop\n\n\n@pytest.mark.parametrize('x', [1, 4])\ndef test_double(x):\n    assert shop.double(x) == 2\n",
				},
			},
			[]string{"tests/test_shop.py::test_double[4]", "tests/test_shop.py::test_double[1]", "tests/test_class.py::TestShop::test_double", "tests/gone.py::test"},
			[]oracle.TestLines{
				{Test: "tests/test_shop.py::test_double[4]", Lines: map[string][]int{"lib/shop.py": {5, 6}, "tests/test_shop.py": {7}}},
				{Test: "tests/test_shop.py::test_double[1]", Lines: map[string][]int{"lib/shop.py": {5, 7}, "tests/test_shop.py": {7}}},
				{Test: "tests/test_class.py::TestShop::test_double", Lines: map[string][]int{"lib/shop.py": {5, 7}, "tests/test_class.py": {10}}},
			},
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newRunner(t, r.runner)
			w.see(t)
			dir, end, err := w.Trees.Fresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer end(t.Context())
			got, err := w.Watch(t.Context(), dir, r.tests, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r.want, got); d != "" {
				last := w.runs[len(w.runs)-1]
				t.Errorf("(-want +got):\n%s%s%s", d, last.Result.Stdout, last.Result.Stderr)
			}
			if last := w.runs[len(w.runs)-1]; last.Phase != "cover" || last.Command != r.run {
				t.Errorf("it is told as %s %q", last.Phase, last.Command)
			}
		})
	}
}

// TestWatchNobody: a runner that cannot be asked tells nothing, and is not run.
func TestWatchNobody(t *testing.T) {
	w := newWorld(t, "go test ./...", double("x"))
	w.see(t)
	n := len(w.runs)
	got, err := w.Watch(t.Context(), w.root, []string{"example.com/m.TestDouble"}, time.Minute)
	if got != nil || err != nil || len(w.runs) != n {
		t.Errorf("got %v, %v after %d runs", got, err, len(w.runs)-n)
	}
}
