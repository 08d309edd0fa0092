"""Lines that anyone can write and only the owner of the store's key can read.

Hooks write events down while the key of an encrypted store is not at hand: its keychain is locked, or the variable is
set in another shell. The note beside the store has a public key for that. The private one is derived from the store's
key, so nothing else has to be kept, and who has the key can read every line.

Each line has a key of its own, agreed between a new X25519 key and the public one: what leaks of one line opens no
other, and the nonce may be constant.
"""

import base64
import hashlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

_PURPOSE = b"recollect sealed line"
_NONCE = bytes(12)
_PUBLIC = 32  # bytes of a public key


def public_key(key: str) -> str:
    """Return the public key that belongs to the store's key."""
    return _private(key).public_key().public_bytes_raw().hex()


def seal(line: bytes, public: str) -> bytes:
    """Return the line as base64 that only the store's key opens."""
    once = X25519PrivateKey.generate()
    mine, theirs = once.public_key().public_bytes_raw(), bytes.fromhex(public)
    cipher = _cipher(once.exchange(X25519PublicKey.from_public_bytes(theirs)), mine, theirs)
    return base64.b64encode(mine + cipher.encrypt(_NONCE, line, None))


def unseal(line: bytes, key: str) -> bytes:
    """Return the line that was sealed. Raise ValueError if it was cut off, altered, or sealed for another key."""
    data = base64.b64decode(line, validate=True)
    private, theirs = _private(key), data[:_PUBLIC]
    shared = private.exchange(X25519PublicKey.from_public_bytes(theirs))
    cipher = _cipher(shared, theirs, private.public_key().public_bytes_raw())
    try:
        return cipher.decrypt(_NONCE, data[_PUBLIC:], None)
    except InvalidTag as error:
        raise ValueError("not sealed with this key") from error


def _private(key: str) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(hashlib.sha256(b"recollect spool " + key.encode()).digest())


def _cipher(shared: bytes, once: bytes, public: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(hashlib.sha256(_PURPOSE + shared + once + public).digest())
