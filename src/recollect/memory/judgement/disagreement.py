"""Rules by which two statements contradict each other, or only seem to."""

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.certainty import (
    denies_no_more,
    has_other_condition,
    holds_in_the_same_case,
    is_over,
    says_nothing_else,
    takes_one_value,
)
from recollect.memory.judgement.comparison import AGREED, Comparison
from recollect.memory.judgement.frame import frames, overlap
from recollect.memory.judgement.meaning import adding, is_plain, unexplained
from recollect.memory.judgement.pair import (
    MEANS,
    MEASURES,
    NARROWING,
    Pair,
    is_name,
    is_owner,
)
from recollect.memory.judgement.statement import (
    LANGUAGES,
    Revision,
    Statement,
    Token,
    TokenKind,
    canonical,
    canonical_set,
    word_set,
)
from recollect.memory.judgement.tools import FAMILIES_OF, USING, banned, role_words

# Both limits come from 1,080 groups of statements by nine authors (`bench/data/groups.jsonl`), each with one that says the same, two that
# contradict it and two that do neither. Where more words are left unexplained, 8 of 14 that one statement ended the other were right.
MOST_UNEXPLAINED = 4
# "Use pnpm, not npm" names one thing more, and holds for each statement that uses npm, whatever else that says.
BARE_BAN = 1
# Statements of so many content words have clauses of their own: of 96 pairs in which one has a "not" more, 21 contradicted each other.
SEVERAL_CLAUSES = 6


def exception(pair: Pair) -> Comparison | None:
    if pair.new.has_exception != pair.old.has_exception:
        return Comparison(StatementRelation.RELATED, "an exception to a rule", certain=True)
    if bool(pair.new.conditions) != bool(pair.old.conditions) and pair.is_reversed:
        return Comparison(StatementRelation.RELATED, "one holds only in a case", certain=True)
    left = unexplained(pair)[0 if pair.new.permits else 1]
    narrower = [token for token in left if token.word not in _PERMISSIONS]
    if pair.new.permits != pair.old.permits and narrower and pair.is_reversed:
        return Comparison(StatementRelation.RELATED, "a permission for some cases", certain=False)
    return None


def question(pair: Pair) -> Comparison | None:
    """A question states nothing."""
    if pair.new.is_question != pair.old.is_question:
        return Comparison(StatementRelation.RELATED, "one only asks", certain=True)
    return None


def other_order(pair: Pair) -> Comparison | None:
    """Each puts first what the other puts last: "the API before the worker", "the worker before the API"."""
    for earlier, later in pair.new.sequences:
        for first, last in pair.old.sequences:
            moved_back, moved_up = (earlier & last) - first, (later & first) - last
            if moved_back and moved_up:
                reason = (
                    f"{_surface(pair.old, moved_up)} before {_surface(pair.old, moved_back)} / the other way"
                )
                return Comparison(StatementRelation.CONTRADICTION, reason, certain=not pair.left)
    return _other_steps(pair)


def _other_steps(pair: Pair) -> Comparison | None:
    """Both tell the same steps, in another order: "first A, then B"."""
    orders = [
        [word for word in side.tokens if word in pair.shared and word not in _STEPS]
        for side in (pair.new, pair.old)
    ]
    told = [side.lowers for side in (pair.new, pair.old)]
    in_steps = any(_STEPS & lowers for lowers in told) and all(_STEPS_OR_BEFORE & lowers for lowers in told)
    if pair.left or not in_steps or orders[0] == orders[1]:
        return None
    return Comparison(StatementRelation.CONTRADICTION, "the same steps in another order", certain=False)


def not_only(pair: Pair) -> Comparison | None:
    """One says that something is all, the other that there is more: "only for caching", "also holds the sessions"."""
    for limiting, wider in ((pair.new, pair.old), (pair.old, pair.new)):
        more = not wider.lowers.isdisjoint(_ALSO)
        if (
            more
            and "only" in limiting.tokens
            and pair.topic & limiting.subject
            and pair.topic & wider.subject
        ):
            return Comparison(StatementRelation.CONTRADICTION, "'only' / 'also'", certain=False)
    return None


