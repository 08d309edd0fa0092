"""What was said in sessions, kept and found."""

import time
from datetime import UTC, datetime

import pytest

from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture
def engine(tmp_path, model):
    (tmp_path / "shop").mkdir()
    with Engine.open(tmp_path / "shop", tmp_path / "home", embedder=model) as engine:
        yield engine


TALK = [
    ("monday", "user", "Where do we keep the seed data?"),
    ("monday", "assistant", "In fixtures/seed.sql; make seed loads it."),
    ("monday", "user", "Great, thanks."),
    ("tuesday", "user", "The mailer sends everything twice since the upgrade."),
    ("tuesday", "assistant", "Two workers consume the same queue; I'll add a lock."),
]


def messages(talk=TALK):
    return [
        {
            "session": session,
            "order": order,
            "author": author,
            "text": text,
            "created_at": "2026-05-01T10:00:00Z",
        }
        for order, (session, author, text) in enumerate(talk)
    ]


def test_messages_are_found_by_message_and_by_session(engine):
    report = engine.import_messages(messages())

    by_message = engine.search_messages("double mails", limit=2)
    by_session = engine.search_sessions("double mails")

    assert report.kept == 5
    assert by_message[0].message.text.startswith("The mailer sends")
    assert (by_message[0].message.session, by_message[0].message.order) == ("tuesday", 3)
    assert [hit.session for hit in by_session] == ["tuesday", "monday"]
    assert by_session[0].best[0].message.session == "tuesday"


def test_an_answer_is_found_by_the_question_before_it(engine):
    engine.import_messages(messages())

    found = [hit.message.order for hit in engine.search_messages("where is the seed data kept", limit=2)]

    assert set(found) == {0, 1}


def test_the_parts_of_a_score_add_up(engine):
    engine.import_messages(messages())

    for hit in engine.search_messages("seed"):
        assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-3)


def test_importing_again_replaces_and_doubles_nothing(engine):
    engine.import_messages(messages())
    engine.search_messages("seed")

    engine.import_messages([{**messages()[0], "text": "Where are the fixtures?"}])

    found = engine.search_messages("where are the fixtures", limit=10)
    assert len(engine.store.messages.session(engine.settings.user, "monday")) == 3
    assert found[0].message.text == "Where are the fixtures?"


def test_a_message_is_redacted_and_bounded(engine, tmp_path):
    secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"

    report = engine.import_messages(
        [
            {"session": "s", "order": 0, "author": "user", "text": f"use {secret}"},
            {"session": "s", "order": 1, "author": "user", "text": "é" * 9000},
        ]
    )

    first, second = engine.store.messages.session(engine.settings.user, "s")
    assert report.redacted == 1
    assert secret not in first.text
    assert len(second.text.encode()) <= 8192


def test_what_is_no_message_is_refused_with_its_reason(engine):
    report = engine.import_messages(
        [
            {"session": "s", "order": 0, "text": ""},
            {"session": "", "order": 0, "text": "a"},
            {"session": "s", "order": "first", "text": "a"},
            {"session": "s", "order": 1, "text": "a", "author": "root"},
            {"session": "s", "order": 2, "text": "a \ud800"},
            {"session": "s", "order": 3, "text": "fine"},
        ]
    )

    assert report.kept == 1
    assert [number for number, _ in report.refused] == [0, 1, 2, 3, 4]


def test_messages_never_cross_projects(engine, tmp_path, model):
    engine.import_messages(messages())
    (tmp_path / "bank").mkdir()

    with Engine.open(tmp_path / "bank", tmp_path / "home", embedder=model) as other:
        here = other.search_messages("seed data")
        everywhere = other.search_messages("seed data", all_projects=True)

    assert here == ()
    assert everywhere[0].message.order == 0


def test_without_vectors_messages_are_found_by_words(tmp_path):
    (tmp_path / "p").mkdir()
    with Engine.open(tmp_path / "p", tmp_path / "home", embedder=NoEmbedder()) as engine:
        engine.import_messages(messages())

        assert engine.search_messages("mailer upgrade", limit=1)[0].message.order == 3


def test_messages_go_once_they_have_been_kept_for_their_time(home, folder, clock, embedder):
    with Engine.open(folder, home, clock=clock, embedder=embedder) as engine:
        engine.import_messages(messages())
        clock.advance(days=90)
        engine.schedule.run_idle()
        before = len(engine.search_messages("seed"))

        clock.advance(days=1)
        engine.schedule.run_idle()

        assert before > 0
        assert engine.search_messages("seed") == ()


def test_messages_stay_for_good_on_request(home, folder, clock, embedder):
    (home / "config.toml").write_text("message_days = 0\n")
    with Engine.open(folder, home, clock=clock, embedder=embedder) as engine:
        engine.import_messages(messages())
        clock.advance(days=4000)

        engine.schedule.run_idle()

        assert engine.search_messages("seed") != ()


def test_a_single_message_can_be_found(engine):
    engine.import_messages(messages(TALK[:1]))

    assert len(engine.search_messages("seed data")) == 1
    assert engine.search_sessions("seed data")[0].session == "monday"


def test_a_short_question_comes_after_the_answer_to_it(engine):
    engine.import_messages(
        messages(
            [
                ("pets", "user", "What pets does Jon keep?"),
                ("pets", "user", "Jon keeps two parrots and a very old tortoise called Shelly."),
                ("other", "user", "The release goes out on Friday."),
                ("other", "user", "The printer on the second floor is broken again."),
            ]
        )
    )

    found = engine.search_messages("What pets does Jon keep?", limit=2)

    assert [hit.message.order for hit in found] == [1, 0]
    assert found[1].why["question"] < 0


