"""Sensitivity: one rule is broken at a time, in the database or in the server, and the checks must notice.

Each rule is broken in a database of its own, on which random operations run until a check notices, or for as many as are
given. `isolation` calls the store, where the policies stand alone; `interface` sends requests, where the view of the caller
filters as well. Where two layers say the same and one is broken, the other one has to hold: nothing is noticed.
"""

import contextlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

import recollect.interfaces.team.app as team_app
import recollect.interfaces.team.engines as team_engines
import recollect.model as m
from bench.local_postgres import SERVER, LocalPostgres
from bench.team import interface, isolation
from recollect.interfaces.team.tokens import Verifier
from recollect.model.team import Identity
from recollect.store.postgres import graph, store, views, words
from recollect.store.postgres.team import PostgresTeam

TEAMS = 3
AT_ONCE = 100  # operations between two looks


def _policy(table: str, operation: str, rule: str = "true") -> str:
    clause = "WITH CHECK" if operation == "insert" else "USING"
    return (
        f"DROP POLICY may_{operation} ON {table};"
        f" CREATE POLICY may_{operation} ON {table} FOR {operation} {clause} ({rule})"
    )


_MINE = "user_id = current_setting('recollect.user', true)"
_GUARD_OFF = "DROP TRIGGER guard ON memories"


def _without_views() -> AbstractContextManager[Any]:
    """Let no view leave out what is private to others, neither in SQL nor in the index."""
    patches = contextlib.ExitStack()
    condition, shows = views.shown_in, m.View.shows

    def shown_in(view: m.View) -> Any:
        where, params = condition(view)
        return where.replace("m.visibility <> 'private'", "true"), params

    def shows_all(view: m.View, **fields: Any) -> bool:
        return shows(view, **{**fields, "visibility": "team"})

    for module in (views, store, graph, words):
        patches.enter_context(mock.patch.object(module, "shown_in", shown_in))
    patches.enter_context(mock.patch.object(m.View, "shows", shows_all))
    return patches


def _without_check_of_actions() -> AbstractContextManager[Any]:
    return mock.patch.object(team_app, "check_allowed", lambda *_: None)


def _without_projects_of_tokens() -> AbstractContextManager[Any]:
    """Take a token for some projects for one of all."""
    use = team_engines.CallerEngines.use

    def unlimited(self: Any, identity: Identity, *rest: Any) -> Any:
        return use(self, replace(identity, projects=None), *rest)

    return mock.patch.object(team_engines.CallerEngines, "use", unlimited)


def _agents_as_people() -> AbstractContextManager[Any]:
    patches = contextlib.ExitStack()
    for module in (team_app, team_engines):
        patches.enter_context(mock.patch.object(module, "actor_of", lambda *_: "user"))
    return patches


def _tokens_live_on() -> AbstractContextManager[Any]:
    return mock.patch.object(Verifier, "forget", lambda _: None)


@dataclass(frozen=True)
class Sabotage:
    what: str
    statements: str = ""  # in the database
    patch: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext  # in the server
    is_covered: bool = False  # another layer says the same: nobody sees anything


SABOTAGES = (
    Sabotage("nothing"),
    Sabotage("memories: tenants are not compared", "DROP POLICY tenant ON memories"),
    Sabotage("memories: no row-level security", "ALTER TABLE memories DISABLE ROW LEVEL SECURITY"),
    Sabotage("memories: what is private is read by all", _policy("memories", "select")),
    Sabotage(
        "memories: closed projects are read by all",
        _policy("memories", "select", f"{_MINE} OR visibility <> 'private'"),
    ),
    Sabotage("memories: tokens reach every project", "DROP POLICY token ON memories"),
    Sabotage("memories: written in any name, by readers, in closed projects", _policy("memories", "insert")),
    Sabotage("memories: changed by all who see them", _GUARD_OFF),
    Sabotage("memories: deleted by all who see them", _policy("memories", "delete")),
    Sabotage("links: shown with one end hidden", _policy("links", "select"), is_covered=True),
    Sabotage("snippets: read by all", _policy("snippets", "select")),
    Sabotage("gaps: read by all", _policy("gaps", "select")),
    Sabotage("messages: read by all", _policy("messages", "select")),
    Sabotage("partitions: can be read", f"GRANT SELECT ON memories_0 TO {SERVER}"),
    Sabotage("people: tenants are not compared", "DROP POLICY tenant ON people"),
    Sabotage("server: views show what is private", patch=_without_views, is_covered=True),
    Sabotage(
        "both: views show what is private, and policies do", _policy("memories", "select"), _without_views
    ),
    Sabotage("server: actions of tokens are not checked", patch=_without_check_of_actions),
    Sabotage("server: projects of tokens are not known", patch=_without_projects_of_tokens),
    Sabotage("server: agents act as people", patch=_agents_as_people),
    Sabotage("server: tokens of people who left stay known", patch=_tokens_live_on),
)


