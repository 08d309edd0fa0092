"""Search through the engine: what comes back, from where, in what order, and why."""

import json
import math
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder
from recollect.errors import EmbedderUnavailable, Refused, UnknownName
from recollect.memory.index.index import MemoryIndex
from recollect.memory.search.recipes import RECIPES

DATA = Path(__file__).parents[3] / "bench" / "data"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture
def open_engine(tmp_path, model):
    opened = []

    def open_one(project="shop", **options):
        (tmp_path / project).mkdir(exist_ok=True)
        options = {"embedder": model, "clock": lambda: NOW, **options}
        opened.append(Engine.open(tmp_path / project, tmp_path / "home", **options))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine):
    return open_engine()


def contents(answer):
    return [hit.memory.content for hit in answer.results]


# what comes back


def test_words_meaning_and_typos_find_it(engine):
    engine.remember("Database migrations run before the web pods start", file_paths=("deploy/hooks.yaml",))
    engine.remember("The logo is drawn by the marketing team")

    for query in ("migrations", "schema changes at rollout", "databse migratons", "hooks.yaml", "migrat"):
        assert contents(engine.search(query))[0].startswith("Database"), query


def test_identifiers_are_found_whole_and_in_pieces(engine):
    engine.remember("parseHttpConfig swallows unknown keys")
    engine.remember("load_user_profile is cached for a minute")

    assert contents(engine.search("http config"))[0].startswith("parseHttpConfig")
    assert contents(engine.search("loadUserProfile"))[0].startswith("load_user_profile")


def test_an_alias_finds_what_is_called_otherwise(engine):
    engine.remember("Kubernetes restarts pods that fail their probe twice")

    default = engine.search("k8s", graph=False)
    engine.preferences.add_alias("gizmo", ["kubernetes"])
    own = engine.search("gizmo")

    assert "words" in default.results[0].why["channels"]
    assert "words" in own.results[0].why["channels"]


def test_files_at_hand_lift_what_is_about_them(engine):
    engine.remember("Limits are checked twice", file_paths=("api/cart.py",))
    engine.remember("Limits are checked once", file_paths=("api/order.py",), branch="other")
    engine.remember("Limits are checked by the gateway as well", file_paths=("edge/gate.go",))

    plain = engine.search("where are limits checked")
    lifted = engine.search("where are limits checked", files=["edge/gate.go"])

    gate = "Limits are checked by the gateway as well"
    assert contents(lifted)[0] == gate
    assert "file" in next(h for h in lifted.results if h.memory.content == gate).why["parts"]
    assert all("file" not in hit.why["parts"] for hit in plain.results)


def test_a_season_that_is_on_lifts_its_memories(engine):
    engine.remember("Freeze the main branch on Thursday", season="release-week")
    before = engine.search("when is the branch frozen").results[0].score

    engine.preferences.start_season("release-week")
    during = engine.search("when is the branch frozen").results[0].score
    engine.preferences.end_season("release-week")

    assert during > before
    assert engine.search("when is the branch frozen").results[0].score == pytest.approx(before)


# why


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_score_is_the_sum_or_product_of_what_why_says(engine, recipe):
    for text in ("Redis holds the locks", "Locks are advisory", "Redis is restarted at night"):
        engine.remember(text, file_paths=("lock.py",), tags=("infra",))

    for hit in engine.search("redis locks", recipe=recipe, files=["lock.py"]).results:
        parts = hit.why["parts"].values()
        total = math.prod(parts) if hit.why["combined"] == "product" else sum(parts)
        assert hit.score == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("channel, figure", [("words", "score"), ("meaning", "cosine")])
def test_a_channel_tells_where_each_hit_stood_in_it(engine, channel, figure):
    for text in ("Redis holds the locks", "Locks are advisory", "Redis is restarted at night"):
        engine.remember(text)

    found = [hit.why["channels"][channel] for hit in engine.search("redis locks").results]

    assert len(found) == 3
    for each in found:
        assert each["rank"] == 1 + sum(other[figure] > each[figure] for other in found)


def test_explain_tells_why_a_memory_is_where_it_is(engine):
    receipt = engine.remember("Redis holds the locks")
    engine.remember("The mailer retries three times")

    hit = engine.explain("where are the locks", receipt.id)

    assert hit.why["channels"]["words"]["rank"] == 1
    with pytest.raises(Refused, match="not among the first 100"):
        engine.explain("zebra crossing", receipt.id)


# the graph


def linked(engine):
    memories = [json.loads(line) for line in (DATA / "linked.jsonl").read_text().splitlines()]
    engine.import_memories({**row, "links": None} for row in memories)
    for row in memories:
        for link in row.get("links", ()):
            engine.link(row["id"], link["to"], link["relation"])
    return [json.loads(line) for line in (DATA / "linked_questions.jsonl").read_text().splitlines()]


