"""Pairs of statements that are alike on purpose and hold beside each other: the reader is trained on them (`bench.pair_reader`).

The same sentence about two things, two sentences about one thing, and long sentences with a common beginning or end. Frames and names
are other ones than those of `bench.statements`, on which the reader is measured.
"""

import random
import re
from collections.abc import Iterator
from itertools import combinations

COUNT = 2_500
_THINGS = (
    "antenna archive banner basket beacon booking broker calendar canvas chart claims courier crawler dashboard depot dispatcher "
    "editor elevator exporter fleet forecast gateway graph harvest importer invoice journal kiosk lens locker market meter minutes "
    "mirror navigator orchard packer parcel pipeline planner player portal postbox printer probe radar receipt registry relay "
    "renderer roster router sampler scanner scheduler seeder sensor signal sitemap spooler stock survey ticket timeline tracker "
    "uploader vault viewer voucher wallet warden watcher weather"
).split()
_FRAMES = (
    ("{0} is built with {1}.", "Bazel|Maven|Gradle|CMake|esbuild|sbt"),
    ("We wrote {0} in {1}.", "Elixir|Scala|C#|Ruby|Swift|Java"),
    ("{0} reads from the {1} bucket.", "raw|clean|public|cold|export"),
    ("`make test-{0}` needs {1}.", "Docker|a VPN|8 GB of RAM|an S3 mock|Chrome"),
    ("{0}: keep at most {1} connections open.", "5|12|20|40|75|120"),
    ("The {0} job starts at {1} UTC.", "01:15|02:40|04:00|05:30|23:10"),
    ("Sessions in {0} expire after {1}.", "ten minutes|an hour|a day|two weeks|90 seconds"),
    ("{1} is on call for {0}.", "Noor|Pavel|Ines|Kwame|Sakura|Tom"),
    ("Config for {0} lives in `{1}/{0}.toml`.", "etc|conf|settings|ops"),
    ("Do not import {1} from {0}.", "lodash|the ORM models|internal packages|moment|test helpers"),
    ("{0} may be released {1}.", "on any day|only by the release manager|without a review|every second week"),
    ("Errors in {0} are reported to {1}.", "Sentry|Rollbar|the audit log|stderr|Bugsnag"),
    ("{0} must be idempotent because {1}.", "the queue delivers twice|users double-click|cron overlaps"),
    ("Ids in {0} are {1}.", "UUIDs|integers|ULIDs|slugs|nanoids"),
    ("{0} has {1} feature flags.", "no|three|two dozen|nine"),
    ("In {0} dates are {1}.", "UTC|local time|epoch millis|ISO strings"),
    ("{0} runs as user {1}.", "1000|nobody|svc|root|deploy"),
    ("Coverage of {0} may not fall below {1}.", "60 %|75 %|80 %|92 %"),
    ("The {0} page is rendered on the {1}.", "server|client|edge"),
    ("{0} talks to {1} over gRPC.", "the planner of the partner|legacy|core|the data team's API"),
    ("{0} retries {1}.", "never|twice|with backoff|until a deadline"),
    ("Snapshots of {0} are refreshed with {1}.", "`-u`|`--update`|`just snap`|a script"),
    ("Large files of {0} are {1}.", "in Git LFS|fetched on demand|checked in|on the share"),
    ("{0} logs {1}.", "JSON|plain text|to journald|nothing in production"),
)
_SUBJECTS = (
    "the export for accountants|a stuck import|the nightly reindex|the customer's old address|the audit entry|every refund above 200 euros|"
    "the thumbnail of a video|a failed webhook|the signed contract|the search index|a translated page|the stock level|the price list|"
    "the sandbox account|an expired coupon|the weekly report|the retry queue|a merged pull request|the session cookie|the map tile"
).split("|")
_ACTS = (
    "is written to the ledger|is sent to the support team|is removed from the cache|is recomputed in a background job|is approved by two people|"
    "is read from the replica|is shown as a banner|is kept for seven years|is locked for a minute|is copied to the warehouse|"
    "takes its input from the event stream|goes through the rate limiter|is signed with the release key|is hidden behind a flag|"
    "needs a migration of its own|is validated against the schema"
).split("|")
_ENDS = (
    "when a user deletes the account|before the books of the month are closed|as soon as the payment has been confirmed by the bank|"
    "because the partner's API is slow on Mondays|while the maintenance window is open|so that the old mobile clients keep working|"
    "unless the tenant has opted out|after the nightly backup has finished|if the feature flag for the new checkout is on|"
    "since the audit found gaps in the trail"
).split("|")
_BEGINS = (
    "To keep the bill low,|For historical reasons,|In the new data centre,|During the import of a large tenant,|As agreed with the auditors,|"
    "On machines with little memory,"
).split("|")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def frames_beside(seed: int = 11) -> Iterator[tuple[str, str]]:
    """Yield pairs that hold beside each other."""
    chosen = random.Random(seed)
    for _ in range(COUNT):
        yield from (_same_frame(chosen), _same_thing(chosen), _long(chosen))


def other_number(statement: str, same: str, chosen: random.Random) -> str:
    """Return `same` with another number in place of one that both have: a contradiction. An empty text if they share none."""
    shared = sorted(set(_NUMBER.findall(statement)) & set(_NUMBER.findall(same)))
    if not shared:
        return ""
    number = chosen.choice(shared)
    factor = chosen.choice((0.5, 2, 3, 10))
    other = str(max(0, int(int(number) * factor) + chosen.choice((0, 0, 1))))
    return re.sub(rf"(?<![\w.]){number}(?![\w.])", other, same) if other != number else ""


def _same_frame(chosen: random.Random) -> tuple[str, str]:
    frame, values = chosen.choice(_FRAMES)
    one, other = chosen.sample(_THINGS, 2)
    some = values.split("|")
    first = chosen.choice(some)
    return _said(frame, one, first), _said(
        frame, other, first if chosen.random() < 0.5 else chosen.choice(some)
    )


def _same_thing(chosen: random.Random) -> tuple[str, str]:
    thing = chosen.choice(_THINGS)
    one, other = (
        _said(frame, thing, chosen.choice(values.split("|"))) for frame, values in chosen.sample(_FRAMES, 2)
    )
    return one, other


def _long(chosen: random.Random) -> tuple[str, str]:
    """Return two long sentences with a common beginning and end, about another thing, with another act, or both."""
    subjects, acts = chosen.sample(_SUBJECTS, 2), chosen.sample(_ACTS, 2)
    begin = chosen.choice(_BEGINS) if chosen.random() < 0.4 else ""
    end = chosen.choice(_ENDS)
    pairs = [(subject, act) for subject in subjects for act in acts]
    (one, first), (other, second) = chosen.choice(list(combinations(pairs, 2)))
    texts = (f"{begin} {subject} {act} {end}.".strip() for subject, act in ((one, first), (other, second)))
    first_text, second_text = (text[0].upper() + text[1:] for text in texts)
    return first_text, second_text


def _said(frame: str, thing: str, value: str) -> str:
    text = frame.format(thing, value)
    return text[0].upper() + text[1:] if text[0] != "`" else text
