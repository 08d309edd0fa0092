"""Sign-in at an identity provider from a terminal: the device flow of OAuth 2.0 (RFC 8628)."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

from recollect.errors import Refused, TeamError
from recollect.remote.client import checked_address

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_TIMEOUT = 10.0
_LARGEST = 256 * 1024  # bytes of an answer
_SLOWER = 5  # seconds that are added when the provider says so
_LONGEST = 900  # seconds that a person has at most


class Prompt(NamedTuple):
    """What a person is asked to do."""

    address: str  # to open in a browser
    code: str  # to enter there


def sign_in(issuer: str, client_id: str, scope: str, ask: Callable[[Prompt], None]) -> str:
    """Return an ID token, once the person has done what `ask` shows them. Raise `Refused` or `TeamError`."""
    document = _get(checked_address(issuer) + "/.well-known/openid-configuration")
    started = _post(
        _endpoint(document, "device_authorization_endpoint"), {"client_id": client_id, "scope": scope}
    )
    if "device_code" not in started:
        raise TeamError("The identity provider refuses this sign-in.", "Ask whoever runs the team server.")
    page = str(started.get("verification_uri_complete") or started.get("verification_uri", ""))
    ask(Prompt(page, str(started.get("user_code", ""))))
    pause = _seconds(started.get("interval"), 5)
    until = time.monotonic() + min(_seconds(started.get("expires_in"), _LONGEST), _LONGEST)
    given = {"grant_type": _GRANT, "client_id": client_id, "device_code": str(started["device_code"])}
    while time.monotonic() < until:
        time.sleep(pause)
        answer = _post(_endpoint(document, "token_endpoint"), given)
        if "id_token" in answer:
            return str(answer["id_token"])
        problem = answer.get("error")
        if problem == "slow_down":
            pause += _SLOWER
        elif problem != "authorization_pending":
            raise Refused("The sign-in was refused or has expired.", "Run `recollect login` again.")
    raise Refused("The sign-in has expired.", "Run `recollect login` again.")


def _seconds(value: Any, default: int) -> float:
    return float(value) if isinstance(value, int | float) and value >= 0 else float(default)


def _endpoint(document: dict[str, Any], name: str) -> str:
    if not isinstance(document.get(name), str):
        raise TeamError(
            "The identity provider does not offer sign-in from a terminal.",
            "Ask whoever runs the team server, or log in with a token.",
        )
    return checked_address(document[name])


def _get(url: str) -> dict[str, Any]:
    return _answer(urllib.request.Request(url, headers={"accept": "application/json"}))


def _post(url: str, fields: dict[str, str]) -> dict[str, Any]:
    return _answer(
        urllib.request.Request(
            url, urllib.parse.urlencode(fields).encode(), headers={"accept": "application/json"}
        )
    )


def _answer(request: urllib.request.Request) -> dict[str, Any]:
    """Return the JSON of an answer, also of one that says what is wrong."""
    try:
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
                found = json.loads(response.read(_LARGEST))
        except urllib.error.HTTPError as error:
            with error:
                found = json.loads(error.read(_LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise TeamError("The identity provider does not answer.", "Try again in a moment.") from error
    return found if isinstance(found, dict) else {}
