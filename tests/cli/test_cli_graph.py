import pytest


def test_link_and_links(run, remember):
    a, b = remember("Tests need a running Redis"), remember("The invoice total is rounded half up")

    made = run("link", a, b, "--relation", "depends_on", "--weight", "0.5", "--json").json["link"]

    assert (made["source"], made["target"], made["relation"], made["weight"]) == (a, b, "depends_on", 0.5)
    assert run("links", b, "--json").json["links"] == [made]
    assert "→ depends_on" in run("links", a).out
    assert "← depends_on" in run("links", b).out
    assert "rounded half up" in run("links", a).out


@pytest.mark.parametrize(
    "options, message",
    [
        (["--relation", "depend_on"], "Did you mean 'depends_on'?"),
        (["--weight", "nan"], "out of range"),
        (["--weight", "2"], "out of range"),
    ],
)
def test_a_link_that_cannot_be_is_refused(run, remember, options, message):
    a, b = remember("Tests need a running Redis"), remember("The invoice total is rounded half up")

    refused = run("link", a, b, *options)

    assert refused.code == 1
    assert message in refused.err
    assert run("links", a, "--json").json["links"] == []


def test_tags_are_added_and_removed(run, remember):
    name = remember("Call the customer back", "--tag", "phone")

    memory = run("tag", name, "Urgent", "next week", "--remove", "phone", "--json").json["memory"]

    assert set(memory["tags"]) == {"urgent", "next-week"}
    assert "urgent" in run("tag", name, "more").out


def test_a_conflict_is_listed_and_settled(run, remember):
    stated = remember("Use tabs")
    observed = remember("Use spaces", "--created-by", "agent:coder")

    found = run("conflicts", "--json").json["conflicts"]
    shown = run("conflicts").out
    settled = run("resolve", stated, observed, "--keep", "a", "--json").json

    assert {found[0]["a"]["id"], found[0]["b"]["id"]} == {stated, observed}
    assert "Use tabs" in shown
    assert "--keep A|B|both" in shown
    assert (settled["a"]["state"], settled["b"]["state"]) == ("active", "superseded")
    assert run("conflicts", "--json").json["conflicts"] == []


@pytest.mark.parametrize(
    "keep, states", [("id of b", ["superseded", "active"]), ("both", ["active", "active"])]
)
def test_a_conflict_can_be_settled_by_id_or_by_keeping_both(run, remember, keep, states):
    a = remember("Use tabs")
    b = remember("Use spaces", "--created-by", "agent:coder")

    settled = run("resolve", a, b, "--keep", b if keep == "id of b" else keep)

    assert settled.code == 0
    assert [run("show", name, "--json").json["memory"]["state"] for name in (a, b)] == states


def test_the_writer_of_a_conflict_learns_how_to_settle_it(run, remember):
    remember("Use tabs")

    said = run("remember", "Use spaces", "--created-by", "agent:coder")

    assert "recollect resolve" in said.out
