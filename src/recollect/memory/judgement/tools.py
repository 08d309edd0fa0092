"""Tools and their roles: which tools a text names, which it rules out, and which tools are rivals."""

from collections.abc import Iterable

from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.statement import Statement, add_known_tool, canonical, canonical_set, parse


def banned_tools(text: str) -> frozenset[str]:
    """Return the tools that `text` rules out altogether: npm in "use pnpm, not npm" and in "never use npm"."""
    return banned(parse(text))


def tools_named(text: str) -> frozenset[str]:
    """Return the tools of a known family that `text` names, whatever it says about them."""
    return tools_of(parse(text))


def rivals(text: str) -> frozenset[str]:
    """Return the tools that have the same role as a tool that `text` names, those tools included.

    Words that mean something else as often ("make", "less") are left out.
    """
    families = frozenset[str]().union(*(FAMILIES_OF[tool] for tool in tools_named(text) - PREDICATES))
    return frozenset(tool for family in families for tool in _TOOLS_OF[family] if tool not in _ORDINARY)


def add_tools(role: str, tools: Iterable[str]) -> None:
    """Add tools to a role of the table, or make a new role: two of its tools are rivals."""
    for tool in tools:
        add_known_tool(tool)
        word = canonical(tool)
        FAMILIES_OF[word] = FAMILIES_OF.get(word, frozenset()) | {role}
        _TOOLS_OF[role] = _TOOLS_OF.get(role, frozenset()) | {tool}


def banned(statement: Statement) -> frozenset[str]:
    tools = tools_of(statement)
    banned = tools & statement.rejected
    for clause in statement.clauses:
        if clause.negations % 2 == 1 and clause.words - tools <= USING:
            banned |= clause.words & tools
    return banned


def tools_of(statement: Statement) -> frozenset[str]:
    return frozenset(statement.tokens.keys() & FAMILIES_OF.keys())


def role_words(*tools: str) -> frozenset[str]:
    """Return the words for what the tools do."""
    families = frozenset[str]().union(*(FAMILIES_OF.get(tool, frozenset()) for tool in tools))
    return frozenset[str]().union(*(_ROLE_WORDS.get(family, frozenset()) for family in families))


PREDICATES = canonical_set(tables.PREDICATES)
_ROLE_WORDS = {family: canonical_set(words) for family, words in tables.ROLE_WORDS.items()}
USING = canonical_set(("use", "run", "call", "install", "pick", "choose", "ever", "again"))
FAMILIES_OF: dict[str, frozenset[str]] = {}
for _family, _members in tables.FAMILIES.items():
    for _member in _members:
        FAMILIES_OF[canonical(_member)] = FAMILIES_OF.get(canonical(_member), frozenset()) | {_family}
_TOOLS_OF = {family: frozenset(members) for family, members in tables.FAMILIES.items()}
_ORDINARY = tables.PREDICATES | tables.GENERIC_NOUNS | tables.LIGHT_WORDS | tables.STOP_WORDS | tables.VERBS
