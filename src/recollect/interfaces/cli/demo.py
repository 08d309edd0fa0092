"""A story that shows Recollect at work."""

import click

from recollect.interfaces.cli.command import shared_options


@click.command()
@shared_options
def demo() -> None:
    """Watch it work on a small sample project.

    Two sessions: what was learnt, what came back, what it saved. It works in a folder of its own and leaves your memories alone.
    """
    from recollect.demo import run

    run(click.echo)
