"""When a memory is needed: said in other words than its own, searched, and never shown as its words."""

import io
import json
from dataclasses import replace

import pytest

import recollect.model as m
from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder
from recollect.errors import ContentRefused, LimitReached, MemoryNotFound, OutOfScope
from recollect.memory.write.enrich import embedded_situations
from recollect.memory.write.limits import MAX_SITUATION, MAX_SITUATIONS

LEDGER = "Postings are append-only; a reversal is a second row with the sign flipped."
WHEN = ("customer was charged twice", "undo a payment")
SECRET = "the token ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 fails"
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


def test_an_agent_that_states_it_again_adds_situations_and_keeps_the_first(engine, open_engine):
    engine.remember(LEDGER, when_needed=WHEN)
    agent = open_engine(actor="agent:coder")

    for number in range(MAX_SITUATIONS):
        agent.remember(LEDGER, when_needed=(f"refund number {number}",))

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


def test_what_a_person_says_goes_before_what_agents_said_of_their_own_statement(engine, open_engine):
    memory = engine.remember(LEDGER).id
    agent = open_engine(actor="agent:coder")
    agent.remember(LEDGER, when_needed=[f"junk {number}" for number in range(3)])
    agent.memory.describe(memory, [f"more junk {number}" for number in range(MAX_SITUATIONS)])

    engine.remember(LEDGER, when_needed=WHEN[:1])
    engine.memory.describe(memory, WHEN[1:])
    with pytest.raises(LimitReached, match="5 situations already"):
        agent.memory.describe(memory, ["even more junk"])

    assert engine.get(memory).when_needed == (*reversed(WHEN), "junk 0", "junk 1", "junk 2")


def test_a_secret_in_it_is_not_stored(engine):
    receipt = engine.remember(LEDGER, when_needed=(SECRET,))

    (situation,) = engine.get(receipt.id).when_needed
    assert receipt.redactions
    assert "ghp_" not in situation


def test_an_edit_embeds_what_is_stored_and_no_secret(engine, model, monkeypatch):
    memory = engine.remember(LEDGER).id
    texts = []
    monkeypatch.setattr(engine.memory.writer, "_embedder", Listening(model, texts))

    engine.edit(memory, when_needed=(SECRET, " ", "two\nlines  here"))

    stored = engine.get(memory).when_needed
    assert stored == ("the token [REDACTED: github-token] fails", "two lines here")
    assert texts == [LEDGER, embedded_situations(stored)]


class Listening:
    """An embedder that keeps the texts it is given."""

    def __init__(self, model, texts):
        self._texts, self._embedder, self.model = texts, model, model.model

    def embed(self, texts):
        self._texts += texts
        return self._embedder.embed(texts)


def test_a_statement_in_other_words_leaves_no_vector_of_other_situations(engine, open_engine, model):
    memory = engine.remember("Deploy with make deploy on Fridays.", when_needed=WHEN[:1]).id
    other = open_engine(actor="agent:coder")
    prepared = engine.memory.writer.prepare(
        m.Draft("Deploy with make deploy on Fridays.", when_needed=WHEN[1:])
    )

    other.memory.describe(memory, ["said meanwhile"])
    engine.memory.writer.write(prepared, engine.context.new_change("remember"))
    engine.remember("Something that fills in what is missing.")

    needed = engine.get(memory).when_needed
    assert needed == (*WHEN[1:], *WHEN[:1], "said meanwhile")
    expected = model.embed([embedded_situations(needed)])[0].astype("<f4").tobytes()
    assert engine.store.vector(memory, model.model + m.WHEN_MODEL) == expected


def test_an_import_keeps_what_a_memory_may_have_and_embeds_it(engine, model):
    many = [SECRET, "x" * (MAX_SITUATION + 1), *(f"case\n{number}" for number in range(9))]

    (memory,) = engine.import_memories([{"content": LEDGER, "when_needed": many}])

    needed = engine.get(memory).when_needed
    assert needed == ("the token [REDACTED: github-token] fails", "case 0", "case 1", "case 2", "case 3")
    assert engine.store.vector(memory, model.model + m.WHEN_MODEL) is not None
    assert engine.edit(memory, kind="convention")[0].when_needed == needed


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
    assert later.embed_missing(limit=1) == 1
    [vectors] = [each for each in later.care.doctor() if each.part == "vectors"]
    assert (vectors.ok, vectors.finding) == (
        False,
        "Memories whose situations have no vector of this model: 1.",
    )
    assert later.embed_missing() == 1
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


# saying it of a memory that is there


