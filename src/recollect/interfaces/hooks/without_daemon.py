"""What a hook does when no daemon answers in time: brief a session itself, or wait for a daemon that is starting.

At the start of a session the briefing is composed here, from the store alone: no model, nothing written, nobody waited
for. What was shown is spooled with the event, and the daemon records both. The first prompt of a session waits a little
for the daemon (`first_prompt_seconds` in the settings), once per session. Every other event is left to a background
process (`deliver`).
"""

import json
import threading
import time
from typing import TYPE_CHECKING

from recollect.frozen import frozen
from recollect.interfaces.daemon_client import protocol
from recollect.interfaces.daemon_client.start import start
from recollect.work.hosts.hook_input import HostEvent, host_event
from recollect.work.hosts.host import HookKind
from recollect.work.hosts.registry import HOSTS

if TYPE_CHECKING:
    from recollect.interfaces.daemon_client.spool import ShownText

COMPOSE_SECONDS = 3.5  # after which a session starts without a briefing; hosts wait for five
_BETWEEN_TRIES = 0.01  # seconds


@frozen
class HookAnswer:
    """What to print, and whether the event is recorded or spooled: if not, the caller must deliver it."""

    text: bytes = b""
    is_kept: bool = False


def answer(home: str, fields: tuple[str, ...], body: bytes, *, is_listening: bool) -> HookAnswer:
    """Return the answer to an event that no daemon has answered; `is_listening` says whether one could be reached.

    Raise any error that prevents it: then nothing is printed, and the event is not kept.
    """
    host, name, event_id, at, _, folder = fields
    event = host_event(host, name, event_id, at, folder, json.loads(body))
    if event.hook is None or not event.hook.injects or not event.session:
        return HookAnswer()
    if event.kind is HookKind.SESSION_START:
        return _brief(home, fields, body, event)
    if event.kind is HookKind.PROMPT and not is_listening:  # one that is there has said how long to wait
        return _wait_for_daemon(home, fields, body, event)
    return HookAnswer()


def first_prompt_seconds_left(home: str, fields: tuple[str, ...], body: bytes) -> float:
    """Return how much longer an event may wait for its answer: 0 unless it is the first prompt of a session."""
    from recollect.config import load_settings
    from recollect.interfaces.daemon_client.first_prompts import FirstPrompts

    host, name, event_id, at, _, folder = fields
    event = host_event(host, name, event_id, at, folder, json.loads(body))
    if event.kind is not HookKind.PROMPT or not event.session or event.hook is None or not event.hook.injects:
        return 0.0
    if not FirstPrompts(home).claim(event.session, event_id):
        return 0.0
    return load_settings(home).first_prompt_seconds - (time.time_ns() - int(at)) / 1e9


def _wait_for_daemon(home: str, fields: tuple[str, ...], body: bytes, event: HostEvent) -> HookAnswer:
    start(home, event.cwd)
    until = time.monotonic() + first_prompt_seconds_left(home, fields, body)
    while (left := until - time.monotonic()) > 0:
        try:
            given = (*fields[:4], f"{left:.3f}", *fields[5:])
            return HookAnswer(protocol.ask(home, "hook", given, body, left), is_kept=True)
        except protocol.NotListening:
            time.sleep(_BETWEEN_TRIES)
        except protocol.NotRecorded as unrecorded:
            return HookAnswer(unrecorded.text)
    return HookAnswer()


def _brief(home: str, fields: tuple[str, ...], body: bytes, event: HostEvent) -> HookAnswer:
    """Compose the briefing, and spool the event with what is shown before anybody sees it."""
    start(home, event.cwd)
    from recollect.interfaces.daemon_client.spool import HookSpool

    composing = _Composing(home, event)
    composing.start()
    composing.join(COMPOSE_SECONDS)  # a keychain or a disk may not answer
    text, shown = composing.composed
    return HookAnswer(text, HookSpool(home).append(fields, body, shown))


class _Composing(threading.Thread):
    """Composes a briefing in a thread that may be left behind."""

    def __init__(self, home: str, event: HostEvent) -> None:
        super().__init__(name="recollect-brief", daemon=True)
        self._home = home
        self._event = event
        self.composed: tuple[bytes, ShownText | None] = b"", None

    def run(self) -> None:
        try:
            self.composed = compose_start(self._home, self._event)
        except (
            Exception
        ):  # no key, no store, one that must be migrated: the session starts without a briefing
            self.composed = b"", None


def compose_start(home: str, event: HostEvent) -> "tuple[bytes, ShownText | None]":
    """Return what to print at the start of a session, and what the model sees of it; reads the store and no more.

    Raise `RecollectError` if the store cannot be read as it is.
    """
    from recollect.config import load_settings
    from recollect.engine import Engine
    from recollect.interfaces.daemon_client.spool import ShownText
    from recollect.text import tokens
    from recollect.work.delivery.delivery import DeliveryRequest, Moment
    from recollect.work.hosts.hook_output import printed
    from recollect.work.metrics.glance import look_back

    assert event.hook is not None
    tokens.use_estimates()
    engine = Engine.open_to_read(event.cwd, load_settings(home), actor="agent:hook")
    if not engine.context.is_on("memory"):
        return b"", None
    compacted = event.body.get("source") == "compact"
    request = DeliveryRequest(
        Moment.AFTER_COMPACTION if compacted else Moment.START,
        session=event.session,
        host=event.host,
        longest=HOSTS[event.host].context_limit,
        use_model=False,
    )
    told = engine.delivery.told(event.session)
    message_user = HOSTS[event.host].message_user
    is_new = request.moment is Moment.START and not told.has_started
    message = look_back(engine.context, event.session) if is_new and message_user else ""
    delivery = engine.delivery.compose(request, told)
    text = "" if engine.store.info().encrypted else delivery.text  # the spool is not
    shown = ShownText(request.moment, delivery.tokens, text, delivery.shown)
    more = message_user(message) if message_user and message else {}
    return printed(event.hook, delivery.text, more), shown
