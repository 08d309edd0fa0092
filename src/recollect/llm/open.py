"""The one place that knows which sidecars there are."""

import os

import recollect.model as m
from recollect.config import Settings
from recollect.context.embedder import Embedder
from recollect.context.store import Store
from recollect.llm.protocol import Sidecar
from recollect.llm.voice import Voice
from recollect.memory.local_judge import LocalSidecar, SilentSidecar


def open_sidecar(settings: Settings, store: Store, embedder: Embedder, clock: m.Clock) -> Sidecar:
    """Loads nothing and calls no one."""
    if settings.sidecar == "none":
        return SilentSidecar()
    local = LocalSidecar(embedder)
    voice = open_voice(settings)
    if voice is None:
        return local
    from recollect.llm.consent import may_send, place
    from recollect.llm.guarded import GuardedSidecar
    from recollect.llm.ledger import Purse

    return GuardedSidecar(
        settings.sidecar,
        voice,
        local,
        Purse(store.ledger, settings, place(settings), clock),
        lambda: may_send(settings, store),
        settings.sidecar_seconds,
    )


def open_voice(settings: Settings) -> Voice | None:
    """None where nobody is asked."""
    if settings.sidecar == "http":
        from recollect.llm.http import HttpVoice

        key = os.environ.get("RECOLLECT_SIDECAR_KEY")
        return HttpVoice(settings.sidecar_url, settings.sidecar_model, key)
    if settings.sidecar == "command":
        from recollect.llm.command import CommandVoice

        return CommandVoice(settings.sidecar_command, os.environ)
    return None
