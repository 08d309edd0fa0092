"""`recollect hook HOST EVENT`: send a host's event to the daemon, print the answer, and exit.

It never waits longer than its deadline, or than the daemon asks it to, and always exits 0. When no daemon answers, it
composes the briefing of a session itself and lets a session's first prompt wait for a daemon (`without_daemon`); an
event that is not on disk then is left to a background process (`deliver`). The program runs for every prompt and every
tool, so it imports only what every run needs.
"""

import os
import select
import sys
import time

from recollect.interfaces.daemon_client import protocol

DEADLINE = 0.15  # seconds that a prompt or a tool may wait
SESSION_DEADLINE = 0.5  # seconds that the start of a session may wait, and a tool that changes something
# Events that are answered late or never otherwise: a session starts once, and a tool that has run cannot be held back.
_MAY_WAIT = ("sessionstart", "pretooluse", "beforetool", "toolexecutebefore")
STARTING_SECONDS = 15.0  # in which a daemon that has started may be too busy to answer at once
LARGEST = (
    256 * 1024
)  # bytes of an event that is sent while the host waits; larger ones are delivered in the background
STATUS_LINE = (
    "StatusLine"  # nothing happened: without an answer there is nothing to keep, and no daemon is started
)
INPUT_SECONDS = 2.0  # in which a host must have written its event
LARGEST_INPUT = 32 * 1024 * 1024  # bytes; larger events are ignored


def main(arguments: list[str]) -> int:
    """Send one event and return 0, always: a memory that fails must not stop the host."""
    try:
        host, event, given = [*arguments, "", "", ""][:3]
        body = os.fsencode(given) or _read()  # Codex's `notify` passes it as an argument
        if body and host:
            _send(host, event or "-", body)
    except BaseException:  # whatever it is, interrupts included: the host must go on
        pass
    return 0


def _send(host: str, event: str, body: bytes) -> None:
    home = protocol.home_folder()
    now = time.time_ns()
    name = f"{now:x}-{os.getpid():x}-{os.urandom(4).hex()}"
    seconds = deadline(event)
    fields = (host, event, name, str(now), f"{seconds:.3f}", _folder())
    try:
        if len(body) > LARGEST:
            raise protocol.NotRecorded(b"")
        _print(protocol.ask(home, "hook", fields, body, seconds, lambda: _more_seconds(home, fields, body)))
    except protocol.NoAnswer as unanswered:
        if event != STATUS_LINE and not _answer_alone(home, fields, body, unanswered):
            from recollect.interfaces.hooks.deliver import deliver_in_background

            deliver_in_background(home, fields, body)


def _answer_alone(home: str, fields: tuple[str, ...], body: bytes, unanswered: protocol.NoAnswer) -> bool:
    """Print what can be said without a daemon, and return whether the event is on disk."""
    if isinstance(unanswered, protocol.NotRecorded):
        _print(unanswered.text)
        return False
    try:
        from recollect.interfaces.hooks.without_daemon import answer

        answered = answer(home, fields, body, is_listening=not isinstance(unanswered, protocol.NotListening))
    except Exception:  # whatever it is: the event must still be delivered
        return False
    _print(answered.text)
    return answered.is_kept


def _more_seconds(home: str, fields: tuple[str, ...], body: bytes) -> float:
    """Return how much longer a daemon that has said nothing is waited for: not at all unless it has just started."""
    if time.time() - os.stat(f"{home}/{protocol.LOCK}").st_mtime > STARTING_SECONDS:  # noqa: PTH116
        return 0.0
    from recollect.interfaces.hooks.without_daemon import first_prompt_seconds_left

    return first_prompt_seconds_left(home, fields, body)


def deadline(event: str) -> float:
    try:
        given = float(os.environ.get("RECOLLECT_HOOK_DEADLINE", ""))
        if 0 < given <= 10:
            return given
    except ValueError:
        pass
    name = event.lower().replace("_", "").replace(".", "")  # however the host spells it
    return SESSION_DEADLINE if name in _MAY_WAIT else DEADLINE


def _read() -> bytes:
    """Return standard input as far as it comes in time; nothing if it is larger than any event."""
    parts: list[bytes] = []
    size = 0
    until = time.monotonic() + INPUT_SECONDS
    while _has_input(until) and (part := os.read(0, 1 << 20)):
        size += len(part)
        if size <= LARGEST_INPUT:
            parts.append(part)
    return b"".join(parts) if size <= LARGEST_INPUT else b""


def _has_input(until: float) -> bool:
    """Return whether there is input, or its end; False if a host that never closes it makes us wait too long."""
    if sys.platform == "win32":
        return True
    return bool(select.select([0], [], [], max(until - time.monotonic(), 0.0))[0])


def _print(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def _folder() -> str:
    """Return where we were started: the folder that a host means if it names none."""
    try:
        return os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
