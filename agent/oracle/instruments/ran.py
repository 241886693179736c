"""Tells which lines of the tree each of some tests runs. Other tests are left out; what a test decides is not changed."""
import json
import os
import sys
import threading

_folder = os.environ.get("REDRAFT_RAN", "")
_most = 2000  # lines of one file
_files = {}  # a code object's file name -> its path below the tree, None for one that lies elsewhere


def _asked():
    with open(os.path.join(_folder, "asked.json"), encoding="utf-8") as f:
        return json.load(f)


def _below(name):
    if name not in _files:
        path = os.path.realpath(os.path.join(_start, name))
        inside = path.startswith(_root) and not name.startswith("<") and os.sep + "site-packages" + os.sep not in path
        _files[name] = path[len(_root):].replace(os.sep, "/") if inside else None
    return _files[name]


class Watch:
    """Notes the lines that run while it is entered, in every thread that starts meanwhile, and writes them down when it is left."""

    def __init__(self, test):
        self.test, self.lines = test, {}

    def __enter__(self):
        self.before = sys.gettrace()
        threading.settrace(self._call)
        sys.settrace(self._call)

    def __exit__(self, *_):
        sys.settrace(self.before)
        threading.settrace(self.before)
        line = json.dumps({"test": self.test, "lines": {f: sorted(s)[:_most] for f, s in list(self.lines.items())}})
        out = os.open(os.path.join(_folder, "ran.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(out, (line + "\n").encode("ascii"))
        finally:
            os.close(out)

    def _call(self, frame, event, arg):
        name = _below(frame.f_code.co_filename)
        if name is None:
            return None
        seen = self.lines.setdefault(name, set())

        def line(frame, event, arg):
            if event == "line":
                seen.add(frame.f_lineno)
            return line

        return line


def _pytest():
    import pytest

    class Plugin:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, config, items):
            place = {test: n for n, test in enumerate(_tests)}
            rest = [i for i in items if i.nodeid not in place]
            items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])
            if rest:
                config.hook.pytest_deselected(items=rest)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item, nextitem):
            with Watch(item.nodeid):
                yield

    return Plugin()


def pytest_configure(config):
    """Is called by pytest, which loads this file with -p."""
    if _folder:
        config.pluginmanager.register(_pytest(), "redraft-ran")


def _unittest(module):
    run = module.TestCase.run

    def watched(self, result=None):
        if self.id() not in _tests:
            return result
        with Watch(self.id()):
            return run(self, result)

    module.TestCase.run = watched


if _folder:
    _start = os.getcwd()
    _said = _asked()
    _root = os.path.join(os.path.realpath(os.environ["REDRAFT_TREE"]), "")
    _tests = _said["tests"]
    if _said["runner"] == "unittest":
        import redraft_loaded

        redraft_loaded.when_loaded("unittest.case", _unittest)
