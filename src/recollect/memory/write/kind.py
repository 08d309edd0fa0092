"""Which kind a statement is if the person who makes it does not say.

An order ("Use pnpm, not npm", "Answer in British English") is a preference, and "we use", "we never" is a convention: agents
are told both at every start. "Never run git push --force" also stops an agent that is about to do so. What is none of these
clearly stays a fact, which is told when it fits the task.
"""

import re

from recollect.kinds import DEFAULT
from recollect.memory.judgement.word_tables import COMMANDS, VERBS
from recollect.memory.write.forbidden import forbidden_commands

_LONGEST = 400  # characters that are looked at; the beginning tells
_WORD = re.compile(r"\w[\w'’/.-]*")
_POLITE = frozenset("please ok okay also and but so remember that note btw".split())
# What comes before a correction: "No, use pnpm", "actually use spaces", "from now on, run ruff"; but not "no globals", "wait for CI".
_CORRECTING = re.compile(
    r"(?:(?:no|nope|wait|sorry|correction)\s?[,:;.!–—-]\s?|(?:actually|instead|from now on|in future)\b[,:]?\s?){1,3}"
)
# A statement that begins with one of these is an order…
_ORDERS = frozenset("use prefer always never avoid".split())
_NOT = frozenset("don't don’t dont not".split())
# …and one that begins with another verb is, if one of these follows, or if no verb follows: "Test the API first" is an
# order, "Test data is in S3" is not.
_AFTER_A_VERB = frozenset(
    "a an the all any every each no my our your this these in on at to with without by from for before after only it them"
    " me us everything nothing new sure".split()
)
_FINITE = frozenset(
    "is are was were be has have had does do did can could will would must should may might isn't aren't wasn't hasn't doesn't"
    " can't won't isn’t aren’t doesn’t can’t won’t comes goes".split()
)
_VERBS = VERBS | COMMANDS | {"answer", "ask", "stick", "explain", "show"}
_WE_DO = frozenset(
    "use prefer always never avoid only don't don’t dont do keep write put run name follow stick".split()
)
_WE_DECIDED = frozenset("decided chose agreed settled picked".split())
_I_LIKE = frozenset("prefer like want hate dislike always never love".split())


def kind_in(text: str) -> str:
    """Return the kind of a person's statement, by how it begins."""
    if forbidden_commands(text):
        return "negative"
    beginning = text[:_LONGEST].lstrip().partition("\n")[0].lower()
    if before := _CORRECTING.match(beginning):
        beginning = beginning[before.end() :]
    words = [word.rstrip("'’/.-") for word in _WORD.findall(beginning)]
    while words and words[0] in _POLITE:
        del words[0]
    if len(words) < 2:
        return DEFAULT
    first, second = words[:2]
    if first == "we":
        return "decision" if second in _WE_DECIDED else "convention" if second in _WE_DO else DEFAULT
    if (first == "i" and second in _I_LIKE) or _is_order(words):
        return "preference"
    return DEFAULT


def _is_order(words: list[str]) -> bool:
    first, second, *others = words
    if first in _NOT or (first == "do" and second == "not"):
        return True
    if first in _ORDERS:
        return second != "of" and second not in _FINITE
    if first not in _VERBS:
        return False
    return second in _AFTER_A_VERB or not any(map(_is_verb, (second, *others)))


def _is_verb(word: str) -> bool:
    return (
        word in _FINITE
        or word in VERBS
        or word.removesuffix("s") in VERBS
        or word.removesuffix("es") in VERBS
    )
