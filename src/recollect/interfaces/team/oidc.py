"""Sign-in with an identity provider: the server verifies an ID token with the keys that the provider publishes."""

import hashlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import jwt

from recollect.errors import BadSetting, TeamError, TokenRefused
from recollect.remote.client import checked_address

# Signatures with a private key of the provider's. Never "none", and no HMAC, for which its public key could be used.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEYS_SECONDS = 3600.0  # after which keys are read again
NEW_KEY_SECONDS = 30.0  # after which an unknown key may be one that the provider has just made
TIMEOUT = 5.0
LARGEST = 256 * 1024  # bytes of a document of the provider's
LONGEST_TOKEN = 16 * 1024
LEEWAY = 30  # seconds that clocks may differ
_REQUIRED = ["iss", "aud", "sub", "exp", "iat"]


class OpenIdProvider:
    """Verifies ID tokens of one issuer for one client id. It can be used from any thread."""

    def __init__(self, issuer: str, client_id: str, now: Callable[[], float] = time.monotonic) -> None:
        self.issuer = checked_address(issuer) if not issuer.endswith("/") else checked_address(issuer) + "/"
        self.client_id = client_id
        self._now = now
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def identity(self, id_token: str) -> str:
        """Return the hash of issuer and subject of a valid token. Raise `TokenRefused`, or `TeamError` without the keys."""
        if len(id_token) > LONGEST_TOKEN:
            raise TokenRefused("The ID token is too long.", "Sign in again.")
        try:
            header = jwt.get_unverified_header(id_token)
            key = self._key(str(header.get("kid", "")))
            claims = jwt.decode(
                id_token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self.client_id,
                issuer=self.issuer,
                leeway=LEEWAY,
                options={"require": _REQUIRED},
            )
        except jwt.PyJWTError as error:
            raise TokenRefused(
                f"The identity provider's token is not valid: {type(error).__name__}.", "Sign in again."
            ) from error
        if claims.get("azp", self.client_id) != self.client_id:
            raise TokenRefused("The identity provider's token is for another program.", "Sign in again.")
        return hashlib.sha256(json.dumps([self.issuer, claims["sub"]]).encode()).hexdigest()

    def _key(self, name: str) -> jwt.PyJWK:
        with self._lock:
            age = self._now() - self._read_at
            if age >= KEYS_SECONDS or (name not in self._keys and age >= NEW_KEY_SECONDS):
                self._keys = self._read_keys()
                self._read_at = self._now()
            if name not in self._keys:
                raise TokenRefused("The identity provider has no such key.", "Sign in again.")
            return self._keys[name]

    def _read_keys(self) -> dict[str, jwt.PyJWK]:
        document = _fetch(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if document.get("issuer") != self.issuer:
            raise TeamError(
                "The identity provider calls itself otherwise than in the settings.", "Correct --oidc-issuer."
            )
        keys = _fetch(checked_address(str(document.get("jwks_uri", "")))).get("keys", [])
        found = {}
        for data in keys if isinstance(keys, list) else []:
            if isinstance(data, dict) and data.get("use", "sig") == "sig" and data.get("kty") != "oct":
                try:
                    found[str(data.get("kid", ""))] = jwt.PyJWK(data)
                except jwt.PyJWTError:  # of a kind that we do not know
                    continue
        return found


def _fetch(url: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            found = json.loads(response.read(LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise TeamError(
            "The identity provider does not answer.", "Try again in a moment, or log in with a token."
        ) from error
    if not isinstance(found, dict):
        raise BadSetting("The identity provider's answer is not understood.", "Correct --oidc-issuer.")
    return found
