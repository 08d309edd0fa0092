"""What a secret looks like, as data: one table of rules, and the tests of a value that they share.

A rule finds its secret in the group `secret`; what stands around it (a key, a header, a host) stays
readable. Two things hold for every pattern, because the text may be ten megabytes on one line:

* it starts with something definite, and what may repeat is bounded or possessive (`*+`), so that
  matching is linear;
* `hints` are lower-case pieces of which at least one must occur in the text for the pattern to be tried.
  Most memories have none of them, and cost a few substring searches.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Rule:
    type: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    accepts: Callable[[re.Match[str]], bool] = lambda match: True


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A value is judged by the same few questions wherever it stands.

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
_PLACEHOLDER_WORDS = _words(
    """
    a admin an and any api app apikey auth bar basic bearer bool boolean bytes change changeme code credential
    credentials database db default demo dummy empty enter env example fake false field foo from
    generated guest here hidden hint id in input insert int invalid is key login manager masked missing my
    name nil no none not null number object of omitted optional or pass passphrase passwd password paste
    placeholder postgres prod pwd redacted removed replace required root sample sanitized secret secrets set some
    str string test text the this to todo token true type undefined unset user userinfo username value
    var varchar wrong xxx yes your
    """
)
_TEMPLATE_WORDS = _words("your insert replace placeholder redacted changeme todo here")
# A quoted value with spaces is a message when it has one of these, a passphrase when it has none.
_SENTENCE_WORDS = _words(
    """
    a an and are at be by can cannot do does enter for from has have if in invalid is it must no not of
    on or please required should than that the this to too try was were will with wrong you your
    """
)
# What follows "the password is" in a sentence about passwords. Endings catch the rest: "mandatory", "stored".
_PREDICATE = re.compile(
    r"""(?:blank|bad|case|checked|correct|cut|default|different|down|empty|encrypted|fine|gone|good|hard|here|identical
    |kept|known|leaked|long|lost|never|new|ok|okay|old|one|plain|plaintext|public|random|read|rotated|safe|salted|same
    |secure|sent|set|shared|short|shown|simple|split|still|strong|stale|there|too|uppercase|unique|unknown|weak|welcome)
    | .*(?:ed|able|ible|ing|al|ive|ory|ary|ent|ant|ful|less|ly|ic|ous|id|ect|en)""",
    re.X | re.I,
)
# Not secret, though it has a digit: a number with its unit, a version, a date, a colour, an algorithm.
_ORDINARY = re.compile(
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
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)")
# A stretch like a word: it has vowels, and not only vowels. Or a year.
_WORDY = re.compile(
    r"(?:[A-Z](?=[a-z]))?(?=[a-z]{0,3}[aeiouy])[a-z]{3,}|(?=[A-Z]{0,3}[AEIOUY])[A-Z]{4,}|(?:19|20)\d\d"
)


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret and is none: `<your-key>`, `$TOKEN`, `xxxx`, `os.environ["X"]`."""
    if len(value) > 512:  # a template is short, and this question must not cost more on a huge value
        return False
    if _FILLER.search(value) or (_REFERENCE.search(value) and not is_random(value, 40)):
        return True
    plain = re.sub(r"_\d$", "", unquote(value, errors="replace"))
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", plain)}
    if _TEMPLATE_WORDS.intersection(words):
        return True
    return not re.search(r"\d", plain) and (_PLACEHOLDER_WORDS.issuperset(words) or "password" in words)


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
        return _is_jumbled(value[:512])
    # One case only: `us-east-1-db2` has that too, so the digits must be many and well mixed in.
    longest = max(re.findall(r"[A-Za-z0-9]+", value[:512]), key=len)
    digits = sum(map(str.isdigit, longest)) / len(longest)
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(longest))
    if len(longest) < min(at_least, 20) or _HEX.fullmatch(longest):
        return False
    return 0.07 <= digits <= 0.65 and turns >= 4


