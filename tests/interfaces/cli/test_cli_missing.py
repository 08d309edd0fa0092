"""Files that are gone: the store, its backups, and the whole home under a running daemon."""

import json
import shutil

import pytest

from recollect.embed.open import NoEmbedder
from recollect.engine import Engine
from recollect.errors import StoreMissing


@pytest.fixture
def lost(run, remember, home):
    """A home whose store was deleted; a backup with one memory is left."""
    remember("The till prints twice")
    run("backup")
    for file in home.glob("recollect.db*"):
        file.unlink()
    return home


def files(home):
    return {
        path.relative_to(home): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["search", "till"],
        ["remember", "A till"],
        ["recall"],
        ["doctor"],
        ["backup"],
        ["stats"],
        ["export"],
        ["init"],
    ],
)
def test_a_store_that_is_gone_is_not_an_empty_memory(run, lost, command):
    before = files(lost)

    result = run(*command)

    assert result.code == 1
    assert "recollect.db is gone, but has backups" in result.err
    assert "recollect backup restore" in result.err
    assert files(lost) == before


def test_the_newest_intact_backup_is_restored_on_request(run, lost):
    newest = lost / "backups" / "recollect-1.db"
    shutil.copy(newest, lost / "backups" / "recollect-2.db")
    newest.write_bytes(newest.read_bytes()[:5000])

    restored, after = run("backup", "restore"), run("list")

    assert restored.code == 0
    assert "from the backup of" in restored.out
    assert "The till prints twice" in after.out


def test_a_store_that_is_there_is_not_replaced(run, remember, home):
    remember("The till prints twice")
    run("backup")
    remember("The till prints nothing")

    result = run("backup", "restore")

    assert (result.code, "nothing was restored" in result.err) == (1, True)
    assert "prints nothing" in run("list").out


def test_a_folder_without_backups_begins_with_an_empty_memory(run, lost):
    shutil.move(lost / "backups", lost.parent / "old backups")

    assert run("list").code == 0


def test_a_hook_is_silent_when_the_store_is_gone_and_its_event_waits(recollect, lost, run):
    body = {"session_id": "s1", "cwd": str(lost.parent), "prompt": "Why does the till print twice?"}

    result = recollect("hook", "claude-code", "UserPromptSubmit", stdin=json.dumps(body).encode())

    assert (result.code, result.out, result.err) == (0, "", "")
    assert not (lost / "recollect.db").exists()


def test_doctor_reads_every_backup(run, remember, home):
    for number in range(3):
        remember(f"Till {number} prints twice")
        run("backup")
    intact = run("doctor").out
    middle = home / "backups" / "recollect-2.db"
    middle.write_bytes(middle.read_bytes().replace(b"Till 1 prints", b"Till 1 pr\xeents"))

    checked = run("doctor")

    assert "All 3 backups are intact" in intact
    assert checked.code == 1
    assert "recollect-2.db is damaged: a page does not match its checksum." in checked.out
    assert "recollect-1.db is" not in checked.out


def test_a_process_that_has_the_store_open_notices_that_it_was_deleted(home, tmp_path):
    engine = Engine.open(tmp_path, home, embedder=NoEmbedder())
    engine.remember("The till prints twice")
    engine.backup()
    backup = (home / "backups" / "recollect-1.db").read_bytes()
    (home / "recollect.db").unlink()

    with pytest.raises(StoreMissing, match="while it was open"):
        engine.remember("The till prints nothing")
    with pytest.raises(StoreMissing):
        engine.backup()

    engine.store.close()
    assert (home / "backups" / "recollect-1.db").read_bytes() == backup
    assert not (home / "recollect.db").exists()
