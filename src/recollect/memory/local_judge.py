"""Rules and the local model: the sidecar that needs nobody, and that answers when another does not."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import recollect.model as m
from recollect.context.embedder import Embedder
from recollect.errors import EmbedderUnavailable
from recollect.kinds import kind_of
from recollect.llm.protocol import Learnt, Sketch, Title, Verified
from recollect.text.words import telling_words

if TYPE_CHECKING:
    from recollect.memory.write.contradict import Relation

# Measured by bench/sidecar.py; the figures are in docs/sidecar.md.
FITS = 0.5  # score from which a memory bears on the context
FITS_BY_WORDS = 0.3  # the same where there are no vectors
BEHIND = 0.75  # of the best score: what is far behind it was found for want of better
PASSING = 0.7  # weight of a kind up to which it tells of the moment: it must be clearly about this
CLEARLY = 1.3  # times what others need

LONGEST_LINE = 160
FEWEST_WORDS = 3  # of a line that says something
_WORD = re.compile(r"[\w'’]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class LocalSidecar:
    name = "local"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verified | None:
        best = max((hit.score for hit in hits), default=0.0)
        floor = FITS if any(map(_has_vectors, hits)) else FITS_BY_WORDS
        said = [_words(sentence) for sentence in _SENTENCE.split(context)]
        relevant = [
            hit.memory
            for hit in hits
            if _is_found(hit)
            and hit.score >= max(_needed(hit.memory, floor), BEHIND * best)
            and not _repeats(hit.memory, said)
        ]
        return Verified(tuple(memory.id for memory in relevant), tuple(_relations(relevant)))

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[Learnt] | None:
        return None  # the rules of `learn/extract` read the events themselves

    def relate(self, new: str, old: str) -> "Relation | None":
        from recollect.memory.write.contradict import compare

        return compare(new, old, next(iter(self._cosines(new, [old])), None)).relation

    def classify(self, text: str, labels: Sequence[str]) -> str | None:
        nearness = self._cosines(text, labels) or _shared(text, labels)
        return max(zip(nearness, labels, strict=True))[1] if any(nearness) else None

    def name_modules(self, modules: Sequence[Sketch]) -> list[Title] | None:
        return None  # the scan has named them by rules already

    def summarise(self, text: str, lines: int) -> str | None:
        """The sentences that say most of what the text keeps coming back to, in its order."""
        told = list(dict.fromkeys(_sentences(text)))
        common = Counter(word for sentence in told for word in set(telling_words(sentence)))
        ranked = sorted(told, key=lambda sentence: -_weight(sentence, common))
        chosen: list[str] = []
        for sentence in ranked:
            words = set(telling_words(sentence))
            if all(len(words & set(telling_words(other))) * 2 <= len(words) for other in chosen):
                chosen.append(sentence)
            if len(chosen) == lines:
                break
        return "\n".join(f"- {_cut(sentence)}" for sentence in told if sentence in chosen) or None

    def _cosines(self, text: str, others: Sequence[str]) -> list[float]:
        """Of `text` and each of the others; empty where there is no model."""
        if not others:
            return []
        try:
            vectors = self._embedder.embed([text, *others])
        except EmbedderUnavailable:
            return []
        return [float(vectors[0] @ other) for other in vectors[1:]]


class SilentSidecar:
    """For those who want nothing judged: the memory agent brings nothing up by itself."""

    name = "none"

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verified | None:
        return None

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[Learnt] | None:
        return None

    def relate(self, new: str, old: str) -> "Relation | None":
        return None

    def classify(self, text: str, labels: Sequence[str]) -> str | None:
        return None

    def name_modules(self, modules: Sequence[Sketch]) -> list[Title] | None:
        return None

    def summarise(self, text: str, lines: int) -> str | None:
        return None


def _has_vectors(hit: m.Hit) -> bool:
    return bool(hit.why.get("parts", {}).get("meaning"))


def _is_found(hit: m.Hit) -> bool:
    """By its own words or meaning: a neighbour in the graph alone is not about this."""
    channels = hit.why.get("channels", {})
    return not channels or "words" in channels or "meaning" in channels


def _needed(memory: m.Memory, floor: float) -> float:
    return floor * (CLEARLY if kind_of(memory.kind).weight <= PASSING else 1.0)


def _repeats(memory: m.Memory, said: Iterable[set[str]]) -> bool:
    """Whether a sentence of the context says it all, each "not" and "never" too."""
    words = _words(memory.content)
    return any(words <= sentence for sentence in said)


def _relations(memories: Sequence[m.Memory]) -> Iterator[tuple[str, str, m.Relation]]:
    """What they have to do with one another, as far as that is certain."""
    if len(memories) < 2:
        return
    from recollect.memory.write.contradict import Relation, compare

    for one, other in combinations(memories, 2):
        if not m.same_matter(one, other):
            continue
        new, old = sorted((one, other), key=lambda memory: memory.created_at, reverse=True)
        verdict = compare(new.content, old.content, None)
        if verdict.relation is Relation.CONTRADICTION and verdict.certain:
            yield new.id, old.id, m.Relation.CONTRADICTS
        elif verdict.relation in (Relation.MERGEABLE, Relation.DUPLICATE):
            yield new.id, old.id, m.Relation.RELATES_TO


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _shared(text: str, labels: Sequence[str]) -> list[float]:
    words = _words(text)
    return [len(words & _words(label)) / max(1, len(_words(label))) for label in labels]


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        sentence = " ".join(part.split()).lstrip("-*• ")
        if len(telling_words(sentence)) >= FEWEST_WORDS:
            yield sentence


def _weight(sentence: str, common: Counter[str]) -> float:
    words = telling_words(sentence)
    return sum(common[word] - 1 for word in words) / (len(words) + 4)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1].rstrip() + "…"