def other_scope(pair: Pair) -> Comparison | None:
    for scope, words in pair.new.scopes.items():
        others = pair.old.scopes.get(scope, frozenset())
        if others and words.isdisjoint(others):
            reason = f"another {scope}: {_surface(pair.old, others)} / {_surface(pair.new, words)}"
            return Comparison(StatementRelation.RELATED, reason, certain=True)
    return None


def ended(pair: Pair) -> Comparison | None:
    """One treats as current what the other says is over."""
    for denying, holding in ((pair.new, pair.old), (pair.old, pair.new)):
        over = denying.rejected - holding.rejected
        if not over or not over <= holding.content or not _is_affirmed(over, holding):
            continue
        rest = pair.shared - over
        is_named = any(denying.tokens[word].in_subject and is_name(holding.tokens[word]) for word in over)
        if rest or is_named or 2 * len(over) >= len(holding.content):
            same_thing = bool(rest) and not pair.are_two_things and denying is pair.new
            certain = (denying is pair.new and _has_changed_places(denying, holding)) or (
                (same_thing or over <= banned(denying))
                and denies_no_more(denying, holding, over)
                and len(holding.clauses) == 1  # of several, another may say that it is over, in words unknown
                and len(pair.left) <= MOST_UNEXPLAINED
            )
            return Comparison(
                StatementRelation.CONTRADICTION, f"{_surface(denying, over)!r} is over", certain=certain
            )
    return None


def _has_changed_places(new: Statement, old: Statement) -> bool:
    """Return whether what one wants is what the other rejects, in the same words: "npm, not pnpm" and "pnpm, not npm"."""
    return bool(old.rejected) and new.content == old.content and new.rejected.isdisjoint(old.rejected)


def moved(pair: Pair) -> Comparison | None:
    """The newer says that the same thing has gone elsewhere: "session data has moved to X"."""
    same = pair.new.subject == pair.old.subject and not pair.topic.isdisjoint(pair.new.subject)
    if not same or pair.values or pair.is_reversed or "to" not in pair.new.lowers:
        return None
    if not _says_change(pair.new) or _says_change(pair.old) or _narrows_scope(pair):
        return None
    places = [next(filter(is_name, left), None) for left in (pair.left_old, pair.left_new)]
    if places[0] is None or places[1] is None:
        return None
    reason = f"moved: {places[0].surface} → {places[1].surface}"
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=False)


def _says_change(statement: Statement) -> bool:
    """Return whether something moves or changes, unlike "publishes its changes"."""
    words = _CHANGES & statement.tokens.keys()
    return any(statement.tokens[word].before not in _BEFORE_NOUNS for word in words)


def banned_tool(pair: Pair) -> Comparison | None:
    """One rules out a tool that the other uses: "use pnpm, not npm" and "`npm run build` builds the project"."""
    reversal = polarity(pair)
    denied = reversal is not None and reversal.relation is StatementRelation.CONTRADICTION
    if _narrows_scope(pair) or (reversal is not None and denied and reversal.certain):
        return None
    for ruling, using in ((pair.new, pair.old), (pair.old, pair.new)):
        for word in sorted(banned(ruling) & using.tokens.keys() - banned(using) - using.rejected):
            token = using.tokens[word]
            is_used = token.kind is TokenKind.CODE or token.before in MEANS or using.imperative == word
            if is_used and _is_affirmed(frozenset({word}), using):
                left = pair.left_new if ruling is pair.new else pair.left_old
                is_explained = len(pair.left) <= MOST_UNEXPLAINED or len(left) <= BARE_BAN
                certain = denies_no_more(ruling, using, frozenset({word})) and is_explained
                reason = f"{token.surface} is not to be used"
                return Comparison(StatementRelation.CONTRADICTION, reason, certain=certain)
    return None


