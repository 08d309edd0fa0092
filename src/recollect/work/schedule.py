"""Maintenance that is due from time to time: backups, purging, compaction, clusters, learning from past work.

The daemon calls `run_idle` when nobody waits, and `Engine.close` calls `run_at_close`. What of it is due when is decided
here and in the functions called here. What an idle daemon does besides (recover sessions, consolidate, follow the code)
is in `HookService._maintain` of `interfaces.daemon`.
"""

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.context.context import Context
from recollect.errors import RecollectError, StoreBusy
from recollect.memory.maintenance.purge import drop_messages_if_due, purge_if_due, vacuum_if_it_pays

if TYPE_CHECKING:
    from recollect.code.codebase import Codebase
    from recollect.memory.retrieval import Retrieval
    from recollect.work.episodes.episodes import Episodes
    from recollect.work.metrics.measures import Measures

_COMPACTED_AT_ONCE = (
    500  # memories, so that closing stays quick: a store far over capacity takes several runs
)
_LONGEST_DAYS = 36_500  # that texts pruned from a context window are kept


class Schedule:
    """Runs the maintenance of one project that is due. A part that is None is not in use and has nothing to do."""

    def __init__(
        self,
        context: Context,
        measures: "Measures | None" = None,
        retrieval: "Retrieval | None" = None,
        episodes: "Episodes | None" = None,
        code: "Codebase | None" = None,
    ) -> None:
        self._context = context
        self._store = context.store
        self._measures = measures
        self._retrieval = retrieval
        self._episodes = episodes
        self._code = code

    def run_idle(self) -> bool:
        """Run everything that is due; return whether clusters were made anew. This may take seconds."""
        from recollect.memory.maintenance.clusters import clusters_due, refresh_clusters

        self.process_use()
        self._save_index()
        self._compact_if_due()
        self._purge_if_due()
        self._learn_from_work()
        with contextlib.suppress(StoreBusy):  # the next run tries again
            vacuum_if_it_pays(self._store, self._context.clock())
        context = self._context
        if not clusters_due(self._store, context.project_id):
            return False
        refresh_clusters(
            self._store, context.embedder.model, context.view(), context.project_id, context.clock()
        )
        return True

    def run_at_close(self, *, wrote: bool) -> None:
        """Run what must not wait for a daemon that may never come. `wrote` = memories have changed since opening.

        Raises `StoreError` if the backup fails.
        """
        self._purge_if_due()
        try:
            if wrote:
                self._back_up_if_due()
                with contextlib.suppress(StoreBusy):  # what was written is safe; the next process does this
                    self._store.trim_audit()
                    self._compact_if_due()
        finally:
            with contextlib.suppress(RecollectError):  # a read-only home
                self.process_use()
                if self._retrieval is not None:
                    self._compact_if_due()
            self._save_index()

    def process_use(self) -> None:
        """Write the figures that wait, and what searches have noted."""
        if self._measures is not None:
            self._measures.flush()
        if self._retrieval is not None:
            self._retrieval.process_searches()

    def _save_index(self) -> None:
        """Let the store keep what searches have read. It is made again if that fails."""
        if self._retrieval is not None:
            with contextlib.suppress(RecollectError):
                self._retrieval.save_index()

    def _back_up_if_due(self) -> None:
        age = self._store.backup_age(self._context.clock())
        hours = self._context.settings.backup_hours
        if hours and (age is None or not 0 <= age < hours):  # below 0: made while the clock was ahead
            self._store.backup()

    def _compact_if_due(self) -> None:
        from recollect.memory.maintenance.compact import compact, is_due

        context = self._context
        now = context.confirmed_now()
        if is_due(self._store, context.project_id, now):
            compact(
                self._store,
                user_id=context.user_id,
                project_id=context.project_id,
                capacity=context.settings.capacity,
                now=now,
                most=_COMPACTED_AT_ONCE,
            )

    def _purge_if_due(self) -> None:
        """Delete forgotten memories, old messages, deliveries and pruned texts whose time is over."""
        settings = self._context.settings
        with contextlib.suppress(RecollectError):  # a read-only home, a busy or a closed store
            now = self._context.confirmed_now()
            purge_if_due(self._store, settings.home, now)
            drop_messages_if_due(self._store, settings.message_days, now)
            if settings.message_days:
                self._store.deliveries.drop_before(
                    now - timedelta(days=min(settings.message_days, _LONGEST_DAYS))
                )
            if settings.pruned_days:
                self._store.pruned.drop_before(now - timedelta(days=min(settings.pruned_days, _LONGEST_DAYS)))

    def _learn_from_work(self) -> None:
        """Find patterns in past work, and the memories that the code no longer agrees with."""
        from recollect.memory.anchors.stale import check_anchors

        if self._episodes is not None:
            self._episodes.refresh()
            self._episodes.embed_tasks()
            self._episodes.roll_up_if_due()
        check_anchors(self._context, self._code.open_graph if self._code is not None else None)
