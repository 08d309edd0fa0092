"""A secret that a cut splits: half of it is recognised by nothing, so nothing of it may be left."""

import random
import string

import pytest

from recollect.interfaces.daemon_client import spool
from recollect.memory.maintenance.feedback import MOST_CONTEXT, _gap_text
from recollect.text.cuts import SPLIT, end_of, start_of
from recollect.text.redact import redact
from recollect.work.episodes.failures import failure_of
from recollect.work.episodes.record import clean
from recollect.work.sessions.events import MAX_ANSWER, clean_event
from recollect.work.transcripts.event import Event
from recollect.work.window.gist import _clip
from recollect.work.window.outputs import WIDEST, cut
from recollect.work.window.trim import _shorter

ALNUM = string.ascii_letters + string.digits


def made(length, seed):
    chosen = random.Random(seed)
    return "".join(chosen.choice(ALNUM) for _ in range(length))


TOKEN = "ghp_" + made(36, 1)
PASSWORD = made(24, 2)
LINES = [made(64, seed) for seed in range(20)]
SECRETS = {  # a text with a secret, and the parts of it that must not be read
    "token": (f"cloned with {TOKEN} just now", [TOKEN]),
    "password": (f"export DB_PASSWORD={PASSWORD} and go", [PASSWORD]),
    "key": (
        "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(LINES) + "\n-----END RSA PRIVATE KEY-----",
        LINES,
    ),
}


def survives(secrets, text):
    """Whether a run of 8 characters of a secret can be read."""
    return any(secret[at : at + 8] in text for secret in secrets for at in range(len(secret) - 7))


def stored(text):
    return clean_event(Event("s1", 0, "tool", text)).text


WAYS = {  # how a text is shortened and stored, and the place of a cut in it, from the beginning or the end
    "an event": (stored, 2 * MAX_ANSWER),
    "a waiting event": (lambda text: spool._clean(text, set()), 2 * spool.LONGEST),
    "a shortened output": (lambda text: redact(cut(text, 400, "[shortened]"))[0], WIDEST),
    "a shortened call": (lambda text: redact(_shorter(text, 40))[0], 170),
    "a gist": (lambda text: redact(_clip(text))[0], 100),
    "a command": (lambda text: clean(text, 200), 8 * 200),
    "a gap": (lambda text: _gap_text(text) or "", 20 * MOST_CONTEXT),
    "a failure": (lambda text: str(failure_of(text)), 4000),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "filler", ["the build went on \n", f"key={made(40, 9)} "], ids=["words", "other secrets"]
)
def test_no_cut_leaves_half_a_secret(way, secret, filler):
    shorten, place = WAYS[way]
    text, parts = SECRETS[secret]
    many = filler * (2 * place // len(filler) + 100)
    first = text.index(parts[0]) + 12  # where the cut leaves a part that can be read

    for split in (first, first + 5, text.rindex(parts[-1]) + 10):
        before, after = many[: max(place - split, 0)], many[: max(place - len(text) + split, 0)]
        for whole in (f"{before}{text} {many}", f"{many} {text}{after}"):
            assert not survives(parts, shorten(whole)), split


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("part", [start_of, end_of])
def test_a_part_of_a_text_has_whole_secrets_or_none(secret, part):
    text, parts = SECRETS[secret]
    whole = "before it\n" * 50 + text + "\nafter it" * 50

    for size in range(1, len(whole), 11):
        assert not survives(parts, redact(part(whole, size))[0]), size


def test_a_part_keeps_nearly_all_of_a_text():
    words, block = "some words\n" * 1000, "x" * 50_000

    assert start_of("short", 10) == end_of("short", 10) == "short"
    assert len(start_of(words, 5000)) > 4980
    assert len(end_of(words, 5000)) > 4980
    assert len(start_of(block, 20_000)) == len(end_of(block, 20_000)) == 20_000 - SPLIT
