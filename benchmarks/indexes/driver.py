"""What benchmarks/indexes measures beside its own: one index of a tree, made once, in this process.

    driver.py ast TREE             an index in Python's ast, written for this comparison
    driver.py tags TREE            aider's tags of every file; its cache lies in the tree
    driver.py map TREE             aider's ranked map of the tree, the tags within it

The last line of the output is JSON: seconds and seconds of computing, both without the start of Python and its imports, and what was found.
"""

import json
import os
import sys
import time


def files(tree):
    """The sources of a tree, in order; the ends of their names say what they are."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [f for f in folders if not f.startswith(".")]
        found += [os.path.join(folder, n) for n in names if n.endswith((".py", ".go", ".ts"))]
    return sorted(found)


def called(function):
    """The chain of names in front of a call's parentheses, "" where it is none."""
    import ast

    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    return ".".join(reversed(parts))


def outline(name, source):
    """Names, spans, signatures, docs, calls and imports of one file."""
    import ast

    symbols, calls, imports = [], [], []
    lines = source.splitlines()

    def walk(node, around):
        for child in ast.iter_child_nodes(node):
            inside = around
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside = around + "." + child.name if around else child.name
                first = min([child.lineno] + [d.lineno for d in child.decorator_list])
                head = lines[child.lineno - 1 : max(child.lineno, child.body[0].lineno - 1)]
                symbols.append((inside, name, first, child.end_lineno, "\n".join(head), ast.get_docstring(child, clean=False)))
            elif isinstance(child, ast.Call):
                if target := called(child.func):
                    calls.append((target, name, child.lineno, around))
            elif isinstance(child, ast.Import):
                imports.extend((a.name, a.asname, name, child.lineno) for a in child.names)
            elif isinstance(child, ast.ImportFrom):
                imports.extend((child.module, a.name, name, child.lineno) for a in child.names)
            elif isinstance(child, ast.Assign) and isinstance(node, (ast.Module, ast.ClassDef)):
                symbols.extend((t.id, name, child.lineno, child.end_lineno, "", None) for t in child.targets if isinstance(t, ast.Name))
            walk(child, inside)

    walk(ast.parse(source), "")
    return symbols, calls, imports


def index(tree):
    import ast  # not measured

    del ast
    names = files(tree)
    start, busy = time.perf_counter(), time.process_time()
    defined, users, imports = {}, {}, []
    for name in names:
        with open(name, encoding="utf-8", errors="replace") as f:
            source = f.read()
        try:
            symbols, calls, imported = outline(name, source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for s in symbols:
            defined.setdefault(s[0].rpartition(".")[2], []).append(s)
        for c in calls:
            users.setdefault(c[0].rpartition(".")[2], []).append(c)
        imports += imported
    return time.perf_counter() - start, time.process_time() - busy, sum(map(len, defined.values())), sum(map(len, users.values()))


class Console:
    """What aider's map asks of its console."""

    def read_text(self, name):
        try:
            with open(name, encoding="utf-8") as f:
                return f.read()
        except (OSError, UnicodeError):
            return None

    def tool_output(self, *_):
        pass

    tool_warning = tool_error = tool_output


class Model:
    """A model that counts four bytes as a token, so that no tokenizer is measured."""

    def token_count(self, text):
        return len(text) // 4


def aider(tree, ranked):
    import networkx  # not measured
    from aider.repomap import RepoMap

    del networkx
    names = files(tree)
    start, busy = time.perf_counter(), time.process_time()
    made = RepoMap(root=tree, main_model=Model(), io=Console(), max_context_window=32768)
    if ranked:
        text = made.get_repo_map([], names)
        return time.perf_counter() - start, time.process_time() - busy, len(text.splitlines()), 0
    kinds = {"def": 0, "ref": 0}
    for name in names:
        for tag in made.get_tags(name, made.get_rel_fname(name)):
            kinds[tag.kind] += 1
    return time.perf_counter() - start, time.process_time() - busy, kinds["def"], kinds["ref"]


def main(what, tree):
    sys.setrecursionlimit(10000)
    took, busy, symbols, uses = index(tree) if what == "ast" else aider(tree, what == "map")
    print(json.dumps({"seconds": took, "cpu": busy, "symbols": symbols, "uses": uses}))


main(*sys.argv[1:])
