"""What two statements differ in, by the part it plays: corrections, denials in other words, and one value for another."""

import pytest

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare


def judged(old, new, cosine=0.7):
    return compare(new, old, cosine)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Invoices are printed by Oksana.", "Actually the invoices are printed by the warehouse."),
        (
            "The scanner SDK only works on a physical device.",
            "I had that wrong, the scanner SDK runs in the emulator too.",
        ),
        ("Draft the minutes in Dutch.", "Forget Dutch, I want the minutes in plain English."),
        ("Keep the fixtures in YAML files.", "From now on the fixtures belong in one SQL dump."),
        ("The kiosk reboots at dawn.", "My mistake, the kiosk is never rebooted by itself."),
    ],
)
def test_a_correction_that_speaks_of_the_same_is_asked_about(old, new):
    verdict = judged(old, new)

    assert verdict.relation is StatementRelation.CONTRADICTION
    assert not verdict.certain


def test_a_correction_is_explained_by_its_words():
    verdict = judged("Use npm ci in the Dockerfile.", "Scratch that, we install with pnpm in the Dockerfile.")

    assert verdict.explanation == "'scratch that' about 'Dockerfile' (rule revised, unsure)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The kiosk has a receipt printer.", "Actually the lift needs a new cable."),
        ("The kiosk runs Debian.", "The lobby kiosk plays a video now."),
        ("Use guard clauses instead of nested ifs.", "Return early instead of nested ifs."),
    ],
)
def test_a_correction_of_something_else_asks_nothing(old, new):
    assert judged(old, new).relation is not StatementRelation.CONTRADICTION


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Parcel ids are integers.", "A parcel id is a ULID.", "integers / ULID"),
        ("The carts are stored in Memcached.", "Carts are kept in Cassandra.", "Memcached / Cassandra"),
    ],
)
def test_another_value_in_the_same_place_of_the_same_frame_is_asked_about(old, new, words):
    verdict = judged(old, new)

    assert verdict.relation is StatementRelation.CONTRADICTION
    assert verdict.explanation == f"{words} (rule substituted, unsure)"


def test_a_language_does_not_take_the_place_of_a_database():
    verdict = judged("payouts is written in Go.", "The payouts service keeps its data in MongoDB.", 0.6)

    assert verdict.relation is not StatementRelation.CONTRADICTION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Feel free to touch the vendored code.", "Keep your hands off the vendored code."),
        ("We never ship on Fridays.", "Shipping on Fridays is fine."),
        ("Reports are sorted newest first.", "The oldest come first in the reports."),
    ],
)
def test_a_denial_in_other_words_is_found(old, new):
    assert judged(old, new).relation is StatementRelation.CONTRADICTION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tracking does not publish its changes to Kafka.", "shipping publishes its changes to Kafka."),
        (
            "Migrations of reports are applied by hand before a deploy.",
            "Migrations of shipping are applied automatically at start.",
        ),
        ("Use feature flags for new screens.", "No feature flag is needed for copy changes."),
    ],
)
def test_a_denial_about_something_else_is_none(old, new):
    assert judged(old, new).relation is not StatementRelation.CONTRADICTION


def test_long_statements_that_share_a_word_by_chance_do_not_contradict():
    issued = "services/auth issues a 15-minute RS256 access JWT plus a 30-day refresh token in a cookie. API only verifies, via JWKS."
    scanners = "Scanners authenticate by opaque device tokens (table device_tokens), not JWT; revocation from admin works at once."

    verdict = judged(issued, scanners, 0.42)

    assert verdict.relation is StatementRelation.RELATED
    assert verdict.rule == "same matter"
    assert judged(issued, scanners, 0.9).relation is StatementRelation.CONTRADICTION


def test_what_we_ended_is_what_has_ended():
    verdict = judged("We deprecated the SOAP endpoint.", "The SOAP endpoint is deprecated.", 0.95)

    assert verdict.relation in (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Tell @ops before restarting the broker.", "Let the ops folks know prior to a broker restart."),
        ("The kiln is only for testing.", "Use the kiln for nothing but testing."),
    ],
)
def test_everyday_wordings_of_one_rule_are_the_same(old, new):
    verdict = judged(old, new, 0.75)

    assert verdict.relation in (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)
    assert verdict.certain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The hose is in the tank.", "The hose is out of the tank."),
        ("Team Comet owns notifications.", "Team Comet owns reports."),
        ("The limit is 10 rows.", "The limit is 10 columns."),
    ],
)
def test_what_is_elsewhere_or_another_thing_is_not_the_same(old, new):
    verdict = judged(old, new, 0.93)

    assert not (
        verdict.certain and verdict.relation in (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)
    )


def test_versions_that_are_tested_are_several():
    verdict = judged("test on Python 3.13", "test Python 3.11", 0.8)

    assert verdict.relation is StatementRelation.RELATED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Crash reports of the desktop client go to Backtrace.",
            "Crash reports of the desktop client go to Zipline.",
        ),
        ("The storybook listens on port 6006.", "The storybook listens on port 6400, 6006 was taken."),
        (
            "The firmware samples the accelerometer at 50 Hz.",
            "Sampling rate of the accelerometer in the firmware: 200 Hz.",
        ),
    ],
)
def test_another_place_port_or_rate_is_a_contradiction(old, new):
    assert judged(old, new, 0.87).relation is StatementRelation.CONTRADICTION


def test_calls_from_two_services_are_two_things():
    old, new = (f"A call from {name} to another service is retried twice." for name in ("tax", "orders"))

    assert judged(old, new, 0.9).relation is not StatementRelation.CONTRADICTION


def test_two_that_forbid_the_same_do_not_contradict():
    old, new = (
        "Never edit the generated files in src/gen.",
        "src/gen is generated code, it must not be changed by hand.",
    )

    assert judged(old, new, 0.8).relation is not StatementRelation.CONTRADICTION


def test_what_may_be_disabled_is_not_disabled():
    assert not judged("Allow disabling IME on X11", "Keep IME always enabled on X11", 0.85).certain
