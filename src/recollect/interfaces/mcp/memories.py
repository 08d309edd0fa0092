"""What the tools for memories and past sessions do. Each returns its answer with stable keys, and as text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.errors import MemoryNotFound, Refused
from recollect.interfaces.mcp.answers import (
    ActionResult,
    CloseLine,
    MemoryLine,
    MemoryList,
    MemorySource,
    RecordedMemory,
    SessionLine,
    SessionLines,
)
from recollect.interfaces.mcp.requests import ToolContext

if TYPE_CHECKING:
    from recollect.model import Link, Memory, Message, PrunedText, Receipt

AROUND = 2  # messages shown before and after the one that is read
LONGEST = 4_000  # characters of a message that is read
SHORT = 300  # of one in a list
# What the agent is told below the memories that are close to what it recorded.
RELATE = (
    'If it takes the place of one of these, call memory(action="link", id="{id}", relation="supersedes", to=ID); '
    'if both cannot hold and you do not know which does, the same with relation="contradicts"; '
    'if one says the same, memory(action="forget", id="{id}"); otherwise do nothing.'
)


def search(
    context: ToolContext, query: str, limit: int, kind: str, file: str, repeat: bool
) -> tuple[MemoryList, str]:
    context.engine.measures.note("on_demand", session=context.client.session)
    answer = context.engine.search(
        query, limit, kind=kind or None, file=file or None, files=(file,) if file else ()
    )
    return found(context, [hit.memory for hit in answer.results], repeat, answer.notes)


def newest(
    context: ToolContext, limit: int, kind: str, tags: Sequence[str], repeat: bool
) -> tuple[MemoryList, str]:
    memories = context.engine.list(limit=limit, kind=kind or None, tag=tags[0] if tags else None)
    return found(context, memories, repeat)


def found(
    context: ToolContext, memories: "Sequence[Memory]", repeat: bool, notes: Sequence[str] = ()
) -> tuple[MemoryList, str]:
    """Return the memories that are new to this session in full, and the ids of the others."""
    from recollect.memory.briefing.content import missing_files
    from recollect.memory.briefing.render import (
        attributed,
        clean,
        conflict_line,
        format_named,
        memory_entry,
        short_ids,
    )
    from recollect.memory.seeds.hosts import is_for_host

    memories = [memory for memory in memories if is_for_host(memory, context.briefing_host)]
    missing = missing_files(context.engine.context.root, memories)
    shown = context.client.shown
    fresh = [memory for memory in memories if repeat or memory.id not in shown]
    conflicts = _conflicts(context, {memory.id for memory in fresh})
    names = short_ids(
        [*(memory.id for memory in memories), *(each.id for pair in conflicts for each in pair)]
    )
    known = [names[memory.id] for memory in memories if not repeat and memory.id in shown]
    shown.update(memory.id for memory in fresh)
    stale = context.engine.care.stale()
    results, entries = [], []
    before: set[str] = set()  # memories whose conflicts were told
    for memory in fresh:
        others = [other for one, other in conflicts if one.id == memory.id]
        says_so = tuple(
            conflict_line(
                (attributed(names[memory.id], memory), memory.content),
                (attributed(names[other.id], other), other.content),
            )
            for other in others
            if other.id not in before
        )
        before.add(memory.id)
        entry = memory_entry(
            memory,
            names[memory.id],
            stale=memory.id in stale,
            missing=memory.id in missing,
            disputed=bool(others),
        )
        entries.append(replace(entry, text=clean(memory.content), conflicts=says_so))
        results.append(
            MemoryLine(
                names[memory.id],
                memory.kind,
                memory.content,
                list(entry.marks),
                [names[other.id] for other in others],
            )
        )
    form = format_named(context.format)
    lines = [
        form.document([form.section("found", [form.write(entry) for entry in entries])] if entries else [])
    ]
    if known:
        lines.append(
            f"Shown earlier in this session: {', '.join(f'#{name}' for name in known)} (repeat=true shows them again)."
        )
    elif not fresh:
        lines.append("No memory matches.")
    text = "\n".join(filter(None, [*lines, *notes]))
    return MemoryList(results, known, list(notes)), text


def _conflicts(context: ToolContext, ids: set[str]) -> "list[tuple[Memory, Memory]]":
    """Return the open contradictions of these memories, each from the side of one of them."""
    pairs = [(one, other) for _, one, other in context.engine.conflicts()]
    return [pair for one, other in pairs for pair in ((one, other), (other, one)) if pair[0].id in ids]


def record(
    context: ToolContext,
    content: str,
    kind: str,
    files: Sequence[str],
    tags: Sequence[str],
    when: Sequence[str] = (),
    scope: str = "",
) -> tuple[RecordedMemory, str]:
    receipt = context.engine.remember(
        content,
        kind=kind or None,
        scope=scope or None,
        file_paths=tuple(files),
        tags=tuple(tags),
        when_needed=tuple(when),
        session=context.client.session,
    )
    context.client.shown.add(receipt.id)
    close, beside = _close_to(context, receipt)
    recorded = RecordedMemory(
        id=_short(receipt.id),
        outcome=receipt.outcome,
        message=receipt.message,
        supersedes=[_short(each) for each in receipt.supersedes],
        conflicts_with=[_short(each) for each in receipt.conflicts_with],
        redactions=[redaction.type for redaction in receipt.redactions],
        notes=list(receipt.notes),
        close_to=close,
    )
    removed = f"Secrets removed: {', '.join(recorded.redactions)}." if recorded.redactions else ""
    said = " ".join(filter(None, (f"#{recorded.id}: {receipt.message}", removed, *receipt.notes)))
    return recorded, said + beside


def _close_to(context: ToolContext, receipt: "Receipt") -> tuple[list[CloseLine], str]:
    """Return the memories that a new one may be about, and what to tell the agent about them."""
    from recollect.memory.briefing.render import clean, close_document, format_named, short_ids
    from recollect.memory.seeds.hosts import is_for_host

    close = [
        each for each in context.engine.close_to(receipt) if is_for_host(each.memory, context.briefing_host)
    ]
    if not close:
        return [], ""
    names = short_ids([receipt.id, *(each.memory.id for each in close)])
    lines = [CloseLine(names[each.memory.id], each.said_by, clean(each.memory.content)) for each in close]
    document = close_document(format_named(context.format), close, names)
    return lines, f"\n{document}\n{RELATE.format(id=names[receipt.id])}"


def recall(context: ToolContext, task: str, files: Sequence[str]) -> tuple[ActionResult, str]:
    briefing = context.engine.recall(
        task, files=files, host=context.briefing_host, session=context.client.session
    )
    context.client.shown.update(briefing.memories)
    context.engine.measures.injected(briefing.memories, context.client.session)
    text = briefing.text or "There is no briefing yet. Use search_memory."
    return ActionResult("recall", text, "", [], []), text


def change(
    context: ToolContext,
    action: str,
    name: str,
    other: str,
    relation: str,
    tags: Sequence[str],
    helpful: bool,
) -> tuple[ActionResult, str]:
    from recollect.model import State

    engine = context.engine
    if not name:
        raise Refused(f"{action} needs the id of a memory.", "Find it with search.")
    if action == "forget":
        done = engine.forget(name)
        text = (
            "Forgotten; the user can restore it for 30 days."
            if done.state is State.DELETED
            else "It stays: it is not yours to forget. The user is asked (`recollect review --kind forget`)."
        )
    elif action == "tag":
        done = engine.tag(name, add=tags)
        text = f"Its tags: {', '.join(done.tags)}."
    elif action == "feedback":
        done, text = engine.feedback(name, helpful, context.client.session), "Recorded."
    else:
        link = engine.link(name, other, relation)
        done, text = engine.get(link.source), _linked(link, relation)
    return ActionResult(action, text, _short(done.id), [], []), f"#{_short(done.id)}: {text}"


def _linked(link: "Link", relation: str) -> str:
    """Return what a link has done, which is not always what was asked for."""
    from recollect.model import PROPOSED, Relation

    other = f"#{_short(link.target)}"
    if link.verdict == PROPOSED:
        return f"Both stay, because {other} or this one is the user's. The user is asked (`recollect review --kind contradiction`)."
    if link.relation is Relation.SUPERSEDES:
        return f"It took the place of {other}."
    if link.relation != relation:
        return f"Both stay, in conflict: {other} is another person's."
    return f"Linked: {relation} {other}."


def search_sessions(context: ToolContext, query: str, limit: int) -> tuple[SessionLines, str]:
    hits = context.engine.search_messages(query, limit)
    lines = SessionLines([_line(hit.message, SHORT) for hit in hits])
    return lines, _page(context, lines.results) or "No message of the stored sessions matches."


def read(context: ToolContext, name: str, session: str, message: int) -> tuple[MemorySource, str]:
    from recollect.work.window.pruned_texts import stored_text

    engine = context.engine
    if not name:
        lines = _around(context, session, message)
        return MemorySource("", "", "", "", "", "", "", [], [], lines), _page(context, lines)
    try:
        memory = engine.get(name)
    except MemoryNotFound:
        kept = stored_text(engine, name)
        if kept is None:
            raise
        return _whole(kept)
    context.client.shown.add(memory.id)
    lines = [_line(each, LONGEST) for each in engine.sessions.source(memory)]
    source = MemorySource(
        id=_short(memory.id),
        kind=memory.kind,
        content=memory.content,
        state=memory.state,
        created_at=f"{memory.created_at:%Y-%m-%d %H:%M}",
        created_by=memory.created_by,
        source=memory.source,
        files=list(memory.file_paths),
        tags=list(memory.tags),
        messages=lines,
    )
    return source, _page(context, lines, memory)


def _whole(kept: "PrunedText") -> tuple[MemorySource, str]:
    """Return a text that was shortened, line for line; only a copy of the frame around it is broken."""
    from recollect.memory.briefing.render import PLAIN
    from recollect.text.lookalikes import without_marks

    at = f"{kept.at:%Y-%m-%d %H:%M}"
    text = without_marks(kept.text)
    source = MemorySource(kept.id, "output", kept.text, "", at, kept.gist, kept.session, [], [], [])
    return source, PLAIN.document([f"[OUTPUT] {kept.gist}, {at} #{kept.id}\n{text}\n"])


def _around(context: ToolContext, session: str, message: int) -> list[SessionLine]:
    """Return the messages around one, in this project only."""
    engine = context.engine
    here = engine.project.id if engine.project else None
    span = engine.store.messages.span(
        engine.settings.user, session, max(message - AROUND, 0), message + AROUND
    )
    lines = [_line(each, LONGEST) for each in span if each.project_id == here]
    if not lines:
        raise Refused(
            f"Message {message} of session {session[:60]!r} is not stored.",
            "Give an id, or a session and a message that session_search found.",
        )
    return lines


def _line(message: "Message", most: int) -> SessionLine:
    text = message.text if len(message.text) <= most else f"{message.text[:most]}…"
    return SessionLine(
        message.session, message.order, message.author, f"{message.created_at:%Y-%m-%d %H:%M}", text
    )


def _page(context: ToolContext, lines: Sequence[SessionLine], memory: "Memory | None" = None) -> str:
    """Return messages and a memory in the host's format, framed like every memory; empty for none."""
    from recollect.memory.briefing.render import BriefingEntry, format_named, memory_entry

    form = format_named(context.format)
    entries = [
        BriefingEntry(
            "session",
            "SAID",
            f"{each.at}, {each.author}, {each.session} message {each.message}",
            text=each.text,
        )
        for each in lines
    ]
    if memory is not None:
        whole = replace(memory_entry(memory, _short(memory.id)), text=memory.content)
        entries.insert(
            0, replace(whole, marks=(*whole.marks, f"{memory.created_at:%Y-%m-%d}", memory.created_by))
        )
    return form.document([form.section("found", [form.write(entry) for entry in entries])] if entries else [])


def _short(memory_id: str) -> str:
    from recollect.memory.briefing.render import SHORT_ID

    return memory_id[-SHORT_ID:]
