import re

import pytest

import recollect.model as m

KEYS_OF_A_RECEIPT = {"id", "outcome", "is_duplicate", "redactions", "supersedes", "conflicts_with", "message"}
AWS_KEY = "AKIA" + "Q3EGRT7WPLM5XKDZ"  # made up, and split so that no scanner takes it for a real one


def test_remember_says_the_id_and_list_shows_it(run):
    said = run("remember", "Tests need", "a running Redis", "--kind", "gotcha")
    listed = run("list")

    assert said.code == 0
    assert re.fullmatch(r"Remembered [0-9a-z]{18}\n", said.out)
    assert listed.out.split()[:2] == [said.out.split()[1][-6:], "gotcha"]
    assert "Tests need a running Redis" in listed.out


def test_remember_answers_programs_with_the_promised_keys(run):
    answer = run("remember", "Use tabs", "--json").json

    assert answer.keys() >= KEYS_OF_A_RECEIPT
    assert (answer["outcome"], answer["is_duplicate"], answer["redactions"]) == ("stored", False, [])


def test_an_order_is_told_at_every_start_and_remember_says_so(run):
    said = run("remember", "Use pnpm, not npm")

    assert "Stored as a preference: every session is told." in said.err
    assert "! Use pnpm, not npm\n" in run("recall").out


def test_a_forbidden_command_becomes_a_trigger_and_remember_says_so(run):
    said = run("remember", "Never run git push --force")
    (memory,) = run("list", "--json").json["memories"]

    assert "Agents are stopped before they run `git push --force`." in said.err
    assert (memory["kind"], memory["triggers"]) == ("negative", ["git push --force"])


def test_an_agent_forbids_nothing(run):
    run("remember", "Never run git push --force", "--kind", "negative", "--created-by", "agent:coder")
    (memory,) = run("list", "--json").json["memories"]

    assert memory["triggers"] == []


def test_a_correction_without_a_kind_is_told_at_every_start(run):
    run("remember", "The API listens on port 9090", "--correction")

    assert "The API listens on port 9090" in run("recall").out


def test_an_agent_makes_no_rule_by_giving_an_order(run):
    run("remember", "Use pnpm, not npm", "--created-by", "agent:coder")

    assert "Use pnpm" not in run("recall").out


def test_saying_it_again_reinforces(run, remember):
    first = remember("Tests need a running Redis")

    again = run("remember", "tests need a  running redis")

    assert again.out.startswith(f"Reinforced {first}\n")
    assert "2 times" in again.out


def test_a_newer_statement_replaces_the_one_it_contradicts_and_says_so(run, remember):
    old = remember("Use tabs")

    said = run("remember", "Use spaces")
    answer = run("show", old, "--json").json

    assert "Updated: 'Use tabs' → 'Use spaces'" in said.out
    assert answer["memory"]["state"] == "superseded"
    assert [link["relation"] for link in answer["links"]] == ["supersedes"]


def test_a_secret_is_taken_out_and_the_writer_is_told(run):
    said = run("remember", f"The deploy key is {AWS_KEY}")
    listed = run("list", "--json")

    assert "Redacted 1 secret: " in said.out
    assert AWS_KEY not in said.out + listed.out


def test_every_detail_of_remember_reaches_the_memory(run, remember):
    options = """--kind procedure --scope session --session s1 --tag release --tag Ops --file src/a.py --trigger deploy
        --step build --step ship --prerequisite token --warning slow --season release-week --branch main
        --importance 0.8 --visibility team""".split()

    name = remember("How to release", *options)

    memory = run("show", name, "--json").json["memory"]
    assert memory["kind"] == "procedure"
    assert (memory["scope"], memory["session"]) == ("session", "s1")
    assert {"release", "ops"} <= set(memory["tags"])
    assert memory["file_paths"] == ["src/a.py"]
    assert memory["triggers"] == ["deploy"]
    assert memory["procedure"]["steps"] == ["build", "ship"]
    assert memory["procedure"]["prerequisites"] == ["token"]
    assert memory["procedure"]["warnings"] == ["slow"]
    assert (memory["season"], memory["branch"], memory["importance"]) == ("release-week", "main", 0.8)
    assert memory["visibility"] == "team"


def test_an_agent_records_and_a_correction_is_trusted_most(run, remember):
    noted = remember("The API runs on port 8080", "--created-by", "agent:coder")
    corrected = remember("Deploys happen on Tuesdays", "--correction")

    sources = [
        run("show", name, "--json").json["memory"]["provenance"][0]["source"] for name in (noted, corrected)
    ]
    assert sources == ["observed", "user_corrected"]


def test_remember_reads_standard_input(run):
    said = run("remember", "-", stdin="\ufeffFrom a pipe,\ntwo lines\n")
    listed = run("list", "--json").json["memories"]

    assert said.code == 0
    assert listed[0]["content"] == "From a pipe,\ntwo lines"


def test_a_memory_has_the_field_names_of_the_model_and_its_session(run, remember):
    remember("Use tabs", "--session", "s1")

    memory = run("list", "--json").json["memories"][0]

    assert set(memory) == {*m.Memory.__dataclass_fields__, "session"}
    assert memory["session"] == "s1"


