"""The SQLite store: one file per user."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import apsw

import recollect.model as m
from recollect.errors import AmbiguousId, MemoryNotFound, StoreBusy, StoreUnwritable
from recollect.model import AuditCheck, KeyNote, MemoryEdge, StoreInfo, StoreProblem, TextRow, VectorRow
from recollect.store import rows
from recollect.store.described import LASTING, MOST_IMPORTANT_FIRST, UNDESCRIBED
from recollect.store.sqlite import full_text, graph, purge
from recollect.store.sqlite.ageing import ageing_at
from recollect.store.sqlite.audit import AuditTrail
from recollect.store.sqlite.backup import Backups
from recollect.store.sqlite.changes import SqliteChangeLog
from recollect.store.sqlite.check import find_damage, find_problems
from recollect.store.sqlite.connection import BUSY_SECONDS, unwritable
from recollect.store.sqlite.deliveries import SqliteDeliveries, erase_items
from recollect.store.sqlite.episodes import SqliteEpisodes
from recollect.store.sqlite.events import SqliteEvents
from recollect.store.sqlite.index_files import IndexFiles
from recollect.store.sqlite.ledger import SqliteCostLedger
from recollect.store.sqlite.measures import SqliteMeasures
from recollect.store.sqlite.messages import SqliteMessages
from recollect.store.sqlite.modules import SqliteModuleMaps
from recollect.store.sqlite.opening import open_or_restore, open_to_read
from recollect.store.sqlite.pruned import SqlitePrunedTexts
from recollect.store.sqlite.reviews import SqliteReviews
from recollect.store.sqlite.schema import version_of
from recollect.store.sqlite.views import (
    ORDERS,
    ORPHAN_TAG,
    SELECT_MEMORIES,
    TAGS,
    UNUSED_TAG,
    own_in,
    passing,
    placed_in,
    shown_in,
)
from recollect.store.visibility import COLUMNS

# A new memory gets a number that none has had: changes name memories by it, and may restore one that is gone.
_PUT = (
    f"INSERT INTO memories (num, seq, {', '.join(rows.MEMORY_COLUMNS)})"
    " VALUES (max(?1, (SELECT coalesce(max(num), 0) + 1 FROM memories)), ?1,"
    f" {', '.join('?' * len(rows.MEMORY_COLUMNS))})"
    f" ON CONFLICT (id) DO UPDATE SET seq = excluded.seq,"
    f" {', '.join(f'{name} = excluded.{name}' for name in rows.MEMORY_COLUMNS[1:])}"
    " RETURNING num"
)
# The values that tags and full text are made from.
_WORDS_OF = (
    "SELECT m.fingerprint, m.content, m.file_paths, m.kind, m.project_id, m.user_id, m.when_needed,"
    f" {TAGS} FROM memories m WHERE m.id = ?"
)
_PURGES = "SELECT purge FROM change"
_GAP_COLUMNS = "id, user_id, project_id, session, context, created_at, closed_at"
_PAGE = 500
_Item = TypeVar("_Item")
_INDEX = "index_token_"  # beginning of the settings that say which index files belong to the store
SHOWN_ID = 6  # people are shown the random end of an id; a shorter one may be a word


class SqliteStore:
    """Implements `Store` on one SQLite file, for one user."""

    def __init__(self, path: Path, user_id: str, key: str | None = None, *, read_only: bool = False) -> None:
        """Open the file, creating, migrating or restoring it if needed; with `read_only`, only if it is not needed."""
        self.user_id = user_id
        self._backups = Backups(path, key)
        self.notices: tuple[str, ...] = ()
        if read_only:
            self._db = open_to_read(path, key)
        else:
            self._db, self.notices = open_or_restore(path, user_id, key, self._backups)
        self._audit = AuditTrail(self._db, path.with_name("audit-archive.jsonl"))
        self._path = path
        self._indexes = IndexFiles(path)
        self.messages = SqliteMessages(self._db)
        self.changes = SqliteChangeLog(self._db, full_text.index_again, self.transaction)
        self.modules = SqliteModuleMaps(self._db)
        self.reviews = SqliteReviews(self._db)
        self.events = SqliteEvents(self._db)
        self.ledger = SqliteCostLedger(self._db)
        self.measures = SqliteMeasures(self._db)
        self.deliveries = SqliteDeliveries(self._db)
        self.pruned = SqlitePrunedTexts(self._db)
        self.episodes = SqliteEpisodes(self._db)
        self._rollbacks = 0  # of transactions whose uncommitted rows the change feed has served
        self._served_uncommitted = False

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        if self._db.in_transaction:
            yield
            return
        try:
            with self._db.writing() as db:
                self._served_uncommitted = False
                purges = db.execute(_PURGES).get
                yield
                if db.execute(_PURGES).get != purges:
                    full_text.erase(db)
        except BaseException:
            if self._served_uncommitted:
                self._rollbacks += 1
            raise

    def seq(self) -> int:
        return self.change()[0]

    def change(self) -> tuple[int, object]:
        return self._change()

    def _change(self) -> tuple[int, tuple[int, int]]:
        with self._db.reading() as db:
            seq, purge = next(db.execute("SELECT seq, purge FROM change"))
        return int(seq), (int(purge), self._rollbacks)

    # memories

    def put(self, memory: m.Memory) -> None:
        journal = self._db.journal
        with self._db.writing() as db:
            journal.before_write("memories", "id = ?", (memory.id,))
            before = db.execute(_WORDS_OF, (memory.id,)).fetchone()
            num = db.execute(_PUT, (_bump(db), *rows.memory_row(memory))).get
            if before is None:
                journal.created("memories", num)
            if before == _words_of(memory):
                return  # its text is the same: it was used, confirmed or archived
            if before is not None:
                journal.before_write("memory_tags", "num = ?", (num,))
                if before[0] != memory.fingerprint:
                    journal.before_write("vectors", "num = ?", (num,))
                    db.execute("DELETE FROM vectors WHERE num = ?", (num,))  # of the old text
                elif rows.read_strings(before[6]) != memory.when_needed:
                    old = f"num = ? AND model LIKE '%{m.WHEN_MODEL}'"
                    journal.before_write("vectors", old, (num,))
                    db.execute(f"DELETE FROM vectors WHERE {old}", (num,))
                db.execute("DELETE FROM memory_tags WHERE num = ?", (num,))
            for position, tag in enumerate(memory.tags):
                journal.before_put("tags", memory.user_id, tag)
                journal.before_put("memory_tags", num, tag)
                db.execute("INSERT OR IGNORE INTO tags (user_id, name) VALUES (?, ?)", (memory.user_id, tag))
                db.execute(
                    "INSERT OR IGNORE INTO memory_tags VALUES (?, ?, ?, ?)",
                    (num, tag, position, memory.project_id or ""),
                )
            full_text.index(db, num, memory)

    def get(self, memory_id: str) -> m.Memory:
        found = self._memories("WHERE m.id = ?", memory_id)
        if not found:
            raise MemoryNotFound(memory_id)
        return found[0]

    def get_many(self, ids: Sequence[str]) -> dict[str, m.Memory]:
        found = self._memories("WHERE m.id IN (SELECT value FROM json_each(?))", json.dumps(list(ids)))
        return {memory.id: memory for memory in found}

    def _memories(self, which: str, *params: Any) -> list[m.Memory]:
        with self._db.reading() as db:
            return [rows.memory_from(row) for row in db.execute(f"{SELECT_MEMORIES} {which}", params)]

    def resolve(self, view: m.View, name: str) -> str:
        wanted = name.strip().lstrip("#").lower()
        if not wanted.isalnum() or len(wanted) > m.LONGEST_ID:
            raise MemoryNotFound(name)
        where, params = shown_in(view)
        patterns = [f"{wanted}*", f"*{wanted}"] if len(wanted) >= SHOWN_ID else [f"{wanted}*"]
        for pattern in patterns:
            with self._db.reading() as db:
                named = "SELECT id FROM memories WHERE id GLOB ?"  # read off the index of ids alone
                query = (
                    f"SELECT m.id FROM memories m WHERE m.id IN ({named}) AND {where} ORDER BY m.id LIMIT 4"
                )
                found = [row[0] for row in db.execute(query, (pattern, *params))]
            if len(found) == 1 or wanted in found:
                return wanted if wanted in found else str(found[0])
            if found:
                raise AmbiguousId(name, found)
        raise MemoryNotFound(name)

    def newest(
        self,
        view: m.View,
        *,
        tag: str | None = None,
        file: str | None = None,
        standing: m.Standing | None = None,
        limit: int | None = None,
    ) -> list[m.Memory]:
        where, params = shown_in(view)
        if tag is not None:
            where += " AND EXISTS (SELECT 1 FROM memory_tags t WHERE t.num = m.num AND t.tag = ?)"
            params += (tag,)
        if file is not None:
            where += (
                " AND EXISTS (SELECT 1 FROM json_each(m.file_paths) f"
                " WHERE f.value = ? OR substr(f.value, ?) = ?)"
            )
            params += (file, -len(file) - 1, f"/{file}")
        if standing is m.Standing.PINNED:
            where += " AND m.standing = 'pinned'"  # the literal lets the partial index be used
        elif standing is not None:
            where += " AND m.standing = ?"
            params += (standing,)
        if limit is None:
            return self._memories(f"WHERE {where} ORDER BY m.id DESC", *params)
        # The plus keeps SQLite from sorting a whole project: it reads ids in order until it has enough.
        first = f"SELECT m.num FROM memories m WHERE {where.replace('m.project_id', '+m.project_id')}"
        return self._memories(
            f"WHERE m.num IN ({first} ORDER BY m.id DESC LIMIT ?) ORDER BY m.id DESC", *params, limit
        )

    def page(
        self, view: m.View, which: m.MemoryFilter, order: m.MemoryOrder, limit: int, offset: int = 0
    ) -> list[m.Memory]:
        where, params = passing(view, which)
        if order is m.MemoryOrder.NEWEST:  # as in `newest`: ids are read in order until there are enough
            where = where.replace("m.project_id", "+m.project_id")
        first = f"SELECT m.num FROM memories m WHERE {where} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
        return self._memories(f"WHERE m.num IN ({first}) ORDER BY {ORDERS[order]}", *params, limit, offset)

    def count_page(self, view: m.View, which: m.MemoryFilter) -> int:
        where, params = passing(view, which)
        with self._db.reading() as db:
            return int(db.execute(f"SELECT count(*) FROM memories m WHERE {where}", params).get)

    def undescribed(self, view: m.View, limit: int) -> list[m.Memory]:
        where, params = own_in(view)
        first = f"SELECT m.num FROM memories m WHERE {where} AND {UNDESCRIBED} ORDER BY {MOST_IMPORTANT_FIRST} LIMIT ?"
        return self._memories(f"WHERE m.num IN ({first}) ORDER BY {MOST_IMPORTANT_FIRST}", *params, limit)

    def count_described(self, view: m.View) -> tuple[int, int]:
        where, params = own_in(view)
        query = f"SELECT count(m.when_needed), count(*) FROM memories m WHERE {where} AND {LASTING}"
        with self._db.reading() as db:
            described, total = next(db.execute(query, params))
        return int(described), int(total)

    def iter_memories(self, view: m.View, after: str = "", user: str | None = None) -> Iterator[m.Memory]:
        where, params = shown_in(view)
        if user is not None:
            where, params = f"{where} AND m.user_id = ?", (*params, user)
        last = after
        while True:
            page = self._memories(f"WHERE {where} AND m.id > ? ORDER BY m.id LIMIT {_PAGE}", *params, last)
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1].id

    def count(self, view: m.View) -> int:
        where, params = shown_in(view)
        with self._db.reading() as db:
            return int(db.execute(f"SELECT count(*) FROM memories m WHERE {where}", params).get)

    def counts(self, view: m.View, field: str) -> dict[str, int]:
        if field not in ("kind", "state", "scope", "standing", "project_id", "branch", "created_by"):
            raise ValueError(field)
        where, params = shown_in(view)
        query = f"SELECT m.{field}, count(*) FROM memories m WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1"
        with self._db.reading() as db:
            return dict(db.execute(query, params))

    def with_fingerprint(self, view: m.View, fingerprint: str) -> list[m.Memory]:
        where, params = shown_in(view)
        return self._memories(f"WHERE m.fingerprint = ? AND {where} ORDER BY m.id", fingerprint, *params)

    def count_written(self, session: str | None, created_by: str, since: datetime) -> int:
        query = (
            "SELECT count(*) FROM memories WHERE session IS ? AND created_by = ? AND created_at >= ?"
            if session is None
            else "SELECT count(*) FROM memories WHERE session = ? AND created_by = ? AND created_at >= ?"
        )
        with self._db.reading() as db:
            return int(db.execute(query, (session, created_by, m.to_text(since))).get)

    def ageing(self, view: m.View, now: datetime, capacity: int) -> list[m.Memory]:
        where, params = shown_in(view)
        kept = f"{where} AND m.promoted_at IS NOT NULL"
        crowded: list[str] = []
        if capacity:
            query = f"SELECT coalesce(m.project_id, '') FROM memories m WHERE {kept} GROUP BY 1 HAVING count(*) > ?"
            with self._db.reading() as db:
                crowded = [row[0] for row in db.execute(query, (*params, capacity))]
        ageing, times = ageing_at(now)
        return self._memories(
            f"WHERE {kept} AND ({ageing} OR coalesce(m.project_id, '') IN (SELECT value FROM json_each(?)))"
            " ORDER BY m.id",
            *params,
            *times,
            json.dumps(crowded),
        )

    def delete(self, memory_id: str) -> None:
        with self.transaction(), self._db.writing() as db:
            found = db.execute("SELECT num, user_id FROM memories WHERE id = ?", (memory_id,)).fetchone()
            if found is None:
                raise MemoryNotFound(memory_id)
            num, user_id = found
            tags = [row[0] for row in db.execute("SELECT tag FROM memory_tags WHERE num = ?", (num,))]
            self._db.journal.before_delete("memories", "num = ?", (num,))
            for tag in tags:
                self._db.journal.before_put("tags", user_id, tag)
            db.execute("DELETE FROM memory_words WHERE rowid = ?", (num,))
            db.execute("DELETE FROM memories WHERE num = ?", (num,))  # vectors and links go with it
            erase_items(db, [memory_id])
            db.executemany(f"DELETE FROM tags WHERE {ORPHAN_TAG}", ((user_id, tag) for tag in tags))
            db.execute("UPDATE change SET seq = seq + 1, purge = purge + 1")

    # finding

    def match(self, view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
        with self._db.reading() as db:
            return full_text.match(db, view, query, limit)

    def with_triggers(self, view: m.View, limit: int) -> list[m.Memory]:
        where, params = shown_in(view)
        index = "INDEXED BY memories_triggers"  # the planner would scan the whole project
        some = "(m.triggers <> '[]' OR m.procedure IS NOT NULL)"  # as the index has it
        return self._memories(f"{index} WHERE {some} AND {where} ORDER BY m.num DESC LIMIT ?", *params, limit)

    def texts_since(self, seq: int) -> Iterator[TextRow]:
        columns = f"m.num, m.id, m.content, {TAGS}, m.file_paths, m.when_needed, m.kind, {COLUMNS}"
        query = f"SELECT {columns} FROM memories m {_since(seq)}"
        with self._feed() as db:
            for num, memory_id, content, tags, paths, when, kind, *key in db.execute(query, (seq,)):
                words = tuple(json.loads(tags)), tuple(json.loads(paths)), rows.read_strings(when)
                yield TextRow(num, memory_id, content, *words, kind, tuple(key))

    def vectors_since(self, model: str, seq: int) -> Iterator[VectorRow]:
        if seq < 0:  # by the index of the vectors: of most models, such as +when, there may be few or none
            found = "FROM vectors v CROSS JOIN memories m ON m.num = v.num WHERE v.model = ? AND m.seq > ? ORDER BY v.num"
        else:
            found = f"FROM memories m {_since(seq, 'LEFT JOIN vectors v ON v.num = m.num AND v.model = ?')}"
        query = f"SELECT m.num, m.id, v.vector, {COLUMNS} {found}"
        with self._feed() as db:
            for num, memory_id, vector, *key in db.execute(query, (model, seq)):
                yield VectorRow(num, memory_id, tuple(key), vector)

    def read_index(self, name: str) -> tuple[int, memoryview] | None:
        token = self.setting(None, _INDEX + name)
        _, (purges, _) = self._change()
        return self._indexes.read(name, self._db.key, (token, purges)) if token else None

    def write_index(
        self, name: str, seq: int, generation: object, parts: Sequence[bytes | memoryview]
    ) -> None:
        now, current = self._change()
        if generation != current or seq > now or self._db.in_transaction:
            return
        token = m.new_id()
        # First the store: a crash leaves a file that does not match, and is made again.
        self.set_setting(None, _INDEX + name, token)
        try:
            self._indexes.write(name, self._db.key, (token, current[0]), seq, parts)
            if self._change()[1] != current:  # another process has deleted something for good
                self._indexes.remove()
        except OSError as error:
            raise unwritable(self._path.parent, error) from error

    @contextlib.contextmanager
    def _feed(self) -> Iterator["apsw.Connection"]:
        """A connection for the change feed. What it serves inside a transaction may be rolled back."""
        if self._db.in_transaction:
            self._served_uncommitted = True
        with self._db.reading() as db:
            yield db

    # vectors

    def put_vector(self, memory_id: str, model: str, vector: bytes) -> None:
        with self._db.writing() as db:
            num = db.execute(
                "UPDATE memories SET seq = ? WHERE id = ? RETURNING num", (_bump(db), memory_id)
            ).get
            if num is None:
                raise MemoryNotFound(memory_id)
            self._db.journal.before_put("vectors", num, model)
            db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (num, model, vector))

    def vector(self, memory_id: str, model: str) -> bytes | None:
        query = "SELECT vector FROM vectors JOIN memories USING (num) WHERE id = ? AND model = ?"
        with self._db.reading() as db:
            found: bytes | None = db.execute(query, (memory_id, model)).get
            return found

    def vectors(self, view: m.View, model: str) -> Iterator[tuple[str, bytes]]:
        where, params = shown_in(view)
        query = (
            "SELECT m.num, m.id, v.vector FROM memories m NOT INDEXED CROSS JOIN vectors v"
            f" ON v.num = m.num AND v.model = ? WHERE {where}"
        )
        return self._pages(query, ("m.num",), (model, *params), lambda row: (row[1], row[2]), first=0)

    def without_vector(self, model: str, limit: int) -> list[tuple[str, str]]:
        query = (
            f"SELECT m.id, m.content FROM memories m WHERE {_unembedded(model)} ORDER BY m.num DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [(str(row[0]), str(row[1])) for row in db.execute(query, (model, limit))]

    def count_without_vector(self, model: str) -> int:
        with self._db.reading() as db:
            return int(
                db.execute(f"SELECT count(*) FROM memories m WHERE {_unembedded(model)}", (model,)).get
            )

    def count_vectors(self, model: str) -> int:
        with self._db.reading() as db:
            return int(db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).get)

    # the graph

    def put_link(self, link: m.Link) -> None:
        with self._db.writing() as db:
            for end in (link.source, link.target):
                self.get(end)
            self._db.journal.before_put("links", link.source, link.target, str(link.relation))
            db.execute(
                f"INSERT OR REPLACE INTO links ({rows.LINK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows.link_row(link),
            )

    def drop_link(self, source: str, target: str, relation: m.Relation) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("links", source, target, str(relation))
            db.execute(
                "DELETE FROM links WHERE source = ? AND target = ? AND relation = ?",
                (source, target, relation),
            )
            return db.changes() > 0

    def may_settle(self, first: str, second: str) -> bool:
        return True  # all memories are one person's

    def links(self, memory_id: str) -> list[m.Link]:
        query = f"SELECT {rows.LINK_COLUMNS} FROM links WHERE source = ?1 OR target = ?1 ORDER BY 3, 1, 2"
        with self._db.reading() as db:
            return [rows.link_from(row) for row in db.execute(query, (memory_id,))]

    def all_links(self, view: m.View) -> list[m.Link]:
        return self._links_in(view, "1")

    def iter_links(self, view: m.View) -> Iterator[m.Link]:
        ends, params = shown_in(view)
        inside = f"(SELECT m.id FROM memories m WHERE {ends})"
        query = f"SELECT {rows.LINK_COLUMNS} FROM links WHERE source IN {inside} AND +target IN {inside}"
        keys = ("source", "target", "relation")
        return self._pages(query, keys, (*params, *params), rows.link_from)

    def used_together(self, user_id: str, since: datetime | None) -> list[m.Link]:
        columns = ", ".join(f"l.{name}" for name in rows.LINK_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM links l CROSS JOIN memories a ON a.id = l.source"
            " CROSS JOIN memories b ON b.id = l.target AND b.last_accessed_at = a.last_accessed_at"
            " WHERE l.relation = 'relates_to' AND l.weight < 1.0 AND a.last_accessed_at > ?1"
            " AND a.user_id = ?2 AND b.user_id = ?2 AND a.state = 'active' AND b.state = 'active'"
            " ORDER BY l.source, l.target"
        )
        with self._db.reading() as db:
            found = db.execute(query, (m.to_text(since) if since else "", user_id))
            return [rows.link_from(row) for row in found]

    def neighbours(self, view: m.View, memory_ids: Sequence[str], fan_out: int) -> list[MemoryEdge]:
        with self._db.reading() as db:
            return graph.neighbours(db, view, memory_ids, fan_out)

    def conflicts(self, view: m.View, ids: Sequence[str] | None = None) -> list[m.Link]:
        where = "l.relation = 'contradicts' AND l.resolved_at IS NULL"
        if ids is None:
            return self._links_in(view, where)
        # Few links, so each end is looked up; reading all memories of the view first takes 50 ms at 100,000.
        chosen = "(SELECT value FROM json_each(?))"
        shown, params = shown_in(view)
        ends = " AND ".join(
            f"EXISTS (SELECT 1 FROM memories m WHERE m.id = l.{end} AND {shown})"
            for end in ("source", "target")
        )
        columns = ", ".join(f"l.{name}" for name in rows.LINK_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM links l WHERE {where} AND (l.source IN {chosen} OR l.target IN {chosen})"
            f" AND {ends} ORDER BY l.created_at, l.source, l.target"
        )
        names = json.dumps(list(ids))
        with self._db.reading() as db:
            return [rows.link_from(row) for row in db.execute(query, (names, names, *params, *params))]

    def _links_in(self, view: m.View, which: str, *given: str) -> list[m.Link]:
        # The plus keeps SQLite from trying each pair of ends in the index, which is quadratic; so in `iter_links`.
        ends, params = shown_in(view)
        inside = f"(SELECT m.id FROM memories m WHERE {ends})"
        columns = ", ".join(f"l.{name}" for name in rows.LINK_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM links l WHERE {which} AND l.source IN {inside} AND +l.target IN {inside}"
            " ORDER BY l.created_at, l.source, l.target"
        )
        with self._db.reading() as db:
            return [rows.link_from(row) for row in db.execute(query, (*given, *params, *params))]

    def tags(self, view: m.View) -> list[m.Tag]:
        where, params = shown_in(view)
        query = (
            "SELECT t.tag, coalesce((SELECT description FROM tags WHERE user_id = ? AND name = t.tag), ''), count(*)"
            f" FROM memory_tags t JOIN memories m ON m.num = t.num WHERE {where} GROUP BY t.tag ORDER BY 3 DESC, 1"
        )
        with self._db.reading() as db:
            return [
                m.Tag(str(name), str(text), int(count))
                for name, text, count in db.execute(query, (view.user_id, *params))
            ]

    def describe_tag(self, name: str, description: str) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("tags", self.user_id, name)
            db.execute(
                "INSERT INTO tags VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET description = excluded.description",
                (self.user_id, name, description),
            )

    def orphan_tags(self) -> list[str]:
        query = f"SELECT name FROM tags WHERE user_id = ? AND description = '' AND {UNUSED_TAG} ORDER BY 1"
        with self._db.reading() as db:
            return [str(row[0]) for row in db.execute(query, (self.user_id,))]

    def drop_tag(self, name: str) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("tags", self.user_id, name)
            db.execute(f"DELETE FROM tags WHERE {ORPHAN_TAG}", (self.user_id, name))
            return db.changes() > 0

    def put_clusters(self, project_id: str | None, clusters: Iterable[m.Cluster]) -> None:
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", "project_id IS ?", (project_id,))
            db.execute("DELETE FROM clusters WHERE project_id IS ?", (project_id,))
            for cluster in clusters:
                self.put_cluster(replace(cluster, project_id=project_id))

    def put_cluster(self, cluster: m.Cluster) -> None:
        row = (cluster.id, cluster.project_id, cluster.label, cluster.model, cluster.centroid)
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", "id = ?", (cluster.id,))
            self._db.journal.before_put("clusters", cluster.id)
            for member in cluster.members:
                self._db.journal.before_put("cluster_members", cluster.id, member)
            db.execute("DELETE FROM clusters WHERE id = ?", (cluster.id,))
            db.execute(
                "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, ?)", (*row, m.to_text(cluster.updated_at))
            )
            db.executemany(  # a member may have been purged since the clusters were made
                "INSERT INTO cluster_members SELECT ?, id FROM memories WHERE id = ?",
                ((cluster.id, member) for member in cluster.members),
            )

    def drop_cluster(self, cluster_id: str) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", "id = ?", (cluster_id,))
            db.execute("DELETE FROM clusters WHERE id = ?", (cluster_id,))
            return db.changes() > 0

    def clusters(self, project_id: str | None) -> list[m.Cluster]:
        query = (
            "SELECT id, project_id, label, model, centroid,"
            " (SELECT json_group_array(memory) FROM cluster_members WHERE cluster = id), updated_at"
            " FROM clusters WHERE project_id IS ? ORDER BY id"
        )
        with self._db.reading() as db:
            return [
                m.Cluster(
                    row[0], row[1], row[2], row[3], row[4], tuple(json.loads(row[5])), m.from_text(row[6])
                )
                for row in db.execute(query, (project_id,))
            ]

    # work

    def put_session(self, session: m.Session) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("sessions", session.id)
            db.execute(
                f"INSERT INTO sessions ({rows.SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, host = excluded.host,"
                " branch = excluded.branch, parent = excluded.parent, ended_at = excluded.ended_at,"
                " summary = excluded.summary, transcript = excluded.transcript,"
                " active_at = excluded.active_at, extracted_at = excluded.extracted_at",
                rows.session_row(session),
            )

    def get_session(self, session_id: str) -> m.Session | None:
        with self._db.reading() as db:
            query = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE id = ?"
            row = next(db.execute(query, (session_id,)), None)
            return rows.session_from(row) if row else None

    def sessions(self, user_id: str, project_id: str | None, limit: int) -> list[m.Session]:
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE user_id = ? AND project_id IS ?"
            " ORDER BY started_at DESC, id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [rows.session_from(row) for row in db.execute(query, (user_id, project_id, limit))]

    def live_sessions(self, project_id: str | None, since: datetime) -> list[m.Session]:
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE user_id = ? AND project_id IS ?"
            " AND ended_at IS NULL AND coalesce(active_at, started_at) > ? ORDER BY started_at DESC, id DESC"
        )
        with self._db.reading() as db:
            found = db.execute(query, (self.user_id, project_id, m.to_text(since)))
            return [rows.session_from(row) for row in found]

    def iter_sessions(self, view: m.View) -> Iterator[m.Session]:
        where, params = placed_in(view, "s")
        query = f"SELECT {rows.SESSION_COLUMNS} FROM sessions s WHERE s.user_id = ? AND {where}"
        return self._pages(query, ("s.id",), (view.user_id, *params), rows.session_from)

    def iter_findings(self, view: m.View) -> Iterator[m.Finding]:
        where, params = placed_in(view, "s")
        columns = ", ".join(f"f.{name}" for name in rows.FINDING_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM findings f JOIN sessions s ON s.id = f.session"
            f" WHERE s.user_id = ? AND {where}"
        )
        return self._pages(query, ("f.id",), (view.user_id, *params), rows.finding_from)

    def put_finding(self, finding: m.Finding) -> bool:
        return self.events.put_findings(finding.session, [finding]) > 0

    def findings(self, session: str) -> list[m.Finding]:
        query = f"SELECT {rows.FINDING_COLUMNS} FROM findings WHERE session = ? ORDER BY created_at, id"
        with self._db.reading() as db:
            return [rows.finding_from(row) for row in db.execute(query, (session,))]

    def put_gap(self, gap: m.Gap) -> None:
        closed = m.to_text(gap.closed_at) if gap.closed_at else None
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap.id)
            db.execute(
                f"INSERT OR REPLACE INTO gaps ({_GAP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*self._gap_row(gap), closed),
            )

    def adopt_gap(self, gap: m.Gap) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap.id)
            db.execute(
                f"INSERT OR IGNORE INTO gaps ({_GAP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, NULL)",
                self._gap_row(gap),
            )

    def _gap_row(self, gap: m.Gap) -> tuple[str | None, ...]:
        return gap.id, self.user_id, gap.project_id, gap.session, gap.context, m.to_text(gap.created_at)

    def close_gap(self, gap_id: str, at: datetime) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap_id)
            db.execute(
                "UPDATE gaps SET closed_at = ? WHERE id = ? AND user_id = ? AND closed_at IS NULL",
                (m.to_text(at), gap_id, self.user_id),
            )
            return db.changes() > 0

    def gaps(self, project_id: str | None, limit: int) -> list[m.Gap]:
        query = (
            "SELECT id, project_id, context, created_at, session FROM gaps"
            " WHERE user_id = ? AND project_id IS ? AND closed_at IS NULL"
            " ORDER BY created_at DESC, id DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [_gap(row) for row in db.execute(query, (self.user_id, project_id, limit))]

    def iter_gaps(self, view: m.View) -> Iterator[m.Gap]:
        where, params = placed_in(view, "g")
        query = (
            "SELECT g.id, g.project_id, g.context, g.created_at, g.session FROM gaps g"
            f" WHERE g.user_id = ? AND g.closed_at IS NULL AND {where}"
        )
        return self._pages(query, ("g.id",), (view.user_id, *params), _gap)

    # projects and settings

    def project_for(self, keys: Sequence[str]) -> str | None:
        with self._db.reading() as db:
            for key in keys:
                found: str | None = db.execute(
                    "SELECT project_id FROM project_keys WHERE key = ?", (key,)
                ).get
                if found is not None:
                    return found
        return None

    def project_keys(self, project_id: str) -> list[str]:
        with self._db.reading() as db:
            query = "SELECT key FROM project_keys WHERE project_id = ? ORDER BY key"
            return [str(row[0]) for row in db.execute(query, (project_id,))]

    def put_project(self, project: m.Project, keys: Sequence[str]) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO projects VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET name = excluded.name, root = excluded.root",
                (project.id, project.name, project.root),
            )
            db.executemany(
                "INSERT OR REPLACE INTO project_keys VALUES (?, ?)", ((key, project.id) for key in keys)
            )

    def adopt_project(self, project: m.Project, keys: Sequence[str]) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO projects VALUES (?, ?, ?)", (project.id, project.name, project.root)
            )
            if db.changes():
                db.executemany(
                    "INSERT OR IGNORE INTO project_keys VALUES (?, ?)", ((key, project.id) for key in keys)
                )

    def projects(self) -> list[m.Project]:
        with self._db.reading() as db:
            found = db.execute("SELECT id, name, root FROM projects ORDER BY name, id")
            return [m.Project(str(row[0]), str(row[1]), str(row[2]), why="") for row in found]

    def setting(self, project_id: str | None, name: str) -> Any:
        with self._db.reading() as db:
            query = "SELECT value FROM settings WHERE user_id = ? AND project_id = ? AND name = ?"
            value = db.execute(query, (self.user_id, project_id or "", name)).get
            return json.loads(value) if value is not None else None

    def set_setting(self, project_id: str | None, name: str, value: Any) -> None:
        with self._db.writing() as db:
            key = (self.user_id, project_id or "", name)
            self._db.journal.before_put("settings", *key)
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?, ?, ?)", (*key, m.dumps(value)))

    # audit

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        self._audit.log(action, actor, at, memory_id, detail)

    def audit(self, limit: int, memory_id: str | None = None) -> list[m.AuditLine]:
        return self._audit.lines(limit, memory_id)

    def verify_audit(self) -> AuditCheck:
        return self._audit.verify()

    # forgetting

    def clear(self, user_id: str, project_id: str | None, at: datetime) -> m.Cleared:
        with self._db.writing() as db:
            return purge.clear(db, self._db.journal, _bump(db), user_id, project_id, at)

    def purge_due(self, before: datetime) -> bool:
        with self._db.reading() as db:
            return purge.is_due(db, before)

    def purge(self, before: datetime, actor: str, at: datetime) -> m.Purged:
        with self.transaction(), self._db.writing() as db:
            memories = purge.overdue(db, before)
            for _, name, _ in memories:
                self.log("remove", actor, at, name, {"purged": True})
            messages = purge.purge(db, memories, before)
            undone = self.changes.removed_before(before)
            purge.erase_traces(db, undone)
            changes = self.changes.expire(before)
        if memories or undone:
            self._indexes.remove()
        self._empty_log()
        return m.Purged(tuple(name for _, name, _ in memories), messages, changes)

    def vacuum(self, patience: float = BUSY_SECONDS) -> int:
        before = self.info().size
        with self._db.fresh() as db:
            db.set_busy_timeout(int(patience * 1000))
            db.execute("VACUUM")
        self._empty_log()
        return max(0, before - self.info().size)

    def _empty_log(self) -> None:
        """Move the write-ahead log into the file and truncate it, unless another process is reading it."""
        with self._db.fresh() as db:
            db.set_busy_timeout(0)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # care

    def trim_audit(self, keep: int = 5000, down_to: int = 4000) -> int:
        return self._audit.trim(keep, down_to)

    def backup(self) -> str:
        self._db.refuse_replaced()  # its backups belong to another file
        with contextlib.suppress(StoreBusy, StoreUnwritable):  # a later backup does it
            self._db.add_checksums()
        with self._db.reading() as db:
            return str(self._backups.make(db))

    def backup_age(self, now: datetime) -> float | None:
        return self._backups.age(now)

    def check_backups(self) -> list[m.BackupCheck]:
        return self._backups.check()

    def check(self) -> list[StoreProblem]:
        with self._db.fresh() as db:
            if damage := find_damage(db):
                self._db.suspected()
                return damage
            return [*find_problems(db), *self._audit.problems()]

    def info(self) -> StoreInfo:
        with self._db.reading() as db:
            version = version_of(db)
            free = int(db.pragma("freelist_count")) * int(db.pragma("page_size"))
        size = sum(
            Path(f"{self._path}{end}").stat().st_size for end in ("", "-wal") if _exists(self._path, end)
        )
        return StoreInfo(str(self._path), version, size, self._db.encrypted, free)

    def encrypt(self, make_key: Callable[[], tuple[str, KeyNote]]) -> KeyNote:
        note = self._backups.rekey(self._db, make_key)
        assert note is not None
        return note

    def decrypt(self) -> None:
        self._backups.rekey(self._db, None)

    def _pages(
        self,
        query: str,
        keys: Sequence[str],
        params: Sequence[Any],
        read: Callable[[Sequence[Any]], _Item],
        first: str | int = "",
    ) -> Iterator[_Item]:
        """Yield what `read` makes of rows ordered by `keys`, their first columns, greater than `first`; a page at a time."""
        order, last = ", ".join(keys), (first,) * len(keys)
        whole = f"{query} AND ({order}) > ({', '.join('?' * len(keys))}) ORDER BY {order} LIMIT {_PAGE}"
        while True:
            with self._db.reading() as db:
                page: list[Any] = db.execute(whole, (*params, *last)).fetchall()
                items = [read(row) for row in page]
            yield from items
            if len(page) < _PAGE:
                return
            last = page[-1][: len(keys)]


def _gap(row: Sequence[Any]) -> m.Gap:
    return m.Gap(row[0], row[1], row[2], m.from_text(row[3]), row[4])


def _since(seq: int, join: str = "") -> str:
    """Return the clauses for memories written after a parameter with the value `seq`, oldest first.

    A first reading goes through the whole table; the planner would do so for later ones as well, for the sake of the order.
    """
    index = "NOT INDEXED" if seq < 0 else "INDEXED BY memories_seq"
    return f"{index} {join} WHERE m.seq > ? ORDER BY m.num"


def _unembedded(model: str) -> str:
    """Return the condition for memories that have something `model` can embed, and no vector by it."""
    some = " AND m.when_needed IS NOT NULL" if model.endswith(m.WHEN_MODEL) else ""
    missing = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.num = m.num AND v.model = ?)"
    return f"m.state <> 'deleted' AND {missing}{some}"


def _words_of(memory: m.Memory) -> tuple[str | None, ...]:
    """Return the memory's values in the order of `_WORDS_OF`."""
    paths, tags = m.dumps(memory.file_paths), m.dumps(memory.tags)
    when_needed = m.dumps(memory.when_needed) if memory.when_needed else None
    return (
        memory.fingerprint,
        memory.content,
        paths,
        memory.kind,
        memory.project_id,
        memory.user_id,
        when_needed,
        tags,
    )


def _bump(db: "apsw.Connection") -> int:
    return int(db.execute("UPDATE change SET seq = seq + 1 RETURNING seq").get)


def _exists(path: Path, end: str) -> bool:
    return Path(f"{path}{end}").exists()
