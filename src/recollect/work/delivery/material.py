"""What memory has to say at a moment of a session, before it is fitted into a budget and rendered."""

from dataclasses import field

import recollect.model as m
from recollect.frozen import frozen


@frozen
class Material:
    """Everything that comes from memories and from other sessions. Files and past work are not part of it."""

    always: tuple[m.Memory, ...] = ()  # rules
    fired: tuple[m.Hit, ...] = ()  # memories with a trigger in the text, the user's first
    matches: tuple[m.Hit, ...] = ()  # memories that are likely to be useful, best first
    waiting: tuple[
        m.Hit, ...
    ] = ()  # memories that are likely to be useful to an agent that opens their files
    known_errors: tuple[m.Hit, ...] = ()  # memories about such a failure
    findings: tuple[m.Finding, ...] = ()  # of other running sessions, newest first
    conflicts: tuple[tuple[m.Link, m.Memory, m.Memory], ...] = ()  # open ones of all these memories
    stale: frozenset[str] = frozenset()  # ids of memories that the code no longer agrees with
    notes: tuple[str, ...] = ()  # about the search, for people
    names: dict[str, str] = field(default_factory=dict)  # of the other people whose memories are in it, by id
    probabilities: dict[str, float] = field(default_factory=dict)  # that a match is useful, by id
