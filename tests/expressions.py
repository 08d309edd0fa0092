"""Every regular expression of the source, and texts on which a careless one takes quadratic time or worse."""

import ast
import importlib
import inspect
import pkgutil
import re
import re._constants as c  # type: ignore[import-not-found,unused-ignore]
import re._parser as parser  # type: ignore[import-not-found,unused-ignore]
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from types import FrameType, ModuleType
from typing import Any

import recollect

PACKAGE = Path(recollect.__file__).parent
_AT_THE_START = frozenset({"match", "fullmatch"})
_CALLS = frozenset({"compile", "search", "finditer", "findall", "sub", "subn", "split"}) | _AT_THE_START
_UNKNOWN = "word"  # stands in an expression for what is known only when it runs
_CHARACTERS = "ab1A0zeé_ \n\t-./=:,;'\"`()[]{}<>@#$%^&*+?|~\\!"
_LONG = 32  # a repetition that may be longer counts as unbounded


@dataclass(frozen=True)
class Expression:
    """A regular expression with the places it is used at; `is_anchored` = it is tried at the start of texts only."""

    pattern: str
    flags: int
    place: str
    is_anchored: bool

    def run(self, text: str) -> None:
        compiled = re.compile(self.pattern, self.flags)
        if self.is_anchored:
            compiled.match(text)
        else:
            for _ in compiled.finditer(text):
                pass


def all_expressions() -> list[Expression]:
    """Return the expressions of all modules and data files, each once."""
    modules = list(_modules())
    nodes = {module.__name__: _nodes_of(module) for module in modules}
    everywhere: dict[str, set[str]] = {}
    for of_module in nodes.values():
        _note_methods(of_module, everywhere)
    collected: dict[tuple[str, int, bool], Expression] = {}
    for module in modules:
        here: dict[str, set[str]] = {}
        _note_methods(nodes[module.__name__], here)
        used = {
            name: (here if name.startswith("_") else everywhere).get(name, set()) for name in vars(module)
        }
        anchored = {name for name, methods in used.items() if methods and methods <= _AT_THE_START}
        for expression in [
            *_in_values(module, anchored),
            *_in_calls(module, nodes[module.__name__], anchored),
        ]:
            collected.setdefault((expression.pattern, expression.flags, expression.is_anchored), expression)
    searched = {(each.pattern, each.flags) for each in collected.values() if not each.is_anchored}
    return [
        each
        for each in collected.values()
        if not each.is_anchored or (each.pattern, each.flags) not in searched
    ]


def _nodes_of(module: ModuleType) -> list[ast.AST]:
    """Return the nodes of a module's source that may use an expression. Walking the whole tree takes long, so it is done once."""
    tree = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Assign, ast.Call))]


