"""The rules of `data/redaction.toml`, and the checks that their `accepts` names.

A pattern finds a candidate by its format or by what is beside it. The check then looks at the value and its surroundings,
and decides whether it is a secret. What a value looks like by itself is the subject of `secret_values`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from recollect.text.secret_values import (
    DATA,
    WORDS,
    has_digest,
    has_filler,
    is_digest,
    is_encoded_prose,
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

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True)
class RedactionRule:
    """A pattern for one type of secret. It is compiled on first use, since most texts have none of its hints."""

    type: str
    source: str
    flags: re.RegexFlag
    hints: tuple[str, ...]  # lower case; empty = always tried
    accepts: Check

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.source, self.flags)


def value_of(match: re.Match[str]) -> str:
    """Return the secret in a match, without the quotes around it."""
    start, end = span_of(match)
    return match.string[start:end]


def span_of(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret is in the text."""
    groups = match.re.groupindex
    for name in ("secret", "double", "single", "tick", "bare"):
        if name in groups and match[name] is not None:
            start, end = match.span(name)
            # Punctuation that ends a sentence is not part of a bare word.
            return (start, start + len(match[name].rstrip(".,;:)]}"))) if name == "bare" else (start, end)
    return match.span()


# Checks of assignments: `NAME = value`.

_KEY_OF_SECRET = re.compile(rf"(?:{'|'.join(WORDS['key_of_secret'])})[_.\s-]?$", re.I)
_KEY_OF_OTHERS = re.compile(rf"(?:{'|'.join(WORDS['key_of_others'])})[_.\s-]?$", re.I)


def _assigned(kind: str, match: re.Match[str]) -> bool:
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
        # A bare word is a variable or a type, unless this is an environment variable: DB_PASSWORD=swordfish
        name = match[0][: match.start("separator") - match.start()]
        in_environment = match["separator"] == "=" and name.isupper() and value.islower()
        return in_environment and (
            kind == "password" or (kind == "secret" and len(re.findall(r"[a-z]+", value)) >= 3)
        )
    jumbled = value.isalpha() and len(value) >= 10  # it would be a name otherwise
    return looks_chosen(value) or is_random(value, 16) or is_digest(value) or jumbled


def _is_part_of_word(match: re.Match[str]) -> bool:
    """Return whether the name is part of a word, as in `bypass` and `oauth`; `smtpPass` and `MYSQLPASSWORD` are names."""
    name = re.match(r"pass(?!w|p|c)|pw(?!d)|auth", match[0], re.I)
    before = match.string[max(0, match.start() - 1) : match.start()]
    return bool(name) and before.isalpha() and not (before.islower() and match[0][0].isupper())


def _word_before(match: re.Match[str]) -> str:
    before = re.search(r"(?<![\w.-])[\w.-]*\s?$", match.string[max(0, match.start() - 40) : match.start()])
    return before[0] if before else ""


# Checks of prose: "the password for the staging db is hunter2".

_PREDICATE = re.compile(
    rf"(?:{'|'.join(WORDS['predicates'])})|.*(?:{'|'.join(WORDS['predicate_endings'])})", re.I
)


