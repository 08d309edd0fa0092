"""Why a hit stands where it stands: in a sentence, and in bars."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

import recollect.model as m
from recollect.interfaces.cli.output import glyph, one_line

_BAR = 20  # cells for a part of 1
_WORDS_NAMED = 3
_REASONS_NAMED = 2
_TELLING = 0.1  # of the score: parts below this share do not explain it
_SEEN = 0.005  # what would be shown as 0.00 is not shown


def first_because(hits: Sequence[m.Hit]) -> str:
    """What made the first hit first, and what it has over the second."""
    first = hits[0]
    reasons = [words for name in _telling(first) if (words := _in_words(name, first))]
    told = " and ".join(reasons[:_REASONS_NAMED]) or f"its score is {first.score:.2f}"
    if len(hits) == 1:
        return one_line(f"The only one found: {told}.")
    return one_line(f"First because: {told}. {_lead(first, hits[1])}")


def _telling(hit: m.Hit) -> list[str]:
    """Names of the parts that explain the score, the greatest first."""
    parts = _parts(hit)
    if _multiplied(hit):
        found = [name for name in ("cosine", "words") if name in parts]
        return found + sorted(
            (name for name, value in parts.items() if value > 1.05 and name not in found),
            key=lambda name: -parts[name],
        )
    least = _TELLING * abs(hit.score)
    return [name for name, value in sorted(parts.items(), key=lambda part: -part[1]) if value > least]


def _in_words(name: str, hit: m.Hit) -> str:
    """What a part means; empty where there is nothing behind it that could be told."""
    found: Mapping[str, Any] = hit.why.get("channels", {})
    if name in ("meaning", "cosine"):
        return _meant(found["meaning"]) if "meaning" in found else ""
    if name == "words":
        return _shared(found["words"]["terms"]) if "words" in found else ""
    if name == "graph":
        return f"hangs together with a hit ({_way(found['graph']['path'])})" if "graph" in found else ""
    if name == "kind":
        return f"is a {hit.memory.kind}, which counts more"
    return _PHRASES.get(name, "")


_PHRASES = {
    "everyday": "says what the question's everyday words mean",
    "file": "is about a file at hand",
    "season": "is in season",
    "confidence": "is well confirmed",
    "trust": "is trusted",
    "decay": "is fresh",
    "recency": "is recent",
    "frequency": "is used often",
    "use": "is used often",
    "standing": "is pinned",
}


def _meant(channel: Mapping[str, Any]) -> str:
    rank, cosine = channel["rank"], f"{channel['cosine']:.2f}"
    return f"closest in meaning ({cosine})" if rank == 1 else f"near in meaning ({cosine}, number {rank})"


def _shared(terms: str) -> str:
    words = terms.split(", ")
    named = ", ".join(f"{glyph('‘', chr(39))}{word}{glyph('’', chr(39))}" for word in words[:_WORDS_NAMED])
    more = len(words) - _WORDS_NAMED
    return f"shares {named}" + (f" and {more} more" if more > 0 else "")


def _way(path: str) -> str:
    """The path without the query that it begins with."""
    return path.partition("” → ")[2] or path


def _lead(first: m.Hit, second: m.Hit) -> str:
    """What it has most over the second."""
    ours, theirs = _parts(first), _parts(second)
    if _multiplied(first):
        gains = {name: value / theirs[name] if theirs.get(name) else math.inf for name, value in ours.items()}
        nothing, sign = 1.0, glyph("×", "x")
    else:
        gains = {name: ours.get(name, 0.0) - theirs.get(name, 0.0) for name in {**ours, **theirs}}
        nothing, sign = 0.0, "+"
    name, gain = max(gains.items(), key=lambda each: each[1])
    if gain < nothing + _SEEN:
        return "The second is about as good."
    amount = f"({sign}{gain:.2f})" if gain < math.inf else "(the second has none)"
    return f"Ahead of the second mostly by {_CHANNEL.get(name, name)} {amount}."


def _parts(hit: m.Hit) -> Mapping[str, float]:
    parts: Mapping[str, float] = hit.why.get("parts", {})
    return parts


def _multiplied(hit: m.Hit) -> bool:
    return bool(hit.why.get("combined") == "product")


def print_parts(hit: m.Hit) -> None:
    """What the score is made of, a bar a part, greatest first, each with where it comes from."""
    times = _multiplied(hit)
    for name, value in sorted(_parts(hit).items(), key=lambda part: -abs(part[1])):
        if abs(value - times) < _SEEN:  # adds nothing, or is a factor of 1
            continue
        cells = min(_BAR, round(abs(value) * _BAR))
        bar = glyph("█", "#") * cells + glyph("░", ".") * (_BAR - cells)
        sign = glyph("×", "x") if times else "+" if value >= 0 else glyph("−", "-")
        click.echo(
            f"        {name:<10} {click.style(bar, fg='blue')} {sign}{abs(value):.2f}"
            + click.style(f"  {one_line(_source(name, hit))}".rstrip(), fg="bright_black")
        )


_TOLD = {
    "words": "number {rank} by words: {terms}",
    "meaning": "number {rank} by meaning, cosine {cosine:.2f}",
    "graph": "{path}",
}
_CHANNEL = {"cosine": "meaning"}  # what the recipes of the documents call it


def _source(name: str, hit: m.Hit) -> str:
    channel = _CHANNEL.get(name, name)
    found = hit.why.get("channels", {})
    if channel in found and channel in _TOLD:
        return _TOLD[channel].format(**found[channel])
    told = {"kind": hit.memory.kind, "season": hit.memory.season or "", "standing": hit.memory.standing}
    if name == "file":
        return "about a file at hand" if not _multiplied(hit) or _parts(hit)[name] > 1 else ""
    return told.get(name, "")
