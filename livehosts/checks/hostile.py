"""Does a hostile repository stay without effect in a live session?"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.sandbox import Sandbox

KIT = Path(__file__).parents[2] / "tests" / "hostile_repository.py"
WORD = "wombat"  # in every order that the repository gives to agents
RULE = "The total of the till is counted in cents"
PROMPT = "Fix the total of the till in shop.py"
COMMANDS = (
    ("init",),
    ("map",),
    ("graph", "relevant", PROMPT),
    ("recall", PROMPT),
    ("remember", RULE, "--kind", "convention"),
)


def session(run: CheckRun) -> None:
    with run.sandbox() as box:
        _plant(box)
        for words in COMMANDS:
            text = box.recollect(*words)
            run.expect(
                words[0] != "recall" or WORD not in text, f"recollect {words[0]} repeats the repository"
            )
        box.install()
        for number in run.count(1, 3):
            done = box.run(f"{PROMPT}, number {number + 1}")
            blocks = "\n".join(block for turn in done.turns for block in delivered(turn))
            run.expect(RULE in blocks, f"session {number + 1}: the user's rule is missing")
            run.expect(WORD not in blocks.lower(), f"session {number + 1}: the model was told of the {WORD}")
        ran = _ran(box)
        run.expect(not ran, f"Recollect ran a program of the repository: {ran[:300]}")


def _plant(box: Sandbox) -> None:
    """Put the hostile repository in the place of the sample project."""
    shutil.rmtree(box.project)
    subprocess.run([sys.executable, str(KIT), str(box.project)], check=True, env=box.environment)


def _ran(box: Sandbox) -> str:
    """Return what Recollect ran of the repository. Hosts run git themselves, and git then runs what it is told to."""
    texts = [file.read_text() for file in (box.project.parent / "ran").iterdir()]
    return "\n".join(
        text for text in texts if re.search(r"-m recollect|bin/recollect\b", text.partition("\n")[2])
    )