def _stated_password(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if re.match(r"[\w$]", match.string[max(0, match.start() - 1) : match.start()]):
        return False
    has_verb = match["verb"] is not None
    if len(value) < 4 or is_placeholder(value):
        return False
    if " " in value:
        return not is_sentence(value)
    if value.isdecimal():
        return has_verb
    if value.isalpha():
        # "The password is swordfish." One word more, and it is a sentence about passwords.
        end = match.end() - match[0].endswith(".")
        ends = re.match(r"[.!]?\s*(?:\n|$)", match.string[end : end + 80])
        predicate = _PREDICATE.fullmatch(value) or is_sentence(value)
        return has_verb and match["bare"] is not None and value.islower() and bool(ends) and not predicate
    return looks_chosen(value) and not is_path(value)


def _stated_key(match: re.Match[str]) -> bool:
    value = value_of(match).rstrip(".,;:!?)")
    if match["verb"] is None or len(value) < 6 or not re.search(r"\d", value):
        return False
    if match[0][0] in "kK" and not _KEY_OF_SECRET.search(_word_before(match)):
        return False
    return looks_chosen(value) and not is_name(value) and not is_path(value)


def _passphrase(match: re.Match[str]) -> bool:
    """Tell "the password is purple elephant dancing moon" from "the password is hashed on the server"."""
    words = match["secret"].lower().split()
    if is_sentence(match["secret"]):
        return False
    if "phrase" in match["name"].lower():
        return True
    if not WORDS["about_passwords"].isdisjoint(words) or words[0] in WORDS["placeholders"]:
        return False
    # "Correct horse battery staple" begins with a predicate; "correct on both hosts" does not go on with three nouns.
    adverb_or_participle = re.search(r"(?:ed|ing|ly)$", words[0])
    return not adverb_or_participle and (len(words) >= 4 or not _PREDICATE.fullmatch(words[0]))


_COUNTED = re.compile(r"\s(?:lines?|bytes?|chars?|characters|files?|times|errors?|tests?|rows?|loc)\b", re.I)


def _code(match: re.Match[str]) -> bool:
    """Tell "the door code is 4471" and "use code 558201" from "error code 1045" and "the code is 15000 lines long"."""
    if match["name"] is None:
        return True
    owner, has_verb = _word_before(match).strip().lower(), bool(match["verb"].strip())
    if owner in WORDS["codes"] or re.fullmatch(r"\d-digit", owner):
        return has_verb or not re.fullmatch(r"(?:19|20)\d\d", match["secret"])
    stated = has_verb and owner in {"the", "your", "my", "our", "this"}
    used = not has_verb and owner in {"use", "enter", "type", "with", "using"}
    digits = len(match["secret"])
    enough = 4 if owner in {"your", "my"} else 6
    return (stated or used) and digits >= enough and not _COUNTED.match(match["rest"])


def _key(match: re.Match[str]) -> bool:
    return is_key(value_of(match))


def _key_of_a_secret(match: re.Match[str]) -> bool:
    owner = _word_before(match)
    if _KEY_OF_SECRET.search(owner):
        return _key(match)
    # `Redis key 5d41…`: a digest after the word "key" alone is a name in a store.
    digest = match[0][0] in "kK" and is_digest(value_of(match))
    return _key(match) and not digest and not _KEY_OF_OTHERS.search(owner)


def _chosen(match: re.Match[str]) -> bool:
    return looks_chosen(value_of(match))


def _not_filler(match: re.Match[str]) -> bool:
    return not has_filler(match[0])


def _url_password(match: re.Match[str]) -> bool:
    """Reject `host:8080/x@y`, which has the shape of `user:password@host`."""
    value = value_of(match)
    return not is_placeholder(value) and not re.match(r"\d{1,5}(?:/|$)", value)


def _header_value(match: re.Match[str]) -> bool:
    value = value_of(match)
    odd = re.search(r"[\d+/=~]", value) or (len(value) >= 12 and is_jumbled(value))
    return len(value) >= 6 and not is_placeholder(value) and bool(odd)


def _cookie(match: re.Match[str]) -> bool:
    values = re.findall(r"=\s*([^;\s]{8,})", match["secret"][:4096])
    return any(not is_placeholder(value) for value in values)


def _prefixed_key(match: re.Match[str]) -> bool:
    # `api-3f2a…` is the tag of an image, and `test-3f2a…` the folder of a run.
    tag = re.match(r"(?:api|test|live)-", match[0], re.I)
    has_key = is_random(match[0]) or (not tag and has_digest(match[0]))
    return not has_filler(match[0]) and (match["prefixed"] is None or has_key)


# Checks of personal data.


def _email(match: re.Match[str]) -> bool:
    local, _, host = match[0].rpartition("@")
    before = match.string[max(0, match.start() - 80) : match.start()]
    after = match.string[match.end() : match.end() + 2]
    login = re.search(
        r"://(?:(?!://)\S)*$|\b(?:ssh|scp|sftp|rsync)\s(?:-\S{1,40}\s){0,9}$", before
    ) or re.match(r":[\w~/]", after)
    file = host.rpartition(".")[2].lower() in WORDS["file_endings"]
    return not (login or file or local.lower() == "git" or host == "openssh.com" or _is_nobodys(local, host))


def _is_nobodys(local: str, host: str) -> bool:
    """Return whether an address is an example or one that nobody reads: `bob@example.com`, `noreply@github.com`."""
    parts = host.lower().split(".")
    hosts = {".".join(parts[index:]) for index in range(len(parts))}
    return (
        not WORDS["nobodys_hosts"].isdisjoint(hosts)
        or local.lower().partition("+")[0] in WORDS["nobodys_names"]
        or "noreply" in parts
    )


# Kept free for films and manuals, and lines that cost the caller nothing.
_NOBODYS_PHONE = re.compile(r"555\D?01\d\d$|^\+?1\D{0,2}8(?:00|33|44|55|66|77|88)\D")

_BYTE_BEFORE = re.compile(r"[0-9A-Fa-f]{2} ")
_BYTE_AFTER = re.compile(r" [0-9A-Fa-f]{2}(?!\w)")


def _phone_number(match: re.Match[str]) -> bool:
    value = value_of(match)
    return 9 <= sum(map(str.isdigit, value)) <= 15 and not _NOBODYS_PHONE.search(value)


def _national_number(match: re.Match[str]) -> bool:
    value = value_of(match)
    before, after = match.string[: match.start()][-3:], match.string[match.end() :][:4]
    if _BYTE_BEFORE.fullmatch(before) or _BYTE_AFTER.match(after):  # of a hex dump
        return False
    return 10 <= sum(map(str.isdigit, value)) <= 12 and not _NOBODYS_PHONE.search(value)


def _iban(match: re.Match[str]) -> bool:
    """Check the two check digits of an international account number."""
    value = match["secret"].replace(" ", "")
    turned = value[4:] + value[:4]
    if value.lower() in WORDS["manuals_numbers"]:
        return False
    return 15 <= len(value) <= 34 and int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _card_number(match: re.Match[str]) -> bool:
    """Check Luhn's checksum."""
    number = "".join(char for char in match["secret"] if char.isdecimal())
    if number in WORDS["manuals_numbers"]:
        return False
    digits = list(map(int, number))
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


CHECKS: dict[str, Check] = {
    "anything": lambda match: True,
    "card_number": _card_number,
    "chosen": _chosen,
    "chosen_or_key": lambda match: _chosen(match) or _key(match),
    "code": _code,
    "cookie": _cookie,
    "dotted_key": lambda match: any(map(is_key, match[0].split("."))),
    "email": _email,
    "header_value": _header_value,
    "iban": _iban,
    "key": _key,
    "national_number": _national_number,
    "key_of_a_secret": _key_of_a_secret,
    "long_chosen_or_key": lambda match: _key(match) or (len(value_of(match)) >= 12 and _chosen(match)),
    "not_filler": _not_filler,
    "not_placeholder": lambda match: not is_placeholder(value_of(match)),
    "passphrase": _passphrase,
    "phone_number": _phone_number,
    "prefixed_key": _prefixed_key,
    "stated_key": _stated_key,
    "stated_password": _stated_password,
    "url_password": _url_password,
    "webhook": lambda match: match["tick"] is None or any(map(is_key, match["tick"].split("/"))),
}


def _rules(table: str) -> Iterator[RedactionRule]:
    for row in DATA[table]:
        accepts = row.get("accepts", "not_filler")
        check = partial(_assigned, row["type"]) if accepts == "assigned" else CHECKS[accepts]
        exact = row.get("exact_case", False) or "names" in row
        for name, hint in row.get("names", {"": ""}).items():
            yield RedactionRule(
                row["type"],
                _filled(row["pattern"].replace("<<name>>", _in_any_case(name)) if name else row["pattern"]),
                re.X if exact else re.X | re.I,
                (hint,) if name else tuple(_hints(row.get("hints", ()))),
                check,
            )


def _filled(pattern: str) -> str:
    """Insert the fragments, which may contain others."""
    pattern = pattern.replace("<<codes>>", "|".join(sorted(WORDS["codes"])))
    pattern = pattern.replace("<<key_prefixes>>", "|".join(sorted(WORDS["key_prefixes"])))
    for name, fragment in DATA["fragments"].items():
        pattern = pattern.replace(f"<<{name}>>", fragment)
    return pattern


def _in_any_case(word: str) -> str:
    """Spell out both cases of the first letter: only then can `re` skip to it, and most of a text is skipped."""
    return f"[{word[0].upper()}{word[0]}](?i:{word[1:]})"


def _hints(hints: list[str]) -> Iterator[str]:
    for hint in hints:
        if hint == "<<key_prefixes>>":
            yield from (prefix.lower() + dash for prefix in WORDS["key_prefixes"] for dash in "-_")
        else:
            yield hint


FORMATS = tuple(_rules("formats"))  # known by their format, wherever they are
CONTEXTS = tuple(_rules("contexts"))  # known by what is beside them
PII = tuple(_rules("pii"))


# High entropy: strings that nothing around them explains.

PUBLIC = re.compile(DATA["public"]["context"], re.X | re.I)
_PUBLIC_VALUE = re.compile(DATA["public"]["value"])


def _unexplained(match: re.Match[str]) -> bool:
    value = match["secret"]
    if _PUBLIC_VALUE.fullmatch(value) or value.startswith("/") or not is_random(value) or has_filler(value):
        return False
    if is_encoded_prose(value):
        return False
    after = match.string[match.end() : match.end() + 12]
    return not re.match(r"\.[a-z]{2,5}\b(?!\s)", after)  # the hash in a file name: index-B3xk….js


ENTROPY = RedactionRule(
    "high-entropy",
    r"(?<![A-Za-z0-9_+/@.#-])(?P<secret>[A-Za-z0-9_+/-]{21,}+={0,2})",
    re.NOFLAG,
    (),
    _unexplained,
)
# Used when the library fails, which alone knows the providers' formats: redact anything with a letter and a digit.
CAUTIOUS = RedactionRule(
    "high-entropy",
    r"(?P<secret>[A-Za-z0-9_+/.~-]{16,}+={0,2})",
    re.NOFLAG,
    (),
    lambda match: bool(re.search(r"\d", match[0]) and re.search(r"[A-Za-z]", match[0])),
)
