"""Memories to keep, and views to see them by; quick to import, for other processes too."""

import hashlib
import math
import struct
from datetime import UTC, datetime

from hypothesis import strategies as st

import recollect.model as m

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINE = m.View("ada", "shop", branches=None)
EVERYTHING = m.View("ada", all_projects=True, all_sessions=True, states=m.ALL_STATES)


def memory(content="Use pnpm, never npm.", **fields):
    """A memory of Ada's in the project `shop`."""
    session = fields.pop("session", None)
    values = {
        "id": m.new_id(),
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": content,
        "summary": content[:60],
        "fingerprint": m.fingerprint(content),
        "created_at": NOW,
        "updated_at": NOW,
        "valid_from": NOW,
        "provenance": (m.Provenance(m.Source.USER_STATED, NOW, session=session),),
    }
    return m.Memory(**{**values, **fields})


def keep(store, *memories):
    """As the write path does it: a line in the audit log, then the memory."""
    with store.transaction():
        for each in memories:
            store.log("add", each.created_by, NOW, each.id, {"kind": each.kind})
            store.put(each)
    return memories[0]


def unit(*numbers):
    """These numbers as a vector of length 1."""
    length = math.hypot(*numbers)
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def sentence(number):
    """One of many that share no word that matters, so that none is merged with another."""
    one, two, three = (hashlib.sha256(f"{number} {part}".encode()).hexdigest()[:8] for part in "abc")
    return f"Module x{one} hands y{two} over to z{three}."


class Undo(Exception):
    """Rolls an example back, so that each begins with an empty store."""


USERS, PROJECTS, SESSIONS, BRANCHES = ["ada", "bob"], ["shop", "blog", ""], ["s1", "s2"], ["main", "next"]
placed = st.builds(
    memory,
    user_id=st.sampled_from(USERS),
    project_id=st.none() | st.sampled_from(PROJECTS),
    scope=st.sampled_from(m.Scope),
    kind=st.sampled_from(["fact", "decision"]),
    session=st.none() | st.sampled_from(SESSIONS),
    branch=st.none() | st.sampled_from(BRANCHES),
    visibility=st.sampled_from(m.Visibility),
    state=st.sampled_from(m.State),
    created_by=st.sampled_from(["user", "agent:coder", f"{m.SEEDS_OF}shop"]),
    trust=st.sampled_from([0.6, 0.9]),
    standing=st.sampled_from(m.Standing),
)
views = st.builds(
    m.View,
    user_id=st.sampled_from(USERS),
    project_id=st.none() | st.sampled_from(PROJECTS),
    session=st.none() | st.sampled_from(SESSIONS),
    branches=st.none() | st.frozensets(st.sampled_from(BRANCHES)),
    all_projects=st.booleans(),
    all_sessions=st.booleans(),
    states=st.just(m.ALL_STATES) | st.frozensets(st.sampled_from(m.State)),
    kinds=st.none() | st.frozensets(st.sampled_from(["fact", "decision"])),
    scopes=st.none() | st.frozensets(st.sampled_from(m.Scope)),
    proposals=st.booleans(),
)
