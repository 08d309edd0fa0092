"""What a value looks like: the few questions by which it is judged wherever it stands."""

import re
from itertools import pairwise
from math import fsum, log2
from urllib.parse import unquote

_FILLER = re.compile(r"[x*#•]{6,}|(?<![^\W_])x{3,}(?![^\W_])|\*{3}|\.{3}|…|0{10,}|#{4}|EXAMPLE$", re.I)
_REFERENCE = re.compile(
    r"""
      ^(?: [$<{%&*(\[|] | \\?\$ | @[\w.]+$ | ![A-Z] | \W*$ )   # $TOKEN, <key>, {{ x }}, %s, &anchor, !Ref
    | \$[({] | \$\{\{ | \{\{ | %\(\w+\)s | ^\{\w*\}$ | `\w
    | ^[A-Za-z_][\w.:]*(?:\(|\[|\{|->|=>)                      # a call, an index, a struct
    | ^(?:os|process|self|this|cls|settings|config|env|request|req|args|opts|options|ctx|data|secrets|vars?)\.\w
    | ^[./~][\w./-]*/ | ^\w+:// | ^file: | ^(?:[\w.-]+/)+[\w-]+\.[a-z]{1,5}$ | ^arn:
    | \.(?:py|js|ts|go|rs|rb|md|ya?ml|json|toml|pem|key|crt|cer|txt|env|ini|cfg|conf)$
    """,
    re.X,
)
# Words that stand where a value would: `"password": "your-password-here"`, `token: optional string`.
_PLACEHOLDER_WORDS = frozenset(
    """
    a admin an and any api app apikey auth bar basic bearer bool boolean bytes change changeme code credential
    credentials database db default demo dummy empty enter env example fake false field foo from
    generated guest here hidden hint id in input insert int invalid is key login manager masked missing my
    name nil no none not null number object of omitted optional or pass passphrase passwd password paste
    placeholder postgres prod pwd redacted removed replace required root sample sanitized secret secrets set some
    str string test text the this to todo token true type undefined unset user userinfo username value
    var varchar wrong xxx yes your
    """.split()
)
_TEMPLATE_WORDS = frozenset("your insert replace placeholder redacted changeme todo here".split())
_SENTENCE_WORDS = frozenset(
    """
    a an and are at be by can cannot do does enter for from has have if in invalid is it must no not of
    on or please required should than that the this to too try was were will with wrong you your
    """.split()
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
# A stretch like a word: it has vowels, and not only vowels. Or a year.
_WORDY = re.compile(
    r"(?:[A-Z](?=[a-z]))?(?=[a-z]{0,3}[aeiouy])[a-z]{3,}|(?=[A-Z]{0,3}[AEIOUY])[A-Z]{4,}|(?:19|20)\d\d"
)


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret and is none: `<your-key>`, `$TOKEN`, `xxxx`, `os.environ["X"]`."""
    if len(value) > 512:  # a template is short, and this question must not cost more on a huge value
        return False
    if has_filler(value) or (_REFERENCE.search(value) and not is_random(value, 40)):
        return True
    plain = re.sub(r"_\d$", "", unquote(value, errors="replace"))
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", plain)}
    if _TEMPLATE_WORDS.intersection(words):
        return True
    return not re.search(r"\d", plain) and (_PLACEHOLDER_WORDS.issuperset(words) or "password" in words)


def has_filler(text: str) -> bool:
    """Whether something in it was struck out: `xxxx`, `***`, `…`."""
    return bool(_FILLER.search(text))


def is_random(value: str, at_least: int = 21) -> bool:
    """Whether `value` looks drawn by a machine: mixed classes, high entropy, few stretches like words.

    Hashes are machine-made too, so plain hex and UUIDs do not count: most of them are commits and digests.
    """
    run = re.sub(r"[^A-Za-z0-9]", "", value[:512])
    if len(value) < at_least or _HEX.fullmatch(run) or _UUID.fullmatch(value) or not re.search(r"\d", run):
        return False
    if _entropy(run) < min(3.5, log2(len(run)) - 0.9):
        return False
    if re.search(r"[a-z]", run) and re.search(r"[A-Z]", run):
        return is_jumbled(value[:512])
    # One case only: `us-east-1-db2` has that too, so the digits must be many and well mixed in.
    longest = max(re.findall(r"[A-Za-z0-9]+", value[:512]), key=len)
    digits = sum(map(str.isdigit, longest)) / len(longest)
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(longest))
    if len(longest) < min(at_least, 20) or _HEX.fullmatch(longest):
        return False
    return 0.07 <= digits <= 0.65 and turns >= 4


def is_jumbled(value: str) -> bool:
    """Whether words make up less than half of `value`, or it changes case too often for letters alone."""
    wordy = sum(len(word) for word in _WORDY.findall(value))
    humps = len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)) if value.isalpha() and len(value) >= 16 else 0
    return wordy < 0.5 * len(value) or len(value) < 3.5 * humps


def is_name(value: str) -> bool:
    """Whether `value` reads as code: `handler.password`, `PKCS7PrivateKeyTypes`, `access_token`."""
    if re.fullmatch(r"[A-Za-z_.:/-]+", value):
        return len(value) < 10 or not is_jumbled(value)
    dotted = re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", value)
    return bool(dotted and re.search(r"\.|[a-z][A-Z][a-z]{2}", value)) and not is_jumbled(value)


def is_figure(value: str) -> bool:
    """A number with its unit, a version, a date, a colour, an algorithm: not secret, though it has a digit."""
    return bool(_FIGURE.fullmatch(value))


def is_ordinary(value: str) -> bool:
    return is_name(value) or is_figure(value)


def is_sentence(value: str) -> bool:
    """Whether a value with spaces is a message; else it is a passphrase."""
    return not _SENTENCE_WORDS.isdisjoint(value.lower().split())


def is_digest(value: str) -> bool:
    """Plain hex of 32 or more, or a UUID: a secret only where a name says so."""
    return bool(_UUID.fullmatch(value) or (len(value) >= 32 and re.fullmatch(r"[0-9a-fA-F]+", value)))


def looks_chosen(value: str) -> bool:
    """Whether a person could have chosen `value` as a password, and would hardly write it otherwise."""
    return bool(
        re.search(r"[^\W\d_]", value)
        and (re.search(r"\d|[!@#$%^&*+~?]", value) or re.fullmatch(r"[a-z]+(?:-[a-z]+){3,}", value))
        and not is_figure(value)
        and not is_placeholder(value)
    )


def is_path(value: str) -> bool:
    """A file, a call, a number with its unit: what has a digit or a sign for another reason."""
    return bool(re.search(r"[/\\].*\.\w|\(\)|^\d+[-.]?[a-z]{0,8}$|^\w+(?:/\w+)+$", value))


def is_key(value: str) -> bool:
    """Whether `value` is machine-made, where something says that it is a key; a digest may stand in it."""
    if is_placeholder(value) or is_ordinary(value):
        return False
    return is_random(value, 12) or bool(_DIGEST_WITHIN.search(value))


def _entropy(text: str) -> float:
    """Bits per character."""
    counts = [text.count(char) for char in set(text)]
    return -fsum(count / len(text) * log2(count / len(text)) for count in counts)
