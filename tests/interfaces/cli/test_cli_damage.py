"""Bytes that flip in the store's file: every command reports damage, and none ends with a traceback."""

import ast
import random
import re
import sys
from pathlib import Path

import pytest

import recollect as recollect_package
import recollect.model as m
from recollect.code.modules.module_map import ModuleMap, as_document
from recollect.context.project import identify, locate
from recollect.interfaces.cli.main import GROUPS
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
    [], ["undo"], ["similar", PORT], ["edit", PORT, "The API listens on 81"], ["pin", PORT], ["feedback", PORT, "--helpful"],
    ["describe"], ["describe", PORT, "--when", "nobody answers"],
    ["restore", PORT], ["link", PORT, PORT], ["resolve", PORT, PORT, "--keep", "both"], ["consolidate"], ["mirror", "mirror"],
    ["import", "none.json"], ["extract", "none.jsonl"], ["graph", "relevant", "login"], ["task"], ["on"], ["auto", "on"], ["preset"],
    ["budget"], ["kinds"], ["config"], ["model"], ["trust"], ["whoami"], ["team", "members"], ["logout"], ["off"],
    ["encrypt", "--off"],
]  # fmt: skip
# Those that wait for somebody, change other programs, have a store of their own, or hand over to what others test.
LEFT_OUT = {"hook", "mcp", "web", "demo", "completion", "install", "uninstall", "login", "daemon"}


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
        (b"The API listens on port 9090.", b"The API listens on port 9091.", ["list"]),
        (b"The API listens on port 9090.", b"The aPI listens on port 9090.", ["search", "port api"]),
        (b"The API listens on port 9090.", b"The aPI listens on port 9090.", ["recall", "which port"]),
        (b"The API listens on port 9090.", b"The API listens on port 9091.", ["export"]),
        (b"how are invoices", b"how are invoicet", ["gaps"]),
        (b"Did things.", b"Did thingz.", ["session", "list"]),
        (b"Fix the login", b"Fix the logim", ["history", "tasks"]),
        (b"1 memory edited", b"2 memory edited", ["changes"]),
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
    assert (repaired.code, "repaired: nothing is missing" in repaired.err) == (0, True)
    assert ("damaged" in after.err, "how are invoices" in after.out) == (False, True)


CONVERTS = re.compile(r"(_from|loads|from_text|unpack\w*|item)$")


def test_rows_are_read_where_damage_is_recognised():
    """A value that cannot be read is reported as damage only within `reading()` and `writing()`."""
    outside = []
    for file in (Path(recollect_package.__file__).parent / "store" / "sqlite").rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                within = [
                    node
                    for block in ast.walk(function)
                    if isinstance(block, ast.With)
                    and re.search("reading|writing", ast.unparse(block.items[0]))
                    for node in ast.walk(block)
                ]
                calls = [
                    node for node in ast.walk(function) if isinstance(node, ast.Call) and node not in within
                ]
                names = [ast.unparse(call.func) for call in calls]
                outside += [
                    (file.name, function.name, name) for name in names if within and CONVERTS.search(name)
                ]

    assert outside == []


def test_every_command_is_among_them():
    assert {command[0] for command in COMMANDS if command} | LEFT_OUT == {
        name for group in GROUPS.values() for name in group
    }


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
