"""When a memory is needed: said in other words than its own, searched, and never shown as its words."""

import io
import json

import pytest

import recollect.model as m
from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder
from recollect.errors import ContentRefused
from recollect.memory.write.limits import MAX_SITUATION, MAX_SITUATIONS

LEDGER = "Postings are append-only; a reversal is a second row with the sign flipped."
WHEN = ("customer was charged twice", "undo a payment")
QUERY = "somebody paid two times, give the money back"


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture
def open_engine(tmp_path, model):
    opened = []

    def open_one(**options):
        (tmp_path / "shop").mkdir(exist_ok=True)
        engine = Engine.open(tmp_path / "shop", tmp_path / "home", **{"embedder": model, **options})
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine):
    engine = open_engine()
    for number in range(12):
        engine.remember(f"The colour of button {number} in the header is blue.", kind="fact")
    return engine


def found(engine, query=QUERY, **options):
    return [hit.memory.content for hit in engine.search(query, 3, **options).results]


def test_a_memory_is_found_by_what_it_is_needed_for(engine):
    engine.remember(LEDGER, kind="convention")
    before = found(engine)

    engine.remember(LEDGER, kind="convention", when_needed=WHEN)

    assert before == []
    assert found(engine) == [LEDGER]
    assert found(engine, "undo the payment", meaning=False)[0] == LEDGER
    why = engine.search(QUERY, 1).results[0].why
    assert why["parts"]["when"] > 0
    assert why["channels"]["when"]["cosine"] > 0.3


def test_what_changes_about_it_is_searched_at_once(engine):
    memory = engine.remember(LEDGER, when_needed=WHEN).id

    engine.edit(memory, when_needed=("the office plant is dry",))
    plant = found(engine, "water the plants")
    paid = engine.search(QUERY, 3).results
    engine.edit(memory, when_needed=())

    assert plant[0] == LEDGER
    assert all("when" not in hit.why["channels"] for hit in paid if hit.memory.id == memory)
    assert all("when" not in hit.why["channels"] for hit in engine.search("water the plants", 3).results)
    assert engine.get(memory).when_needed == ()


def test_a_text_that_is_edited_keeps_when_it_is_needed(engine):
    memory = engine.remember(LEDGER, when_needed=WHEN).id

    engine.edit(memory, content="Postings are never changed; a reversal is a new row.")

    assert engine.get(memory).when_needed == WHEN
    assert engine.search(QUERY, 1).results[0].why["channels"]["when"]["cosine"] > 0.3


def test_stating_it_again_adds_situations_and_keeps_the_first(engine):
    engine.remember(LEDGER, when_needed=WHEN)

    for number in range(MAX_SITUATIONS):
        engine.remember(LEDGER, when_needed=(f"refund number {number}",))

    memory = next(each for each in engine.list() if each.content == LEDGER)
    assert memory.when_needed == (*WHEN, "refund number 0", "refund number 1", "refund number 2")
    assert found(engine, "what about refund number 2")[0] == LEDGER


def test_an_agent_may_say_when_the_users_word_is_needed_and_changes_nothing_else(engine, open_engine):
    memory = engine.remember(LEDGER, kind="convention").id
    agent = open_engine(actor="agent:coder")

    agent.remember(LEDGER, kind="fact", tags=["other"], when_needed=WHEN)

    stored = engine.get(memory)
    assert (stored.when_needed, stored.content, stored.kind, stored.created_by) == (
        WHEN,
        LEDGER,
        "convention",
        "user",
    )
    assert "other" not in stored.tags
    assert found(engine)[0] == LEDGER
    engine.care.undo(engine.care.changes()[0].id)
    assert engine.get(memory).when_needed == ()


def test_what_a_person_says_goes_before_what_agents_said(engine, open_engine):
    agent = open_engine(actor="agent:coder")
    agent.remember(LEDGER, when_needed=[f"case {number}" for number in range(MAX_SITUATIONS)])

    engine.remember(LEDGER, when_needed=WHEN)

    memory = next(each for each in engine.list() if each.content == LEDGER)
    assert memory.when_needed == (*WHEN, "case 0", "case 1", "case 2")


def test_a_secret_in_it_is_not_stored(engine):
    receipt = engine.remember(
        LEDGER, when_needed=("the token ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 fails",)
    )

    (situation,) = engine.get(receipt.id).when_needed
    assert receipt.redactions
    assert "ghp_" not in situation


@pytest.mark.parametrize(
    "situations", [("x" * (MAX_SITUATION + 1),), tuple(f"case {n}" for n in range(MAX_SITUATIONS + 1))]
)
def test_too_much_of_it_is_refused(engine, situations):
    with pytest.raises(ContentRefused):
        engine.remember(LEDGER, when_needed=situations)


def test_it_is_embedded_later_where_no_model_was_there(engine, open_engine, model):
    open_engine(embedder=NoEmbedder()).remember(LEDGER, when_needed=WHEN)
    later = open_engine()

    assert later.care.count_missing() == 2
    assert later.embed_missing() == 2
    assert later.store.vector(
        next(each.id for each in later.list() if each.content == LEDGER), model.model + m.WHEN_MODEL
    )
    assert found(later)[0] == LEDGER


def test_an_export_brings_it_along(engine, tmp_path):
    engine.remember(LEDGER, when_needed=WHEN)
    out = io.StringIO()
    engine.export(out)

    (tmp_path / "other").mkdir()
    with Engine.open(tmp_path / "other", tmp_path / "home2", embedder=engine.context.embedder) as other:
        other.import_memories(json.loads(out.getvalue())["memories"])
        moved = [memory for memory in other.list(all_projects=True) if memory.content == LEDGER]

    assert [memory.when_needed for memory in moved] == [WHEN]
