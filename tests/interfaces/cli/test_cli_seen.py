"""What is shown of texts that would forge lines, and of memories that are not ours to see."""

import json
import os
import subprocess
import sys

import pytest

import child

FORGED = "x\n✓ store      All is well.\x1b[2J"


@pytest.fixture
def forged(run, remember):
    """A memory whose writer and session would draw lines of their own."""
    return remember("Use tabs", "--created-by", f"agent:{FORGED}", "--session", FORGED, "--season", FORGED)


@pytest.mark.parametrize(
    "command",
    [
        ["show", "ID"],
        ["audit"],
        ["list"],
        ["search", "tabs"],
        ["recall", "tabs"],
        ["stats"],
        ["remember", "Use spaces"],
    ],
)
def test_a_stored_name_stays_in_its_line(run, forged, command):
    told = run(*(forged if word == "ID" else word for word in command))

    assert told.code == 0
    assert "\x1b" not in told.out + told.err
    assert not any(line.startswith("✓") for line in (told.out + told.err).splitlines())


def test_show_tells_the_name_as_one_word(run, forged):
    card = run("show", forged).out

    assert "by agent:x-store-All-is-well.-2J, project" in card


@pytest.mark.parametrize("command", ["init", "doctor", "stats"])
def test_the_name_of_a_folder_stays_in_its_line(run, tmp_path, command):
    folder = tmp_path / f"shop{FORGED}"
    folder.mkdir()

    told = run(command, "--project", str(folder))

    assert "\x1b" not in told.out
    assert "✓ store      All is well." not in told.out
    assert "\\x1b[2J" in told.out


def test_an_imported_session_stays_in_its_line(run):
    lines = [
        {"session": FORGED, "order": 0, "text": "login loop"},
        {"session": FORGED, "order": "x", "text": "y"},
    ]

    told = run("import", "--messages", "-", stdin="\n".join(map(json.dumps, lines)))
    found = [run("session", "search", "login", "--by", by) for by in ("message", "session")]

    for each in (told, *found):
        assert "\x1b" not in each.out + each.err
        assert not any(line.startswith("✓") for line in (each.out + each.err).splitlines())


def test_a_link_to_a_memory_that_became_private_is_left_out(run, remember, monkeypatch):
    monkeypatch.setenv("RECOLLECT_USER", "alice")
    hers = remember("Alice is looking for another job", "--visibility", "project")
    monkeypatch.setenv("RECOLLECT_USER", "bob")
    his, other = remember("The team has five people"), remember("The invoice total is rounded half up")
    assert run("link", his, hers).code == run("link", his, other).code == 0
    monkeypatch.setenv("RECOLLECT_USER", "alice")
    assert run("edit", hers, "--visibility", "private").code == 0
    monkeypatch.setenv("RECOLLECT_USER", "bob")

    shown, linked = run("show", his), run("links", his)
    told = run("links", his, "--json").json["links"], run("show", his, "--json").json["links"]

    assert (shown.code, linked.code) == (0, 0)
    assert "History" in shown.out
    assert "rounded half up" in shown.out
    assert "rounded half up" in linked.out
    assert "another job" not in shown.out + linked.out
    assert [[link["target"] for link in links] for links in told] == [[other], [other]]


def test_the_labels_of_a_card_keep_their_distance(run, remember):
    name = remember("Use tabs")
    remember("Use spaces")

    card = run("show", name).out

    assert "\nvalid until    20" in card
    assert "\nstate          superseded" in card


DOCTOR = f"""{child.OBEY_MODES}
import sys
from recollect.__main__ import main
sys.exit(main(["doctor", "--project", "/"]))
"""


@pytest.mark.skipif(not child.CAN_OBEY_MODES, reason=child.WHY_NOT)
def test_doctor_says_that_nothing_can_be_written(run, home, request):
    assert run("remember", "Use tabs").code == 0
    request.addfinalizer(lambda: child.make_writable(home))
    child.make_read_only(home)

    done = subprocess.run(
        [sys.executable, "-c", DOCTOR],
        capture_output=True,
        env={**os.environ, "RECOLLECT_USER": "nobody", "HOME": "/"},
        cwd="/",
    )

    assert done.returncode == 1, done.stderr
    assert f"✗ home       {home} is not writable for nobody." in done.stdout.decode()