def _is_jumbled(value: str) -> bool:
    """Whether words make up less than half of `value`, or it changes case too often for letters alone."""
    wordy = sum(len(word) for word in _WORDY.findall(value))
    humps = len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)) if value.isalpha() and len(value) >= 16 else 0
    return wordy < 0.5 * len(value) or len(value) < 3.5 * humps


def is_name(value: str) -> bool:
    """Whether `value` reads as code: `handler.password`, `PKCS7PrivateKeyTypes`, `access_token`."""
    if re.fullmatch(r"[A-Za-z_.:/-]+", value):
        return len(value) < 10 or not _is_jumbled(value)
    dotted = re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", value)
    return bool(dotted and re.search(r"\.|[a-z][A-Z][a-z]{2}", value)) and not _is_jumbled(value)


def is_ordinary(value: str) -> bool:
    return is_name(value) or bool(_ORDINARY.fullmatch(value))


def is_digest(value: str) -> bool:
    """Plain hex of 32 or more, or a UUID: a secret only where a name says so."""
    return bool(_UUID.fullmatch(value) or (len(value) >= 32 and re.fullmatch(r"[0-9a-fA-F]+", value)))


def looks_chosen(value: str) -> bool:
    """Whether a person could have chosen `value` as a password, and would hardly write it otherwise."""
    return bool(
        re.search(r"[^\W\d_]", value)
        and (re.search(r"\d|[!@#$%^&*+~?]", value) or re.fullmatch(r"[a-z]+(?:-[a-z]+){3,}", value))
        and not _ORDINARY.fullmatch(value)
        and not is_placeholder(value)
    )


def _entropy(text: str) -> float:
    """Bits per character."""
    counts = [text.count(char) for char in set(text)]
    return -sum(count / len(text) * log2(count / len(text)) for count in counts)


# Assignments: `NAME = value` in any notation. The name must end in the word, so `password_reset_url` is none.


def _in_any_case(word: str) -> str:
    """The first letter is spelled out: only then can `re` skip to it, and most of a text is skipped."""
    return f"[{word[0].upper()}{word[0]}](?i:{word[1:]})"


# kind, how the name ends, hints
_NAMES = (
    ("password", r"pass(?:word|wd|phrase|code)?", "pass"),
    ("password", r"pwd?", "pw"),
    ("token", r"token", "token"),
    ("secret", r"secret", "secret"),
    ("secret", r"credentials?", "credential"),
    ("api-key", r"key(?:[_-]?data)?", "key"),
    ("auth", r"auth", "auth"),
)
_ASSIGNED = r"""(?i:
    (?:[_-]?(?:value|string|plain|raw|base(?:64)?|b64|\d{1,3}))?
    (?: \\?["'`]\]? | \] )?
    (?: \s{0,4}:\s{0,4}[a-z][\w.\[\]| ]{0,40}? (?=\s{0,4}=) | \s{1,4}string\b )?   # password: str = …
    (?P<separator> [ \t]{0,20} (?: :=|=>|->|={1,3}|: ) [ \t]{0,20} (?:[>|]-?\s{1,20})? )
    (?: [bru]?\\?"(?P<double>[^"\n]*+)" | [bru]?'(?P<single>[^'\n]*+)' | `(?P<tick>[^`\n]*+)`
      | (?P<bare>["'`]?[^\s"'`,;&<>]++) )
)"""
# `cache_key = 5f2b…` is a hash; `api_key = 5f2b…` is not.
_KEY_OF_SECRET = re.compile(
    r"(?:api|access|secret|private|priv|signing|sign|encryption|encrypt|master|account|auth|license|shared|"
    r"client|service|webhook|storage|admin|deploy|jwt|hmac|session|app|application|consumer|subscription)[_.\s-]?$",
    re.I,
)
_KEY_OF_OTHERS = re.compile(
    r"(?:public|pub|cache|primary|foreign|sort|partition|idempotency|object|row|group|lookup|index|hash|dedupe|"
    r"query|search|schema|map|host|known|i18n|translation|natural|unique|hot|short|arrow|page|next|cursor|"
    r"continuation|cancellation|css|design|max|min|num|total|prompt|completion)[_.\s-]?$",
    re.I,
)


