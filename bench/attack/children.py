"""The processes that attacks start.

python -m bench.attack.children commands                           runs a command for each line of standard input
python -m bench.attack.children crowd PROJECT SECONDS NUMBER       writes and searches, as one of many
python -m bench.attack.children daemon HOME STATE                  a daemon whose work may never end
"""

import base64
import json
import os
import random
import sys
import time
import traceback
from typing import Any

WRITES = 0.3  # the share of writes among what a process of the crowd does


def run_commands() -> None:
    """Read a command per line from standard input, and write what came of it to standard output."""
    from click.testing import CliRunner

    from recollect.__main__ import main

    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    for line in requests:
        request, trace = json.loads(line), ""
        with CliRunner().isolation(input=base64.b64decode(request["given"])) as (out, err, _):
            code = 1
            try:
                code = main(list(request["words"]))
            except Exception:
                trace = traceback.format_exc()
            printed = {"out": out.getvalue(), "err": err.getvalue()}
        encoded = {name: base64.b64encode(value).decode() for name, value in printed.items()}
        answers.write(json.dumps({"code": code, "trace": trace, **encoded}).encode() + b"\n")
        answers.flush()


def write_and_search(project: str, seconds: float, number: int) -> None:
    """Remember and search until the time is over, and print what happened."""
    from bench.durability import unlike
    from recollect.embed.minilm import FIRST_TEXTS
    from recollect.engine import Engine

    report: dict[str, Any] = {"ids": [], "errors": [], "search": [], "model": ""}
    pick = random.Random(number)
    with Engine.open(project) as engine:
        engine.remember(unlike(100_000 * number))
        for text in range(FIRST_TEXTS + 1):  # after which the model is loaded a last time
            engine.search(f"service {text}")
        print("ready", flush=True)
        sys.stdin.readline()
        count, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            count += 1
            try:
                if pick.random() < WRITES:
                    report["ids"].append(engine.remember(unlike(100_000 * number + count)).id)
                else:
                    begun = time.perf_counter()
                    engine.search(pick.choice(("which service hands over", "PostgreSQL", f"worker {number}")))
                    report["search"].append((time.perf_counter() - begun) * 1000)
            except Exception as error:
                report["errors"].append(f"{type(error).__name__}: {error}"[:200])
        report["model"] = engine.embedder.model
    print(json.dumps(report))


if __name__ == "__main__":
    if sys.argv[1] == "commands":
        run_commands()
    elif sys.argv[1] == "daemon":
        from bench.attack.stops import serve

        serve(*sys.argv[2:])
    else:
        write_and_search(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