def _note_methods(nodes: Iterable[ast.AST], used: dict[str, set[str]]) -> None:
    """Note which methods of expressions are used on each name."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _CALLS:
            used.setdefault(node.value.id, set()).add(node.attr)


def _modules() -> Iterator[ModuleType]:
    yield recollect
    for found in pkgutil.walk_packages([str(PACKAGE)], "recollect."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _in_values(module: ModuleType, anchored: set[str]) -> Iterator[Expression]:
    """Yield the compiled expressions that a module's variables hold, in containers and objects too."""
    seen: set[int] = set()

    def walk(value: object, name: str, depth: int) -> Iterator[Expression]:
        if isinstance(value, re.Pattern):
            if isinstance(value.pattern, str):
                yield Expression(
                    value.pattern, value.flags & ~re.UNICODE, f"{module.__name__}.{name}", name in anchored
                )
            return
        if depth == 0 or id(value) in seen:
            return
        seen.add(id(value))
        inner: Iterable[object] = ()
        if isinstance(value, Mapping):
            inner = [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            inner = list(value)
        elif type(value).__module__.startswith("recollect"):
            slots = getattr(type(value), "__slots__", ())
            inner = [*getattr(value, "__dict__", {}).values(), *(getattr(value, s, None) for s in slots)]
        elif isinstance(value, type) and value.__module__ == module.__name__:
            inner = list(vars(value).values())
        elif hasattr(value, "cache_info") and _takes_nothing(value):
            inner = [value()]  # type: ignore[operator]
        for item in inner:
            yield from walk(item, name, depth - 1)

    for name, value in list(vars(module).items()):
        if not name.startswith("__"):
            yield from walk(value, name, 5)


def _takes_nothing(function: Any) -> bool:
    inner = getattr(function, "__wrapped__", None)
    return inner is not None and not inspect.signature(inner).parameters


def _in_calls(module: ModuleType, nodes: Sequence[ast.AST], anchored: set[str]) -> Iterator[Expression]:
    """Yield the expressions that calls such as `re.search` name; what is known only later stands as one word."""
    targets = {
        id(node.value): node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        called = node.func
        if not (isinstance(called.value, ast.Name) and called.value.id == "re" and called.attr in _CALLS):
            continue
        pattern = _evaluated(node.args[0], vars(module))
        flags = 0
        for argument in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
            value = _value(argument, vars(module))
            if isinstance(value, re.RegexFlag):
                flags |= int(value)
        is_anchored = called.attr in _AT_THE_START or targets.get(id(node), "") in anchored
        if isinstance(pattern, str) and _compiles(pattern):
            yield Expression(pattern, flags, f"{module.__name__}:{node.lineno}", is_anchored)


def _evaluated(node: ast.expr, names: Mapping[str, Any]) -> object:
    value = _value(node, names)
    if value is not None:
        return value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_evaluated(part, names)) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _evaluated(node.value, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{_evaluated(node.left, names)}{_evaluated(node.right, names)}"
    return _UNKNOWN


def _value(node: ast.expr, names: Mapping[str, Any]) -> object:
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))
    except Exception:
        return None


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


# how long one takes

_QUICK = 0.002  # seconds of CPU for the shortest text: quadratic time is several times more
_EXPLODED = 0.3  # seconds that nothing linear takes for the shortest text
_SIZES = (4_000, 16_000)
_GROWTH = 8  # linear time grows 4 times between the sizes, quadratic time 16 times
_TRIES = 3  # measurements must agree: another process may be in the way of one


class _TooLong(Exception):
    """An expression has had the time it is given."""


def has_exploded(expression: Expression, attack: "Attack") -> bool:
    """Return whether four times the text takes much more than four times as long, however often it is measured."""
    first = _seconds(expression, attack.text(_SIZES[0]), _EXPLODED)
    if first <= _QUICK or first >= _EXPLODED:
        return first > _QUICK
    short, long = attack.text(_SIZES[0]), attack.text(_SIZES[1])
    for _ in range(_TRIES):
        quarter = min(_seconds(expression, short, _EXPLODED) for _ in range(3))
        enough = _GROWTH * quarter
        if any(_seconds(expression, long, enough) < enough for _ in range(2)):
            return False
    return True


def _seconds(expression: Expression, text: str, limit: float) -> float:
    """Return the CPU time that the expression takes, at most `limit`: the module `re` lets signals interrupt it."""
    is_running = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_running:
            raise _TooLong

    before = signal.signal(signal.SIGVTALRM, interrupt)
    begun = thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        expression.run(text)
        is_running = False
        return thread_time() - begun
    except _TooLong:
        return limit
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# texts that make it slow


