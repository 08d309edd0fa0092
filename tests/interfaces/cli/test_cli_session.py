import json

import pytest

from recollect.engine import Engine
from recollect.work.delivery.delivery import DeliveryRequest, Moment

TALK = [
    ("mon", 0, "user", "Why does the login loop after the refresh?"),
    ("mon", 1, "assistant", "The refresh token is not validated against Redis."),
    ("mon", 2, "user", "Then add a mutex around it."),
    ("tue", 0, "user", "Round the invoice total half up."),
]


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def message(session: str, order: object, author: str, text: str, **more: object) -> dict[str, object]:
    return {"session": session, "order": order, "author": author, "text": text, **more}


@pytest.fixture
def talk(run):
    records = [message(*each, created_at="2026-05-01T09:00:00Z") for each in TALK]
    assert run("import", "--messages", "-", stdin=lines(*records)).code == 0


def test_session_search_finds_messages(run, talk):
    listed = run("session", "search", "login", "loop", "-n", "1")
    told = run("session", "search", "login loop", "--json").json

    assert len(listed.out.splitlines()) == 1
    assert listed.out.split()[1:3] == ["mon#0", "user"]
    assert told["by"] == "message"
    assert told["results"][0].keys() == {"message", "score", "why"}
    assert told["results"][0]["message"]["text"] == TALK[0][3]
    assert told["results"][0]["message"]["created_at"] == "2026-05-01T09:00:00.000000Z"


def test_session_search_finds_sessions_with_their_best_messages(run, talk):
    listed = run("session", "search", "invoice", "--by", "session", "-n", "1").out.splitlines()
    told = run("session", "search", "login loop", "--by", "session", "--json").json

    assert listed[0].endswith("  tue")
    assert "Round the invoice" in listed[1]
    assert (told["by"], told["results"][0]["session"]) == ("session", "mon")
    assert told["results"][0]["best"][0]["message"]["order"] == 0


def test_session_search_stays_in_the_project_unless_asked(run, talk, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = ["--project", str(elsewhere), "--json"]

    assert run("session", "search", "login", *there).json["results"] == []
    assert run("session", "search", "login", "--all-projects", *there).json["results"] != []


def test_session_search_that_finds_nothing_says_so(run):
    told = run("session", "search", "login")

    assert (told.code, told.out) == (0, "")
    assert "import --messages" in told.err


def test_imported_messages_are_counted_refused_by_line_and_redacted(run):
    key = "AKIA" + "Q3EGRT7WPLM5XKDZ"  # made up, and split so that no scanner takes it for a real one
    data = lines(
        message("s", 0, "user", f"The key is {key}"),
        message("s", "one", "user", "x"),
        message("s", 2, "robot", "x"),
        message("s", 3, "user", "x", created_at="yesterday"),
    )

    said = run("import", "-", "--messages", stdin="\n" + data)
    told = run("import", "--messages", "-", "--json", stdin=data).json

    assert said.code == 0
    assert said.out == "Imported 1 message.\nRedacted 1 secret.\n"
    assert "Refused 3 records" in said.err
    assert 'line 3: A message needs its "order"' in said.err
    assert [each["line"] for each in told["refused"]] == [2, 3, 4]
    assert (told["kept"], told["redacted"], told["notes"]) == (1, 1, [])
    assert key not in run("session", "search", "key", "--json").out


def test_messages_of_which_none_was_kept_exit_1(run):
    refused = run("import", "--messages", "-", stdin=lines(message("s", -1, "user", "x")))

    assert refused.code == 1
    assert refused.out == "Imported 0 messages.\n"


@pytest.mark.parametrize(
    "bad, told",
    [
        ("not json", "line 2: not valid JSON"),
        ("[1]", "line 2: not an object with"),
        ('{"content": "a memory"}', 'line 2: not an object with "session", "order" and "text"'),
        ("[" * 100_000, "line 2"),
        ('{"session": "s", "order": ' + "9" * 5000 + ', "text": "x"}', "line 2: not valid JSON"),
        (b'{"text": "\xff"}', "line 2: not valid UTF-8"),
    ],
)
def test_a_malformed_file_of_messages_changes_nothing(run, bad, told):
    first = lines(message("s", 0, "user", "login")).encode()
    data = first + (bad if isinstance(bad, bytes) else bad.encode())

    refused = run("import", "--messages", "-", stdin=data)

    assert refused.code == 1
    assert told in refused.err
    assert len(refused.err.splitlines()) == 2
    assert run("session", "search", "login", "--json").json["results"] == []


@pytest.fixture
def transcript(tmp_path):
    said = [
        ("user", "Please add a lint step to the build."),
        ("assistant", "I added it with npm."),
        ("user", "No, use pnpm instead of npm in this project."),
        ("assistant", "Done, it uses pnpm now."),
    ]
    records = [
        {
            "type": who,
            "sessionId": "wed",
            "uuid": str(number),
            "timestamp": f"2026-05-01T09:0{number}:00Z",
            "message": {"role": who, "content": text},
        }
        for number, (who, text) in enumerate(said)
    ]
    path = tmp_path / "wed.jsonl"
    path.write_text(lines(*records))
    return path


def test_extract_learns_from_a_transcript_and_says_what(run, transcript):
    told = run("extract", str(transcript))
    listed = run("list", "--json").json

    assert told.out.startswith("Read 1 file with 1 session: 1 finding, 1 memory stored.")
    assert "pnpm" in listed["memories"][0]["content"]


@pytest.mark.parametrize("name", ["missing.jsonl", "x" * 5_000, "é" * 5_000])
def test_a_transcript_that_cannot_be_is_refused_with_a_message(run, name):
    told = run("extract", name)

    assert (told.code, "does not exist" in told.err) == (1, True)


def test_extract_answers_in_json(run, transcript):
    told = run("extract", str(transcript), "--json").json

    assert told.keys() == {
        "files",
        "sessions",
        "findings",
        "promoted",
        "elsewhere",
        "refused",
        "events",
        "skipped",
        "problems",
    }
    assert (told["sessions"], told["events"]) == (["wed"], 4)


def test_a_memory_leads_back_to_what_was_said(run, transcript):
    memory = run("extract", str(transcript), "--json").json["promoted"][0]

    told = run("session", "source", memory)

    assert "No, use pnpm instead of npm in this project." in told.out


def test_sessions_are_listed_and_shown(run, transcript):
    run("extract", str(transcript))

    listed, shown = run("session", "list"), run("session", "show", "wed")

    assert listed.out.split()[0] == "wed"
    assert "Asked: Please add a lint step to the build." in listed.out
    assert "[correction]" in shown.out and "→" in shown.out


def test_a_session_is_forked_and_ended(run, transcript):
    run("extract", str(transcript))

    child = run("session", "fork", "wed", "--json").json
    ended = run("session", "end", child["id"], "--json").json

    assert child["parent"] == "wed"
    assert ended.keys() == {"session", "findings", "promoted", "left", "saved"}
    assert run("session", "recover").out == "No sessions to recover.\n"


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("session", "show", "nope"), "No session 'nope' in this project."),
        (("session", "end", ""), "No session '' in this project."),
        (("extract", "nowhere.jsonl"), "The file 'nowhere.jsonl' does not exist."),
        (("extract", "--since", "yesterday"), "'yesterday' is not a time."),
        (("preset", "eager"), "Unknown preset 'eager'."),
    ],
)
def test_nonsense_is_refused_by_name(run, arguments, said):
    told = run(*arguments)

    assert (told.code, told.err.splitlines()[0]) == (1, said)


