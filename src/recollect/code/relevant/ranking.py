"""Rank the files of a project for a question: by words, names, history and links. Without a model."""

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from recollect.code.git_history import History
from recollect.code.graph.graph import CodeGraph, path_of
from recollect.code.names import NO_NAMES, DefinedNames
from recollect.code.nodes import POSSIBLE
from recollect.code.paths import FileRole, classify_files
from recollect.code.relevant import weights as w
from recollect.code.relevant.evidence import FileEvidence
from recollect.code.relevant.index import Field, Index, Scores, Texts, top_scores
from recollect.code.relevant.mentions import Mention, MentionIndex
from recollect.code.relevant.passages import Passage
from recollect.code.relevant.past_work import PastWorkIndex
from recollect.code.relevant.question import shared_weight
from recollect.code.relevant.symbol_index import SymbolIndex
from recollect.code.terms import find_references, terms_of

_ASKED_FOR = {
    FileRole.TESTS: re.compile(r"\btests?\b", re.I),
    FileRole.DOCS: re.compile(r"\b(?:docs?|documentation|readme)\b", re.I),
    FileRole.EXAMPLES: re.compile(r"\bexamples?\b", re.I),
}

PastWork = Sequence[
    tuple[str, Sequence[str]]
]  # descriptions of tasks, and the files that were changed for them


