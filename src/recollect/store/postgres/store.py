"""The PostgreSQL store: one caller's handle on a team's database."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn, TypeVar

import recollect.model as m
from recollect.errors import AmbiguousId, MemoryNotFound, OutOfScope, Refused
from recollect.model.team import Identity
from recollect.store import rows
from recollect.store.described import LASTING, MOST_IMPORTANT_FIRST, UNDESCRIBED
from recollect.store.postgres import forgetting, graph, words
from recollect.store.postgres.ageing import ageing_at
from recollect.store.postgres.audit import AuditLog
from recollect.store.postgres.changes import PostgresChangeLog
from recollect.store.postgres.check import find_problems
from recollect.store.postgres.connection import Connection, Database, Pool, number
from recollect.store.postgres.deliveries import PostgresDeliveries, erase_items
from recollect.store.postgres.events import PostgresEvents
from recollect.store.postgres.ledger import PostgresCostLedger
from recollect.store.postgres.local_parts import LOCAL_EPISODES, LOCAL_PRUNED_TEXTS
from recollect.store.postgres.measures import PostgresMeasures
from recollect.store.postgres.memory_rows import memory_from, memory_row
from recollect.store.postgres.messages import PostgresMessages
from recollect.store.postgres.modules import PostgresModuleMaps
from recollect.store.postgres.reviews import PostgresReviews
from recollect.store.postgres.schema import newest_version
from recollect.store.postgres.views import (
    HAS_FILE,
    HAS_TAG,
    ORDERS,
    ORPHAN_TAG,
    SELECT_MEMORIES,
    TAGS,
    UNUSED_TAG,
    equals,
    file_params,
    own_in,
    passing,
    placed_in,
    shown_in,
)
from recollect.store.visibility import COLUMNS

_COLUMNS = rows.MEMORY_COLUMNS
_INSERT = (
    f"INSERT INTO memories (num, seq, {', '.join(_COLUMNS)})"
    f" VALUES (%s, %s, {', '.join(['%s'] * len(_COLUMNS))})"
)
_UPDATE = f"UPDATE memories SET seq = %s, {', '.join(f'{name} = %s' for name in _COLUMNS[1:])} WHERE num = %s"
# The values that tags and words are made from, and those that decide who sees the memory.
_BEFORE = (
    "SELECT m.num, m.user_id, m.project_id, m.visibility, m.fingerprint, m.content, m.file_paths, m.kind,"
    f" {TAGS}, m.when_needed FROM memories m WHERE m.id = %s"
)
_KNOWN = "SELECT id FROM memories WHERE id = ANY (%s)"
_GAP_COLUMNS = "id, user_id, project_id, session, context, created_at, closed_at"
_PAGE = 500
_FEED_PAGE = 5000  # rows of the change feed that are in memory at once
SHOWN_ID = 6  # people are shown the random end of an id; a shorter one may be a word
_Item = TypeVar("_Item")


class PostgresStore:
    """Implements `TeamStore`: what the caller may see of their team's memories, and nothing else."""

    notices: tuple[str, ...] = ()

    def __init__(self, pool: Pool, identity: Identity) -> None:
        self.user_id = identity.user
        self.identity = identity
        self._db = Database(pool, identity)
        self._audit = AuditLog(self._db)
        self.changes = PostgresChangeLog(self._db, self.transaction)
        self.modules = PostgresModuleMaps(self._db)
        self.reviews = PostgresReviews(self._db)
        self.messages = PostgresMessages(self._db)
        self.events = PostgresEvents(self._db)
        self.ledger = PostgresCostLedger(self._db)
        self.measures = PostgresMeasures(self._db)
        self.deliveries = PostgresDeliveries(self._db)
        self.episodes = LOCAL_EPISODES
        self.pruned = LOCAL_PRUNED_TEXTS
        self._rollbacks = 0  # of transactions whose uncommitted rows the change feed has served
        self._served_uncommitted = False

    def close(self) -> None:
        """The connections belong to the pool."""

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        if self._db.in_transaction:
            yield
            return
        try:
            with self._db.writing():
                self._served_uncommitted = False
                yield
        except BaseException:
            if self._served_uncommitted:
                self._rollbacks += 1
            raise

    def reading_together(self) -> contextlib.AbstractContextManager[None]:
        """Let all reads of this thread in the block share one transaction. A search makes eleven: it takes half the time."""
        return self._db.reading_together()

    def seq(self) -> int:
        return self.change()[0]

    def change(self) -> tuple[int, object]:
        with self._db.reading() as db:
            row = db.execute("SELECT seq, purge FROM change").fetchone() or (0, 0)
        return int(row[0]), (int(row[1]), self._rollbacks)

    # memories

    def put(self, memory: m.Memory) -> None:
        row, snippets = memory_row(memory)
        journal = self._db.journal
        with self._db.writing() as db:
            before = db.execute(_BEFORE, (memory.id,)).fetchone()
            journal.before_write("memories", "id = %s", (memory.id,))
            hidden = before is not None and before[1:4] != (
                memory.user_id,
                memory.project_id,
                memory.visibility,
            )
            seq = _bump(db, purge=hidden)
            is_private = memory.visibility is m.Visibility.PRIVATE and not hidden
            self._db.notify(memory.project_id, memory.user_id if is_private else "")
            num = seq if before is None else int(before[0])
            if before is None:
                db.execute(_INSERT, (num, seq, *row))
                journal.created("memories", num)
            elif not db.execute(_UPDATE, (seq, *row[1:], num)).rowcount:
                raise _not_allowed()
            for mark, text in snippets.items():
                db.execute(
                    "INSERT INTO snippets (num, mark, text) VALUES (%s, %s, %s)"
                    " ON CONFLICT (tenant, num, mark, user_id) DO UPDATE SET text = excluded.text",
                    (num, mark, text),
                )
            texts = (memory.fingerprint, memory.content, row[8], memory.kind, memory.tags, memory.when_needed)
            if before is not None and _words_of(before) == (memory.project_id, *texts):
                return  # its text is the same: it was used, confirmed or archived
            if before is not None:
                journal.before_write("memory_tags", "num = %s", (num,))
                if before[4] != memory.fingerprint:
                    journal.before_write("vectors", "num = %s", (num,))
                    db.execute("DELETE FROM vectors WHERE num = %s", (num,))  # of the old text
                elif rows.read_strings(before[-1]) != memory.when_needed:
                    old = "num = %s AND right(model, length(%s)) = %s"
                    journal.before_write("vectors", old, (num, m.WHEN_MODEL, m.WHEN_MODEL))
                    db.execute(f"DELETE FROM vectors WHERE {old}", (num, m.WHEN_MODEL, m.WHEN_MODEL))
                db.execute("DELETE FROM memory_tags WHERE num = %s", (num,))
            for position, tag in enumerate(memory.tags):
                journal.before_put("tags", memory.user_id, tag)
                journal.before_put("memory_tags", num, tag)
                db.execute(
                    "INSERT INTO tags (user_id, name) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (memory.user_id, tag),
                )
                db.execute(
                    "INSERT INTO memory_tags (num, tag, position, project) VALUES (%s, %s, %s, %s)"
                    " ON CONFLICT DO NOTHING",
                    (num, tag, position, memory.project_id or ""),
                )
            words.index(db, num, memory)

    def get(self, memory_id: str) -> m.Memory:
        found = self._memories("WHERE m.id = %s", memory_id)
        if not found:
            raise MemoryNotFound(memory_id)
        return found[0]

    def get_many(self, ids: Sequence[str]) -> dict[str, m.Memory]:
        found = self._memories("WHERE m.id = ANY (%s)", list(ids))
        return {memory.id: memory for memory in found}

    def _memories(self, which: str, *params: Any) -> list[m.Memory]:
        with self._db.reading() as db:
            return [memory_from(row) for row in db.execute(f"{SELECT_MEMORIES} {which}", params)]

    def resolve(self, view: m.View, name: str) -> str:
        wanted = name.strip().lstrip("#").lower()
        if not wanted.isascii() or not wanted.isalnum() or len(wanted) > m.LONGEST_ID:
            raise MemoryNotFound(name)
        where, params = shown_in(view)
        conditions = [("m.id >= %s AND m.id < %s", (wanted, f"{wanted}\x7f"))]
        if len(wanted) >= SHOWN_ID:
            conditions.append(("right(m.id, %s) = %s", (str(len(wanted)), wanted)))
        for condition, values in conditions:
            with self._db.reading() as db:
                query = f"SELECT m.id FROM memories m WHERE {condition} AND {where} ORDER BY m.id LIMIT 4"
                found = [str(row[0]) for row in db.execute(query, (*values, *params))]
            if len(found) == 1 or wanted in found:
                return wanted if wanted in found else found[0]
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
            where += f" AND {HAS_TAG}"
            params += (tag,)
        if file is not None:
            where += f" AND {HAS_FILE}"
            params += file_params(file)
        if standing is m.Standing.PINNED:
            where += " AND m.standing = 'pinned'"  # the literal lets the partial index be used
        elif standing is not None:
            where += " AND m.standing = %s"
            params += (standing,)
        return self._memories(f"WHERE {where} ORDER BY m.id DESC LIMIT %s", *params, limit)

    def page(
        self, view: m.View, which: m.MemoryFilter, order: m.MemoryOrder, limit: int, offset: int = 0
    ) -> list[m.Memory]:
        where, params = passing(view, which)
        order_by = f"ORDER BY {ORDERS[order]} LIMIT %s OFFSET %s"
        return self._memories(f"WHERE {where} {order_by}", *params, limit, offset)

    def count_page(self, view: m.View, which: m.MemoryFilter) -> int:
        return self._number("SELECT count(*) FROM memories m WHERE ", *passing(view, which))

    def undescribed(self, view: m.View, limit: int) -> list[m.Memory]:
        where, params = own_in(view)
        order_by = f"ORDER BY {MOST_IMPORTANT_FIRST} LIMIT %s"
        return self._memories(f"WHERE {where} AND {UNDESCRIBED} {order_by}", *params, limit)

    def count_described(self, view: m.View) -> tuple[int, int]:
        where, params = own_in(view)
        query = f"SELECT count(m.when_needed), count(*) FROM memories m WHERE {where} AND {LASTING}"
        with self._db.reading() as db:
            described, total = db.execute(query, params).fetchone() or (0, 0)
        return int(described), int(total)

    def iter_memories(self, view: m.View, after: str = "", user: str | None = None) -> Iterator[m.Memory]:
        where, params = shown_in(view)
        if user is not None:
            where, params = f"{where} AND m.user_id = %s", (*params, user)
        last = after
        while True:
            page = self._memories(f"WHERE {where} AND m.id > %s ORDER BY m.id LIMIT {_PAGE}", *params, last)
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1].id

    def count(self, view: m.View) -> int:
        return self._number("SELECT count(*) FROM memories m WHERE ", *shown_in(view))

    def _number(self, query: str, where: str, params: Sequence[Any]) -> int:
        with self._db.reading() as db:
            return number(db, query + where, params)

    def counts(self, view: m.View, field: str) -> dict[str, int]:
        if field not in ("kind", "state", "scope", "standing", "project_id", "branch", "created_by"):
            raise ValueError(field)
        where, params = shown_in(view)
        query = f"SELECT m.{field}, count(*) FROM memories m WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1"
        with self._db.reading() as db:
            return dict(db.execute(query, params).fetchall())

    def with_fingerprint(self, view: m.View, fingerprint: str) -> list[m.Memory]:
        where, params = shown_in(view)
        return self._memories(f"WHERE m.fingerprint = %s AND {where} ORDER BY m.id", fingerprint, *params)

    def count_written(self, session: str | None, created_by: str, since: datetime) -> int:
        which, params = equals("session", session)
        where = f"{which} AND created_by = %s AND created_at >= %s AND user_id = %s"
        given = (*params, created_by, m.to_text(since), self.user_id)
        return self._number("SELECT count(*) FROM memories WHERE ", where, given)

    def ageing(self, view: m.View, now: datetime, capacity: int) -> list[m.Memory]:
        where, params = shown_in(view)
        kept = f"{where} AND m.promoted_at IS NOT NULL"
        crowded: list[str] = []
        if capacity:
            query = f"SELECT coalesce(m.project_id, '') FROM memories m WHERE {kept} GROUP BY 1 HAVING count(*) > %s"
            with self._db.reading() as db:
                crowded = [row[0] for row in db.execute(query, (*params, capacity))]
        ageing, times = ageing_at(now)
        return self._memories(
            f"WHERE {kept} AND ({ageing} OR coalesce(m.project_id, '') = ANY (%s)) ORDER BY m.id",
            *params,
            *times,
            crowded,
        )

    def delete(self, memory_id: str) -> None:
        with self.transaction(), self._db.writing() as db:
            found = db.execute(
                "SELECT num, user_id, project_id, visibility FROM memories WHERE id = %s", (memory_id,)
            ).fetchone()
            if found is None:
                raise MemoryNotFound(memory_id)
            num, user_id, project_id, visibility = found
            tags = [row[0] for row in db.execute("SELECT tag FROM memory_tags WHERE num = %s", (num,))]
            self._db.journal.before_delete("memories", "num = %s", (num,))
            for tag in tags:
                self._db.journal.before_put("tags", user_id, tag)
            if not db.execute("DELETE FROM memories WHERE num = %s", (num,)).rowcount:  # and all that is its
                raise _not_allowed()
            erase_items(db, [memory_id])
            for tag in tags:
                db.execute(f"DELETE FROM tags WHERE {ORPHAN_TAG}", (user_id, tag))
            _bump(db, purge=True)
            self._db.notify(project_id, user_id if visibility == m.Visibility.PRIVATE else "")

    # finding

    def match(self, view: m.View, query: str, limit: int) -> list[tuple[str, float]]:
        with self._db.reading() as db:
            return words.match(db, view, query, limit)

    def with_triggers(self, view: m.View, limit: int) -> list[m.Memory]:
        where, params = shown_in(view)
        some = "(m.triggers <> '[]' OR m.procedure IS NOT NULL)"  # as the index has it
        return self._memories(f"WHERE {some} AND {where} ORDER BY m.num DESC LIMIT %s", *params, limit)

    # the change feed

    def texts_since(self, seq: int) -> Iterator[m.TextRow]:
        columns = f"m.num, m.id, m.content, {TAGS}, m.file_paths, m.when_needed, m.kind, {COLUMNS}"
        for num, memory_id, content, tags, paths, when, kind, *key in self._feed(columns, "", (), seq):
            lists = tuple(json.loads(tags)), tuple(json.loads(paths)), rows.read_strings(when)
            yield m.TextRow(num, memory_id, content, *lists, kind, tuple(key))

    def vectors_since(self, model: str, seq: int) -> Iterator[m.VectorRow]:
        join = "JOIN" if seq < 0 else "LEFT JOIN"
        vectors = f"{join} vectors v ON v.num = m.num AND v.model = %s"
        for num, memory_id, vector, *key in self._feed(
            f"m.num, m.id, v.vector, {COLUMNS}", vectors, (model,), seq
        ):
            yield m.VectorRow(num, memory_id, tuple(key), vector)

    def _feed(self, columns: str, join: str, params: Sequence[Any], seq: int) -> Iterator[Any]:
        """Yield rows written after `seq` by number, a page at a time. Inside a transaction they may be rolled back."""
        if self._db.in_transaction:
            self._served_uncommitted = True
        query = (
            f"SELECT {columns} FROM memories m {join} WHERE m.seq > %s AND m.num > %s"
            f" ORDER BY m.num LIMIT {_FEED_PAGE}"
        )
        last = -1
        while True:
            with self._db.reading() as db:
                page = db.execute(query, (*params, seq, last)).fetchall()
            yield from page
            if len(page) < _FEED_PAGE:
                return
            last = page[-1][0]

    # vectors

    def put_vector(self, memory_id: str, model: str, vector: bytes) -> None:
        with self._db.writing() as db:
            query = "SELECT num, project_id, visibility, user_id FROM memories WHERE id = %s"
            found = db.execute(query, (memory_id,)).fetchone()
            if found is None:
                raise MemoryNotFound(memory_id)
            num, project_id, visibility, user_id = found
            db.execute("UPDATE memories SET seq = %s WHERE num = %s", (_bump(db), num))
            self._db.notify(project_id, user_id if visibility == m.Visibility.PRIVATE else "")
            self._db.journal.before_put("vectors", num, model)
            db.execute(
                "INSERT INTO vectors (num, model, vector) VALUES (%s, %s, %s)"
                " ON CONFLICT (tenant, num, model) DO UPDATE SET vector = excluded.vector",
                (num, model, vector),
            )

    def vector(self, memory_id: str, model: str) -> bytes | None:
        query = (
            "SELECT v.vector FROM vectors v JOIN memories m ON m.num = v.num WHERE m.id = %s AND v.model = %s"
        )
        with self._db.reading() as db:
            row = db.execute(query, (memory_id, model)).fetchone()
            return row[0] if row else None

    def vectors(self, view: m.View, model: str) -> Iterator[tuple[str, bytes]]:
        where, params = shown_in(view)
        query = (
            "SELECT m.num, m.id, v.vector FROM memories m JOIN vectors v"
            f" ON v.num = m.num AND v.model = %s WHERE {where}"
        )
        return self._pages(query, ("m.num",), (model, *params), lambda row: (row[1], row[2]), first=0)

    def without_vector(self, model: str, limit: int) -> list[tuple[str, str]]:
        query = (
            f"SELECT m.id, m.content FROM memories m WHERE {_unembedded(model)}"
            " ORDER BY m.num DESC LIMIT nullif(%s, -1)"
        )
        with self._db.reading() as db:
            return [(str(row[0]), str(row[1])) for row in db.execute(query, (model, limit))]

    def count_without_vector(self, model: str) -> int:
        return self._number("SELECT count(*) FROM memories m WHERE ", _unembedded(model), (model,))

    def read_index(self, name: str) -> tuple[int, memoryview] | None:
        return None  # a server keeps its index in memory

    def write_index(
        self, name: str, seq: int, generation: object, parts: Sequence[bytes | memoryview]
    ) -> None:
        pass

    def count_vectors(self, model: str) -> int:
        return self._number("SELECT count(*) FROM vectors WHERE ", "model = %s", (model,))

    # the graph

    def put_link(self, link: m.Link) -> None:
        sets = ", ".join(f"{name} = excluded.{name}" for name in rows.LINK_COLUMNS.split(", ")[3:])
        with self._db.writing() as db:
            known = {row[0] for row in db.execute(_KNOWN, ([link.source, link.target],))}
            for end in (link.source, link.target):
                if end not in known:
                    raise MemoryNotFound(end)
            self._db.journal.before_put("links", link.source, link.target, str(link.relation))
            db.execute(
                f"INSERT INTO links ({rows.LINK_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
                f" ON CONFLICT (tenant, source, target, relation) DO UPDATE SET {sets}",
                rows.link_row(link),
            )

    def drop_link(self, source: str, target: str, relation: m.Relation) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("links", source, target, str(relation))
            where = "source = %s AND target = %s AND relation = %s"
            return db.execute(f"DELETE FROM links WHERE {where}", (source, target, relation)).rowcount > 0

    def may_settle(self, first: str, second: str) -> bool:
        if self.identity.role == "service" or self.identity.role.is_admin:
            return True
        standing = "state = 'active' AND visibility <> 'private'"
        query = f"SELECT count(DISTINCT user_id) FROM memories WHERE id = ANY(%s) AND {standing}"
        with self._db.reading() as db:
            return number(db, query, ([first, second],)) < 2

    def links(self, memory_id: str) -> list[m.Link]:
        query = f"SELECT {rows.LINK_COLUMNS} FROM links WHERE source = %s OR target = %s ORDER BY 3, 1, 2"
        with self._db.reading() as db:
            return [rows.link_from(row) for row in db.execute(query, (memory_id, memory_id))]

    def all_links(self, view: m.View) -> list[m.Link]:
        return self._links_in(view, "true")

    def iter_links(self, view: m.View) -> Iterator[m.Link]:
        ends, params = shown_in(view)
        inside = f"(SELECT m.id FROM memories m WHERE {ends})"
        query = f"SELECT {rows.LINK_COLUMNS} FROM links WHERE source IN {inside} AND target IN {inside}"
        keys = ("source", "target", "relation")
        return self._pages(query, keys, (*params, *params), rows.link_from)

    def used_together(self, user_id: str, since: datetime | None) -> list[m.Link]:
        columns = ", ".join(f"l.{name}" for name in rows.LINK_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM links l JOIN memories a ON a.id = l.source"
            " JOIN memories b ON b.id = l.target AND b.last_accessed_at = a.last_accessed_at"
            " WHERE l.relation = 'relates_to' AND l.weight < 1.0 AND a.last_accessed_at > %s"
            " AND a.user_id = %s AND b.user_id = %s AND a.state = 'active' AND b.state = 'active'"
            " ORDER BY l.source, l.target"
        )
        with self._db.reading() as db:
            found = db.execute(query, (m.to_text(since) if since else "", user_id, user_id))
            return [rows.link_from(row) for row in found]

    def neighbours(self, view: m.View, memory_ids: Sequence[str], fan_out: int) -> list[m.MemoryEdge]:
        with self._db.reading() as db:
            return graph.neighbours(db, view, memory_ids, fan_out)

    def conflicts(self, view: m.View, ids: Sequence[str] | None = None) -> list[m.Link]:
        where = "l.relation = 'contradicts' AND l.resolved_at IS NULL"
        if ids is None:
            return self._links_in(view, where)
        where += " AND (l.source = ANY (%s) OR l.target = ANY (%s))"
        return self._links_in(view, where, list(ids), list(ids))

    def _links_in(self, view: m.View, which: str, *given: Any) -> list[m.Link]:
        ends, params = shown_in(view)
        inside = f"(SELECT m.id FROM memories m WHERE {ends})"
        columns = ", ".join(f"l.{name}" for name in rows.LINK_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM links l WHERE {which} AND l.source IN {inside} AND l.target IN {inside}"
            " ORDER BY l.created_at, l.source, l.target"
        )
        with self._db.reading() as db:
            return [rows.link_from(row) for row in db.execute(query, (*given, *params, *params))]

    def tags(self, view: m.View) -> list[m.Tag]:
        where, params = shown_in(view)
        query = (
            "SELECT t.tag, coalesce((SELECT description FROM tags WHERE user_id = %s AND name = t.tag), ''), count(*)"
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
                "INSERT INTO tags (user_id, name, description) VALUES (%s, %s, %s)"
                " ON CONFLICT (tenant, user_id, name) DO UPDATE SET description = excluded.description",
                (self.user_id, name, description),
            )

    def orphan_tags(self) -> list[str]:
        query = f"SELECT name FROM tags WHERE user_id = %s AND description = '' AND {UNUSED_TAG} ORDER BY 1"
        with self._db.reading() as db:
            return [str(row[0]) for row in db.execute(query, (self.user_id,))]

    def drop_tag(self, name: str) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("tags", self.user_id, name)
            return db.execute(f"DELETE FROM tags WHERE {ORPHAN_TAG}", (self.user_id, name)).rowcount > 0

    def put_clusters(self, project_id: str | None, clusters: Iterable[m.Cluster]) -> None:
        place, params = equals("project_id", project_id)
        where = f"{place} AND user_id = %s"
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", where, (*params, self._cluster_owner))
            db.execute(f"DELETE FROM clusters WHERE {where}", (*params, self._cluster_owner))
            for cluster in clusters:
                self.put_cluster(replace(cluster, project_id=project_id))

    def put_cluster(self, cluster: m.Cluster) -> None:
        row = (cluster.id, cluster.project_id, cluster.label, cluster.model, cluster.centroid)
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", "id = %s", (cluster.id,))
            self._db.journal.before_put("clusters", cluster.id)
            for member in cluster.members:
                self._db.journal.before_put("cluster_members", cluster.id, member)
            db.execute("DELETE FROM clusters WHERE id = %s", (cluster.id,))
            db.execute(
                "INSERT INTO clusters (id, project_id, label, model, centroid, updated_at, user_id)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (*row, m.to_text(cluster.updated_at), self._cluster_owner),
            )
            db.execute(  # a member may have been purged since the clusters were made
                "INSERT INTO cluster_members (cluster, memory) SELECT %s, id FROM memories WHERE id = ANY (%s)",
                (cluster.id, list(cluster.members)),
            )

    @property
    def _cluster_owner(self) -> str:
        """The user whose clusters are written: a person's own, or those for everybody, which the server makes."""
        return "" if self.identity.role == "service" else self.user_id

    def drop_cluster(self, cluster_id: str) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_delete("clusters", "id = %s", (cluster_id,))
            return db.execute("DELETE FROM clusters WHERE id = %s", (cluster_id,)).rowcount > 0

    def clusters(self, project_id: str | None) -> list[m.Cluster]:
        place, params = equals("c.project_id", project_id)
        query = (
            "SELECT c.id, c.project_id, c.label, c.model, c.centroid,"
            " ARRAY(SELECT x.memory::text FROM cluster_members x WHERE x.cluster = c.id ORDER BY 1), c.updated_at"
            f" FROM clusters c WHERE {place} ORDER BY c.id"
        )
        with self._db.reading() as db:
            return [
                m.Cluster(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), m.from_text(row[6]))
                for row in db.execute(query, params)
            ]

    # sessions and findings

    def put_session(self, session: m.Session) -> None:
        columns = rows.SESSION_COLUMNS.split(", ")
        changing = [name for name in columns if name not in ("id", "user_id", "project_id", "started_at")]
        with self._db.writing() as db:
            self._db.journal.before_put("sessions", session.id)
            db.execute(
                f"INSERT INTO sessions ({rows.SESSION_COLUMNS}) VALUES ({', '.join(['%s'] * len(columns))})"
                " ON CONFLICT (tenant, id) DO UPDATE SET "
                + ", ".join(f"{name} = excluded.{name}" for name in changing),
                rows.session_row(session),
            )

    def get_session(self, session_id: str) -> m.Session | None:
        with self._db.reading() as db:
            query = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE id = %s"
            row = db.execute(query, (session_id,)).fetchone()
            return rows.session_from(row) if row else None

    def sessions(self, user_id: str, project_id: str | None, limit: int) -> list[m.Session]:
        place, params = equals("project_id", project_id)
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE user_id = %s AND {place}"
            " ORDER BY started_at DESC, id DESC LIMIT %s"
        )
        with self._db.reading() as db:
            return [rows.session_from(row) for row in db.execute(query, (user_id, *params, limit))]

    def live_sessions(self, project_id: str | None, since: datetime) -> list[m.Session]:
        place, params = equals("project_id", project_id)
        query = (
            f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE {place} AND ended_at IS NULL"
            " AND coalesce(active_at, started_at) >= %s ORDER BY started_at, id"
        )
        with self._db.reading() as db:
            return [rows.session_from(row) for row in db.execute(query, (*params, m.to_text(since)))]

    def hidden(self) -> frozenset[str]:
        with self._db.reading() as db:
            query = "SELECT memory FROM hidden_memories WHERE user_id = %s"
            return frozenset(str(row[0]) for row in db.execute(query, (self.user_id,)))

    def share_session(self, session_id: str, on: bool) -> None:
        with self._db.writing() as db:
            query = "UPDATE sessions SET shared = %s WHERE id = %s RETURNING project_id"
            found = db.execute(query, (on, session_id)).fetchone()
            if found is not None and on:
                self._db.notify(found[0])

    def iter_sessions(self, view: m.View) -> Iterator[m.Session]:
        where, params = placed_in(view, "s")
        query = f"SELECT {rows.SESSION_COLUMNS} FROM sessions s WHERE s.user_id = %s AND {where}"
        return self._pages(query, ("s.id",), (view.user_id, *params), rows.session_from)

    def iter_findings(self, view: m.View) -> Iterator[m.Finding]:
        where, params = placed_in(view, "s")
        columns = ", ".join(f"f.{name}" for name in rows.FINDING_COLUMNS.split(", "))
        query = (
            f"SELECT {columns} FROM findings f JOIN sessions s ON s.id = f.session"
            f" WHERE s.user_id = %s AND {where}"
        )
        return self._pages(query, ("f.id",), (view.user_id, *params), rows.finding_from)

    def put_finding(self, finding: m.Finding) -> bool:
        return self.events.put_findings(finding.session, [finding]) > 0

    def findings(self, session: str) -> list[m.Finding]:
        query = f"SELECT {rows.FINDING_COLUMNS} FROM findings WHERE session = %s ORDER BY created_at, id"
        with self._db.reading() as db:
            return [rows.finding_from(row) for row in db.execute(query, (session,))]

    # gaps

    def put_gap(self, gap: m.Gap) -> None:
        closed = m.to_text(gap.closed_at) if gap.closed_at else None
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap.id)
            db.execute(
                f"INSERT INTO gaps ({_GAP_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (tenant, id) DO UPDATE SET project_id = excluded.project_id, session = excluded.session,"
                " context = excluded.context, created_at = excluded.created_at, closed_at = excluded.closed_at",
                (*self._gap_row(gap), closed),
            )

    def adopt_gap(self, gap: m.Gap) -> None:
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap.id)
            db.execute(
                f"INSERT INTO gaps ({_GAP_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, NULL) ON CONFLICT DO NOTHING",
                self._gap_row(gap),
            )

    def _gap_row(self, gap: m.Gap) -> tuple[str | None, ...]:
        return gap.id, self.user_id, gap.project_id, gap.session, gap.context, m.to_text(gap.created_at)

    def close_gap(self, gap_id: str, at: datetime) -> bool:
        with self._db.writing() as db:
            self._db.journal.before_put("gaps", gap_id)
            where = "id = %s AND user_id = %s AND closed_at IS NULL"
            done = db.execute(
                f"UPDATE gaps SET closed_at = %s WHERE {where}", (m.to_text(at), gap_id, self.user_id)
            )
            return done.rowcount > 0

    def gaps(self, project_id: str | None, limit: int) -> list[m.Gap]:
        place, params = equals("project_id", project_id)
        query = (
            "SELECT id, project_id, context, created_at, session FROM gaps"
            f" WHERE user_id = %s AND {place} AND closed_at IS NULL ORDER BY created_at DESC, id DESC LIMIT %s"
        )
        with self._db.reading() as db:
            return [_gap(row) for row in db.execute(query, (self.user_id, *params, limit))]

    def iter_gaps(self, view: m.View) -> Iterator[m.Gap]:
        where, params = placed_in(view, "g")
        query = (
            "SELECT g.id, g.project_id, g.context, g.created_at, g.session FROM gaps g"
            f" WHERE g.user_id = %s AND g.closed_at IS NULL AND {where}"
        )
        return self._pages(query, ("g.id",), (view.user_id, *params), _gap)

    # projects and settings

    def project_for(self, keys: Sequence[str]) -> str | None:
        with self._db.reading() as db:
            query = "SELECT key, project_id FROM project_keys WHERE key = ANY (%s)"
            known = dict(db.execute(query, (list(keys),)).fetchall())
        return next((known[key] for key in keys if key in known), None)

    def project_keys(self, project_id: str) -> list[str]:
        with self._db.reading() as db:
            query = "SELECT key FROM project_keys WHERE project_id = %s ORDER BY key"
            return [str(row[0]) for row in db.execute(query, (project_id,))]

    def put_project(self, project: m.Project, keys: Sequence[str]) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO projects (id, name, root) VALUES (%s, %s, %s)"
                " ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name, root = excluded.root",
                (project.id, project.name, project.root),
            )
            for key in keys:
                db.execute(
                    "INSERT INTO project_keys (key, project_id) VALUES (%s, %s)"
                    " ON CONFLICT (tenant, key) DO UPDATE SET project_id = excluded.project_id",
                    (key, project.id),
                )

    def adopt_project(self, project: m.Project, keys: Sequence[str]) -> None:
        with self._db.writing() as db:
            added = db.execute(
                "INSERT INTO projects (id, name, root) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (project.id, project.name, project.root),
            )
            if added.rowcount:
                for key in keys:
                    db.execute(
                        "INSERT INTO project_keys (key, project_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                        (key, project.id),
                    )

    def projects(self) -> list[m.Project]:
        with self._db.reading() as db:
            found = db.execute('SELECT id, name, root FROM projects ORDER BY name COLLATE "C", id')
            return [m.Project(str(row[0]), str(row[1]), str(row[2]), why="") for row in found]

    def setting(self, project_id: str | None, name: str) -> Any:
        if (known := self._db.settings(self.user_id)) is not None:
            value = known.get((project_id or "", name))
            return None if value is None else json.loads(value)
        with self._db.reading() as db:
            query = "SELECT value FROM settings WHERE user_id = %s AND project_id = %s AND name = %s"
            row = db.execute(query, (self.user_id, project_id or "", name)).fetchone()
            return json.loads(row[0]) if row else None

    def set_setting(self, project_id: str | None, name: str, value: Any) -> None:
        with self._db.writing() as db:
            key = (self.user_id, project_id or "", name)
            self._db.journal.before_put("settings", *key)
            db.execute(
                "INSERT INTO settings (user_id, project_id, name, value) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (tenant, user_id, project_id, name) DO UPDATE SET value = excluded.value",
                (*key, m.dumps(value)),
            )

    # requests that are sent again

    def once(self, key: str) -> str | None:
        with self._db.reading() as db:
            query = "SELECT answer FROM answers WHERE user_id = %s AND key = %s"
            row = db.execute(query, (self.user_id, key)).fetchone()
            return str(row[0]) if row else None

    def keep_answer(self, key: str, answer: str, at: datetime) -> None:
        with self._db.writing() as db:
            query = "INSERT INTO answers (user_id, key, answer, at) VALUES (%s, %s, %s, %s)"
            db.execute(query, (self.user_id, key, answer, m.to_text(at)))

    def drop_answer(self, key: str) -> None:
        with self._db.writing() as db:
            db.execute("DELETE FROM answers WHERE user_id = %s AND key = %s", (self.user_id, key))

    # audit

    def log(
        self, action: str, actor: str, at: datetime, memory_id: str | None, detail: Mapping[str, Any]
    ) -> None:
        self._audit.log(action, actor, at, memory_id, detail)

    def audit(self, limit: int, memory_id: str | None = None) -> list[m.AuditLine]:
        return self._audit.lines(limit, memory_id)

    def verify_audit(self) -> m.AuditCheck:
        return self._audit.verify()

    def trim_audit(self, keep: int = 5000, down_to: int = 4000) -> int:
        return self._audit.trim(keep, down_to)

    # forgetting

    def clear(self, user_id: str, project_id: str | None, at: datetime) -> m.Cleared:
        with self._db.writing() as db:
            self._db.notify(project_id)
            return forgetting.clear(db, self._db.journal, _bump(db), user_id, project_id, at)

    def forget_unused(self, before: datetime, at: datetime) -> int:
        with self.transaction(), self._db.writing() as db:
            ids = forgetting.forget_unused(db, before, at, _bump(db))
            for name in ids:
                self.log("remove", "server", at, name, {"unused_since": m.to_text(before)})
            if ids:
                self._db.notify(None)
        return len(ids)

    def purge_due(self, before: datetime) -> bool:
        with self._db.reading() as db:
            return forgetting.is_due(db, before)

    def purge(self, before: datetime, actor: str, at: datetime) -> m.Purged:
        with self.transaction(), self._db.writing() as db:
            memories = forgetting.overdue(db, before, self.identity)
            for _, name, _ in memories:
                self.log("remove", actor, at, name, {"purged": True})
            messages = forgetting.purge(db, memories, before)
            forgetting.erase_traces(db, self.changes.removed_before(before))
            if memories:
                _bump(db, purge=True)
                self._db.notify(None)
            changes = self.changes.expire(before)
        return m.Purged(tuple(name for _, name, _ in memories), messages, changes)

    # care

    def check(self) -> list[m.StoreProblem]:
        with self._db.reading() as db:
            return [*find_problems(db), *self._audit.problems()]

    def info(self) -> m.StoreInfo:
        with self._db.reading() as db:
            place = db.execute("SELECT current_database(), pg_database_size(current_database())").fetchone()
            assert place is not None
        return m.StoreInfo(f"PostgreSQL database {place[0]}", newest_version(), int(place[1]), False)

    def backup(self) -> str:
        self._not_here()

    def check_backups(self) -> list[m.BackupCheck]:
        self._not_here()

    def backup_age(self, now: datetime) -> float | None:
        return None

    def vacuum(self, patience: float = 30.0) -> int:
        self._not_here()

    def encrypt(self, make_key: Callable[[], tuple[str, m.KeyNote]]) -> m.KeyNote:
        self._not_here()

    def decrypt(self) -> None:
        self._not_here()

    def _not_here(self) -> NoReturn:
        raise Refused(
            "The database of a team is backed up, vacuumed and encrypted by whoever runs it.",
            "See docs/team.md.",
        )

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
        whole = f"{query} AND ({order}) > ({', '.join(['%s'] * len(keys))}) ORDER BY {order} LIMIT {_PAGE}"
        while True:
            with self._db.reading() as db:
                page: list[Any] = db.execute(whole, (*params, *last)).fetchall()
            yield from map(read, page)
            if len(page) < _PAGE:
                return
            last = page[-1][: len(keys)]


