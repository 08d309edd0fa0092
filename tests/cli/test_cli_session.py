import json

import pytest

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
    assert said.out == "Imported 1 message.\n1 secret taken out.\n"
    assert "3 refused" in said.err
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
        ("not json", "line 2: not JSON"),
        ("[1]", "line 2: not an object with"),
        ('{"content": "a memory"}', 'line 2: not an object with "session", "order" and "text"'),
        ("[" * 100_000, "line 2"),
        ('{"session": "s", "order": ' + "9" * 5000 + ', "text": "x"}', "line 2: not JSON"),
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
