"""What memory can be asked: for what bears on a question or a task, and for what there is."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.errors import Refused
from recollect.habits import Habits
from recollect.memory import ranking
from recollect.memory.write.enrich import normal_tag
from recollect.surroundings import Surroundings

if TYPE_CHECKING:
    from recollect.memory.briefing.briefing import Briefing
    from recollect.memory.search.latency import LatencyWindow
    from recollect.memory.search.search import Searcher, SearchQuery

_MOST_RETRIEVALS = 1000  # remembered until there is time to deal with them


class Asking(Habits, Surroundings):
    """Nothing here changes a memory; what is left to do after a search is done by `Engine.maintain`."""

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        tag: str | None = None,
        file: str | None = None,
        files: Iterable[str] = (),
        as_of: datetime | None = None,
        recipe: str = "default",
        graph: bool = True,
        **filters: Any,
    ) -> m.Answer:
        """Memories that bear on `query`, best first, each with its reasons. `filters` as for `list`.

        `files` are open or named in the task: memories about them count more. `as_of` answers from what was valid then.
        """
        _refuse_nonsense(limit, as_of, self._clock())
        question = self._question(query, files, **filters)
        tag = normal_tag(tag) if tag else None
        question = replace(question, limit=limit, recipe=recipe, tag=tag, file=file, as_of=as_of, graph=graph)
        with self.measures.timing("search"):
            answer = self._searcher.search(question)
        self._note_retrieval(question, answer)
        if not answer.partial and self.store.setting(None, "vectors_pending"):
            note = (
                "Some memories have no vector yet and were found by words only; `recollect init` makes them."
            )
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

    def explain(self, query: str, name: str, **options: Any) -> m.Hit:
        """Why a memory is where it is for `query`. Raises `Refused` if it is not among the first 100."""
        memory = self.get(name)
        for hit in self.search(query, 100, **options).results:
            if hit.memory.id == memory.id:
                return hit
        raise Refused(
            f"Memory {memory.id} has nothing to do with that query.", "`recollect show` tells what it says."
        )

    def search_messages(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.MessageHit, ...]:
        """What was said about it in sessions of this project, best first."""
        _refuse_nonsense(limit)
        return self._searcher.search_messages(query, self.view(all_projects=all_projects), limit)

    def search_sessions(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.SessionHit, ...]:
        """The sessions of this project it was talked about in, best first."""
        _refuse_nonsense(limit)
        return self._searcher.search_sessions(query, self.view(all_projects=all_projects), limit)

    def recall(
        self,
        task: str = "",
        *,
        files: Iterable[str] = (),
        host: str = "gemini",
        remaining: int = 100_000,
        budget: int | None = None,
        role: str | None = None,
        session: str | None = None,
    ) -> "Briefing":
        """What an agent should know at the start of `task`, rendered for `host`, within a budget of tokens.

        `remaining` is what is left of its context, of which 8 % may be used; `budget` is a ceiling (or `set_budget`'s).
        """
        from recollect.memory.briefing.briefing import compose
        from recollect.memory.briefing.budget import allocate
        from recollect.memory.briefing.content import collect_content, role_named
        from recollect.work.hosts.registry import briefing_format

        format = briefing_format(host)
        files = tuple(files)
        ceiling = budget if budget is not None else self.budget()
        if ceiling < 1:
            raise Refused(f"A budget of {ceiling} tokens leaves no room for anything.", "Give 1 or more.")
        material, notes = collect_content(
            self.store,
            self._searcher,
            self._question(task.strip() or " ".join(files), files, session=session),
            self.embedder.model,
            role_named(role),
            session,
            self._clock(),
            self.maps.cards(task, files) if self.project else (),
        )
        briefing = compose(material, allocate(remaining, ceiling), format, host=host)
        return replace(briefing, notes=notes)

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        """What is like a memory, best first."""
        from recollect.memory.search.graph import similar

        _refuse_nonsense(limit)
        memory = self.get(name)
        channel, found = similar(self.store, self.index, self.embedder.model, memory, self.view(), limit)
        memories = self.store.get_many([each for each, _ in found])
        return tuple(
            m.Hit(memories[each], round(score, 6), {"parts": {channel: round(score, 6)}, "channels": {}})
            for each, score in found
            if each in memories
        )

    def gaps(self, limit: int = 20) -> tuple[m.Gap, ...]:
        """What was asked for and memory had nothing, newest first."""
        _refuse_nonsense(limit)
        return tuple(self.store.gaps(self._project_id, limit))

    def memory_graph(self) -> tuple[tuple[m.Memory, ...], tuple[m.Link, ...]]:
        """All memories in view and the links between them, to be drawn."""
        return self.list(), tuple(self.store.all_links(self.view()))

    def list(
        self, *, tag: str | None = None, file: str | None = None, limit: int | None = None, **filters: Any
    ) -> tuple[m.Memory, ...]:
        """Newest first: this project's and the global ones. `filters`: kind, scope, state, branch, session, all_projects."""
        found = self.store.newest(
            self.view(**filters), tag=normal_tag(tag) if tag else None, file=file, limit=limit
        )
        return tuple(found)

    def count(self, *, tag: str | None = None, file: str | None = None, **filters: Any) -> int:
        """How many there are of what `list` gives."""
        if tag or file:
            return len(self.list(tag=tag, file=file, **filters))
        return self.store.count(self.view(**filters))

    def links(self, name: str) -> tuple[m.Link, ...]:
        """Those of a memory, as far as one may see the other end."""
        memory, view = self.get(name), self._own()
        found = self.store.links(memory.id)
        ends = self.store.get_many(
            [link.target if link.source == memory.id else link.source for link in found]
        )
        seen = {memory.id, *(each.id for each in ends.values() if view.shows_memory(each))}
        return tuple(link for link in found if {link.source, link.target} <= seen)

    def conflicts(self) -> tuple[tuple[m.Link, m.Memory, m.Memory], ...]:
        """Contradictions that wait for someone to settle them, with both sides."""
        found = self.store.conflicts(self.view())
        return tuple((link, self.store.get(link.source), self.store.get(link.target)) for link in found)

    def tags(self) -> tuple[m.Tag, ...]:
        return tuple(self.store.tags(self.view()))

    def audit(self, limit: int = 50, name: str | None = None) -> tuple[m.AuditLine, ...]:
        lines = self.store.audit(limit, self.get(name).id if name else None)
        if m.is_agent(self.actor):
            ids = [line.memory_id for line in lines if line.memory_id]
            here = {
                each.id for each in self.store.get_many(ids).values() if each.project_id == self._project_id
            }
            lines = [line for line in lines if line.memory_id in here]
        return tuple(lines)

    def _note_retrieval(self, question: "SearchQuery", answer: m.Answer) -> None:
        """To be dealt with when nobody waits: a gap is noted where nothing fitted, and clusters come due."""
        if not answer.partial and len(self._retrievals) < _MOST_RETRIEVALS:
            shown = [hit.memory.id for hit in answer.results if hit.score >= ranking.ANSWERS_SCORE]
            self._retrievals.append((m.new_id(), question.view, shown, question.text))

    def _question(self, text: str, files: Iterable[str], **filters: Any) -> "SearchQuery":
        from recollect.memory.search.aliases import load_aliases
        from recollect.memory.search.search import SearchQuery

        return SearchQuery(
            text,
            self.view(**filters),
            files=tuple(files),
            seasons=frozenset(self.seasons()),
            aliases=lambda: load_aliases(self.store, self._project_id),
        )

    @cached_property
    def _searcher(self) -> "Searcher":
        from recollect.memory.search.search import Searcher

        return Searcher(self.context, self.index, self._window)

    @cached_property
    def _window(self) -> "LatencyWindow":
        from recollect.memory.search.latency import LatencyWindow

        return LatencyWindow.from_json(self.store.setting(None, "latencies"))


def _refuse_nonsense(limit: int, as_of: datetime | None = None, now: datetime | None = None) -> None:
    if limit < 1:
        raise Refused(f"A limit of {limit} shows nothing.", "Give 1 or more.")
    if as_of is not None and now is not None and as_of > now:
        raise Refused(f"{as_of:%Y-%m-%d %H:%M} is in the future.", "Give a time that has been.")