def test_the_cascade_finds_what_shares_neither_words_nor_meaning(engine):
    questions = linked(engine)

    def found(graph):
        return sum(
            set(question["relevant"])
            <= {hit.memory.id for hit in engine.search(question["q"], graph=graph).results}
            for question in questions
        )

    assert found(graph=True) >= 9
    assert found(graph=False) <= 3


def test_the_path_through_the_graph_is_told(engine):
    question = linked(engine)[0]

    hit = next(h for h in engine.search(question["q"]).results if h.memory.id in question["relevant"])

    assert "→" in hit.why["channels"]["graph"]["path"]
    assert hit.why["parts"]["graph"] > 0


def test_a_tag_on_500_memories_floods_nothing(engine):
    engine.import_memories(
        {"content": f"Chapter {number} deals with subject {number * 13}", "tags": ["common"]}
        for number in range(500)
    )
    wanted = engine.import_memories(
        [{"content": "Safari drops the session cookie", "tags": ["common", "web"]}]
    )

    hits = engine.search("login loop on Safari").results

    assert hits[0].memory.id == wanted[0]
    assert all(not hit.memory.content.startswith("Chapter") for hit in hits)


# who may see what


PLACES = st.fixed_dictionaries(
    {
        "project_id": st.sampled_from(["here", "p-other"]),
        "user_id": st.sampled_from(["me", "someone"]),
        "visibility": st.sampled_from(["private", "project"]),
        "state": st.sampled_from(["active", "active", "superseded", "archived", "deprecated", "deleted"]),
        "branch": st.sampled_from([None, None, "feature"]),
        "scope": st.sampled_from(["project", "project", "session"]),
    }
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(PLACES, min_size=1, max_size=12),
    query=st.sampled_from(["zebra", "stripes of animals", "zebr"]),
)
def test_nothing_crosses_a_project_a_branch_a_user_or_a_state(tmp_path_factory, model, places, query):
    folder = tmp_path_factory.mktemp("isolation")
    (folder / "shop").mkdir()
    with Engine.open(folder / "shop", folder / "home", embedder=NoEmbedder(), clock=lambda: NOW) as engine:
        me, here = engine.settings.user, engine.project.id
        ids = engine.import_memories(
            {
                **place,
                "content": f"zebra number {number} has stripes",
                "project_id": here if place["project_id"] == "here" else place["project_id"],
                "user_id": me if place["user_id"] == "me" else place["user_id"],
                "session": f"s{number}",
            }
            for number, place in enumerate(places)
        )

        shown = {hit.memory.id for hit in engine.search(query, 50).results}

    allowed = {
        each
        for each, place in zip(ids, places, strict=True)
        if place["project_id"] == "here"
        and place["state"] == "active"
        and place["branch"] is None
        and place["scope"] == "project"
        and (place["user_id"] == "me" or place["visibility"] != "private")
    }
    assert shown <= allowed


def test_other_projects_are_searched_on_request_only(open_engine):
    open_engine("bank").remember("The vault opens at nine")
    engine = open_engine("shop")

    assert engine.search("when does the vault open").results == ()
    assert contents(engine.search("when does the vault open", all_projects=True)) == [
        "The vault opens at nine"
    ]


def test_as_of_answers_from_what_was_valid_then(open_engine):
    clock = [NOW - timedelta(days=20)]
    engine = open_engine(clock=lambda: clock[0])
    engine.remember("The API port is 8080")
    clock[0] = NOW
    engine.remember("The API port is 9090")

    assert contents(engine.search("API port")) == ["The API port is 9090"]
    assert contents(engine.search("API port", as_of=NOW - timedelta(days=10))) == ["The API port is 8080"]
    assert engine.search("API port", as_of=NOW - timedelta(days=30)).results == ()


# odd questions


@pytest.mark.parametrize("query", ["", "   ", "\x00"])
def test_an_empty_query_is_refused(engine, query):
    with pytest.raises(Refused, match="empty"):
        engine.search(query)


@pytest.mark.parametrize(
    "query", ["(", '" OR *', "NEAR(a b)", "a:b*", "'; DROP TABLE memories;--", "the of and", "\ud800"]
)
def test_a_query_is_words_and_never_syntax(engine, query):
    engine.remember("Something to be found")

    engine.search(query)


def test_a_pasted_file_is_a_query_too(engine):
    engine.remember("The importer skips empty rows")

    answer = engine.search("importer skips rows " + "lorem ipsum dolor " * 6000)

    assert contents(answer) == ["The importer skips empty rows"]


def test_bad_limits_times_and_names_are_refused(engine):
    with pytest.raises(Refused, match="limit"):
        engine.search("x", 0)
    with pytest.raises(Refused, match="future"):
        engine.search("x", as_of=NOW + timedelta(days=1))
    with pytest.raises(UnknownName, match="recipe"):
        engine.search("x", recipe="best")
    with pytest.raises(UnknownName, match="kind"):
        engine.search("x", kind="nonsense")


def test_an_empty_store_answers_with_nothing(engine):
    assert engine.search("anything at all").results == ()


