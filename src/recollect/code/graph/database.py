"""The graph on disk: one SQLite file per project, which can always be rebuilt from the project's files.

Parsed files are stored by blob, so that switching branches and back costs look-ups. No text of a file is stored, nor a
literal from it.
"""

import contextlib
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import apsw

from recollect.code.source_hash import CODE, WORDS_AND_SECRETS, source_hash
from recollect.store.sqlite.connection import connect

if TYPE_CHECKING:
    from recollect.code.packing import PackedFacts, ParsedFile, ShownParse

logger = logging.getLogger(__name__)

KEPT_DAYS = 30  # a parsed file that is not used is kept
MOST_UNUSED = 64 * 1024 * 1024  # bytes of unused parsed files

_SCHEMA = """
CREATE TABLE about (version TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE parses (
    blob BLOB NOT NULL,
    language TEXT NOT NULL,
    unused_since INTEGER, -- a day; NULL = some file has it
    checksum INTEGER NOT NULL, -- of outline, terms and names
    outline BLOB NOT NULL,
    rest BLOB NOT NULL,
    refs BLOB NOT NULL,
    terms BLOB NOT NULL,
    name_hashes BLOB NOT NULL,
    name_terms BLOB NOT NULL,
    are_tests INTEGER NOT NULL,
    PRIMARY KEY (blob, language)
);
CREATE TABLE words (parse INTEGER PRIMARY KEY, hashes BLOB NOT NULL); -- apart, to be searched without reading the rest
CREATE TRIGGER words_unused AFTER DELETE ON parses BEGIN DELETE FROM words WHERE parse = old.rowid; END;
CREATE INDEX parses_unused ON parses (unused_since) WHERE unused_since IS NOT NULL;
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    blob BLOB NOT NULL,
    language TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, -- 0 = look again
    left_out TEXT, -- why; NULL = it is in the graph
    checksum INTEGER NOT NULL, -- of edges
    edges BLOB -- NULL = not resolved yet
) WITHOUT ROWID;
CREATE INDEX files_blob ON files (blob, language);
CREATE TABLE notes (name TEXT PRIMARY KEY, checksum INTEGER NOT NULL, value BLOB NOT NULL);
"""
# Apart from the tables of the graph: it stays when they are made anew because the code has changed.
_LASTING_SCHEMA = """
CREATE TABLE IF NOT EXISTS lasting_notes (
    name TEXT PRIMARY KEY, version TEXT NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL
)
"""
_NOTE = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)"

ParseKey = tuple[bytes, str]  # of a parsed file: its blob and language


def graph_database_path(home: Path, project_id: str | None) -> Path:
    return home / "code" / f"{project_id or 'none'}.db"


def delete_graph_databases(home: Path, projects: Iterable[str] | None = None) -> None:
    """Delete the databases of `projects`; None means all. A process that has one open can go on reading."""
    folder = home / "code"
    names = ["*"] if projects is None else [f"{name}.db*" for name in projects]
    for name in names:
        for file in folder.glob(name):
            file.unlink(missing_ok=True)


class FileRecord(NamedTuple):
    """A file as it was last seen."""

    blob: bytes
    language: str
    size: int
    mtime_ns: int  # 0 = look again
    left_out: str | None = None  # the reason; None = it is in the graph
    edges: bytes | None = None  # packed; None = not resolved yet

    @property
    def key(self) -> ParseKey:
        return self.blob, self.language


class ConcurrentUpdate(Exception):
    """Another process has written since we loaded."""


class DamagedDatabase(Exception):
    """The database cannot be read."""


class WriteFailed(Exception):
    """The disk is full, or the file was locked for too long. What was read is still right."""


