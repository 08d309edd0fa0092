"""Explanations of a ranking: one sentence about the first hit, and the parts of each score as bars."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

import recollect.model as m
from recollect.interfaces.cli.output import glyph, one_line

_BAR = 20  # cells for a part of 1
_WORDS_NAMED = 3
_REASONS_NAMED = 2
_MIN_SHARE = 0.1  # of the score: smaller parts do not explain it
_MIN_SHOWN = 0.005  # smaller values would be printed as 0.00


def first_because(hits: Sequence[m.Hit]) -> str:
    """Return a sentence that says why the first hit is first, and where it is ahead of the second."""
    first = hits[0]
    reasons = [words for name in _main_parts(first) if (words := _phrase(name, first))]
    text = " and ".join(reasons[:_REASONS_NAMED]) or f"has a score of {first.score:.2f}"
    if len(hits) == 1:
        return one_line(f"The only result: it {text}.")
    return one_line(f"First because it {text}. {_lead(first, hits[1])}")


def _main_parts(hit: m.Hit) -> list[str]:
    """Return the names of the parts that explain the score, largest first."""
    parts = _parts(hit)
    if _multiplied(hit):
        matches = [name for name in ("cosine", "words") if name in parts]
        return matches + sorted(
            (name for name, value in parts.items() if value > 1.05 and name not in matches),
            key=lambda name: -parts[name],
        )
    least = _MIN_SHARE * abs(hit.score)
    return [name for name, value in sorted(parts.items(), key=lambda part: -part[1]) if value > least]


def _phrase(name: str, hit: m.Hit) -> str:
    """Return what a part means; empty if no channel contributed to it."""
    channels: Mapping[str, Any] = hit.why.get("channels", {})
    if name in ("meaning", "cosine"):
        return _meaning(channels["meaning"]) if "meaning" in channels else ""
    if name == "words":
        return _shared_words(channels["words"]["terms"]) if "words" in channels else ""
    if name == "when":
        return "is needed in situations like this" if "when" in channels else ""
    if name == "graph":
        return (
            f"is linked to a hit ({_without_query(channels['graph']['path'])})" if "graph" in channels else ""
        )
    if name == "kind":
        return f"is of a kind that ranks higher ({hit.memory.kind})"
    return _PHRASES.get(name, "")


_PHRASES = {
    "everyday": "explains everyday words of the query",
    "activity": "is about the kind of work that the query asks for",
    "file": "is about one of the given files",
    "season": "has an active season",
    "confidence": "has a high confidence",
    "trust": "has a trusted source",
    "decay": "has hardly decayed",
    "recency": "is recent",
    "frequency": "is used often",
    "use": "is used often",
    "standing": "is pinned",
}


def _meaning(channel: Mapping[str, Any]) -> str:
    rank, cosine = channel["rank"], f"{channel['cosine']:.2f}"
    return (
        f"is closest in meaning ({cosine})" if rank == 1 else f"is close in meaning ({cosine}, rank {rank})"
    )


def _shared_words(terms: str) -> str:
    words = terms.split(", ")
    named = ", ".join(f"{glyph('‘', chr(39))}{word}{glyph('’', chr(39))}" for word in words[:_WORDS_NAMED])
    more = len(words) - _WORDS_NAMED
    return f"shares {named}" + (f" and {more} more" if more > 0 else "")


def _without_query(path: str) -> str:
    """Return a path through the graph without the query that it begins with."""
    return path.partition("” → ")[2] or path


def _lead(first: m.Hit, second: m.Hit) -> str:
    """Return where the first is most ahead of the second."""
    ours, theirs = _parts(first), _parts(second)
    if _multiplied(first):
        gains = {name: value / theirs[name] if theirs.get(name) else math.inf for name, value in ours.items()}
        neutral, sign = 1.0, glyph("×", "x")
    else:
        gains = {name: ours.get(name, 0.0) - theirs.get(name, 0.0) for name in {**ours, **theirs}}
        neutral, sign = 0.0, "+"
    name, gain = max(gains.items(), key=lambda gain: gain[1])
    if gain < neutral + _MIN_SHOWN:
        return "The second is almost equal."
    amount = f"({sign}{gain:.2f})" if gain < math.inf else "(the second has none)"
    return f"Ahead of the second mostly by {_CHANNEL.get(name, name)} {amount}."


def _parts(hit: m.Hit) -> Mapping[str, float]:
    parts: Mapping[str, float] = hit.why.get("parts", {})
    return parts


def _multiplied(hit: m.Hit) -> bool:
    return bool(hit.why.get("combined") == "product")


def print_parts(hit: m.Hit) -> None:
    """Print the parts of the score, largest first: a bar, the value and where it comes from."""
    is_product = _multiplied(hit)
    for name, value in sorted(_parts(hit).items(), key=lambda part: -abs(part[1])):
        if abs(value - is_product) < _MIN_SHOWN:  # adds nothing, or a factor of 1
            continue
        cells = min(_BAR, round(abs(value) * _BAR))
        bar = glyph("█", "#") * cells + glyph("░", ".") * (_BAR - cells)
        sign = glyph("×", "x") if is_product else "+" if value >= 0 else glyph("−", "-")
        click.echo(
            f"        {name:<10} {click.style(bar, fg='blue')} {sign}{abs(value):.2f}"
            + click.style(f"  {one_line(_source(name, hit))}".rstrip(), fg="bright_black")
        )


_CHANNEL_TEXT = {
    "words": "rank {rank} by words: {terms}",
    "meaning": "rank {rank} by meaning, cosine {cosine:.2f}",
    "graph": "{path}",
    "when": "situations in which it is needed: cosine {cosine:.2f}, words: {terms}",
}
_CHANNEL = {"cosine": "meaning"}  # the name in the seed recipes


def _source(name: str, hit: m.Hit) -> str:
    channel = _CHANNEL.get(name, name)
    channels = hit.why.get("channels", {})
    if channel in channels and channel in _CHANNEL_TEXT:
        return _CHANNEL_TEXT[channel].format(**channels[channel])
    texts = {"kind": hit.memory.kind, "season": hit.memory.season or "", "standing": hit.memory.standing}
    if name == "file":
        return "about one of the given files" if not _multiplied(hit) or _parts(hit)[name] > 1 else ""
    return texts.get(name, "")
