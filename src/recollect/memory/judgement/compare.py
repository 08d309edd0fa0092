"""Compare two statements by their words, values and the cosine of their vectors.

Vectors cannot tell "always" from "never", so the rules look for disagreement first; only statements that do not disagree
may merge. The rules are tried in the order of `_RULES`, and the first that returns a comparison decides.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.statement import (
    VERBS,
    Statement,
    Token,
    TokenKind,
    add_known_tool,
    canonical,
    canonical_set,
    parse,
    word_set,
)

SAME = 0.92  # cosine from which two statements that do not disagree say the same
ALIKE = 0.85  # cosine from which they probably do
AGREED = 0.7  # cosine from which two statements that agree in values, subject and polarity say the same
NEAR = 0.5  # cosine from which they are about the same subject


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one statement relates to another, and why."""

    relation: StatementRelation
    reason: str  # a short clause for the user: "port 8080 → 9090"
    certain: bool  # False = a model should decide, if there is one, or a person
    rule: str = ""  # the rule that decided; "" if it was not one of ours
    decided_by: str = "rule"  # or the model that was asked

    @property
    def explanation(self) -> str:
        """Say which words, which rule or model, and how sure: what is stored with a link and asked in review."""
        decided = f"{self.decided_by} {self.rule}".strip()
        return f"{self.reason} ({decided}, {'certain' if self.certain else 'unsure'})"


def compare(new: str, old: str, cosine: float | None) -> Comparison:
    """Return how `new` relates to `old`, both as people wrote them. `cosine` is None without vectors."""
    if new.lower().split() == old.lower().split():
        return Comparison(StatementRelation.DUPLICATE, "the same text", certain=True)
    pair = _pair(parse(new), parse(old), cosine)
    for rule in _RULES:
        if comparison := rule(pair):
            name = rule.__name__.strip("_").replace("_", " ")
            return _checked(replace(comparison, rule=name), pair)
    raise AssertionError("the last rule always decides")


def _checked(comparison: Comparison, pair: "_Pair") -> Comparison:
    """Return the comparison after what holds for every rule: events contradict nothing, and what agrees is the same."""
    if comparison.relation is StatementRelation.CONTRADICTION:
        if pair.new.is_event or pair.old.is_event:
            return _no_contradiction(comparison, "what was done contradicts nothing")
        if pair.new.may_be_event or pair.old.may_be_event:
            if pair.left or not pair.opposed:
                return _no_contradiction(comparison, "perhaps what was done")
            return replace(comparison, certain=False)
    if comparison.relation in _SAME_OR_LIKELY and _perhaps_done(pair):
        # Two commits may fix "a typo" and "typos"; only the same words are the same report.
        return _no_contradiction(comparison, "two reports")
    if comparison.relation is StatementRelation.MERGEABLE and _agrees(pair):
        return replace(
            comparison, reason=f"values, subject and polarity agree, {comparison.reason}", certain=True
        )
    return comparison


_SAME_OR_LIKELY = (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)


def _no_contradiction(comparison: Comparison, why: str) -> Comparison:
    reason = f"{why}: {comparison.reason}"
    return Comparison(StatementRelation.RELATED, reason, certain=True, rule="event")


def content_words(text: str) -> frozenset[str]:
    """Return the stemmed words that carry meaning, by which similar statements are found."""
    return frozenset(parse(text).tokens)


def subject_words(text: str) -> frozenset[str]:
    """Return the stemmed words of the subject (before the verb or value); empty if it is unclear."""
    return parse(text).subject


def banned_tools(text: str) -> frozenset[str]:
    """Return the tools that `text` rules out altogether: npm in "use pnpm, not npm" and in "never use npm"."""
    return _banned(parse(text))


def tools_named(text: str) -> frozenset[str]:
    """Return the tools of a known family that `text` names, whatever it says about them."""
    return _tools(parse(text))


def rivals(text: str) -> frozenset[str]:
    """Return the tools that have the same role as a tool that `text` names, those tools included.

    Words that mean something else as often ("make", "less") are left out.
    """
    families = frozenset[str]().union(*(_FAMILIES_OF[tool] for tool in tools_named(text) - _PREDICATES))
    return frozenset(tool for family in families for tool in _TOOLS_OF[family] if tool not in _ORDINARY)


