"""Makes unittest name every test, and says that it was heard. Nothing is changed but what is printed."""
import os
import sys


class _Finder:
    """Finds unittest.runner as everybody else does, and turns its verbosity up once it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != "unittest.runner":
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            _verbose(module.TextTestRunner)

        spec.loader.exec_module = exec_module
        return spec


def _verbose(runner):
    init = runner.__init__

    def quiet_no_more(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self.verbosity = max(self.verbosity, 2)
        reports = os.environ.get("REDRAFT_REPORTS")
        if reports:
            with open(os.path.join(reports, "unittest.heard"), "a"):
                pass

    runner.__init__ = quiet_no_more


sys.meta_path.insert(0, _Finder())