def test_list_says_how_many_more_there_are_and_gives_programs_all(run):
    run("import", "-", stdin='{"content": "Use tabs"}\n' * 22)

    for_people, for_programs, two = run("list"), run("list", "--json"), run("list", "-n", "2", "--json")

    assert len(for_people.out.splitlines()) == 20
    assert "2 more" in for_people.err
    assert len(for_programs.json["memories"]) == 22
    assert (len(two.json["memories"]), two.json["total"]) == (2, 22)


@pytest.mark.parametrize(
    "narrowed",
    [
        ["--kind", "gotcha"],
        ["--tag", "Testing"],
        ["--file", "conftest.py"],
        ["--scope", "project"],
        ["--kind", "gotcha", "--limit", "1"],
    ],
)
def test_list_narrows(run, remember, narrowed):
    wanted = remember(
        "Tests need a running Redis", "-k", "gotcha", "-t", "testing", "-f", "tests/conftest.py"
    )
    remember("I like short answers", "--scope", "global", "--kind", "preference")

    found = run("list", *narrowed, "--json").json

    assert [memory["id"] for memory in found["memories"]] == [wanted]
    assert found["total"] == 1


def test_another_project_does_not_see_it_unless_asked(run, remember, tmp_path):
    remember("Tests need a running Redis")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert run("list", "--project", str(elsewhere), "--json").json["memories"] == []
    assert len(run("list", "--all-projects", "--project", str(elsewhere), "--json").json["memories"]) == 1


def test_global_options_may_stand_before_the_command_too(run, remember, tmp_path):
    remember("Use tabs")

    assert len(run("--json", "list").json["memories"]) == 1
    assert run("--home", str(tmp_path / "new"), "--json", "list").json["memories"] == []


def test_search_answers_programs_with_reasons(run, remember):
    wanted = remember("Tests need a running Redis")
    remember("The invoice total is rounded half up")

    answer = run("search", "redis", "tests", "--json").json

    assert answer.keys() >= {"results", "partial", "took_ms"}
    assert answer["results"][0]["memory"]["id"] == wanted
    assert answer["results"][0]["why"]["channels"]["words"]["rank"] == 1


def test_search_explains_itself_with_bars(run, remember):
    remember("Tests need a running Redis")

    plain, explained = run("search", "redis"), run("search", "redis", "--explain")

    assert len(plain.out.splitlines()) == 1
    assert re.search(r"words +█+░* \+0\.\d\d +rank 1 by words: redis", explained.out)


def test_search_that_finds_nothing_says_so_beside_the_answer(run):
    found = run("search", "redis")

    assert (found.code, found.out) == (0, "")
    assert "No memories found" in found.err


def test_show_is_a_card_with_everything(run, remember):
    name = remember("Tests need a running Redis", "--tag", "testing", "--session", "s1")
    remember("tests need a running redis")

    card = run("show", name[:-1]).out

    for part in (
        name,
        "Tests need a running Redis",
        "testing",
        "session s1",
        "2 times",
        "again",
        "History",
        "add",
    ):
        assert part in card


def test_edit_changes_text_and_fields(run, remember):
    name = remember("Tests need a running Redis", "--tag", "testing")

    changed = run(
        "edit", name, "Tests need a running", "Valkey", "--kind", "gotcha", "--tag", "ci", "--json"
    ).json

    assert changed.keys() >= KEYS_OF_A_RECEIPT | {"memory"}
    assert changed["memory"]["content"] == "Tests need a running Valkey"
    assert (changed["memory"]["kind"], changed["memory"]["tags"]) == ("gotcha", ["ci"])


def test_edit_reads_standard_input_and_refuses_to_change_nothing(run, remember):
    name = remember("Tests need a running Redis")

    assert run("edit", name, "-", stdin="Tests need Valkey").code == 0
    assert run("edit", name, "Tests need Valkey").code == 1
    unchanged = run("edit", name)
    assert unchanged.code == 1
    assert "Give a text, or --kind, --tag, --file, " in unchanged.err
    assert "file_paths" not in unchanged.err


def test_forgetting_is_soft_and_says_how_to_undo_it(run, remember):
    name = remember("Tests need a running Redis")

    gone = run("forget", "redis")

    assert f"recollect restore {name}" in gone.out
    assert run("list").out == ""
    assert run("list", "--state", "deleted", "--json").json["memories"][0]["id"] == name
    assert run("restore", name).code == 0
    assert run("list", "--json").json["memories"][0]["state"] == "active"


def test_a_keyword_that_fits_several_shows_them_and_changes_nothing(run, remember):
    names = {remember("Tests need a running Redis"), remember("The cache lives in Redis")}

    told, told_programs = run("forget", "redis"), run("forget", "redis", "--json")

    assert (told.code, told_programs.code) == (1, 1)
    assert "Tests need a running Redis" in told.err
    assert "The cache lives in Redis" in told.err
    assert "Several memories contain 'redis'.\nGive an id instead." in told.err
    assert "Several memories contain 'redis'." in run("pin", "redis").err
    assert set(told_programs.json["error"]["matches"]) == names
    assert len(run("list", "--json").json["memories"]) == 2


def test_pin_toggles_and_can_be_told(run, remember):
    name = remember("Tests need a running Redis")

    said = [
        run("pin", *options).out.split()[0] for options in ([name], [name], ["redis", "--on"], [name, "--on"])
    ]

    assert said == ["Pinned", "Unpinned", "Pinned", "Pinned"]
    assert "pinned" in run("list").out
    assert run("pin", name, "--off", "--json").json["memory"]["standing"] == "confirmed"
