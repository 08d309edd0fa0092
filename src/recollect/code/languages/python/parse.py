"""Turn the syntax tree of a Python file into facts."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import accumulate

from tree_sitter import Node, QueryCursor, Tree

from recollect.code.facts import (
    CLASS,
    FILE,
    FUNCTION,
    RETURNED,
    UNKNOWN,
    VARIABLE,
    YIELDED,
    Binding,
    Definition,
    FileFacts,
    Import,
    Reference,
)
from recollect.code.languages.parser import grammar, query
from recollect.code.languages.python.narrowing import ISINSTANCE, Narrowings

_LONGEST = 12  # links of a chain; a longer one begins with UNKNOWN
_PLACES = frozenset("0123456789")  # indexes of a tuple that we tell apart
_DOC = 200
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.\w+)*").fullmatch
_SPACE = re.compile(r"\s+")
_STRING_START = re.compile(r"(?i)^[rbuft]*(?:\"\"\"|'''|\"|')")
_HIDDEN = re.compile(r"\(.*(?:\)|\Z)|(?<=Literal)\[[^\]]{0,500}\]", re.DOTALL)
_QUOTED = re.compile(r"['\"]([^'\"]*)['\"]")
_METADATA = re.compile(r",\s*['\"][^'\"]*['\"]")  # of `Annotated`
_TYPE = re.compile(r"[\w.]+(?:\s*[][|,]+\s*[\w.]*)*").fullmatch
_FROM = re.compile(r"from\s*+(\.*+)\s*+((?:(?!import\s)[\w.]++)?)\s*+import\s++(.*)", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*|\\\n|[()]")

# The types of literals: their methods are not in the project.
_LITERALS = {
    "string": "str()",
    "concatenated_string": "str()",
    "list": "list()",
    "list_comprehension": "list()",
    "dictionary": "dict()",
    "dictionary_comprehension": "dict()",
    "set": "set()",
    "set_comprehension": "set()",
    "tuple": "tuple()",
    "expression_list": "tuple()",
    "integer": "int()",
    "float": "float()",
    "true": "bool()",
    "false": "bool()",
    "not_operator": "bool()",
    "comparison_operator": "bool()",
}

_CONTAINERS = {"list": "list", "list_comprehension": "list", "set": "set", "set_comprehension": "set"}
_MOST_ITEMS = 8  # of a list that are looked at: a longer one is a table

_NAMED = frozenset({"true", "false"})  # literals that look like names, and stay so
_CHOICES = frozenset({"conditional_expression", "boolean_operator", "parenthesized_expression"})
_SHOWN = frozenset(
    {"identifier", "attribute", "subscript", "call", "keyword_argument", "list_splat"}
)  # of bases
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})

# Functions that return an attribute of their argument.
_SAME = {
    b"type": ".__class__",
    b"next": ".__next__()",
    **dict.fromkeys(
        (b"iter", b"list", b"tuple", b"set", b"frozenset", b"sorted", b"reversed"), ".__iter__()"
    ),
}


def _field(name: str) -> int:
    """Return the field's number: asking a node by number takes two thirds of the time."""
    return grammar("python").field_id_for_name(name) or 0


_ALIAS, _ARGUMENTS, _ATTRIBUTE, _BODY = map(_field, ("alias", "arguments", "attribute", "body"))
_DEFINITION, _FUNCTION, _LEFT, _NAME = map(_field, ("definition", "function", "left", "name"))
_OBJECT, _OPERATOR, _PARAMETERS, _RETURNS = map(_field, ("object", "operator", "parameters", "return_type"))
_RIGHT, _SUBSCRIPT, _SUPERS, _TYPED, _VALUE = map(
    _field, ("right", "subscript", "superclasses", "type", "value")
)


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    return _PythonReader(tree, source).facts(language)


