import json
import re

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


def test_a_link_as_superseding_supersedes_and_is_undone(run, remember):
    new, old = remember("Every table takes ULIDs for its primary key"), remember("Keys are bigint sequences")

    said = run("link", new, old, "--relation", "supersedes")
    superseded = run("show", old, "--json").json["memory"]
    undone = run("undo")

    assert said.out == f"{new} took the place of {old}\n"
    assert (superseded["state"], superseded["superseded_by"]) == ("superseded", new)
    assert undone.code == 0
    assert run("show", old, "--json").json["memory"]["state"] == "active"
    assert run("links", old, "--json").json["links"] == []


@pytest.mark.parametrize("gone", ["forget", "link"])
def test_what_is_not_in_use_is_neither_replaced_nor_replaces(run, remember, gone):
    new, old, third = (remember(text) for text in ("Use make", "Totals are rounded", "Builds need Node"))
    run(gone, old) if gone == "forget" else run("link", third, old, "--relation", "supersedes")

    refused = [run("link", *pair, "--relation", "supersedes") for pair in ((new, old), (old, new))]

    assert [answer.code for answer in refused] == [1, 1]
    assert all(f"Memory {old} is " in answer.err for answer in refused)
    assert run("show", new, "--json").json["memory"]["state"] == "active"


def test_an_agent_that_relates_its_memory_to_the_users_word_leaves_it_to_the_user(run, remember):
    old = remember("Primary keys are bigint sequences")
    new = remember("Every table takes ULIDs", "--created-by", "agent:coder")

    said = run("link", new, old, "--relation", "supersedes", "--created-by", "agent:coder")
    kept = run("forget", old, "--created-by", "agent:coder")

    assert (said.code, kept.code) == (0, 0)
    assert "recollect review --kind contradiction" in said.out
    assert "recollect review --kind forget" in kept.out
    assert {run("show", name, "--json").json["memory"]["state"] for name in (old, new)} == {"active"}
    assert len(run("review", "--json").json["questions"]) == 2


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


def test_the_writer_of_a_conflict_learns_how_to_settle_it_but_no_agent(run, remember):
    remember("The standup happens at 10:00")

    by_agent = run("remember", "The standup happens at 11:00", "--created-by", "agent:coder")
    by_user = run("remember", "The standup happens at 12:00")

    assert "both are stored" in by_agent.out and "recollect resolve" not in by_agent.out
    assert "both are stored" in by_user.out and "recollect resolve" in by_user.out


def test_the_graph_is_exported_for_graphviz(run, remember, tmp_path):
    a = remember('Say "hi" \\N & <b> — every time, to everyone who comes in, at any hour', "--kind", "gotcha")
    b, alone = remember("The total is rounded half up"), remember("Use tabs")
    run("link", a, b, "--relation", "depends_on", "--weight", "0.5")
    file = tmp_path / "graph.dot"

    said = run("links", "export", str(file))
    text = run("links", "export").out

    assert said.out == f"Exported 1 link to {file}\n"
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    nodes, edges = parse_dot(text)
    assert set(nodes) == {a, b}
    assert alone not in text
    assert nodes[a]["label"] == f'{a[-6:]}\\nSay \\"hi\\" \\\\N &amp; <b> — every time, to ever…'
    assert nodes[a]["fillcolor"] != nodes[b]["fillcolor"]
    assert edges == [(a, b, "depends_on")]


def parse_dot(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, str]]]:
    """As much of the language of Graphviz as we write; anything else fails."""
    quoted = r'"((?:[^"\\]|\\.)*)"'
    attribute = rf"(\w+)=(?:{quoted}|([\w.]+))"
    first, *body, last = text.splitlines()
    assert (first, last) == ("digraph memories {", "}")
    nodes, edges = {}, []
    for line in body:
        if line.startswith(("  //", "  node [", "  edge [")):
            continue
        found = re.fullmatch(rf"  {quoted}(?: -> {quoted})? \[({attribute}(?:, {attribute})*)\]", line)
        assert found, line
        looks = {name: value or plain for name, value, plain in re.findall(attribute, found[3])}
        if found[2]:
            edges.append((found[1], found[2], looks["label"]))
        else:
            nodes[found[1]] = looks
    return nodes, edges


@pytest.mark.parametrize("how", [["--json"], ["--format", "json"], ["--format", "json", "-"]])
def test_the_graph_is_exported_for_programs(run, remember, how):
    a, b, alone = remember("Tests need Redis"), remember("The total is rounded half up"), remember("Use tabs")
    run("link", a, b)

    graph = run("links", "export", *how).json

    assert {memory["id"] for memory in graph["memories"]} == {a, b, alone}
    assert [(link["source"], link["target"]) for link in graph["links"]] == [(a, b)]


def test_a_program_is_told_what_was_written_to_the_file(run, remember, tmp_path):
    remember("Use tabs")
    file = tmp_path / "graph.json"

    told = run("links", "export", str(file), "--format", "json", "--json").json

    assert told == {"memories": 1, "links": 0, "file": str(file)}
    assert json.loads(file.read_text())["links"] == []


def test_an_id_may_stand_before_or_after_the_options_of_links(run, remember):
    a, b = remember("Tests need Redis"), remember("The total is rounded half up")
    run("link", a, b)

    assert run("links", "--json", a).json == run("links", a[-6:], "--json").json != {"links": []}
    assert "Usage: recollect links ID [OPTIONS]" in run("links", a, "--help").out


def test_a_conflict_says_which_words_which_rule_and_how_sure_wherever_it_is_shown(run, remember):
    remember("Alerts go to Slack")
    newer = remember("Alerts go to Teams")

    shown = [
        run("show", newer).out,
        run("links", newer).out,
        json.dumps(run("review", "--json").json, ensure_ascii=False),
        run("search", "alerts", "--explain").err,
    ]

    assert [text for text in shown if "Slack → Teams (rule other value, unsure)" not in text] == []


def test_what_was_superseded_says_why(run, remember):
    older = remember("CI runs on CircleCI")
    remember("CI runs on Buildkite")

    assert "CircleCI → Buildkite (rule other value, certain)" in run("show", older).out
