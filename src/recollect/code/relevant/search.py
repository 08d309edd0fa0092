"""Find what a text is about in a project: files, symbols, and the lines to read within a budget."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from recollect.code.decoding import read_source
from recollect.code.foreign import is_foreign
from recollect.code.git_history import History
from recollect.code.graph.graph import CodeGraph
from recollect.code.nodes import Symbol
from recollect.code.relevant import weights as w
from recollect.code.relevant.evidence import probability
from recollect.code.relevant.index import Field, Index, Scores, Texts, top_scores
from recollect.code.relevant.mentions import Mention
from recollect.code.relevant.passages import Passage, split_passages
from recollect.code.relevant.past_work import PastWorkIndex
from recollect.code.relevant.question import is_vague, weigh_question, without_colours
from recollect.code.relevant.ranking import PastWork, Ranking
from recollect.code.terms import terms_of
from recollect.frozen import frozen
from recollect.text import tokens


@frozen
class FileHit:
    path: str
    score: float
    why: Mapping[str, float]  # by part of the score, how much it adds


@frozen
class SymbolHit:
    symbol: Symbol
    score: float


@frozen
class Snippet:
    path: str
    lines: tuple[int, int]  # the first and the last
    text: str
    score: float
    symbol: str | None  # the id; None = it is in no function or class


@frozen
class Relevant:
    """The result of a search, each list with the best first."""

    files: tuple[FileHit, ...]
    symbols: tuple[SymbolHit, ...]
    snippets: tuple[Snippet, ...]
    to_read: tuple[
        str, ...
    ]  # the files in the order to open them: of two equally likely ones, the shorter first
    probability: float  # that a right file is among the first five; low for a text that is about no file


def relevant(
    graph: CodeGraph,
    root: Path,
    text: str,
    *,
    limit: int = 10,
    budget: int = 2000,
    history: History | None = None,
    past_work: PastWork = (),
) -> Relevant:
    """Return at most `limit` files and symbols, and snippets of at most `budget` tokens including the lines that locate them."""
    ranking = _ranking(graph, history)
    text = without_colours(text)
    mentions = ranking.mentioned(text)
    asked = ranking.telling(weigh_question(text))
    alike = ranking.alike(asked, past_work)
    parts = ranking.parts(text, asked, mentions, alike)
    texts, foreign = _read(root, ranking, top_scores(ranking.total(parts), w.FILES_TRIED), mentions)
    parts = {name: ranking.demote(part, foreign) for name, part in parts.items()}
    passages = _passages(graph, texts, asked, ranking.rarity(asked))
    added = ranking.parts_read(text, ranking.total(parts), passages)
    parts |= {name: ranking.demote(part, foreign) for name, part in added.items()}
    scores = ranking.total(parts)
    files = tuple(
        FileHit(
            ranking.paths[number],
            round(float(scores[number]), 3),
            {name: round(float(part[number]), 3) for name, part in parts.items() if part[number] >= 0.0005},
        )
        for number in top_scores(scores, limit)
    )
    scored = _score_passages(passages, files[: w.FILES_SHOWN], mentions)
    return Relevant(
        files,
        tuple(_symbols(scored))[:limit],
        tuple(_snippets(scored, budget)),
        tuple(_to_read(root, files)),
        _probability(ranking, text, asked, mentions, scores, alike),
    )


def _probability(
    ranking: Ranking,
    text: str,
    asked: Mapping[int, float],
    mentions: Sequence[Mention],
    scores: Scores,
    alike: PastWorkIndex | None,
) -> float:
    best = top_scores(scores, 1)
    if not best or (is_vague(asked) and not mentions):
        return 0.0
    return round(probability(ranking.evidence(text, asked, mentions, best[0], alike)), 3)


def prepare(graph: CodeGraph, root: Path, history: History | None) -> None:
    """Build the indexes that the first search would build, and sort them for those that follow."""
    relevant(graph, root, "prepare", limit=1, budget=0, history=history)
    _ranking(graph, history).sort()


@lru_cache(maxsize=4)  # the indexes of a large project take a second to build, and tens of megabytes
def _ranking(graph: CodeGraph, history: History | None) -> Ranking:
    return Ranking(graph, history)


def _read(
    root: Path, ranking: Ranking, likely: Sequence[int], mentions: Sequence[Mention]
) -> tuple[dict[str, str], list[int]]:
    """Return the texts of the first likely files by path, and which files before the last of them are foreign.

    A foreign file is read like others if the question has its path.
    """
    named = {
        mention.file for mention in mentions if mention.kind in ("path", "pointed") and mention.weight == 1
    }
    texts: dict[str, str] = {}
    foreign: list[int] = []
    for number in likely:
        if len(texts) == w.FILES_READ:
            break
        path = ranking.paths[number]
        text = read_source(root / path)
        if number not in named and is_foreign(root, path, text):
            foreign.append(number)
        else:
            texts[path] = text
    return texts, foreign


def _passages(
    graph: CodeGraph, texts: Mapping[str, str], question: Mapping[int, float], rarity: Mapping[int, float]
) -> list[tuple[float, Passage]]:
    """Return the passages of these files that fit the question, each with how well."""
    pieces = [
        piece for path, text in texts.items() for piece in split_passages(path, text, graph.outline(path))
    ]
    if not pieces:
        return []
    bodies = Texts.of(_terms_of(piece.text) for piece in pieces)
    names = Texts.of(
        _terms_of(piece.symbol.id.partition("::")[2] if piece.symbol else "") for piece in pieces
    )
    fits = (
        Index([Field(bodies), Field(names, weight=w.DEFINED_NAME)], w.PASSAGE_SATURATION)
        .scores(question, rarity)
        .tolist()
    )
    return [(fit, piece) for fit, piece in zip(fits, pieces, strict=True) if fit > 0]


_terms_of = lru_cache(maxsize=8192)(terms_of)  # the next question is often about the same files


def _to_read(root: Path, files: Iterable[FileHit]) -> list[str]:
    """Return the files in the order to read them: short ones cost less."""
    return [
        hit.path
        for hit in sorted(files, key=lambda hit: -hit.score / _length(root / hit.path) ** w.LENGTH_POWER)
    ]


def _length(file: Path) -> int:
    try:
        return max(file.stat().st_size, 200)  # opening a file has a cost, too
    except OSError:
        return 1_000_000


def _score_passages(
    passages: Iterable[tuple[float, Passage]], files: Sequence[FileHit], mentions: Sequence[Mention]
) -> list[tuple[float, Passage]]:
    """Return the passages of these files with their scores, best first."""
    scores = {file.path: file.score for file in files}
    fitting = [(fit, piece) for fit, piece in passages if piece.path in scores]
    most = max((fit for fit, _ in fitting), default=1.0)
    named = {mention.symbol.id for mention in mentions if mention.symbol}
    scored = [
        (
            scores[piece.path]
            * (fit / most + w.NAMED_SHARE * (piece.symbol is not None and piece.symbol.id in named))
            / (1 + w.NAMED_SHARE),
            piece,
        )
        for fit, piece in fitting
    ]
    return sorted(scored, key=lambda each: -each[0])


def _symbols(passages: Sequence[tuple[float, Passage]]) -> Iterator[SymbolHit]:
    seen = set()
    for score, passage in passages:
        if passage.symbol and passage.symbol.id not in seen:
            seen.add(passage.symbol.id)
            yield SymbolHit(passage.symbol, round(score, 3))


def _snippets(passages: Sequence[tuple[float, Passage]], budget: int) -> Iterator[Snippet]:
    """Yield snippets until the next best does not fit."""
    if not budget:
        return  # without loading the tokenizer
    shown: Counter[str] = Counter()
    for score, passage in passages:
        if shown[passage.path] == w.SNIPPETS_PER_FILE:
            continue
        snippet = _fitted(passage, score, budget)
        if snippet is None:
            return
        shown[passage.path] += 1
        budget -= _cost(snippet)
        yield snippet


def _fitted(passage: Passage, score: float, budget: int) -> Snippet | None:
    """Return as many lines as the budget allows; None if that is next to nothing."""
    lines = passage.text.splitlines()
    count = len(lines)
    while count >= min(w.SHORTEST_SNIPPET, len(lines)):
        snippet = Snippet(
            passage.path,
            (passage.first, passage.first + count - 1),
            "\n".join(lines[:count]),
            round(score, 3),
            passage.symbol.id if passage.symbol else None,
        )
        if _cost(snippet) <= budget:
            return snippet
        count = count * 2 // 3
    return None


def _cost(snippet: Snippet) -> int:
    """Return the tokens of a snippet with the line above it that locates it."""
    return tokens.count(f"{snippet.path}:{snippet.lines[0]}-{snippet.lines[1]}\n{snippet.text}\n")