def facts_with_every_call(tree: Tree, source: bytes, language: str) -> FileFacts:
    """Return the same facts with all calls, not only the first of equal ones in a scope. They take more room."""
    reader = _PythonReader(tree, source)
    facts = reader.facts(language)
    return replace(facts, references=tuple(reader.every_call()))


_Named = tuple[tuple[str, str], ...]
_Parameters = tuple[str, _Named, _Named]
_Place = tuple[int, int, Node]  # first byte, last byte, node


def _is_class_or_constant(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper() and all(part.isidentifier() for part in name.split("."))


def _is_first_statement(node: Node | None) -> bool:
    before = node and node.prev_named_sibling
    while before and before.type == "comment":
        before = before.prev_named_sibling
    return before is None


def _start(node: Node) -> int:
    return node.start_byte


class _PythonReader:
    """One file while it is read: its captures, and where each scope begins and ends."""

    def __init__(self, tree: Tree, source: bytes) -> None:
        self.source = source
        self.root = tree.root_node
        self.captures = QueryCursor(query("python")).captures(self.root)
        self.definitions: list[Definition] = []
        self.bindings: list[tuple[str, str, bool, int, int]] = []
        self.defaults: list[tuple[str, str, bool, int, int]] = []  # of parameters without an annotation
        self.exports: list[str] = []
        # From each of these bytes on, this is the scope.
        self.edges: list[int] = [0]
        self.scopes: list[int] = [FILE]
        # The same for calls: those in a default or an annotation run where the function is defined.
        self.call_scopes: list[int] = [FILE]
        self.called: list[_Place] = [
            (node.start_byte, node.end_byte, node) for node in self.captures.get("callee", ())
        ]
        self.narrowed = Narrowings(source)
        self.chains: dict[bytes, str] = {}  # by text: most occur many times in a file
        self.plain: set[bytes] = set()  # chains that equal their text
        self.parameters: dict[bytes, _Parameters] = {}

    def facts(self, language: str) -> FileFacts:
        docs = self._docs()
        self._read_definitions(docs)
        self.narrowed = Narrowings(
            self.source,
            [node for start, end, node in self.called if end - start == len(ISINSTANCE)],
            self.captures.get("case", ()),
        )
        imports = self._imports()
        references = self._references(imports)
        self._read_bindings()
        self._keep_defaults()
        return FileFacts(
            language=language,
            definitions=tuple(self.definitions),
            imports=tuple(imports),
            references=tuple(references),
            bindings=tuple(map(Binding._make, sorted(set(self.bindings)))),
            exports=tuple(dict.fromkeys(self.exports)),
            doc=docs.get(0, ""),
            broken=self.root.has_error,
        )

    def _keep_defaults(self) -> None:
        """Keep the defaults that have a type: classes, constants, and variables of the file that hold an object of a class."""
        made = {
            name
            for name, value, _, _, scope in self.bindings
            if scope == FILE and value.endswith("()") and _is_class_or_constant(value[:-2])
        }
        self.bindings += [
            each for each in self.defaults if _is_class_or_constant(each[1]) or each[1] in made - {each[0]}
        ]

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def scope_at(self, byte: int) -> int:
        return self.scopes[bisect_right(self.edges, byte) - 1]

    def _docs(self) -> dict[int, str]:
        """Return the first line of each docstring, by the first byte of its block; the file's has 0."""
        docs = {}
        for node in self.captures.get("doc", ()):
            if not _is_first_statement(node.parent):
                continue
            whole = self.text(node)
            start = _STRING_START.match(whole)
            inside = whole[start.end() :].rstrip("\"'").strip() if start else ""
            first = inside.split("\n\n", 1)[0] if inside else ""
            block = node.parent.parent if node.parent else None
            if first and block:
                docs[block.start_byte if block.type == "block" else 0] = " ".join(first.split())[:_DOC]
        return docs

    def _read_definitions(self, docs: dict[int, str]) -> None:
        decorated = {}
        for node in self.captures.get("decorated", ()):
            inner = node.child_by_field_id(_DEFINITION)
            if inner:
                decorated[inner.start_byte] = node
        nodes = [
            *((node.start_byte, FUNCTION, node) for node in self.captures.get("function", ())),
            *((node.start_byte, CLASS, node) for node in self.captures.get("class", ())),
            *((node.start_byte, VARIABLE, node) for node in self.captures.get("assignment", ())),
        ]
        nodes.sort(key=lambda entry: entry[0])
        variables: set[tuple[int, str]] = set()
        within: list[tuple[int, int, str]] = []  # end, number and kind of the definitions around
        for start, kind, node in nodes:
            while within and start >= within[-1][0]:
                end = within.pop()[0]
                self._enter(end, within[-1][1] if within else FILE)
            scope = within[-1][1] if within else FILE
            if kind == VARIABLE:
                if not within or within[-1][2] == CLASS:
                    self._add_variable(node, scope, variables)
                continue
            name = node.child_by_field_id(_NAME)
            body = node.child_by_field_id(_BODY)
            if name is None or body is None:
                continue
            within.append((node.end_byte, len(self.definitions), kind))
            if kind == FUNCTION:
                self._enter(name.end_byte, len(self.definitions), calls=scope)
                self._enter(body.start_byte, len(self.definitions))
            else:
                self._enter(name.end_byte, len(self.definitions))
            self._add_definition(
                kind, node, self.text(name), scope, docs.get(body.start_byte, ""), decorated.get(start)
            )
        while within:
            end = within.pop()[0]
            self._enter(end, within[-1][1] if within else FILE)

    def _enter(self, byte: int, scope: int, calls: int | None = None) -> None:
        self.edges.append(byte)
        self.scopes.append(scope)
        self.call_scopes.append(scope if calls is None else calls)

    def _add_definition(
        self, kind: str, node: Node, name: str, scope: int, doc: str, decorated: Node | None
    ) -> None:
        decorators: tuple[str, ...] = ()
        if decorated:
            decorators = tuple(
                self.chain(child.named_children[0])
                for child in decorated.named_children
                if child.type == "decorator" and child.named_children
            )
        signature, returns = "", ""
        bases: tuple[str, ...] = ()
        parameters: tuple[tuple[str, str], ...] = ()
        if kind == FUNCTION:
            listed = node.child_by_field_id(_PARAMETERS)
            if listed:
                signature, parameters, defaults = self._parameters(listed)
                line, number = node.start_point[0] + 1, len(self.definitions)
                self.defaults += [(written, value, False, line, number) for written, value in defaults]
            annotation = node.child_by_field_id(_RETURNS)
            if annotation:
                returns = self.annotation(annotation)
                signature = f"{signature} -> {returns}"
        else:
            supers = node.child_by_field_id(_SUPERS)
            if supers:
                bases = tuple(
                    self.chain(child)
                    for child in supers.named_children
                    if child.type in ("identifier", "attribute", "subscript", "call")
                )
                shown = ", ".join(
                    self._base(child) for child in supers.named_children if child.type in _SHOWN
                )
                signature = f"({shown})" if shown else ""
        self.definitions.append(
            Definition(
                name,
                kind,
                (decorated or node).start_point[0] + 1,
                node.end_point[0] + 1,
                scope,
                signature,
                doc,
                bases,
                returns,
                decorators,
                parameters,
                not name.startswith("_") or name.endswith("__"),
            )
        )

    def _base(self, node: Node) -> str:
        """Return a base or a keyword of a class as written, without values and arguments, which may be secrets."""
        if node.type == "keyword_argument":
            name, value = node.child_by_field_id(_NAME), node.child_by_field_id(_VALUE)
            is_name = value is not None and value.type in ("identifier", "attribute")
            return f"{self.text(name) if name else ''}={self.text(value) if value and is_name else '…'}"
        if node.type == "call":
            called = node.child_by_field_id(_FUNCTION)
            return f"{self.annotation(called) if called else ''}(…)"
        return self.annotation(node)

    def _add_variable(self, node: Node, scope: int, known: set[tuple[int, str]]) -> None:
        left = node.child_by_field_id(_LEFT)
        if left is None:
            return
        names = [left] if left.type == "identifier" else left.named_children if "patt" in left.type else []
        for child in names:
            name = self.text(child)
            if child.type != "identifier" or (scope, name) in known:
                continue
            known.add((scope, name))
            self.definitions.append(
                Definition(
                    name,
                    VARIABLE,
                    node.start_point[0] + 1,
                    node.end_point[0] + 1,
                    scope,
                    exported=not name.startswith("_") or name.endswith("__"),
                )
            )

    def _parameters(self, listed: Node) -> "_Parameters":
        """Return the signature as written without defaults, each parameter's name and annotation, and the names that are
        defaults of parameters without one: these may have their type.
        """
        key = self.source[listed.start_byte : listed.end_byte]
        if known := self.parameters.get(key):
            return known
        shown: list[str] = []
        parameters: list[tuple[str, str]] = []
        defaults: list[tuple[str, str]] = []
        for child in listed.named_children:
            if child.type in ("comment", "ERROR"):
                continue
            name, annotation, default = child, child.child_by_field_id(_TYPED), ""
            if child.type in ("default_parameter", "typed_default_parameter"):
                name, default = child.child_by_field_id(_NAME) or child, "…"
            elif child.type == "typed_parameter":
                name = child.named_children[0]
            written = self.text(name)
            typed = self.annotation(annotation) if annotation else ""
            if child.type not in ("keyword_separator", "positional_separator"):
                parameters.append((written, typed))
            equals = (" = " if typed else "=") + default if default else ""
            shown.append(f"{written}: {typed}{equals}" if typed else written + equals)
            value = child.child_by_field_id(_VALUE) if default and not typed else None
            if value and value.type in ("identifier", "attribute"):
                defaults.append((written, self.text(value)))
        found = f"({', '.join(shown)})", tuple(parameters), tuple(defaults)
        self.parameters[key] = found
        return found

    def _imports(self) -> list[Import]:
        found = []
        for node in sorted(self.captures.get("import", ()), key=_start):
            text = _COMMENT.sub(" ", self.text(node))
            line, scope = node.start_point[0] + 1, self.scope_at(node.start_byte)
            from_module = _FROM.match(text)
            module = from_module[1] + from_module[2] if from_module else ""
            listed = from_module[3] if from_module else text.removeprefix("import")
            for part in listed.split(","):
                words = part.split()
                if not words:
                    continue
                alias = words[2] if len(words) == 3 and words[1] == "as" else ""
                if from_module:
                    found.append(Import(module, words[0], alias, line, scope))
                else:
                    found.append(Import(words[0], "", alias, line, scope))
        return found

    def _references(self, imports: list[Import]) -> list[Reference]:
        """Return each chain once per scope, where it occurs first. Captures come in no order, so they are sorted."""
        source, edges, scopes, chains = self.source, self.edges, self.scopes, self.chains
        narrowed, tested = self.narrowed, self.narrowed.beginnings
        known = {entry.name for entry in self.definitions}
        known.update(entry.alias or (entry.name or entry.module).split(".")[0] for entry in imports)
        by_bytes = {name.encode(): name for name in known}
        ends: dict[tuple[str, str, int], int] = {}
        for kind, nodes, within in (
            ("calls", self.called, self.call_scopes),
            ("uses", self._longest(), scopes),
        ):
            for start, end, node in nodes:
                chain = chains.get(source[start:end]) or self._chain_at(start, end, node)
                scope = within[bisect_right(edges, start) - 1]
                for narrow in narrowed.chains(chain, start) if chain.startswith(tested) else (chain,):
                    key = narrow, kind, scope
                    if ends.get(key, end) >= end:
                        ends[key] = end
        for node in self.captures.get("name", ()):
            start, end = node.start_byte, node.end_byte
            name = by_bytes.get(source[start:end])
            if name is not None:
                key = name, "uses", scopes[bisect_right(edges, start) - 1]
                if ends.get(key, end) >= end:
                    ends[key] = end
        lines = list(accumulate(map(len, BytesIO(source))))
        # Plain tuples: named tuples take three times as long to sort.
        rows = [
            (chain, kind, bisect_right(lines, end - 1) + 1, scope)
            for (chain, kind, scope), end in ends.items()
            if chain != UNKNOWN
        ]
        rows.sort()
        return list(map(partial(tuple.__new__, Reference), rows))  # in half of the time of `_make`

    def every_call(self) -> Iterator[Reference]:
        """Yield all calls, after `facts` has found the scopes."""
        lines = list(accumulate(map(len, BytesIO(self.source))))
        for start, end, node in self.called:
            chain = self.chains.get(self.source[start:end]) or self._chain_at(start, end, node)
            scope = self.call_scopes[bisect_right(self.edges, start) - 1]
            for narrow in self.narrowed.chains(chain, start):
                yield Reference(narrow, "calls", bisect_right(lines, end - 1) + 1, scope)

    def _longest(self) -> Iterable[_Place]:
        """Return attributes that are not part of a longer chain."""
        reached: dict[int, int] = {}  # from the first byte of a chain to its last
        for start, end, _ in self.called:
            if reached.get(start, 0) < end:
                reached[start] = end
        found: dict[int, _Place] = {}
        for node in self.captures.get("attribute", ()):
            start, end = node.start_byte, node.end_byte
            if reached.get(start, 0) < end:
                reached[start] = end
                found[start] = start, end, node
        return found.values()

    def _read_bindings(self) -> None:
        additions = sorted(self.captures.get("addition", ()), key=_start)
        for node in (*self.captures.get("assignment", ()), *additions):
            left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
            if left is None:
                continue
            if right and self.source.startswith(b"__all__", left.start_byte) and self.text(left) == "__all__":
                self.exports += _QUOTED.findall(self.text(right))
                continue
            annotation = node.child_by_field_id(_TYPED)
            if annotation:
                self._bind(left, self.annotation(annotation), annotated=True)
            while right and right.type == "assignment":  # a = b = value
                right = right.child_by_field_id(_RIGHT)
            if right:
                self._bind_value(left, right)
        for node in self.captures.get("walrus", ()):
            name, value = node.child_by_field_id(_NAME), node.child_by_field_id(_VALUE)
            if name and value:
                self._bind_value(name, value)
        for node in self.captures.get("loop", ()):
            left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
            if left and right:
                if self._counts(left, right):
                    left, right = left.named_children[1], right.named_children[1].named_children[0]
                step = "__aiter__" if self.source.startswith(b"async", node.start_byte) else "__iter__"
                self._bind(left, f"{self.chain(right)}.{step}()[]")
        asynchronous = {node.start_byte for node in self.captures.get("with.async", ())}
        for node in self.captures.get("with", ()):
            target = node.child_by_field_id(_ALIAS)
            if target and target.named_children and node.named_children:
                enter = "__aenter__" if node.start_byte in asynchronous else "__enter__"
                self._bind(target.named_children[0], f"{self.chain(node.named_children[0])}.{enter}()")
        for node in self.captures.get("except", ()):
            caught, target = node.named_children[0], node.child_by_field_id(_ALIAS)
            for one in caught.named_children if caught.type == "tuple" else (caught,):
                if target and target.named_children and one.type in ("identifier", "attribute"):
                    self._bind(target.named_children[0], f"{self.text(one)}()")
        for given in (RETURNED, YIELDED):
            for node in self.captures.get(given, ()):
                scope, line = self.scope_at(node.start_byte), node.start_point[0] + 1
                self.bindings += [
                    (given, one, annotated, line, scope) for one, annotated in self._values(node, node.type)
                ]

    def _counts(self, left: Node, right: Node) -> bool:
        """Return whether a loop has the form `for number, item in enumerate(…)`."""
        if left.type != "pattern_list" or right.type != "call" or len(left.named_children) != 2:
            return False
        called, arguments = right.named_children[0], right.named_children[-1]
        return self.text(called) == "enumerate" and bool(arguments.named_children)

    def _bind_value(self, left: Node, right: Node) -> None:
        kind = right.type
        if kind in ("expression_list", "tuple") and "pattern" in left.type:
            if len(left.named_children) == len(right.named_children):
                for one, part in zip(left.named_children, right.named_children, strict=True):
                    for value, annotated in self._values(part, part.type):
                        self._bind(one, value, annotated)
            return
        for value, annotated in self._values(right, kind):
            self._bind(left, value, annotated)

    def _bind(self, left: Node, value: str, annotated: bool = False) -> None:
        kind = left.type
        if kind in _PATTERNS:
            for at, child in enumerate(left.named_children):
                if child.type in ("identifier", "attribute"):
                    self._bind(child, f"{value}[{at}]")
            return
        name = self.text(left)
        if kind == "identifier" or (kind == "attribute" and name.count(".") == 1 and _PLAIN(name)):
            line, scope = left.start_point[0] + 1, self.scope_at(left.start_byte)
            self.bindings.append((name, value, annotated, line, scope))

    def _values(self, node: Node, kind: str, depth: int = 0) -> list[tuple[str, bool]]:
        """Return the chains that a value may be, each with whether it is a type as written instead."""
        if kind in _CHOICES and (choices := self._choices(node)):
            if depth == _LONGEST:
                return []
            return [value for one in choices for value in self._values(one, one.type, depth + 1)]
        if kind == "none":
            return []
        if kind in _CONTAINERS and (classes := self._classes_in(node, kind)):
            return [(f"{_CONTAINERS[kind]}[{' | '.join(classes)}]", True)]
        called = node.child_by_field_id(_FUNCTION) if kind == "call" else None
        if called and called.type == "parenthesized_expression" and depth < _LONGEST:  # (given or App)()
            chosen = self._values(called, called.type, depth + 1)
            return [(f"{value}()", False) for value, annotated in chosen if not annotated]
        value = self._chain_of(node, kind)
        if value.endswith(("cast()", "TypeVar()")) and (typed := self._cast_type(node)):
            return [(typed, True)]
        if self._is_union(node, kind):
            return [(f"type[{self.annotation(node)}]", True)]
        return [(value, False)]

    def _classes_in(self, node: Node, kind: str) -> list[str]:
        """Return the classes of which a list or set has objects; none if it has anything else."""
        items = node.named_children[:1] if kind.endswith("comprehension") else node.named_children
        if not 0 < len(items) <= _MOST_ITEMS:
            return []
        classes: dict[str, None] = {}
        for item in items:
            called = item.child_by_field_id(_FUNCTION) if item.type == "call" else None
            name = self.text(called) if called and called.type in ("identifier", "attribute") else ""
            if not _is_class_or_constant(name) or (len(name) > 1 and name.isupper()):
                return []
            classes[name] = None
        return list(classes)

    def _is_union(self, node: Node, kind: str) -> bool:
        """Return whether a value is several types, as an alias for annotations is: `Union[App, Api]`, `App | None`."""
        if kind == "subscript":
            container = node.child_by_field_id(_VALUE)
            return container is not None and self.text(container).rpartition(".")[2] in ("Union", "Optional")
        if kind != "binary_operator":
            return False
        names = [name.strip() for name in self.text(node).split("|")]
        return len(names) > 1 and all(
            name == "None" or (_is_class_or_constant(name) and not name.rpartition(".")[2].isupper())
            for name in names
        )

    def _choices(self, node: Node) -> list[Node]:
        """Return the nodes of which one is the value of such an expression."""
        if node.type == "boolean_operator":
            operator = node.child_by_field_id(_OPERATOR)
            sides = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
            first = 0 if operator and operator.type == "or" else 1
            return [side for side in sides[first:] if side]
        inner = node.named_children
        if node.type == "conditional_expression":
            return [inner[0], inner[2]] if len(inner) == 3 else []
        return inner[:1]

    def _cast_type(self, call: Node) -> str:
        """Return the type that `cast` or a bound `TypeVar` is given."""
        called, arguments = call.child_by_field_id(_FUNCTION), call.child_by_field_id(_ARGUMENTS)
        if (
            called is None
            or arguments is None
            or not self.source.endswith((b"cast", b"TypeVar"), 0, called.end_byte)
        ):
            return ""
        given = arguments.named_children
        if self.text(called).endswith("cast"):
            return self.annotation(given[0]) if len(given) == 2 else ""
        for one in given:
            name, value = one.child_by_field_id(_NAME), one.child_by_field_id(_VALUE)
            if name and value and self.text(name) == "bound":
                return self.annotation(value)
        return ""

    def chain(self, node: Node) -> str:
        """Return the chain of an expression (see `Reference`). An awaited value counts as its result."""
        return self._chain_of(node, node.type)

    def _chain_of(self, node: Node, kind: str) -> str:
        if kind == "call":
            return self._linked(node)
        if kind in _LITERALS and kind not in _NAMED:
            return _LITERALS[kind]
        return self._chain_at(node.start_byte, node.end_byte, node)

    def _chain_at(self, start: int, end: int, node: Node) -> str:
        written = self.source[start:end]
        chain = self.chains.get(written)
        if chain is None:
            text = written.decode("utf-8", "replace")
            if _PLAIN(text):
                self.plain.add(written)
                chain = text
            else:
                chain = self._linked(node)
            self.chains[written] = chain
        return chain

    def _linked(self, node: Node) -> str:
        tail = ""
        for links in range(_LONGEST):
            kind = node.type
            if kind == "identifier":
                return self.text(node) + tail
            if kind == "attribute":
                inner, name = node.child_by_field_id(_OBJECT), node.child_by_field_id(_ATTRIBUTE)
                tail = f".{self.text(name)}{tail}" if name else tail
            elif kind == "call":
                inner = node.child_by_field_id(_FUNCTION)
                written = self.source[inner.start_byte : inner.end_byte] if inner else b""
                if written in self.plain and written not in _SAME:
                    if links + written.count(b".") + 1 < _LONGEST:
                        return f"{self.chains[written]}(){tail}"
                elif same := _SAME.get(written):
                    arguments = node.child_by_field_id(_ARGUMENTS)
                    if arguments and arguments.named_children:
                        node, tail = arguments.named_children[0], same + tail
                        continue
                tail = f"(){tail}"
            elif kind == "subscript":
                inner = node.child_by_field_id(_VALUE)
                index = node.child_by_field_id(_SUBSCRIPT)
                at = self.text(index) if index and index.type == "integer" else ""
                tail = f"[{at if at in _PLACES else ''}]{tail}"
            elif kind in ("await", "parenthesized_expression") and node.named_children:
                inner = node.named_children[0]
            else:
                return _LITERALS.get(kind, UNKNOWN) + tail
            if inner is None:
                break
            node = inner
        return UNKNOWN + tail

    def annotation(self, node: Node) -> str:
        """Return it as written, on one line and without quotes; leaves out literals and calls."""
        text = self.text(node)
        if '"' in text or "'" in text or "(" in text:
            text = _HIDDEN.sub("", text)
            if "Annotated" in text:
                text = _METADATA.sub(", …", text)
            text = _QUOTED.sub(lambda found: found[1] if _TYPE(found[1]) else "…", text)
        return _SPACE.sub(" ", text)
