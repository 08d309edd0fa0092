"""What people write in SQL can read the six tables, and nothing else, and not for long."""

import sys

import duckdb
import pytest
from doings import BEGIN, watch

from recollect.engine import Engine
from recollect.errors import Refused
from recollect.model import EPISODE_TABLES
from recollect.work.episodes.sql import MOST_ROWS, select
from recollect.work.episodes.tables import EpisodeTables, columns_read


@pytest.fixture
def ask(engine, doings, owner):
    watch(engine, doings.user("fix the login loop please").run("make", "ok").edit("cart.py"))

    def run(query, seconds=10.0):
        return select(engine.settings.database, owner.user_id, owner.project_id, query, seconds=seconds)

    return run


@pytest.fixture
def ask_here(engine, ask, owner):
    """The connection that answers, in this process."""
    tables = EpisodeTables(engine.store.episodes, owner.user_id, owner.project_id)

    def run(query, needed=None):
        with tables.load(columns_read(query) if needed is None else needed) as db:
            return db.execute(query).fetchall()

    return run


@pytest.mark.parametrize(
    "query, rows",
    [
        ("SELECT tool_name FROM tool_executions ORDER BY id", [("Bash",), ("Edit",)]),
        ("WITH t AS (SELECT count(*) n FROM file_interactions) SELECT n FROM t", [(1,)]),
        ("FROM task_history SELECT description", [("fix the login loop please",)]),
        ("SELECT parameters ->> 'command' FROM tool_executions WHERE tool_name = 'Bash'", [("make",)]),
        ("SELECT count(*) FROM tool_executions WHERE false", [(0,)]),
        ("SELECT count(*) FROM tool_executions t, file_interactions f WHERE t.task_id = f.task_id", [(2,)]),
        ("SELECT COLUMNS('tool_n.*') FROM tool_executions WHERE success LIMIT 1", [("Bash",)]),
        ("SELECT * FROM learned_patterns", []),
    ],
)
def test_a_question_is_answered_from_the_columns_it_reads(ask_here, query, rows):
    assert ask_here(query) == rows


def test_a_row_has_all_its_columns_when_all_are_asked_for(ask_here):
    (row,) = ask_here("SELECT * FROM tool_executions WHERE tool_name = 'Bash'")

    assert len(row) == len(EPISODE_TABLES["tool_executions"])
    assert [value for value in row if value is None] == [None, None]  # no error, tokens not known


def test_a_query_is_answered(ask):
    found = ask("SELECT tool_name, timestamp FROM tool_executions ORDER BY id LIMIT 1")

    assert (found.columns, found.rows) == (("tool_name", "timestamp"), (("Bash", "2026-01-01 11:00:10"),))


@pytest.mark.parametrize(
    "query",
    [
        "DESCRIBE tool_executions",
        "EXPLAIN ANALYZE SELECT * FROM tool_executions",
        "/* why */ EXPLAIN -- so slow?\n SELECT * FROM tool_executions",
    ],
)
def test_tables_and_plans_can_be_looked_at(ask, query):
    assert ask(query).rows


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO tool_executions (id) VALUES (1)",
        "UPDATE tool_executions SET success = false",
        "DELETE FROM tool_executions",
        "DROP TABLE tool_executions",
        "CREATE TABLE mine (x INTEGER)",
        "COPY tool_executions TO '/tmp/out.csv'",
        "COPY (SELECT 1) TO '/tmp/out.parquet' (FORMAT parquet)",
        "EXPORT DATABASE '/tmp/out'",
        "ATTACH '/tmp/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '8GB'",
        "RESET memory_limit",
        "PRAGMA enable_external_access",
        "CALL pragma_version()",
        "VACUUM",
        "BEGIN",
        "EXPLAIN ANALYZE DELETE FROM tool_executions",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/out.csv'",
        "explain\tanalyze drop table tool_executions",
        "EXPLAIN (ANALYZE /* ) SELECT 1 -- */ ) CREATE TABLE mine AS SELECT 1",
    ],
)
def test_anything_but_reading_is_refused(ask, query):
    with pytest.raises(Refused, match=r"not allowed|query failed"):
        ask(query)


@pytest.mark.parametrize(
    "query", ["SELECT 1; SELECT 2", "SELECT 1; DROP TABLE tool_executions", "", ";", "-- nothing"]
)
def test_one_query_is_asked_at_a_time(ask, query):
    with pytest.raises(Refused, match="Expected one statement"):
        ask(query)


