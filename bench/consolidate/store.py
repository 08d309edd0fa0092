"""The corpus as a store, kept on disk for the next run, with what consolidation should find in it."""

import random
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.consolidate.corpus import LARGEST, Said, corpus
from bench.recall.vectors import Vectors
from recollect import Engine
from recollect import model as m
from recollect.embed.minilm import NAME

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
WITHOUT_VECTOR = 40  # memories that were written while there was no model
_AT_ONCE = 2_000
_TAGS = "backend frontend billing testing deploy infra auth search data mobile".split()
_LIKE = {"testing": "Testing", "deploy": "deploys", "data": "da-ta"}  # another spelling of the same


def parts(size: int) -> tuple[int, int, int]:
    """Duplicates, contradictions and near-misses of a store of that size."""
    return size // 20, size // 200, size // 50


def said_in(size: int) -> list[Said]:
    return corpus(size, *parts(size))


def built(size: int, folder: Path, orphans: int) -> tuple[Path, list[Said], list[str]]:
    """A home with the store, what was said, and the ids in that order. Made once, copied for every use."""
    said = said_in(size)
    home = folder / f"store-{size}"
    ids = home / "ids"
    if not ids.exists():
        print(f"writing {size:,} memories…", file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        (home / "project").mkdir(parents=True)
        ids.write_text("\n".join(_fill(home, said, Vectors(folder), orphans)))
    return home, said, ids.read_text().split()


def _fill(home: Path, said: list[Said], embed: Vectors, orphans: int) -> list[str]:
    pick = random.Random(11)
    vectors = embed([each.text for each in said])
    names: list[str] = []
    bare = set(pick.sample(range(len(said)), WITHOUT_VECTOR))
    with Engine.open(home / "project", home) as engine:
        engine.context.register_project()
        assert engine.project is not None
        store, here = engine.store, engine.project.id
        for begin in range(0, len(said), _AT_ONCE):
            with store.transaction():
                for number in range(begin, min(begin + _AT_ONCE, len(said))):
                    project = here if said[number].project == LARGEST else f"project{said[number].project:02}"
                    memory = _memory(said[number], number, engine.settings.user, project, pick)
                    names.append(memory.id)
                    store.log("add", memory.created_by, memory.created_at, memory.id, {"kind": memory.kind})
                    store.put(memory)
                    if number not in bare:
                        store.put_vector(memory.id, NAME, vectors[number].astype("<f4").tobytes())
        for number in range(orphans):
            store.describe_tag(f"orphan-{number}", "")
    return names


def _memory(said: Said, number: int, user: str, project: str, pick: random.Random) -> m.Memory:
    at = BEGIN + timedelta(minutes=number)
    by_user = pick.random() < 0.3
    source = m.Source.USER_STATED if by_user else m.Source.OBSERVED
    tag = pick.choice(_TAGS)
    tag = _LIKE.get(tag, tag) if pick.random() < 0.002 else tag
    return m.Memory(
        id=m.new_id(at),
        user_id=user,
        project_id=project,
        scope=m.Scope.PROJECT,
        kind=said.kind,
        content=said.text,
        summary=said.text,
        fingerprint=m.fingerprint(said.text),
        created_at=at,
        updated_at=at,
        valid_from=at,
        provenance=(m.Provenance(source, at, session=f"session-{number // 40}"),),
        created_by="user" if by_user else "agent:coder",
        visibility=m.Visibility.PRIVATE if by_user else m.Visibility.PROJECT,
        tags=(tag,),
        trust=m.TRUST[source],
        confidence=m.TRUST[source],
    )