def test_a_short_message_takes_little_from_a_long_one_beside_it(engine):
    long_reply = "Compost needs " + " ".join(
        f"layer{number} of leaves, clippings and soil," for number in range(40)
    )
    talk = [
        ("garden", "user", "Thanks, that helps a lot."),
        ("garden", "assistant", long_reply),
        ("short", "user", "Thanks, that helps a lot."),
        ("short", "assistant", "Compost needs leaves, clippings and soil."),
        ("other", "user", "The release goes out on Friday."),
    ]
    engine.import_messages(messages(talk))

    hits = {hit.message.order: hit for hit in engine.search_messages("what does compost need", limit=10)}

    assert abs(hits[0].why["neighbours"]) < 0.2 * hits[2].why["neighbours"]


def test_a_request_finds_what_the_user_wants_from_now_on(engine):
    talk = [
        ("api", "user", "Always give the status codes when I ask about endpoints."),
        ("api", "assistant", "I will."),
        ("login", "user", "The login form loses its focus in Safari."),
        ("login", "assistant", "The login form sets it twice; I removed one of the two."),
        ("login", "user", "Now the login works."),
    ]
    engine.import_messages(messages(talk))

    asked = engine.search_messages("Can you show me how to call the login?", limit=5)
    looked_up = engine.search_messages("why the login form lost its focus", limit=5)

    assert {hit.message.order: hit.why["instruction"] for hit in asked} == {0: 1.5, 1: 0, 2: 0, 3: 0, 4: 0}
    assert all("instruction" not in hit.why for hit in looked_up)


def dated(*days):
    return [
        {"session": day, "order": 0, "author": "user", "text": text, "created_at": f"{day}T12:00:00Z"}
        for day, text in days
    ]


def test_a_message_is_found_by_its_date(engine):
    engine.import_messages(
        dated(
            ("2026-03-02", "We talked about the parser and its errors."),
            ("2026-03-09", "We talked about the parser and its speed."),
            ("2026-05-04", "We talked about the parser and its tests."),
            ("2026-05-05", "Users may log in twice."),
        )
    )

    def first(question):
        return engine.search_messages(question, limit=1)[0].message.created_at.date().isoformat()

    assert first("what did we say about the parser on 9 March?") == "2026-03-09"
    assert first("what did we say about the parser in May 2026?") == "2026-05-04"
    assert first("the parser, 2026-03-02") == "2026-03-02"
    assert engine.search_sessions("the parser on 9 March", limit=1)[0].session == "2026-03-09"


def test_yesterday_is_counted_from_now(tmp_path):
    now = datetime(2026, 5, 14, 12, tzinfo=UTC)
    (tmp_path / "shop").mkdir()
    with Engine.open(
        tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), clock=lambda: now
    ) as engine:
        engine.import_messages(
            dated(*((f"2026-05-{day:02}", "We talked about the parser.") for day in range(1, 15)))
        )

        hits = engine.search_messages("what about the parser yesterday", limit=2)

    assert hits[0].message.session == "2026-05-13"
    assert hits[0].score > hits[1].score


@pytest.fixture
def far_east(monkeypatch):
    """The process runs fourteen hours ahead of UTC."""
    monkeypatch.setenv("TZ", "Etc/GMT-14")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_east")
def test_dates_of_messages_do_not_depend_on_where_the_process_runs(tmp_path):
    now = datetime(2026, 5, 14, 12, tzinfo=UTC)
    (tmp_path / "shop").mkdir()
    with Engine.open(
        tmp_path / "shop", tmp_path / "home", embedder=NoEmbedder(), clock=lambda: now
    ) as engine:
        engine.import_messages(
            dated(*((f"2026-05-{day:02}", "We talked about the parser.") for day in range(10, 15)))
        )

        by_day = engine.search_messages("what about the parser on 12 May", limit=1)
        by_word = engine.search_messages("what about the parser yesterday", limit=1)

    assert [hit.message.session for hit in (*by_day, *by_word)] == ["2026-05-12", "2026-05-13"]


def test_an_exchange_in_one_message_is_told_apart(engine):
    def log(talk):
        return [{**message, "session": f"{number}"} for number, message in enumerate(messages(talk))]

    engine.import_messages(
        log(
            [
                ("", "user", "[2026-05-01] user: I need a gift.\nassistant: A bookshelf, a lamp or a rug?"),
                (
                    "",
                    "user",
                    "[2026-05-01] user: I bought a bookshelf.\nassistant: Do you need anything else?",
                ),
                ("", "user", "assistant: A bookshelf holds books."),
                ("", "user", "user: The mailer sends everything twice."),
            ]
        )
    )

    found = engine.search_messages("bookshelf", limit=3)

    assert found[0].message.text.startswith("[2026-05-01] user: I bought")
    assert {hit.message.session: hit.why["author"] < 0 for hit in found} == {
        "1": False,
        "0": False,
        "2": True,
    }


def test_a_configuration_in_a_reply_is_not_taken_for_a_person(engine):
    engine.import_messages(
        messages([("db", "assistant", "Put this into db.yaml:\nuser: postgres\nhost: db.example.org"), *TALK])
    )

    hit = engine.search_messages("postgres", limit=1)[0]

    assert hit.message.session == "db"
    assert hit.why["author"] < 0
