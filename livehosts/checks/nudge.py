"""Is an agent asked once to record what it learnt, and never in a session without anything to record?"""

from collections.abc import Sequence
from shlex import quote

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.interactive import interactive_session
from livehosts.model_request import ModelRequest
from livehosts.sandbox import Sandbox
from livehosts.script import Action, CallTool, RunShell, Say, WriteFile

REQUEST = "you recorded nothing for the next one"
END = "That is all."
COUNTED_SECONDS = 20.0  # in which the daemon writes down what it counted
TASK = "Move the prices of the shop into files of their own"
LEARNT = "Prices of the shop are read from prices/*.csv at import time, so tests must reload shop.prices"
LATER = "Why do the tests of the shop not see new prices in prices/*.csv?"
EDITS = tuple(WriteFile(f"prices/{name}.csv", "apple,3\n") for name in ("fruit", "bread", "milk"))
TRIVIAL: tuple[tuple[Action, ...], ...] = (
    (),
    (RunShell("ls"),),
    (RunShell("cat src/shop/cart.py"),),
    (RunShell("git status"), RunShell("git log --oneline")),
    (WriteFile("notes.txt", "one\n"),),
    (RunShell("false"),),
    (WriteFile("notes.txt", "one\n"), WriteFile("notes.txt", "two\n")),
    (RunShell("ls missing"), RunShell("ls")),
    (RunShell("grep -rn cart src"),),
    (CallTool("search_memory", {"query": "prices"}),),
)


def asked_once(run: CheckRun) -> None:
    if limit := run.cli.limits.get("nudge"):
        run.notes[:] = [limit]
    for number in run.count(1, 3):
        with run.sandbox() as box:
            _prepare(box)
            _records(run, box, number)
        with run.sandbox() as box:
            _prepare(box)
            _refuses(run, box, number)


def not_asked(run: CheckRun) -> None:
    with run.sandbox() as box:
        _prepare(box)
        for number, actions in enumerate(TRIVIAL):
            asked = _requests(box.run(f"A small thing, number {number + 1}", *actions, Say("Done.")).turns)
            run.expect(not asked, f"session {number + 1}: asked {asked}")


def _prepare(box: Sandbox) -> None:
    (box.project / "prices").mkdir()
    box.install()
    box.run("Say hello first")


def _records(run: CheckRun, box: Sandbox, number: int) -> None:
    # A host may not let the tool run without its user; then the agent has the command.
    command = f"{quote(str(box.program))} remember --created-by agent:{box.cli.name} --kind gotcha '{LEARNT}'"
    record = CallTool("record_memory", {"content": LEARNT, "kind": "gotcha"})
    asked = _requests(_session(box, (record, RunShell(command), Say(END))))
    run.expect(len(asked) == 1, f"{number + 1}: asked {len(asked)} times")
    stored = [memory for memory in box.memories() if LEARNT in memory["content"]]
    run.expect(
        [memory["created_by"] for memory in stored] == [f"agent:{box.cli.name}"],
        f"{number + 1}: the store has {box.memories()}",
    )
    box.run("Move them once more", *EDITS, Say("Moved again."), resume=True)
    first = box.run(LATER).first
    run.expect("reload shop.prices" in "\n".join(delivered(first)), f"{number + 1}: not in the next session")
    box.wait_for(lambda: _counted(box)["asked"] > 0, COUNTED_SECONDS)
    counted = _counted(box)
    run.expect(counted["asked"] == 1 and counted["asked_tokens"] > 50, f"{number + 1}: counted {counted}")


def _counted(box: Sandbox) -> dict[str, int]:
    return dict(box.recollect_json("stats")["measures"]["here"])


def _session(box: Sandbox, then: Sequence[Action]) -> Sequence[ModelRequest]:
    """Run a session with much work in it, after which the model answers our request with `then`."""
    turns: dict[str, Sequence[Action]] = {TASK: (*EDITS, Say("Moved.")), REQUEST: then}
    if "nudge" not in box.cli.limits:
        box.play(turns)
        return box.run_words(box.cli.headless(TASK)).turns
    with interactive_session(box) as session:
        box.play(turns)
        session.type(TASK)
        session.wait_for(END)
        session.quit()
    return session.turns


def _refuses(run: CheckRun, box: Sandbox, number: int) -> None:
    asked = _requests(_session(box, (Say(f"I have nothing to record. {END}"),)))
    run.expect(len(asked) == 1, f"{number + 1}: refusing: asked {len(asked)} times")
    run.expect(box.memories() == [], f"{number + 1}: refusing: stored {box.memories()}")


def _requests(turns: Sequence[ModelRequest]) -> list[str]:
    """Return each request of ours that the last turn of a session has."""
    return [part.text[:300] for part in turns[-1].parts if REQUEST in part.text] if turns else []
