import pytest


def test_an_alias_is_added_found_by_and_removed(run, remember):
    name = remember("The tax engine rounds half up")

    before = run("search", "billing", "--json").json["results"]
    said = run("alias", "add", "Billing", "tax", "invoice")
    found = run("search", "billing", "--json").json["results"]
    gone = run("alias", "remove", "billing", "tax", "--json").json
    after = run("search", "billing", "--json").json["results"]

    assert said.out == "A search for billing now also finds tax, invoice, and vice versa.\n"
    assert [hit["memory"]["id"] for hit in found] == [name]
    assert (before, after) == ([], [])
    assert gone == {"name": "billing", "removed": ["tax"]}


def test_aliases_are_listed_and_ones_own_are_marked(run):
    made = run("alias", "add", "auth", "sso", "--json").json["alias"]

    listed, told = run("alias", "list").out, run("alias", "--json", "list").json["aliases"]

    assert made == {"name": "auth", "words": ["sso"], "ours": False}
    assert [line.split()[:2] for line in listed.splitlines() if line.startswith("auth ")] == [
        ["auth", "yours"],
        ["auth", "authentication,"],
    ]
    assert {"name": "db", "words": ["database"], "ours": True} in told


def test_an_alias_that_comes_with_recollect_can_be_removed(run):
    said = run("alias", "remove", "db")

    assert said.out == "A search for db no longer finds database.\n"
    assert "db" not in {alias["name"] for alias in run("alias", "list", "--json").json["aliases"]}


def test_a_season_begins_lifts_its_memories_and_ends(run, remember):
    name = remember("Freeze the main branch", "--season", "release-week")

    started = run("season", "start", "release-week")
    lifted = run("search", "freeze branch", "--json").json["results"][0]
    listed = run("season", "list", "--json").json
    ended = run("season", "end", "release-week")

    assert started.out == "release-week\n"
    assert (lifted["memory"]["id"], lifted["why"]["parts"]["season"] > 0) == (name, True)
    assert listed == {"seasons": ["release-week"]}
    assert (ended.code, ended.out, ended.err) == (
        0,
        "",
        "No active seasons. Start one: `recollect season start release-week`\n",
    )


@pytest.mark.parametrize("name", ["", " ", "x" * 65])
def test_a_season_needs_a_short_name(run, name):
    assert "A season needs a name of at most 64 characters" in run("season", "start", name).err


def test_the_budget_is_shown_set_and_set_back(run, remember):
    remember("Use tabs", "--kind", "convention")

    default, set_to = run("budget", "--json").json, run("budget", "700")
    recalled = run("recall", "--json").json["budget"]["total"]
    back = run("budget", "--default", "--json").json

    assert default == back == {"budget": 5000, "default": True}
    assert set_to.out.startswith("A briefing has at most 700 tokens (the default is 5,000)")
    assert recalled == 700


def test_a_budget_is_the_projects_own(run, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run("budget", "700")

    assert run("budget", "--project", str(elsewhere), "--json").json["default"] is True
