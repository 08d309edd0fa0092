"""Compose the briefing that an agent gets at the start of a task. `Engine.recall` calls `Briefings.recall`."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.context.context import Context
from recollect.errors import Refused
from recollect.memory.briefing.briefing import Briefing, compose
from recollect.memory.briefing.budget import allocate
from recollect.memory.briefing.content import collect_content, role_named
from recollect.memory.preferences import Preferences
from recollect.memory.retrieval import Retrieval
from recollect.work.hosts.registry import briefing_format

if TYPE_CHECKING:
    from recollect.code.modules.project_map import ProjectMap


class Briefings:
    """Briefings for one project, from its memories and its module map."""

    def __init__(
        self, context: Context, retrieval: Retrieval, preferences: Preferences, maps: "ProjectMap | None"
    ) -> None:
        self._context = context
        self._retrieval = retrieval
        self._preferences = preferences
        self._maps = maps  # None = outside any project

    def recall(
        self,
        task: str = "",
        *,
        files: Iterable[str] = (),
        host: str = "gemini",  # Markdown, which every agent reads
        remaining: int = 100_000,
        budget: int | None = None,
        role: str | None = None,
        session: str | None = None,
    ) -> Briefing:
        """Return what an agent should know at the start of `task`, rendered for `host`, within a budget of tokens.

        `remaining` is what is left of the agent's context, of which 8 % may be used; `budget` is a ceiling, by default the
        project's. Raises `Refused` for a budget below 1, and `UnknownName` for an unknown host or role.
        """
        format = briefing_format(host)
        files = tuple(files)
        ceiling = budget if budget is not None else self._preferences.budget()
        if ceiling < 1:
            raise Refused(f"A budget of {ceiling} tokens is too small for a briefing.", "Give 1 or more.")
        material, notes = collect_content(
            self._context.store,
            self._retrieval.searcher,
            self._retrieval.question(task.strip() or " ".join(files), files, session=session),
            self._context.embedder.model,
            role_named(role),
            session,
            self._context.clock(),
            self._maps.cards(task, files) if self._maps else (),
        )
        return replace(compose(material, allocate(remaining, ceiling), format, host=host), notes=notes)