def add_tools(role: str, tools: Iterable[str]) -> None:
    """Add tools to a role of the table, or make a new role: two of its tools are rivals."""
    for tool in tools:
        add_known_tool(tool)
        word = canonical(tool)
        _FAMILIES_OF[word] = _FAMILIES_OF.get(word, frozenset()) | {role}
        _TOOLS_OF[role] = _TOOLS_OF.get(role, frozenset()) | {tool}


def names_of_code(text: str) -> frozenset[str]:
    """Return the paths, identifiers and commands that `text` names."""
    named = (TokenKind.PATH, TokenKind.CODE)
    return frozenset(word for word, token in parse(text).tokens.items() if token.kind in named)


def _banned(statement: Statement) -> frozenset[str]:
    tools = _tools(statement)
    banned = tools & statement.rejected
    for clause in statement.clauses:
        if clause.negations % 2 == 1 and clause.words - tools <= _USING:
            banned |= clause.words & tools
    return banned


def _tools(statement: Statement) -> frozenset[str]:
    return frozenset(statement.tokens.keys() & _FAMILIES_OF.keys())


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two parsed statements, and how their differences correspond."""

    new: Statement
    old: Statement
    cosine: float | None
    shared: frozenset[str]  # content words of both
    opposed: tuple[tuple[Token, Token], ...]  # (new, old) with opposite meaning
    values: tuple[tuple[Token, Token], ...]  # (new, old) of one type, of which only one can be current
    left_new: tuple[Token, ...]  # content words that nothing in the other statement explains
    left_old: tuple[Token, ...]
    negated: bool  # one denies what the other affirms
    spelt: frozenset[str] = frozenset()  # words of one that a path or an identifier of the other spells out

    @property
    def is_reversed(self) -> bool:
        """Return whether the number of opposed words and negations is odd, which reverses the meaning."""
        return (len(self.opposed) + self.negated) % 2 == 1

    @property
    def near(self) -> float:
        return self.cosine if self.cosine is not None else 0.0

    @property
    def left(self) -> tuple[Token, ...]:
        return self.left_new + self.left_old

    @property
    def apart(self) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """Return the words of each, new and old, that say which thing is meant and that the other does not have."""
        roles = frozenset[str]().union(*(_roles(new.word, old.word) for new, old in self.values))
        new, old = (
            tuple(token for token in left if _is_distinctive(token, statement) and token.word not in roles)
            for left, statement in ((self.left_new, self.new), (self.left_old, self.old))
        )
        return new, old

    @property
    def are_two_things(self) -> bool:
        """Return whether each names a thing that the other does not."""
        return all(self.apart)

    @property
    def topic(self) -> frozenset[str]:
        """Return the words of both that say what they are about."""
        return frozenset(word for word in self.shared if word not in _GENERIC) | self.spelt

    @property
    def is_substitution(self) -> bool:
        """Return whether each says something the other does not: they are most likely about two things."""
        return not all(map(_is_verbal, self.left_new)) and not all(map(_is_verbal, self.left_old))


def _same_words(pair: _Pair) -> Comparison | None:
    same = pair.new.content == pair.old.content and pair.new.rejected == pair.old.rejected
    if not same or not pair.new.content or pair.is_reversed:
        return None
    if pair.new.permits != pair.old.permits:
        return Comparison(StatementRelation.MERGEABLE, "the same words, but 'may' on one side", certain=False)
    if _measures(pair.new) != _measures(pair.old) or _are_swapped(pair):
        return Comparison(StatementRelation.MERGEABLE, "the same words in other places", certain=False)
    if not pair.opposed and _negations(pair.new) != _negations(pair.old):
        return Comparison(StatementRelation.MERGEABLE, "the same words, but 'not' on one side", certain=False)
    return Comparison(StatementRelation.DUPLICATE, "the same words", certain=True)


def _exception(pair: _Pair) -> Comparison | None:
    if pair.new.has_exception != pair.old.has_exception:
        return Comparison(StatementRelation.RELATED, "an exception to a rule", certain=True)
    if bool(pair.new.conditions) != bool(pair.old.conditions) and pair.is_reversed:
        return Comparison(StatementRelation.RELATED, "one holds only in a case", certain=True)
    narrower = pair.left_new if pair.new.permits else pair.left_old
    if pair.new.permits != pair.old.permits and narrower and pair.is_reversed:
        return Comparison(StatementRelation.RELATED, "a permission for some cases", certain=False)
    return None


def _other_scope(pair: _Pair) -> Comparison | None:
    for scope, words in pair.new.scopes.items():
        others = pair.old.scopes.get(scope, frozenset())
        if others and words.isdisjoint(others):
            reason = f"another {scope}: {_surface(pair.old, others)} / {_surface(pair.new, words)}"
            return Comparison(StatementRelation.RELATED, reason, certain=True)
    return None


def _ended(pair: _Pair) -> Comparison | None:
    """One treats as current what the other says is over."""
    for denying, holding in ((pair.new, pair.old), (pair.old, pair.new)):
        over = denying.rejected - holding.rejected
        if not over or not over <= holding.content or not _is_affirmed(over, holding):
            continue
        rest = pair.shared - over
        is_named = any(denying.tokens[word].in_subject and _is_name(holding.tokens[word]) for word in over)
        if rest or is_named or 2 * len(over) >= len(holding.content):
            certain = (bool(rest) and not pair.are_two_things) or over <= _banned(denying)
            return Comparison(
                StatementRelation.CONTRADICTION, f"{_surface(denying, over)!r} is over", certain=certain
            )
    return None


def _banned_tool(pair: _Pair) -> Comparison | None:
    """One rules out a tool that the other uses: "use pnpm, not npm" and "`npm run build` builds the project"."""
    polarity = _polarity(pair)
    denied = polarity is not None and polarity.relation is StatementRelation.CONTRADICTION
    if _narrows_scope(pair) or (polarity is not None and denied and polarity.certain):
        return None
    for ruling, using in ((pair.new, pair.old), (pair.old, pair.new)):
        for word in sorted(_banned(ruling) & using.tokens.keys() - _banned(using) - using.rejected):
            token = using.tokens[word]
            is_used = token.kind is TokenKind.CODE or token.before in _MEANS or using.imperative == word
            if is_used and _is_affirmed(frozenset({word}), using):
                return Comparison(
                    StatementRelation.CONTRADICTION, f"{token.surface} is not to be used", certain=True
                )
    return None


def _other_thing(pair: _Pair) -> Comparison | None:
    """The value that differs is the subject ("src/a.py is generated"), not what is said about it."""
    for new, old in pair.values:
        if new.in_subject and old.in_subject:
            another = new.kind in (TokenKind.PATH, TokenKind.CODE)
            plays_no_part = new.word in _FAMILIES_OF and (len(pair.values) > 1 or not _has_role(pair))
            if another or plays_no_part:
                return Comparison(
                    StatementRelation.RELATED, f"another thing: {old.surface} / {new.surface}", certain=False
                )
    return None


def _polarity(pair: _Pair) -> Comparison | None:
    if not pair.is_reversed or (not pair.shared and (pair.left or not pair.opposed)):
        return None
    if _are_two_commands(pair):
        return Comparison(StatementRelation.RELATED, f"two commands, {_opposed_reason(pair)}", certain=False)
    if pair.values and not pair.opposed:
        return Comparison(
            StatementRelation.RELATED, f"'not' is said of another: {_value_reason(pair)}", certain=False
        )
    # "Needs two approvals" is denied by "needs no approval": the number does not matter.
    fewer, more = sorted(
        sum(token.kind is not TokenKind.NUMBER for token in left) for left in (pair.left_new, pair.left_old)
    )
    if fewer > (len(pair.shared) >= 4) or more > 2 * len(pair.shared):
        return _denied_clause(pair)
    if _narrows(pair):
        return Comparison(StatementRelation.RELATED, "a case of its own", certain=False)
    reason = _opposed_reason(pair) if pair.opposed else _stance_reason(pair)
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=not pair.left)


def _are_two_commands(pair: _Pair) -> bool:
    """Return whether they say how to do a thing and its opposite: "start it with `up`", "stop it with `down`"."""
    orders = {pair.new.imperative, pair.old.imperative}
    opposed = any({new.word, old.word} == orders for new, old in pair.opposed)
    return opposed and all(
        any(token.kind is TokenKind.CODE for token in statement.tokens.values())
        for statement in (pair.new, pair.old)
    )


def _denied_clause(pair: _Pair) -> Comparison | None:
    """A whole clause of one denies what the other affirms, whatever else they say."""
    for denying, holding in ((pair.new, pair.old), (pair.old, pair.new)):
        for clause in denying.clauses:
            whole = len(clause.words) > 1 and clause.words <= holding.tokens.keys()
            if whole and clause.negations % 2 == 1 and _is_affirmed(clause.words, holding):
                return Comparison(
                    StatementRelation.CONTRADICTION, f"not {_surface(denying, clause.words)!r}", certain=False
                )
    return None


def _other_value(pair: _Pair) -> Comparison | None:
    if not pair.values:
        return None
    reason = _value_reason(pair)
    names = all(new.kind not in _MEASURES for new, _ in pair.values)
    if names and any(clause.negations for clause in pair.new.clauses + pair.old.clauses):
        return Comparison(StatementRelation.RELATED, f"each rules out its own: {reason}", certain=False)
    orders = {pair.new.imperative, pair.old.imperative}
    two_orders = len(orders - _USING) == 2 and "" not in orders and not _are_plain_values(pair)
    owners = any(_is_owner(new) and _is_owner(old) for new, old in pair.values) and any(pair.apart)
    if pair.are_two_things or two_orders or owners or _narrows_scope(pair):
        return Comparison(StatementRelation.RELATED, f"another matter: {reason}", certain=not pair.shared)
    in_role = _both_in_role(pair)
    if not pair.topic and not in_role and pair.left:
        return None
    if pair.left and not (pair.new.claims and pair.old.claims):
        return Comparison(StatementRelation.RELATED, f"only named: {reason}", certain=False)
    if not _ALSO.isdisjoint((*pair.new.lowers, *pair.old.lowers)):
        return Comparison(StatementRelation.RELATED, f"both hold: {reason}", certain=False)
    additive = not _ADDITIVE.isdisjoint(pair.new.tokens.keys() | pair.old.tokens.keys())
    stated = not additive and _is_stated(pair, orders)
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=not pair.left and stated)


def _is_stated(pair: _Pair, orders: set[str]) -> bool:
    """Return whether both say what holds, and not what to do once."""
    return all(new.word in _FAMILIES_OF for new, _ in pair.values) or orders <= {"", *_USING}


def _are_plain_values(pair: _Pair) -> bool:
    """Return whether the values that differ are tools of one family or measures, not commands or paths."""
    return all(new.kind in _MEASURES or new.word in _FAMILIES_OF for new, _ in pair.values)


def _both_in_role(pair: _Pair) -> bool:
    """Return whether both say what a tool of one family does: "the pipelines run on Jenkins", "CI is GitHub Actions"."""
    return any(
        roles & pair.new.tokens.keys() and roles & pair.old.tokens.keys()
        for new, old in pair.values
        if (roles := _roles(new.word) & _roles(old.word))
    )


def _unexplained_word(pair: _Pair) -> Comparison | None:
    """One word more, or one for another, in an otherwise equal frame: it may be what matters."""
    if not pair.left or max(len(pair.left_new), len(pair.left_old)) > 1 or not pair.shared:
        return None
    reason = " / ".join(repr(token.surface) for token in (*pair.left_old, *pair.left_new)) + " unexplained"
    two_subjects = pair.is_substitution and all(token.in_subject for token in pair.left)
    two_subjects |= pair.are_two_things and any(token.kind in _VALUE_KINDS for token in pair.left)
    same_value = any(pair.new.tokens[word].kind in _VALUE_KINDS for word in pair.shared)
    merge = not two_subjects and (pair.near >= ALIKE or (same_value and pair.near >= 0.6))
    return Comparison(
        StatementRelation.MERGEABLE if merge else StatementRelation.RELATED, reason, certain=False
    )


def _similar(pair: _Pair) -> Comparison | None:
    if pair.is_reversed:
        return None
    if pair.near >= SAME and not pair.are_two_things and _exact_values(pair.new) == _exact_values(pair.old):
        return Comparison(StatementRelation.DUPLICATE, f"cosine {pair.near:.2f}", certain=True)
    if pair.near >= ALIKE:
        return Comparison(StatementRelation.MERGEABLE, f"cosine {pair.near:.2f}", certain=False)
    overlap = len(pair.shared) / max(1, min(len(pair.new.content), len(pair.old.content)))
    if not pair.left and pair.shared:
        return Comparison(StatementRelation.MERGEABLE, "about the same words", certain=False)
    if overlap >= 0.6 and len(pair.shared) >= 2 and pair.near >= 0.6:
        return Comparison(
            StatementRelation.MERGEABLE, f"most words shared, cosine {pair.near:.2f}", certain=False
        )
    return None


def _otherwise(pair: _Pair) -> Comparison | None:
    if pair.near >= NEAR or pair.shared:
        return Comparison(StatementRelation.RELATED, "near, nothing more", certain=pair.near < ALIKE)
    return Comparison(StatementRelation.UNRELATED, "nothing in common", certain=True)


_RULES: list[Callable[[_Pair], Comparison | None]] = [
    _same_words,
    _exception,
    _other_scope,
    _ended,
    _banned_tool,
    _other_thing,
    _polarity,
    _other_value,
    _unexplained_word,
    _similar,
    _otherwise,
]


def _pair(new: Statement, old: Statement, cosine: float | None) -> _Pair:
    """Pair up the differences of two statements. Texts that differ too much are not paired."""
    only_new = [token for word, token in new.tokens.items() if word not in old.tokens]
    only_old = [token for word, token in old.tokens.items() if word not in new.tokens]
    opposed: list[tuple[Token, Token]] = []
    values: list[tuple[Token, Token]] = []
    partner: dict[str, str] = {}
    spelt: frozenset[str] = frozenset()
    if len(only_new) <= _MAX_DIFFERENCES and len(only_old) <= _MAX_DIFFERENCES:
        both = new.tokens.keys() & old.tokens.keys()
        opposed = _take_pairs(only_new, only_old, lambda a, b: _is_opposite(a.word, b.word))
        alike = _take_pairs(only_new, only_old, lambda a, b: b.word in _SAME_SIDE.get(a.word, ()))
        partner = {a.word: b.word for x, y in opposed + alike for a, b in ((x, y), (y, x))}
        spelt = _drop_parts(only_new, only_old) | _drop_parts(only_old, only_new)
        # Subjects are paired with subjects first, then with the rest.
        values = _take_pairs(
            only_new, only_old, lambda a, b: a.in_subject == b.in_subject and _is_rival(a, b, both)
        )
        values += _take_pairs(only_new, only_old, lambda a, b: _is_rival(a, b, both))
        # A command or a list of versions replaces the other as a whole, however many words each has.
        replaced = {token.kind for pair in values for token in pair} & _VALUE_KINDS
        only_new = [token for token in only_new if token.kind not in replaced]
        only_old = [token for token in only_old if token.kind not in replaced]
    return _Pair(
        new,
        old,
        cosine,
        shared=new.content & old.content,
        opposed=tuple(opposed),
        values=tuple(values),
        left_new=tuple(token for token in only_new if token.kind is not TokenKind.LIGHT),
        left_old=tuple(token for token in only_old if token.kind is not TokenKind.LIGHT),
        negated=_denies(new, old, partner) or _denies(old, new, partner),
        spelt=spelt,
    )


def _take_pairs(
    new: list[Token], old: list[Token], belong: Callable[[Token, Token], bool]
) -> list[tuple[Token, Token]]:
    """Move the pairs that `belong` together out of both lists, and return them."""
    pairs = []
    for mine in tuple(new):
        for theirs in old:
            if belong(mine, theirs):
                pairs.append((mine, theirs))
                new.remove(mine)
                old.remove(theirs)
                break
    return pairs


def _drop_parts(names: list[Token], words: list[Token]) -> frozenset[str]:
    """Drop words that a path or an identifier spells out, and return them: `rust-toolchain.toml` is "the toolchain file"."""
    dropped: set[str] = set()
    for name in tuple(names):
        if name.kind in (TokenKind.PATH, TokenKind.CODE):
            parts = {canonical(part) for part in re.split(r"[\W_]+", name.word)}
            spelt = [word for word in words if word.word in parts]
            if spelt:
                names.remove(name)
                words[:] = [word for word in words if word not in spelt]
                dropped.update(word.word for word in spelt)
    return frozenset(dropped)


def _is_distinctive(token: Token, statement: Statement) -> bool:
    """Return whether a word says which thing is meant: no verb, no adverb, and no noun that fits everything."""
    if token.kind is not TokenKind.WORD:  # the end of "18-alpine" belongs to its number
        return token.kind is not TokenKind.LIGHT and not (
            token.before.isdecimal() and token.surface[0] == "-"
        )
    if token.surface.endswith("ly"):
        return False
    if token.word in _GENERIC:  # "the users table", unlike "the table of the users"
        after = statement.tokens.get(canonical(token.after))
        if token.in_subject:
            return after is not None and after.in_subject
        return after is not None and after.word not in _NO_NOUNS
    is_noun = token.in_subject or token.before in _BEFORE_NOUNS
    return token.word not in _PREDICATES or is_noun


def _roles(*tools: str) -> frozenset[str]:
    """Return the words for what the tools do."""
    families = frozenset[str]().union(*(_FAMILIES_OF.get(tool, frozenset()) for tool in tools))
    return frozenset[str]().union(*(_ROLE_WORDS.get(family, frozenset()) for family in families))


def _perhaps_done(pair: _Pair) -> bool:
    return any(side.is_event or side.may_be_event for side in (pair.new, pair.old))


def _agrees(pair: _Pair) -> bool:
    """Return whether two statements that look alike agree in everything that could make them two."""
    new, old = pair.new, pair.old
    if pair.is_reversed or pair.opposed or pair.values or pair.near < AGREED or any(pair.apart):
        return False
    if (pair.left_new and pair.left_old) or any(token.surface.endswith("ly") for token in pair.left):
        return False
    if _perhaps_done(pair):
        return False
    same_sort = (new.permits, new.has_exception, new.conditions) == (
        old.permits, old.has_exception, old.conditions
    )  # fmt: skip
    same_sort &= all(new.scopes.get(scope) == old.scopes.get(scope) for scope in _NARROWING)
    if not same_sort or not pair.topic or _are_swapped(pair):
        return False
    return (
        _measures(new) == _measures(old)
        and _exact_values(new) == _exact_values(old)
        and (sum(clause.negations for clause in new.clauses) + len(new.rejected) > 0)
        == (sum(clause.negations for clause in old.clauses) + len(old.rejected) > 0)
    )


def _negations(statement: Statement) -> int:
    return sum(clause.negations for clause in statement.clauses)


def _exact_values(statement: Statement) -> frozenset[str]:
    """Return the measures and the names of tools."""
    return frozenset(
        word
        for word, token in statement.tokens.items()
        if token.kind in _MEASURES or (word in _FAMILIES_OF and word not in _PREDICATES)
    )


def _is_opposite(a: str, b: str) -> bool:
    if b in _OPPOSED.get(a, ()):
        return True
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    prefixed = (
        len(shorter) >= 3 and longer.endswith(shorter) and longer.removesuffix(shorter) in _NOT_PREFIXES
    )
    return prefixed and longer not in _NOT_NEGATED


def _is_rival(new: Token, old: Token, both: Set[str]) -> bool:
    """Return whether the two are values of one type, so that in one frame (`both`) one replaces the other."""
    if new.kind is TokenKind.NUMBER and old.kind is TokenKind.NUMBER:
        if _differ(new.before, old.before) or _differ(new.after, old.after):
            return False  # "port 80" and "version 2", "3 rows" and "3 columns"
        if {canonical(new.before), canonical(old.before)} & _IDENTITIES:
            return False  # "shard 1" and "shard 2" are two things
        if new.in_subject and old.in_subject and new.before == old.before == "":
            return False  # "404 means…" and "409 means…"
        labelled = canonical(new.before) in both or canonical(old.before) in both
        counted = new.after == old.after or canonical(new.after) == canonical(old.after)
        return labelled or counted or new.before == old.before or new.in_subject == old.in_subject
    if new.kind is old.kind and new.kind in _VALUE_KINDS:
        same_place = new.before in _PLACES and old.before in _PLACES
        same_place |= new.before == old.before == "" and not (new.in_subject or old.in_subject)
        return new.kind in _MEASURES or same_place or _is_same_slot(new.before, old.before)
    families = _FAMILIES_OF.get(new.word, frozenset()), _FAMILIES_OF.get(old.word, frozenset())
    if any(families):  # a tool has no rival but another one
        return not families[0].isdisjoint(families[1])
    if not _OWNERS.isdisjoint(both) and _is_owner(new) and _is_owner(old):
        return True
    named = (_is_name(new) and _is_name(old)) or TokenKind.CODE in (new.kind, old.kind)
    return named and _is_same_slot(new.before, old.before) and TokenKind.LIGHT not in (new.kind, old.kind)


def _differ(one: str, other: str) -> bool:
    """Return whether both are nouns, and not the same."""
    a, b = canonical(one), canonical(other)
    if _NEUTRAL & {one, other} and "port" in (one, other):
        return True
    return a != b and not any(
        word in _NO_NOUNS or not word.isalpha() or word in _PREPOSITIONS or word in _NEUTRAL
        for word in (a, b, one, other)
    )


def _is_same_slot(a: str, b: str) -> bool:
    """Return whether what follows the two words plays the same part: "with X", "by X", "uses X"."""
    return (a in _MEANS and b in _MEANS) or (a == b and a in _SLOTS)


def _is_capital(token: Token) -> bool:
    return token.surface[:1].isupper() and token.kind is TokenKind.WORD


def _is_owner(token: Token) -> bool:
    """Return whether it is the name of who owns, reviews or maintains: "Priya owns…", "…reviewed by Kenji"."""
    acts = canonical(token.after) in _OWNERS or token.after in _BE
    return _is_capital(token) and token.word not in _FAMILIES_OF and (acts or token.before in ("by", "to"))


def _is_verbal(token: Token) -> bool:
    """Return whether it looks like a form of a verb, for which the other statement may use another."""
    return token.kind is TokenKind.WORD and (token.surface.endswith("ed") or token.before in _AUXILIARIES)


def _is_name(token: Token) -> bool:
    return (
        token.kind in (TokenKind.CODE, TokenKind.PATH)
        or token.word in _FAMILIES_OF
        or (_is_capital(token) and token.before != "")
    )


def _measures(statement: Statement) -> list[str]:
    return [word for word, token in statement.tokens.items() if token.kind in _MEASURES]


def _are_swapped(pair: _Pair) -> bool:
    """Return whether subject and object are swapped: "A depends on B" and "B depends on A".

    "B is owned by A" and "A owns B" are not.
    """
    subjects = pair.new.subject, pair.old.subject
    if not all(subjects) or subjects[0] & subjects[1]:
        return False
    return any(
        not (new.in_subject or old.in_subject or new.before in _BE or old.before in _BE)
        for new, old in ((pair.new.tokens[verb], pair.old.tokens[verb]) for verb in VERBS & pair.shared)
    )


def _denies(denying: Statement, holding: Statement, partner: dict[str, str]) -> bool:
    """Return whether a clause of one denies what the other affirms more than it denies it.

    Clauses are compared, since "don't use npm, use pnpm" agrees with "use pnpm".
    """
    for clause in denying.clauses[:_MAX_CLAUSES]:
        if clause.negations % 2 == 0:
            continue
        words = {partner.get(word, word) for word in clause.words & denying.content or clause.words}
        affirmed = denied = 0
        for other in holding.clauses[:_MAX_CLAUSES]:
            if other.negations % 2 == 0:
                affirmed = max(affirmed, len((words & other.words) - holding.rejected))
            denied = max(denied, len(words & (other.words if other.negations % 2 else holding.rejected)))
        if affirmed > denied and 2 * affirmed >= len(words):
            return True
    return False


def _is_affirmed(words: frozenset[str], statement: Statement) -> bool:
    return all(
        clause.negations % 2 == 0 for clause in statement.clauses if not clause.words.isdisjoint(words)
    )


def _narrows(pair: _Pair) -> bool:
    """Return whether one only narrows the subject ("encrypted secrets", "secrets") or names where it holds."""
    extra = [token for side in pair.apart for token in side if token.kind is not TokenKind.NUMBER]
    if extra and not pair.is_substitution and all(token.in_subject for token in extra):
        return True
    return _narrows_scope(pair)


def _narrows_scope(pair: _Pair) -> bool:
    roles = frozenset[str]().union(*(_roles(new.word, old.word) for new, old in pair.values))
    return bool(pair.left) and any(
        (scope in pair.new.scopes) != (scope in pair.old.scopes)
        and not (pair.new.scopes.get(scope) or pair.old.scopes[scope]) <= roles
        for scope in _NARROWING
    )


def _has_role(pair: _Pair) -> bool:
    """Return whether the subject has a role that only one can have: "Redis is used for …", "Vite is the bundler"."""
    if not _ROLES.isdisjoint(pair.new.tokens) or not _ROLES.isdisjoint(pair.old.tokens):
        return True
    return any(
        pair.new.tokens[word].before in ("the", "our") and not pair.new.tokens[word].in_subject
        for word in pair.shared
    )


def _opposed_reason(pair: _Pair) -> str:
    new, old = pair.opposed[0]
    return f"{old.surface} / {new.surface}"


def _stance_reason(pair: _Pair) -> str:
    if pair.old.stance and pair.new.stance:
        return f"{pair.old.stance} / {pair.new.stance}"
    return f"{pair.old.stance or pair.new.stance or 'not'!r} on one side"


def _value_reason(pair: _Pair) -> str:
    new, old = pair.values[0]
    label = ""
    if new.before == old.before and canonical(new.before) in pair.shared:
        label = f"{new.before} "
    elif new.kind in _MEASURES and pair.new.subject and pair.new.subject == pair.old.subject:
        label = f"{_surface(pair.new, pair.new.subject)} "
    return f"{label}{old.surface} → {new.surface}"


def _surface(statement: Statement, words: frozenset[str]) -> str:
    return " ".join(token.surface for word, token in statement.tokens.items() if word in words)


def _sides() -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for left, right in tables.OPPOSITES:
        yield canonical_set(left), canonical_set(right)
        yield canonical_set(right), canonical_set(left)


_MAX_DIFFERENCES = 40  # longer texts cost more to pair than the pairs tell
_MAX_CLAUSES = 12
_MEASURES = frozenset({TokenKind.NUMBER, TokenKind.DURATION, TokenKind.SIZE, TokenKind.TIME})
_VALUE_KINDS = _MEASURES | {TokenKind.PATH, TokenKind.CODE}
_GENERIC = canonical_set(tables.GENERIC_NOUNS)
_PREDICATES = canonical_set(tables.PREDICATES)
_ROLE_WORDS = {family: canonical_set(words) for family, words in tables.ROLE_WORDS.items()}
_BEFORE_NOUNS = word_set(
    "the a an our your my its of for in on this that each every per any all from by with at"
)
_IDENTITIES = canonical_set(tables.IDENTITIES)
_ALSO = word_set("also too additionally besides")
# What supports one thing may support another: such a verb makes no rivals that anyone is certain of.
_ADDITIVE = canonical_set(
    "support accept include contain offer provide understand export test target".split()
)
_NEUTRAL = word_set("version number release v")  # say of a number nothing that tells it from another
_NO_NOUNS = canonical_set(tables.STOP_WORDS | tables.VERBS | tables.PREDICATES | tables.NEGATIONS)
_MEANS = word_set("with by via using use uses through run call")
_USING = canonical_set(("use", "run", "call", "install", "pick", "choose", "ever", "again"))
_PLACES = word_set("in to at on under is are was inside into within")
_SLOTS = word_set("to in on at is are from as")
_PREPOSITIONS = word_set(
    "for to in on at by with from as into onto via through before after when if under using of"
)
_BE = word_set("is are was were be been being")
_AUXILIARIES = word_set("be been must should can will")
_NARROWING = ("environment", "test kind", "platform", "side", "language")
_OWNERS = canonical_set(tables.OWNERS)
_ROLES = canonical_set(("use", "handle", "power", "replace"))
_NOT_PREFIXES = word_set("un in im ir il non dis")
_NOT_NEGATED = canonical_set(tables.NOT_NEGATED)
_OPPOSED: dict[str, set[str]] = {}
_SAME_SIDE: dict[str, set[str]] = {}
for _side, _other in _sides():
    for _word in _side:
        _OPPOSED.setdefault(_word, set()).update(_other)
        _SAME_SIDE.setdefault(_word, set()).update(_side - {_word})
_FAMILIES_OF: dict[str, frozenset[str]] = {}
for _family, _members in tables.FAMILIES.items():
    for _member in _members:
        _FAMILIES_OF[canonical(_member)] = _FAMILIES_OF.get(canonical(_member), frozenset()) | {_family}
_TOOLS_OF = {family: frozenset(members) for family, members in tables.FAMILIES.items()}
_ORDINARY = tables.PREDICATES | tables.GENERIC_NOUNS | tables.LIGHT_WORDS | tables.STOP_WORDS | tables.VERBS
