"""Do sessions end, and is nothing said twice in one?"""

from collections import Counter

from livehosts.check import CheckRun
from livehosts.checks.briefing import RULE, prepare
from livehosts.delivered import blocks_in, memory_ids
from livehosts.interactive import interactive_session
from livehosts.model_request import RESULT, ModelRequest
from livehosts.sandbox import Sandbox
from livehosts.script import RunShell, Say

# An answer after which the rules are not in the last 30 % of a chat, which Gemini CLI does not compress.
LONG = " ".join(f"Hello, {number}." for number in range(150))
SECONDS = 15.0  # in which a session that the host has ended is closed in the store


def ended(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        for number in run.count(3, 6):
            box.run(f"List the files, number {number + 1}", RunShell("ls"), Say("There are some."))
            _judge(run, box, f"headless {number + 1}", box.cli.limits.get("session-ended"))
        with interactive_session(box) as session:
            session.prompt("List the files in the terminal", RunShell("ls"))
            session.quit()
        limits = box.cli.limits
        _judge(run, box, "in a terminal", limits.get("session-ended-tui", limits.get("session-ended")))


def _judge(run: CheckRun, box: Sandbox, which: str, limit: str | None) -> None:
    """Expect the newest session to be closed; if the host may not tell, before the next one's first request."""
    newest = box.sessions()[0]["id"]
    if box.wait_for(lambda: not _is_open(box, newest), SECONDS / 3 if limit else SECONDS):
        run.expect(True, "")
    elif limit is None:
        run.expect(False, f"{which}: still open")
    else:
        is_open: list[bool] = []
        box.on_first_request(lambda: is_open.append(_is_open(box, newest)))
        box.run("Say hello in between")
        run.expect(is_open == [False], f"{which}: still open at the next session's first request")
        run.notes[:] = [limit]


def _is_open(box: Sandbox, session: str) -> bool:
    return next((one["ended_at"] is None for one in box.sessions() if one["id"] == session), True)


def nothing_repeated(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        box.recollect(
            "remember", "Discounts are rounded down to whole cents", "--file", "src/shop/discount.py"
        )
        box.run("Say hello")
        asked = [
            "How are discounts rounded?",
            "Round discounts to whole cents",
            "Are discounts rounded down?",
        ]
        for number, prompt in enumerate(asked):
            turns = box.run(prompt, RunShell("cat src/shop/discount.py"), resume=number > 0).turns
            for turn in turns:
                repeated = _repeated(turn)
                run.expect(not repeated, f"prompt {number + 1}, request {turn.number}: twice {repeated}")


def compacted(run: CheckRun) -> None:
    """After a compaction the next request has the user's rules again, once."""
    with run.sandbox() as box:
        prepare(box)
        with interactive_session(box) as session:
            for number in run.count(1, 2):
                session.prompt(f"Say hello, number {number + 1}")
                session.prompt(f"Say hello again, number {number + 1}", answer=LONG)
                session.compact()
                before = len(session.turns)
                session.prompt(f"Say it once more, number {number + 1}")
                following = session.turns[before]  # Codex asks for a title after it
                run.expect(
                    any(RULE in block for part in following.parts for block in blocks_in(part.text)),
                    f"{number + 1}: no {RULE!r} in request {following.number}",
                )
                repeated = _repeated(following)
                run.expect(not repeated, f"{number + 1}: twice {repeated} in request {following.number}")
            session.quit()


def _repeated(request: ModelRequest) -> list[str]:
    """Return the memories and lines of ours that a request has more than once.

    Gemini CLI sends the results of tools twice in a session that it resumes, with whatever came with them.
    """
    results = dict.fromkeys(part for part in request.parts if part.kind == RESULT)
    others = [part for part in request.parts if part.kind != RESULT]
    blocks = [block for part in (*results, *others) for block in blocks_in(part.text)]
    counts = Counter(item for block in blocks for item in {*memory_ids(block)})
    lines = Counter(line for block in blocks for line in block.splitlines() if RULE in line)
    return [item for item, count in (counts + lines).items() if count > 1]