def other_thing(pair: Pair) -> Comparison | None:
    """The value that differs is the subject ("src/a.py is generated"), not what is said about it."""
    for new, old in pair.values:
        is_means = new.before in MEANS and old.before in MEANS  # no verb was found: "services log with X"
        if new.in_subject and old.in_subject and not is_means:
            another = new.kind in (TokenKind.PATH, TokenKind.CODE)
            plays_no_part = (
                new.word in FAMILIES_OF
                and new.word not in _DAYS
                and (len(pair.values) > 1 or not _has_role(pair))
            )
            if another or plays_no_part:
                return Comparison(
                    StatementRelation.RELATED, f"another thing: {old.surface} / {new.surface}", certain=False
                )
    return None


def polarity(pair: Pair) -> Comparison | None:
    if not pair.is_reversed or (not pair.shared and (pair.left or not pair.opposed)):
        return None
    if _are_two_commands(pair):
        return Comparison(StatementRelation.RELATED, f"two commands, {_opposed_reason(pair)}", certain=False)
    if pair.values and not pair.opposed:
        return Comparison(
            StatementRelation.RELATED, f"'not' is said of another: {_value_reason(pair)}", certain=False
        )
    if any(new.in_subject and old.in_subject and new.kind in MEASURES for new, old in pair.values):
        return Comparison(StatementRelation.RELATED, f"two things: {_value_reason(pair)}", certain=False)
    if _may_deny_something_else(pair) and not pair.opposed:
        return _denied_clause(pair)
    # "Needs two approvals" is denied by "needs no approval": the number does not matter.
    fewer, more = sorted(sum(token.kind is not TokenKind.NUMBER for token in left) for left in adding(pair))
    if fewer > (len(pair.shared) >= 4) or more > 2 * len(pair.shared):
        return _denied_clause(pair)
    if _narrows(pair) or _is_restricted(pair):
        return revised(pair) or Comparison(StatementRelation.RELATED, "a case of its own", certain=False)
    reason = _opposed_reason(pair) if pair.opposed else _stance_reason(pair)
    ordered = any(
        {new.word, old.word} == {pair.new.imperative, pair.old.imperative} for new, old in pair.opposed
    )
    same = says_nothing_else(pair) or is_over(pair)
    turned = pair.is_turned or _stand_in_other_order(pair)
    of_some = "without" in pair.new.lowers ^ pair.old.lowers  # "files with no extension" says which files
    optional = any(
        token.before in _ALLOWS for words in pair.opposed for token in words
    )  # "allow disabling X"
    limit = not _LIMITS.isdisjoint(
        pair.new.lowers ^ pair.old.lowers
    )  # "never more than two times" denies no "twice"
    certain = (
        same and not (ordered or turned or of_some or optional or limit) and holds_in_the_same_case(pair)
    )
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=certain)


def _may_deny_something_else(pair: Pair) -> bool:
    """Return whether both are so long that a "not" may belong to what only one of them says."""
    return min(len(pair.new.tokens), len(pair.old.tokens)) >= SEVERAL_CLAUSES and bool(pair.left)


def _stand_in_other_order(pair: Pair) -> bool:
    """Return whether what both name stands in another order: "the API calls the worker", "the worker never calls the API"."""
    places = {word: place for place, word in enumerate(pair.old.tokens)}
    order = [places[word] for word in pair.new.tokens if word in places and word in pair.new.content]
    return order != sorted(order)


def _are_two_commands(pair: Pair) -> bool:
    """Return whether they say how to do a thing and its opposite: "start it with `up`", "stop it with `down`"."""
    orders = {pair.new.imperative, pair.old.imperative}
    opposed = any({new.word, old.word} == orders for new, old in pair.opposed)
    return opposed and all(
        any(token.kind is TokenKind.CODE for token in statement.tokens.values())
        for statement in (pair.new, pair.old)
    )


def _denied_clause(pair: Pair) -> Comparison | None:
    """A whole clause of one denies what the other affirms, whatever else they say."""
    for denying, holding in ((pair.new, pair.old), (pair.old, pair.new)):
        for clause in denying.clauses:
            whole = len(clause.words) > 1 and clause.words <= holding.tokens.keys()
            if whole and clause.negations % 2 == 1 and _is_affirmed(clause.words, holding):
                return Comparison(
                    StatementRelation.CONTRADICTION, f"not {_surface(denying, clause.words)!r}", certain=False
                )
    return None


