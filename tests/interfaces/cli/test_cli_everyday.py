"""What people meet every day: `recollect` alone, groups without a command, settings, undo, and choosing in a terminal."""

import pytest

from recollect.interfaces.cli.select import filtered, select
from recollect.kinds import KINDS


def test_recollect_alone_says_how_to_begin_and_creates_nothing(run, home):
    printed = run()

    assert printed.code == 0
    assert "Nothing is stored yet" in printed.out
    assert "recollect install" in printed.out
    assert not home.exists()


def test_recollect_alone_says_where_you_are_what_is_known_and_what_waits(run, remember):
    remember("Use tabs", "--kind", "convention")
    remember("Use spaces", "--kind", "convention", "--created-by", "agent:coder")

    printed, as_json = run(), run("--json").json

    assert printed.out.splitlines()[0].startswith("Project shop (")
    assert "known    2 memories: 2 convention" in printed.out
    assert "waiting  1 question (`recollect review`)\n" in printed.out  # the contradiction is counted once
    assert "Next: recollect install" in printed.out
    assert (as_json["memories"], as_json["conflicts"], as_json["agents"]) == (2, 1, [])


def test_recollect_alone_says_that_memory_is_off(run, remember):
    remember("Use tabs")
    run("off")

    printed = run()

    assert "Memory is off here" in printed.out
    assert "Next: recollect on" in printed.out


@pytest.mark.parametrize(
    ("group", "shown"),
    [
        ("task", "No tasks found."),
        ("history", "No tasks found."),
        ("session", "No sessions found."),
        ("season", "No active seasons."),
        ("alias", "authentication"),
        ("auto", "Learning from sessions is on in shop."),
        ("daemon", "The daemon is not running."),
        ("config", "message_days"),
    ],
)
def test_a_group_without_a_command_shows_its_state(run, group, shown):
    printed = run(group)

    assert printed.code == 0
    assert shown in printed.out + printed.err


def test_a_group_without_a_command_prints_json_too(run):
    run("task", "start", "mend the cart")

    assert [task["description"] for task in run("task", "--json").json["tasks"]] == ["mend the cart"]
    assert run("auto", "--json").json == {"auto": True, "everywhere": False}


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("edit", "--importance", "0.9"),
        ("wrong", "--instead", "Tests need a running Valkey"),
        ("tag", "testing"),
        ("feedback", "--helpful"),
        ("similar",),
        ("links",),
    ],
    ids=lambda words: words[0],
)
def test_a_memory_can_be_named_by_a_word_that_only_it_has(run, remember, words):
    remember("Tests need a running Redis", "--kind", "gotcha")
    remember("The port is 8080")

    done = run(words[0], "redis", *words[1:])
    unknown = run(words[0], "postgres", *words[1:])

    assert done.code == 0, done
    assert unknown.code == 1
    assert "No memory matches 'postgres'." in unknown.err


def test_a_word_of_several_memories_lists_them(run, remember):
    remember("Tests need a running Redis")
    remember("Redis runs on port 7000")

    refused = run("wrong", "redis")

    assert refused.code == 1
    assert "Tests need a running Redis" in refused.err
    assert "Give an id instead." in refused.err


def test_one_kind_can_be_asked_for(run):
    assert run("kinds", "gotcha").out.startswith("gotcha")
    assert [kind["name"] for kind in run("kinds", "error", "--json").json["kinds"]] == ["error_pattern"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("remember", "Use tabs", "--kind", "zzz"), "Run `recollect kinds` to list them."),
        (("remember", "Use tabs", "--kind", "gotchas"), "Did you mean 'gotcha'?"),
        (("config", "get", "zzz"), "Run `recollect config` to list the settings."),
        (("config", "set", "daemon_idl", "3"), "Did you mean 'daemon_idle'?"),
    ],
)
def test_an_unknown_name_is_refused_in_two_lines(run, words, hint):
    refused = run(*words)

    assert refused.code == 1
    assert refused.err.splitlines()[1:] == [hint]


def test_the_audit_says_that_a_consolidation_changed_nothing(run, remember):
    remember("Use tabs")
    run("consolidate")

    assert "consolidated nothing" in run("audit").out


def test_every_kind_is_explained(run):
    printed = run("kinds")

    assert [line.split()[0] for line in printed.out.splitlines()] == list(KINDS)
    assert all(kind["meaning"] for kind in run("kinds", "--json").json["kinds"])


# undo


def test_undo_without_an_id_shows_the_last_change_and_undoes_it(run, remember):
    name = remember("Use tabs")
    run("forget", name)

    undone = run("undo")

    assert undone.code == 0
    assert "forget" in undone.out.splitlines()[0]
    assert "Undone: 1 memory restored." in undone.out
    assert run("list", "--json").json["total"] == 1


