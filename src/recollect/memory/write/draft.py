"""Turn a draft into a memory: limits, redaction, defaults (docs/writing.md, steps 1–3)."""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import recollect.model as m
from recollect.errors import ContentRefused, OutOfScope, UnknownName
from recollect.kinds import DEFAULT, kind_of
from recollect.memory.write import enrich, limits
from recollect.memory.write.forbidden import forbidden_commands
from recollect.memory.write.kind import kind_in
from recollect.text.redact import redact, redact_name

_E = TypeVar("_E", bound=StrEnum)


def memory_from(
    draft: m.Draft, *, user_id: str, project: m.Project | None, now: datetime, folder: Path | None = None
) -> tuple[m.Memory, tuple[m.Redaction, ...]]:
    """Return the memory for `draft`, without what may not be stored. Raise `Refused`."""
    text, redactions = clean_text(draft.content)
    draft, more = _redact_details(draft)
    by_agent = m.is_agent(draft.created_by)
    kind = kind_of(draft.kind or _default_kind(draft, text, by_agent))
    scope = _scope(draft, project)
    source = _source(draft, by_agent, kind.correcting)
    root = Path(project.root) if project else None
    paths = tuple(_relative(path, root, folder) for path in draft.file_paths)
    if by_agent:
        limits.refuse_no_paths(paths, root)
    limits.refuse_ignored(paths, root)
    trust = m.TRUST[source]
    origin = m.Provenance(
        source=source,
        at=now,
        session=draft.session,
        messages=draft.messages,
        agent=draft.created_by.partition(":")[2] or None,
        branch=draft.branch,
        snippet=draft.snippet,
        reason="; ".join(filter(None, (f"{source.replace('_', ' ')}: {trust}", draft.evidence))),
    )
    memory = m.Memory(
        id=m.new_id(now),
        user_id=user_id,
        project_id=None if scope is m.Scope.GLOBAL or project is None else project.id,
        scope=scope,
        kind=kind.name,
        content=text,
        summary=enrich.summarise(text),
        fingerprint=m.fingerprint(text),
        created_at=now,
        updated_at=now,
        valid_from=min(draft.said_at or now, now),
        provenance=(origin,),
        created_by=draft.created_by,
        visibility=one_of(m.Visibility, "visibility", draft.visibility)
        or (m.Visibility.PROJECT if by_agent else m.Visibility.PRIVATE),
        tags=enrich.infer_tags(text, paths, draft.tags),
        file_paths=paths,
        triggers=draft.triggers or (forbidden_commands(text) if kind.forbids and not by_agent else ()),
        when_needed=draft.when_needed,
        procedure=enrich.procedure_of(replace(draft, content=text)),
        season=draft.season,
        branch=draft.branch,
        importance=_importance(draft.importance),
        confidence=trust,
        trust=trust,
        standing=_standing(draft, by_agent),
        promoted_at=now if by_agent else None,
    )
    return memory, (*redactions, *more)


def _default_kind(draft: m.Draft, text: str, by_agent: bool) -> str:
    """Return the kind of a statement that none was given for. An agent's is a fact: it makes no rules."""
    if draft.steps:
        return "procedure"
    if by_agent:
        return DEFAULT
    return "correction" if draft.correction else kind_in(text)


def clean_text(content: str) -> tuple[str, tuple[m.Redaction, ...]]:
    """Return `content` without secrets. Raise `ContentRefused` if it may not be stored."""
    text = limits.clean(content)
    limits.refuse_echo(text)
    text, redactions = redact(text)
    limits.check_size(text)
    return text, redactions


def clean_situations(situations: Iterable[str]) -> tuple[tuple[str, ...], tuple[m.Redaction, ...]]:
    """Return situations in which a memory is needed, each in one line, without secrets. Raise `ContentRefused`."""
    draft, redactions = _redact_details(m.Draft("", when_needed=tuple(situations)))
    if not draft.when_needed:
        raise ContentRefused(
            "No situation was given.", "Say in a few words what somebody is doing who needs the memory."
        )
    return draft.when_needed, redactions


def clean_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[m.Redaction, ...]]:
    """Return changes of a memory without secrets, before they are sent to where it is. Raise `ContentRefused`."""
    texts = {name: changes[name] for name in (*_LISTS, *_TEXTS) if changes.get(name)}
    draft, redactions = _redact_details(m.Draft("", **texts))
    clean = {**changes, **{name: getattr(draft, name) for name in texts}}
    if "content" in changes:
        clean["content"], more = clean_text(changes["content"])
        redactions = (*more, *redactions)
    return clean, redactions


def clean_details(
    memory: m.Memory, project: m.Project | None, folder: Path | None = None, *, by_agent: bool = False
) -> tuple[m.Memory, tuple[m.Redaction, ...]]:
    """Check the other fields of an edited memory like those of a new one. Raise `Refused`."""
    root = Path(project.root) if project else None
    draft, redactions = _redact_details(
        m.Draft(
            content="",
            tags=memory.tags,
            file_paths=memory.file_paths,
            triggers=memory.triggers,
            when_needed=memory.when_needed,
            steps=memory.procedure.steps if memory.procedure else (),
            season=memory.season,
            branch=memory.branch,
        )
    )
    paths = tuple(_relative(path, root, folder) for path in draft.file_paths)
    if by_agent:
        limits.refuse_no_paths(paths, root)
    limits.refuse_ignored(paths, root)
    cleaned = replace(
        memory,
        tags=tuple(map(enrich.normal_tag, draft.tags)),
        file_paths=paths,
        triggers=draft.triggers,
        when_needed=draft.when_needed,
        procedure=replace(memory.procedure, steps=draft.steps) if memory.procedure else None,
        season=draft.season,
        branch=draft.branch,
        importance=_importance(memory.importance),
    )
    return cleaned, redactions


