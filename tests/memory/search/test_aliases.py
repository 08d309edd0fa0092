"""Words that stand for one another: those that come with Recollect, and a project's own."""

from datetime import UTC, datetime

import pytest

from recollect.errors import Refused
from recollect.memory.index.bm25 import Bm25Index
from recollect.memory.index.vocabulary import QueryWord
from recollect.memory.ranking import ALIAS_SHARE, MEMORY_MEASURES
from recollect.memory.search import aliases as al
from recollect.memory.search.query_expansion import (
    alias_key,
    everyday_meaning,
    everyday_words,
    expand_query,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def add(store):
    return lambda name, *words, project="shop": al.add_alias(store, project, name, words, "user", NOW)


@pytest.fixture
def remove(store):
    return lambda name, *words, project="shop": al.remove_alias(store, project, name, words, "user", NOW)


def stands_for(query: str, aliases: al.Aliases, unused: str = "") -> tuple[dict[str, float], set[str]]:
    """What the words of `query` and their aliases look for, by how far it counts; and beside it what they mean."""
    numbers: dict[str, int] = {}

    def known(name: str) -> list[int]:
        return [numbers.setdefault(name, len(numbers))]

    words = [
        QueryWord(text, ((known(text.lower())[0], 1.0),) if text not in unused.split() else ())
        for text in query.split()
    ]
    wide, meant = expand_query(query, words, aliases, known)
    names = {number: name for name, number in numbers.items()}
    found = [(names[term], share) for word in wide for term, share in (*word.also, *word.terms)]
    return (
        dict(sorted(found, key=lambda pair: pair[1])),
        {names[term] for word in meant for term, _ in word.also},
    )


def test_what_was_asked_counts_fully_and_what_it_stands_for_less(store):
    found, _ = stands_for("auth fails", al.load_aliases(store, "shop"))

    assert found["auth"] == found["fails"] == 1.0
    assert found["authentication"] == found["login"] == ALIAS_SHARE < 1.0


def test_an_alias_works_both_ways_but_not_round_the_corner(store):
    found, _ = stands_for("login", al.load_aliases(store, "shop"))

    assert "auth" in found
    assert "authorization" not in found


def test_two_words_can_be_one_name(store):
    known = al.load_aliases(store, "shop")

    assert stands_for("open Pull request", known)[0]["pr"] == ALIAS_SHARE
    assert "pr" not in stands_for("request pull", known)[0]


@pytest.mark.parametrize(
    ("query", "name"),
    [("libraries", "lib"), ("two pull requests", "pr"), ("ran out of memory", "oom")],
)
def test_a_name_is_known_in_all_its_forms_and_with_its_small_words(store, query, name):
    assert name in stands_for(query, al.load_aliases(store, "shop"))[0]


def test_what_was_asked_itself_is_never_discounted(store):
    assert stands_for("db database", al.load_aliases(store, None))[0] == {"db": 1.0, "database": 1.0}


@pytest.mark.parametrize("query", ["crash", "crashes", "it crashed"])
def test_beside_an_everyday_word_stands_what_it_means(query):
    found, meant = stands_for(query, {})

    assert set(found) == set(query.split())
    assert {"exception", "oom"} <= meant


def test_a_word_that_nobody_uses_is_taken_for_what_it_means():
    found, meant = stands_for("crash", {}, unused="crash")

    assert found == dict.fromkeys(meant, ALIAS_SHARE)


@pytest.mark.parametrize("query", ["money back", "their money back please", "switch it off", "switched off"])
def test_everyday_words_can_be_phrases(query):
    found, meant = stands_for(query, {})

    assert meant & {"refund", "flag"} == found.keys() & {"refund", "flag"} != set()


def test_who_knows_the_word_is_not_sent_back_to_everyday_ones():
    assert stands_for("chargeback", {}) == ({"chargeback": 1.0}, set())


def test_who_asks_in_everyday_words_finds_what_is_written_in_those_of_the_field(engine):
    engine.remember("Posters are resized by the media service.")
    engine.remember("A refund above 500 EUR needs a second approver.")

    best = engine.search("someone wants their money back").results[0]

    assert best.memory.content.startswith("A refund")
    assert best.why["parts"]["everyday"] > 0


def test_only_what_some_memory_says_is_looked_for_and_nothing_like_it():
    index = Bm25Index(MEMORY_MEASURES)
    index.add([[("content", "Refunds go back to the card.")]])

    assert index.known_terms("refund") == index.known_terms("Refunds") != []
    assert index.known_terms("refnd") == index.known_terms("chargeback") == index.known_terms("p95") == []


def test_everyday_words_are_in_small_letters_and_all_mean_something():
    table = everyday_words()

    assert len(table) > 800
    for said, field in table.items():
        assert said == said.lower().strip()
        assert field
        assert all(name == name.lower().strip() and ":" not in name for name in field)


def test_every_everyday_word_is_found_by_its_stems():
    assert [
        word
        for word, names in everyday_words().items()
        if not {*names} <= {*everyday_meaning(alias_key(word))}
    ] == []


def test_the_defaults_are_normal_words_and_each_says_something():
    assert 30 <= len(al.default_aliases()) <= 60
    for name, words in al.default_aliases().items():
        assert words
        for word in (name, *words):
            assert al._normal(word) == word
        assert name not in words


def test_a_project_adds_its_own(store, add):
    add("Auth", "  Keycloak ", "SSO   portal")

    assert "keycloak" in stands_for("auth", al.load_aliases(store, "shop"))[0]
    assert "auth" in stands_for("sso portal", al.load_aliases(store, "shop"))[0]
    assert "keycloak" not in stands_for("auth", al.load_aliases(store, "other"))[0]


def test_what_is_added_without_a_project_holds_everywhere(store, add):
    add("wms", "warehouse", project=None)

    assert "warehouse" in stands_for("wms", al.load_aliases(store, "shop"))[0]


def test_a_default_can_be_taken_out_and_put_back(store, add, remove):
    gone = remove("auth", "login")
    without = stands_for("auth", al.load_aliases(store, "shop"))[0]
    add("auth", "login")
    again = stands_for("auth", al.load_aliases(store, "shop"))[0]

    assert gone == ("login",)
    assert "login" not in without
    assert "authentication" in without
    assert "login" in again


def test_without_words_all_of_a_name_goes(store, add, remove):
    add("deploy", "ship it")

    gone = remove("deploy")

    assert set(gone) == {"ship it", *al.default_aliases()["deploy"]}
    assert stands_for("deploy", al.load_aliases(store, "shop"))[0] == {"deploy": 1.0}


def test_what_is_not_there_cannot_be_removed(remove):
    with pytest.raises(Refused, match="no such alias"):
        remove("flux")


def test_the_list_says_which_are_ours(store, add):
    add("auth", "keycloak")

    listed = [alias for alias in al.list_aliases(store, "shop") if alias.name == "auth"]

    assert [(alias.words, alias.ours) for alias in listed] == [
        (("keycloak",), False),
        (al.default_aliases()["auth"], True),
    ]


@pytest.mark.parametrize("name", ["", "  ", "---", "x" * 65, "the", "a\x00b", "tab\x1b[31m"])
def test_what_cannot_be_an_alias_is_refused(add, name):
    with pytest.raises(Refused):
        add(name, "word")
    with pytest.raises(Refused):
        add("word", name)


def test_a_secret_is_refused_and_kept_nowhere(store, add):
    with pytest.raises(Refused, match="secret") as refusal:
        add("token", "ghp_0123456789abcdefghijABCDEFGHIJ012345")

    assert "ghp_" not in str(refusal.value)
    assert store.setting("shop", "aliases") is None


def test_there_is_an_end_to_them(add):
    with pytest.raises(Refused, match="would have"):
        add("auth", *(f"word{number}" for number in range(al.MOST_WORDS + 1)))
    for number in range(al.MOST_NAMES):
        add(f"name{number}", "word")
    with pytest.raises(Refused, match="already"):
        add("onemore", "word")


def test_a_change_is_in_the_audit_log_without_the_words(store, add):
    add("auth", "keycloak")

    line = store.audit(1)[0]

    assert line.detail["setting"] == "aliases"
    assert "keycloak" not in str(line.detail)