def _assigned(kind: str) -> Callable[[re.Match[str]], bool]:
    def accepts(match: re.Match[str]) -> bool:
        value = value_of(match).rstrip("\\")
        bare = match["bare"] is not None
        owner = _word_before(match)
        if len(value) < 4 or is_placeholder(value) or _KEY_OF_OTHERS.search(owner) or _is_part_of_word(match):
            return False
        if bare:
            value = value.strip("\"'`()[]{}").rstrip(".:!?")
        if kind == "auth" or (kind == "api-key" and not _KEY_OF_SECRET.search(owner)):
            return is_random(value, 16) or (bool(owner.strip()) and kind == "api-key" and is_digest(value))
        if " " in value:
            return kind == "password" and not _SENTENCE_WORDS.intersection(value.lower().split())
        if _ORDINARY.fullmatch(value):
            return kind == "password" and value.isdecimal()
        if not bare:
            # A quoted name is what the code calls it: `token = "access_token"`. A password may be a word.
            return kind == "password" or not is_name(value) or looks_chosen(value)
        if is_name(value):
            # A bare word is a variable or a type, unless this is the environment: DB_PASSWORD=swordfish
            name = match[0][: match.start("separator") - match.start()]
            return kind == "password" and match["separator"] == "=" and name.isupper() and value.islower()
        jumbled = value.isalpha() and len(value) >= 10  # it would be a name otherwise
        return looks_chosen(value) or is_random(value, 16) or is_digest(value) or jumbled

    return accepts


def _is_part_of_word(match: re.Match[str]) -> bool:
    """`bypass`, `oauth`; but `smtpPass` and `MYSQLPASSWORD` are names."""
    name = re.match(r"pass(?!w|p|c)|pw(?!d)|auth", match[0], re.I)
    before = match.string[max(0, match.start() - 1) : match.start()]
    return bool(name) and before.isalpha() and not (before.islower() and match[0][0].isupper())


def _word_before(match: re.Match[str]) -> str:
    before = re.search(r"[\w.-]*\s?$", match.string[max(0, match.start() - 40) : match.start()])
    return before[0] if before else ""


def value_of(match: re.Match[str]) -> str:
    """The secret in a match, without the quotes around it."""
    start, end = span_of(match)
    return match.string[start:end]


def span_of(match: re.Match[str]) -> tuple[int, int]:
    groups = match.re.groupindex
    for name in ("secret", "double", "single", "tick", "bare"):
        if name in groups and match[name] is not None:
            start, end = match.span(name)
            # What ends a sentence is not part of a bare word.
            return (start, start + len(match[name].rstrip(".,;:)]}"))) if name == "bare" else (start, end)
    return match.span()


# Prose: "the password for the staging db is hunter2".

_VALUE = r"""(?: "(?P<double>[^"\n]++)" | '(?P<single>[^'\n]++)' | `(?P<tick>[^`\n]++)` | (?P<bare>[^\s"'`<>]++) )"""
_IS = r"(?:\s{0,3}[:=]\s{0,3} | \s{1,3}(?:is|was|are|=|->|equals|will\s+be|(?:is\s+)?(?:set|changed|reset)\s+to)\s+(?:now\s+)?:?\s{0,2})"
_FOR = r"(?:\s{1,3}\([^)\n]{1,40}\))? (?:\s{1,3}(?:for|of|to|on|in|at)\s[^.\n:=]{1,60}?)?"
_SAID = rf"(?i: \b (?: {_FOR} (?P<verb>{_IS}) | \s{{1,3}} ) {_VALUE} )"


