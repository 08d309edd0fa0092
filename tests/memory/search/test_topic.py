"""Whether anything that is known answers a question."""

import pytest

from recollect import Engine
from recollect.embed.catalogue import catalogue
from recollect.embed.minilm import NAME, MiniLM
from recollect.memory.search import topic

MEMORIES = (
    "Each container of the API gets 512 MB of memory; the limit is in deploy/api.yaml.",
    "The worker runs in its own container, because one job needs 2 GB.",
    "Postgres listens on port 5544, because many have another one on 5432.",
    "Deploys are done from main only, by the release job.",
    "Prices are kept in cents, never as floats.",
    "The nightly import fails if a supplier sends dates without a zone.",
    "We chose Valkey as cache, since it has no licence trouble.",
    "Feature switches live in flags.toml.",
    "Migrations must be able to run while the old version is live.",
    "The thread pool of the mailer has four threads.",
    "Ship a change of the schema a day before the code that needs it.",
    "Sessions end after thirty minutes without a request.",
)


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture(scope="module")
def engine(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("topic")
    with Engine.open(folder, folder / "home", embedder=model) as engine:
        for content in MEMORIES:
            engine.remember(content)
        yield engine


@pytest.mark.parametrize(
    "question",
    [
        "how many containers fit on the largest cargo ship",
        "how much memory does an elephant's brain have",
        "where do swallows migrate to in winter",
        "how to thread a sewing machine",
    ],
)
def test_a_question_about_the_world_finds_nothing_though_it_shares_words(engine, question):
    assert engine.search(question).results == ()


@pytest.mark.parametrize(
    "question, answer",
    [
        ("how much memory may a container have", "512 MB"),
        ("which port does the database listen on", "5544"),
        ("people are logged out too early", "thirty minutes"),
        ("are amounts of money floats", "cents"),
    ],
)
def test_a_question_that_memory_can_answer_is_answered(engine, question, answer):
    assert answer in " ".join(hit.memory.content for hit in engine.search(question).results[:3])


@pytest.mark.parametrize(
    "question, answer",
    [
        ("how often do backups run", "six hours"),
        ("heap size", "12 GB"),
        ("sunday", "Sunday"),
        ("low battery", "3.3 V"),
        ("why does my device restart", "watchdog"),
        ("how is money represented", "cents"),
        ("old shop", "PHP"),
    ],
)
def test_a_short_question_in_general_words_is_answered(tmp_path, model, question, answer):
    with Engine.open(tmp_path, tmp_path / "home", embedder=model) as engine:
        for content in (
            *MEMORIES,
            "Backups are taken every six hours and tested monthly",
            "Android builds need 12 GB of heap",
            "The search index is rebuilt on Sunday nights",
            "The I2C bus hangs when the battery is below 3.3 V",
            "The watchdog resets the device after 8 seconds",
            "The legacy PHP shop is frozen: only security fixes",
        ):
            engine.remember(content)

        hits = engine.search(question).results

    assert answer in " ".join(hit.memory.content for hit in hits[:2])


def test_who_keeps_memories_of_everyday_life_may_ask_about_it(tmp_path, model):
    with Engine.open(tmp_path, tmp_path / "home", embedder=model) as engine:
        for content in (
            "Water the monstera every ten days.",
            "Grandma turns eighty in May.",
            "The cat eats only the tins with salmon.",
            "Red wine goes out of the carpet with salt.",
            "The best hikes near Innsbruck start at the Nordkette.",
            "Leo is allergic to strawberries.",
            "The eggs for ramen boil six minutes.",
            "We were in Sardinia in the summer of 2024.",
            "Anna plays the cello on Thursdays.",
            "The dentist is in Linden Street.",
            "Tom reads novels by Ursula Le Guin.",
            "The blue bicycle has a flat tyre.",
        ):
            engine.remember(content)

        hits = engine.search("how often should I water a monstera").results

    assert "ten days" in hits[0].memory.content


def test_a_task_gets_rules_that_are_about_something_else(engine):
    question = "how many containers fit on the largest cargo ship"

    assert engine.search(question, task=True).results


@pytest.mark.parametrize(
    "question, expected",
    [
        ("why did we choose Valkey", True),
        ("extendHold", True),
        ("what is in src/api", True),
        ("retry_limit", True),
        ("which formatter is used here", True),
        ("why is the sky blue", False),
        ("who was Ursula Le Guin", False),
    ],
)
def test_a_question_may_say_itself_that_it_is_about_a_project(question, expected):
    assert topic.names_project(question) is expected


@pytest.mark.parametrize(
    "question, specific, score, expected",
    [
        ("why is the sky blue", -2.0, 0.8, True),
        ("what does a load balancer do", 0.5, 0.4, True),
        ("what does a load balancer do", 0.5, 0.6, False),
        ("load balancer", -2.0, 0.4, False),
        ("what does our load balancer do", 0.5, 0.4, False),
    ],
)
def test_a_question_may_be_about_the_world_if_it_sounds_so_or_its_best_hit_is_weak(
    question, specific, score, expected
):
    assert topic.may_be_general(question, specific, score) is expected


def test_questions_about_the_world_and_about_work_lie_on_two_sides(model):
    world, work = model.embed(["what is the capital of Peru", "the deploy job fails with exit code 137"])

    assert topic.specificity(NAME, world.tobytes()) < 0 < topic.specificity(NAME, work.tobytes())


def test_without_a_direction_nothing_is_said_about_a_question():
    assert topic.specificity("somebody's-model@0123456789ab", bytes(4 * 384)) is None
    assert topic.specificity(NAME, bytes(4 * 7)) is None
    assert topic.specificity(NAME, None) is None


@pytest.mark.parametrize("name", [NAME, *catalogue()])
def test_every_model_of_the_catalogue_has_a_direction(name):
    assert topic.specificity(f"{name}@0123456789ab", bytes(4 * 384)) is not None
