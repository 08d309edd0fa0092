"""Where the code graphs lie, one file a project. They are made of a project's files, so they may go at any time."""

from collections.abc import Iterable
from pathlib import Path


def shelf_path(home: Path, project_id: str | None) -> Path:
    return home / "code" / f"{project_id or 'none'}.db"


def drop_shelves(home: Path, projects: Iterable[str] | None = None) -> None:
    """Those of `projects`, None for all. Who has one open reads on in a file without a name, which goes with them."""
    folder = home / "code"
    names = ["*"] if projects is None else [f"{name}.db*" for name in projects]
    for name in names:
        for file in folder.glob(name):
            file.unlink(missing_ok=True)
