import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import recollect.model as m
from recollect.memory.anchors.check import check
from recollect.memory.anchors.tie import tie

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FILE = "src/app/config.py"
SAID = "`parse_config` in `src/app/config.py` ignores unknown keys"


def memory(root, text=SAID, name="one"):
    origin = (m.Provenance(m.Source.USER_STATED, NOW),)
    made = m.Memory(name, "ada", "shop", m.Scope.PROJECT, "fact", text, text, "f", NOW, NOW, NOW, origin)
    return replace(made, anchors=tie(root, text))


def edit(root, before, after, path=FILE):
    file = root / path
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_a_memory_goes_stale_when_the_code_it_names_changes(root):
    about = memory(root)
    edit(root, "if key in data", "if key in data and data[key]")

    checked = check(root, [about])

    assert checked.stale == {"one": f"`parse_config` in {FILE} has changed"}
    assert checked.anchors == {}


@pytest.mark.parametrize(
    "before, after",
    [
        ("json.dump(data, open", "json.dumps(data, open"),  # another function
        ("    data = json.load(open(path))", "\n    data = json.load(\n        open(path),\n    )  # slow"),
        ("import json\n", "import json\n\n\nclass Another:\n    pass\n"),  # it stands further down
        ("Reads it.", "Reads all of it."),
    ],
)
def test_it_does_not_when_other_code_or_the_layout_does(root, before, after):
    about = memory(root)
    edit(root, before, after)

    assert check(root, [about]).stale == {}


def test_a_file_that_is_only_named_makes_its_memory_stale_when_it_is_gone(root):
    about = memory(root, "Look at `src/app/config.py` first")
    edit(root, "if key in data", "")
    changed = check(root, [about]).stale
    (root / FILE).unlink()

    gone = check(root, [about]).stale

    assert changed == {}
    assert gone == {"one": f"{FILE} is gone"}


def test_a_symbol_that_is_gone_makes_its_memory_stale(root, code):
    about = memory(root)
    edit(root, "def parse_config", "def read_config")

    assert check(root, [about], code=code).stale == {"one": f"`parse_config` is no longer in {FILE}"}


def test_code_that_has_only_moved_is_followed_quietly(root, code):
    about = memory(root)
    (root / FILE).rename(root / "src" / "app" / "settings.py")

    checked = check(root, [about], code=code)

    assert checked.stale == {}
    assert checked.anchors == {"one": (replace(about.anchors[0], path="src/app/settings.py"),)}


def test_code_that_moved_and_changed_is_stale(root, code):
    about = memory(root)
    edit(root, "if key in data", "")
    (root / FILE).rename(root / "src" / "app" / "settings.py")

    assert check(root, [about], code=code).stale == {"one": f"{FILE} is gone"}


def test_a_file_with_the_same_size_and_time_is_not_read_again(root):
    about = memory(root)
    seen = check(root, [about]).seen
    file = root / FILE
    before = file.stat()
    text = file.read_text()
    file.write_text(text.replace("if key in data", "if key in dat_"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    unread, read = check(root, [about], seen), check(root, [about])

    assert unread.stale == {}
    assert read.stale != {}


def test_a_file_that_cannot_be_read_as_code_speaks_against_nothing(root):
    about = memory(root)
    (root / FILE).write_bytes(b"\0\1\2\3" * 100)

    assert check(root, [about]).stale == {}


def test_a_memory_about_two_places_says_what_became_of_each(root):
    about = memory(root, "`parse_config` and `write_config` in src/app/config.py must agree")
    edit(root, "if key in data", "")
    edit(root, "def write_config", "def save_config")

    why = check(root, [about]).stale["one"]

    assert why == f"`parse_config` in {FILE} has changed; `write_config` is no longer in {FILE}"