class GraphDatabase:
    """Used by one thread at a time, and by any number of processes."""

    def __init__(self, path: Path, key: str | None) -> None:
        self._path = path
        self._key = key
        self._unsaved: dict[ParseKey, ParsedFile] = {}  # parsed files that could not be written
        self._connection = self._opened()
        self.generation = 0  # of what was loaded

    def close(self) -> None:
        self._connection.close()

    def _opened(self) -> apsw.Connection:
        """Open the database; use one in memory if the file cannot be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return self._connect()
        except (apsw.NotADBError, apsw.CorruptError):  # damaged, or of another key: it is rebuilt
            with contextlib.suppress(OSError, apsw.Error):
                self._remove()
                return self._connect()
        except (apsw.Error, OSError) as error:
            logger.info("the code graph is kept in memory only: %s", error)
        return apsw.Connection(":memory:")

    def _connect(self) -> apsw.Connection:
        self._path.touch(0o600)  # SQLite would make it readable by all
        connection = connect(self._path, self._key, checked=False)  # it has checksums of its own
        connection.pragma("synchronous", "normal")
        connection.pragma("secure_delete", False)
        return connection

    def _remove(self) -> None:
        for end in ("", "-wal", "-shm"):
            Path(f"{self._path}{end}").unlink(missing_ok=True)

    @property
    def shared(self) -> tuple[str, str | None] | None:
        """The path and key with which other processes can read all parsed files; None if they cannot."""
        is_whole = bool(self._connection.filename) and not self._unsaved
        return (str(self._path), self._key) if is_whole else None

    def start_again(self) -> None:
        """Delete the database and start with an empty one."""
        self._connection.close()
        with contextlib.suppress(OSError):
            self._remove()
        self._connection = self._opened()

    def _prepared(self) -> int:
        """Create the tables, or clear those of another version. Return the generation of what is stored."""
        with self._writing() as run:
            tables = {name for (name,) in run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if "about" in tables:
                for version, generation in run("SELECT version, generation FROM about"):
                    if version == _version():
                        return int(generation)
            for table in tables - {"lasting_notes"}:
                run(f'DROP TABLE "{table}"')
            run(_SCHEMA)
            run(_LASTING_SCHEMA)
            run("INSERT INTO about VALUES (?, 0)", (_version(),))
            return 0

    # Reading

    def newest(self) -> int | None:
        """Return the stored generation; None if another version of the program has replaced it."""
        with self._translated():
            for version, generation in self._connection.execute("SELECT version, generation FROM about"):
                return int(generation) if version == _version() else None
        return None

    def load(self) -> tuple[dict[str, FileRecord], dict[ParseKey, "ShownParse"]]:
        """Return all files, and what the graph has of their contents. Raise `DamagedDatabase` if it cannot be read."""
        from recollect.code.names import DefinedNames  # every command imports this module, for its paths

        self.generation = self._prepared()
        files: dict[str, FileRecord] = {}
        parses: dict[ParseKey, ShownParse] = {}
        with self._translated(), self._connection:  # in one transaction
            for (generation,) in self._connection.execute("SELECT generation FROM about"):
                self.generation = int(generation)
            for path, blob, language, size, mtime_ns, left_out, checksum, edges in self._connection.execute(
                "SELECT path, blob, language, size, mtime_ns, left_out, checksum, edges FROM files"
            ):
                _prove(checksum, edges or b"")
                files[path] = FileRecord(blob, language, size, mtime_ns, left_out, edges)
            for (
                blob,
                language,
                checksum,
                outline,
                terms,
                hashes,
                name_terms,
                are_tests,
            ) in self._connection.execute(
                """
                    SELECT blob, language, checksum, outline, terms, name_hashes, name_terms, are_tests
                    FROM parses WHERE unused_since IS NULL
                    """
            ):
                _prove(checksum, outline, terms, hashes, name_terms)
                parses[blob, language] = outline, terms, DefinedNames(hashes, name_terms, bool(are_tests))
        return files, parses

    def shown(self, wanted: Iterable[ParseKey]) -> Iterator[tuple[ParseKey, "ShownParse"]]:
        """Yield what the graph has of those of the wanted parsed files that are stored."""
        from recollect.code.names import DefinedNames

        query = """
            SELECT outline, terms, name_hashes, name_terms, are_tests FROM parses WHERE blob = ? AND language = ?
            """
        with self._translated():
            for key in wanted:
                if unsaved := self._unsaved.get(key):
                    yield key, (unsaved.outline, unsaved.terms, unsaved.names)
                    continue
                for outline, terms, hashes, name_terms, are_tests in self._connection.execute(query, key):
                    yield key, (outline, terms, DefinedNames(hashes, name_terms, bool(are_tests)))

    def facts(self, key: ParseKey) -> "PackedFacts | None":
        """Return the packed facts of a parsed file without the rest of it; None if it is not stored."""
        if unsaved := self._unsaved.get(key):
            return key[1], *unsaved[:3]
        with self._translated():
            for outline, rest, references in self._connection.execute(
                "SELECT outline, rest, refs FROM parses WHERE blob = ? AND language = ?", key
            ):
                return key[1], outline, rest, references
        return None

    def mentioning(self, hashes: Sequence[bytes]) -> set[ParseKey]:
        """Return the parsed files in use whose texts have one of these words. Reads none of their facts."""
        found = " OR ".join(["instr(hashes, ?)"] * len(hashes)) or "false"
        query = f"""
            SELECT blob, language FROM words CROSS JOIN parses ON parses.rowid = parse
            WHERE ({found}) AND unused_since IS NULL
            """
        with self._translated():
            return {(blob, language) for blob, language in self._connection.execute(query, hashes)}

    def has_parses(self) -> bool:
        with self._translated():
            return any(self._connection.execute("SELECT 1 FROM parses LIMIT 1"))

    def note(self, name: str) -> bytes | None:
        """Return a value stored beside the graph; None if there is none."""
        with self._translated():
            for checksum, value in self._connection.execute(
                "SELECT checksum, value FROM notes WHERE name = ?", (name,)
            ):
                _prove(checksum, value)
                return bytes(value)
        return None

    def lasting_note(self, name: str, version: str) -> bytes | None:
        """Return a value that does not depend on the graph; None if there is none of that version."""
        with self._translated():
            for checksum, value in self._connection.execute(
                "SELECT checksum, value FROM lasting_notes WHERE name = ? AND version = ?", (name, version)
            ):
                _prove(checksum, value)
                return bytes(value)
        return None

    # Writing

    def put_lasting_note(self, name: str, version: str, value: bytes) -> None:
        with self._writing() as run:
            run(_LASTING_SCHEMA)  # an older version of the program may have dropped it
            run(
                "INSERT OR REPLACE INTO lasting_notes VALUES (?, ?, ?, ?)",
                (name, version, _checksum(value), value),
            )

    def put_note(self, name: str, value: bytes) -> None:
        with self._writing() as run:
            run(_NOTE, (name, _checksum(value), value))

    def keep(self, parses: Mapping[ParseKey, "ParsedFile"], today: int) -> None:
        """Store parsed files. They are useful later even if no file record ever refers to them.

        What cannot be written is there for this process all the same.
        """
        try:
            self._keep(parses, today)
        except WriteFailed:
            self._unsaved |= parses
            raise

    def _keep(self, parses: Mapping[ParseKey, "ParsedFile"], today: int) -> None:
        with self._writing() as run:
            for (blob, language), parse in parses.items():
                checksum = _checksum(parse.outline, parse.terms, parse.name_hashes, parse.name_terms)
                run(
                    "INSERT OR IGNORE INTO parses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (blob, language, today, checksum, *parse[:4], *parse.names),
                )
                if self._connection.changes():
                    run(
                        "INSERT INTO words VALUES (?, ?)", (self._connection.last_insert_rowid(), parse.words)
                    )

    def touch(self, records: Mapping[str, FileRecord]) -> None:
        """Store new times of files that are otherwise unchanged."""
        with self._writing() as run:
            for path, record in records.items():
                run(
                    "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ? AND blob = ?",
                    (record.size, record.mtime_ns, path, record.blob),
                )

    def put_edges(self, edges: Mapping[str, bytes], notes: Mapping[str, bytes]) -> None:
        """Store the edges of recorded files, and the notes that are valid with them. Raises as `replace` does."""
        with self._writing() as run:
            self._begin_generation()
            for name, value in notes.items():
                run(_NOTE, (name, _checksum(value), value))
            for path, packed in edges.items():
                run(
                    "UPDATE files SET checksum = ?, edges = ? WHERE path = ?",
                    (_checksum(packed), packed, path),
                )
        self.generation += 1

    def replace(
        self,
        changed: Mapping[str, FileRecord],
        gone: Iterable[str],
        today: int,
        notes: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        """Replace file records, and the notes that are valid with them.

        Raise `ConcurrentUpdate` if another process has done so since we loaded: what was resolved may be wrong by now.
        """
        with self._writing() as run:
            self._begin_generation()
            for name, value in notes.items():
                run(_NOTE, (name, _checksum(value), value))
            left: set[ParseKey] = set()
            for path in [*gone, *changed]:
                left.update(run("DELETE FROM files WHERE path = ? RETURNING blob, language", (path,)))
            for path, record in changed.items():
                run(
                    "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (path, *record[:-1], _checksum(record.edges or b""), record.edges),
                )
                run("UPDATE parses SET unused_since = NULL WHERE blob = ? AND language = ?", record[:2])
            for key in left:
                run(
                    """
                    UPDATE parses SET unused_since = ? WHERE blob = ? AND language = ?
                    AND NOT EXISTS (SELECT 1 FROM files f WHERE f.blob = parses.blob AND f.language = parses.language)
                    """,
                    (today, *key),
                )
            run("DELETE FROM parses WHERE unused_since <= ?", (today - KEPT_DAYS,))
            run(
                """
                DELETE FROM parses WHERE rowid IN (
                    SELECT rowid FROM (
                        SELECT rowid, sum(length(outline) + length(rest) + length(refs) + length(terms))
                            OVER (ORDER BY unused_since DESC, rowid DESC) AS taken
                        FROM parses WHERE unused_since IS NOT NULL)
                    WHERE taken > ?)
                """,
                (MOST_UNUSED,),
            )
        self.generation += 1

    def _begin_generation(self) -> None:
        self._connection.execute(
            "UPDATE about SET generation = generation + 1 WHERE generation = ? AND version = ?",
            (self.generation, _version()),
        )
        if not self._connection.changes():
            raise ConcurrentUpdate

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Callable[..., apsw.Cursor]]:
        """Run a transaction with a write lock from its start."""
        with self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
            raise DamagedDatabase(str(error)) from error  # SQLError: these are not our tables
        except apsw.Error as error:
            raise WriteFailed(str(error)) from error


def _checksum(*parts: bytes) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return checksum


def _prove(checksum: int, *parts: bytes) -> None:
    if _checksum(*parts) != checksum:
        raise DamagedDatabase("a checksum is wrong")


@cache
def _version() -> str:
    """Return a hash of all code that decides what the graph is."""
    files = [file for part in ("graph", "languages") for file in (CODE / part).rglob("*")]
    files = [file for file in files if file.suffix in (".py", ".scm")]
    files += [
        CODE / name for name in ("facts.py", "names.py", "nodes.py", "packing.py", "terms.py", "decoding.py")
    ]
    return source_hash([*files, *WORDS_AND_SECRETS])
