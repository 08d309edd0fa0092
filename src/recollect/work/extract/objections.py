"""Whether a user objects to what an agent did: "don't uninstall without asking", "you shouldn't need sudo", "undo that".

A remark, a question or the next task may name the same things: only what a message clearly forbids counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.text.sentences import is_question, prose, sentences
from recollect.work.extract.commands import parse

_MAX_MESSAGE = 2000  # characters; longer ones are specifications and pastes

# What is forbidden stands after these words; what comes after "without" or "use" is wanted.
_CLAUSE = r"(?:^|[,;:.!?–—-]\s|\b(?:please|pls|but|and|so|ok|okay|just|hey|again|(?<!if\s)(?<!when\s)(?<!that\s)(?:you|we))\s)"
_WHAT = r"""\s(?P<what>.+?)(?=[,;:!?–—]|\.(?:\s|$)|\s(?:without|unless|except|but|use|instead(?!\sof)|because|until)\b|$)"""
_FORBIDS_DOING = re.compile(
    rf"""{_CLAUSE}(?:don't | do\snot | dont | never(?!\s?mind) | (?:must|should|may)\s?not | mustn't | shouldn't | can(?:'t|\s?not)(?:(?<=we\scan't)|(?<=we\scannot)|(?=\s(?:just|simply)\b)) | (?:stop|quit)(?=\s\w+ing\b)
        | why\s(?:did|would|do|are|have)\syou(?!\s(?:think|need)\b) | (?:ask|check\swith|tell)\s(?:me|us|\w+)\s(?:first\s)?before ){_WHAT}""",
    re.VERBOSE | re.IGNORECASE,
)
_FORBIDS_NAME = re.compile(
    rf"""{_CLAUSE}(?:hands\soff | (?:keep|stay)\saway\sfrom | avoid | no(?:\smore)?){_WHAT} | \b(?:instead\sof|rather\sthan){_WHAT.replace("what", "instead")}
      | ^(?P<subject>[^,;:]{{3,60}}?)\s(?:is|are)\s(?:not\sallowed|forbidden|off[ -]limits|a\sno-go|never\s(?:ok|okay|fine))""",
    re.VERBOSE | re.IGNORECASE,
)
# Forbidden somewhere else than where it was done, or for another thing.
_ELSEWHERE = re.compile(
    r"\bin\s(?!this\b|here\b|our\b|my\b|your\b|future\b|general\b)|\b(?:other|another|else|yet|twice|too)\b",
    re.IGNORECASE,
)
# It objects to what was done last, without naming it.
_OBJECTS = re.compile(
    r"""^(?:(?:ah|oh|argh|ugh|ouch|hey|whoa|wait|wtf|no+|nope|stop|damn|shit|shoot|crap|dammit|hm+|please|and|but|ok|okay)\b[\s,.!]*)*
        (?: (?:(?:revert|undo|roll\sback)\s(?:it|that|this) | (?:put|take|roll|change)\s(?:it|that|this)\sback)(?=\s*(?:[,.;!–—]|$|(?:please|now|and|right|immediately|again)\b))
          | (?:that|this|it)(?:'s|\sis|\swas)\s(?:not\s(?:ok|okay|allowed|an?\s(?:real\s)?(?:fix|solution)|the\sfix|how\swe)|no\s(?:fix|solution)|a\shack|cheating|an?\s(?:bad|terrible|horrible)\sidea|dangerous)
          | not\slike\sthat\b | you\s(?:shouldn't|should\snot|mustn't|must\snot|can't|may\snot)\s(?:have\sdone|do|just\sdo)\b
          | we\s(?:don't|do\snot|can't|never)\sdo\s(?:that|this|it)\b )""",
    re.VERBOSE | re.IGNORECASE,
)
# "It" and "this" may be the program that is worked on, and to drop something may be wanted, unless somebody cries out.
_DESTROYS = re.compile(
    r"""^(?:(?:ah|oh|ok|okay|and|but)\b[\s,.!]*)*
        (?: (?:(?:argh|ugh|ouch|hey|whoa|wait|wtf|no+|nope|stop|damn|shit|shoot|crap|dammit)\b[\s,.!]*)+(?:that|this|it)\s(?:drop(?:s|ped)|kill(?:s|ed)|removed?s?|resets|hides|<<loses>>)
          | that\s(?:<<loses>>) )\b""".replace(
        "<<loses>>",
        "wipe[sd]?|deletes?d?|breaks|broke|destroy(?:s|ed)|loses|lost|overwrites|overwrote|leaks",
    ),
    re.VERBOSE | re.IGNORECASE,
)
# A report says when it happens.
_WHEN = re.compile(
    r"\b(?:when(?:ever)?|if|on|in|after|while|as\ssoon\sas|(?:every|each)\stime|the\sneed)\b", re.IGNORECASE
)
_AGREES = re.compile(
    r"""\b(?:thanks|thank\syou|thx|great|nice|perfect|(?<!no\s)(?<!not\s)good|cool|well\sdone|go\son|no\s(?:problem|worries)|but\s(?:ok|okay|fine|it\sworks|i\sguess)
        |(?:that|it)(?:'s|\sis)\s(?:fine|ok|okay))\b""",
    re.VERBOSE | re.IGNORECASE,
)
# What is to be done about a report.
_TASK = re.compile(
    r"(?:^|[,;:.!?–—-]\s)(?:please\s|and\s|then\s|now\s|so\s)?(?:check|fix|look|find|debug|investigate|add|make|next|can\syou|could\syou)\b",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w{3})(?:ing|e[ds]?|s)$")  # "uninstalling" is "uninstall"
_SKIPPED = frozenset(
    "a an the any my our your that this these those such ever just simply always again please you to have be been going with".split()
)
# What they do, their object says.
_LIGHT = frozenset(
    _ENDING.sub("", word)
    for word in "use using run running need set setting add start call pass execute install get update upgrade create build make do bring up launch put write "
    "export clean reset init sync fetch pull".split()
)
_EDITS = frozenset(
    _ENDING.sub("", word) for word in "touch edit change modify patch rewrite commit hand-edit".split()
)
_ANYTHING = frozenset(
    "it that this them those these anything thing stuff things package packages software".split()
)
# After the name of a thing: "no docker on this machine", not "no docker logs".
_AFTER_NAME = frozenset(
    "on for at here ever again please pls to by from in and or when if like as so then right ok okay anymore".split()
)
_RUNS_OTHERS = frozenset("sudo nohup timeout nice doas".split())


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done to fix a failure, in words a user may forbid it with."""

    verbs: frozenset[str]  # programs, their verbs, options, variables, scripts
    words: frozenset[str]  # all of its commands
    files: frozenset[str]  # that were edited, and their names


def deed_of(commands: tuple[str, ...], files: tuple[str, ...], before: str) -> Deed:
    """Return what `commands` and changes of `files` did, without what the command `before` them has too."""
    known = _words(before)
    verbs = frozenset(word for command in commands for word in _verbs(command))
    words = frozenset(word for command in commands for word in _words(command))
    return Deed(
        verbs - known,
        (verbs | words) - known,
        frozenset(word for path in files for word in _named(path.lower())),
    )


def forbids(message: str, deed: Deed, *, just_done: bool) -> bool:
    """Return whether a user's message clearly forbids what was done; names and files count only `just_done`."""
    if len(message) > _MAX_MESSAGE:
        return False
    for sentence in sentences(prose(message)):
        if any(_is_deed(found["what"], deed, just_done) for found in _FORBIDS_DOING.finditer(sentence)):
            return True
        names = _FORBIDS_NAME.finditer(sentence) if just_done and not is_question(sentence) else ()
        if any(_is_name(found["what"] or found["instead"] or found["subject"], deed) for found in names):
            return True
    return False


def objects_to_last(message: str) -> bool:
    """Return whether a user's message objects to what was done just before."""
    if len(message) > _MAX_MESSAGE or _AGREES.search(message):
        return False
    first = [each for each in sentences(prose(message))[:2] if not is_question(each)]
    first.append(" ".join(first))  # "Oh no. That wipes the pairing" are two sentences
    reports = _TASK.search(message) is not None
    return any(
        _OBJECTS.match(each) or (not reports and _DESTROYS.match(each) and not _WHEN.search(each))
        for each in first
    )


def _is_deed(what: str, deed: Deed, just_done: bool) -> bool:
    first, *rest = *_sequence(what), ""
    if not first or _ELSEWHERE.search(what) or (first == "need" and not just_done):
        return False
    if first in _EDITS:
        return just_done and bool(rest) and rest[0] in deed.files
    if first in _LIGHT:
        if not rest[0] or rest[0] in _ANYTHING:
            return first in deed.verbs
        while rest[0] in _LIGHT and rest[0] not in deed.words:  # "run make tools"
            rest = rest[1:]
        return rest[0] in deed.words and _ends_name(rest[1:], deed)
    return first in deed.verbs


def _is_name(what: str, deed: Deed) -> bool:
    first, *rest = *_sequence(what), ""
    if first in _LIGHT and first not in deed.verbs and what.split()[0].lower().endswith("ing"):
        first, *rest = *rest, ""
    return (
        bool(first)
        and first in deed.verbs | deed.files
        and not _ELSEWHERE.search(what)
        and _ends_name(rest, deed)
    )


def _ends_name(rest: list[str], deed: Deed) -> bool:
    return not rest or not rest[0] or rest[0] in _AFTER_NAME | _ANYTHING or rest[0] in deed.words


def _sequence(text: str) -> list[str]:
    """Return the words of `text` without their endings, from the first that says something."""
    words = [word for each in text.lower().split() if (word := each.strip("-`'\"“”().,;:!?&|$"))]
    begin = next((at for at, word in enumerate(words) if word not in _SKIPPED), len(words))
    first = [_stem(word) for word in words[begin : begin + 1]]
    return first + [
        _stem(word) if word not in _ANYTHING | _AFTER_NAME else word
        for word in words[begin + 1 :]
        if word in _ANYTHING or word not in _SKIPPED
    ]


def _verbs(command: str) -> set[str]:
    """Return the programs of a command with their verbs, its options and variables, the files it names."""
    parsed = parse(command)
    tokens = command.split()
    named = {part for head in parsed.heads for part in head.split()}
    named.update(
        token.partition("=")[0]
        for token in tokens
        if token.startswith("-") or re.match(r"[A-Za-z_]\w*=", token)
    )
    named.update(token for token in tokens if token in _RUNS_OTHERS)
    return {each for word in (*named, *parsed.paths) for each in _named(word.lower())}


def _words(command: str) -> frozenset[str]:
    return frozenset(_verbs(command)) | {each for word in command.lower().split() for each in _named(word)}


def _named(word: str) -> tuple[str, ...]:
    """Return a word of a command as a user may write it; a path also by its file's name."""
    bare = word.strip("-`'\"().,;:&|$")
    return tuple(_stem(each) for each in (bare, bare.rpartition("/")[2]) if len(each) > 1)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)
