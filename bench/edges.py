"""Who calls whom by our rules, and by a type checker's language server: `make bench BENCH=edges`.

    RECOLLECT_BENCH_REPOS      a folder of bare git directories, <owner>+<name>/repo
    RECOLLECT_BENCH_PYRIGHT    …/bin/basedpyright-langserver, in an environment of its own (`pip install basedpyright`)
                               that has the packages' dependencies, too

The oracle is basedpyright (a fork of pyright), asked by the language server protocol. Python's own `ast` finds every
call and every attribute that is read inside a function; the server says where what is called is defined. That makes an
edge from the function around it to the function there; calling a class is calling its `__init__`, calling an object its
class's `__call__`, also if a property returns it, and `type(x)(…)` is calling the class of `x`. Attributes count where
they lead to a property. Calls in decorators, in defaults and in the bases of a class belong to the function around the
definition. Only functions of the package itself count, on both sides. Of our edges those count that are
shown by default. The server's answers take minutes, and are kept in bench/out by commit; all differences are in
bench/out/edges.json.
"""

import ast
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recollect.code.facts import FUNCTION
from recollect.code.languages.parser import parse
from recollect.code.languages.python.resolver import PythonResolver
from recollect.code.nodes import CALLS, POSSIBLE, RULES, symbol_ids

OUT = Path(__file__).parent / "out"
PACKAGES = {
    "pallets+flask": "src/flask",
    "encode+httpx": "httpx",
    "psf+requests": "src/requests",
    "pytest-dev+pytest": "src/_pytest",
}

Calls = dict[tuple[str, str], str]  # caller and called, with the rule or the line that says so
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def run() -> dict[str, Any]:
    repos, server = os.environ.get("RECOLLECT_BENCH_REPOS"), os.environ.get("RECOLLECT_BENCH_PYRIGHT")
    if not repos or not server:
        return {"skipped": "needs RECOLLECT_BENCH_REPOS and RECOLLECT_BENCH_PYRIGHT; see bench/edges.py"}
    return {
        name: compared(Path(repos) / name / "repo", package, server) for name, package in PACKAGES.items()
    }


def show(figures: dict[str, Any]) -> None:
    for name, told in figures.items():
        print(f"{name} {told['commit']}: {told['theirs']} calls by the oracle, {told['ours']} by us")
        print(f"  precision {told['precision']:.3f}  recall {told['recall']:.3f}")
        for rule, (said, right) in told["rules"].items():
            print(f"  {rule:8} {said:5}  {right / said:.3f} of them right")


