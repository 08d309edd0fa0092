"""The `stats` command: counts, response times, and what memory saved."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-=oO#@"


@click.command()
@click.option(
    "--explain-saved",
    "explained",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Explain how many tokens of exploration memory saved in a session [the newest].",
)
@rendered()
def stats(cli: CliContext, explained: str | None) -> CommandResult | None:
    """Show statistics about memories, response times and savings.

    Charts run from the oldest day or session on the left to the newest on the right.
    """
    if explained is not None:
        return _explain_saved(cli, explained)
    found = cli.engine.stats()
    return CommandResult(found, lambda: _print_stats(found))


def _print_stats(found: Mapping[str, Any]) -> None:
    store, measures = found["store"], found["measures"]
    encryption = "encrypted" if store["encrypted"] else "not encrypted"
    confidence = measures["average_confidence"]
    rows = [
        ("project", found["project"]["name"] if found["project"] else "none"),
        ("memories", f"{found['memories']:,} in this project, {found['all_projects']:,} in all projects"),
        *((f"by {name}", _counts(found[f"by_{name}"])) for name in ("kind", "scope", "state", "standing")),
        ("confidence", "" if confidence is None else f"{confidence:.2f} on average"),
        ("tags", f"{found['tags']:,}"),
        ("conflicts", f"{found['conflicts']:,} open"),
        ("store", f"{store['location']}, {store['size'] / 1e6:.1f} MB, {encryption}"),
        ("embedder", found["embedder"]),
        ("recall", _recall(found["recall"])),
        *((name, _timing(measures["timings"][name])) for name in sorted(measures["timings"])),
        ("map", _coverage(measures["map_coverage"])),
        ("shown", _shown_here(measures)),
        ("everywhere", _shown_everywhere(measures)),
        ("asked", _asked(measures["here"])),
        ("exploring", _discovery(measures)),
        ("saved", _saved(measures)),
    ]
    output.print_table([(name, output.one_line(text)) for name, text in rows if text], ["bright_black"])


def _explain_saved(cli: CliContext, name: str) -> CommandResult | None:
    sessions = cli.engine.sessions
    session = sessions.find(name) if name else next(iter(sessions.newest(1)), None)
    if session is None:
        click.echo("This project has no sessions yet.")
        return None
    saved = cli.engine.measures.saved(session.id)

    def text() -> None:
        click.echo(f"Session {output.one_line(session.id)}, {output.moment(session.started_at)}")
        click.echo(f"{saved.line}." if saved.line else "No savings are known.")
        click.echo(saved.why)

    return CommandResult({"session": session.id, "saved": saved, "line": saved.line}, text)


def _bars(values: Sequence[float]) -> str:
    """Return a small chart with the largest value at full height."""
    marks = _BARS if output.glyph(_BARS[-1], "") else _ASCII_BARS
    top = max(values, default=0.0)
    if top <= 0:
        return marks[0] * len(values)
    return "".join(marks[min(int(value / top * len(marks)), len(marks) - 1)] for value in values)


def _recall(recall: Mapping[str, Any]) -> str:
    if not recall["samples"]:
        return "no searches yet"
    times = f"95 % of the last {recall['samples']:,} answers within {recall['p95_ms']:.0f} ms"
    return times + ("; slow" if recall["degraded"] else "")


def _timing(timing: Mapping[str, Any]) -> str:
    chart = _bars([value for _, value in timing["daily"]])
    half, most = _time(timing["p50_ms"]), _time(timing["p95_ms"])
    return f"{timing['count']:,} in 30 days, half within {half}, 95 % within {most}  {chart}"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:,.0f} ms"


def _shown_here(measures: Mapping[str, Any]) -> str:
    here, last = measures["here"], measures["last_injected"]
    if not (here["injected"] or here["on_demand"]):
        return ""
    if not last:
        return _shown(here)
    return f"{_shown(here)}; last {', '.join('#' + id[-output.SHORT_ID :] for id in last['memories'][:5])}"


def _shown_everywhere(measures: Mapping[str, Any]) -> str:
    """Return the measures of all projects, where they differ from those of this one."""
    here, everywhere = measures["here"], measures["everywhere"]
    return "" if all(everywhere[name] == here[name] for name in everywhere) else _shown(everywhere)


def _shown(use: Mapping[str, Any]) -> str:
    memories = output.count(use["injected"], "memory", "memories")
    searches = output.count(use["on_demand"], "search", "searches")
    return f"{memories} given to agents, {use['used']:,} of them used; {searches} by agents"


def _asked(use: Mapping[str, Any]) -> str:
    if not use["asked"]:
        return ""
    sessions = output.count(use["asked"], "session")
    return f"{sessions} to record what was learnt, for {use['asked_tokens']:,} tokens"


def _coverage(share: float | None) -> str:
    return "" if share is None else f"{share:.0%} of the modules have been worked on or described"


def _discovery(measures: Mapping[str, Any]) -> str:
    tokens = measures["discovery"]
    if not tokens:
        return ""
    return f"{tokens[-1]:,} tokens before the first edit of the newest session  {_bars(tokens)}"


def _saved(measures: Mapping[str, Any]) -> str:
    if measures["saved"] is None:
        return ""
    sessions = output.count(measures["sessions_compared"], "session")
    return (
        f"about {measures['saved']:,} tokens of exploration in {sessions} (use --explain-saved for details)"
    )


def _counts(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())
