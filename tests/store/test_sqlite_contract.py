import json
from pathlib import Path

import pytest
from contract import LocalStoreContract, Undo

from recollect.errors import StoreUnwritable
from samples import MINE, keep, memory


class TestSqlite(LocalStoreContract):
    """The contract, by the SQLite store; below, what only this store can be asked."""

    def test_a_nul_is_stored_like_any_character(self, store):
        kept = keep(store, memory("Zero \0 bytes.", file_paths=("a\0b",)))

        assert store.get(kept.id) == kept
        assert store.newest(MINE, file="a\0b") == [kept]

    def test_what_others_write_is_seen_after_a_look_at_neighbours(self, store, open_store):
        crowd = [memory(f"Number {number}.", tags=("build", "test", "lint")) for number in range(5)]
        keep(store, *crowd)
        assert store.neighbours(MINE, [crowd[0].id], 0) == []  # stops at the first tag: all have too many

        newer = keep(open_store(), memory("Somebody else wrote this."))

        assert store.get(newer.id) == newer
        keep(store, memory("And this one can still write."))

    def test_a_deleted_memory_leaves_no_word_in_the_file(self, store, home):
        words = [f"quokka{number}zz" for number in range(30)]
        kept = [memory(f"The {word} is secret.", tags=(word,)) for word in words]
        keep(store, *kept)

        with store.transaction():
            for each in kept:
                store.delete(each.id)
        store.close()

        left = b"".join(path.read_bytes() for path in home.iterdir())
        assert [word for word in words if word[3:].encode() in left] == []

    def test_a_crash_between_archive_and_delete_is_tolerated(self, store, home):
        keep(store, *(memory(f"Number {number}.") for number in range(30)))
        with pytest.raises(Undo), store.transaction():
            store.trim_audit(keep=20, down_to=10)
            raise Undo  # the archive has been written, the lines are still in the store
        assert store.check() == []

        assert store.trim_audit(keep=20, down_to=10) == 20

        assert store.check() == []

    def test_an_archive_that_was_cut_off_is_mended_by_the_next_trim(self, store, home):
        keep(store, *(memory(f"Number {number}.") for number in range(30)))
        with pytest.raises(Undo), store.transaction():
            store.trim_audit(keep=20, down_to=10)
            raise Undo
        archive = home / "audit-archive.jsonl"
        archive.write_bytes(archive.read_bytes()[:-20])
        assert store.check() == []

        store.trim_audit(keep=20, down_to=10)

        assert store.check() == []
        assert all(json.loads(line) for line in archive.read_text().splitlines())
        assert archive.stat().st_mode & 0o777 == 0o600

    def test_an_archive_that_was_altered_is_found(self, store, home):
        keep(store, *(memory(f"Number {number}.") for number in range(30)))
        store.trim_audit(keep=20, down_to=10)
        archive = home / "audit-archive.jsonl"
        archive.write_text(archive.read_text().replace('"user"', '"someone"', 1))

        assert "altered" in store.check()[0].what

    def test_an_archive_that_cannot_be_written_changes_nothing(self, store, home):
        keep(store, *(memory(f"Number {number}.") for number in range(30)))
        (home / "audit-archive.jsonl").mkdir()

        with pytest.raises(StoreUnwritable):
            store.trim_audit(keep=20, down_to=10)

        assert len(store.audit(100)) == 30

    def test_memories_written_past_the_store_are_found(self, store, execute):
        keep(store, memory())
        execute("UPDATE memories SET content = 'Use npm, never pnpm.'")

        assert "fingerprint" in store.check()[0].what

    @pytest.mark.parametrize(
        ("sql", "found"),
        [
            ("DELETE FROM memory_words WHERE rowid = 1", "missing from the full text"),
            ("DELETE FROM tags", "not among the tags"),
            ("INSERT INTO vectors VALUES (99, 'fake', x'00')", "vectors belong to no memory"),
            (
                "INSERT INTO links VALUES ('a', 'b', 'relates_to', 1, '', NULL, '2026-01-01T12:00:00Z', NULL)",
                "lead to no memory",
            ),
            ("UPDATE change SET seq = 0", "newer than the change counter"),
            ("DELETE FROM audit", "no audit line that adds them"),
        ],
    )
    def test_check_finds_parts_that_disagree(self, store, execute, sql, found):
        keep(store, memory(tags=("one",)))
        assert store.check() == []

        execute(sql)

        assert any(found in problem.what for problem in store.check())

    def test_files_can_be_read_by_their_owner_only(self, store, home):
        keep(store, memory())
        store.backup()

        files = [path for path in home.rglob("*") if path.is_file()]
        assert {Path(f"{home}/recollect.db{end}") for end in ("", "-wal", "-shm")} <= set(files)
        assert {path.name: oct(path.stat().st_mode & 0o777) for path in files} == {
            path.name: "0o600" for path in files
        }
        assert (home / "backups").stat().st_mode & 0o777 == 0o700

    def test_a_closed_store_says_so(self, store):
        store.close()

        with pytest.raises(Exception, match="closed"):
            store.count(MINE)