# limits


class SlowStore:
    """The real store, in which some questions are not answered before `released`."""

    def __init__(self, store, slow):
        self._store = store
        self._slow = slow
        self.released = threading.Event()
        self.asked = lambda: None

    def __getattr__(self, name):
        real = getattr(self._store, name)
        if name not in self._slow:
            return real

        def wait(*arguments, **options):
            self.asked()
            assert self.released.wait(60), "the search waits for the store"
            return real(*arguments, **options)

        return wait


@pytest.mark.parametrize(
    "slow, late, finds",
    [
        (("vectors_since",), "meaning", True),
        (("neighbours",), "graph", True),
        (("get_many",), "memories", False),
        (("change",), "words, meaning", False),
    ],
)
def test_a_slow_store_costs_the_answer_no_more_than_its_time(engine, monkeypatch, slow, late, finds):
    from recollect.memory.search import channels
    from recollect.memory.search.latency import LatencyWindow
    from recollect.memory.search.search import Searcher, SearchQuery

    for name in late.split(", "):
        monkeypatch.setitem(channels.DEADLINES_MS, name, 50.0)
    engine.remember("Redis holds the locks", tags=("infra",))
    store = SlowStore(engine.store, ())
    searcher = Searcher(replace(engine.context, store=store), MemoryIndex(store), LatencyWindow())
    searcher.search(SearchQuery("redis locks", engine.context.view()))
    engine.remember("The mailer retries")  # so that the index has something to read
    store._slow = slow

    answer = searcher.search(SearchQuery("redis locks", engine.context.view()))
    store.released.set()
    searcher.close()

    assert answer.partial
    assert late in answer.notes[0]
    assert bool(answer.results) is finds


class Patient:
    """The real model, which does not begin before it is told to."""

    def __init__(self, embedder):
        self._embedder = embedder
        self.model = embedder.model
        self.query_prefix = ""
        self.told = threading.Event()

    def embed(self, texts):
        assert self.told.wait(10), "nobody did anything meanwhile"
        return self._embedder.embed(texts)


def test_words_are_looked_for_while_the_model_is_at_work(engine):
    from recollect.memory.search.latency import LatencyWindow
    from recollect.memory.search.search import Searcher, SearchQuery

    engine.remember("Redis holds the locks")
    store, model = SlowStore(engine.store, ("change",)), Patient(engine.embedder)
    store.released.set()
    searcher = Searcher(
        replace(engine.context, store=store, embedder=model), MemoryIndex(store), LatencyWindow()
    )
    model.told.set()
    searcher.search(SearchQuery("redis locks", engine.context.view()))
    model.told.clear()
    store.asked = model.told.set

    answer = searcher.search(SearchQuery("redis locks", engine.context.view()))
    searcher.close()

    assert contents(answer) == ["Redis holds the locks"]
    assert not answer.partial


def test_after_a_hundred_fast_answers_it_recovers(engine):
    engine.remember("Redis holds the locks")
    window = engine.retrieval.searcher.window
    for _ in range(20):
        window.add(500)
    degraded = window.degraded

    for _ in range(100):
        engine.search("redis")

    assert degraded
    assert not window.degraded
    assert engine.stats()["recall"]["degraded"] is False


def test_a_broken_model_leaves_the_words(open_engine):
    engine = open_engine(embedder=NoEmbedder(EmbedderUnavailable("The model is broken.")))
    engine.remember("Redis holds the locks")

    answer = engine.search("redis")

    assert contents(answer) == ["Redis holds the locks"]
    assert "broken" in answer.notes[0]


def test_what_another_process_wrote_is_found_at_once(open_engine):
    one, other = open_engine(), open_engine()
    one.search("nothing yet")

    other.remember("Redis holds the locks")

    assert contents(one.search("redis locks")) == ["Redis holds the locks"]


def test_a_forgotten_or_edited_memory_is_no_longer_found_by_its_old_words(engine):
    first, second = engine.remember("Redis holds the locks"), engine.remember("The mailer retries")
    engine.search("redis")

    engine.forget(first.id)
    engine.edit(second.id, content="Webhooks are signed")

    assert engine.search("redis mailer").results == ()
    assert contents(engine.search("signed webhooks")) == ["Webhooks are signed"]


def test_a_query_that_nothing_answers_finds_nothing(engine):
    engine.remember("The deploy waits for the canary")

    assert engine.search("photosynthesis of the deep sea").results == ()
    assert engine.search("what does the deploy wait for").results


def test_a_kind_of_work_alone_does_not_answer_a_question_about_something_else(engine):
    engine.remember("Signature check needs the raw bytes of the request body", tags=["auth"])
    engine.remember("Migrations are reviewed before a column is added", tags=["migrations"])
    for number in range(10):
        engine.remember(f"Machine {number} of the cluster runs the nightly export number {number}")

    assert engine.search("train a puppy not to bite").results == ()
    assert engine.search("add a column for the birthday").results
