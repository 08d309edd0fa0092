"""What is remembered, in figures: counts, times, and what memory saved."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, shared_options

if TYPE_CHECKING:
    from recollect.engine import Engine

_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.-=oO#@"


@click.command()
@click.option(
    "--explain-saved",
    "explained",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="How many tokens of exploration memory saved in a session (the newest), and how that is known.",
)
@shared_options
@click.pass_obj
def stats(cli: CliContext, explained: str | None) -> None:
    """Count what is remembered, and what it is good for.

    Charts go from the oldest day or session on the left to the newest.
    """
    with open_engine(cli) as engine:
        if explained is not None:
            _explain(cli, engine, explained)
            return
        found = engine.stats()
    if cli.json:
        output.print_json(found)
        return
    store, figures = found["store"], found["measures"]
    kind = "encrypted" if store["encrypted"] else "not encrypted"
    rows = [
        ("project", found["project"]["name"] if found["project"] else "none"),
        ("memories", f"{found['memories']:,} here, {found['all_projects']:,} in all projects"),
        *((f"by {name}", _counts(found[f"by_{name}"])) for name in ("kind", "scope", "state", "standing")),
        ("confidence", _confidence(figures["average_confidence"])),
        ("tags", f"{found['tags']:,}"),
        ("conflicts", f"{found['conflicts']:,} open"),
        ("store", f"{store['location']}, {store['size'] / 1e6:.1f} MB, {kind}"),
        ("embedder", found["embedder"]),
        ("recall", _speed(found["recall"])),
        *((name, _timing(figures["timings"][name])) for name in sorted(figures["timings"])),
        ("map", _coverage(figures["map_coverage"])),
        ("shown", _shown(figures)),
        ("everywhere", _everywhere(figures)),
        ("exploring", _discovery(figures)),
        ("saved", _saved(figures)),
    ]
    for line in output.table(
        [(name, output.one_line(text)) for name, text in rows if text], ["bright_black"]
    ):
        click.echo(line)


def _explain(cli: CliContext, engine: "Engine", name: str) -> None:
    session = engine.sessions.find(name) if name else next(iter(engine.sessions.newest(1)), None)
    if session is None:
        click.echo("No session of this project is known yet.")
        return
    saved = engine.measures.saved(session.id)
    if cli.json:
        output.print_json({"session": session.id, "saved": saved, "line": saved.line})
        return
    click.echo(f"Session {output.one_line(session.id)}, {output.moment(session.started_at)}")
    click.echo(f"{saved.line}." if saved.line else "Nothing is said to have been saved.")
    click.echo(saved.why)


def bars(values: Sequence[float]) -> str:
    """A small chart, the largest value at full height."""
    marks = _BARS if output.glyph(_BARS[-1], "") else _PLAIN_BARS
    top = max(values, default=0.0)
    if top <= 0:
        return marks[0] * len(values)
    return "".join(marks[min(int(value / top * len(marks)), len(marks) - 1)] for value in values)


def _speed(recall: Mapping[str, Any]) -> str:
    if not recall["samples"]:
        return "nothing was searched for yet"
    times = f"95 % of the last {recall['samples']:,} answers within {recall['p95_ms']:.0f} ms"
    return times + ("; slow, so it looks at less until it is fast again" if recall["degraded"] else "")


def _timing(timing: Mapping[str, Any]) -> str:
    chart = bars([value for _, value in timing["daily"]])
    half, most = _time(timing["p50_ms"]), _time(timing["p95_ms"])
    return f"{timing['count']:,} in 30 days, half within {half}, 95 % within {most}  {chart}"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:,.0f} ms"


def _shown(figures: Mapping[str, Any]) -> str:
    here, last = figures["here"], figures["last_injected"]
    if not (here["injected"] or here["on_demand"]):
        return ""
    told = (
        f"{output.count(here['injected'], 'memory', 'memories')} to agents, {here['used']:,} of them used;"
        f" {output.count(here['on_demand'], 'search', 'searches')} of their own"
    )
    return (
        f"{told}; last {', '.join('#' + each[-output.SHORT_ID :] for each in last['memories'][:5])}"
        if last
        else told
    )


def _everywhere(figures: Mapping[str, Any]) -> str:
    """All projects together, where that is more than this one."""
    here, all_of = figures["here"], figures["everywhere"]
    if all(all_of[name] == here[name] for name in all_of):
        return ""
    return (
        f"{output.count(all_of['injected'], 'memory', 'memories')} to agents, {all_of['used']:,} of them used;"
        f" {output.count(all_of['on_demand'], 'search', 'searches')} of their own"
    )


def _coverage(share: float | None) -> str:
    return "" if share is None else f"{share:.0%} of the modules known from more than a scan"


def _discovery(figures: Mapping[str, Any]) -> str:
    tokens = figures["discovery"]
    if not tokens:
        return ""
    return f"{tokens[-1]:,} tokens before the first edit of the newest session  {bars(tokens)}"


def _saved(figures: Mapping[str, Any]) -> str:
    if figures["saved"] is None:
        return ""
    sessions = output.count(figures["sessions_compared"], "session")
    return f"about {figures['saved']:,} tokens of exploration in {sessions} (--explain-saved says how that is known)"


def _confidence(average: float | None) -> str:
    return "" if average is None else f"{average:.2f} on average"


def _counts(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())
