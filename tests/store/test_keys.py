import contextlib
import json
import random
import subprocess
import sys
from pathlib import Path

import apsw
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.errors import PasswordDeleteError

import child
from recollect.engine import Engine
from recollect.errors import BadSetting, Refused, StoreBusy, StoreError, StoreMissing, WrongKey
from recollect.store import restore_missing_store
from recollect.store.keys import is_encrypted, note_path
from recollect.store.plain_files import plain_files
from recollect.store.sealing import public_key, seal, unseal
from recollect.store.spool_files import SpoolFiles
from recollect.store.sqlite.check import damage_in
from recollect.store.sqlite.connection import connect

RAW = "0123456789abcdef" * 4
WORDS = ["quokka", "axolotl", "narwhal", "pangolin", "capybara"]


@pytest.fixture
def open_engine(home, folder, embedder):
    """The engine on the same home, as often as it is called."""
    opened = []

    def open_one():
        engine = Engine.open(folder, home, embedder=embedder)
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.store.close()


@pytest.fixture
def filled(open_engine):
    """A home with memories, two backups and an audit archive, closed."""
    engine = open_engine()
    for word in WORDS:
        engine.remember(f"The {word} sleeps in the attic.", tags=(f"{word}s",), file_paths=(f"{word}.py",))
    engine.backup()
    engine.link(*(memory.id for memory in engine.list(limit=2)))
    engine.forget(engine.list(limit=1)[0].id)
    engine.backup()
    engine.store.trim_audit(keep=3, down_to=2)
    engine.close()
    home = engine.settings.home
    for folder in ("hooks", "sessions/none"):
        SpoolFiles(home / "spool" / folder).append("s1", '{"prompt": "Where does the quokka sleep?"}\n')
    return home


@pytest.fixture(autouse=True)
def no_keychain():
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


class FakeKeychain(KeyringBackend):
    priority = 1

    def __init__(self):
        super().__init__()
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


def words_below(home):
    """The words of memories that stand in the clear somewhere, whole or in part."""
    found = set()
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            found |= {word for word in WORDS if word.encode() in data or word[1:].encode() in data}
    return found


def files(home):
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def all_of(engine):
    return {memory.content for memory in engine.list(state="all")}


EXPECTED = {f"The {word} sleeps in the attic." for word in WORDS}


def test_without_encryption_the_words_are_there_to_be_found(filled):
    assert words_below(filled) == set(WORDS)


def give_nothing(monkeypatch, tmp_path):
    keyring.set_keyring(FakeKeychain())
    return


def give_raw_key(monkeypatch, tmp_path):
    monkeypatch.setenv("RECOLLECT_KEY", RAW.upper())
    return


def give_passphrase(monkeypatch, tmp_path):
    monkeypatch.setenv("RECOLLECT_KEY", "correct hörse battery staple ")
    return


def give_key_file(monkeypatch, tmp_path):
    return tmp_path / "my.key"


def give_written_key_file(monkeypatch, tmp_path):
    (tmp_path / "my.key").write_text("a passphrase in a file\n")
    return tmp_path / "my.key"


def give_file_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(tmp_path / "my.key"))
    return


@pytest.mark.parametrize(
    "give",
    [give_nothing, give_raw_key, give_passphrase, give_key_file, give_written_key_file, give_file_variable],
)
def test_encrypted_no_word_is_left_and_all_can_be_read(filled, open_engine, monkeypatch, tmp_path, give):
    key_file = give(monkeypatch, tmp_path)
    engine = open_engine()

    engine.encrypt(key_file)

    assert words_below(filled) == set()
    assert all_of(engine) == EXPECTED
    engine.remember("The pangolin has moved to the cellar.")
    engine.backup()
    assert engine.store.check() == []
    assert words_below(filled) == set()
    engine.close()
    again = open_engine()
    assert again.store.info().encrypted
    assert all_of(again) == {*EXPECTED, "The pangolin has moved to the cellar."}
    assert len(again.search("pangolin", graph=False).results) == 2
    again.close()
    assert words_below(filled) == set()
    assert {path.stat().st_mode & 0o777 for path in filled.rglob("*") if path.is_file()} == {0o600}


