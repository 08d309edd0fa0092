"""Which team server a home uses, and where its token is kept: in the keychain, or in a private file without one."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from recollect.config import Settings
from recollect.errors import BadSetting, TokenRefused
from recollect.frozen import frozen
from recollect.store.keys import find_key, make_key, read_note, write_note, write_private

FILE = "login.json"  # in the home
TOKEN_VARIABLE = "RECOLLECT_TOKEN"
_SERVICE = "recollect-team"


@frozen
class Login:
    """A person's login, without the token."""

    address: str
    team: str  # its name
    tenant: str
    user: str
    name: str
    role: str
    where: str  # "keychain", or the path of the token's file
    private_mode: bool = False  # private memories stay on this machine
    embeddings: str = "server"  # where vectors are made: "server", or "client" for this machine

    @property
    def id(self) -> str:
        """What the folder of this login is called."""
        return hashlib.sha256(f"{self.address} {self.tenant} {self.user}".encode()).hexdigest()[:16]


def read_login(home: Path) -> Login | None:
    """Return the login of a home, or None: its memories are in the local store then. Raise `BadSetting`."""
    try:
        return Login(**json.loads((home / FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise BadSetting(
            f"{home / FILE} cannot be read.", "Run `recollect logout`, then `recollect login URL`."
        ) from error


def write_login(home: Path, login: Login, token: str) -> Login:
    """Store the login and its token; return it with where the token is."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    login = replace(login, where=_store_token(home, login, token))
    write_private(home / FILE, json.dumps(asdict(login)))
    return login


def set_private_mode(home: Path, login: Login, on: bool) -> None:
    """Keep private memories on this machine from now on, or send them to the server."""
    write_private(home / FILE, json.dumps(asdict(replace(login, private_mode=on))))


def remove_login(home: Path) -> None:
    """Forget the token and return to the local store. What waits for the team stays, sealed."""
    with contextlib.suppress(BadSetting):
        if login := read_login(home):
            _drop_token(home, login)
    (home / FILE).unlink(missing_ok=True)


def token_of(home: Path, login: Login, environment: Mapping[str, str]) -> str:
    """Return the token. Raise `TokenRefused` if it is not there."""
    if given := environment.get(TOKEN_VARIABLE):
        return given
    if login.where == "keychain":
        import keyring
        from keyring.errors import KeyringError

        try:
            found = keyring.get_password(_SERVICE, _account(home, login))
        except KeyringError as error:
            raise TokenRefused(
                f"The keychain does not answer: {error}.", f"Unlock it, or set {TOKEN_VARIABLE}."
            ) from error
    else:
        try:
            found = Path(login.where).read_text(encoding="utf-8").strip()
        except OSError:
            found = None
    if not found:
        raise TokenRefused(
            "The token of this login is gone.", f"Run `recollect login {login.address}` again."
        )
    return found


def team_settings(settings: Settings, login: Login) -> Settings:
    """Return the settings of what stays on this machine: an encrypted store of its own for each login."""
    folder = settings.home / "teams" / login.id
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = replace(settings, home=folder, user=login.user)
    if read_note(settings.database) is None:
        _make_key(settings.database, settings.home.parent.parent)
    return settings


def team_key(settings: Settings, environment: Mapping[str, str]) -> str | None:
    return find_key(settings.database, environment)


def _make_key(database: Path, home: Path) -> None:
    try:
        _, note = make_key(database, os.environ, None)
    except BadSetting:  # no keychain on this machine
        folder = home / "keys"
        folder.mkdir(exist_ok=True, mode=0o700)
        _, note = make_key(database, {}, folder / f"{database.parent.name}.key")
    write_note(database, note)


def _account(home: Path, login: Login) -> str:
    return f"{home.resolve()} {login.id}"


def _store_token(home: Path, login: Login, token: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    with contextlib.suppress(KeyringError):
        keyring.set_password(_SERVICE, _account(home, login), token)
        if keyring.get_password(_SERVICE, _account(home, login)) == token:
            return "keychain"
    file = home / "keys" / f"{login.id}.token"
    file.parent.mkdir(exist_ok=True, mode=0o700)
    write_private(file, token)
    return str(file)


def _drop_token(home: Path, login: Login) -> None:
    if login.where == "keychain":
        import keyring
        from keyring.errors import KeyringError

        with contextlib.suppress(KeyringError):
            keyring.delete_password(_SERVICE, _account(home, login))
    else:
        Path(login.where).unlink(missing_ok=True)