def test_undo_goes_back_one_change_after_the_other(run, remember):
    first, second = remember("Use tabs for Makefiles"), remember("The queue is Redis")
    run("forget", first)
    run("forget", second)

    run("undo")
    run("undo")

    assert run("list", "--json").json["total"] == 2
    run("undo")
    run("undo")
    assert run("list", "--json").json["total"] == 0
    assert run("undo").err.startswith("There is no change of yours to undo.")


def test_undo_removes_what_was_remembered_and_restores_what_it_replaced(run, remember):
    remember("Use npm to run scripts")
    remember("Use pnpm to run scripts")

    undone = run("undo")

    shown, result = undone.out.splitlines()
    assert shown.endswith("Remembered “Use pnpm to run scripts”, which replaced “Use npm to run scripts”.")
    assert result == "Undone: 1 memory removed, 1 memory restored."
    assert [memory["content"] for memory in run("list", "--json").json["memories"]] == [
        "Use npm to run scripts"
    ]


def test_undo_without_an_id_leaves_what_an_agent_did_since_and_says_so(run, remember):
    remember("Tests need a running Redis")
    run("remember", "The mail queue is called outbox", "--created-by", "agent:codex")

    undone = run("undo")

    assert "1 later change by codex will stay." in undone.out
    assert [memory["content"] for memory in run("list", "--json").json["memories"]] == [
        "The mail queue is called outbox"
    ]
    assert run("undo").err.startswith("There is no change of yours to undo.")


def test_changes_say_who_made_them_and_an_agent_s_is_undone_by_its_id(run, remember):
    remember("Tests need a running Redis")
    run("remember", "The mail queue is called outbox", "--created-by", "agent:codex")

    agents, mine = run("changes").out.splitlines()
    assert agents.split()[3] == "codex"
    assert agents.endswith("Remembered “The mail queue is called outbox”.")
    assert mine.split()[3] == "you"
    assert run("undo", agents.split()[0]).out == "Undone: 1 memory removed.\n"
    assert run("list", "--json").json["total"] == 1


def test_what_an_undo_of_an_undo_restored_is_undone_again(run, remember):
    remember("Tests need a running Redis")
    run("undo")
    first, remembered = run("changes").out.splitlines()
    assert first.endswith(f"Undid remember {remembered.split()[0]}.")
    assert remembered.endswith("(undone)")

    run("undo", first.split()[0])

    assert run("changes").out.splitlines()[-1].endswith("Remembered “Tests need a running Redis”.")
    assert run("undo").out.endswith("Undone: 1 memory removed.\n")
    assert run("list", "--json").json["total"] == 0


@pytest.mark.parametrize(
    "command",
    [
        ["edit", "A", "The cache is Valkey"],
        ["edit", "A", "--kind", "gotcha"],
        ["pin", "A"],
        ["tag", "A", "ci"],
        ["feedback", "A", "--helpful"],
        ["link", "A", "B"],
        ["remember", "the cache is Redis"],
    ],
    ids=" ".join,
)
def test_undo_undoes_what_a_command_changed(run, remember, command):
    names = {"A": remember("The cache is Redis"), "B": remember("Deploys run on Friday")}
    before = [run(*words, "--json").json for words in (["list"], ["links", names["A"]])]

    assert run(*(names.get(word, word) for word in command)).code == 0
    changed = [run(*words, "--json").json for words in (["list"], ["links", names["A"]])]
    assert run("undo").code == 0

    assert changed != before
    assert [run(*words, "--json").json for words in (["list"], ["links", names["A"]])] == before


# settings


def test_a_setting_is_set_shown_with_its_source_and_removed(run, home):
    changed = run("config", "set", "message_days", "30")

    assert changed.out == f"message_days is 30 (from {home / 'config.toml'}).\n"
    assert run("config", "get", "message_days").out == "30\n"
    assert run("config", "get", "message_days", "--json").json["source"] == str(home / "config.toml")
    assert [row["name"] for row in run("config", "list", "--changed", "--json").json["settings"]] == [
        "embedder",
        "message_days",
    ]
    assert run("config", "unset", "message_days").out == "message_days is 90 (the default).\n"


def test_comments_and_other_settings_stay_as_they_are(run, home):
    home.mkdir()
    (home / "config.toml").write_text('# mine\nuser = "ada"  # me\nmessage_days = 7\n', encoding="utf-8")

    run("config", "set", "message_days", "8")
    run("config", "set", "roles_file", 'a "b".toml')

    text = (home / "config.toml").read_text(encoding="utf-8")
    assert text == '# mine\nuser = "ada"  # me\nmessage_days = 8\nroles_file = "a \\"b\\".toml"\n'


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mesage_days", "3", "Did you mean 'message_days'?"),
        ("message_days", "soon", "must be a whole number"),
        ("sidecar", "cloud", "cannot be 'cloud'"),
        ("embedder", "http", "needs embedder_url and embedder_model"),
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_written(run, home, name, value, message):
    refused = run("config", "set", name, value)

    assert refused.code == 1
    assert message in refused.err
    assert not (home / "config.toml").exists()