def other_value(pair: Pair) -> Comparison | None:
    if not pair.values:
        return None
    reason = _value_reason(pair)
    names = all(new.kind not in MEASURES for new, _ in pair.values)
    denials = [any(clause.negations for clause in side.clauses) for side in (pair.new, pair.old)]
    # "PyPy 3.8 is not supported", "PyPy 3.9 is not supported"
    subjects = all(new.in_subject and old.in_subject for new, old in pair.values)
    if (names and any(denials)) or (subjects and all(denials) and "without" not in pair.new.lowers):
        each = Comparison(StatementRelation.RELATED, f"each rules out its own: {reason}", certain=False)
        return revised(pair) or each
    orders = {pair.new.imperative, pair.old.imperative}
    two_orders = len(orders - USING) == 2 and "" not in orders and not _are_plain_values(pair)
    owners = any(is_owner(new) and is_owner(old) for new, old in pair.values) and any(pair.apart)
    numbered = len(pair.values) > 1 and any(
        new.kind in MEASURES and new.in_subject and old.in_subject for new, old in pair.values
    )  # "API v1 returns XML", "API v2 returns JSON"
    languages = len(pair.values) > 1 and any(
        new.word in LANGUAGES and new.slot == old.slot and new.slot in ("in", "for")
        for new, old in pair.values
    )  # "camelCase in TypeScript", "snake_case in Python"
    if pair.are_two_things or numbered or two_orders or owners or languages or _narrows_scope(pair):
        another = Comparison(StatementRelation.RELATED, f"another matter: {reason}", certain=not pair.shared)
        return revised(pair) or another
    if not pair.shared and pair.topic <= LANGUAGES and all(new.kind in MEASURES for new, _ in pair.values):
        return Comparison(StatementRelation.RELATED, f"of other things: {reason}", certain=False)
    if _have_other_roles(pair):
        return Comparison(StatementRelation.RELATED, f"for another purpose: {reason}", certain=False)
    in_role = _both_in_role(pair)
    if not pair.topic and not in_role and pair.left:
        return None
    only_named = max(len(pair.new.tokens), len(pair.old.tokens)) <= 2  # "axum 0.8.9"
    if only_named and not in_role and all(_is_identifier(side) for two in pair.values for side in two):
        # "use div_ceil", "use is_sorted"
        return Comparison(StatementRelation.RELATED, f"two names of code: {reason}", certain=False)
    if (pair.left or only_named) and not (pair.new.claims and pair.old.claims):
        return Comparison(StatementRelation.RELATED, f"only named: {reason}", certain=False)
    others = _other_code(pair)
    if all(others):  # "replace `a` with `b`", "replace `c` with `d`"
        return Comparison(StatementRelation.RELATED, f"said of other code: {reason}", certain=False)
    if not _ALSO.isdisjoint((*pair.new.lowers, *pair.old.lowers)):
        return Comparison(StatementRelation.RELATED, f"both hold: {reason}", certain=False)
    additive = not _ADDITIVE.isdisjoint(pair.new.tokens.keys() | pair.old.tokens.keys())
    if additive and _is_added(pair):
        return Comparison(StatementRelation.RELATED, f"both may hold: {reason}", certain=False)
    certain = says_nothing_else(pair) and not additive and _is_stated(pair, orders)
    certain = certain and takes_one_value(pair) and holds_in_the_same_case(pair) and not any(others)
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=certain)


def are_two_orders(pair: Pair, rule: str) -> bool:
    """Return whether both only say what to do, and the later does not take back the earlier.

    Subjects of commits look like this, and each was done: "use `clone_from` in one test", "use `clone_from` in another". To take it
    back, one must do away with what the other names, say its opposite in the same words, or name a rival of its tool or another amount.
    """
    if rule in _DOES_AWAY:
        return False
    orders = [order for order in (pair.new.order, pair.old.order) if order is not None]
    if len(orders) < 2:  # "work around a bug of tox" states nothing that could change
        return rule == "revised" and bool(orders and orders[0]) and orders[0] not in _RULED | _ASKED
    if rule == "polarity":
        return bool(pair.left) or any(_is_undone(new, old) for new, old in pair.opposed)
    return rule != "other value" or not all(_is_taken_back(new, old, orders) for new, old in pair.values)


