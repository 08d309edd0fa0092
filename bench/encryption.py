"""What encryption keeps from a reader of the disk, and what it costs.

python -m bench.encryption --size 2000
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.corpus import sentences
from bench.speed import Synthetic
from recollect import Engine
from recollect.errors import WrongKey

KEY, WRONG = "5b" * 32, "6c" * 32
WRITES = 50


def run(size: int = 10_000) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name, _variable(KEY):
        folder = Path(name)
        (folder / "project").mkdir()
        return _measure(folder / "project", folder / "home", size)


def _measure(project: Path, home: Path, size: int) -> dict[str, Any]:
    texts = sentences(size)
    words = {word.strip(".;").encode() for text in texts for word in text.split() if len(word) > 6}
    with Engine.open(project, home, embedder=Synthetic()) as engine:
        engine.import_memories({"content": text} for text in texts)
        engine.backup()
    plain = {"words_before": _found(home, words), "remember_plain_ms": _remember(project, home, seed=1)}
    with Engine.open(project, home, embedder=Synthetic()) as engine:
        begin = time.perf_counter()
        engine.encrypt()
        took = time.perf_counter() - begin
        words_while_open = _found(home, words)
    figures = {
        "memories": size,
        **plain,
        "encrypt_seconds": round(took, 2),
        "words_while_open": words_while_open,
        "remember_encrypted_ms": _remember(project, home, seed=2),
        "words_after": _found(home, words),
        "files_after": sum(path.is_file() for path in home.rglob("*")),
        **_wrong_key(project, home),
    }
    with Engine.open(project, home, embedder=Synthetic()) as engine:
        before = len(engine.list(state="all"))
        begin = time.perf_counter()
        engine.decrypt()
        figures["decrypt_seconds"] = round(time.perf_counter() - begin, 2)
        figures["kept_after_off"] = len(engine.list(state="all")) == before
        figures["problems"] = len(engine.store.check())
    return figures


def _found(home: Path, words: set[bytes]) -> int:
    """How many of `words` stand in the clear in any file below `home`."""
    data = b"\n".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    return sum(word in data for word in words)


def _remember(project: Path, home: Path, seed: int) -> float:
    took = []
    with Engine.open(project, home, embedder=Synthetic()) as engine:
        for text in sentences(WRITES, seed=seed):
            begin = time.perf_counter()
            engine.remember(text)
            took.append((time.perf_counter() - begin) * 1000)
        engine.backup()
    return round(statistics.median(took), 1)


def _wrong_key(project: Path, home: Path) -> dict[str, bool]:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    said = False
    with _variable(WRONG):
        try:
            Engine.open(project, home).close()
        except WrongKey as error:
            said = "wrong key" in error.message
    after = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    return {"wrong_key_says_so": said, "wrong_key_changes_nothing": before == after}


@contextmanager
def _variable(key: str) -> Iterator[None]:
    old = os.environ.get("RECOLLECT_KEY")
    os.environ["RECOLLECT_KEY"] = key
    try:
        yield
    finally:
        if old is None:
            del os.environ["RECOLLECT_KEY"]
        else:
            os.environ["RECOLLECT_KEY"] = old


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(
            f"{name.replace('_', ' '):28}{value:>12,}"
            if type(value) is int
            else f"{name.replace('_', ' '):28}{value!s:>12}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=10_000, help="memories in the store")
    show(run(**vars(options.parse_args())))


if __name__ == "__main__":
    main()
