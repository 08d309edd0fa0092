"""Which memories are found to lie together, what they are called, and when none are."""

import hashlib
from datetime import UTC, datetime

import numpy as np
import pytest

import recollect.model as m
from recollect.memory.maintenance import clusters
from recollect.memory.maintenance.clusters import clusters_due, refresh_clusters
from recollect.text.words import distinctive_words

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HERE = m.View("ada", "shop")
TOPICS = {
    "refund": "Refunds of a payment go through the ledger.",
    "scanner": "Scanners at the gate work offline.",
    "alembic": "Alembic revisions are merged by hand.",
}


def keep(store, vector, content, **fields):
    values = {
        "id": hashlib.sha256(content.encode()).hexdigest()[:18],  # the sample goes by it
        "user_id": "ada",
        "project_id": "shop",
        "scope": m.Scope.PROJECT,
        "kind": "fact",
        "content": content,
        "summary": content,
        "fingerprint": m.fingerprint(content),
        "created_at": NOW,
        "updated_at": NOW,
        "valid_from": NOW,
        "provenance": (m.Provenance(m.Source.USER_STATED, NOW),),
    }
    memory = m.Memory(**{**values, **fields})
    store.put(memory)
    store.put_vector(memory.id, "fake", (vector / np.linalg.norm(vector)).astype("<f4").tobytes())
    return memory.id


def fill(store, each, noise=30, dim=128):
    """`each` memories near the centre of every topic, and some that are near nothing; ids by topic."""
    chance = np.random.default_rng(7)
    groups = {}
    with store.transaction():
        for topic, content in TOPICS.items():
            centre = chance.standard_normal(dim)
            vectors = (centre + 0.4 * chance.standard_normal(dim) for _ in range(each))
            groups[topic] = {keep(store, vector, f"{content} Case {n}.") for n, vector in enumerate(vectors)}
        for number in range(noise):
            keep(store, chance.standard_normal(dim), f"Something else, number {number}.")
    return groups


def test_topics_are_found_and_what_is_near_nothing_is_in_none(store):
    groups = fill(store, each=15)

    made = refresh_clusters(store, "fake", HERE, "shop", NOW)

    assert len(made) == 3
    for cluster in made:
        assert any(set(cluster.members) <= group for group in groups.values())
        assert len(cluster.members) >= 10
    assert {cluster.id for cluster in store.clusters("shop")} == {cluster.id for cluster in made}


def test_a_cluster_is_called_by_its_telling_words(store):
    fill(store, each=15)

    labels = " / ".join(cluster.label for cluster in refresh_clusters(store, "fake", HERE, "shop", NOW))

    for word in ("ledger", "offline", "alembic"):
        assert word in labels
    assert "the" not in labels.split()


def test_the_centre_is_a_unit_vector_near_its_members(store):
    fill(store, each=15)

    for cluster in refresh_clusters(store, "fake", HERE, "shop", NOW):
        centre = np.frombuffer(cluster.centroid, "<f4")
        cosines = [np.frombuffer(store.vector(name, "fake"), "<f4") @ centre for name in cluster.members]
        assert np.linalg.norm(centre) == pytest.approx(1.0, abs=1e-5)
        assert np.mean(cosines) > 0.8


def test_the_same_memories_give_the_same_clusters(store):
    fill(store, each=15)

    first = refresh_clusters(store, "fake", HERE, "shop", NOW)
    second = refresh_clusters(store, "fake", HERE, "shop", NOW)

    assert first == second


@pytest.mark.parametrize("each, noise", [(0, 0), (6, 0), (0, 60)])
def test_little_or_loose_data_makes_no_clusters_rather_than_bad_ones(store, each, noise):
    fill(store, each, noise)

    assert refresh_clusters(store, "fake", HERE, "shop", NOW) == []


def test_old_clusters_go_when_there_are_none_any_more(store):
    old = keep(store, np.ones(128), "Alone now.")
    store.put_clusters("shop", [m.Cluster("old", "shop", "old", "fake", b"", (old,), NOW)])

    refresh_clusters(store, "fake", HERE, "shop", NOW)

    assert store.clusters("shop") == []


def test_only_what_the_view_shows_and_the_model_made_is_clustered(store):
    fill(store, each=15)
    secret = keep(store, np.ones(128), "Not ours.", project_id="other")

    seen = dict(store.vectors(HERE, "fake"))

    assert len(seen) == store.count(HERE)
    assert secret not in seen
    assert list(store.vectors(HERE, "another")) == []
    assert refresh_clusters(store, "another", HERE, "shop", NOW) == []


def test_of_many_memories_a_sample_is_clustered_and_the_rest_assigned(store, monkeypatch):
    groups = fill(store, each=40, noise=60)
    monkeypatch.setattr(clusters, "SAMPLE", 90)

    made = refresh_clusters(store, "fake", HERE, "shop", NOW)

    assert len(made) == 3
    for cluster in made:
        assert any(set(cluster.members) <= group for group in groups.values())
    assert sum(len(cluster.members) for cluster in made) > 90


def test_clusters_are_due_every_fifty_retrievals(store):
    store.set_setting("shop", "retrievals", {"count": 49, "recent": []})
    early = clusters_due(store, "shop")
    store.set_setting("shop", "retrievals", {"count": 50, "recent": []})
    due = clusters_due(store, "shop")
    refresh_clusters(store, "fake", HERE, "shop", NOW)

    assert (early, due, clusters_due(store, "shop")) == (False, True, False)


def test_telling_words_are_neither_common_nor_short():
    assert distinctive_words("We must always use the Ledger, and it is the ledger's job.") == [
        "ledger",
        "job",
    ]