def test_no_graph_of_the_code_is_left_in_the_clear(filled, open_engine, folder, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    (folder / "pangolin_attic.py").write_text("def feed_the_axolotl():\n    return 1\n")
    with open_engine() as engine:
        engine.code.refresh()
        (filled / "code" / "elsewhere.db").write_bytes(next((filled / "code").glob("*.db")).read_bytes())
        assert code_below(filled)

        engine.encrypt()

        assert code_below(filled) == []
        engine.code.refresh()  # in the same process, which had it open without a key
        assert engine.code.graph.symbols_named("feed_the_axolotl")
        assert code_below(filled) == []
    assert list((filled / "code").iterdir())
    assert code_below(filled) == []

    with open_engine() as engine:
        engine.decrypt()
        assert not list((filled / "code").iterdir())
        engine.code.refresh()
    assert code_below(filled)


def test_who_cannot_encrypt_for_others_are_at_work_leaves_their_graphs(filled, open_engine, folder):
    (folder / "pangolin_attic.py").write_text("x = 1\n")
    with open_engine() as engine, open_engine() as other:
        other.code.refresh()

        with pytest.raises(StoreBusy):
            engine.encrypt()

        assert list((filled / "code").iterdir())


def code_below(home):
    """Files in which a path or the name of a symbol can be read."""
    marks = (b"pangolin_attic", b"feed_the_axolotl")
    return [
        path
        for path in home.rglob("*")
        if path.is_file() and any(mark in path.read_bytes() for mark in marks)
    ]


def test_turning_encryption_off_undoes_it(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()

    engine.decrypt()

    assert all_of(engine) == EXPECTED
    engine.close()
    monkeypatch.delenv("RECOLLECT_KEY")
    again = open_engine()
    assert not again.store.info().encrypted
    assert all_of(again) == EXPECTED
    assert again.store.check() == []
    assert words_below(filled) == set(WORDS)
    assert not note_path(filled / "recollect.db").exists()
    with pytest.raises(Refused, match="not encrypted"):
        again.decrypt()


def test_a_store_is_not_encrypted_twice(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()

    with pytest.raises(Refused, match="already"):
        engine.encrypt()


@pytest.mark.parametrize("wrong", ["f" * 64, "a guess", RAW[:-1], RAW + "0"])
@pytest.mark.parametrize("right", [RAW, "a passphrase"])
def test_a_wrong_key_says_so_and_changes_nothing(filled, open_engine, monkeypatch, right, wrong):
    monkeypatch.setenv("RECOLLECT_KEY", right)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    before = files(filled)

    monkeypatch.setenv("RECOLLECT_KEY", wrong)
    with pytest.raises(WrongKey, match="wrong key"):
        open_engine()

    assert files(filled) == before
    monkeypatch.setenv("RECOLLECT_KEY", right)
    assert all_of(open_engine()) == EXPECTED


def test_without_a_key_one_is_told_where_it_was_kept(filled, open_engine, monkeypatch, tmp_path):
    engine = open_engine()
    engine.encrypt(tmp_path / "my.key")
    engine.close()
    before = files(filled)
    (tmp_path / "my.key").rename(tmp_path / "elsewhere.key")

    with pytest.raises(WrongKey, match=r"my\.key"):
        open_engine()

    assert files(filled) == before
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(tmp_path / "elsewhere.key"))
    assert all_of(open_engine()) == EXPECTED


def test_a_key_in_the_folder_of_its_store_is_refused(filled, open_engine, monkeypatch, tmp_path):
    engine = open_engine()
    (tmp_path / "link").symlink_to(filled)

    for place in (filled / "my.key", filled / "backups" / "my.key", tmp_path / "link" / "my.key"):
        with pytest.raises(BadSetting, match="same folder"):
            engine.encrypt(place)

    assert not engine.store.info().encrypted
    assert not list(filled.rglob("my.key"))


def test_a_machine_without_a_keychain_is_told_what_to_do(filled, open_engine):
    engine = open_engine()

    with pytest.raises(BadSetting, match="no keychain") as error:
        engine.encrypt()

    assert "--key-file" in error.value.hint
    assert not engine.store.info().encrypted
    assert all_of(engine) == EXPECTED


def test_the_key_leaves_the_keychain_with_the_encryption(filled, open_engine):
    keychain = FakeKeychain()
    keyring.set_keyring(keychain)
    engine = open_engine()
    assert engine.encrypt() == "keychain"
    assert len(keychain.kept) == 1

    engine.decrypt()

    assert keychain.kept == {}


def test_a_keychain_that_lost_the_key_is_told_apart_from_damage(filled, open_engine):
    keychain = FakeKeychain()
    keyring.set_keyring(keychain)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    keychain.kept.clear()

    with pytest.raises(WrongKey, match="keychain"):
        open_engine()


def test_the_key_of_an_open_store_is_not_changed_under_another_process(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    first, second = open_engine(), open_engine()

    with pytest.raises(StoreBusy, match="another process"):
        first.encrypt()

    assert not first.store.info().encrypted
    assert all_of(first) == all_of(second) == EXPECTED


def test_a_damaged_encrypted_store_is_restored_encrypted(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    database = filled / "recollect.db"

    for damaged in (b"", bytes(range(256)) * 64, database.read_bytes()[:9000]):
        database.write_bytes(damaged)
        restored = open_engine()
        if not restored.store.notices:  # found by reading only
            assert restored.store.check() != []
            restored.close()
            restored = open_engine()
        assert "damaged" in restored.store.notices[0]
        assert restored.store.info().encrypted
        assert all_of(restored) == EXPECTED
        restored.close()
        assert words_below(filled) == set()


def damage_of(path):
    try:
        with contextlib.closing(connect(path, RAW)) as db:
            return damage_in(db)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return str(error)


def test_a_flipped_bit_of_an_encrypted_store_is_reported(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    whole, dice = (filled / "recollect.db").read_bytes(), random.Random(3)

    for number in range(20):
        data = bytearray(whole)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        copy = filled / f"copy{number}.db"
        copy.write_bytes(data)

        assert damage_of(copy)  # each page is authenticated


def test_turning_encryption_off_gives_pages_checksums(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()
    engine.decrypt()

    assert engine.store._db.has_checksums
    assert engine.store.check() == []
    assert [backup.problem for backup in engine.store.check_backups()] == [None, None]
    assert all_of(engine) == EXPECTED


def test_a_missing_encrypted_store_is_restored_encrypted_or_begun_anew_encrypted(
    filled, open_engine, monkeypatch
):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    (filled / "recollect.db").unlink()

    with pytest.raises(StoreMissing):
        open_engine()
    restore_missing_store(filled / "recollect.db", RAW)
    restored = open_engine()
    assert (restored.store.info().encrypted, all_of(restored)) == (True, EXPECTED)
    restored.close()
    assert words_below(filled) == set()

    (filled / "recollect.db").unlink()
    (filled / "backups").rename(filled.parent / "elsewhere")
    fresh = open_engine()
    fresh.remember("The quokka is back.")

    assert fresh.store.info().encrypted
    fresh.close()
    assert words_below(filled) == set()


def test_a_damaged_file_in_the_clear_stands_in_the_way(filled, open_engine, monkeypatch):
    database = filled / "recollect.db"
    database.write_bytes(b"quokka" + database.read_bytes()[6:])
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    (aside,) = filled.glob("*.damaged-*")

    with pytest.raises(StoreError, match="damaged") as error:
        engine.encrypt()

    assert "Move it" in error.value.hint
    assert not engine.store.info().encrypted
    aside.unlink()
    engine.encrypt()
    assert words_below(filled) == set()


def test_what_was_cut_off_earlier_does_not_stay_in_the_clear(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    for name in ("backups/recollect-new.db", "recollect.db.restored", "backups/recollect-3.db.rekeyed"):
        (filled / name).write_bytes(b"quokka")

    engine.encrypt()

    assert words_below(filled) == set()


def test_a_disk_that_has_no_room_for_encryption_loses_nothing(filled, folder, monkeypatch, open_engine):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)

    out = child.run(NO_ROOM, filled, folder)

    assert "othing was changed" in out
    assert not list(filled.rglob("*.rekeyed"))
    engine = open_engine()
    assert all_of(engine) == EXPECTED
    assert engine.store.check() == []
    assert not engine.store.info().encrypted
    engine.encrypt()
    assert words_below(filled) == set()


NO_ROOM = """
import resource, signal, sys
from pathlib import Path
from recollect.engine import Engine
from recollect.embed.open import NoEmbedder
from recollect.errors import StoreUnwritable
engine = Engine.open(Path(sys.argv[2]), Path(sys.argv[1]), embedder=NoEmbedder())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    engine.encrypt()
except StoreUnwritable as error:
    print(error.message)
engine.store.close()
"""


CRASHING = """
import os, sys
from pathlib import Path
from recollect.engine import Engine
from recollect.embed.open import NoEmbedder
from crash import crash_everywhere
from recollect.store.keys import intent_path, is_plain, note_path

def waiting(home):
    lines = [line for file in home.rglob("*.jsonl") if "spool" in str(file) for line in file.read_bytes().splitlines()]
    assert len(lines) == 2, lines
    return [line for line in lines if line.startswith(b"sealed:")]

home, work, folder, what = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
OPEN = lambda home: Engine.open(folder, home, embedder=NoEmbedder())

def rekey(home):
    engine = OPEN(home)
    getattr(engine, what)()
    engine.store.close()

def contents(engine):
    return sorted(memory.content for memory in engine.list(state="all"))

if what == "decrypt":
    OPEN(home).encrypt()
engine = OPEN(home)
before = contents(engine)
engine.store.close()
for crashed in crash_everywhere(home, work, rekey):
    begun = all(path(crashed / "recollect.db").exists() for path in (intent_path, note_path))
    engine = OPEN(crashed)
    assert contents(engine) == before and not engine.store.notices and engine.store.check() == [], crashed
    done = engine.store.info().encrypted == (what == "encrypt")
    assert done or not begun, crashed
    assert not intent_path(crashed / "recollect.db").exists()
    backups = [is_plain(backup) for backup in (crashed / "backups").glob("*.db")]
    assert backups == [not engine.store.info().encrypted] * 2, crashed
    assert (waiting(crashed) == []) == (not engine.store.info().encrypted), crashed
    print("completed" if begun else "begun anew")
    if engine.store.info().encrypted != (what == "encrypt"):
        os.environ["RECOLLECT_KEY"] = sys.argv[5] if what == "encrypt" else os.environ["RECOLLECT_KEY"]
        getattr(engine, what)()
    engine.backup()
    engine.store.close()
    engine = OPEN(crashed)
    assert contents(engine) == before and engine.store.check() == [], crashed
    engine.store.close()
    os.environ["RECOLLECT_KEY"] = sys.argv[6]
    print(crashed)
"""


@pytest.mark.parametrize("retry", [RAW, RAW[::-1]], ids=["same key", "another key"])
def test_encrypting_killed_at_any_step_leaves_a_store_that_opens(
    filled, folder, tmp_path, monkeypatch, retry
):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)

    out = child.run(CRASHING, filled, tmp_path, folder, "encrypt", retry, RAW)

    crashed = [Path(line) for line in out.splitlines() if line.startswith("/")]
    assert len(crashed) >= 8
    assert out.count("completed") >= 8
    assert [words_below(home) for home in crashed] == [set()] * len(crashed)


def test_decrypting_killed_at_any_step_leaves_a_store_that_opens(filled, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)

    out = child.run(CRASHING, filled, tmp_path, folder, "decrypt", RAW, RAW)

    assert out.count("completed") >= 8


REKEY = """
import sys
from pathlib import Path
from recollect.engine import Engine
from recollect.embed.open import NoEmbedder
engine = Engine.open(Path(sys.argv[2]), Path(sys.argv[1]), embedder=NoEmbedder())
print("ready", flush=True)
while True:
    engine.encrypt()
    engine.decrypt()
"""


def test_rekeying_killed_at_any_moment_leaves_a_store_that_opens(filled, folder, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    moments = random.Random(7)

    for _ in range(8):
        process = child.start(REKEY, filled, folder)
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 0.15))
        child.kill(process)

        engine = open_engine()
        assert all_of(engine) == EXPECTED
        assert engine.store.notices == ()
        assert engine.store.check() == []
        if engine.store.info().encrypted:
            engine.decrypt()
        engine.close()


# events that wait


def spool_of(home):
    return SpoolFiles(home / "spool" / "hooks", database=home / "recollect.db")


def waiting(home):
    lines = []
    spool_of(home).drain(lambda found: lines.extend(found) or len(found))
    return lines


def test_events_are_sealed_while_the_key_is_not_at_hand(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    open_engine().encrypt()
    monkeypatch.delenv("RECOLLECT_KEY")

    assert spool_of(filled).append("the axolotl session", '{"prompt": "Does the axolotl sleep?"}\n')

    assert words_below(filled) == set()
    assert not list(filled.rglob("*axolotl*"))
    with pytest.raises(WrongKey):
        waiting(filled)
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    assert sorted(waiting(filled)) == [
        b'{"prompt": "Does the axolotl sleep?"}',
        b'{"prompt": "Where does the quokka sleep?"}',
    ]
    assert waiting(filled) == []


def test_sealed_events_can_be_read_after_encryption_is_turned_off(filled, open_engine, monkeypatch):
    keyring.set_keyring(FakeKeychain())
    engine = open_engine()
    engine.encrypt()
    spool_of(filled).append("s2", '{"prompt": "Does the axolotl sleep?"}\n')
    engine.decrypt()

    assert len(waiting(filled)) == 2
    assert all(line.startswith(b'{"prompt"') for line in waiting(filled))


def test_an_event_that_cannot_be_sealed_is_refused_and_counted(filled, open_engine, monkeypatch):
    monkeypatch.setenv("RECOLLECT_KEY", RAW)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    note = note_path(filled / "recollect.db")
    old = {name: value for name, value in json.loads(note.read_text()).items() if name != "public"}
    note.write_text(json.dumps(old))  # as an older version wrote it

    assert not spool_of(filled).append("s2", '{"prompt": "Does the axolotl sleep?"}\n')
    assert spool_of(filled).refused() == 1
    assert words_below(filled) == set()

    open_engine()  # adds what is missing
    assert spool_of(filled).append("s2", '{"prompt": "Does the axolotl sleep?"}\n')


def test_a_sealed_line_is_opened_by_its_key_only_and_as_a_whole():
    sealed = seal(b"quokka", public_key(RAW))

    assert unseal(sealed, RAW) == b"quokka"
    assert seal(b"quokka", public_key(RAW)) != sealed
    for wrong in (sealed[:-8], sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:], b"", b"AAAA"):
        with pytest.raises(ValueError):
            unseal(wrong, RAW)
    with pytest.raises(ValueError, match="this key"):
        unseal(sealed, RAW[::-1])


TAKE_LOCK = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def test_looking_at_an_encrypted_store_that_is_in_use_releases_none_of_its_locks(
    filled, open_engine, monkeypatch
):
    """A process that closes any descriptor of a file loses its locks on it, and others would delete its log."""
    give_raw_key(monkeypatch, None)
    engine = open_engine()
    engine.encrypt()
    engine.close()
    engine = open_engine()
    engine.remember("The quokka has moved to the cellar.")

    assert is_encrypted(filled / "recollect.db")
    assert plain_files(filled / "recollect.db") == []
    open_engine().list()

    for name in ("recollect.db", "recollect.db-shm"):
        taken = subprocess.run([sys.executable, "-c", TAKE_LOCK, filled / name], capture_output=True)
        assert b"BlockingIOError" in taken.stderr, name