def one_of(names: type[_E], what: str, value: str | None) -> _E | None:
    """Return the member of `names` called `value`; None for None. Raise `UnknownName`."""
    if value is None:
        return None
    try:
        return names(value)
    except ValueError:
        raise UnknownName(what, value, [str(name) for name in names]) from None


def _scope(draft: m.Draft, project: m.Project | None) -> m.Scope:
    project_id = project.id if project else None
    scope = one_of(m.Scope, "scope", draft.scope)
    if scope is None:
        scope = m.Scope.PROJECT if project_id else m.Scope.GLOBAL
    if scope is m.Scope.SESSION and not draft.session:
        raise ContentRefused(
            "A memory with scope session needs a session.", "Give --session, or use --scope project."
        )
    if scope is not m.Scope.GLOBAL and project_id is None:
        raise OutOfScope("There is no project in this folder.", "Use --scope global.")
    if m.is_agent(draft.created_by) and (
        scope is m.Scope.GLOBAL or draft.project_id not in (None, project_id)
    ):
        raise OutOfScope(
            "An agent may write only to the project it runs in.",
            "Ask the user to run `recollect remember --scope global …`.",
        )
    return scope


def _standing(draft: m.Draft, by_agent: bool) -> m.Standing:
    """Return the standing. An agent pins nothing."""
    standing = one_of(m.Standing, "standing", draft.standing) or m.Standing.CONFIRMED
    return m.Standing.CONFIRMED if by_agent and standing is m.Standing.PINNED else standing


def _source(draft: m.Draft, by_agent: bool, correcting: bool) -> m.Source:
    """Return the source: a user states or corrects; an agent observes, unless it claims less.

    A finding of a session claims what it heard, such as a user's correction. Unless the host's own record confirms it, it
    is an agent's draft, and capped.
    """
    if not by_agent:
        return m.Source.USER_CORRECTED if correcting or draft.correction else m.Source.USER_STATED
    claimed = one_of(m.Source, "source", draft.source) or m.Source.OBSERVED
    return claimed if m.TRUST[claimed] <= m.TRUST[m.Source.OBSERVED] else m.Source.OBSERVED


def _importance(value: float | None) -> float:
    if value is None:
        return 0.5
    if not 0.0 <= value <= 1.0:
        raise ContentRefused(f"Importance {value:g} is out of range.", "Give a number from 0 to 1.")
    return value


_LISTS: dict[str, Callable[[m.Draft], tuple[str, ...]]] = {
    "tags": lambda draft: draft.tags,
    "file_paths": lambda draft: draft.file_paths,
    "triggers": lambda draft: draft.triggers,
    "when_needed": lambda draft: tuple(map(limits.in_one_line, draft.when_needed)),
    "steps": lambda draft: draft.steps,
    "prerequisites": lambda draft: draft.prerequisites,
    "warnings": lambda draft: draft.warnings,
}
_TEXTS = ("season", "branch", "session", "created_by", "snippet", "evidence")
_NAMES = ("branch", "session")


def _redact_details(draft: m.Draft) -> tuple[m.Draft, tuple[m.Redaction, ...]]:
    """Redact the other fields: tags and steps may hold secrets too."""
    redactions: list[m.Redaction] = []
    changed: dict[str, Any] = {}
    for name, items in _LISTS.items():
        texts = []
        for item in limits.check_items(name.replace("_", " "), items(draft)):
            text, removed = redact(item)
            texts.append(text)
            redactions += removed
        changed[name] = tuple(dict.fromkeys(texts))
    limits.check_situations(changed["when_needed"])
    for name in _TEXTS:
        value = getattr(draft, name)
        if value:
            # Redact before cutting: half a secret would not be recognised.
            clean = redact_name if name in _NAMES else redact
            text, removed = clean(limits.plain(value, f"The {name.replace('_', ' ')}"))
            changed[name] = text[: limits.MAX_FIELD] if name == "snippet" else limits.short(text, name)
            redactions += removed
    return replace(draft, **changed), tuple(redactions)


def _relative(path: str, root: Path | None, folder: Path | None) -> str:
    """Return `path` relative to the project's root, with forward slashes."""
    path = path.replace("\\", "/")
    if root is None:
        return path.removeprefix("./") or "."
    base = folder if folder is not None and _is_relative_to(path, folder, root) else root
    absolute = posixpath.normpath(posixpath.join(base.as_posix(), path))
    inside = absolute == root.as_posix() or absolute.startswith(f"{root.as_posix()}/")
    return posixpath.relpath(absolute, root.as_posix()) if inside else absolute


def _is_relative_to(path: str, folder: Path, root: Path) -> bool:
    """Return whether `path` is relative to `folder`: agents give paths from the root, people from their folder."""
    try:
        return folder != root and ((folder / path).exists() or not (root / path).exists())
    except (OSError, ValueError):
        return False
