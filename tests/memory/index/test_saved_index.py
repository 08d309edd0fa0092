"""What an index has read is kept beside the store, and another process takes it over instead of reading it again."""

import random
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

import recollect.model as m
from recollect.memory.index.index import MemoryIndex
from recollect.store import open_store
from samples import EVERYTHING, MINE, NOW, keep, memory, sentence, unit

KEY = "ab" * 32
SIZE = 300


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("recollect.memory.index.index.SAVED_FROM", 100)
    return tmp_path / "recollect.db"


@pytest.fixture
def filled(path):
    with closing(open_store(path, "ada", None)) as store:
        yield fill(store)


def fill(store):
    kept = [memory(f"{sentence(number)} The teapot.") for number in range(SIZE)]
    keep(store, *kept)
    chance = random.Random(1)
    with store.transaction():
        for each in kept[:-1]:  # one is not embedded yet
            store.put_vector(each.id, "fake", unit(*(chance.gauss() for _ in range(130))))
    return store


def ask(store, index):
    """Everything that an index says about words and vectors."""
    scan = index.scan(MINE, "fake", unit(*range(1, 131)))
    with index.words.lock:
        index.words.refresh()
        words = index.words.bm25.words("which modul hands the teapot to x4b227777", index.words.mask(MINE))
        scores = index.words.bm25.score(words, index.words.mask(EVERYTHING))
    near = index.near(MINE, "fake", unit(*range(1, 131)), 5)
    return near, index.words.ids, scores.scores.tolist(), scan.nums.tolist(), scan.cosines.tolist()


def saved(store):
    index = MemoryIndex(store)
    answers = ask(store, index)
    index.save_if_due()
    return answers


class Unread:
    """A store that counts the rows which an index reads."""

    def __init__(self, store):
        self._store = store
        self.rows = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def texts_since(self, seq):
        for row in self._store.texts_since(seq):
            self.rows += 1
            yield row

    def vectors_since(self, model, seq):
        for row in self._store.vectors_since(model, seq):
            self.rows += 1
            yield row


def test_another_process_answers_the_same_without_reading(filled):
    before = saved(filled)
    store = Unread(filled)

    assert ask(store, MemoryIndex(store)) == before
    assert store.rows == 0


def test_memories_are_not_read_for_a_model_that_has_no_vectors(filled):
    store = Unread(filled)

    assert MemoryIndex(store).scan(MINE, "fake+when", unit(*range(1, 131))) is None
    assert store.rows == 0


def test_what_was_written_since_is_read(filled):
    saved(filled)
    changed = replace(filled.get(filled.texts_since(-1).__next__().id), content="Nobody drinks coffee.")
    new = memory("A samovar is a teapot.")
    keep(filled, changed, new)
    filled.put_vector(new.id, "fake", unit(*range(1, 131)))
    store = Unread(filled)

    assert ask(store, MemoryIndex(store)) == ask(filled, _unsaved(filled))
    assert 0 < store.rows < 10


def _unsaved(store):
    """An index that reads everything."""
    store = Unread(store)
    store.read_index = lambda name: None
    return MemoryIndex(store)


def test_few_memories_are_not_kept(filled, path, monkeypatch):
    monkeypatch.setattr("recollect.memory.index.index.SAVED_FROM", SIZE + 1)

    saved(filled)

    assert list(path.parent.glob("*.index")) == []


def test_the_files_are_private(filled, path):
    saved(filled)

    assert {file.stat().st_mode & 0o777 for file in path.parent.glob("*.index")} == {0o600}
    assert len(list(path.parent.glob("*.index*"))) == 3  # words, vectors, and their lock


def test_what_is_deleted_for_good_is_in_no_file(filled, path):
    saved(filled)
    first = next(filled.texts_since(-1)).id
    forgotten = replace(filled.get(first), state=m.State.DELETED, deleted_at=NOW, updated_at=NOW)
    filled.put(forgotten)

    filled.purge(NOW + timedelta(days=1), "user", NOW + timedelta(days=1))

    assert list(path.parent.glob("*.index")) == []
    assert first not in ask(filled, MemoryIndex(filled))[1]


@pytest.mark.parametrize("damage", [b"", b"x" * 1000, None], ids=["empty", "nonsense", "cut off"])
def test_a_damaged_file_is_made_again(filled, path, damage):
    before = saved(filled)
    for file in path.parent.glob("*.index"):
        file.write_bytes(file.read_bytes()[:3000] if damage is None else damage)

    assert saved(filled) == before
    store = Unread(filled)
    assert ask(store, MemoryIndex(store)) == before
    assert store.rows == 0


def test_the_files_of_another_time_line_are_not_used(filled, path):
    filled.backup()
    keep(filled, memory("Only in the time line that was left."))
    saved(filled)
    files = {file: file.read_bytes() for file in path.parent.glob("*.index")}
    filled.close()
    backup = next((path.parent / "backups").glob("*-1.db"))
    for file in path.parent.glob("recollect.db*"):
        file.unlink()
    backup.rename(path)
    for file, data in files.items():
        file.write_bytes(data)

    with closing(open_store(path, "ada", None)) as store:
        keep(store, memory("In the other."), memory("And another."))
        index = MemoryIndex(store)
        ids = ask(store, index)[1]

        assert {row.id for row in store.texts_since(-1)} == set(ids)


def test_beside_an_encrypted_store_nothing_can_be_read(filled, path):
    saved(filled)
    note = m.KeyNote("0" * 16, "", "variable")

    filled.encrypt(lambda: (KEY, note))
    assert list(path.parent.glob("*.index")) == []
    before = saved(filled)

    vector = filled.vector(next(filled.texts_since(-1)).id, "fake")
    for file in path.parent.glob("*.index"):
        data = file.read_bytes()
        assert b"teapot" not in data
        assert vector not in data
    filled.close()
    whole = {file: file.read_bytes() for file in path.parent.glob("*.index")}
    for file, data in whole.items():
        file.write_bytes(data[:-100])
    with closing(open_store(path, "ada", KEY)) as again:
        assert ask(again, MemoryIndex(again)) == before
    for file, data in whole.items():
        file.write_bytes(data)
    with closing(open_store(path, "ada", KEY)) as again:
        store = Unread(again)
        assert ask(store, MemoryIndex(store)) == before
        assert store.rows == 0
        again.decrypt()
        assert list(path.parent.glob("*.index")) == []
