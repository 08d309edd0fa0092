"""Does the host accept what `recollect install` writes, and does `recollect uninstall` remove exactly that?"""

import re
from pathlib import Path
from shlex import quote

from livehosts.check import CheckRun
from livehosts.checks.briefing import RULE, prepare
from livehosts.interactive import interactive_session
from livehosts.model_request import RESULT
from livehosts.sandbox import Sandbox
from livehosts.script import CallTool, RunShell, Say

LESSON = "Refunds in the ledger export are rounded towards zero because the auditor Hofmann insists"
FACT = "Deploys happen on Thursdays only"


def no_warnings(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        printed = box.run("List the files", RunShell("ls"), RunShell("false"), Say("Listed.")).output
        _expect_no_warning(run, box, "headless", printed)
        with interactive_session(box) as session:
            session.prompt("List the files", RunShell("ls"), RunShell("false"))
            screen = session.screen
            session.quit()
        _expect_no_warning(run, box, "in a terminal", screen)


def _expect_no_warning(run: CheckRun, box: Sandbox, where: str, text: str) -> None:
    lines = [line.strip() for line in text.splitlines()]
    found = [line for line in lines if any(re.search(pattern, line) for pattern in box.cli.warnings)]
    run.expect(not found, f"{where}: {found[:3]}")


def mcp_tools(run: CheckRun) -> None:
    with run.sandbox() as box:
        prepare(box)
        for number in run.count(2, 5):
            turns = box.run(
                f"Search the memory, number {number + 1}",
                RunShell("sleep 5"),  # hosts start servers beside the first request
                CallTool("search_memory", {"query": "British English"}),
                Say("Found."),
            ).turns
            results = [part.text for part in turns[-1].parts if part.kind == RESULT] if turns else []
            run.expect(
                any(RULE in text for text in results), f"{number + 1}: the tool answered {results[-1:]}"
            )


def slash_commands(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.install()
        command = f"{box.cli.slash}remember"
        with interactive_session(box) as session:
            session.prompt("Say hello")
            session.prompt_command(command, "Remember something", FACT)
            session.quit()
        texts = [part.text for part in session.turns[-1].parts if part.author == "user"]
        asked = [text.replace(quote(str(box.program)), "recollect") for text in texts]
        run.expect(
            any("recollect remember" in text for text in asked) and any(FACT in text for text in asked),
            f"{command} sent {[text[:200] for text in texts[-3:]]}",
        )


def glance(run: CheckRun) -> None:
    """The user sees what memory did: in the status line, if there is one, and when the next session begins."""
    with run.sandbox() as box:
        box.install(*(["--status-line"] if box.cli.has_status_line else []))
        box.recollect("remember", LESSON, "--kind", "gotcha")
        box.run("Say hello")  # starts the daemon: a memory that comes too late for its question is not used
        box.wait_for(lambda: bool(box.recollect_json("daemon", "status").get("model_ready")), 30.0)
        with interactive_session(box) as session:
            session.prompt("Say how refunds are rounded in the ledger export", answer=f"{LESSON}.")
            session.prompt("Thank you, that is clear now")
            if box.cli.has_status_line:
                session.prompt("Say hello")
                shown = session.wait_for("Recollect: 1 memory used", 10.0)
                run.expect(shown, f"no status line:\n{session.screen.strip()[-600:]}")
            session.quit()
        if "session-ended-tui" not in box.cli.limits:  # else it is closed when the next one begins
            newest = box.sessions()[0]["id"]
            box.wait_for(lambda: any(one["id"] == newest and one["ended_at"] for one in box.sessions()), 15.0)
        with interactive_session(box) as session:
            session.prompt("Say hello")
            is_shown = session.wait_for("the last session used 1 memory", 10.0)
            limit = box.cli.limits.get("glance")
            run.expect(
                is_shown == (limit is None), f"about the last session:\n{session.screen.strip()[:900]}"
            )
            run.notes[:] = [limit] if limit else []


def uninstall(run: CheckRun) -> None:
    with run.sandbox() as box:
        before = _files(box)
        box.install()
        box.recollect("uninstall", box.cli.name, "--yes")
        changed = _difference(before, _files(box))
        run.expect(not changed, f"without a session: {changed}")
        box.install()
        box.run("List the files", RunShell("ls"), Say("Listed."))
        box.recollect("uninstall", box.cli.name, "--yes")
        left = [path.name for path, text in _files(box).items() if _is_ours(path, text, box)]
        run.expect(not left, f"after a session: recollect is still in {left}")


def _files(box: Sandbox) -> dict[Path, bytes]:
    roots = [box.home, box.project]
    return {
        path: path.read_bytes()
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts and "node_modules" not in path.parts
    }


def _difference(before: dict[Path, bytes], after: dict[Path, bytes]) -> list[str]:
    names = {*before, *after}
    return sorted(path.name for path in names if before.get(path) != after.get(path))


def _is_ours(path: Path, text: bytes, box: Sandbox) -> bool:
    """Whether a file that `install` edits or writes names us; the host's logs and transcripts are its own."""
    settings = {"settings.json", ".claude.json", "hooks.json", "config.toml", "opencode.json", "recollect.js"}
    is_setting = (
        path.name in settings or path.parent.name in ("commands", "prompts") or path.name == "SKILL.md"
    )
    return is_setting and b"recollect" in text.replace(str(box.folder).encode(), b"")
