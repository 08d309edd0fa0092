"""What two statements differ in, by the part it plays: what they are about, what they say of it, and with which verb."""

from collections.abc import Sequence

from recollect.frozen import frozen
from recollect.memory.judgement import word_tables as tables
from recollect.memory.judgement.comparison import NEAR
from recollect.memory.judgement.meaning import is_plain, unexplained
from recollect.memory.judgement.pair import BE, GENERIC, MEANS, Pair
from recollect.memory.judgement.statement import Statement, Token, TokenKind, canonical_set, word_set
from recollect.memory.judgement.tools import FAMILIES_OF, PREDICATES


@frozen
class Residue:
    """The words of one statement that the other does not explain."""

    about: tuple[Token, ...]  # nouns of the subject
    values: tuple[Token, ...]  # nouns of what is said
    verbs: tuple[Token, ...]


@frozen
class Frames:
    """The residues of two statements, and whether the rest of them is one frame."""

    new: Residue
    old: Residue
    same_subject: (
        bool  # a word that says what both are about is in the subject of both, or of one and in the other
    )

    @property
    def substitution(self) -> tuple[Token, Token] | None:
        """Return the value of each, new and old, if they differ in it alone and it stands in the same slot."""
        apart = self.new.about or self.old.about or self.new.verbs or self.old.verbs
        if apart or not self.same_subject or max(len(self.new.values), len(self.old.values)) > 2:
            return None
        for new in self.new.values:
            for old in self.old.values:
                part = _slot_class(new)
                if part and part == _slot_class(old) and (part == "is" or _are_kindred(new.word, old.word)):
                    return new, old
        return None


def frames(pair: Pair) -> Frames:
    """Return what the two differ in."""
    lefts = zip(unexplained(pair), (pair.left_new, pair.left_old), strict=True)
    # "Migrations of shipping" says which, whatever "shipping" may mean elsewhere.
    new, old = (_residue(list(dict.fromkeys((*rest, *filter(_is_of, left))))) for rest, left in lefts)
    return Frames(new, old, _is_same_subject(pair))


def overlap(pair: Pair) -> float:
    """Return which share of the older statement the newer speaks of, in its own words or in others."""
    return _explained(pair.old, unexplained(pair)[1])


def is_same_matter(pair: Pair) -> bool:
    """Return whether two statements are so near or so short that what they share is what they are about.

    Of 2,565 memories of nine projects, 143 pairs of neighbours had a word and a "not" or a number for a contradiction; this
    leaves 50, and 176 of 178 contradictions that were written as such.
    """
    if pair.near >= NEAR:
        return True
    statements = pair.new, pair.old
    shares = [_explained(side, left) for side, left in zip(statements, unexplained(pair), strict=True)]
    if max(len(side.content) for side in statements) > SHORT:
        return False
    return min(shares) >= SHARED or (max(shares) == 1 and min(shares) >= SHARED_BY_ALL)


def _explained(statement: Statement, left: Sequence[Token]) -> float:
    """Return the share of the words of a statement that are not `left`."""
    words = [word for word, token in statement.tokens.items() if token.kind is not TokenKind.LIGHT]
    return 1 - sum(not is_plain(token) for token in left) / max(1, len(words))


def _residue(left: Sequence[Token]) -> Residue:
    words = [token for token in left if token.word not in GENERIC or _is_of(token)]
    nouns = [token for token in words if _is_noun(token)]
    return Residue(
        tuple(token for token in nouns if token.in_subject),
        tuple(token for token in nouns if not token.in_subject),
        tuple(token for token in words if token not in nouns),
    )


def _is_of(token: Token) -> bool:
    return token.in_subject and token.before == "of"


def _is_noun(token: Token) -> bool:
    if token.surface.endswith("ed") and token.before in BE:  # "is cleaned by the job"
        return False
    if token.in_subject:  # the verb ends the subject: "shipping" is a thing in "shipping publishes…"
        return True
    return token.word not in PREDICATES or token.before in _BEFORE_NOUNS


def _is_same_subject(pair: Pair) -> bool:
    new, old = pair.new.subject & pair.topic, pair.old.subject & pair.topic
    return bool(new & old) or (bool(new) and bool(old))


def _are_kindred(new: str, old: str) -> bool:
    """Return whether neither is a tool of a sort that cannot take the place of the other: MongoDB is no language."""
    groups = [FAMILIES_OF.get(word, frozenset()) for word in (new, old)]
    if not all(groups) or groups[0] & groups[1]:
        return True
    return all(group & _HOLD_DATA for group in groups)


def _slot_class(token: Token) -> str:
    """Return what sort of part the word plays: the place, the means, or what something is."""
    if token.slot in _PLACES:
        return "place"
    if token.slot in _ENDS and not token.after:
        return token.slot
    if token.slot in MEANS:
        return "means"
    return "is" if token.slot in BE or token.slot in ("=", ":") else ""


SHARED = (
    0.5  # share of the words of each that two statements have in common, if they are far apart in meaning
)
SHARED_BY_ALL = 0.3  # the same, if one of them says nothing else: "never use npm"
SHORT = 8  # words with a meaning of their own: in longer texts, some are in common by chance
ADDITIVE = canonical_set(tables.TO_SEVERAL)
_HOLD_DATA = frozenset(tables.HOLD_DATA)
_PLACES = word_set("in on at inside within under into")
_ENDS = word_set("to from")  # of a statement: "crash reports go to X", unlike "calls from X are retried"
_BEFORE_NOUNS = word_set("the a an our your my its of for in on")