def _said_password(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if re.match(r"\w", match.string[max(0, match.start() - 1) : match.start()]):
        return False
    stated = match["verb"] is not None
    if len(value) < 4 or is_placeholder(value):
        return False
    if " " in value:
        return not _SENTENCE_WORDS.intersection(value.lower().split())
    if value.isdecimal():
        return stated
    if value.isalpha():
        # "The password is swordfish." One word more, and it is a sentence about passwords.
        end = match.end() - match[0].endswith(".")
        ends = re.match(r"[.!]?\s*(?:\n|$)", match.string[end : end + 80])
        predicate = _PREDICATE.fullmatch(value) or value.lower() in _SENTENCE_WORDS
        return stated and match["bare"] is not None and value.islower() and bool(ends) and not predicate
    return looks_chosen(value) and not _is_path(value)


def _said_key(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if match["verb"] is None or len(value) < 6 or not re.search(r"\d", value):
        return False
    if match[0][0] in "kK" and not _KEY_OF_SECRET.search(_word_before(match)):
        return False
    return looks_chosen(value) and not is_name(value) and not _is_path(value)


def _is_path(value: str) -> bool:
    return bool(re.search(r"[/\\].*\.\w|\(\)|^\d+[-.]?[a-z]{0,8}$|^\w+(?:/\w+)+$", value))


def _random_or_digest(match: re.Match[str]) -> bool:
    return _is_key(value_of(match))


_DIGEST_WITHIN = re.compile(
    r"[0-9a-f]{32}|[0-9A-F]{32}|" + _UUID.pattern
)  # pat_5f2b…, access-sandbox-77eb2261-…


def _is_key(value: str) -> bool:
    if is_placeholder(value) or is_ordinary(value):
        return False
    return is_random(value, 12) or bool(_DIGEST_WITHIN.search(value))


def _chosen(match: re.Match[str]) -> bool:
    return looks_chosen(value_of(match))


def _not_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(value_of(match))


def _not_filler(match: re.Match[str]) -> bool:
    return not _FILLER.search(match[0])


# In a URL, `host:8080/x@y` has the shape of `user:password@host` too.
def _url_password(match: re.Match[str]) -> bool:
    value = value_of(match)
    return not is_placeholder(value) and not re.match(r"\d{1,5}(?:/|$)", value)


def _header_value(match: re.Match[str]) -> bool:
    value = value_of(match)
    odd = re.search(r"[\d+/=~]", value) or (len(value) >= 12 and _is_jumbled(value))
    return len(value) >= 6 and not is_placeholder(value) and bool(odd)


def _cookie(match: re.Match[str]) -> bool:
    values = re.findall(r"=\s*([^;\s]{8,})", match["secret"][:4096])
    return any(not is_placeholder(value) for value in values)


# High entropy: what nothing around it explains.

# Machine-made, and public: fingerprints, images, links. Only the entropy rule asks.
PUBLIC = re.compile(
    r"""
      -----BEGIN\ (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{3,40}-----(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]++)*+
    | data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=]*+
    | (?:ssh-[a-z0-9]+|ecdsa-sha2-\w+|sk-[a-z0-9-]+@openssh\.com)\ AAAA[A-Za-z0-9+/=]*+
    | \bAAAA[BCE]3Nz[A-Za-z0-9+/=]*+
    | (?<![A-Za-z])(?:sha\d{1,3}|md5|h1|blake\d\w?|crc\d*)["']?[-:=_\ ]{1,2}["']?[A-Za-z0-9+/=_-]*+
    | (?:integrity|etag|checksum|digest|fingerprint|nonce)["']?\s{0,3}[:=]\s{0,3}(?:W/)?["']?[^\s"']*+
    | (?:public_?key|(?-i:\bid|_id|-id|[a-z]Id|ID))["']?\s{0,3}[:=]\s{0,3}["']?[^\s"']*+
    | W/"[^"\s]*+
    | ://[^\s"'<>]*+
    | (?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/]{64,}+ (?:\r?\n[ \t]*+[A-Za-z0-9+/]{16,}+)*+ =*+   # base64 of a file
    """,
    re.X | re.I,
)
# A ULID, an IPFS address, Stripe's publishable key.
_PUBLIC_ID = re.compile(
    r"[0-7][0-9A-HJKMNP-TV-Z]{25}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,60}|pk_(?:live|test)_\w+"
)


def _unexplained(match: re.Match[str]) -> bool:
    value = match["secret"]
    if _PUBLIC_ID.fullmatch(value) or value.startswith("/") or not is_random(value) or _FILLER.search(value):
        return False
    after = match.string[match.end() : match.end() + 12]
    return not re.match(r"\.[a-z]{2,5}\b(?!\s)", after)  # the hash in a file's name: index-B3xk….js


ENTROPY = Rule(
    "high-entropy",
    re.compile(r"(?<![A-Za-z0-9_+/@.#-])(?P<secret>[A-Za-z0-9_+/-]{21,}+={0,2})"),
    accepts=_unexplained,
)
# Without the library nothing knows the providers' formats, so anything with a letter and a digit goes.
CAUTIOUS = Rule(
    "high-entropy",
    re.compile(r"(?P<secret>[A-Za-z0-9_+/.~-]{16,}+={0,2})"),
    accepts=lambda match: bool(re.search(r"\d", match[0]) and re.search(r"[A-Za-z]", match[0])),
)


# PII.


def _email(match: re.Match[str]) -> bool:
    local, _, host = match[0].rpartition("@")
    before, after = (
        match.string[max(0, match.start() - 80) : match.start()],
        match.string[match.end() : match.end() + 2],
    )
    login = re.search(r"://\S*$|\b(?:ssh|scp|sftp|rsync)\s(?:-\S+\s)*$", before) or re.match(
        r":[\w~/]", after
    )
    file = host.rpartition(".")[2].lower() in _FILE_ENDINGS
    return not (login or file or local.lower() == "git" or host == "openssh.com")


_FILE_ENDINGS = _words(
    """
    png jpg jpeg gif svg webp ico avif js mjs ts css html json yaml yml py md local internal
    """
)


def _phone(match: re.Match[str]) -> bool:
    digits = sum(map(str.isdigit, value_of(match)))
    return 9 <= digits <= 15


def _luhn(match: re.Match[str]) -> bool:
    digits = [int(char) for char in match["secret"] if char.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


# With these before it, even plain hex is a key.
_KEY_PREFIXES = sorted(
    _words(
        """
        sk rk pat tok token secret key api API npm hf r8 nvapi glc glsa figd ntn pplx gsk xai tskey sqp squ
        sgp pul lin_api dop_v1 doo_v1 shpat shpca shppa shpss rubygems whsec xkeysib live test shippo_live shippo_test PMAK NRAK s-s4t2ud s-s4t2af
        """
    )
)


def _has_key(text: str) -> bool:
    return is_random(text) or bool(re.search(r"[0-9a-f]{32}", text))


def _rule(
    type: str, pattern: str, *hints: str, accepts: Callable[[re.Match[str]], bool] = _not_filler
) -> Rule:
    return Rule(type, re.compile(pattern, re.X | re.I), hints, accepts)


def _exact(
    type: str, pattern: str, *hints: str, accepts: Callable[[re.Match[str]], bool] = _not_filler
) -> Rule:
    return Rule(type, re.compile(pattern, re.X), hints, accepts)


def _anything(match: re.Match[str]) -> bool:
    return True


# Known by what they are, wherever they stand.
FORMATS: tuple[Rule, ...] = (
    _exact(
        "private-key",
        r"""-----BEGIN\ (?:[A-Z0-9]+\ ){0,3}PRIVATE\ KEY(?:\ BLOCK)?-----
            (?: [^-]*+ (?:-(?!----(?:BEGIN|END))[^-]*+)*+ -----END[^-\n]{0,60}-----
              | (?: (?:\s|\\[nrt]|["'+,])*+ (?:[A-Z][\w-]{2,20}:\ [^\n\\]{1,200} | [A-Za-z0-9+/=]{8,}+) )++ )""",
        "private key",
        accepts=_anything,
    ),
    _rule("private-key", r"AGE-SECRET-KEY-1[a-z0-9]{20,}+", "age-secret-key-1"),
    _rule(
        "private-key",
        r"PuTTY-User-Key-File-\d:[\s\S]{0,2000}?Private-Lines:\s\d+\s+(?P<secret>[A-Za-z0-9+/=\s]++)",
        "private-lines",
    ),
    _exact(
        "jwt", r"\beyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)*+ | \bZXlK[A-Za-z0-9+/]{40,}+=*+", "eyj", "zxlk"
    ),
    _exact("github-token", r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+)", "gh", "github_pat_"),
    _exact(
        "gitlab-token",
        r"\b(?:gl(?:pat|dt|ft|rt|wt|soat|cbt|ptt|imt|agent|oas|ffct)-[\w.-]{20,}+|GR1348941[\w-]{20,}+)",
        "gl",
        "gr1348941",
    ),
    _rule(
        "slack-token", r"\bxox[a-z](?:\.xox[a-z])?-(?=[\w-]{18})(?=[a-z-]{0,40}\d)[\w-]++(?![\w#*])", "xox"
    ),
    _rule(
        "webhook",
        # The whole address is the credential: whoever has it can post.
        r"""(?P<secret>(?:https?://)?hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w/-]{20,}+)
          | (?P<double>(?:https?://)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[\w-]{30,}+)
          | (?P<single>(?:https?://)?[\w.-]{0,80}webhook\.office\.com/webhookb2/[\w@/-]{40,}+)
          | /(?:web)?hooks?/(?P<tick>[\w/-]{24,}+)""",
        "hooks.slack",
        "hook",
        accepts=lambda match: match["tick"] is None or any(map(_is_key, match["tick"].split("/"))),
    ),
    _exact(
        "aws-key",
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        "akia",
        "asia",
        "abia",
        "acca",
        "a3t",
    ),
    _exact(
        "google-token",
        r"\bya29\.[\w-]{20,}+|\bAIza[\w-]{35,}+|\bGOCSPX-[\w-]{20,}+",
        "ya29.",
        "aiza",
        "gocspx-",
    ),
    _exact("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}+", ".atlasv1."),
    _exact("sentry-token", r"\bsntry[su]_[\w+/=-]{30,}+", "sntry"),
    _exact("sendgrid-key", r"\bSG\.[\w-]{16,}+\.[\w-]{16,}+", "sg."),
    _exact("vault-token", r"\bhv[sbr]\.[\w-]{20,}+", "hvs.", "hvb.", "hvr."),
    _exact(
        "api-key",
        r"\b(?:pat[A-Za-z0-9]{0,14}|dt0c01|dp\.[a-z]{2}|sl)\.[\w=-]{20,}+(?:\.[\w-]++)*+",
        *("pat", "dt0c01.", "dp.", "sl."),
        accepts=lambda match: any(map(_is_key, match[0].split("."))),
    ),
    _exact(
        "artifactory-key",
        r"""(?<![A-Za-z0-9])(?:AKC|AP\d)[A-Za-z0-9]{10,}+(?![/.-]\w)
          | (?<![A-Za-z0-9])AP[A-F](?=[a-z]{0,40}\d)[A-Za-z0-9]{10,}+""",
        "akc",
        *(f"ap{digit}" for digit in "0123456789abcdef"),
        accepts=_anything,
    ),
    _exact(
        "api-key",
        rf"""(?P<prefixed>(?<![\w/.-])(?:{"|".join(_KEY_PREFIXES)})[-_](?=[\w.-]{{0,60}}\d)[\w.-]{{20,}}+)
          | \b(?:dapi|SK)[0-9a-f]{{32}}\b | \b(?:LTAI|EZ[AT]K)[A-Za-z0-9]{{16,}}+
          | \bA3-[A-Z0-9]{{6}}-[A-Z0-9]{{6,11}}(?:-[A-Z0-9]{{5}}){{3,4}}\b""",
        *(prefix.lower() + dash for prefix in _KEY_PREFIXES for dash in "-_"),
        *("dapi", "sk", "ltai", "ezak", "eztk", "a3-"),
        accepts=lambda match: (
            not _FILLER.search(match[0]) and (match["prefixed"] is None or _has_key(match[0]))
        ),
    ),
)

# Known by what stands beside them.
CONTEXTS: tuple[Rule, ...] = (
    _rule(
        "connection-string",
        r"""://[^\s/?#:@"'<>]{0,256}:(?P<secret>[^\s"'<>`]{1,512})@(?=[\w\[$*-])
          | ://(?P<double>(?=[^\s/:@]{0,200}\d)[^\s/:@"'<>]{16,200})@(?=[\w\[])""",
        "://",
        accepts=_url_password,
    ),
    _rule(
        "connection-string",
        r"(?:^|(?<=\s))[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:(?P<secret>[^\s:]{4,})",  # .pgpass
        ":",
        accepts=_chosen,
    ),
    _rule(
        "authorization",
        r"""\bauthorization["']?\]?\s{0,3}[:=,]\s{0,3}["'`]?
            (?:(?:bearer|basic|token|digest|negotiate|apikey|key|ntlm|bot|splunk)[\s:=]{1,3})?
            (?P<secret>[^\s"'`,;<>]++(?:=[^\s"'`]*+)?)""",
        "authorization",
        accepts=_header_value,
    ),
    _rule(
        "authorization",
        r"\b(?:bearer|basic)\s(?P<secret>[\w.~+/-]{16,}+=*+)",
        "bearer ",
        "basic ",
        accepts=_random_or_digest,
    ),
    _rule(
        "cookie",
        r"\b(?:set-)?cookie2?[\"']?\s{0,3}:\s{0,3}[\"']?(?P<secret>(?=[^\r\n\"']{0,200}=)[^\r\n\"']++)",
        "cookie",
        accepts=_cookie,
    ),
    _rule(
        "api-key",
        r"""\bx-[a-z-]{0,40}(?:key|token|secret|auth|api)["']?\s{0,3}[:=]\s{0,3}["']?(?P<secret>[^\s"',;<>]++)""",
        "x-",
        accepts=_header_value,
    ),
    _rule(
        "password",
        r"""\b(?:curl|wget|http|https|xh)\b[^\n|]{0,200}?\s(?:-u|--user|--proxy-user)[\s=]?["']?[^\s:"'<]{1,80}:(?P<secret>[^\s"'<>]++)
          | \b(?:sshpass|mysql|mysqldump|mysqladmin|mariadb)\b[^\n|]{0,80}?\s-p\s?["']?(?P<double>[^\s"'-][^\s"']*+)""",
        "-u",
        "-p",
        accepts=_not_placeholder,
    ),
    _rule(
        "password",
        r"""(?<![\w-])--?[\w-]{0,30}(?:password|passwd|pass|pwd|token|secret|api-?key|access-?key|key)[\s=]\s?
            (?:"(?P<double>[^"\n]++)" | '(?P<single>[^'\n]++)' | (?P<bare>[^\s"'`<>-][^\s"'`<>]*+))""",
        " -",
        "--",
        accepts=lambda match: looks_chosen(value_of(match)) or _random_or_digest(match),
    ),
    _rule(
        "password",
        r"""<(?:\w{1,20}:)?[\w.-]{0,40}(?:password|passwd|pwd|secret|token|api-?key)(?:\s[^>\n]{0,80})?>\s{0,4}(?P<secret>[^<\s]++)(?=\s{0,4}</)
          | (?:key|name)=["'][\w.:-]{0,60}(?:password|passwd|pwd|secret|token|api-?key)["']\s+value=["'](?P<double>[^"'\n]++)""",
        "<",
        accepts=lambda match: _chosen(match) or _random_or_digest(match),
    ),
    _rule(
        "url-parameter",
        r"""[?&](?:[\w-]{0,20}(?:token|secret|password|api_?key|signature|credential)|sig|key|auth|code|pwd)=(?P<secret>[^\s&"'<>#]++)""",
        "?",
        "&",
        accepts=_random_or_digest,
    ),
    *(
        _exact(kind, _in_any_case(name) + _ASSIGNED, hint, accepts=_assigned(kind))
        for kind, name, hint in _NAMES
    ),
    *(
        _exact("password", _in_any_case(name) + _SAID, hint, accepts=_said_password)
        for name, hint in (
            (r"pass(?:word|code|phrase)", "pass"),
            (r"pwd?", "pw"),
            (r"identified\s+by", "identified"),
        )
    ),
    *(
        _exact("secret", _in_any_case(name) + _SAID, name, accepts=_said_key)
        for name in ("key", "token", "secret")
    ),
    _rule(
        "password",
        rf"\bpass\s?phrase\b {_FOR} {_IS} (?P<secret>[a-z]+(?:\s[a-z]+){{2,11}}+)(?=[.!\"']|\s*(?:\n|$))",
        "pass",
        accepts=lambda match: not _SENTENCE_WORDS.intersection(match["secret"].lower().split()),
    ),
    _rule(
        "password",
        r"(?<!\S)[\"'`]?(?P<secret>[^\s\"'`]{4,128})[\"'`]?\s(?:is|as)\s(?:the|my|our|your|a)\s(?:[\w-]{1,20}\s){0,3}(?:password|passphrase|passcode|secret|token|api\skey)\b",
        *(f" {verb} {whose} " for verb in ("is", "as") for whose in ("the", "my", "our", "your", "a")),
        accepts=_chosen,
    ),
    _rule(
        "password",
        r"""\b(?:credentials?|creds|login|log\s?in|logged\sin)(?:\s(?:are|is|as|with|for\s[\w\s-]{1,40}?))?\s?:?\s["'`]?[\w.@-]{2,40}\s?(?:[:/]|\swith|\sand)\s?["'`]?(?P<secret>[^\s"'`]++)""",
        "cred",
        "log",
        accepts=_chosen,
    ),
    _rule(
        "pin",
        r"\bpin(?:\s(?:code|number))?(?:\s(?:for|of|to)\s[^.\n:=]{1,40}?)?(?:\s(?:is|was)\s|\s{0,2}[:=]\s{0,2})(?P<secret>\d{4,8})\b(?![.\d])",
        "pin",
        accepts=_anything,
    ),
    *(
        _exact(
            "secret",
            _in_any_case(name) + r"(?i:s?\s(?:is\s|was\s|=\s)?(?P<secret>[\w.~+/=-]{12,}+))",
            name,
            accepts=lambda match: _random_or_digest(match) and not _KEY_OF_OTHERS.search(_word_before(match)),
        )
        for name in ("key", "token", "secret", "password", "credential")
    ),
)

PII: tuple[Rule, ...] = (
    _rule(
        "email",
        r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b(?![\w-])",
        "@",
        accepts=_email,
    ),
    _exact(
        "card",
        r"(?<![\w.+-])(?P<secret>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)([ -]?)\d{4}\2\d{4}\2\d{4}|3[47]\d\d([ -]?)\d{6}\3\d{5})(?![\w-]|\.\d)",
        accepts=_luhn,
    ),
    _exact(
        "phone",
        r"(?<![\w+.])\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}(?![\w]|[.:]\d)",
        "+",
        accepts=_phone,
    ),
    _exact(
        "phone",
        r"(?<![\w.+/-])(?:1[ .-])?(?:\([2-9]\d\d\)\s?[2-9]\d\d[ .-]|[2-9]\d\d([.-])[2-9]\d\d\1)\d{4}(?![\w-]|\.\d)",
        accepts=_phone,
    ),
    _rule(
        "phone",
        r"\b(?:phone|tel|telephone|mobile|cell|whatsapp|fax)\b[^\d+\n(]{0,16}(?P<secret>\+?[\d(][\d ().-]{6,18}\d)(?![\w.])",
        "phone",
        "tel",
        "mobile",
        "cell",
        "whatsapp",
        "fax",
        accepts=_phone,
    ),
)
