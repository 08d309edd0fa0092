"""Tokens and invitation codes: random texts, of which only hashes are stored."""

import hashlib
import secrets

TOKEN_PREFIX = "rct_"
CODE_PREFIX = "rci_"
LINK_TOKEN = "link for a browser"  # the name of tokens that log one browser in, once


def new_secret(prefix: str = TOKEN_PREFIX) -> tuple[str, str]:
    """Return a new secret and the hash to store."""
    text = prefix + secrets.token_urlsafe(32)
    return text, hash_of(text)


def hash_of(secret: str) -> str:
    """Return the hash of a secret. It has 256 random bits, so a fast hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
