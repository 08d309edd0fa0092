"""What a team runs into most: from shared memories, and from what five or more people do. It belongs to the table in `operations`."""

from collections.abc import Iterable
from datetime import timedelta

import recollect.model as m
from recollect.model.team import READ
from recollect.remote.operations import Call, Limit, operation
from recollect.remote.results import CommonQuestion, TeamAnalytics

FEWEST = 5  # people about whose private use anything is said
PERIOD = timedelta(days=30)
_MOST_SEARCHES = 20_000  # that are looked at


@operation(READ)
def analytics(call: Call, limit: Limit = 20) -> TeamAnalytics:
    """Return the gotchas that are used most, and the searches without an answer that five or more people made."""
    engine, me = call.engine, call.identity
    gotchas = [
        memory
        for memory in engine.list(kind="gotcha", all_projects=True)
        if memory.visibility is not m.Visibility.PRIVATE and memory.id not in call.hidden
    ]
    gotchas.sort(key=lambda memory: (memory.access_count + memory.strength, memory.id), reverse=True)
    seen = {project.id for project in engine.store.projects()} | {None}
    since = engine.context.clock() - PERIOD
    searches = [
        (user, question)
        for user, project, question in call.directory.unanswered(me.tenant, since, _MOST_SEARCHES)
        if project in seen
    ]
    people = {user for user, _ in searches}
    return TeamAnalytics(
        tuple(gotchas[:limit]),
        common_questions(searches)[:limit],
        len(searches) if len(people) >= FEWEST else None,
    )


def common_questions(searches: Iterable[tuple[str, str]]) -> tuple[CommonQuestion, ...]:
    """Return what at least `FEWEST` people asked, most common first.

    Counts are rounded down to fives, so that who joins or leaves cannot be told from two answers.
    """
    askers: dict[str, set[str]] = {}
    words: dict[str, str] = {}
    for user, question in searches:
        mark = m.fingerprint(question)
        askers.setdefault(mark, set()).add(user)
        words.setdefault(mark, question)
    common = [
        CommonQuestion(words[mark], len(users) // FEWEST * FEWEST)
        for mark, users in askers.items()
        if len(users) >= FEWEST
    ]
    return tuple(sorted(common, key=lambda each: (-each.people, each.question)))
