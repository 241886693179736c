"""Makes unittest name every test, and says that it was heard. Nothing is changed but what is printed."""
import os

import redraft_loaded


def _verbose(module):
    runner = module.TextTestRunner
    init = runner.__init__

    def quiet_no_more(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self.verbosity = max(self.verbosity, 2)
        reports = os.environ.get("REDRAFT_REPORTS")
        if reports:
            with open(os.path.join(reports, "unittest.heard"), "a"):
                pass

    runner.__init__ = quiet_no_more


redraft_loaded.when_loaded("unittest.runner", _verbose)
