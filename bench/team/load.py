"""Load: many memories in many teams in one database. Searches and writes of one team, beside the local engine.

The rows are made in the database, with random words and vectors. Searches go through the engine with its index in memory, which
is what the team server does; the same searches run on a local store with as many memories, in the same run.
"""

import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

import recollect.model as m
from bench.corpus import sentences
from bench.local_postgres import SERVER, LocalPostgres
from bench.speed import Synthetic
from recollect.config import load_settings
from recollect.context.context import Context
from recollect.engine import Engine
from recollect.model.team import Identity, Role
from recollect.store.postgres.team import PostgresTeam

_POOL = 2000  # different texts and vectors; a memory is one of each
_MEMORIES = """
    INSERT INTO memories (tenant, num, id, seq, user_id, project_id, scope, kind, content, summary, fingerprint, file_paths,
        anchors, triggers, created_by, visibility, standing, state, importance, confidence, trust, strength, access_count,
        created_at, updated_at, valid_from, provenance, reinforcements)
    SELECT %(tenant)s::text, n, %(tenant)s::text || to_char(n, 'FM00000000'), n, 'ada', 'shop', 'project', 'fact',
        text || ' ' || n, text, md5(text || n), '[]', '[]', '[]', 'user', 'team', 'confirmed', 'active', 0.5, 0.7, 0.7, 1, 0,
        %(now)s::text, %(now)s::text, %(now)s::text, %(provenance)s::text, '[]'
    FROM generate_series(1, %(size)s) n JOIN pool ON pool.place = (n * 7919 + %(shift)s) %% %(pool)s
"""
_WORDS = """
    INSERT INTO memory_words (tenant, word, num)
    SELECT %(tenant)s::text, word, n FROM generate_series(1, %(size)s) n
    JOIN pool ON pool.place = (n * 7919 + %(shift)s) %% %(pool)s CROSS JOIN unnest(pool.words) word
"""
_VECTORS = """
    INSERT INTO vectors (tenant, num, model, vector)
    SELECT %(tenant)s::text, n, %(model)s::text, vector FROM generate_series(1, %(size)s) n
    JOIN pool ON pool.place = (n * 7919 + %(shift)s) %% %(pool)s
"""


def fill(server: LocalPostgres, teams: int, size: int) -> list[str]:
    """Make teams with `size` memories each; return their ids."""
    embedder, texts = Synthetic(), sentences(_POOL, seed=5)
    vectors = embedder.embed(texts)
    now = m.to_text(m.utc_now())
    tenants = [m.new_id() for _ in range(teams)]
    with psycopg.connect(server.url("postgres"), autocommit=True, options="-c search_path=recollect") as db:
        db.execute("SET session_replication_role = replica")  # no look-ups of foreign keys
        db.execute("CREATE TEMP TABLE pool (place int PRIMARY KEY, text text, words text[], vector bytea)")
        rows = [
            (place, text, sorted({word.strip(".,").lower() for word in text.split()}), vector.tobytes())
            for place, (text, vector) in enumerate(zip(texts, vectors.astype(np.float32), strict=True))
        ]
        db.cursor().executemany("INSERT INTO pool VALUES (%s, %s, %s, %s)", rows)
        provenance = json.dumps([{"source": "user_stated", "at": now}])
        for number, tenant in enumerate(tenants):
            given = {
                "tenant": tenant,
                "size": size,
                "shift": number,
                "pool": _POOL,
                "now": now,
                "provenance": provenance,
                "model": embedder.model,
            }
            with db.transaction():
                for statement in (_MEMORIES, _WORDS, _VECTORS):
                    db.execute(statement, given)
                db.execute("INSERT INTO change (tenant, seq) VALUES (%s, %s)", (tenant, size))
        db.execute("ANALYZE")
    return tenants


def engine_of(backend: PostgresTeam, tenant: str, home: Path) -> Engine:
    settings = load_settings(home)
    store: Any = backend.store(Identity(tenant, settings.user, "Ada", Role.MEMBER))
    return Engine(Context(settings, store, Synthetic(), project=m.Project("shop", "shop", "/", "")))


def run(teams: int = 500, size: int = 2000, searches: int = 200) -> dict[str, Any]:
    chosen = random.Random(3)
    server = LocalPostgres(durable=True, shared_buffers="512MB", max_wal_size="8GB")
    figures: dict[str, Any] = {"teams": teams, "memories": teams * size}
    try:
        server.create()
        server.start()
        server.prepare()
        begun = time.monotonic()
        tenants = fill(server, teams, size)
        figures["fill_s"] = time.monotonic() - begun
        backend = PostgresTeam(server.url(SERVER))
        with tempfile.TemporaryDirectory() as folder:
            home, project = Path(folder) / "home", Path(folder) / "project"
            home.mkdir()
            project.mkdir()
            with Engine.open(project, home, embedder=Synthetic()) as local:
                local.import_memories({"content": text} for text in sentences(size, seed=5))
                remote = [
                    engine_of(backend, tenant, home) for tenant in chosen.sample(tenants, min(8, teams))
                ]
                begun = time.monotonic()
                for engine in remote:
                    engine.search("warm")
                figures["first_search_s"] = (time.monotonic() - begun) / len(remote)
                local.search("warm")
                asked = sentences(searches, seed=11)
                figures["search"] = {
                    "local": _timed(local.search, asked),
                    "postgres": _timed(lambda text: _search(chosen.choice(remote), text), asked),
                }
                fresh = sentences(searches // 2, seed=23)
                half = len(fresh) // 2
                figures["remember"] = {
                    "local": _timed(local.remember, fresh[:half]),
                    "postgres": _timed(lambda text: chosen.choice(remote).remember(text), fresh[half:]),
                }
                figures["memory_mb"] = _resident() / 1e6
        backend.close()
    finally:
        server.stop()
    return figures


def _search(engine: Engine, text: str) -> object:
    store: Any = engine.store
    with store.reading_together():
        return engine.search(text)


def _timed(act: Callable[[str], object], texts: list[str]) -> dict[str, float]:
    took = []
    cpu = time.process_time()
    for text in texts:
        begun = time.perf_counter()
        act(text)
        took.append((time.perf_counter() - begun) * 1000)
    return {
        "p50_ms": statistics.median(took),
        "p95_ms": sorted(took)[int(len(took) * 0.95)],
        "cpu_ms": (time.process_time() - cpu) * 1000 / len(texts),
    }


def _resident() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def show(figures: dict[str, Any]) -> None:
    print(
        f"{figures['memories']:,} memories in {figures['teams']} teams, made in {figures['fill_s']:.0f} s;"
        f" first search of a team {figures['first_search_s']:.2f} s; this process {figures['memory_mb']:.0f} MB"
    )
    for name in ("search", "remember"):
        local, postgres = figures[name]["local"], figures[name]["postgres"]
        print(
            f"{name:10} p50 {postgres['p50_ms']:7.1f} ms, p95 {postgres['p95_ms']:7.1f} ms, CPU {postgres['cpu_ms']:6.1f} ms;"
            f" local p95 {local['p95_ms']:7.1f} ms: {postgres['p95_ms'] / local['p95_ms']:.1f} x"
        )
