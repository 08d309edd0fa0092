"""What a piece of PII looks like, as data: addresses, telephones, cards."""

import re

from recollect.text.secret_rules import Rule, exact, rule, value_of

_FILE_ENDINGS = set(
    "png jpg jpeg gif svg webp ico avif js mjs ts css html json yaml yml py md local internal".split()
)


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


def _phone(match: re.Match[str]) -> bool:
    digits = sum(map(str.isdigit, value_of(match)))
    return 9 <= digits <= 15


def _luhn(match: re.Match[str]) -> bool:
    digits = [int(char) for char in match["secret"] if char.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


PII: tuple[Rule, ...] = (
    rule(
        "email",
        r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b(?![\w-])",
        "@",
        accepts=_email,
    ),
    exact(
        "card",
        r"(?<![\w.+-])(?P<secret>(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)([ -]?)\d{4}\2\d{4}\2\d{4}|3[47]\d\d([ -]?)\d{6}\3\d{5})(?![\w-]|\.\d)",
        accepts=_luhn,
    ),
    exact(
        "phone",
        r"(?<![\w+.])\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}(?![\w]|[.:]\d)",
        "+",
        accepts=_phone,
    ),
    exact(
        "phone",
        r"(?<![\w.+/-])(?:1[ .-])?(?:\([2-9]\d\d\)\s?[2-9]\d\d[ .-]|[2-9]\d\d([.-])[2-9]\d\d\1)\d{4}(?![\w-]|\.\d)",
        accepts=_phone,
    ),
    rule(
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