@dataclass(frozen=True)
class Attack:
    """A text of any size: `head`, then `unit` over and over, then `end`."""

    head: str
    unit: str
    end: str

    def text(self, size: int) -> str:
        count = max(size - len(self.head) - len(self.end), 0)
        return self.head + (self.unit * (count // len(self.unit) + 1))[:count] + self.end


def attacks(expression: Expression) -> list[Attack]:
    """Return texts made of what the expression repeats: alone, behind what comes before it, and whole near misses."""
    tree = parser.parse(expression.pattern, expression.flags)
    if not any(True for _ in _repeats(tree, "")):
        return []
    sets = list(_sets(tree))
    kinds: dict[tuple[bool, ...], str] = {}
    literals = "".join(dict.fromkeys(chr(node[1]) for node in _nodes(tree) if node[0] is c.LITERAL))
    for character in dict.fromkeys(_CHARACTERS + literals[:16]):
        kinds.setdefault(tuple(_is_in(character, each) for each in sets), character)
    singles = list(kinds.values())[:12]
    found: dict[tuple[str, str], None] = {("", single): None for single in singles}
    for before, body in _repeats(tree, ""):
        for pick in range(2):
            unit = _sample(body, pick)
            if unit:
                found[before, unit] = None
                found["", before + unit] = None
    whole = _sample(tree, 0)
    if whole:
        found["", whole] = None
        found["", whole[:-1] or whole] = None
    return [Attack(head, unit, "\0") for head, unit in found]


Node = tuple[Any, Any]


def _nodes(tree: Iterable[Node]) -> Iterator[Node]:
    for op, value in tree:
        yield op, value
        for inner in _inner(op, value):
            yield from _nodes(inner)


def _inner(op: Any, value: Any) -> list[Any]:
    if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is c.SUBPATTERN:
        return [value[3]]
    if op is c.ATOMIC_GROUP:
        return [value]
    if op is c.BRANCH:
        return list(value[1])
    if op in (c.ASSERT, c.ASSERT_NOT):
        return [value[1]]
    if op is c.GROUPREF_EXISTS:
        return [each for each in value[1:] if each]
    return []


def _repeats(tree: Iterable[Node], before: str) -> Iterator[tuple[str, Any]]:
    """Yield each long repetition's body with a text that leads up to it."""
    for op, value in tree:
        if op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT) and value[1] > _LONG:
            yield before, value[2]
        for inner in _inner(op, value):
            yield from _repeats(inner, before)
        before += _sample([(op, value)], 0)


def _sample(tree: Iterable[Node], pick: int) -> str:
    """Return a text that the expression matches, as far as that is easily said."""
    parts = []
    for op, value in tree:
        if op is c.LITERAL:
            parts.append(chr(value))
        elif op in (c.IN, c.NOT_LITERAL, c.ANY):
            fitting = [each for each in _CHARACTERS if _is_in(each, (op, value))]
            if not fitting and op is c.IN:
                fitting = [chr(item[1]) for item in value if item[0] is c.LITERAL] + [
                    chr(item[1][0]) for item in value if item[0] is c.RANGE
                ]
            parts.append(fitting[-1 if pick else 0] if fitting else "")
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            parts.append(_sample(value[2], pick) * min(max(value[0], 1), 64))
        elif op is c.BRANCH:
            parts.append(_sample(value[1][-1 if pick else 0], pick))
        elif op in (c.SUBPATTERN, c.ATOMIC_GROUP):
            parts.append(_sample(_inner(op, value)[0], pick))
    return "".join(parts)


def _sets(tree: Iterable[Node]) -> Iterator[Node]:
    for op, value in _nodes(tree):
        if op in (c.IN, c.NOT_LITERAL, c.ANY):
            yield op, value


_CATEGORIES = {
    c.CATEGORY_DIGIT: r"\d",
    c.CATEGORY_NOT_DIGIT: r"\D",
    c.CATEGORY_SPACE: r"\s",
    c.CATEGORY_NOT_SPACE: r"\S",
    c.CATEGORY_WORD: r"\w",
    c.CATEGORY_NOT_WORD: r"\W",
}


def _is_in(character: str, node: Node) -> bool:
    op, value = node
    if op is c.ANY:
        return character != "\n"
    if op is c.NOT_LITERAL:
        return ord(character) != value
    negated = bool(value) and value[0][0] is c.NEGATE
    for kind, item in value:
        if (
            (kind is c.LITERAL and ord(character) == item)
            or (kind is c.RANGE and item[0] <= ord(character) <= item[1])
            or (kind is c.CATEGORY and re.match(_CATEGORIES[item], character))
        ):
            return not negated
    return negated
