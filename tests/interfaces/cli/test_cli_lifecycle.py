"""Forget, restore, wrong, undo, vacuum: said on the command line, taken back on the command line."""

import pytest


def listed(run):
    return [memory["content"] for memory in run("list", "--json").json["memories"]]


def test_what_was_forgotten_is_a_change_and_undone_by_it(run, remember):
    memory_id = remember("Mail is sent by a worker")

    run("forget", memory_id)
    assert listed(run) == []
    change = run("changes", "--json").json[0]
    undone = run("undo", change["id"][-6:])

    assert (change["action"], memory_id in change["summary"]) == ("forget", True)
    assert undone.out == "Undone: 1 memory restored.\n"
    assert listed(run) == ["Mail is sent by a worker"]


def test_forgetting_twice_is_no_second_change(run, remember):
    memory_id = remember("Mail is sent by a worker")

    codes = [run("forget", memory_id).code, run("forget", memory_id).code]

    assert codes == [0, 0]
    assert [change["action"] for change in run("changes", "--json").json] == ["forget", "remember"]


def test_undoing_twice_is_refused_by_name(run, remember):
    run("forget", remember("Mail is sent by a worker"))
    change = run("changes", "--json").json[0]["id"]
    run("undo", change)

    again = run("undo", change)

    assert again.code == 1
    assert change in again.err and "already" in again.err
    assert listed(run) == ["Mail is sent by a worker"]


def test_no_word_of_a_memory_is_stored_in_a_change(run, remember):
    run("forget", remember("The Zanzibar release ships on Friday"))
    run("wrong", remember("The Zanzibar release ships on Monday"), "--because", "Zanzibar was called off")

    assert "Zanzibar" not in run("changes", "--json").out
    assert "Zanzibar" not in run("audit").out


def test_wrong_shows_what_is_right_and_is_undone_as_a_whole(run, remember):
    memory_id = remember("Mail is sent by a worker")

    said = run("wrong", memory_id, "--because", "since May", "--instead", "Mail is sent by cron")
    shown = run("show", memory_id)

    assert said.code == 0
    assert listed(run) == ["Mail is sent by cron"]
    assert "user_flagged: since May" in shown.out and "superseded by" in shown.out
    change = run("changes", "--json").json[0]
    assert (change["action"], change["id"] in said.out) == ("wrong", True)
    run("undo", change["id"])
    assert listed(run) == ["Mail is sent by a worker"]


def test_wrong_offers_what_was_there_before(run, remember):
    old = remember("Use tabs")
    new = remember("Use spaces")

    told = run("wrong", new, "--json").json
    run("undo", told["change"])
    run("wrong", new, "--restore-previous")

    assert [memory["id"] for memory in told["previous"]] == [old]
    assert set(told) == {"memory", "change", "previous", "restored", "review", "correction"}
    assert listed(run) == ["Use tabs"]


@pytest.mark.parametrize("instead", ["", "  "])
def test_an_empty_correction_changes_nothing(run, remember, instead):
    memory_id = remember("Mail is sent by a worker")

    result = run("wrong", memory_id, "--instead", instead)

    assert result.code == 1
    assert listed(run) == ["Mail is sent by a worker"]


def test_a_project_goes_and_comes_back(run, remember):
    remember("Mail is sent by a worker")
    remember("Commits are signed", "--scope", "global")

    gone = run("forget", "--project", "--yes-i-am-sure", "--json")
    left = listed(run)
    back = run("restore", "--project")

    assert gone.json["memories"] == 1
    assert left == ["Commits are signed"]
    assert back.out.startswith("Restored 1 memory")
    assert len(listed(run)) == 2
    assert run("restore", "--project").code == 1


def test_a_folder_after_project_is_where_to_look_and_never_what_to_forget(run, remember, tmp_path):
    memory_id = remember("Mail is sent by a worker")
    here = str(tmp_path / "shop")

    wrong = run("forget", "--project", here)
    assert (wrong.code, listed(run)) == (2, ["Mail is sent by a worker"])

    assert run("forget", "--project", here, memory_id).code == 0
    assert listed(run) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("forget",),
        ("restore",),
        ("forget", "mail", "--everything"),
        ("forget", "mail", "--project"),
        ("forget", "--everything", "--project"),
        ("restore", "mail", "--project"),
        ("wrong", "mail", "--instead", "x", "--restore-previous"),
    ],
)
def test_usage_that_means_two_things_is_refused(run, remember, arguments):
    remember("Mail is sent by a worker")

    assert run(*arguments).code == 2
    assert listed(run) == ["Mail is sent by a worker"]


@pytest.mark.parametrize("typed", ["", "yes", "forget", "Forget Everything"])
def test_everything_needs_the_words(run, remember, typed):
    remember("Mail is sent by a worker")

    result = run("forget", "--everything", stdin=f"{typed}\n")

    assert result.code == 1
    assert "Nothing was forgotten" in result.err
    assert listed(run) == ["Mail is sent by a worker"]


def test_everything_goes_when_the_words_are_typed(run, remember):
    remember("Mail is sent by a worker")
    remember("Commits are signed", "--scope", "global")

    result = run("forget", "--everything", stdin="forget everything\n")

    assert result.out.startswith("Forgotten: 2 memories")
    assert listed(run) == []


def test_a_program_says_that_it_is_sure(run, remember):
    remember("Mail is sent by a worker")

    asked = run("forget", "--everything", "--json")
    done = run("forget", "--everything", "--yes-i-am-sure", "--json")

    assert (asked.code, asked.json["error"]["type"]) == (1, "Refused")
    assert done.json["memories"] == 1
    run("undo", done.json["change"])
    assert listed(run) == ["Mail is sent by a worker"]


def test_vacuum_says_when_it_does_not_pay(run, remember):
    remember("Mail is sent by a worker")

    assert run("vacuum").out.startswith("Not needed")
    assert run("vacuum", "--json").json["done"] is False
    forced = run("vacuum", "--force", "--json").json

    assert forced["done"] and forced["free"] == 0
    assert listed(run) == ["Mail is sent by a worker"]
