"""What the agent states as a fact, as opposed to what it plans, does or guesses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.model import Source
from recollect.text.lookalikes import has_mark
from recollect.text.sentences import clip, is_guess, is_question, prose, sentences, statement
from recollect.work.extract.observation import RESOLVED_ERROR, Observation, SeenTexts
from recollect.work.transcripts.event import ASSISTANT, USER, Event

_MAX_CAUSE = 220
_MAX_FACT = 320
_MAX_READ = 6000  # characters of an answer; longer ones are reports

_PLAN = re.compile(
    r"""^(?:(?:ok(?:ay)?|now|next|first|then|so|also|good|great|right|alright|and|but|perfect|excellent|sure|certainly|understood|ah|actually|wait|hmm)\b[\s,.!:–—-]*)*
        (?:i\b|i['’](?:ll|m|ve|d)|let\b|let['’]s|we['’]ll|we\s+(?:need|can|should|will|could|have)|you\s+can|here['’]?s?\b|here\s|this\s+(?:change|will|should|is\s+(?:expected|fine))
        |the\s+(?:output|results?|search|command|file|directory|contents?)\s+(?:shows?|returned|contains?|has\s+been|was)
        |to\s+(?:fix|address|resolve|handle|do)|now\b|next\b|sorry|apolog|thank|great|perfect|all\s|done\b|fixed\b|added\b|expected\b|both\s|clean\b|still\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_STATES = re.compile(
    r"""\b(?:is|are|was|were|isn't|aren't|wasn't|needs?|requires?|wants?|expects?|missing|uses?|doesn't|does\s+not|don't|can't|cannot|has|have|had|runs?|returns?
        |fails?|failed|failing|only|must|lacks?|exists?|comes?|causes?|caused|because|treats?|needed|need)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SUBJECT = re.compile(r"^(?:the|an?|our|this|`)\b|^`", re.IGNORECASE)
# A lasting fact about the code or its tools, stated as one.
_LASTING = re.compile(
    r"""\broot\s+cause\b(?:\s+(?:is|was)\b|\s*[:–—-]) | \b(?:does\s+not|doesn't|do\s+not|don't|cannot|can't)\s+support\b | \b(?:is|are)\s+not\s+supported\b
        | ^(?:the\s+)?`[\w./-]{2,200}`\s+(?:is|are)\s+(?:auto-?)?(?:generated|gitignored|deprecated|vendored|read-only)\b
        | \bknown\s+(?:\w+\s+){0,2}(?:bug|issue|limitation|conflict)\b""",
    re.VERBOSE | re.IGNORECASE,
)
# Says why, or what has to be: more than that something passes now.
_EXPLAINS = re.compile(
    r"""\b(?:because|must|has\s+to|have\s+to|needs?\s+(?:to|an?|the)|requires?|cannot|can't|doesn't|does\s+not|do\s+not|don't|isn't|aren't|is\s+not|are\s+not|only
        |has\s+no|have\s+no|lacks?|expects?|instead\s+of|without|otherwise|unless|never|always|ignores?|outside|so\s+that)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTHING_NAMED = re.compile(
    r"^(?:however,?\s+|but\s+|and\s+|you're\s+right\W+)?(?:it|they|that|these|those|this\s+is(?!.*\s[—–-]\s))\b",
    re.IGNORECASE,
)
_ROOT_CAUSE = re.compile(r"\broot\s+cause\b", re.IGNORECASE)
_CONFIRMS = re.compile(
    r"(?:yes|yep|yeah|exactly|right|correct|indeed|true|good (?:find|catch)|nice (?:find|catch)|that(?:'s| was| is) it)\b(?!.{0,80}\?)",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:the\s+)?root\s+cause(?:\s+is)?(?:\s+that)?\s*[:–—-]\s*", re.IGNORECASE)


def cause_in(text: str) -> str:
    """Return the sentence in which an agent says what is wrong; "" if it only plans or guesses."""
    facts = [
        bare
        for sentence in sentences(prose(text[:_MAX_READ]))
        if (bare := sentence.rstrip(":"))
        and _is_fact(bare)
        and len(bare.split()) >= 4
        and len(bare) <= _MAX_CAUSE
    ]
    for pattern in (_STATES, _SUBJECT):
        for sentence in facts:
            if pattern.search(sentence):
                return sentence
    return ""


def explanation_in(text: str) -> str:
    """Return the sentence in which an agent says why a fix works, or what has to be done; "" if it only reports that it does."""
    for sentence in sentences(prose(text[:_MAX_READ])):
        is_clear = _is_fact(sentence) and not _NOTHING_NAMED.match(sentence)
        if (
            is_clear
            and len(sentence.split()) >= 6
            and len(sentence) <= _MAX_CAUSE
            and _EXPLAINS.search(sentence)
        ):
            return sentence
    return ""


def _is_fact(sentence: str) -> bool:
    return not (_PLAN.match(sentence) or is_guess(sentence) or is_question(sentence))


class AgentStatements:
    """Reads lasting facts that the agent states, each in its first wording."""

    def __init__(self) -> None:
        self._seen = SeenTexts(similarity=0.5)
        self._last: list[Observation] = []  # of the agent's last message

    def read(self, event: Event) -> Iterator[Observation]:
        if event.is_message and event.author == USER and not event.injected:
            if _CONFIRMS.match(event.text):
                yield from (
                    replace(stated, importance=0.7, confidence=0.8, signals=frozenset({RESOLVED_ERROR}))
                    for stated in self._last
                )
            self._last = []
        stated = list(self._stated(event))
        if event.is_message and event.author == ASSISTANT:
            self._last = stated
        yield from stated

    def _stated(self, event: Event) -> Iterator[Observation]:
        if event.author != ASSISTANT or not event.is_message or event.injected:
            return
        if has_mark(event.text) or len(event.text) > _MAX_READ:
            return
        if len(_ROOT_CAUSE.findall(event.text)) > 1:  # a list of suspects
            return
        for sentence in sentences(prose(event.text)):
            if not _LASTING.search(sentence) or not _is_fact(sentence) or _NOTHING_NAMED.match(sentence):
                continue
            if len(sentence.split()) >= 6 and self._seen.add(sentence):
                yield Observation(
                    kind="gotcha",
                    content=clip(statement(_LEAD.sub("", sentence).replace("**", "")), _MAX_FACT),
                    source=Source.EXTRACTED,
                    first=event.order,
                    last=event.order,
                    importance=0.5,
                    confidence=0.6,
                )
