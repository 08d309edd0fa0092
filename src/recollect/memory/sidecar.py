"""The sidecars that need no language model, and the choice of a sidecar from the settings.

`LocalSidecar` uses rules and the local embedding model. It also answers when a language model does not.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import recollect.model as m
from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.errors import EmbedderUnavailable
from recollect.llm.protocol import (
    LearnedStatement,
    ModuleSketch,
    ModuleTitle,
    Sidecar,
    StatementRelation,
    Verification,
)
from recollect.memory.search.usefulness import judge_hits
from recollect.text.words import distinctive_words

MAX_LINE = 160
MIN_WORDS = 3  # of a sentence in a summary
_WORD = re.compile(r"[\w'’]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def open_sidecar(settings: Settings, store: Store, embedder: Embedder, clock: m.Clock) -> Sidecar:
    """Return the sidecar that the settings name. Loads no model and makes no calls."""
    if settings.sidecar == "none":
        return SilentSidecar()
    local = LocalSidecar(embedder)
    if settings.sidecar == "local":
        return local
    from recollect.llm.sidecar import with_llm

    return with_llm(local, settings, store, clock)


class LocalSidecar:
    """Answers by rules and the local embedding model."""

    name = "local"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verification | None:
        sentences = [_words(sentence) for sentence in _SENTENCE.split(context)]
        useful = judge_hits(context, hits).select(hits)
        relevant = [hit.memory for hit in useful if not _repeats(hit.memory, sentences)]
        return Verification(tuple(memory.id for memory in relevant), tuple(_relations(relevant)))

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[LearnedStatement] | None:
        return None  # `work.extract` reads the events itself

    def relate(self, new: str, old: str) -> StatementRelation | None:
        from recollect.memory.judgement.compare import compare

        return compare(new, old, self._cosine(new, old)).relation

    def name_modules(self, modules: Sequence[ModuleSketch]) -> list[ModuleTitle] | None:
        return None  # the scan has already named them by rules

    def summarise(self, text: str, lines: int) -> str | None:
        """Return the sentences with the most frequent words of the text, in its order."""
        from recollect.text.sentences import cut

        candidates = list(dict.fromkeys(_sentences(text)))
        common = Counter(word for sentence in candidates for word in set(distinctive_words(sentence)))
        ranked = sorted(candidates, key=lambda sentence: -_weight(sentence, common))
        chosen: list[str] = []
        for sentence in ranked:
            words = set(distinctive_words(sentence))
            if all(len(words & set(distinctive_words(other))) * 2 <= len(words) for other in chosen):
                chosen.append(sentence)
            if len(chosen) == lines:
                break
        return (
            "\n".join(f"- {cut(sentence, MAX_LINE)}" for sentence in candidates if sentence in chosen) or None
        )

    def _cosine(self, text: str, other: str) -> float | None:
        try:
            vectors = self._embedder.embed([text, other])
        except EmbedderUnavailable:
            return None
        return float(vectors[0] @ vectors[1])


class SilentSidecar:
    """Answers nothing: with `sidecar = "none"` the memory agent suggests nothing on its own."""

    name = "none"

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verification | None:
        return None

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[LearnedStatement] | None:
        return None

    def relate(self, new: str, old: str) -> StatementRelation | None:
        return None

    def name_modules(self, modules: Sequence[ModuleSketch]) -> list[ModuleTitle] | None:
        return None

    def summarise(self, text: str, lines: int) -> str | None:
        return None


def _repeats(memory: m.Memory, sentences: Iterable[set[str]]) -> bool:
    """Return whether a sentence of the context has all the words of the memory."""
    words = _words(memory.content)
    return any(words <= sentence for sentence in sentences)


def _relations(memories: Sequence[m.Memory]) -> Iterator[tuple[str, str, m.Relation]]:
    """Yield the relations between the memories that the rules are certain of."""
    if len(memories) < 2:
        return
    from recollect.memory.judgement.compare import compare  # loads its word lists

    for one, other in combinations(memories, 2):
        if not m.same_matter(one, other):
            continue
        new, old = sorted((one, other), key=lambda memory: memory.created_at, reverse=True)
        comparison = compare(new.content, old.content, None)
        if comparison.relation is StatementRelation.CONTRADICTION and comparison.certain:
            yield new.id, old.id, m.Relation.CONTRADICTS
        elif comparison.relation in (StatementRelation.MERGEABLE, StatementRelation.DUPLICATE):
            yield new.id, old.id, m.Relation.RELATES_TO


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        sentence = " ".join(part.split()).lstrip("-*• ")
        if len(distinctive_words(sentence)) >= MIN_WORDS:
            yield sentence


def _weight(sentence: str, common: Counter[str]) -> float:
    words = distinctive_words(sentence)
    return sum(common[word] - 1 for word in words) / (len(words) + 4)
