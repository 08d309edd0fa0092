"""Is the briefing in the first request?"""

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.interactive import interactive_session
from livehosts.load import busy_machine
from livehosts.sandbox import Sandbox, SessionRun

RULE = "Answer in British English"
CONVENTION = "Amounts of money are integers in cents"


def prepare(box: Sandbox) -> None:
    """Store what a user would have, and connect the host."""
    box.recollect("remember", RULE, "--kind", "preference")
    box.recollect("remember", CONVENTION, "--kind", "convention")
    box.install()


def has_briefing(run: SessionRun) -> str:
    """Return what is missing in the first request; empty if nothing is."""
    blocks = "\n".join(delivered(run.first))
    missing = [text for text in (RULE, CONVENTION) if text not in blocks]
    return f"the first request has no {missing[0]!r}" if missing else ""


def cold(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        _sessions(run, box, is_cold=True)


def warm(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        box.run("Say hello first")
        _sessions(run, box, is_cold=False)


def cold_under_load(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        with busy_machine():
            _sessions(run, box, is_cold=True)


def warm_under_load(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        box.run("Say hello first")
        with busy_machine():
            _sessions(run, box, is_cold=False)


def _sessions(run: CheckRun, box: Sandbox, *, is_cold: bool) -> None:
    for number in run.count(3, 10):
        if is_cold:
            box.stop_daemon()
        missing = has_briefing(box.run(f"Say hello, number {number + 1}"))
        run.expect(not missing, f"session {number + 1}: {missing}")


def in_a_terminal(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        for number in run.count(1, 3):
            box.stop_daemon()
            with interactive_session(box) as session:
                session.prompt(f"Say hello, number {number + 1}")
                blocks = "\n".join(delivered(session.turns[0]))
                session.quit()
            run.expect(RULE in blocks, f"session {number + 1}: the first request has no {RULE!r}")
