"""Where the key of an encrypted store is kept, and how a wrong key is distinguished from a damaged file.

A note beside the store says where to look for the key and how to recognise it. It contains nothing of the key itself.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.config import expand_home
from recollect.errors import BadSetting, WrongKey
from recollect.store import open_files
from recollect.store.file_lock import identity_of

if TYPE_CHECKING:
    from recollect.model import KeyNote  # takes 45 ms to import, and the code graph needs none of it

_PLAIN_HEADER = b"SQLite format 3\x00"
_SERVICE = "recollect"
_RAW_KEY = re.compile(r"[0-9a-fA-F]{64}")

VARIABLE = "RECOLLECT_KEY"
FILE_VARIABLE = "RECOLLECT_KEY_FILE"


def is_plain(path: Path) -> bool:
    """Return whether the file begins like an unencrypted SQLite file. A file that is in use here is not opened for it."""
    if (known := open_files.is_plain(identity_of(path))) is not None:
        return known
    with path.open("rb") as file:
        return file.read(len(_PLAIN_HEADER)) == _PLAIN_HEADER


def is_encrypted(path: Path) -> bool:
    """Return whether the file is encrypted: it has a note and lacks SQLite's header.

    Without a note, such a file is damaged. With a note, a missing or empty file counts as encrypted.
    """
    if read_note(path) is None:
        return False
    return not path.exists() or path.stat().st_size == 0 or not is_plain(path)


def note_path(path: Path) -> Path:
    return Path(f"{path}.key.json")


def read_note(path: Path) -> "KeyNote | None":
    """Return the note, or None if the store was never encrypted. Raise `WrongKey` if it cannot be read."""
    from recollect.model import KeyNote

    try:
        return KeyNote(**json.loads(note_path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise WrongKey(
            f"{note_path(path)} cannot be read: {error}.", "Restore it from a backup of the folder."
        ) from error


def write_note(path: Path, note: "KeyNote") -> None:
    """Write the note and sync it to disk: without its salt a passphrase is useless."""
    write_private(note_path(path), json.dumps(asdict(note)))


def intent_path(path: Path) -> Path:
    """Return the file that says how a change of the encryption ends; it exists while one is under way."""
    return Path(f"{path}.rekeying.json")


def write_intent(path: Path, *, encrypted: bool) -> None:
    write_private(intent_path(path), json.dumps({"encrypted": encrypted}))


def read_intent(path: Path) -> bool | None:
    """Return whether an interrupted change was to end encrypted; None if there was none."""
    try:
        return bool(json.loads(intent_path(path).read_text(encoding="utf-8"))["encrypted"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # killed while it was written: nothing had been changed yet
        intent_path(path).unlink(missing_ok=True)
        return None


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all, and sync it."""
    fresh = Path(f"{path}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(0o600)
    fresh.write_text(text, encoding="utf-8")
    sync(fresh)
    fresh.replace(path)
    sync(path)


def sync(path: Path) -> None:
    """Sync the file and its directory entry to disk."""
    for each in (path, path.parent) if os.name == "posix" else ():
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_of(key: str) -> str:
    return hashlib.sha256(b"recollect key check " + key.encode()).hexdigest()[:16]


def find_key(path: Path, environment: Mapping[str, str]) -> str | None:
    """Return the key of the store as 64 hex digits, or None if it is not encrypted. Raise `WrongKey`."""
    note = read_note(path)
    if note is None or not is_encrypted(path):
        return None
    return key_for(path, note, environment)


def complete_note(path: Path, key: str) -> None:
    """Add the public key to the note of a version that did not seal what hooks write down."""
    note = read_note(path)
    if note is not None and not note.public and check_of(key) == note.check:
        with contextlib.suppress(OSError):  # a read-only home
            write_note(path, replace(note, public=_public(key)))


def key_for(path: Path, note: "KeyNote", environment: Mapping[str, str]) -> str:
    """Return the key that the note describes, whether the store is encrypted by now or not. Raise `WrongKey`."""
    text = environment.get(VARIABLE) or _from_file(environment.get(FILE_VARIABLE))
    if text is None and note.where == "keychain":
        text = _keychain_get(path)
    elif text is None and note.where != "variable":
        text = _from_file(note.where)
    if text is None:
        raise WrongKey(
            f"{path.name} is encrypted and its key was not found (it was stored in: {note.where}).",
            f"Provide it with {VARIABLE}, {FILE_VARIABLE} or the keychain.",
        )
    key = _as_key(text, note.salt)
    if check_of(key) != note.check:
        raise WrongKey(
            f"This is the wrong key for {path.name}; nothing was changed.",
            f"Check {VARIABLE} or the key's file.",
        )
    return key


def make_key(path: Path, environment: Mapping[str, str], key_file: Path | None) -> "tuple[str, KeyNote]":
    """Return a new key for the store, from the variable or file the user gave, or stored in the keychain."""
    from recollect.model import KeyNote

    salt = os.urandom(16).hex()
    if environment.get(VARIABLE):
        text, where = environment[VARIABLE], "variable"
    elif key_file or environment.get(FILE_VARIABLE):
        file = expand_home(key_file or environment[FILE_VARIABLE])
        if file.resolve().is_relative_to(path.parent.resolve()):
            raise BadSetting(
                "A key in the same folder as the store protects nothing.",
                "Keep the key file outside RECOLLECT_HOME.",
            )
        text, where = _from_file(str(file)) or _write_key(file), str(file)
    else:
        text, where = os.urandom(32).hex(), "keychain"
        _keychain_set(path, text)
    key = _as_key(text, salt)
    return key, KeyNote(check_of(key), salt, where, _public(key))


def drop_key(path: Path, note: "KeyNote") -> None:
    """Delete the key from the keychain. A key in a file or variable belongs to the user."""
    if note.where == "keychain":
        import keyring
        from keyring.errors import KeyringError

        with contextlib.suppress(KeyringError):
            keyring.delete_password(_SERVICE, str(path.resolve()))


def _public(key: str) -> str:
    from recollect.store.sealing import public_key  # loads ciphers, which only an encrypted store needs

    return public_key(key)


def _as_key(text: str, salt: str) -> str:
    """Return 64 hex digits as they are, and derive the key from anything else, a passphrase."""
    text = text.strip()
    if _RAW_KEY.fullmatch(text):
        return text.lower()
    # 50 ms: slow for an attacker, fast enough for a command.
    return hashlib.scrypt(
        text.encode("utf-8", "surrogatepass"), salt=bytes.fromhex(salt), n=2**14, r=8, p=1, dklen=32
    ).hex()


def _from_file(name: str | None) -> str | None:
    if not name:
        return None
    try:
        return expand_home(name).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadSetting(
            f"The key's file {name} cannot be read: {error}.", "Check the path and its permissions."
        ) from error


def _write_key(file: Path) -> str:
    text = os.urandom(32).hex()
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadSetting(
            f"Cannot write the key to {file}: {error}.", "Name another file with --key-file."
        ) from error
    with os.fdopen(descriptor, "w") as out:
        out.write(text + "\n")
        out.flush()
        os.fsync(out.fileno())
    return text


def _keychain_get(path: Path) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, str(path.resolve()))
    except KeyringError as error:
        raise WrongKey(f"The keychain does not answer: {error}.", f"Unlock it, or set {VARIABLE}.") from error


def _keychain_set(path: Path, text: str) -> None:
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_SERVICE, str(path.resolve()), text)
        kept = keyring.get_password(_SERVICE, str(path.resolve())) == text
    except KeyringError:
        kept = False
    if not kept:
        raise BadSetting(
            "This machine has no keychain for the key.",
            f"Use `recollect encrypt --key-file FILE` (outside RECOLLECT_HOME), or set {VARIABLE}.",
        )
