"""Rules and the local model: good enough to do without anybody else."""

import pytest

import recollect.model as m
from recollect.config import load_settings
from recollect.llm.protocol import StatementRelation
from recollect.memory.sidecar import LocalSidecar, open_sidecar


@pytest.fixture
def local(embedder):
    return LocalSidecar(embedder)


@pytest.fixture
def found(engine):
    """Remembers statements, and hands them out as hits with the scores given."""

    def found(*scored, **fields):
        hits = []
        for content, score, *channels in scored:
            memory = engine.get(engine.remember(content, **fields).id)
            names = channels or ("words", "meaning")
            why = {"channels": {name: {"score": 20.0} for name in names}, "parts": dict.fromkeys(names, 0.1)}
            hits.append(m.Hit(memory, score, why))
        return hits

    return found


def contents(verified, hits):
    texts = {hit.memory.id: hit.memory.content for hit in hits}
    return [texts[name] for name in verified.relevant]


def test_the_default_needs_nobody(home, store, embedder, clock):
    assert open_sidecar(load_settings(home, {}), store, embedder, clock).name == "local"


def test_what_fits_too_little_is_left_out(local, found):
    hits = found(("Tests need a running Redis", 0.8), ("The logo is blue", 0.4))

    assert contents(local.verify("why do the tests fail?", hits), hits) == ["Tests need a running Redis"]


def test_what_is_far_behind_the_best_is_left_out(local, found):
    hits = found(("Tests need a running Redis", 1.2), ("The till prints twice", 0.6))

    assert contents(local.verify("why do the tests fail?", hits), hits) == ["Tests need a running Redis"]


def test_without_vectors_words_are_enough(local, found):
    hits = found(("Tests need a running Redis", 0.45, "words"))

    assert local.verify("why do the tests fail?", hits).relevant


def test_a_neighbour_in_the_graph_alone_is_not_about_this(local, found):
    hits = found(("Tests need a running Redis", 0.8, "graph"))

    assert not local.verify("why do the tests fail?", hits).relevant


def test_what_tells_of_the_moment_must_be_clearly_about_this(local, found):
    hits = found(("The tests were moved", 0.6), kind="file_change")

    assert not local.verify("why do the tests fail?", hits).relevant


def test_what_only_repeats_the_context_is_left_out(local, found):
    hits = found(("Tests need Redis", 0.9), ("Never use npm", 0.9))

    verified = local.verify("I know that the tests need Redis. Now use npm to run them.", hits)

    assert contents(verified, hits) == ["Never use npm"]


def test_two_that_contradict_each_other_are_named(local, found, engine, clock):
    (old,) = found(("The API listens on port 8080", 0.9))
    clock.advance(days=1)
    (new,) = found(("The API listens on port 9090", 0.9))

    verified = local.verify("which port?", [old, new])

    assert verified.relations == ((new.memory.id, old.memory.id, m.Relation.CONTRADICTS),)


def test_nothing_found_is_nothing_relevant(local):
    assert local.verify("why do the tests fail?", []).relevant == ()


@pytest.mark.parametrize("broken", [False, True])
def test_statements_are_compared_with_and_without_a_model(local, embedder, broken):
    embedder.broken = broken

    assert local.relate("Use spaces", "Use tabs") is StatementRelation.CONTRADICTION
    assert local.relate("Tests need Redis", "The logo is blue") is StatementRelation.UNRELATED


def test_a_summary_says_what_the_text_comes_back_to_in_its_order(local):
    text = """Hello there. The login failed because the session cookie was dropped by the proxy.
    I had a sandwich for lunch in the meantime. The proxy drops the session cookie when the path is wrong.
    We set the cookie path in the proxy and the login works. Thanks a lot. OK."""

    lines = local.summarise(text, 2).splitlines()

    assert len(lines) == 2
    assert all(line.startswith("- ") and "cookie" in line for line in lines)
    assert local.summarise("", 3) is None


def test_none_judges_nothing(home, store, embedder, clock):
    silent = open_sidecar(load_settings(home, {}, sidecar="none"), store, embedder, clock)

    assert silent.verify("x", []) is None
    assert silent.relate("a", "b") is silent.summarise("a", 1) is None
