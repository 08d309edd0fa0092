"""What each actor may do to whose memory: one table, asked by every interface through `Context`.

A person may do everything. The tables say what an agent may do: `ON_MEMORIES` by the owner of the memory, `ON_THE_WHOLE`
for what is not about one memory. An agent that may not do something is told why (`Denied`), or what it wants becomes
a question that a person answers in `recollect review` (`PROPOSE`).
"""

from enum import StrEnum

import recollect.model as m
from recollect.frozen import frozen

USER_SOURCES = frozenset({m.Source.USER_CORRECTED, m.Source.USER_STATED})


class MemoryOwner(StrEnum):
    """Whose word a memory is."""

    AGENT = "agent"
    REPOSITORY = "repository"  # found in the project's files, and accepted by nobody
    PERSON = "person"  # said, confirmed or pinned by a person
    GLOBAL = "global"  # outside the project that the actor works in: of all projects, or of another


class Operation(StrEnum):
    """What can be done."""

    # to one memory
    EDIT = "edit"
    FORGET = "forget"
    RESTORE = "restore"
    FLAG_WRONG = "flag wrong"
    PIN = "pin"  # and unpin
    TAG = "tag"
    LINK = "link"
    UNLINK = "unlink"
    CONTRADICT = "contradict"  # link it to a memory that contradicts it
    SUPERSEDE = "supersede"  # put another statement in its place
    RESOLVE = "resolve"  # settle its conflict
    MERGE = "merge"  # with another that says the same
    REINFORCE = "reinforce"  # state it again
    ENRICH = "enrich"  # add files, tags, triggers, words or importance by stating it again
    DESCRIBE = "describe"  # say when it is needed: that is searched, and not shown as its words
    PRAISE = "praise"  # say that it helped
    DOUBT = "doubt"  # say that it did not help
    # to the rest
    READ_ALL_PROJECTS = "read all projects"
    WRITE_GLOBAL = "write global"
    UNDO = "undo"
    REVIEW = "review"
    CONSOLIDATE = "consolidate"
    MIRROR = "mirror"
    FORGET_PROJECT = "forget project"
    RESTORE_PROJECT = "restore project"
    FORGET_EVERYTHING = "forget everything"
    ENCRYPT = "encrypt"
    SWITCH = "switch"
    SET_LEARNING = "set learning"
    AGREE = "agree"
    TRUST = "trust"
    SET_PREFERENCES = "set preferences"


class Permission(StrEnum):
    ALLOW = "allow"
    PROPOSE = "propose"  # ask a person, and change nothing until then
    DENY = "deny"


_ALLOW, _PROPOSE, _DENY = Permission.ALLOW, Permission.PROPOSE, Permission.DENY

# What an agent may do to a memory. The columns: its own or another agent's, the repository's, a person's, a global one.
_COLUMNS = (MemoryOwner.AGENT, MemoryOwner.REPOSITORY, MemoryOwner.PERSON, MemoryOwner.GLOBAL)
_ROWS = {
    Operation.EDIT: (_ALLOW, _DENY, _DENY, _DENY),
    Operation.FORGET: (_ALLOW, _PROPOSE, _PROPOSE, _DENY),
    Operation.RESTORE: (_ALLOW, _DENY, _DENY, _DENY),
    Operation.FLAG_WRONG: (_DENY, _DENY, _DENY, _DENY),
    Operation.PIN: (_DENY, _DENY, _DENY, _DENY),  # what is pinned counts as a person's
    Operation.TAG: (_ALLOW, _DENY, _DENY, _DENY),
    Operation.LINK: (_ALLOW, _DENY, _ALLOW, _DENY),
    Operation.UNLINK: (_DENY, _DENY, _DENY, _DENY),
    Operation.CONTRADICT: (_ALLOW, _DENY, _PROPOSE, _DENY),
    Operation.SUPERSEDE: (_ALLOW, _ALLOW, _PROPOSE, _DENY),
    Operation.RESOLVE: (_DENY, _DENY, _DENY, _DENY),
    Operation.MERGE: (_DENY, _DENY, _DENY, _DENY),
    Operation.REINFORCE: (_ALLOW, _ALLOW, _ALLOW, _DENY),
    Operation.ENRICH: (_ALLOW, _DENY, _DENY, _DENY),
    Operation.DESCRIBE: (_ALLOW, _DENY, _ALLOW, _DENY),
    Operation.PRAISE: (_ALLOW, _DENY, _ALLOW, _DENY),
    Operation.DOUBT: (_ALLOW, _DENY, _DENY, _DENY),
}
ON_MEMORIES = {
    (operation, owner): permission
    for operation, permissions in _ROWS.items()
    for owner, permission in zip(_COLUMNS, permissions, strict=True)
}