@pytest.mark.parametrize("query", ["SELEKT 1", "SELECT * FROM memories"])
def test_a_query_that_is_wrong_says_why(ask, query):
    with pytest.raises(Refused, match="query failed"):
        ask(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('{file}')",
        "SELECT * FROM read_parquet('{file}')",
        "SELECT * FROM read_json('{file}')",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_csv('https://example.com/x.csv')",
        "SELECT getenv('HOME')",
        "SELECT * FROM query('COPY (SELECT 1) TO ''{file}''')",
        "SELECT * FROM incoming",
    ],
)
def test_no_file_no_address_and_no_variable_can_be_read(ask_here, tmp_path, query):
    file = tmp_path / "secret.csv"
    file.write_text("password\nhunter2\n")

    with pytest.raises(duckdb.Error) as refused:
        ask_here(query.format(file=file))
    assert "hunter2" not in str(refused.value)


def test_what_is_no_text_is_refused(ask):
    with pytest.raises(Refused, match="UTF-8"):
        ask("SELECT '\udcff'")


def test_modules_in_the_folder_one_stands_in_are_not_run(ask, tmp_path, monkeypatch):
    (tmp_path / "resource.py").write_text("open('was_run', 'w')")
    monkeypatch.chdir(tmp_path)

    assert ask("SELECT 1").rows == ((1,),)
    assert not (tmp_path / "was_run").exists()


def test_a_process_that_breaks_down_says_why(ask, tmp_path, monkeypatch):
    (tmp_path / "duckdb.py").write_text("raise ImportError('made for another machine')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(Refused, match="made for another machine"):
        ask("SELECT 1")


def test_without_duckdb_only_sql_and_export_say_what_to_install(engine, ask, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)

    assert engine.episodes.file("cart.py").total.edits == 1
    assert engine.episodes.last("login").tasks
    assert {use.tool: use.successes for use in engine.episodes.tools(BEGIN)} == {"Bash": 1, "Edit": 1}
    assert engine.episodes.coedits() == ()
    for needing in (
        lambda: engine.episodes.sql("SELECT 1"),
        lambda: engine.episodes.export(tmp_path / "out"),
    ):
        with pytest.raises(Refused, match="DuckDB") as refused:
            needing()
        assert "pip install 'recollect[history]'" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "query", ["COPY (SELECT 1) TO '{file}'", "SET memory_limit = '8GB'", "INSTALL httpfs"]
)
def test_even_what_is_no_query_reaches_nothing(ask_here, tmp_path, query):
    with pytest.raises(duckdb.Error):
        ask_here(query.format(file=tmp_path / "out.csv"), {})
    assert not (tmp_path / "out.csv").exists()


def test_a_file_is_not_read_by_a_query_of_a_person(ask, tmp_path):
    (tmp_path / "secret.csv").write_text("hunter2")

    with pytest.raises(Refused, match="query failed"):
        ask(f"SELECT * FROM read_text('{tmp_path / 'secret.csv'}')")


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r",
        "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range = -1",
    ],
)
def test_a_query_that_does_not_end_is_stopped(ask, query):
    with pytest.raises(Refused, match="took more than"):
        ask(query, seconds=0.5)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT list(a.range || '-' || b.range) FROM range(20000) a, range(20000) b",
        "SELECT repeat('x', 3000000000)",  # no limit of DuckDB's own minds this one
        "SELECT length(repeat(repeat('x', 100000), 30000))",
    ],
)
def test_a_query_that_wants_too_much_memory_is_stopped(ask, query):
    with pytest.raises(Refused, match=r"more memory|took more than|query failed"):
        ask(query, seconds=3)


def test_no_more_rows_are_shown_than_may_be_and_it_says_so(ask):
    found = ask(f"SELECT * FROM range({MOST_ROWS + 5})")

    assert len(found.rows) == MOST_ROWS
    assert "first 1,000 rows" in found.note


def test_only_this_project_is_seen_unless_all_are_asked_for(engine, ask, tmp_path, home, clock, embedder):
    other = tmp_path / "other"
    other.mkdir()
    with Engine.open(other, home, clock=clock, embedder=embedder) as elsewhere:
        elsewhere.episodes.start_task("something else entirely", session="x")
    query = "SELECT count(*) FROM task_history"

    assert engine.episodes.sql(query).rows == ((1,),)
    assert engine.episodes.sql(query, all_projects=True).rows == ((2,),)


def test_another_user_s_rows_are_never_seen(engine, ask):
    assert select(engine.settings.database, "somebody else", None, "SELECT * FROM tool_executions").rows == ()


def test_an_encrypted_store_can_be_asked(engine, ask, tmp_path):
    engine.encrypt(tmp_path / "key")

    assert ask("SELECT count(*) FROM tool_executions").rows == ((2,),)