def compared(git_dir: Path, package: str, server: str) -> dict[str, Any]:
    """Our calls beside the oracle's, and those that only one of the two has."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", "--shared", git_dir, folder], check=True)
        commit = subprocess.check_output(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, text=True
        ).strip()
        kept = OUT / f"edges-{git_dir.parent.name}-{commit}.json"
        if not kept.exists():
            kept.write_text(
                json.dumps([[*pair, at] for pair, at in asked(Path(folder), package, server).items()])
            )
        theirs: Calls = {(source, target): at for source, target, at in json.loads(kept.read_text())}
        ours = resolved(Path(folder), package)
    shown = {pair: rule for pair, rule in ours.items() if RULES[rule] >= POSSIBLE}
    right = shown.keys() & theirs.keys()
    said, correct = Counter(ours.values()), Counter(ours[pair] for pair in ours.keys() & theirs.keys())
    return {
        "commit": commit,
        "ours": len(shown),
        "theirs": len(theirs),
        "precision": len(right) / len(shown),
        "recall": len(right) / len(theirs),
        "rules": {rule: (said[rule], correct[rule]) for rule in RULES if said[rule]},
        "only ours": sorted([shown[pair], *pair] for pair in shown.keys() - theirs.keys()),
        "only theirs": sorted([theirs[pair], *pair] for pair in theirs.keys() - shown.keys()),
    }


def resolved(root: Path, package: str) -> Calls:
    """Our edges between functions of the package, each with the surest rule that made it."""
    files = {
        path.relative_to(root).as_posix(): parse("python", path.read_bytes()) for path in root.rglob("*.py")
    }
    functions = {
        symbol
        for path, facts in files.items()
        for symbol, each in zip(symbol_ids(path, facts.definitions), facts.definitions, strict=True)
        if each.kind == FUNCTION and path.startswith(f"{package}/")
    }
    resolver = PythonResolver(files)
    found: Calls = {}
    for edge in (edge for path in files for edge in resolver.edges(path)):
        if edge.kind == CALLS and edge.source in functions and edge.target in functions:
            pair = _unnumbered(edge.source), _unnumbered(edge.target)
            if edge.confidence > RULES.get(found.get(pair, ""), 0):
                found[pair] = edge.rule
    return found


def _unnumbered(symbol: str) -> str:
    """Overloads and setters are one function to the oracle."""
    return re.sub(r"#\d+", "", symbol)


class Site(NamedTuple):
    """A name that is called or read, and the function it stands in."""

    caller: str
    line: int  # from 0
    column: int  # in UTF-16 units, as the protocol counts
    called: bool
    of_type: bool = False  # what is called is the type of it


class Source(ast.NodeVisitor):
    """One file as `ast` sees it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.names: dict[tuple[int, int], str] = {}  # of functions and classes, by where their name stands
        self.classes: dict[str, list[Site]] = {}  # with their bases
        self.special: dict[str, set[str]] = {"__init__": set(), "__call__": set()}  # classes with their own
        self.properties: set[str] = set()
        self.sites: list[Site] = []
        self._lines = text.encode().split(b"\n")
        self._within = ""  # the definition, by its name
        self._function = ""  # the function, by its id
        self.visit(ast.parse(text))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        name = self._named(node)
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        self.classes[name] = [self._site(base, called=False) for base in bases]
        for one in node.body:
            if (method := getattr(one, "name", "")) in self.special:
                self.special[method].add(name)
        self._enter(node, name, self._function)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        name = self._named(node)
        if any(ast.unparse(one).endswith("property") for one in node.decorator_list):
            self.properties.add(name)
        self._enter(node, name, f"{self.path}::{name}")

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node: ast.Call) -> None:
        if self._function and isinstance(node.func, ast.Name | ast.Attribute):
            self.sites.append(self._site(node.func, called=True))
        match node.func:
            case ast.Call(ast.Name("type"), [ast.Name() | ast.Attribute() as value], []) if self._function:
                self.sites.append(self._site(value, called=True)._replace(of_type=True))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if self._function:
            self.sites.append(self._site(node, called=False))
        self.generic_visit(node)

    def _named(self, node: Definition) -> str:
        name = f"{self._within}.{node.name}" if self._within else node.name
        line = self._lines[node.lineno - 1].decode()
        self.names[node.lineno - 1, line.index(node.name, node.col_offset + 4)] = name
        return name

    def _enter(self, node: Definition, name: str, function: str) -> None:
        outer: list[ast.expr] = [*node.decorator_list]
        if isinstance(node, ast.ClassDef):
            outer += [*node.bases, *(keyword.value for keyword in node.keywords)]
        else:
            outer += [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        for expression in outer:
            self.visit(expression)
        outside = self._within, self._function
        self._within, self._function = name, function
        for statement in node.body:
            self.visit(statement)
        self._within, self._function = outside

    def _site(self, node: ast.expr, called: bool) -> Site:
        assert node.end_lineno and node.end_col_offset
        line = node.end_lineno - 1
        before = self._lines[line][: node.end_col_offset - 1].decode()
        return Site(self._function, line, len(before.encode("utf-16-le")) // 2, called)


def asked(root: Path, package: str, server: str) -> Calls:
    """What the language server says, call by call."""
    sources = {
        path.relative_to(root).as_posix(): Source(path.relative_to(root).as_posix(), path.read_text())
        for path in sorted((root / package).rglob("*.py"))
    }
    found: Calls = {}
    with Server(server, root) as oracle:
        for path, source in sources.items():
            oracle.open(path, source.text)
        for path, source in sources.items():
            for site in source.sites:
                for target in _targets(oracle, sources, path, site):
                    found.setdefault((site.caller, target), f"{path}:{site.line + 1}")
    return found


def _targets(oracle: "Server", sources: dict[str, Source], path: str, site: Site) -> Iterator[str]:
    if site.of_type:
        for there, target in oracle.defined("typeDefinition", sources, path, site):
            yield from _method(oracle, sources, there, target)
        return
    defined = oracle.defined("definition", sources, path, site)
    for there, target in defined:
        if site.called and target in sources[there].properties:
            for place, name in oracle.defined("typeDefinition", sources, path, site):
                yield from _method(oracle, sources, place, name, "__call__")
        if site.called and target in sources[there].classes:
            yield from _method(oracle, sources, there, target)
        elif site.called or target in sources[there].properties:
            yield f"{there}::{target}"
    if site.called and not defined:
        # Perhaps a variable that holds a class, `self.config_class(…)`, `cls(…)`, or an object with `__call__`.
        told = oracle.hover(path, site)
        if itself := re.search(r": type\[Self@(\w+)[\[\]]", told):
            yield from _method(oracle, sources, path, itself[1])
            return
        is_class = told.startswith("(type) ") or ": type[" in told
        for there, target in oracle.defined("typeDefinition", sources, path, site):
            yield from _method(oracle, sources, there, target, "__init__" if is_class else "__call__")


def _method(
    oracle: "Server", sources: dict[str, Source], path: str, name: str, method: str = "__init__"
) -> list[str]:
    """The class's own, else that of its first base that has one."""
    if name in sources[path].special[method]:
        return [f"{path}::{name}.{method}"]
    for base in sources[path].classes.get(name, ()):
        for there, target in oracle.defined("definition", sources, path, base):
            if (there, target) != (path, name) and (found := _method(oracle, sources, there, target, method)):
                return found
    return []


class Server:
    """A language server over its standard input and output."""

    def __init__(self, command: str, root: Path) -> None:
        self._root = root.resolve()
        self._python = str(Path(command).with_name("python"))
        self._process = subprocess.Popen([command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        self._ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self._root.as_uri(),
                "capabilities": {"workspace": {"configuration": True}},
                "workspaceFolders": [{"uri": self._root.as_uri(), "name": "project"}],
            },
        )
        self._send({"method": "initialized", "params": {}})

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: str, text: str) -> None:
        document = {"uri": (self._root / path).as_uri(), "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def defined(self, what: str, sources: dict[str, Source], path: str, site: Site) -> list[tuple[str, str]]:
        """The files, and the functions and classes in them, that the definition of this (or of its type) is."""
        found = []
        for one in self._ask(f"textDocument/{what}", self._place(path, site)) or []:
            there = (one.get("uri") or one["targetUri"]).removeprefix(self._root.as_uri() + "/")
            start = (one.get("range") or one["targetSelectionRange"])["start"]
            name = sources[there].names.get((start["line"], start["character"])) if there in sources else None
            if name:
                found.append((there, name))
        return found

    def hover(self, path: str, site: Site) -> str:
        answer = self._ask("textDocument/hover", self._place(path, site))
        return str(answer["contents"]["value"]) if answer else ""

    def _place(self, path: str, site: Site) -> dict[str, Any]:
        uri = (self._root / path).as_uri()
        return {"textDocument": {"uri": uri}, "position": {"line": site.line, "character": site.column}}

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._number and "method" not in message:
                return message.get("result")
            if "id" in message:  # the server asks for its settings
                settings = [self._setting(item) for item in (message.get("params") or {}).get("items", ())]
                self._send({"id": message["id"], "result": settings or None})

    def _setting(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"pythonPath": self._python} if item.get("section") == "python" else {}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        size = 0
        while (line := self._process.stdout.readline().strip()) or not size:
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return message
