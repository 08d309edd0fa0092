"""What a user sees of memory beside their work: a status line, and a line about the last session."""

from datetime import timedelta

from recollect.context.context import Context
from recollect.frozen import frozen
from recollect.work.delivery.delivery import is_memory
from recollect.work.metrics.overview import open_reviews, savings_of
from recollect.work.metrics.saved import is_baseline, saved

NAME = "Recollect"
RECENT = timedelta(days=7)  # after which a session is not told about any more
_SESSIONS_READ = 10


@frozen
class Glance:
    """A few figures of one session and its project."""

    learnt: int  # memories from this session
    used: int  # memories that its agent was told and has used
    saved: int | None  # tokens; None = unknown
    waiting: int  # questions that only the user can answer

    @property
    def status_line(self) -> str:
        """The figures that are not zero, in a few words; empty if all are."""
        parts = (
            f"{_counted(self.used, 'memory', 'memories')} used" if self.used else "",
            f"{self.learnt:,} learnt" if self.learnt else "",
            f"about {self.saved:,} tokens saved" if self.saved and self.saved > 0 else "",
            f"{self.waiting:,} to review" if self.waiting else "",
        )
        text = " · ".join(filter(None, parts))
        return f"{NAME}: {text}" if text else ""

    @property
    def looking_back(self) -> str:
        """What the last session learnt and used, and what to do about it; empty if it did neither."""
        if not (self.learnt or self.used):
            return ""
        parts = (
            f"learnt {_counted(self.learnt, 'thing')}" if self.learnt else "",
            f"used {_counted(self.used, 'memory', 'memories')}" if self.used else "",
            f"saved about {self.saved:,} tokens" if self.saved and self.saved > 0 else "",
        )
        review = f" {_counted(self.waiting, 'question')} for you: `recollect review`" if self.waiting else ""
        return f"{NAME}: the last session {', '.join(filter(None, parts))}.{review}"


def glance_at(context: Context, session: str) -> Glance:
    """Return the figures of a session that is running, with what memory has saved in its project so far."""
    total, *_ = savings_of(context, context.project_id)
    return _glance(context, session, total)


def look_back(context: Context, session: str) -> str:
    """Return a line about the project's last session, for the first session after its end; else nothing."""
    read = context.store.sessions(context.user_id, context.project_id, _SESSIONS_READ)
    others = [other for other in read if other.id != session]
    ended = [(other.ended_at, other.id) for other in others if other.ended_at is not None]
    if not ended:
        return ""
    ended_at, last = max(ended)
    was_told = any(other.started_at > ended_at for other in others if other.id != last)
    if was_told or ended_at < context.clock() - RECENT:
        return ""
    rows = context.store.measures.by_session(context.user_id, context.project_id)
    baseline = [row for row in rows.values() if is_baseline(row)]
    return _glance(context, last, saved(rows.get(last, {}), baseline).tokens).looking_back


def _glance(context: Context, session: str, tokens: int | None) -> Glance:
    store = context.store
    used = {
        item.key
        for record in store.deliveries.of_session(context.user_id, session)
        for item in record.items
        if item.used_at is not None and is_memory(item.key)
    }
    learnt = {finding.promoted_to for finding in store.findings(session)} - {None}
    waiting = sum(open_reviews(context, [context.project_id]).values())
    return Glance(len(learnt), len(used), tokens, waiting)


def _counted(number: int, noun: str, nouns: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