def _is_undone(new: Token, old: Token) -> bool:
    """Return whether one says to do what the other says to undo: "pin Sphinx", "unpin Sphinx". "Disable caching" says what is to hold."""
    return not new.before and not old.before and _HOLDS.isdisjoint((new.word, old.word))


def _is_taken_back(new: Token, old: Token, orders: list[str]) -> bool:
    shared = FAMILIES_OF.get(new.word, frozenset()) & FAMILIES_OF.get(old.word, frozenset())
    # "Suppress warnings", "suppress errors": of several, a level is what is logged.
    if shared - {"log level"} or (shared and not (new.surface.endswith("s") and old.surface.endswith("s"))):
        return True
    if orders == ["", ""]:  # "Postgres 15 with chunks of 7 days"
        return new.kind in MEASURES
    if _RULED.isdisjoint(orders):
        return False
    return (_is_command(new) and _is_command(old)) or _is_amount_of(new, old)


def _is_command(token: Token) -> bool:
    """Return whether the code is something to run, unlike the name of a class or a function, of which several are used."""
    is_name = not _IN_NAMES.isdisjoint(token.surface) or token.surface != token.surface.lower()
    return token.kind is TokenKind.CODE and not is_name


def _is_amount_of(new: Token, old: Token) -> bool:
    """Return whether both are amounts, or versions of a known tool: of other things, each release is used in turn."""
    if new.kind not in MEASURES:
        return False
    is_version = any("." in token.surface for token in (new, old))
    return not is_version or canonical(new.before) in FAMILIES_OF


def _is_identifier(token: Token) -> bool:
    return token.kind is TokenKind.CODE and "_" in token.word


def _other_code(pair: Pair) -> tuple[set[str], set[str]]:
    """Return the identifiers and paths in which only the newer, and only the older, speaks of something, besides the values."""
    values = {token.word for pairs in pair.values for token in pairs}
    new, old = (
        {
            word
            for word, token in side.tokens.items()
            if token.kind in (TokenKind.CODE, TokenKind.PATH) and not _PARTS_OF_NAMES.isdisjoint(word)
        }
        for side in (pair.new, pair.old)
    )
    return new - old - values, old - new - values


def substituted(pair: Pair) -> Comparison | None:
    """They differ in one word or name, in the same place of the same frame: "ids are integers", "an id is a UUID"."""
    if not _may_be_rivals(pair) or pair.near < SUBSTITUTED:
        return None
    changed = frames(pair).substitution
    if changed is None:
        return None
    new, old = changed
    return Comparison(StatementRelation.CONTRADICTION, f"{old.surface} / {new.surface}", certain=False)


def revised(pair: Pair) -> Comparison | None:
    """The newer says of itself that something changed, and speaks of what the older states: "actually…", "from now on…"."""
    if pair.new.revision is Revision.NONE or pair.old.revision is not Revision.NONE or not pair.topic:
        return None
    done_without = pair.new.rejected & pair.old.tokens.keys()
    if pair.new.rejected & pair.old.rejected or not _is_affirmed(done_without, pair.old):
        return None  # both say what to do without
    if has_other_condition(pair) or any(pair.new.scopes.get(s) != pair.old.scopes.get(s) for s in NARROWING):
        return None
    taken_back = pair.new.revision is Revision.CORRECTION
    apart = frames(pair)
    says_more = apart.new.values or apart.new.about or apart.new.verbs
    replaces = apart.same_subject and apart.new.values and apart.old.values and not apart.new.about
    least = TAKEN_BACK if taken_back else REPLACED if replaces else CHANGED
    if not says_more or overlap(pair) < least:
        return None
    if apart.new.about and apart.old.about and not taken_back:
        return None
    topic = _surface(pair.old, pair.topic)
    reason = f"{pair.new.revision_words!r} about {topic!r}"
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=False, rule="revised")


