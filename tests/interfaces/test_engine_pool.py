"""One pool of engines: opened once, shared by threads, closed when nobody uses them."""

import threading

import pytest

from recollect.config import load_settings
from recollect.interfaces.engine_pool import EngineOpener, EnginePool


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("shop", "bank", "mill")]
    for folder in made:
        folder.mkdir()
    return made


@pytest.fixture
def opener(home, embedder):
    return EngineOpener(lambda: load_settings(home), lambda settings: embedder)


@pytest.fixture
def pool(opener):
    made = EnginePool(opener)
    yield made
    made.close()


def test_every_engine_embeds_the_same_text_only_once(pool, folders, embedder):
    for folder in folders[:2]:  # the first one as well: often it is the only one
        with pool.use(folder, "user") as engine:
            engine.embedder.embed([f"text for {folder.name}"])
            engine.context.embedder.embed([f"text for {folder.name}"])

    assert embedder.texts == ["text for shop", "text for bank"]


def test_the_first_engine_measures_what_it_embeds(home, folders):
    pool = EnginePool(EngineOpener(lambda: load_settings(home, embedder="none")))
    with pool.use(folders[0], "user") as engine:
        engine.remember("Tests need a running Redis")
        assert engine.measures.context.store is engine.store
    pool.close()
    assert len(pool) == 0


def test_threads_share_engines_while_idle_ones_are_closed(opener, folders):
    pool = EnginePool(opener, max_open=2)
    errors = []

    def work(number):
        try:
            for turn in range(4):
                with pool.use(folders[(number + turn) % 3], "user") as engine:
                    memory = engine.remember(f"Fact {turn} of thread {number}").id
                    assert engine.get(memory).content == f"Fact {turn} of thread {number}"
                pool.close_idle()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pool.close_idle()

    assert errors == []
    assert len(pool) == 0
    pool.close()