class Bench:
    """A PostgreSQL with a database to copy."""

    def __init__(self, server: LocalPostgres, seed: int) -> None:
        self._server = server
        self._seed = seed
        self._count = 0

    @contextlib.contextmanager
    def database(self, sabotage: Sabotage) -> Iterator[str]:
        """Yield the name of a new database in which the rule is broken."""
        self._count += 1
        name = f"sabotage_{self._count}"
        with psycopg.connect(self._server.url("postgres", "postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE recollect")
            with psycopg.connect(
                self._server.url("postgres", name), options="-c search_path=recollect"
            ) as own:
                if sabotage.statements:
                    own.execute(sabotage.statements)  # type: ignore[arg-type]
            yield name
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def in_the_store(self, sabotage: Sabotage, operations: int) -> str:
        with self.database(sabotage) as name:
            backend = PostgresTeam(self._server.url(SERVER, name))
            trial = isolation.Trial(backend, TEAMS, isolation.PEOPLE, self._seed)
            noticed = _until_noticed(trial, operations)
            backend.close()
        return noticed

    def through_the_interface(self, sabotage: Sabotage, operations: int) -> str:
        with self.database(sabotage) as name, tempfile.TemporaryDirectory() as home:
            backend = PostgresTeam(self._server.url(SERVER, name))
            with interface.RunningServer(interface.server_of(backend, Path(home))) as running:
                trial = interface.Trial(
                    backend, running.port, self._server.url("postgres", name), TEAMS, self._seed
                )
                noticed = _until_noticed(trial, operations)
                trial.close()
            backend.close()
        return noticed


def _until_noticed(trial: Any, operations: int) -> str:
    """Return what a check notices first; "" if none does."""
    for _ in range(0, operations, AT_ONCE):
        try:
            outcome = trial.run(AT_ONCE)
        except Exception as error:  # the model and the teams are no longer the same
            return f"{trial.outcome.operations}: {error!r}"[:160]
        if outcome.too_many or outcome.too_few:
            return f"{outcome.operations}: {[*outcome.too_many, *outcome.too_few][0]}"[:160]
    return ""


def run(operations: int = 1000, seed: int = 1) -> list[dict[str, Any]]:
    """Break every rule in turn, with so many operations of each check at most."""
    server, rows = LocalPostgres(), []
    logging.disable()  # of a server that is broken
    try:
        server.create()
        server.start()
        server.prepare(partitions=2)
        bench = Bench(server, seed)
        for sabotage in SABOTAGES:
            with sabotage.patch():
                in_server = sabotage.patch is not contextlib.nullcontext
                rows.append(
                    {
                        "what": sabotage.what,
                        "is_covered": sabotage.is_covered or sabotage.what == "nothing",
                        "store": None if in_server else bench.in_the_store(sabotage, operations),
                        "interface": bench.through_the_interface(sabotage, operations),
                    }
                )
    finally:
        logging.disable(logging.NOTSET)
        server.stop()
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    print(f"{'broken rule':66} {'store':>9} {'interface':>9}  noticed after so many operations, first by")
    for row in rows:
        found = [row["store"], row["interface"]]
        after = ["–" if each is None else each.partition(":")[0] or "no" for each in found]
        first = next((each.partition(": ")[2] for each in found if each), "")
        verdict = "" if bool(first) != row["is_covered"] else "  UNEXPECTED"
        print(f"{row['what']:66} {after[0]:>9} {after[1]:>9}  {first[:90]}{verdict}")