def denied(pair: Pair) -> Comparison | None:
    """One denies what the other affirms in other words, and neither is about something else or a narrower case."""
    if not pair.is_reversed or not pair.topic or has_other_condition(pair) or _may_deny_something_else(pair):
        return None
    if any(pair.new.scopes.get(s) != pair.old.scopes.get(s) for s in NARROWING) or _is_restricted(pair):
        return None
    new, old = pair.new.subject, pair.old.subject
    if new & old and new - old and old - new:  # "feature branches", "long-lived branches"
        return None
    if not pair.opposed and all(
        any(clause.negations % 2 for clause in side.clauses) for side in (pair.new, pair.old)
    ):
        return (
            None  # both forbid: "never edit generated files", "src/gen is generated, it must not be changed"
        )
    apart = frames(pair)
    if apart.new.about or apart.old.about or (apart.new.values and apart.old.values) or _narrows(pair):
        return None
    if any(token.slot == "for" for token in (*apart.new.values, *apart.old.values)):  # only for some
        return None
    if overlap(pair) < DENIED:
        return None
    reason = _opposed_reason(pair) if pair.opposed else _stance_reason(pair)
    return Comparison(StatementRelation.CONTRADICTION, reason, certain=False)


def _may_be_rivals(pair: Pair) -> bool:
    """Return whether nothing says that both hold: no other case, scope or permission, and no "also"."""
    new, old = pair.new, pair.old
    if pair.is_reversed or pair.opposed or has_other_condition(pair) or new.permits != old.permits:
        return False
    if any(new.scopes.get(scope) != old.scopes.get(scope) for scope in NARROWING):
        return False
    return (new.lowers | old.lowers).isdisjoint(_ALSO)


def _is_added(pair: Pair) -> bool:
    """Return whether one starts with the verb of what may have several, or both say "support"."""
    if pair.new.revision is not Revision.NONE or not _ALL.isdisjoint(pair.new.lowers | pair.old.lowers):
        return False
    return pair.new.imperative in _ADDITIVE or pair.old.imperative in _ADDITIVE or pair.shared >= _SUPPORT


def _is_stated(pair: Pair, orders: set[str]) -> bool:
    """Return whether both say what holds, and not what to do once."""
    return all(new.word in FAMILIES_OF for new, _ in pair.values) or orders <= {"", *USING}


def _are_plain_values(pair: Pair) -> bool:
    """Return whether the values that differ are tools of one family or measures, not commands or paths."""
    return all(new.kind in MEASURES or new.word in FAMILIES_OF for new, _ in pair.values)


def _have_other_roles(pair: Pair) -> bool:
    """Return whether each tool is to do something else: "use black to format", "use ruff to lint"."""
    roles = frozenset[str]().union(*(role_words(new.word, old.word) for new, old in pair.values))
    purposes = [
        {token.word for token in left if token.word in roles and token.slot == "to"}
        for left in (pair.left_new, pair.left_old)
    ]
    return all(purposes)


def _both_in_role(pair: Pair) -> bool:
    """Return whether both say what a tool of one family does: "the pipelines run on Jenkins", "CI is GitHub Actions"."""
    return any(
        roles & pair.new.tokens.keys() and roles & pair.old.tokens.keys()
        for new, old in pair.values
        if (roles := role_words(new.word) & role_words(old.word))
    )


def _is_affirmed(words: frozenset[str], statement: Statement) -> bool:
    return all(
        clause.negations % 2 == 0 for clause in statement.clauses if not clause.words.isdisjoint(words)
    )


def _is_restricted(pair: Pair) -> bool:
    """Return whether one is only about some of what the other is about: "jobs that were cancelled"."""
    for one, other, left in ((pair.new, pair.old, pair.left_new), (pair.old, pair.new, pair.left_old)):
        words = {token.word for token in left}
        if words and words <= one.restrictions and other.restrictions.isdisjoint(one.restrictions):
            return True
    return False


