"""The graph on disk: whatever happens to the file, the graph is right."""

import subprocess
import sys

import apsw
import pytest
from sources import grow_old, write

from recollect.code.graph import database as database_module
from recollect.code.graph.database import ConcurrentUpdate, FileRecord, GraphDatabase
from recollect.code.packing import ParsedFile
from recollect.store.keys import is_plain

KEY = "ab" * 32
PARSE = ParsedFile(b"outline", b"rest", b"references", b"terms", b"words", b"hash", b"name terms", False)


def record(blob=b"1", edges=b""):
    return FileRecord(blob, "python", 10, 1, None, edges)


@pytest.fixture
def open_database(database):
    opened = []

    def open_one():
        opened.append(GraphDatabase(database, None))
        opened[-1].load()
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def test_what_is_put_there_comes_back(open_database):
    first = open_database()
    first.keep({(b"1", "python"): PARSE}, today=1)
    first.replace({"a.py": record(edges=b"edges")}, [], today=1)

    files, parses = open_database().load()

    assert files == {"a.py": record(edges=b"edges")}
    assert parses == {(b"1", "python"): (b"outline", b"terms", PARSE.names)}


def test_who_has_read_before_another_wrote_is_told(open_database):
    first, second = open_database(), open_database()
    first.replace({"a.py": record()}, [], today=1)

    with pytest.raises(ConcurrentUpdate):
        second.replace({"b.py": record()}, [], today=1)

    assert second.load()[0] == {"a.py": record()}


def test_a_parse_nobody_uses_is_kept_for_a_month(open_database):
    database = open_database()
    key = (b"1", "python")
    database.keep({key: PARSE}, today=1)
    database.replace({"a.py": record()}, [], today=1)
    database.replace({}, ["a.py"], today=5)

    database.replace({"b.py": record(b"2")}, [], today=34)
    after_29_days = dict(database.shown([key]))
    database.replace({"b.py": record(b"3")}, [], today=35)
    after_30_days = dict(database.shown([key]))

    assert after_29_days == {key: (b"outline", b"terms", PARSE.names)}
    assert after_30_days == {}


def test_a_parse_that_one_of_two_files_left_is_still_used(open_database):
    database = open_database()
    database.keep({(b"1", "python"): PARSE}, today=1)
    database.replace({"a.py": record(), "b.py": record()}, [], today=1)

    database.replace({}, ["a.py"], today=2)

    assert (b"1", "python") in database.load()[1]


def test_unused_parses_take_up_only_so_much(open_database, monkeypatch):
    monkeypatch.setattr(database_module, "MOST_UNUSED", 80)
    database = open_database()
    keys = [(bytes([number]), "python") for number in range(5)]
    for day, key in enumerate(keys):
        database.keep({key: PARSE}, today=day)

    database.replace({"a.py": record(b"x")}, [], today=5)

    assert dict(database.shown(keys)).keys() == set(keys[-3:])


def damage_header(file):
    file.write_bytes(b"no database at all" * 100)


def damage_middle(file):
    data = bytearray(file.read_bytes())
    for place in range(4096, len(data), 97):
        data[place] ^= 0xFF
    file.write_bytes(data)


def damage_tables(file):
    connection = apsw.Connection(str(file))
    connection.execute("DROP TABLE files; CREATE TABLE files (what)")
    connection.close()


def damage_edges(file):
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE files SET edges = x'0102'")
    connection.close()


def damage_rest(file):
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE parses SET rest = x'0102'")
    connection.close()


def of_another_version(file):
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE about SET version = 'of yesterday'; DELETE FROM files")
    connection.close()


def empty(file):
    file.write_bytes(b"")


def missing(file):
    file.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        damage_header,
        damage_middle,
        damage_tables,
        damage_edges,
        damage_rest,
        of_another_version,
        empty,
        missing,
    ],
)
def test_a_damaged_file_is_made_anew(shop, database, open_code, damage):
    grow_old(shop)
    first = open_code()
    expected = {path: first.graph.edges_of(path) for path in first.graph.paths}
    first.close()
    damage(database)

    code = open_code()
    write(shop, extra="x = 1\n")
    code.refresh()
    (shop / "extra.py").unlink()
    code.refresh()

    assert {path: code.graph.edges_of(path) for path in code.graph.paths} == expected


def test_what_does_not_depend_on_the_graph_survives_another_version_of_it(database, open_database):
    first = open_database()
    first.keep({(b"1", "python"): PARSE}, today=1)
    first.put_note("listing", b"of the graph")
    first.put_lasting_note("history", "2", b"of git")
    first.close()
    of_another_version(database)

    second = open_database()

    assert (second.has_parses(), second.note("listing")) == (False, None)
    assert second.lasting_note("history", "2") == b"of git"
    assert second.lasting_note("history", "3") is None


def test_a_lasting_note_is_stored_again_after_an_older_program_has_dropped_its_table(database, open_database):
    opened = open_database()
    older = apsw.Connection(str(database))
    older.execute("DROP TABLE lasting_notes")
    older.close()

    opened.put_lasting_note("history", "2", b"of git")

    assert opened.lasting_note("history", "2") == b"of git"


@pytest.mark.parametrize("before, after", [(None, KEY), (KEY, None), (KEY, "cd" * 32)])
def test_a_file_of_another_key_is_made_anew(shop, database, open_code, before, after):
    first = open_code(key=before)
    first.refresh()
    first.close()

    second = open_code(key=after)
    done = second.refresh()
    second.close()

    assert done.parsed == 3
    assert is_plain(database) == (after is None)


def test_with_a_key_nothing_can_be_read_from_the_file(shop, database, open_code):
    code = open_code(key=KEY)
    code.refresh()
    code.close()

    assert b"money" not in database.read_bytes()


def test_no_text_of_the_files_is_on_disk(folder, database, code):
    write(folder, a='TOKEN = "hunter2-correct-horse"\n\ndef f(key="swordfish"):\n    g("marlin")  # trout\n')
    code.refresh()
    found = code.graph.outline("a.py")
    code.close()

    import marshal
    import zlib

    connection = apsw.Connection(str(database))
    blobs = connection.execute(
        "SELECT outline FROM parses UNION ALL SELECT rest FROM parses UNION ALL SELECT edges FROM files"
    ).fetchall()
    kept = " ".join(repr(marshal.loads(zlib.decompress(blob))) for (blob,) in blobs if blob)
    connection.close()
    assert len(found) == 2
    for secret in ("hunter2", "horse", "swordfish", "marlin", "trout"):
        assert secret not in kept


def test_where_nothing_can_be_written_it_is_kept_in_memory(shop, tmp_path):
    from recollect.code.codebase import Codebase

    (tmp_path / "file").write_text("not a folder")
    code = Codebase(shop, tmp_path / "file" / "code" / "shop.db", None)

    first, second = code.refresh(), code.refresh()

    assert first.files == 3
    assert second.affected == 0
    assert code.graph.callers("money.py::total")
    code.close()


def test_processes_that_begin_at_the_same_moment_both_end_right(shop, database, open_code):
    program = (
        "import sys; from pathlib import Path; from recollect.code.codebase import Codebase;"
        "print(Codebase(Path(sys.argv[1]), Path(sys.argv[2]), None).refresh().complete)"
    )

    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(shop), str(database)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60)[0].strip() for process in running]

    assert said == ["True"] * 3
    assert open_code().graph.callers("money.py::total")
