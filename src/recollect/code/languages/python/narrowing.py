"""Where `isinstance` or a `case` has said what a name is. Pure.

A chain there begins with the class instead of the name: below `if isinstance(x, App):`, `x.run` is `App().run`.
"""

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

ISINSTANCE = b"isinstance"
_LEAVES = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_MOST = 500  # tests in a file: more are in generated code
_DEEPEST = 30  # operators around a test
_TESTED = re.compile(r"[^\W\d]\w*(?:\.\w+)?").fullmatch
_ASSIGNED = r"^[\w, \t]{{0,80}}(?<![\w.]){}\b[\w, \t]{{0,80}}(?::[^=\n]*)?=(?!=).*$"  # a statement
_CLASS = re.compile(r"[^\W\d]\w*(?:\.\w+)*").fullmatch
_WORD = re.compile(r"\w+").match
_TYPES = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type))


class _Region(NamedTuple):
    """From one byte to another, the name is an instance of one of these classes."""

    start: int
    end: int
    types: tuple[str, ...]


class Narrowings:
    """The regions of a file in which the class of a name is known."""

    def __init__(self, source: bytes, callees: Iterable[Node] = (), cases: Iterable[Node] = ()) -> None:
        """`callees` are what is called; other names than `isinstance` are left out. `cases` are those of `match`."""
        self._source = source
        count = 0
        self._regions: dict[str, list[_Region]] = {}  # by what was tested, in the order of the tests
        self._tested: dict[str, list[str]] = {}  # by its first word, longest first
        for callee in callees:
            if source.startswith(ISINSTANCE, callee.start_byte) and callee.parent is not None:
                count += 1
                self._read(callee.parent)
            if count == _MOST:
                break
        for case in islice(cases, _MOST):
            self._read_case(case)
        for tested in sorted(
            self._regions, key=len, reverse=True
        ):  # `x.till` says more of `x.till.close` than `x`
            self._tested.setdefault(tested.partition(".")[0], []).append(tested)
        self.beginnings = tuple(self._tested)  # a chain that begins with none of them stays as it is

    def chains(self, chain: str, at: int) -> Sequence[str]:
        """Return the chain that begins at this byte, with the class or classes that a name in it is known to have there."""
        word = _WORD(chain)
        for tested in self._tested.get(word[0], ()) if word else ():
            rest = chain[len(tested) :]
            if not chain.startswith(tested) or rest[:1] not in ("", ".", "(", "["):
                continue
            around = [region for region in self._regions[tested] if region.start <= at < region.end]
            if around:
                inmost = max(around, key=lambda region: (region.start, -region.end))[:2]
                types = [name for region in around if region[:2] == inmost for name in region.types]
                return [f"{name}(){rest}" for name in dict.fromkeys(types)]
        return (chain,)

    def _read(self, call: Node) -> None:
        arguments = call.child_by_field_name("arguments")
        if arguments is None or len(arguments.named_children) != 2:
            return
        name, wanted = (self._text(child) for child in arguments.named_children)
        types = tuple(part.strip() for part in re.split(r"[|,]", wanted.strip("() \n")) if part.strip())
        if not _TESTED(name) or not types or not all(map(_is_class, types)):
            return
        assigned = _assignment(name)
        for start, end in _regions(call, name, self._text, assigned):
            self._add(name, types, start, end, assigned)

    def _read_case(self, case: Node) -> None:
        """Read a clause such as `case App() | Api():`; not what it takes out of a list, or gives another name."""
        statement = case.parent.parent if case.parent else None
        subject = statement.child_by_field_name("subject") if statement else None
        body = case.child_by_field_name("consequence")
        pattern = case.named_children[0].named_children[:1] if case.named_children else []
        if subject is None or body is None or not pattern:
            return
        classes = pattern[0].named_children if pattern[0].type == "union_pattern" else pattern
        if any(each.type != "class_pattern" for each in classes):
            return
        name, types = self._text(subject), tuple(self._text(each.named_children[0]) for each in classes)
        if _TESTED(name) and all(_CLASS(each) for each in types):
            self._add(name, types, case.named_children[0].end_byte, body.end_byte, _assignment(name))

    def _add(
        self, name: str, types: tuple[str, ...], start: int, end: int, assigned: re.Pattern[str]
    ) -> None:
        text = self._source[start:end].decode("utf-8", "replace")
        if given := assigned.search(text):  # it is something else from there on
            end = start + len(text[: given.end()].encode())
        self._regions.setdefault(name, []).append(_Region(start, end, types))

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _assignment(name: str) -> re.Pattern[str]:
    return re.compile(_ASSIGNED.format(re.escape(name)), re.MULTILINE)


def _is_class(name: str) -> bool:
    last = name.rpartition(".")[2]
    is_constant = len(last) > 1 and last.isupper()
    return name in _TYPES or (last[:1].isupper() and not is_constant and _CLASS(name) is not None)


def _regions(
    call: Node, name: str, text: Callable[[Node], str], assigned: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Yield where the test has said yes."""
    node, is_yes = call, True  # whether `node` is true where the test says yes
    for _ in range(_DEEPEST):
        around = node.parent
        if around is None:
            return
        kind = around.type
        if kind == "not_operator":
            is_yes = not is_yes
        elif kind == "boolean_operator":
            left, right = around.child_by_field_name("left"), around.child_by_field_name("right")
            operator = around.child_by_field_name("operator")
            is_and = operator is not None and operator.type == "and"
            if left is None or right is None:
                return
            if is_and == is_yes:
                if node == left:
                    yield right.start_byte, right.end_byte
            elif not is_yes or not text(right if node == left else left).startswith(f"isinstance({name},"):
                return
        elif kind != "parenthesized_expression":
            break
        node = around
    else:
        return
    if kind in ("if_statement", "elif_clause", "while_statement"):
        body = around.child_by_field_name("consequence") or around.child_by_field_name("body")
        if body is not None and node == around.child_by_field_name("condition"):
            is_left = body.named_children and body.named_children[-1].type in _LEAVES
            yield from _branches(around, body, is_yes, bool(is_left or assigned.search(text(body))))
    elif kind == "conditional_expression" and len(around.named_children) == 3:
        branch = around.named_children[0 if is_yes else 2]
        if node == around.named_children[1]:
            yield branch.start_byte, branch.end_byte
    elif kind == "assert_statement" and is_yes and around.parent is not None:
        yield around.end_byte, around.parent.end_byte
    elif kind == "if_clause" and is_yes and around.parent is not None:
        yield around.parent.start_byte, around.parent.end_byte


def _branches(statement: Node, body: Node, is_yes: bool, is_settled: bool) -> Iterator[tuple[int, int]]:
    """`is_settled` if the name has the class after the statement, too, because the body leaves or assigns it."""
    if is_yes:
        yield body.start_byte, body.end_byte
        return
    others = statement.children_by_field_name("alternative")
    if others:
        yield others[0].start_byte, others[-1].end_byte
    if is_settled and statement.type == "if_statement" and statement.parent is not None:
        yield statement.end_byte, statement.parent.end_byte
