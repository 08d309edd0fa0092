"""Words that stand for one another: those that come with Recollect, and a project's own."""

from datetime import UTC, datetime

import pytest

from recollect.errors import Refused
from recollect.recall import aliases as al

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def add(store):
    return lambda name, *words, project="shop": al.add_alias(store, project, name, words, "user", NOW)


@pytest.fixture
def remove(store):
    return lambda name, *words, project="shop": al.remove_alias(store, project, name, words, "user", NOW)


def test_what_was_asked_counts_fully_and_what_it_stands_for_less(store):
    known = al.load_aliases(store, "shop")

    found = dict(al.expand(["auth", "fails"], known))

    assert found["auth"] == found["fails"] == 1.0
    assert found["authentication"] == found["login"] == al.EXPANDED < 1.0


def test_an_alias_works_both_ways_but_not_round_the_corner(store):
    known = al.load_aliases(store, "shop")

    found = dict(al.expand(["login"], known))

    assert "auth" in found
    assert "authorization" not in found


def test_two_words_can_be_one_name(store):
    known = al.load_aliases(store, "shop")

    found = dict(al.expand(["open", "Pull", "request"], known))

    assert found["pr"] == al.EXPANDED
    assert "pr" not in dict(al.expand(["request", "pull"], known))


def test_what_was_asked_itself_is_never_discounted(store):
    assert dict(al.expand(["db", "database"], al.load_aliases(store, None))) == {"db": 1.0, "database": 1.0}


def test_the_defaults_are_normal_words_and_each_says_something():
    assert 30 <= len(al.DEFAULTS) <= 60
    for name, words in al.DEFAULTS.items():
        assert words
        for word in (name, *words):
            assert al._normal(word) == word
        assert name not in words


def test_a_project_adds_its_own(store, add):
    add("Auth", "  Keycloak ", "SSO   portal")

    assert "keycloak" in dict(al.expand(["auth"], al.load_aliases(store, "shop")))
    assert "auth" in dict(al.expand(["sso", "portal"], al.load_aliases(store, "shop")))
    assert "keycloak" not in dict(al.expand(["auth"], al.load_aliases(store, "other")))


def test_what_is_added_without_a_project_holds_everywhere(store, add):
    add("wms", "warehouse", project=None)

    assert "warehouse" in dict(al.expand(["wms"], al.load_aliases(store, "shop")))


def test_a_default_can_be_taken_out_and_put_back(store, add, remove):
    gone = remove("auth", "login")
    without = dict(al.expand(["auth"], al.load_aliases(store, "shop")))
    add("auth", "login")
    again = dict(al.expand(["auth"], al.load_aliases(store, "shop")))

    assert gone == ("login",)
    assert "login" not in without
    assert "authentication" in without
    assert "login" in again


def test_without_words_all_of_a_name_goes(store, add, remove):
    add("deploy", "ship it")

    gone = remove("deploy")

    assert set(gone) == {"ship it", *al.DEFAULTS["deploy"]}
    assert dict(al.expand(["deploy"], al.load_aliases(store, "shop"))) == {"deploy": 1.0}


def test_what_is_not_there_cannot_be_removed(remove):
    with pytest.raises(Refused, match="no such alias"):
        remove("flux")


def test_the_list_says_which_are_ours(store, add):
    add("auth", "keycloak")

    listed = [alias for alias in al.list_aliases(store, "shop") if alias.name == "auth"]

    assert [(alias.words, alias.ours) for alias in listed] == [
        (("keycloak",), False),
        (al.DEFAULTS["auth"], True),
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
    with pytest.raises(Refused, match="stand for"):
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