def test_extract_wants_files_or_a_time(run, transcript):
    assert run("extract").code == 2
    assert run("extract", str(transcript), "--since", "1d").code == 2


def test_since_finds_nothing_where_no_host_was(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))

    assert run("extract", "--since", "30d").out == "No session files found since that time.\n"


def test_an_unreadable_file_is_named_and_the_rest_is_read(run, transcript, tmp_path):
    (tmp_path / "notes.txt").write_text("no transcript\n")
    (tmp_path / "nothing.jsonl").write_text("")

    told = run("extract", str(tmp_path / "notes.txt"), str(tmp_path / "nothing.jsonl"), str(transcript))

    assert "Not read: notes.txt" in told.err
    assert "Not read: nothing.jsonl" in told.err and "is empty" in told.err
    assert "1 session" in told.out


def test_memory_and_learning_are_turned_off_and_on(run, transcript):
    assert run("auto", "off").out == "Learning from sessions is off in shop.\n"
    assert run("auto", "on").code == 0
    assert run("off", "--everywhere").out == "Memory is off everywhere.\n"
    assert "Memory is off in this project" in run("extract", str(transcript)).err
    assert run("on", "--everywhere", "--json").json == {"memory": True, "everywhere": True}


def test_the_preset_is_shown_and_set(run):
    assert run("preset").out == (
        "Preset: balanced. Others: conservative (fewer memories), aggressive (more memories).\n"
    )
    assert run("preset", "conservative").out.startswith("Preset: conservative. ")
    assert run("preset", "--json").json == {"preset": "conservative"}


def test_session_deliveries_shows_what_an_agent_was_told(run, home):
    run("remember", "Answer in British English", "--kind", "preference")
    with Engine.open(".", home) as engine:
        engine.sessions.start("s1", host="codex")
        request = DeliveryRequest(Moment.START, session="s1", host="codex")
        engine.delivery.compose(request, engine.delivery.told("s1"))
        engine.delivery.flush()
        engine.sessions.start("s2", host="codex")

    listed = run("session", "deliveries", "s1").out.splitlines()
    (delivery,) = run("session", "deliveries", "s1", "--json").json["deliveries"]

    assert listed[0].startswith("start  ")
    assert listed[0].endswith("0 of 1 items used")
    assert "Answer in British English" in "\n".join(listed)
    assert (delivery["moment"], delivery["host"]) == ("start", "codex")
    assert [item["tier"] for item in delivery["items"]] == ["always"]
    assert run("session", "deliveries", "s2").err == "This session was told nothing.\n"
    assert run("session", "deliveries").err == "This session was told nothing.\n"  # the last one
    assert run("session", "show").out.startswith("s2 ")


def test_show_and_deliveries_need_a_session(run):
    for command in ("show", "deliveries"):
        answer = run("session", command)

        assert answer.code == 1
        assert "No session of this project is known." in answer.err