def test_a_memory_that_is_described_is_found_by_that_at_once_and_is_otherwise_the_same(engine, open_engine):
    memory = engine.get(engine.remember(LEDGER, kind="convention").id)
    agent = open_engine(actor="agent:coder")

    described, receipt = agent.memory.describe(memory.id, WHEN)

    assert replace(described, when_needed=(), updated_at=memory.updated_at) == memory
    assert (receipt.redactions, receipt.notes) == ((), ())
    assert found(engine)[0] == LEDGER
    assert engine.search(QUERY, 1).results[0].why["channels"]["when"]["cosine"] > 0.3
    line, change = engine.audit(limit=1, name=memory.id)[0], engine.care.changes()[0]
    assert (line.actor, line.action, line.detail) == ("agent:coder", "update", {"fields": ["when_needed"]})
    assert (change.actor, change.action, change.summary) == (
        "agent:coder",
        "describe",
        f"Said when {memory.id} is needed.",
    )
    engine.care.undo(change.id)
    assert engine.get(memory.id) == memory
    assert all("when" not in hit.why["channels"] for hit in engine.search(QUERY, 5).results)


def test_describing_it_in_the_same_words_again_changes_nothing(engine):
    memory = engine.remember(LEDGER).id
    first, _ = engine.memory.describe(memory, WHEN)

    again, _ = engine.memory.describe(memory, WHEN[::-1][1:])

    assert again == first
    assert [change.action for change in engine.care.changes()[:2]] == ["describe", "remember"]


def test_situations_are_cleaned_and_those_that_do_not_fit_are_named(engine, open_engine):
    memory = engine.remember(LEDGER, when_needed=[f"case {number}" for number in range(3)]).id
    agent = open_engine(actor="agent:coder")

    described, receipt = agent.memory.describe(memory, [f"{SECRET}\n\nSYSTEM", "case 1", "", "x", "y"])

    assert described.when_needed[3:] == ("the token [REDACTED: github-token] fails SYSTEM", "x")
    assert len(receipt.redactions) == 1
    assert receipt.notes == ("A memory has at most 5 situations: 1 left out.",)


@pytest.mark.parametrize("situations", [(), (" ", ""), ("x" * (MAX_SITUATION + 1),), ("nul \0",)])
def test_what_is_no_situation_is_refused(engine, situations):
    memory = engine.remember(LEDGER).id

    with pytest.raises(ContentRefused):
        engine.memory.describe(memory, situations)

    assert engine.get(memory).when_needed == ()


def test_two_that_describe_it_at_once_are_both_heard_and_the_vector_is_of_both(
    engine, open_engine, monkeypatch, model
):
    memory = engine.remember(LEDGER).id
    other = open_engine(actor="agent:coder")
    embed = engine.memory.writer._embed

    def interrupted(texts):
        monkeypatch.undo()
        other.memory.describe(memory, WHEN[1:])
        return embed(texts)

    monkeypatch.setattr(engine.memory.writer, "_embed", interrupted)
    engine.memory.describe(memory, WHEN[:1])

    assert engine.get(memory).when_needed == WHEN
    stored = engine.store.vector(memory, model.model + m.WHEN_MODEL)
    expected = model.embed([embedded_situations(WHEN)])[0].astype("<f4").tobytes()
    assert stored == expected


def test_an_agent_describes_nothing_of_another_project_or_of_all(engine, open_engine, tmp_path):
    (tmp_path / "bank").mkdir()
    memory = engine.remember(LEDGER, scope="global").id
    here = engine.remember("Only here: deploys run on Fridays").id
    with Engine.open(
        tmp_path / "bank", tmp_path / "home", embedder=engine.context.embedder, actor="agent:x"
    ) as bank:
        with pytest.raises(OutOfScope, match="may not say when it is needed"):
            bank.memory.describe(memory, WHEN)
        with pytest.raises(MemoryNotFound):
            bank.memory.describe(here, WHEN)


def test_those_that_matter_most_are_listed_first_and_those_that_need_it_only(engine, open_engine):
    agent = open_engine(actor="agent:coder")
    gotcha = agent.remember("The queue drops messages above 1 MB", kind="gotcha").id
    rule = agent.remember("Branches are named after tickets", kind="convention").id
    engine.store.put(replace(engine.get(rule), access_count=1))  # use has confirmed it
    said = engine.remember("Invoices are numbered without gaps", kind="decision").id
    engine.pin(engine.remember("Use pnpm to install").id)
    engine.remember("Half of the tests are ported", kind="task_progress")
    engine.remember("Described already", when_needed=WHEN)
    engine.remember("Known everywhere", scope="global")
    engine.remember("Proposed", created_by=f"{m.SEEDS_OF}shop", source="seeded", standing="candidate")
    engine.forget(engine.remember("Forgotten soon").id)

    memories, total = engine.memory.undescribed(3)

    assert [memory.id for memory in memories] == [said, rule, memories[2].id]
    assert memories[2].content == "The colour of button 11 in the header is blue."
    assert total == 15
    everything, _ = agent.memory.undescribed(100)
    assert len(everything) == total
    assert everything[-1].id == gotcha
