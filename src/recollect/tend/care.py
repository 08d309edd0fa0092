"""Looking after memories: what the engine does to many of them at once, and how it is taken back."""

from dataclasses import dataclass

import recollect.model as m
from recollect.config import Settings
from recollect.embed.protocol import Embedder
from recollect.errors import OutOfScope
from recollect.store.protocol import Store
from recollect.tend import undo


@dataclass(frozen=True, slots=True)
class Care:
    """The table of contents of `tend`: `engine.care`. For people; an agent may look, and touch nothing."""

    store: Store
    embedder: Embedder
    settings: Settings
    clock: m.Clock
    actor: str
    project: m.Project | None  # None = outside any project: global memories only

    @property
    def project_id(self) -> str | None:
        return self.project.id if self.project else None

    def change(self, action: str, summary: str) -> m.Change:
        """The beginning of an act that can be undone."""
        return undo.new_change(
            action,
            summary,
            user_id=self.settings.user,
            project_id=self.project_id,
            actor=self.actor,
            now=self.clock(),
        )

    def changes(self, limit: int = 20) -> tuple[m.Change, ...]:
        """What was done to memories here and to global ones, newest first."""
        return tuple(self.store.changes.newest(self.settings.user, self.project_id, limit))

    def undo(self, name: str) -> m.Undone:
        """Take back the change called `name`, by its id or the beginning or end of one. Raises `Refused`."""
        self.refuse_agents("undo a change")
        change = self.store.changes.get(self.settings.user, name)
        return undo.undo(self.store, change, self.actor, self.clock())

    def refuse_agents(self, what: str) -> None:
        """Raises `OutOfScope` unless a person is at work."""
        if m.is_agent(self.actor):
            raise OutOfScope(f"An agent may not {what}.", "Ask the user to do it.")
