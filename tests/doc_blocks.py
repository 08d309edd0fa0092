"""The console blocks of a page: each is run in the sample project of `recollect demo --keep`, and compared.

    python tests/doc_blocks.py docs/cli.md      # write what the commands print now into the page

A block whose fence says `console` is run, in the order of the page: its lines with `$ ` are commands, the others what they print.
Commands of ours run in this process; others, such as `printf`, in a shell, also before or after a pipe.
A block whose fence says `sh` or `text` is not run: it needs an agent, a server, a terminal, another project or another machine.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recollect.__main__ import main

FENCE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
ID = re.compile(r"\b1m[0-9a-z]{16}\b")
SHORT = 6  # characters of an id that tables show
PLACE = "/home/ada"  # stands for the folder of the sample project and its home


class Step(NamedTuple):
    command: str
    output: str


def steps_of(block: str) -> list[Step]:
    """Return the commands of a block with what follows each."""
    parts = re.split(r"^\$ ", block, flags=re.M)[1:]
    return [Step(command, output) for command, _, output in (part.partition("\n") for part in parts)]


class Sample:
    """The sample project, with a home of its own. `cd` goes there as long as it is used."""

    def __init__(self, source: Path, folder: Path) -> None:
        shutil.copytree(source / "shop", folder / "shop")
        self._folder = folder
        self._ids: list[tuple[str, str]] = []  # of the page, and of this run

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        with contextlib.chdir(self._folder / "shop"):
            before = os.environ.get("RECOLLECT_HOME")
            os.environ["RECOLLECT_HOME"] = str(self._folder / "home")
            try:
                yield
            finally:
                os.environ.pop("RECOLLECT_HOME")
                if before is not None:
                    os.environ["RECOLLECT_HOME"] = before

    def run(self, step: Step) -> str:
        """Return what the command prints, with the ids of the page."""
        command = step.command
        for theirs, ours in self._ids:
            command = command.replace(theirs, ours).replace(theirs[-SHORT:], ours[-SHORT:])
        printed = call(command)
        self._ids += zip(ID.findall(step.output), ID.findall(printed), strict=False)
        for theirs, ours in self._ids:
            printed = printed.replace(ours, theirs).replace(ours[-SHORT:], theirs[-SHORT:])
        return printed.replace(str(self._folder), PLACE)


def call(line: str) -> str:
    """Return what a command prints on standard output, and after it the error of one that fails. Notes and progress are left out."""
    printed = ""
    for part in line.partition("  # ")[0].split(" | "):
        if part.startswith("recollect "):
            printed = _call_ours(shlex.split(part)[1:], printed)
        else:
            done = subprocess.run(
                ["sh", "-c", part], input=printed, capture_output=True, text=True, check=True
            )
            printed = done.stdout
    return printed


def _call_ours(words: list[str], given: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    notes = io.StringIO()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
            code = main(words)
    finally:
        sys.stdin = before
    return out.buffer.getvalue().decode() + (notes.getvalue() if code else "")


def comparable(text: str) -> str:
    """Replace what differs from run to run: ids, scores, times and the padding that depends on them."""
    text = ID.sub("ID", text)
    text = re.sub(
        r"(?<![\w.])#?(?=[0-9a-z]*\d|[a-z]{6}\b)[0-9a-hjkmnp-tv-z]{6}(?=  |\n| !|`|\. | ID| --| \()",
        "ID",
        text,
    )
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "TIME", text)
    text = re.sub(r"\bp[0-9a-f]{15}\b", "PROJECT", text)
    text = re.sub(r"\d+\.\d+|[█░]+", "N", text)
    return re.sub(r" {2,}", "  ", text).strip()


def differences(page: str, sample: Sample) -> list[tuple[str, str, str]]:
    """Return the commands of a page that print something else, with what it says and what they print."""
    found = []
    with sample.entered():
        for block in FENCE.findall(page):
            for step in steps_of(block):
                said, printed = comparable(step.output), comparable(sample.run(step))
                if said != printed:
                    found.append((step.command, said, printed))
    return found


def rewritten(page: str, sample: Sample) -> str:
    """Return the page with what its commands print now."""

    def block(match: re.Match[str]) -> str:
        lines = []
        for step in steps_of(match[1]):
            printed = sample.run(step)
            same = comparable(printed) == comparable(step.output)
            lines.append(f"$ {step.command}\n{step.output if same else printed}")
        return f"```console\n{''.join(lines)}```"

    with sample.entered():
        return FENCE.sub(block, page)


def keep_sample(folder: Path) -> Path:
    """Make the sample project and return its folder."""
    with contextlib.chdir(folder):
        call("recollect demo --keep")
    return folder / "recollect-demo"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        source = keep_sample(Path(name))
        for number, page in enumerate(map(Path, sys.argv[1:])):
            place = Path(name) / str(number)
            place.mkdir()
            page.write_text(rewritten(page.read_text("utf-8"), Sample(source, place)), "utf-8")