class Ranking:
    """Ranks the files of one graph with one history. Indexes are built for the first question."""

    def __init__(self, graph: CodeGraph, history: History | None) -> None:
        self.paths = graph.paths
        self._graph = graph
        self._history = history
        self._numbers = {path: number for number, path in enumerate(self.paths)}

    def parts(
        self,
        text: str,
        asked: Mapping[int, float],
        mentions: Iterable[Mention],
        alike: PastWorkIndex | None,
    ) -> dict[str, Scores]:
        """Return what counts for each file, by the names in `WEIGHTS`; leaves out the parts that are all zero."""
        shares = self._shares(text)
        parts = {
            **self._by_words(asked, shares),
            "history": self._by_history(asked, alike) * shares,
            "commit": self._referred(text) * shares,
            **{
                kind: np.sqrt(np.minimum(named, w.NAMED_OFTEN)) * shares
                for kind, named in self._named(mentions).items()
            },
        }
        weighed = _weighted(parts)
        return weighed | _weighted({"linked": self._linked(_relative_to_best(self.total(weighed))) * shares})

    def parts_read(
        self, text: str, scores: Scores, found: Iterable[tuple[float, Passage]]
    ) -> dict[str, Scores]:
        """Return what the passages of the best files add to their scores. `found` has each with how well it fits."""
        fits, heat = self._zeros(), dict[str, float]()
        for fit, passage in found:
            number = self._numbers[passage.path]
            fits[number] = max(fits[number], fit)
            if passage.symbol:
                warm = fit * float(scores[number])
                heat[passage.symbol.id] = max(heat.get(passage.symbol.id, 0.0), warm)
        shares = self._shares(text)
        parts = _weighted({"passage": _relative_to_best(fits * shares)})
        beside = self._beside(_relative_to_best(scores + self.total(parts)))
        return parts | _weighted({"called": self._called(heat) * shares, "beside": beside * shares})

    def evidence(
        self,
        text: str,
        asked: Mapping[int, float],
        mentions: Iterable[Mention],
        best: int,
        alike: PastWorkIndex | None,
    ) -> FileEvidence:
        """Return what connects the text with the file `best`."""
        highest = self._words.highest(asked)
        share = (
            float(self._words.scores(asked)[best] * self._shares(text)[best]) / highest if highest else 0.0
        )
        past = [index for index in (self._commits, alike) if index is not None]
        return FileEvidence(
            words=len(asked) * share,
            commits=len(asked) * max((index.share(asked, best) for index in past), default=0.0),
            named=max((mention.weight for mention in mentions), default=0.0),
            past=sum(map(len, past)),
        )

    def sort(self) -> None:
        """Sort the indexes: it takes longer than the first question, and makes every later one quicker."""
        for index in (self._topics, self._words, self._folders, self._commits):
            if index is not None:
                index.sort()

    def total(self, parts: Mapping[str, Scores]) -> Scores:
        return sum(parts.values(), self._zeros())

    def rarity(self, question: Mapping[int, float]) -> dict[int, float]:
        return self._words.rarity(question)

    def telling(self, question: Mapping[int, float]) -> Mapping[int, float]:
        """Return the terms of a long question that say most, by weight and rarity; their weights add up to 1."""
        if len(question) <= w.TELLING_TERMS:
            return question
        rarity = self.rarity(question)
        telling = heapq.nlargest(
            w.TELLING_TERMS, question, key=lambda term: question[term] * rarity.get(term, 0.0)
        )
        whole = sum(question[term] for term in telling)
        return {term: question[term] / whole for term in telling}

    def demote(self, part: Scores, foreign: Sequence[int]) -> Scores:
        """Return a part of the score with little left of it for foreign files."""
        demoted = part.copy()
        demoted[list(foreign)] *= w.FOREIGN_SHARE
        return demoted

    def mentioned(self, text: str) -> list[Mention]:
        return self._names.mentioned(text)

    def _by_words(self, question: Mapping[int, float], shares: Scores) -> dict[str, Scores]:
        """Score by text, definitions and path. A path with little of the question counts less if a text has much of it."""
        scores = {
            "topic": self._topics.scores(question) * shares,
            "words": self._words.scores(question) * shares,
            "folders": self._folders.scores(question) * shares,
        }
        if not self.paths:
            return scores
        in_text = self._words.coverage(question, int(scores["words"].argmax()))
        in_path = self._folders.coverage(question, int(scores["folders"].argmax()))
        parts = {name: _relative_to_best(part) for name, part in scores.items()}
        if in_text > 0:
            parts["folders"] = parts["folders"] * np.float32(min(1.0, in_path / in_text / w.FULL_PATH))
        return parts

    def _by_history(self, question: Mapping[int, float], alike: PastWorkIndex | None) -> Scores:
        """Score by commits and by past tasks, which count as new however old they are; the higher of both counts."""
        votes = self._zeros() if self._commits is None else self._commits.scores(question, len(self.paths))
        return votes if alike is None else np.maximum(votes, alike.scores(question, len(self.paths)))

    def alike(self, question: Mapping[int, float], past_work: PastWork) -> PastWorkIndex | None:
        """Return the past tasks that have something in common with the question; None if there are none."""
        described = [(_task_terms(text), self._known(paths)) for text, paths in past_work]
        alike = [work for work in described if shared_weight(question, work[0]) >= w.ALIKE]
        return PastWorkIndex.of_tasks(alike) if alike else None

    def _named(self, mentions: Iterable[Mention]) -> dict[str, Scores]:
        named: dict[str, Scores] = {}
        for mention in mentions:
            named.setdefault(mention.kind, self._zeros())[mention.file] += mention.weight
        return named

    def _linked(self, scores: Scores) -> Scores:
        """Score what the best files need, by its share of all they need."""
        linked = self._zeros()
        best = top_scores(scores, w.BEST_FILES)
        self._graph.resolve(self.paths[number] for number in best)
        for number in best:
            links = self._graph.links_of(self.paths[number])
            whole = sum(links.values()) + w.FEW_LINKS
            for path, weight in links.items():
                if path in self._numbers:
                    linked[self._numbers[path]] += scores[number] ** 2 * weight / whole
        return linked

    def _beside(self, scores: Scores) -> Scores:
        """Score how many of the best files are in the same folder; only for likely files."""
        beside = self._zeros()
        likely = top_scores(scores, w.LIKELY_FILES)
        for number in likely[: w.BEST_FILES]:
            folder = self._folders_of[number]
            others = [other for other in likely if other != number and self._folders_of[other] == folder]
            beside[others] += scores[number] ** 2 / w.BEST_FILES
        return beside

    def _called(self, heat: Mapping[str, float]) -> Scores:
        """Score what the best functions need from other files; each further one adds less."""
        called = self._zeros()
        hottest = sorted(heat, key=heat.__getitem__, reverse=True)[: w.CALLING_FUNCTIONS]
        shares = {id: (heat[id] / heat[hottest[0]]) ** 2 for id in hottest}
        paths = dict.fromkeys(map(path_of, hottest))
        self._graph.resolve(paths)
        for path in paths:
            edges = (edge for edge in self._graph.edges_of(path) if edge.source in shares)
            for edge in edges:
                target = path_of(edge.target)
                if target != path and target in self._numbers and edge.confidence >= POSSIBLE:
                    called[self._numbers[target]] += shares[edge.source] * edge.confidence
        return np.log1p(called)

    def _referred(self, text: str) -> Scores:
        """Score files of commits that the text refers to, divided by the number of such commits and their files."""
        touched = self._zeros()
        for term, sure in find_references(text).items():
            changes = self._commits.touched(term) if self._commits else []
            for files in changes:
                code = [number for number in files.tolist() if self._usual[number]]
                touched[code] += sure / len(changes) / max(len(code), 1) ** 0.5
        return np.minimum(touched, 1)

    def _shares(self, text: str) -> Scores:
        title = text.strip().partition("\n")[0]
        wanted = {kind for kind, pattern in _ASKED_FOR.items() if pattern.search(title)}
        share = {kind: w.WANTED_SHARE if kind in wanted else w.ASIDE_SHARE for kind in (*FileRole, None)} | {
            FileRole.CODE: 1.0
        }
        return np.fromiter((share[kind] for kind in self._roles), np.float32, len(self.paths))

    def _known(self, paths: Iterable[str]) -> list[int]:
        return [self._numbers[path] for path in paths if path in self._numbers]

    def _zeros(self) -> Scores:
        return np.zeros(len(self.paths), np.float32)

    @cached_property
    def _roles(self) -> list[FileRole | None]:
        roles = classify_files(self.paths)
        file_roles = [roles[path][0] if path in roles else None for path in self.paths]
        return [
            FileRole.TESTS if kind is FileRole.CODE and node.names.are_tests else kind
            for node, kind in zip(self._graph.nodes.values(), file_roles, strict=True)
        ]

    @cached_property
    def _folders_of(self) -> list[str]:
        return [path.rpartition("/")[0] for path in self.paths]

    @cached_property
    def _usual(self) -> list[bool]:
        return [kind is FileRole.CODE for kind in self._roles]

    @cached_property
    def _bodies(self) -> Texts:
        return Texts.of(terms for _, terms in self._graph.terms())

    @cached_property
    def _path_terms(self) -> Texts:
        return Texts.of(terms_of(path.rpartition(".")[0] or path) for path in self.paths)

    @cached_property
    def _defined(self) -> list[DefinedNames]:
        """Of the usual files only: tests define many symbols, and questions seldom name them."""
        return [
            node.names if usual else NO_NAMES
            for node, usual in zip(self._graph.nodes.values(), self._usual, strict=True)
        ]

    @cached_property
    def _topics(self) -> Index:
        fields = [
            Field(self._bodies),
            Field(Texts.of(names.terms for names in self._defined), weight=w.DEFINED_NAME),
            Field(self._path_terms, weight=w.PATH_NAME),
        ]
        return Index(fields, w.TOPIC_SATURATION, self._usual)

    @cached_property
    def _words(self) -> Index:
        return Index([Field(self._bodies)], w.WORDS_SATURATION, self._usual)

    @cached_property
    def _folders(self) -> Index:
        return Index([Field(self._path_terms)], w.FOLDERS_SATURATION, self._usual)

    @cached_property
    def _names(self) -> MentionIndex:
        symbols = SymbolIndex(self._graph, [names.hashes for names in self._defined])
        return MentionIndex(self.paths, symbols.named, self._usual)

    @cached_property
    def _commits(self) -> PastWorkIndex | None:
        if self._history is None or not self._history.commits.when:
            return None
        return PastWorkIndex.of_commits(self._history.commits, self._numbers)


_task_terms = lru_cache(maxsize=1024)(terms_of)  # every question is compared with the same past tasks


def _weighted(parts: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return the weighted parts that are not all zero."""
    return {name: np.float32(w.WEIGHTS[name]) * part for name, part in parts.items() if part.any()}


def _relative_to_best(scores: Scores) -> Scores:
    most = scores.max(initial=0)
    return scores / most if most > 0 else scores
