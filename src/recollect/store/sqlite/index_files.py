"""Files beside the store with what a search has made of the memories, so that the next process need not make it again.

A file belongs to the store as it was when it was written: both hold the same token. A store that was restored from a backup
has another one, or had the same one when the file was written. What was written since is read from the change feed.
Beside an encrypted store the files are encrypted, with a key that is derived from the store's. They can be deleted at any time.
"""

import hashlib
import json
import logging
import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.store.file_lock import one_at_a_time
from recollect.store.keys import sync

logger = logging.getLogger(__name__)

ENDING = ".index"
_PURPOSE = b"recollect index file "
_MAGIC = b"recollect index 1\n"
_SEALED = b"recollect sealed index 1\n"
_NONCE = 12  # bytes
LARGEST = 2**31 - 1  # bytes of a file: what can be encrypted at once
HEAD = 512  # bytes; the arrays that follow begin at a multiple of 64


class IndexFiles:
    """The index files of one store."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _file(self, name: str) -> Path:
        return Path(f"{self._path}.{name}{ENDING}")

    def read(self, name: str, key: str | None, head: Sequence[object]) -> tuple[int, memoryview] | None:
        """Return the number of the last change in the file and its content, which may be written to.

        None if there is no file, or another one than `head` describes, or it cannot be read.
        """
        try:
            with self._file(name).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > LARGEST:
                    return None
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
            if (content[: len(_SEALED)] == _SEALED) is not (key is not None):
                return None
            if key is not None:
                content = _opened(content, key)
            return _checked(content, list(head))
        except FileNotFoundError:
            return None
        except (
            Exception
        ):  # cut off, of another version, sealed with another key: whatever it is, it can be made again
            logger.info("an index file cannot be read", exc_info=True)
            return None

    def write(
        self, name: str, key: str | None, head: Sequence[object], seq: int, parts: Sequence[Any]
    ) -> None:
        """Replace a file. Raise `OSError` if that fails; the old file stays then."""
        parts = [_head(head, seq), *parts]
        if sum(memoryview(part).nbytes for part in parts) > LARGEST - len(_SEALED) - 2 * _NONCE - 16:
            return
        if key is not None:
            parts = _sealed(parts, key)
        file = self._file(name)
        fresh = Path(f"{file}.new")
        try:
            with one_at_a_time(Path(f"{self._path}.index.lock")):
                fresh.unlink(missing_ok=True)
                fresh.touch(0o600)
                with fresh.open("wb") as out:
                    out.writelines(parts)
                sync(fresh)
                fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete all: what was deleted for good may be in them."""
        for file in self._path.parent.glob(f"{self._path.name}.*{ENDING}*"):
            with suppress(FileNotFoundError):
                file.unlink()


def _head(head: Sequence[object], seq: int) -> bytes:
    line = _MAGIC + json.dumps([*head, seq]).encode()
    return line.ljust(HEAD - 1) + b"\n"


def _checked(content: memoryview, head: list[object]) -> tuple[int, memoryview] | None:
    line = bytes(content[:HEAD])
    if not line.startswith(_MAGIC):
        return None
    *known, seq = json.loads(line.removeprefix(_MAGIC))
    return (int(seq), content[HEAD:]) if known == head else None


def _cipher(key: str) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305(hashlib.sha256(_PURPOSE + bytes.fromhex(key)).digest())


def _sealed(parts: Sequence[Any], key: str) -> list[bytes]:
    nonce = os.urandom(_NONCE)
    return [_SEALED, nonce, _cipher(key).encrypt(nonce, b"".join(parts), _SEALED)]


def _opened(content: memoryview, key: str) -> memoryview:
    from cryptography.exceptions import InvalidTag

    begin = len(_SEALED) + _NONCE
    nonce = bytes(content[len(_SEALED) : begin])
    try:
        return memoryview(bytearray(_cipher(key).decrypt(nonce, content[begin:], _SEALED)))
    except InvalidTag as error:
        raise ValueError("sealed with another key, or damaged") from error
