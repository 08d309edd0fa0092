"""What a value looks like: is it a placeholder, a name, a number, or random?"""

import base64
import re
import tomllib
from itertools import pairwise
from math import fsum, log2
from pathlib import Path
from typing import Any
from urllib.parse import unquote

DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("data").joinpath("redaction.toml").read_text("utf-8")
)
WORDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in DATA["words"].items()}

_FILLER = re.compile(
    r"[x*#•]{6,}|(?<![^\W_])x{3,}(?![^\W_])|\*{3}|\.{3}|…|0{10,}|#{4}|EXAMPLE(?:KEY)?$", re.I
)
_REFERENCE = re.compile(
    r"""
      ^(?: [$<{%&*(\[|] | \\?\$ | @[\w.]+$ | !(?:[A-Z]|vault$|secret$) | \W*$ )   # $TOKEN, <key>, {{ x }}, %s, &anchor, !Ref
    | \$[({] | \$\{\{ | \{\{ | %\(\w+\)s | ^\{\w*\}$ | `\w
    | ^[A-Za-z_][\w.:]*(?:\(|\[|\{|->|=>)                      # a call, an index, a struct
    | ^(?:os|process|self|this|cls|settings|config|env|request|req|args|opts|options|ctx|data|secrets|vars?)\.\w
    | ^[./~][\w./-]*/ | ^\w+:// | ^file: | ^(?:[\w.-]+/)+[\w-]+\.[a-z]{1,5}$ | ^arn:
    | \.(?:py|js|ts|go|rs|rb|md|ya?ml|json|toml|pem|key|crt|cer|txt|env|ini|cfg|conf)$
    """,
    re.X,
)
_FIGURE = re.compile(
    r"""
      [-+]?[\d_,.]+(?:\s?(?:ms|s|secs?|m|mins?|h|hours?|d|days?|w|weeks?|k|[kmg]i?b|bits?|bytes?|chars?|%|x|px))?
    | v?\d+(?:\.\w+)+ | \d{4}-\d\d-\d\d.* | 0x[0-9a-f]+ | \#[0-9a-f]{3,8}
    | (?:argon2|bcrypt|scrypt|pbkdf2|sha-?\d+|md5|aes-?\d*|rsa-?\d*|hmac|[hre]s(?:256|384|512)|oauth-?[12]?|oidc|saml2?
        |base(?:32|64)|utf-?8|ed25519|x25519|secp256\w\d|x509|http2?|tls1|totp|2fa|mfa|s3|ec2|k8s|1password|auth0|ipv[46])
      (?:id|[-_./][\w./-]*)?
    """,
    re.X | re.I,
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
# pat_5f2b…, access-sandbox-77eb2261-…
_DIGEST_WITHIN = re.compile(r"[0-9a-f]{32}|[0-9A-F]{32}|" + _UUID.pattern)
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)")
# Letters that could be a word, with a vowel near the start; or a year.
_WORDY = re.compile(
    r"(?:[A-Z](?=[a-z]))?(?=[a-z]{0,3}[aeiouy])[a-z]{3,}|(?=[A-Z]{0,3}[AEIOUY])[A-Z]{4,}|(?:19|20)\d\d"
)


def is_placeholder(value: str) -> bool:
    """Return whether `value` stands for a secret but is none: `<your-key>`, `$TOKEN`, `xxxx`, `os.environ["X"]`."""
    if len(value) > 512:  # a template is short, and a huge value must not cost more
        return False
    if has_filler(value) or (_REFERENCE.search(value) and not is_random(value, 40)):
        return True
    plain = re.sub(r"_\d$", "", unquote(value, errors="replace"))
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", plain)}
    if WORDS["templates"].intersection(words):
        return True
    return not re.search(r"\d", plain) and (WORDS["placeholders"].issuperset(words) or "password" in words)


def has_filler(text: str) -> bool:
    """Return whether part of it is blanked out: `xxxx`, `***`, `…`."""
    return bool(_FILLER.search(text))


# One part of a name whose parts are joined: HTTP, 200, v2, NotFound, users.
_PART = re.compile(
    r"[A-Z]{1,5}|[a-z]{1,5}|\d{1,4}|[vV]\d{1,3}|[A-Z]{2,5}\d{1,4}|[A-Z]{4,}|(?:[A-Z]{0,5}[a-z]{2,}+)+(?:\d{1,2})?"
)


