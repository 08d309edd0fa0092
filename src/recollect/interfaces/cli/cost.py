"""The `cost` command: what the sidecar has cost, and what is sent to it."""

import click

import recollect.model as m
from recollect.errors import Refused
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import refuse_both
from recollect.llm import spending
from recollect.llm.consent import SENT_DATA, agreement, place
from recollect.llm.questions import EXAMPLES, REQUEST
from recollect.llm.sidecar import preview


@click.command()
@click.option(
    "--show-prompt",
    type=click.Choice(list(EXAMPLES)),
    help="Print an example of what would be sent for this purpose.",
)
@click.option("--agree", is_flag=True, help="Agree that texts are sent to the configured sidecar.")
@rendered()
def cost(cli: CliContext, show_prompt: str | None, agree: bool) -> CommandResult:
    """Show what the sidecar has cost, and what would be sent to it.

    \b
    recollect cost
    recollect cost --show-prompt verify
    """
    refuse_both(show_prompt=show_prompt, agree=agree)
    engine, settings = cli.engine, cli.engine.settings
    if show_prompt:
        hits = engine.search(REQUEST, 5).results if show_prompt == "verify" else ()
        prompt = preview(settings, show_prompt, hits)
        return CommandResult(
            {"purpose": show_prompt, "place": place(settings), "prompt": prompt},
            lambda: click.echo(output.printable(prompt)),
        )
    if agree:
        if not place(settings):
            raise Refused(
                f"The sidecar is {settings.sidecar}: nothing is sent to it.",
                "Set `sidecar` to http or command first.",
            )
        engine.preferences.agree(agreement(settings))
    costs = spending.costs(settings, engine.store, m.utc_now())
    return CommandResult(costs, lambda: _print_costs(costs))


def _print_costs(costs: spending.Costs) -> None:
    _print_sidecar(costs)
    if not costs.place and not costs.week.calls:
        return
    rows = [("today", costs.today), ("7 days", costs.week), *sorted(costs.by_purpose.items())]
    output.print_table([_row(name, spent) for name, spent in rows], ("", "", ""))
    limit = f" and a cost of {costs.daily_cost:.2f}" if costs.priced else "; no prices are set"
    click.echo(f"The daily limit is {costs.daily_tokens:,} tokens{limit}.")


def _print_sidecar(costs: spending.Costs) -> None:
    if not costs.place:
        click.echo(f"The sidecar is {costs.sidecar}: nothing is sent, and there is no cost.")
        return
    sidecar = click.style(output.one_line(costs.place), bold=True)
    if not costs.may_send:
        click.echo(f"Nothing is sent to {sidecar} until you agree. It would get {SENT_DATA}.")
        click.echo(
            "Run `recollect cost --show-prompt verify` to see an example, and `recollect cost --agree` to agree."
        )
        return
    click.echo(f"The sidecar is {sidecar}. It gets {SENT_DATA}.")
    if costs.rests_until:
        click.echo(f"It failed, and is not used until {output.moment(costs.rests_until)}.")


def _row(name: str, spent: spending.Spent) -> tuple[str, ...]:
    failed = f" ({spent.failed} failed)" if spent.failed else ""
    return name, output.count(spent.calls, "call") + failed, f"{spent.tokens:,} tokens", f"{spent.cost:.4f}"
