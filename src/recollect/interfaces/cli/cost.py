"""What the sidecar costs, and what it is sent."""

from typing import TYPE_CHECKING

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, refuse_both, shared_options
from recollect.llm import spending
from recollect.llm.consent import SENT_DATA, agreement, place
from recollect.llm.questions import EXAMPLES, REQUEST
from recollect.llm.sidecar import preview

if TYPE_CHECKING:
    from recollect.engine import Engine


@click.command()
@click.option(
    "--show-prompt", type=click.Choice(list(EXAMPLES)), help="Print what would be sent, for an example."
)
@click.option("--agree", is_flag=True, help="Agree that texts are sent to the sidecar that is set up.")
@shared_options
@click.pass_obj
def cost(cli: CliContext, show_prompt: str | None, agree: bool) -> None:
    """Show what the sidecar has cost, and what would be sent to it.

    \b
    recollect cost
    recollect cost --show-prompt verify
    """
    refuse_both(show_prompt=show_prompt, agree=agree)
    with open_engine(cli) as engine:
        if show_prompt:
            _show_prompt(cli, engine, show_prompt)
            return
        if agree:
            _agree(engine)
        found = spending.costs(engine.settings, engine.store, m.utc_now())
    if cli.json:
        output.print_json(found)
        return
    _say_standing(found)
    rows = [("today", found.today), ("7 days", found.week), *sorted(found.by_purpose.items())]
    for line in output.table([_row(name, spent) for name, spent in rows], ("", "", "")):
        click.echo(line)
    money = f"{found.daily_cost:.2f}" if found.priced else "any money: no price is set"
    click.echo(f"A day may take {found.daily_tokens:,} tokens and {money}.")


def _show_prompt(cli: CliContext, engine: "Engine", purpose: str) -> None:
    hits = engine.search(REQUEST, 5).results if purpose == "verify" else ()
    text = preview(engine.settings, purpose, hits)
    if cli.json:
        output.print_json({"purpose": purpose, "place": place(engine.settings), "prompt": text})
        return
    click.echo(output.printable(text))


def _agree(engine: "Engine") -> None:
    if not place(engine.settings):
        raise Refused(
            f"The sidecar is {engine.settings.sidecar}: nothing is sent anywhere.",
            "Set `sidecar` to http or command first.",
        )
    engine.agree(agreement(engine.settings))


def _say_standing(found: spending.Costs) -> None:
    if not found.place:
        click.echo(f"The sidecar is {found.sidecar}: nothing is sent, and nothing costs.")
        return
    where = click.style(output.one_line(found.place), bold=True)
    if not found.may_send:
        click.echo(f"Nothing is sent to {where} until you agree. It would get {SENT_DATA}.")
        click.echo(
            "`recollect cost --show-prompt verify` shows an example; `recollect cost --agree` records that you agree."
        )
        return
    click.echo(f"The sidecar is {where}. It gets {SENT_DATA}.")
    if found.rests_until:
        click.echo(f"It failed, and is left alone until {output.moment(found.rests_until)}.")


def _row(name: str, spent: spending.Spent) -> tuple[str, ...]:
    failed = f" ({spent.failed} failed)" if spent.failed else ""
    return name, output.count(spent.calls, "call") + failed, f"{spent.tokens:,} tokens", f"{spent.cost:.4f}"
