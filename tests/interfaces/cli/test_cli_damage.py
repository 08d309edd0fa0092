"""Bytes that flip in the store's file: every command reports damage, and none ends with a traceback."""

import random
import sys
from pathlib import Path

import pytest

import recollect.model as m
from recollect.code.modules.module_map import ModuleMap, as_document
from recollect.context.project import identify, locate
from recollect.store import open_store

sys.path.append(str(Path(__file__).parents[2] / "store"))
import make_store

PORT = make_store.name("The API listens on port 8080.")
COMMANDS = [
    ["list", "--state", "all"], ["search", "port api"], ["recall", "fix the login page"], ["show", PORT],
    ["conflicts"], ["review"], ["changes"], ["undo", make_store.name("change1")], ["gaps"], ["stats"], ["doctor"], ["export"],
    ["session", "list"], ["session", "show", "s1"], ["map"], ["audit"], ["audit", "verify"], ["alias", "list"],
    ["season", "list"], ["cost"], ["tag", PORT, "x"], ["remember", "The till is broken on Mondays"], ["forget", PORT],
    ["history", "tools"], ["history", "tasks"], ["history", "file", "src/login.py"], ["history", "like", "login"],
    ["session", "search", "naive"], ["vacuum", "--force"], ["backup"], ["links", PORT], ["wrong", PORT], ["init", "--no-seeds"],
]  # fmt: skip


@pytest.fixture
def database(home, monkeypatch):
    """A store with a bit of everything, of the project in this folder."""
    monkeypatch.setenv("RECOLLECT_USER", "ada")
    path = home / "recollect.db"
    store = open_store(path, "ada")
    make_store.fill(store)
    store.modules.change("shop", lambda _: as_document(ModuleMap()), make_store.NOW)
    _, keys = identify(locate(Path()), store)
    store.put_project(m.Project("shop", "Shop", str(Path.cwd()), ""), keys)
    store.vacuum()
    store.close()
    return path


def flip(path, old, new):
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "command"),
    [
        (b'{"kind":"fact"}', b'{"kind":"fac\xff"}', ["audit"]),
        (b'{"kind":"fact"}', b'{"kind":"fact"]', ["audit"]),
        (b"how are invoices", b"how \xe1re invoices", ["gaps"]),
        (b"Did things.", b"Did \xf4hings.", ["session", "list"]),
        (b"Fix the login", b"Fix the l\xefgin", ["history", "tasks"]),
        (b"1 memory edited", b"1 memory \xe5dited", ["changes"]),
        (b'["autumn"]', b'["autumn"!', ["season", "list"]),
        (b'"updated_at":', b'"updated_au":', ["map"]),
        (b"contradicts", b"contradictr", ["links", PORT]),
        (b"started_at TEXT NOT NULL", b"stbrted_at TEXT NOT NULL", ["session", "list"]),
        (b"The API listens on port 9090.", b"The API listens on p\xffrt 9090.", ["list"]),
    ],
)
def test_a_flipped_byte_is_reported_as_damage(run, database, old, new, command):
    flip(database, old, new)

    result = run(*command)

    assert result.code == 1, result
    assert "damaged" in result.err or "cannot be read" in result.err


def test_damage_that_one_command_has_met_is_repaired_by_the_next(run, database):
    run("backup")
    flip(database, b"how are invoices", b"how \xe1re invoices")

    met, repaired, after = run("gaps"), run("gaps"), run("gaps")

    assert (met.code, "damaged" in met.err) == (1, True)
    assert (repaired.code, "restored from the backup" in repaired.err) == (0, True)
    assert ("damaged" in after.err, "how are invoices" in after.out) == (False, True)


def test_no_command_ends_with_a_traceback_wherever_a_byte_flips(run, database):
    whole = database.read_bytes()
    dice = random.Random(18)
    texts = [
        place
        for place in range(4096, len(whole))
        if all(32 <= byte < 127 for byte in whole[place - 3 : place + 4])
    ]

    for _ in range(40):
        place = dice.choice(texts)
        for command in dice.sample(COMMANDS, 3):
            for beside in database.parent.glob("recollect.db*"):
                beside.unlink()
            data = bytearray(whole)
            data[place] ^= dice.choice([0x80, 0x01, 0x20, 0xFF])
            database.write_bytes(data)

            run(*command)  # an exception that no interface expects fails the test
