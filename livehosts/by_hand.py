"""`python -m livehosts session HOST PROMPT`: one session by hand, and what the model was sent in it."""

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from livehosts.clis.registry import CLIS
from livehosts.delivered import blocks_in
from livehosts.model_request import ModelRequest, RequestPart
from livehosts.npm import cache_folder
from livehosts.sandbox import Sandbox
from livehosts.script import Action, CallTool, ReadFile, RunShell, Say, WriteFile

SHORT = 1500  # characters of a part that are printed


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m livehosts session", description=__doc__)
    parser.add_argument("host", choices=sorted(CLIS))
    parser.add_argument("prompt")
    parser.add_argument("--in", dest="folder", type=Path, help="a sandbox of an earlier session")
    parser.add_argument(
        "--do",
        action="append",
        default=[],
        metavar="ACTION",
        help=(
            "what the model does, in order: `sh COMMAND`, `read PATH`, `write PATH TEXT`, `tool NAME JSON`, `say TEXT`"
        ),
    )
    parser.add_argument(
        "--before", action="append", default=[], metavar="WORDS", help="a recollect command to run first"
    )
    parser.add_argument("--resume", action="store_true", help="in the host's last session")
    parser.add_argument("--cold", action="store_true", help="stop the daemon first")
    parser.add_argument("--record", action="store_true", help="keep what the hooks get and print, in events/")
    parser.add_argument("--system", action="store_true", help="print the system prompts too")
    given = parser.parse_args(arguments)
    folder = given.folder
    if folder is None:
        runs = cache_folder() / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{given.host}-", dir=runs))
    is_new = not (folder / "home").exists()
    box = Sandbox(CLIS[given.host], folder, record=given.record)
    try:
        with box.server:
            if is_new:
                box.install()
            for words in given.before:
                print(box.recollect(*shlex.split(words)), end="")
            if given.cold:
                box.stop_daemon()
            run = box.run(given.prompt, *map(_action, given.do), resume=given.resume)
            box.keep_primed()
    finally:
        print(f"\nsandbox   {folder}\nrequests  {folder / 'requests.jsonl'}")
        print(f"again     python -m livehosts session {given.host} PROMPT --in {folder}")
    print(f"host      exit code {run.code} after {run.seconds:.1f} s, printed:\n{run.output}")
    _print_requests(run.requests, with_system=given.system)
    print(json.dumps(box.sessions(), indent=1))
    return 0


def _action(line: str) -> Action:
    kind, _, rest = line.partition(" ")
    first, _, second = rest.partition(" ")
    match kind:
        case "sh":
            return RunShell(rest)
        case "read":
            return ReadFile(rest)
        case "write":
            return WriteFile(first, second)
        case "tool":
            return CallTool(first, json.loads(second or "{}"))
        case "say":
            return Say(rest)
    sys.exit(f"No action {kind!r}. There are: sh, read, write, tool, say.")


def _print_requests(requests: Sequence[ModelRequest], *, with_system: bool) -> None:
    """Print what is new in each request."""
    seen: list[RequestPart] = []
    for request in requests:
        print(
            f"\n--- request {request.number}: {'turn' if request.is_turn else 'aside'}, {len(request.tools)} tools"
        )
        for part in request.parts:
            is_long = part.author in ("system", "developer") and len(part.text) > SHORT
            if part in seen or (is_long and not blocks_in(part.text) and not with_system):
                continue
            text = part.text if with_system or len(part.text) <= SHORT else _excerpt(part.text)
            print(f"[{part.author} {part.kind}] {text}")
        seen += request.parts


def _excerpt(text: str) -> str:
    """Return what is ours in a long text, or its beginning."""
    return "\n…\n".join(["", *blocks_in(text), ""]) if blocks_in(text) else f"{text[:SHORT]}…"