# What an agent may not do at all; each completes "An agent may not …".
ON_THE_WHOLE = {
    Operation.READ_ALL_PROJECTS: "read other projects",
    Operation.WRITE_GLOBAL: "write outside the project it runs in",
    Operation.UNDO: "undo a change",
    Operation.REVIEW: "answer review questions",
    Operation.CONSOLIDATE: "consolidate memories",
    Operation.MIRROR: "mirror memories",
    Operation.FORGET_PROJECT: "forget a project",
    Operation.RESTORE_PROJECT: "restore a project",
    Operation.FORGET_EVERYTHING: "forget everything",
    Operation.ENCRYPT: "change the encryption",
    Operation.SWITCH: "turn memory on or off",
    Operation.SET_LEARNING: "change how memory learns",
    Operation.AGREE: "agree to send texts to a server",
    Operation.TRUST: "trust a repository",
    Operation.SET_PREFERENCES: "change the user's preferences",
}
_WORDS = {
    Operation.EDIT: "change it",
    Operation.FORGET: "forget it",
    Operation.RESTORE: "restore it",
    Operation.FLAG_WRONG: "mark it as wrong",
    Operation.PIN: "pin or unpin it",
    Operation.TAG: "tag it",
    Operation.LINK: "link it",
    Operation.UNLINK: "unlink it",
    Operation.CONTRADICT: "link it as contradicted",
    Operation.SUPERSEDE: "replace it",
    Operation.RESOLVE: "settle its conflict",
    Operation.MERGE: "merge it",
    Operation.REINFORCE: "state it again",
    Operation.ENRICH: "add to it",
    Operation.DESCRIBE: "say when it is needed",
    Operation.PRAISE: "rate it",
    Operation.DOUBT: "lower it",
}
_BELONGS = {
    MemoryOwner.AGENT: "was recorded by an agent",
    MemoryOwner.REPOSITORY: "was found in the repository and waits for the user's review",
    MemoryOwner.PERSON: "comes from the user",
    MemoryOwner.GLOBAL: "is the user's own, and not of the project this agent runs in",
}
_INSTEAD = {
    MemoryOwner.PERSON: "Remember the new statement instead: the user can then settle the conflict.",
    MemoryOwner.REPOSITORY: "Ask the user to run `recollect review --kind seed`.",
}
ASK_THE_USER = "Ask the user to do it."


@frozen
class Ruling:
    """The answer of the table, with the words for a refusal."""

    permission: Permission
    reason: str = ""  # a sentence, for what is not allowed
    hint: str = ""


ALLOWED = Ruling(Permission.ALLOW)


def owner_of(memory: m.Memory, project_id: str | None) -> MemoryOwner:
    """Return whose word `memory` is, for an actor in this project."""
    if memory.project_id is None or memory.project_id != project_id:
        return MemoryOwner.GLOBAL
    if is_persons(memory):
        return MemoryOwner.PERSON
    return MemoryOwner.REPOSITORY if memory.is_proposal else MemoryOwner.AGENT


def is_persons(memory: m.Memory) -> bool:
    """Whether a person said, confirmed or pinned it."""
    return memory.pinned or memory.source in USER_SOURCES


def on_memory(actor: str, operation: Operation, memory: m.Memory, project_id: str | None) -> Ruling:
    """Return whether `actor`, in this project, may do this to `memory`."""
    if not m.is_agent(actor):
        return ALLOWED
    owner = owner_of(memory, project_id)
    permission = ON_MEMORIES[operation, owner]
    if permission is Permission.ALLOW:
        return ALLOWED
    reason = f"Memory {memory.id} {_BELONGS[owner]}, and an agent may not {_WORDS[operation]}."
    return Ruling(permission, reason, _INSTEAD.get(owner, ASK_THE_USER))


def on_the_whole(actor: str, operation: Operation) -> Ruling:
    """Return whether `actor` may do this, which is not about one memory."""
    if not m.is_agent(actor):
        return ALLOWED
    return Ruling(Permission.DENY, f"An agent may not {ON_THE_WHOLE[operation]}.", ASK_THE_USER)


def may_overrule(actor: str, author: str | None) -> bool:
    """Whether `actor` may change what `author` has decided about the module map; None = nobody has."""
    return author is None or not m.is_agent(actor) or m.is_agent(author)
