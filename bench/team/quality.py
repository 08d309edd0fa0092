"""Quality: the questions of the recall bench asked of a team server and of a local engine with the same memories."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.recall import datasets
from bench.recall import figures as kept
from bench.recall.datasets import Corpus, Question
from bench.recall.recipes import Cached, records_of
from bench.recall.vectors import Vectors
from bench.team.interface import RunningServer
from bench.team.server_process import NO_LIMITS
from recollect import Engine
from recollect.config import load_settings
from recollect.interfaces.team.server import build
from recollect.model.team import Token
from recollect.remote.administration import ADOPTED
from recollect.remote.client import TeamClient
from recollect.remote.secrets import new_secret
from recollect.remote.wire import Place
from recollect.store.postgres.team import PostgresTeam

SETS = {"own memories": "memories", "own memories, in general words": "fresh", "LoCoMo by turn": "locomo"}
QUESTIONS = 150  # of a set
SHOP = Place(("remote:example.com/team/shop",), "shop")


def run(questions: int = QUESTIONS) -> dict[str, Any]:
    embedder = Cached(Vectors(kept.OUT / "cache"))
    figures: dict[str, Any] = {}
    server = LocalPostgres()
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)
        for title, name in SETS.items():
            corpora = datasets.load(name)
            if corpora is None:
                figures[title] = {"skipped": f"needs {datasets.files(name)[0]}"}
                continue
            figures[title] = _compared(server, corpora, embedder, questions)
    finally:
        server.stop()
    return figures


def _compared(
    server: LocalPostgres, corpora: Sequence[Corpus], embedder: Cached, questions: int
) -> dict[str, float]:
    asked, local, remote, same = 0, 0.0, 0.0, 0
    for corpus in corpora:
        chosen = corpus.questions[: questions - asked]
        if not chosen:
            break
        mine, theirs = _local(corpus, chosen, embedder), _remote(server, corpus, chosen, embedder)
        for question, here, there in zip(chosen, mine, theirs, strict=True):
            local += _recall(question, here)
            remote += _recall(question, there)
            same += here[:5] == there[:5]
        asked += len(chosen)
    return {"questions": asked, "local": local / asked, "server": remote / asked, "same": same / asked}


def _recall(question: Question, found: list[str]) -> float:
    return len(question.relevant & set(found[:5])) / len(question.relevant)


def _local(corpus: Corpus, asked: Sequence[Question], embedder: Cached) -> list[list[str]]:
    now, records = records_of(corpus, embedder)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "project").mkdir()
        home = Path(folder) / "home"
        with Engine.open(Path(folder) / "project", home, embedder=embedder, clock=lambda: now) as engine:
            units = dict(zip(engine.import_memories(records), corpus.units, strict=True))
            answers = [engine.search(question.text, 30) for question in asked]
            if any(answer.partial for answer in answers):
                raise RuntimeError("An answer was partial: try when the machine is less busy.")
            return [[units[hit.memory.id].id for hit in answer.results] for answer in answers]


def _remote(
    server: LocalPostgres, corpus: Corpus, asked: Sequence[Question], embedder: Cached
) -> list[list[str]]:
    now, records = records_of(corpus, embedder)
    backend = PostgresTeam(server.url(SERVER))
    owner = backend.directory.create_team("Quality", "Ada", now)
    secret, hashed = new_secret()
    backend.directory.put_token(Token(m.new_id(), owner.tenant, owner.id, "t", hashed, now))
    with tempfile.TemporaryDirectory() as home:
        app = build(backend, load_settings(Path(home)), embedder, NO_LIMITS, clock=lambda: now)
        with RunningServer(app) as running:
            client = TeamClient(f"http://127.0.0.1:{running.port}", secret)
            ids: list[str | None] = []
            for begin in range(0, len(records), ADOPTED):
                part = records[begin : begin + ADOPTED]
                ids += client.call("adopt", {"records": part, "visibility": "team"}, SHOP).ids
            units = dict(zip(ids, corpus.units, strict=True))
            answers = [
                client.call("search", {"query": question.text, "limit": 30}, SHOP) for question in asked
            ]
            client.close()
    backend.close()
    return [[units[hit.memory.id].id for hit in answer.results] for answer in answers]


def show(figures: dict[str, Any]) -> None:
    for title, row in figures.items():
        if "skipped" in row:
            print(f"{title:32} skipped: {row['skipped']}")
            continue
        print(
            f"{title:32} {row['questions']} questions: R@5 {row['server']:.3f} through the server,"
            f" {row['local']:.3f} local; the same five in {row['same']:.0%}"
        )
