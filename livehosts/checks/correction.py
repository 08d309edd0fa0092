"""Does what a user corrects in one session reach the next one, in place of what was known before?"""

import re
from collections.abc import Sequence

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.interactive import interactive_session
from livehosts.model_request import ModelRequest
from livehosts.sandbox import Sandbox
from livehosts.script import RunShell, Say

FIRST = "Build the web front end of the shop"
CORRECTION = "No, use pnpm, not npm"
LATER = "Build the front end once more, please"
OLD = "The front end is built with `npm run build`"
WRONG = re.compile(r"(?<!p)npm run|built with npm")


def headless(run: CheckRun) -> None:
    for number in run.count(2, 20):
        with run.sandbox() as box:
            _prepare(box)
            box.run(FIRST, RunShell("npm run build"), Say("Built with npm."))
            box.run(CORRECTION, RunShell("pnpm run build"), Say("Built with pnpm."), resume=True)
            _judge(run, box, number, box.run(LATER).turns)


def in_a_terminal(run: CheckRun) -> None:
    for number in run.count(1, 20):
        with run.sandbox() as box:
            _prepare(box)
            with interactive_session(box) as session:
                session.prompt(FIRST, RunShell("npm run build"))
                session.prompt(CORRECTION, RunShell("pnpm run build"))
                session.quit()
            with interactive_session(box) as session:
                session.prompt(LATER)
                turns = session.turns
                session.quit()
            _judge(run, box, number, turns)


def _prepare(box: Sandbox) -> None:
    box.recollect("remember", OLD, "--created-by", "agent:claude-code")
    box.install()


def _judge(run: CheckRun, box: Sandbox, number: int, turns: Sequence[ModelRequest]) -> None:
    blocks = "\n".join(delivered(turns[0])) if turns else ""
    wrong = [line for line in blocks.splitlines() if WRONG.search(line)]
    if "Use pnpm, not npm" not in blocks:
        known = [memory["content"] for memory in box.memories()]
        run.expect(False, f"{number + 1}: no 'Use pnpm, not npm' in {blocks!r}; the store has {known}")
    else:
        run.expect(not wrong, f"{number + 1}: still told {wrong}")
