"""Calls something once a module of the standard library is loaded, and changes nothing else about how it is found."""
import sys


class _Finder:
    def __init__(self, name, then):
        self.name, self.then = name, then

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            self.then(module)

        spec.loader.exec_module = exec_module
        return spec


def when_loaded(name, then):
    sys.meta_path.insert(0, _Finder(name, then))
