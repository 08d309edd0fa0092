"""What a secret looks like, as data: one table of rules. What its value looks like is asked of `secret_values`.

A rule finds its secret in the group `secret`; what stands around it (a key, a header, a host) stays
readable. Two things hold for every pattern, because the text may be ten megabytes on one line:

* it starts with something definite, and what may repeat is bounded or possessive (`*+`), so that
  matching is linear. A possessive group ends in an alternative that never matches, `(?:…|(?!))*+`: before
  3.11.5 Python keeps what a group consumed before it failed, and that alternative puts it back;
* `hints` are lower-case pieces of which at least one must occur in the text for the pattern to be tried.
  Most memories have none of them, and cost a few substring searches.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollect.text.secret_values import (
    has_filler,
    is_digest,
    is_figure,
    is_jumbled,
    is_key,
    is_name,
    is_path,
    is_placeholder,
    is_random,
    is_sentence,
    looks_chosen,
)


@dataclass(frozen=True, slots=True)
class Rule:
    type: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    accepts: Callable[[re.Match[str]], bool] = lambda match: True


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
            return kind == "password" and not is_sentence(value)
        if is_figure(value):
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


# What follows "the password is" in a sentence about passwords. Endings catch the rest: "mandatory", "stored".
_PREDICATE = re.compile(
    r"""(?:blank|bad|case|checked|correct|cut|default|different|down|empty|encrypted|fine|gone|good|hard|here|identical
    |kept|known|leaked|long|lost|never|new|ok|okay|old|one|plain|plaintext|public|random|read|rotated|safe|salted|same
    |secure|sent|set|shared|short|shown|simple|split|still|strong|stale|there|too|uppercase|unique|unknown|weak|welcome)
    | .*(?:ed|able|ible|ing|al|ive|ory|ary|ent|ant|ful|less|ly|ic|ous|id|ect|en)""",
    re.X | re.I,
)


def _said_password(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if re.match(r"\w", match.string[max(0, match.start() - 1) : match.start()]):
        return False
    stated = match["verb"] is not None
    if len(value) < 4 or is_placeholder(value):
        return False
    if " " in value:
        return not is_sentence(value)
    if value.isdecimal():
        return stated
    if value.isalpha():
        # "The password is swordfish." One word more, and it is a sentence about passwords.
        end = match.end() - match[0].endswith(".")
        ends = re.match(r"[.!]?\s*(?:\n|$)", match.string[end : end + 80])
        predicate = _PREDICATE.fullmatch(value) or is_sentence(value)
        return stated and match["bare"] is not None and value.islower() and bool(ends) and not predicate
    return looks_chosen(value) and not is_path(value)


def _said_key(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if match["verb"] is None or len(value) < 6 or not re.search(r"\d", value):
        return False
    if match[0][0] in "kK" and not _KEY_OF_SECRET.search(_word_before(match)):
        return False
    return looks_chosen(value) and not is_name(value) and not is_path(value)


def _random_or_digest(match: re.Match[str]) -> bool:
    return is_key(value_of(match))


def _chosen(match: re.Match[str]) -> bool:
    return looks_chosen(value_of(match))


def _not_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(value_of(match))


def _not_filler(match: re.Match[str]) -> bool:
    return not has_filler(match[0])


# In a URL, `host:8080/x@y` has the shape of `user:password@host` too.
def _url_password(match: re.Match[str]) -> bool:
    value = value_of(match)
    return not is_placeholder(value) and not re.match(r"\d{1,5}(?:/|$)", value)


def _header_value(match: re.Match[str]) -> bool:
    value = value_of(match)
    odd = re.search(r"[\d+/=~]", value) or (len(value) >= 12 and is_jumbled(value))
    return len(value) >= 6 and not is_placeholder(value) and bool(odd)


def _cookie(match: re.Match[str]) -> bool:
    values = re.findall(r"=\s*([^;\s]{8,})", match["secret"][:4096])
    return any(not is_placeholder(value) for value in values)


# High entropy: what nothing around it explains.

# Machine-made, and public: fingerprints, images, links. Only the entropy rule asks.
PUBLIC = re.compile(
    r"""
      -----BEGIN\ (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{3,40}-----(?:(?:\s|\\[nr]|(?!))*+[A-Za-z0-9+/=]++|(?!))*+
    | data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=]*+
    | (?:ssh-[a-z0-9]+|ecdsa-sha2-\w+|sk-[a-z0-9-]+@openssh\.com)\ AAAA[A-Za-z0-9+/=]*+
    | \bAAAA[BCE]3Nz[A-Za-z0-9+/=]*+
    | (?<![A-Za-z])(?:sha\d{1,3}|md5|h1|blake\d\w?|crc\d*)["']?[-:=_\ ]{1,2}["']?[A-Za-z0-9+/=_-]*+
    | (?:integrity|etag|checksum|digest|fingerprint|nonce)["']?\s{0,3}[:=]\s{0,3}(?:W/)?["']?[^\s"']*+
    | (?:public_?key|(?-i:\bid|_id|-id|[a-z]Id|ID))["']?\s{0,3}[:=]\s{0,3}["']?[^\s"']*+
    | W/"[^"\s]*+
    | ://[^\s"'<>]*+
    | (?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/]{64,}+ (?:\r?\n[ \t]*+[A-Za-z0-9+/]{16,}+|(?!))*+ =*+   # base64 of a file
    """,
    re.X | re.I,
)
# A ULID, an IPFS address, Stripe's publishable key.
_PUBLIC_ID = re.compile(
    r"[0-7][0-9A-HJKMNP-TV-Z]{25}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,60}|pk_(?:live|test)_\w+"
)


def _unexplained(match: re.Match[str]) -> bool:
    value = match["secret"]
    if _PUBLIC_ID.fullmatch(value) or value.startswith("/") or not is_random(value) or has_filler(value):
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


# With these before it, even plain hex is a key.
_KEY_PREFIXES = sorted(
    """
    sk rk pat tok token secret key api API npm hf r8 nvapi glc glsa figd ntn pplx gsk xai tskey sqp squ
    sgp pul lin_api dop_v1 doo_v1 shpat shpca shppa shpss rubygems whsec xkeysib live test shippo_live shippo_test PMAK NRAK s-s4t2ud s-s4t2af
    """.split()
)


def _has_key(text: str) -> bool:
    return is_random(text) or bool(re.search(r"[0-9a-f]{32}", text))


def rule(
    type: str, pattern: str, *hints: str, accepts: Callable[[re.Match[str]], bool] = _not_filler
) -> Rule:
    return Rule(type, re.compile(pattern, re.X | re.I), hints, accepts)


def exact(
    type: str, pattern: str, *hints: str, accepts: Callable[[re.Match[str]], bool] = _not_filler
) -> Rule:
    return Rule(type, re.compile(pattern, re.X), hints, accepts)


def _anything(match: re.Match[str]) -> bool:
    return True


# Known by what they are, wherever they stand.
FORMATS: tuple[Rule, ...] = (
    exact(
        "private-key",
        r"""-----BEGIN\ (?:[A-Z0-9]+\ ){0,3}PRIVATE\ KEY(?:\ BLOCK)?-----
            (?: [^-]*+ (?:-(?!----(?:BEGIN|END))[^-]*+|(?!))*+ -----END[^-\n]{0,60}-----
              | (?: (?:\s|\\[nrt]|["'+,]|(?!))*+ (?:[A-Z][\w-]{2,20}:\ [^\n\\]{1,200} | [A-Za-z0-9+/=]{8,}+)|(?!))++ )""",
        "private key",
        accepts=_anything,
    ),
    rule("private-key", r"AGE-SECRET-KEY-1[a-z0-9]{20,}+", "age-secret-key-1"),
    rule(
        "private-key",
        r"PuTTY-User-Key-File-\d:[\s\S]{0,2000}?Private-Lines:\s\d+\s+(?P<secret>[A-Za-z0-9+/=\s]++)",
        "private-lines",
    ),
    exact(
        "jwt",
        r"\beyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+|(?!))*+ | \bZXlK[A-Za-z0-9+/]{40,}+=*+",
        "eyj",
        "zxlk",
    ),
    exact("github-token", r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}+|github_pat_\w{20,}+)", "gh", "github_pat_"),
    exact(
        "gitlab-token",
        r"\b(?:gl(?:pat|dt|ft|rt|wt|soat|cbt|ptt|imt|agent|oas|ffct)-[\w.-]{20,}+|GR1348941[\w-]{20,}+)",
        "gl",
        "gr1348941",
    ),
    rule("slack-token", r"\bxox[a-z](?:\.xox[a-z])?-(?=[\w-]{18})(?=[a-z-]{0,40}\d)[\w-]++(?![\w#*])", "xox"),
    rule(
        "webhook",
        # The whole address is the credential: whoever has it can post.
        r"""(?P<secret>(?:https?://)?hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w/-]{20,}+)
          | (?P<double>(?:https?://)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[\w-]{30,}+)
          | (?P<single>(?:https?://)?[\w.-]{0,80}webhook\.office\.com/webhookb2/[\w@/-]{40,}+)
          | /(?:web)?hooks?/(?P<tick>[\w/-]{24,}+)""",
        "hooks.slack",
        "hook",
        accepts=lambda match: match["tick"] is None or any(map(is_key, match["tick"].split("/"))),
    ),
    exact(
        "aws-key",
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        "akia",
        "asia",
        "abia",
        "acca",
        "a3t",
    ),
    exact(
        "google-token",
        r"\bya29\.[\w-]{20,}+|\bAIza[\w-]{35,}+|\bGOCSPX-[\w-]{20,}+",
        "ya29.",
        "aiza",
        "gocspx-",
    ),
    exact("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}+", ".atlasv1."),
    exact("sentry-token", r"\bsntry[su]_[\w+/=-]{30,}+", "sntry"),
    exact("sendgrid-key", r"\bSG\.[\w-]{16,}+\.[\w-]{16,}+", "sg."),
    exact("vault-token", r"\bhv[sbr]\.[\w-]{20,}+", "hvs.", "hvb.", "hvr."),
    exact(
        "api-key",
        r"\b(?:pat[A-Za-z0-9]{0,14}|dt0c01|dp\.[a-z]{2}|sl)\.[\w=-]{20,}+(?:\.[\w-]++|(?!))*+",
        *("pat", "dt0c01.", "dp.", "sl."),
        accepts=lambda match: any(map(is_key, match[0].split("."))),
    ),
    exact(
        "artifactory-key",
        r"""(?<![A-Za-z0-9])(?:AKC|AP\d)[A-Za-z0-9]{10,}+(?![/.-]\w)
          | (?<![A-Za-z0-9])AP[A-F](?=[a-z]{0,40}\d)[A-Za-z0-9]{10,}+""",
        "akc",
        *(f"ap{digit}" for digit in "0123456789abcdef"),
        accepts=_anything,
    ),
    exact(
        "api-key",
        rf"""(?P<prefixed>(?<![\w/.-])(?:{"|".join(_KEY_PREFIXES)})[-_](?=[\w.-]{{0,60}}\d)[\w.-]{{20,}}+)
          | \b(?:dapi|SK)[0-9a-f]{{32}}\b | \b(?:LTAI|EZ[AT]K)[A-Za-z0-9]{{16,}}+
          | \bA3-[A-Z0-9]{{6}}-[A-Z0-9]{{6,11}}(?:-[A-Z0-9]{{5}}){{3,4}}\b""",
        *(prefix.lower() + dash for prefix in _KEY_PREFIXES for dash in "-_"),
        *("dapi", "sk", "ltai", "ezak", "eztk", "a3-"),
        accepts=lambda match: not has_filler(match[0]) and (match["prefixed"] is None or _has_key(match[0])),
    ),
)

# Known by what stands beside them.
CONTEXTS: tuple[Rule, ...] = (
    rule(
        "connection-string",
        r"""://[^\s/?#:@"'<>]{0,256}:(?P<secret>[^\s"'<>`]{1,512})@(?=[\w\[$*-])
          | ://(?P<double>(?=[^\s/:@]{0,200}\d)[^\s/:@"'<>]{16,200})@(?=[\w\[])""",
        "://",
        accepts=_url_password,
    ),
    rule(
        "connection-string",
        r"(?:^|(?<=\s))[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:(?P<secret>[^\s:]{4,})",  # .pgpass
        ":",
        accepts=_chosen,
    ),
    rule(
        "authorization",
        r"""\bauthorization["']?\]?\s{0,3}[:=,]\s{0,3}["'`]?
            (?:(?:bearer|basic|token|digest|negotiate|apikey|key|ntlm|bot|splunk)[\s:=]{1,3})?
            (?P<secret>[^\s"'`,;<>]++(?:=[^\s"'`]*+)?)""",
        "authorization",
        accepts=_header_value,
    ),
    rule(
        "authorization",
        r"\b(?:bearer|basic)\s(?P<secret>[\w.~+/-]{16,}+=*+)",
        "bearer ",
        "basic ",
        accepts=_random_or_digest,
    ),
    rule(
        "cookie",
        r"\b(?:set-)?cookie2?[\"']?\s{0,3}:\s{0,3}[\"']?(?P<secret>(?=[^\r\n\"']{0,200}=)[^\r\n\"']++)",
        "cookie",
        accepts=_cookie,
    ),
    rule(
        "api-key",
        r"""\bx-[a-z-]{0,40}(?:key|token|secret|auth|api)["']?\s{0,3}[:=]\s{0,3}["']?(?P<secret>[^\s"',;<>]++)""",
        "x-",
        accepts=_header_value,
    ),
    rule(
        "password",
        r"""\b(?:curl|wget|http|https|xh)\b[^\n|]{0,200}?\s(?:-u|--user|--proxy-user)[\s=]?["']?[^\s:"'<]{1,80}:(?P<secret>[^\s"'<>]++)
          | \b(?:sshpass|mysql|mysqldump|mysqladmin|mariadb)\b[^\n|]{0,80}?\s-p\s?["']?(?P<double>[^\s"'-][^\s"']*+)""",
        "-u",
        "-p",
        accepts=_not_placeholder,
    ),
    rule(
        "password",
        r"""(?<![\w-])--?[\w-]{0,30}(?:password|passwd|pass|pwd|token|secret|api-?key|access-?key|key)[\s=]\s?
            (?:"(?P<double>[^"\n]++)" | '(?P<single>[^'\n]++)' | (?P<bare>[^\s"'`<>-][^\s"'`<>]*+))""",
        " -",
        "--",
        accepts=lambda match: looks_chosen(value_of(match)) or _random_or_digest(match),
    ),
    rule(
        "password",
        r"""<(?:\w{1,20}:)?[\w.-]{0,40}(?:password|passwd|pwd|secret|token|api-?key)(?:\s[^>\n]{0,80})?>\s{0,4}(?P<secret>[^<\s]++)(?=\s{0,4}</)
          | (?:key|name)=["'][\w.:-]{0,60}(?:password|passwd|pwd|secret|token|api-?key)["']\s+value=["'](?P<double>[^"'\n]++)""",
        "<",
        accepts=lambda match: _chosen(match) or _random_or_digest(match),
    ),
    rule(
        "url-parameter",
        r"""[?&](?:[\w-]{0,20}(?:token|secret|password|api_?key|signature|credential)|sig|key|auth|code|pwd)=(?P<secret>[^\s&"'<>#]++)""",
        "?",
        "&",
        accepts=_random_or_digest,
    ),
    *(
        exact(kind, _in_any_case(name) + _ASSIGNED, hint, accepts=_assigned(kind))
        for kind, name, hint in _NAMES
    ),
    *(
        exact("password", _in_any_case(name) + _SAID, hint, accepts=_said_password)
        for name, hint in (
            (r"pass(?:word|code|phrase)", "pass"),
            (r"pwd?", "pw"),
            (r"identified\s+by", "identified"),
        )
    ),
    *(
        exact("secret", _in_any_case(name) + _SAID, name, accepts=_said_key)
        for name in ("key", "token", "secret")
    ),
    rule(
        "password",
        rf"\bpass\s?phrase\b {_FOR} {_IS} (?P<secret>[a-z]+(?:\s[a-z]+|(?!)){{2,11}}+)(?=[.!\"']|\s*(?:\n|$))",
        "pass",
        accepts=lambda match: not is_sentence(match["secret"]),
    ),
    rule(
        "password",
        r"(?<!\S)[\"'`]?(?P<secret>[^\s\"'`]{4,128})[\"'`]?\s(?:is|as)\s(?:the|my|our|your|a)\s(?:[\w-]{1,20}\s){0,3}(?:password|passphrase|passcode|secret|token|api\skey)\b",
        *(f" {verb} {whose} " for verb in ("is", "as") for whose in ("the", "my", "our", "your", "a")),
        accepts=_chosen,
    ),
    rule(
        "password",
        r"""\b(?:credentials?|creds|login|log\s?in|logged\sin)(?:\s(?:are|is|as|with|for\s[\w\s-]{1,40}?))?\s?:?\s["'`]?[\w.@-]{2,40}\s?(?:[:/]|\swith|\sand)\s?["'`]?(?P<secret>[^\s"'`]++)""",
        "cred",
        "log",
        accepts=_chosen,
    ),
    rule(
        "pin",
        r"\bpin(?:\s(?:code|number))?(?:\s(?:for|of|to)\s[^.\n:=]{1,40}?)?(?:\s(?:is|was)\s|\s{0,2}[:=]\s{0,2})(?P<secret>\d{4,8})\b(?![.\d])",
        "pin",
        accepts=_anything,
    ),
    *(
        exact(
            "secret",
            _in_any_case(name) + r"(?i:s?\s(?:is\s|was\s|=\s)?(?P<secret>[\w.~+/=-]{12,}+))",
            name,
            accepts=lambda match: _random_or_digest(match) and not _KEY_OF_OTHERS.search(_word_before(match)),
        )
        for name in ("key", "token", "secret", "password", "credential")
    ),
)