def _unembedded(model: str) -> str:
    """Return the condition for memories that have something `model` can embed, and no vector by it."""
    some = " AND m.when_needed IS NOT NULL" if model.endswith(m.WHEN_MODEL) else ""
    missing = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.num = m.num AND v.model = %s)"
    return f"m.state <> 'deleted' AND {missing}{some}"


def _words_of(before: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of a row of `_BEFORE` that tags and words are made from."""
    project_id, _, fingerprint, content, paths, kind, tags, when_needed = before[2:]
    return (
        project_id,
        fingerprint,
        content,
        paths,
        kind,
        tuple(json.loads(tags)),
        rows.read_strings(when_needed),
    )


def _gap(row: Sequence[Any]) -> m.Gap:
    return m.Gap(row[0], row[1], row[2], m.from_text(row[3]), row[4])


def _bump(db: Connection, *, purge: bool = False) -> int:
    """Count a write to memories and return its number; with `purge`, readers of the change feed read all again."""
    return number(
        db,
        "INSERT INTO change (seq, purge) VALUES (1, %s) ON CONFLICT (tenant) DO UPDATE"
        " SET seq = change.seq + 1, purge = change.purge + excluded.purge RETURNING seq",
        (int(purge),),
    )


def _not_allowed() -> OutOfScope:
    return OutOfScope(
        "You may not change this memory: it is not yours, or your role does not allow it.",
        "Ask its author or an admin of your team.",
    )
