"""Search over memories, messages and sessions, and what a search leaves to be done. `engine.retrieval` is a `Retrieval`.

A search changes no memory. It notes what it found, and `process_searches` later turns that into gaps and links, when
nobody waits.
"""

import contextlib
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

import recollect.model as m
from recollect.context.context import Context
from recollect.errors import RecollectError, Refused
from recollect.frozen import frozen
from recollect.kinds import kind_of
from recollect.memory import ranking
from recollect.memory.anchors.stale import refresh_changed
from recollect.memory.memories import Memories
from recollect.memory.preferences import Preferences
from recollect.memory.search.aliases import load_aliases
from recollect.memory.search.latency import LatencyWindow
from recollect.memory.search.search import Searcher, SearchQuery
from recollect.memory.write.enrich import normal_tag
from recollect.policy import Operation

logger = logging.getLogger(__name__)

_MAX_PENDING = 1000  # searches noted until `process_searches`; more are not noted


@frozen
class _PastSearch:
    """A search that `process_searches` has not handled yet."""

    id: str
    view: m.View
    answers: list[str]  # ids of memories
    text: str  # "" = it asked nothing


class Retrieval:
    """Finds memories, messages and sessions for a question. It can be used from any thread."""

    def __init__(self, context: Context, memory: Memories, preferences: Preferences) -> None:
        self._context = context
        self._store = context.store
        self._memory = memory
        self._preferences = preferences
        self._pending: list[_PastSearch] = []

    @cached_property
    def latencies(self) -> LatencyWindow:
        return LatencyWindow.from_json(self._store.setting(None, "latencies"))

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher(self._context, self._memory.index, self.latencies)

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
        meaning: bool = True,
        task: bool = False,
        noted: bool = True,
        view: m.View | None = None,
        which: m.MemoryFilter | None = None,
        **filters: Any,
    ) -> m.Answer:
        """Return memories relevant to `query`, best first, each with its reasons. For `filters` see `Context.view`.

        `files` are open or named in the task: memories about them rank higher. `as_of` answers from what was valid then.
        Without `meaning` only words are compared, and no model is loaded. If `query` is a `task`, rules for that kind of work count
        more.

        A search that is not `noted` is that of a person who looks around: it leaves no gap, link or timing, and works while
        memory is off. `view` then replaces `filters`, and `which` narrows it.
        """
        if noted:
            self._context.refuse_if_off()
        _check_limit(limit)
        if as_of is not None and as_of > self._context.clock():
            raise Refused(f"{as_of:%Y-%m-%d %H:%M} is in the future.", "Give a time in the past.")
        refresh_changed(self._context)
        question = replace(
            self.question(query, files, **filters),
            limit=limit,
            recipe=recipe,
            tag=normal_tag(tag) if tag else None,
            file=file,
            as_of=as_of,
            graph=graph,
            meaning=meaning,
            task=task,
            timed=noted,
            which=self._resolved(which, view) if which and view else which,
        )
        if view is not None:
            self._context.check(Operation.READ_ALL_PROJECTS)
            question = replace(question, view=view)
        answer = self.searcher.search(question)
        if noted:
            self._note(question, answer)
        if not answer.partial and self._store.setting(None, "vectors_pending"):
            note = "Some memories have no vector yet and were matched by words only. Run `recollect init` to embed them."
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

    def _resolved(self, which: m.MemoryFilter, view: m.View) -> m.MemoryFilter | None:
        """Return the filter with the ids of the memories in conflict, if it asks for those; None if it lets all pass."""
        if not which.in_conflict:
            return which if which != m.MemoryFilter() else None
        ends = frozenset(name for link in self._store.conflicts(view) for name in (link.source, link.target))
        return replace(which, ids=ends if which.ids is None else which.ids & ends)

    def question(self, text: str, files: Iterable[str], **filters: Any) -> SearchQuery:
        """Return `text` as a question in this project, with its seasons and aliases."""
        return SearchQuery(
            text,
            self._context.view(**filters),
            files=tuple(files),
            seasons=frozenset(self._preferences.seasons()),
            aliases=lambda: load_aliases(self._store, self._context.project_id),
        )

    def explain(self, query: str, name: str, **options: Any) -> m.Hit:
        """Return the hit for one memory, with its reasons. Raises `Refused` if it is not among the first 100."""
        memory = self._memory.get(name)
        for hit in self.search(query, 100, **options).results:
            if hit.memory.id == memory.id:
                return hit
        raise Refused(
            f"Memory {memory.id} is not among the first 100 results for that query.",
            f"Run `recollect show {memory.id}` to see its content.",
        )

    def similar(self, name: str, limit: int = 10) -> tuple[m.Hit, ...]:
        """Return the memories most similar to one, best first."""
        self._context.refuse_if_off()
        from recollect.memory.search.graph import similar

        _check_limit(limit)
        channel, scores = similar(
            self._store,
            self._memory.index,
            self._context.embedder.model,
            self._memory.get(name),
            self._context.view(),
            limit,
        )
        memories = self._store.get_many([memory_id for memory_id, _ in scores])
        return tuple(
            m.Hit(memories[memory_id], round(score, 6), {"parts": {channel: round(score, 6)}, "channels": {}})
            for memory_id, score in scores
            if memory_id in memories
        )

    def close_to(self, receipt: m.Receipt) -> tuple[m.CloseMemory, ...]:
        """Return what an agent's new statement may contradict and the few memories nearest to it, for it to say how they relate.

        Left out are events, proposals of the repository, what holds elsewhere, and what the statement has replaced. There are
        none for a person and for what was known already, and none near without a vector. The statement is stored, so this
        never fails.
        """
        if receipt.is_duplicate:
            return ()
        try:
            return self._close_to(receipt)
        except RecollectError as error:
            logger.warning("nothing was compared with %s: %s", receipt.id, error)
            return ()

    def _close_to(self, receipt: m.Receipt) -> tuple[m.CloseMemory, ...]:
        stored = self._memory.get(receipt.id)
        if not m.is_agent(stored.created_by) or kind_of(stored.kind).reports:
            return ()
        disputed = [self._memory.get(name) for name in receipt.conflicts_with]
        settled = {*receipt.supersedes, *receipt.conflicts_with}
        near = [
            hit.memory
            for hit in self.similar(stored.id, ranking.CLOSE_ASKED)
            if hit.why["parts"].get("meaning", 0.0) >= ranking.CLOSE_COSINE
            and hit.memory.id not in settled
            and not hit.memory.is_proposal
            and not kind_of(hit.memory.kind).reports
            and m.same_matter(stored, hit.memory)
        ]
        close = [*disputed, *near][: ranking.CLOSE_SHOWN]
        others = any(memory.user_id != stored.user_id for memory in close)
        names = self._memory.people() if others else {}
        return tuple(
            m.CloseMemory(memory, names.get(memory.user_id, "") if memory.user_id != stored.user_id else "")
            for memory in close
        )

    def search_messages(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.MessageHit, ...]:
        """Return messages from sessions of this project, best first."""
        self._context.refuse_if_off()
        _check_limit(limit)
        return self.searcher.search_messages(query, self._context.view(all_projects=all_projects), limit)

    def search_sessions(
        self, query: str, limit: int = 10, *, all_projects: bool = False
    ) -> tuple[m.SessionHit, ...]:
        """Return the sessions of this project whose messages match, best first."""
        self._context.refuse_if_off()
        _check_limit(limit)
        return self.searcher.search_sessions(query, self._context.view(all_projects=all_projects), limit)

    def gaps(self, limit: int = 20) -> tuple[m.Gap, ...]:
        """Return questions that memory could not answer, newest first."""
        _check_limit(limit)
        return tuple(self._store.gaps(self._context.project_id, limit))

    # after a search

    def note_use(self, used: Iterable[str], session: str | None = None, rejected: Iterable[str] = ()) -> None:
        """Record which memories an agent used after they were shown, and which did not fit its task at all."""
        from recollect.memory.maintenance.feedback import after_retrieval

        used = list(used)
        after_retrieval(
            self._store,
            self._context.clock,
            self._context.view(session=session),
            retrieval=m.new_id(),
            shown=used,
            used=used,
            rejected=rejected,
            session=session,
        )

    def save_index(self) -> None:
        """Let the store keep what searches have read, if that is due."""
        self._memory.index.save_if_due()

    def process_searches(self, most: int = _MAX_PENDING) -> None:
        """Turn the searches noted so far into gaps and links, at most so many of them."""
        from recollect.memory.maintenance.feedback import after_retrieval

        for _ in range(min(most, len(self._pending))):
            search = self._pending.pop()
            after_retrieval(
                self._store,
                self._context.clock,
                search.view,
                retrieval=search.id,
                shown=search.answers,
                context=search.text,
                actor=self._context.actor,
            )

    def drop_searches(self) -> None:
        """Leave out searches that were not processed yet: whoever made them may have been erased."""
        self._pending.clear()

    def close(self) -> None:
        """Save the latencies and stop the searcher. A read-only store is left as it is."""
        if "searcher" in self.__dict__:
            with contextlib.suppress(RecollectError):
                self._store.set_setting(None, "latencies", self.latencies.as_json())
            self.searcher.close()

    def _note(self, question: SearchQuery, answer: m.Answer) -> None:
        if not answer.partial and len(self._pending) < _MAX_PENDING:
            answers = [hit.memory.id for hit in answer.results if hit.score >= ranking.ANSWERS_SCORE]
            self._pending.append(_PastSearch(m.new_id(), question.view, answers, _asked(question)))


def _asked(question: SearchQuery) -> str:
    """Return what a search asked; nothing for a task that asks nothing: that no memory helps with it is no gap."""
    if question.task:
        from recollect.text.sentences import is_question, sentences  # importing the rules takes 30 ms

        if not any(map(is_question, sentences(question.text))):
            return ""
    return question.text


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise Refused(f"A limit of {limit} shows nothing.", "Give 1 or more.")
