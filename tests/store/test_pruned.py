"""The shelf of what left a window."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.model import PrunedText
from recollect.text.words import PASSAGE, passages

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def text(name, said, session="s1", at=NOW):
    return PrunedText(name, session, None, at, said[:20], said, 10)


def names(found):
    return [each.id for each in found]


def test_a_text_is_had_by_its_id_or_the_end_of_it(store):
    kept = text("0abc123xyz789", "The till prints twice.")

    store.pruned.put("ada", "shop", [kept])

    assert store.pruned.get("ada", "0abc123xyz789", "s1") == kept
    assert store.pruned.get("ada", "xyz789") == kept
    assert store.pruned.get("bob", "xyz789") is None
    assert store.pruned.get("ada", "xyz789", "s2") is None


def test_a_text_is_had_of_one_project_alone(store):
    here, there = (
        text("0abc123xyz789", "The till prints twice."),
        text("0abc123xyz789", "Twice.", session="s2"),
    )
    store.pruned.put("ada", "shop", [here])
    store.pruned.put("ada", "bank", [there])

    assert store.pruned.get_in_project("ada", "shop", "xyz789") == here
    assert store.pruned.get_in_project("ada", "bank", "xyz789") == there
    assert store.pruned.get_in_project("ada", None, "xyz789") is None
    assert store.pruned.get_in_project("bob", "shop", "xyz789") is None


@pytest.mark.parametrize("name", ["", "a", "%", "xyz78*", "x" * 200])
def test_a_name_that_can_be_none_finds_nothing(store, name):
    store.pruned.put("ada", "shop", [text("0abc123xyz789", "The till prints twice.")])

    assert store.pruned.get("ada", name) is None


def test_a_text_is_found_by_any_passage_of_it(store):
    filling = "\n".join(f"line {number} about nothing" for number in range(200))
    store.pruned.put(
        "ada", "shop", [text("a1", filling), text("a2", f"{filling}\nThe till prints twice.\n{filling}")]
    )

    assert names(store.pruned.find("ada", "s1", "why are tills printing twice", 1)) == ["a2"]


@pytest.mark.parametrize("query", ["", "the of", 'say "hi"', "NOT", "a:b*", "("])
def test_a_query_is_words_and_never_syntax(store, query):
    store.pruned.put("ada", "shop", [text("a1", "The till prints twice.")])

    assert names(store.pruned.find("ada", "s1", query, 5)) in ([], ["a1"])


def test_a_text_that_comes_again_replaces_the_first(store):
    store.pruned.put("ada", "shop", [text("a1", "The till prints twice.")])

    store.pruned.put("ada", "shop", [text("a1", "The cart rounds down.")])

    assert store.pruned.find("ada", "s1", "till prints", 5) == []
    assert names(store.pruned.find("ada", "s1", "cart rounds", 5)) == ["a1"]


def test_old_texts_are_dropped_with_their_words(store, execute):
    store.pruned.put("ada", "shop", [text("a1", "The till prints twice.", at=NOW - timedelta(days=15))])
    store.pruned.put("ada", "shop", [text("a2", "The till prints once.")])

    dropped = store.pruned.drop_before(NOW - timedelta(days=14))

    assert dropped == 1
    assert names(store.pruned.find("ada", "s1", "till prints", 5)) == ["a2"]
    assert execute("SELECT count(*) FROM pruned_words WHERE pruned_words MATCH 'twice'") == [(0,)]
    assert execute("SELECT count(*) FROM pruned_words_data WHERE instr(block, CAST('twice' AS BLOB))") == [
        (0,)
    ]


def test_a_window_is_saved_bit_by_bit(store):
    save = store.pruned.save_window
    save("ada", "shop", "s1", NOW, {"a": (0, {"said": 1}), "b": (1, {"said": 2})}, ())

    save("ada", "shop", "s1", NOW, {"c": (2, {"said": 3}), "b": (1, {"said": 4})}, ["a"])

    assert store.pruned.window("ada", "s1") == [{"said": 4}, {"said": 3}]
    assert store.pruned.window("bob", "s1") == []


def test_passages_are_short_and_lose_nothing():
    said = "word " * 1_000 + "\n\nlast line"

    found = list(passages(said))

    assert max(map(len, found)) <= PASSAGE
    assert "".join(found).replace("\n", "") == said.replace("\n", "")