def test_a_value_over_several_lines_is_left_to_the_user(run, home):
    home.mkdir()
    text = 'user = """\nada"""\n'
    (home / "config.toml").write_text(text, encoding="utf-8")

    refused = run("config", "set", "user", "bob")

    assert "cannot be changed" in refused.err
    assert (home / "config.toml").read_text(encoding="utf-8") == text


def test_a_variable_that_overrides_the_file_is_named(run, monkeypatch):
    monkeypatch.setenv("RECOLLECT_MESSAGE_DAYS", "5")

    changed = run("config", "set", "message_days", "30")

    assert changed.out == "message_days is 5 (from RECOLLECT_MESSAGE_DAYS).\n"
    assert changed.err == "RECOLLECT_MESSAGE_DAYS overrides the file.\n"


def test_an_unknown_variable_is_a_warning(run, monkeypatch):
    monkeypatch.setenv("RECOLLECT_MESAGE_DAYS", "5")

    listed = run("list")

    assert listed.code == 0
    assert "RECOLLECT_MESAGE_DAYS is no setting" in listed.err
    assert "Did you mean RECOLLECT_MESSAGE_DAYS?" in listed.err


# forgetting a project


def test_forgetting_a_project_needs_its_name(run, remember):
    remember("Use tabs")

    refused = run("forget", "--project", stdin="yes\n")
    kept = run("list", "--json").json["total"]
    done = run("forget", "--project", stdin="forget shop\n")

    assert refused.code == 1
    assert "This forgets 1 memory: all of shop and its sessions." in refused.err
    assert (kept, done.code) == (1, 0)
    assert run("list", "--json").json["total"] == 0


# a correction


def test_a_correction_keeps_the_kind_of_what_was_wrong(run, remember):
    name = remember("Deploy from the develop branch", "--kind", "procedure")

    run("wrong", name, "--instead", "Deploy from the main branch")

    memory = run("list", "--json").json["memories"][0]
    assert (memory["kind"], memory["provenance"][0]["source"]) == ("procedure", "user_corrected")


# choosing


LINES = ["gotcha: tests need Redis", "fact: the queue is Redis", "decision: round half up"]


def keys(*pressed):
    return iter(pressed).__next__


def test_a_line_is_chosen_by_typing_and_enter(capsys):
    assert select(LINES, keys("h", "a", "l", "f", "\r")) == 2
    assert select(LINES, keys("\x1b[B", "\r")) == 1
    assert select(LINES, keys("z", "z", "\x7f", "\x7f", "\r")) == 0


def test_nothing_is_chosen_by_escape_or_without_a_match(capsys):
    assert select(LINES, keys("\x1b")) is None
    assert select(LINES, keys("z", "z", "\r")) is None


def test_letters_in_order_match_after_whole_words():
    assert filtered(LINES, "redis") == [0, 1]
    assert filtered(LINES, "rhu") == [2]
    assert filtered(["a big bad cat", "abc"], "abc") == [1, 0]


def test_choosing_needs_a_terminal(run, remember):
    remember("Use tabs")

    refused = run("search", "-i")

    assert refused.code == 1
    assert "--interactive needs a terminal" in refused.err


def test_help_is_a_command_as_in_git(run):
    assert run("help").out == run("--help").out
    assert run("help", "config", "set").out == run("config", "set", "--help").out
    assert run("help", "remember", "--", "x").out == run("remember", "--help").out
    assert run("help", "help").out == run("--help").out


def test_the_version_has_a_short_option(run):
    assert run("-V").out == run("--version").out


def test_completion_is_for_the_shell_in_use(run, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert run("completion").out == run("completion", "zsh").out

    monkeypatch.setenv("SHELL", "/bin/sh")
    refused = run("completion")
    assert refused.code == 2
    assert "Name your shell: bash, zsh, fish." in refused.err


def test_an_empty_log_says_so(run):
    assert run("audit").err == "No changes recorded yet.\n"


def test_links_without_an_id_asks_for_one(run):
    refused = run("links")

    assert refused.code == 2
    assert "Give the id of a memory, or `export`." in refused.err


def test_a_wrong_setting_is_named_with_the_nearest_one(run):
    for command in (["get", "embeder"], ["set", "embeder", "none"]):
        refused = run("config", *command)

        assert refused.err.splitlines() == ["Unknown setting 'embeder'.", "Did you mean 'embedder'?"]
    assert run("config", "set", "embedder", "fast").err.startswith("embedder cannot be 'fast'.\n")