def _narrows(pair: Pair) -> bool:
    """Return whether one only narrows the subject ("encrypted secrets", "secrets") or names where it holds."""
    plain = is_plain if pair.near >= AGREED else lambda token: False
    extra = [
        token
        for side in pair.apart
        for token in side
        if token.kind is not TokenKind.NUMBER and not plain(token)
    ]
    if extra and not pair.is_substitution and all(token.in_subject for token in extra):
        return True
    return _narrows_scope(pair)


def _narrows_scope(pair: Pair) -> bool:
    roles = frozenset[str]().union(*(role_words(new.word, old.word) for new, old in pair.values))
    return bool(pair.left) and any(
        (scope in pair.new.scopes) != (scope in pair.old.scopes)
        and not (pair.new.scopes.get(scope) or pair.old.scopes[scope]) <= roles
        for scope in NARROWING
    )


def _has_role(pair: Pair) -> bool:
    """Return whether the subject has a role that only one can have: "Redis is used for …", "Vite is the bundler"."""
    if not _ROLES.isdisjoint(pair.new.tokens) or not _ROLES.isdisjoint(pair.old.tokens):
        return True
    return any(
        pair.new.tokens[word].before in ("the", "our") and not pair.new.tokens[word].in_subject
        for word in pair.shared
    )


def _opposed_reason(pair: Pair) -> str:
    new, old = pair.opposed[0]
    return f"{old.surface} / {new.surface}"


def _stance_reason(pair: Pair) -> str:
    if pair.old.stance and pair.new.stance:
        return f"{pair.old.stance} / {pair.new.stance}"
    return f"{pair.old.stance or pair.new.stance or 'not'!r} on one side"


def _value_reason(pair: Pair) -> str:
    new, old = pair.values[0]
    label = ""
    if new.before == old.before and canonical(new.before) in pair.shared:
        label = f"{new.before} "
    elif new.kind in MEASURES and pair.new.subject and pair.new.subject == pair.old.subject:
        label = f"{_surface(pair.new, pair.new.subject)} "
    return f"{label}{old.surface} → {new.surface}"


def _surface(statement: Statement, words: frozenset[str]) -> str:
    return " ".join(token.surface for word, token in statement.tokens.items() if word in words)


_IN_NAMES = frozenset("_.()")
_DOES_AWAY = ("ended", "banned tool", "other order")
_HOLDS = canonical_set(
    "enable disable allow forbid permit keep avoid prefer accept reject include exclude skip require use activate deactivate".split()
)
_ASKED = canonical_set("ask talk call contact tell consult notify deploy build follow prefer".split())
_RULED = canonical_set("use run keep set put write limit maximum minimum retry cache".split())
SUBSTITUTED = 0.6  # cosine from which two statements in one frame are about the same
DENIED = 0.6  # share of the older statement that a denial must speak of
TAKEN_BACK = 0.3  # share of the older statement that a correction must speak of
REPLACED = 0.5  # the same for "now" with another value of the same subject
CHANGED = 0.6  # the same for "now" and "from now on", which are said of many things
_PARTS_OF_NAMES = frozenset("_/")
_DAYS = canonical_set(tables.FAMILIES["day"])
_ALLOWS = word_set("allow allows support supports permit permits")
_ALSO = word_set("also too additionally besides")
# What supports one thing may support another: such a verb makes no rivals that anyone is certain of.
_ADDITIVE = canonical_set(
    "support accept include contain offer provide understand export test target".split()
)
_CHANGES = canonical_set(tables.CHANGES)
_SUPPORT = canonical_set(("support",))
_ALL = word_set("only all minimum maximum max least most default")
_BEFORE_NOUNS = word_set("the a an its our their your all any no of")
_PERMISSIONS = canonical_set(tables.PERMISSIONS)
_ROLES = canonical_set(("use", "handle", "power", "replace"))
_LIMITS = word_set("than above below beyond")
_STEPS = word_set("first then finally afterwards lastly → ->")
_STEPS_OR_BEFORE = _STEPS | word_set("before")
