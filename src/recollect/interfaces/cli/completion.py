"""Completion of commands, options, kinds and ids in the shell."""

import click
from click.shell_completion import get_completion_class

from recollect.interfaces.cli.command import shared_options

_INSTALL = {
    "bash": "recollect completion bash >> ~/.bashrc",
    "zsh": "recollect completion zsh >> ~/.zshrc",
    "fish": "recollect completion fish > ~/.config/fish/completions/recollect.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@shared_options
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for your shell.

    It completes commands, options, kinds and ids.

    \b
    recollect completion bash >> ~/.bashrc
    recollect completion zsh >> ~/.zshrc
    recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click knows no completion for {shell}.", ctx)
    source = script(ctx.find_root().command, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    click.echo(f"# Install it with: {_INSTALL[shell]}\n{source.strip()}")