def _is_joined(value: str) -> bool:
    """Return whether `value` is made of words and short numbers: `test_HTTP_200_OK_GET_ALTERNATIVE`."""
    parts = re.split(r"[_.-]+", value.strip("_-"))
    if len(parts) < 3 or max(map(len, parts)) > 32 or not all(map(_PART.fullmatch, parts)):
        return False
    return sum(len(word) for word in _WORDY.findall(value)) >= 0.35 * len(value)


def is_random(value: str, at_least: int = 21) -> bool:
    """Return whether `value` looks random: mixed classes of characters, high entropy, few parts like words.

    Plain hex and UUIDs do not count: most of them are commits and digests.
    """
    run = re.sub(r"[^A-Za-z0-9]", "", value[:512])
    if len(value) < at_least or _HEX.fullmatch(run) or _UUID.fullmatch(value) or not re.search(r"\d", run):
        return False
    if _is_joined(value[:512]):
        return False
    if _entropy(run) < min(3.5, log2(len(run)) - 0.9):
        return False
    if re.search(r"[a-z]", run) and re.search(r"[A-Z]", run):
        return is_jumbled(value[:512])
    # One case only, as in `us-east-1-db2`: there must be many digits, well mixed in.
    longest = max(re.findall(r"[A-Za-z0-9]+", value[:512]), key=len)
    digits = sum(map(str.isdigit, longest)) / len(longest)
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(longest))
    if len(longest) < min(at_least, 20) or _HEX.fullmatch(longest):
        return False
    return 0.07 <= digits <= 0.65 and turns >= 4


def is_jumbled(value: str) -> bool:
    """Return whether words make up less than half of `value`, or it changes case too often."""
    wordy = sum(len(word) for word in _WORDY.findall(value))
    humps = len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)) if value.isalpha() and len(value) >= 16 else 0
    return wordy < 0.5 * len(value) or len(value) < 3.5 * humps


def is_name(value: str) -> bool:
    """Return whether `value` is a name in code: `handler.password`, `PKCS7PrivateKeyTypes`, `access_token`."""
    if re.fullmatch(r"[A-Za-z_.:/-]+", value):
        return len(value) < 10 or not is_jumbled(value)
    dotted = re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", value)
    return bool(dotted and re.search(r"\.|[a-z][A-Z][a-z]{2}", value)) and not is_jumbled(value)


def is_figure(value: str) -> bool:
    """Return whether `value` is a number with a unit, a version, a date, a colour or an algorithm."""
    return bool(_FIGURE.fullmatch(value))


def is_ordinary(value: str) -> bool:
    """Return whether `value` is a name or a figure."""
    return is_name(value) or is_figure(value)


def is_sentence(value: str) -> bool:
    """Return whether a value with spaces is a message rather than a passphrase."""
    return not WORDS["sentences"].isdisjoint(value.lower().split())


def is_digest(value: str) -> bool:
    """Return whether `value` is a UUID or at least 32 hex digits: a secret only if a name says so."""
    return bool(_UUID.fullmatch(value) or (len(value) >= 32 and re.fullmatch(r"[0-9a-fA-F]+", value)))


def looks_chosen(value: str) -> bool:
    """Return whether `value` looks like a password that a person chose, and like little else."""
    return bool(
        re.search(r"[^\W\d_]", value)
        and (re.search(r"\d|[!@#$%^&*+~?]", value) or re.fullmatch(r"[a-z]+(?:-[a-z]+){3,}", value))
        and not is_figure(value)
        and not is_placeholder(value)
    )


def is_path(value: str) -> bool:
    """Return whether `value` is a file, a call or a number with a unit, and has digits or signs for that reason."""
    return bool(re.search(r"[/\\].{0,300}\.\w|\(\)|^\d+[-.]?[a-z]{0,8}$|^\w+(?:/\w+)+$", value))


def has_digest(value: str) -> bool:
    """Return whether `value` contains a UUID or 32 hex digits."""
    return bool(_DIGEST_WITHIN.search(value))


def is_encoded_prose(value: str) -> bool:
    """Return whether `value` is the base64 of a sentence, which a fixture may hold; a password has no spaces."""
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii")
    except ValueError:
        return False
    return text.count(" ") >= 2 and re.fullmatch(r"[A-Za-z][A-Za-z ,.!?'\n-]+", text) is not None


def is_key(value: str) -> bool:
    """Return whether `value` is random or contains a digest. Ask only if something says that it is a key."""
    if is_placeholder(value) or is_ordinary(value):
        return False
    return is_random(value, 12) or has_digest(value)


def _entropy(text: str) -> float:
    """Return the bits per character."""
    counts = [text.count(char) for char in set(text)]
    return -fsum(count / len(text) * log2(count / len(text)) for count in counts)
