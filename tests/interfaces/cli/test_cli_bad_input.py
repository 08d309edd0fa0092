"""Bad input gets one sentence and a hint, exit 1 or 2, no traceback, and changes nothing. All through a real shell's eyes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from recollect.store.sqlite import opening
from recollect.store.sqlite.connection import connect

FULL = Path("/dev/full")
BIG = b"a" * 10_000_000
NEWEST = len(list((Path(opening.__file__).parent / "migrations").glob("*.sql")))


def refused(result, code=1):
    """Whether it is a refusal as we promise it: on stderr, a sentence and a hint."""
    assert result.code == code, result
    assert "Traceback" not in result.err
    assert result.out == ""
    if code == 1:
        assert len(result.err.strip().splitlines()) == 2, result.err
    return result.err


@pytest.fixture
def call(run):
    """Runs the command in this process; bytes become what Python makes of the bytes that a shell gives."""

    def call(*arguments, **given):
        return run(*map(os.fsdecode, arguments), **given)

    return call


def nothing_kept(run):
    return run("list", "--all", "--json").json["memories"] == []


@pytest.mark.parametrize(
    "arguments, stdin, message",
    [
        (["remember", ""], b"", "the text is empty"),
        (["remember", " \n\t "], b"", "the text is empty"),
        (["remember", "-"], b"", "the text is empty"),
        (["remember", "ä" * 1100], b"", "2,200 bytes; a memory holds 2,048"),
        (["remember", "-"], BIG, "10,000,000 bytes; a memory holds 2,048"),
        (["remember", "-"], b"a\x00b", "NUL"),
        (["remember", "-"], b"caf\xe9", "not valid UTF-8"),
        (["remember", b"caf\xe9"], b"", "not valid UTF-8"),
        (["remember", "x", "--tag", b"caf\xe9"], b"", "not valid UTF-8"),
        (["remember", "x", "--session", b"caf\xe9"], b"", "not valid UTF-8"),
        (["remember", "x", "--kind", "gotca"], b"", "Did you mean 'gotcha'?"),
        (["remember", "x", "--kind", b"\xff"], b"", "Unknown kind"),
        (["remember", "x", "--scope", "projct"], b"", "Did you mean 'project'?"),
        (["remember", "x", "--visibility", "public"], b"", "Unknown visibility"),
        (["remember", "x", "--importance", "1.5"], b"", "out of range"),
        (["remember", "x", "--importance", "nan"], b"", "out of range"),
        (["remember", "x", "--importance", "-inf"], b"", "out of range"),
        (["remember", "x", "--scope", "session"], b"", "needs a session"),
        (["remember", "x", "--file", ".env"], b"", "is private"),
        (["show", "nosuchid"], b"", "No memory matches 'nosuchid'"),
        (["show", "'; DROP TABLE memories;--"], b"", "No memory"),
        (["show", b"\xff"], b"", "No memory"),
        (["forget", "*"], b"", "No memory"),
        (["restore", ""], b"", "No memory"),
        (["search", " "], b"", "The query is empty"),
        (["search", "x", "--kind", "gotca"], b"", "Did you mean 'gotcha'?"),
        (["search", "x", "--recipe", "seed3"], b"", "Did you mean 'seed-003'?"),
        (["search", "x", "--as-of", "2999-01-01"], b"", "2999-01-01 00:00 is in the future"),
        (["search", "x", "--as-of", "garbage"], b"", "'garbage' is not a time"),
        (["search", "x", "--as-of", "-30d"], b"", "'-30d' is not a time"),
        (["search", "x", "--as-of", "999999999y"], b"", "is not a time"),
        (["search", "x", "--as-of", b"\xff"], b"", "is not a time"),
        (["recall", "x", "--host", "claud"], b"", "Did you mean 'claude-code'?"),
        (["recall", "x", "--host", "emacs"], b"", "Known: claude-code, "),
        (["recall", "x", "--role", "code"], b"", "Did you mean 'coder'?"),
        (["recall", "x", "--budget", "0"], b"", "A budget of 0 tokens"),
        (["recall", "x", "--budget", "-5"], b"", "A budget of -5 tokens"),
        (["recall", "--session", b"caf\xe9"], b"", "not valid UTF-8"),
        (["budget", "0"], b"", "A budget of 0 tokens"),
        (["budget", "-5"], b"", "A budget of -5 tokens"),
        (["similar", "nosuchid"], b"", "No memory matches 'nosuchid'"),
        (["feedback", "nosuchid", "--helpful"], b"", "No memory matches 'nosuchid'"),
        (["links", "nosuchid"], b"", "No memory matches 'nosuchid'"),
        (["links", "export", "missing/graph.dot"], b"", "Cannot write missing/graph.dot"),
        (["alias", "add", "auth", " "], b"", "cannot be an alias"),
        (["alias", "add", "the", "x"], b"", "would match everything"),
        (["alias", "remove", "nosuch"], b"", "'nosuch' has no such alias"),
        (["season", "end", "nosuch"], b"", "'nosuch' is not active"),
        (["season", "start", b"caf\xe9"], b"", "not valid UTF-8"),
        (["session", "search", " "], b"", "The query is empty"),
        (["import", "--messages", "missing.jsonl"], b"", "Cannot read missing.jsonl"),
        (["list", "--state", "dead"], b"", "Unknown state"),
        (["list", "--tag", b"\xff"], b"", "not valid UTF-8"),
        (["list", "--project", "/no/such/folder"], b"", "The folder '/no/such/folder' does not exist"),
        (["encrypt", "--off"], b"", "not encrypted"),
    ],
)
def test_it_is_refused_in_a_sentence_and_a_hint(call, run, arguments, stdin, message):
    result = call(*arguments, stdin=stdin)

    assert message in refused(result)
    assert nothing_kept(run)


def test_bytes_of_a_shell_that_are_no_text_are_refused(recollect):
    assert "not valid UTF-8" in refused(recollect("remember", "x", "--tag", b"caf\xe9"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["remember"], "Missing argument"),
        (["remember", "x", "--importance", "high"], "not a valid float"),
        (["remember", "x", "-"], "not both"),
        (
            ["remember", "x", "--correction", "--created-by", "agent:x"],
            "--correction and --created-by agent:x",
        ),
        (["pin", "x", "--on", "--off"], "--on and --off cannot be used together"),
        (["encrypt", "--off", "--key-file", "k"], "--off and --key-file cannot be used together"),
        (["list", "--state", "deleted", "--all"], "--state and --all cannot be used together"),
        (["list", "--limit", "-1"], "-1"),
        (["list", "--limit", "9" * 30], "not in the range"),
        (["audit", "--limit", "9" * 30], "not in the range"),
        (["gaps", "--limit", "9" * 30], "not in the range"),
        (["search", "x", "--limit", "-1"], "not in the range"),
        (["search", "x", "--limit", "0"], "not in the range"),
        (["search", "--files", "a.py", "query"], "Missing argument 'QUERY...'"),
        (["search", "x", "--as-of", "30d", "--state", "all"], "--as-of and --state cannot be used together"),
        (["similar", "x", "--limit", "-1"], "not in the range"),
        (["session", "search", "x", "--limit", "-1"], "not in the range"),
        (["session", "search", "x", "--by", "day"], "'message', 'session'"),
        (["recall", "a", "--task", "b"], "TASK or --task, not both"),
        (["recall", "--remaining", "-1"], "not in the range"),
        (["recall", "--budget", "many"], "not a valid integer"),
        (["feedback", "x"], "Give --helpful or --not-helpful"),
        (
            ["feedback", "x", "--helpful", "--not-helpful"],
            "--helpful and --not-helpful cannot be used together",
        ),
        (["alias", "add", "auth"], "Missing argument 'WORD...'"),
        (["history", "fixes"], "Missing argument 'FAILURE...'"),
        (["alias", "lst"], "No such command 'lst'"),
        (["budget", "5", "--default"], "TOKENS and --default cannot be used together"),
        (["budget", "--defalt"], "not a valid integer"),
        (["links"], "Give the id of a memory"),
        (["list", "--home", ""], "--home': the value is empty"),
        (["list", "--project", ""], "--project': the value is empty"),
        (["tag", "x"], "Give a tag"),
        (["tag", "x", "a", "--remove", "a"], "'a' cannot be added and removed"),
        (["resolve", "a", "b"], "--keep"),
        (["lits"], "Did you mean 'list'?"),
        (["list", "--knd", "fact"], "--knd"),
        ([b"caf\xe9"], "No such command"),
    ],
)
def test_wrong_usage_exits_2(call, arguments, message):
    assert message in refused(call(*arguments), code=2)


def test_programs_get_the_refusal_as_json_on_standard_output(recollect):
    refusal, usage = (
        recollect("remember", "x", "--kind", "gotca", "--json"),
        recollect("list", "--knd", "--json"),
    )

    assert (refusal.code, usage.code) == (1, 2)
    assert refusal.json == {
        "error": {"type": "UnknownName", "message": "Unknown kind 'gotca'.", "hint": "Did you mean 'gotcha'?"}
    }
    assert usage.json["error"]["type"] == "UsageError"
    assert refusal.err == usage.err == ""


def test_an_ambiguous_prefix_names_what_it_fits(recollect, remember):
    names = [remember("Tests need a running Redis"), remember("The total is rounded half up")]

    result = recollect("show", names[0][:3])

    assert result.code == 1
    assert all(name in result.err for name in names)
    assert "Give more characters of the id" in result.err


def test_a_store_of_a_newer_version_is_left_alone(recollect, remember, home):
    remember("Use tabs")
    db = connect(home / "recollect.db", None)
    db.pragma("user_version", 99)
    db.close()
    before = (home / "recollect.db").read_bytes()

    result = recollect("list")

    assert "newer Recollect" in refused(result)
    assert (home / "recollect.db").read_bytes() == before


@pytest.mark.parametrize(
    "config, message",
    [
        (b"embedder = ", "not valid TOML"),
        (b"\xff\xfe\x00garbage", "not valid TOML"),
        (b'embeder = "none"', "Did you mean 'embedder'?"),
        (b'embedder = "gpt"', "cannot be 'gpt'"),
        (b"session_limit = -1", "whole number"),
    ],
)
def test_a_config_that_cannot_be_is_refused_by_name(run, home, config, message):
    home.mkdir()
    (home / "config.toml").write_bytes(config)

    assert message in refused(run("list"))


def test_a_config_that_cannot_be_read_is_named(recollect, home):
    (home / "config.toml").mkdir(parents=True)

    assert "Cannot read" in refused(recollect("list"))


def test_a_current_folder_that_is_gone_is_no_crash(recollect, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert "does not exist" in refused(recollect("list"))


SYNTAX = [
    "'); DROP TABLE memories;--",
    '" OR *',
    "NEAR(",
    "a AND NOT b*",
    "col:value ^x",
    "-- %s {} \\",
    "(((",
]


@pytest.mark.parametrize("text", SYNTAX)
def test_syntax_in_a_text_is_text(run, text):
    kept = run("remember", "--tag", text, "--", text)
    found = run("search", "--", text)
    listed = run("list", "--tag", text, "--json")

    assert (kept.code, found.code) == (0, 0), (kept, found)
    assert [memory["content"] for memory in listed.json["memories"]] == [text]


@pytest.mark.parametrize("command", [["search"], ["recall"], ["session", "search"]])
@pytest.mark.parametrize("text", [*SYNTAX, "redis AND " * 10_000, b"caf\xe9 redis", "\x01\x1b[31m"])
def test_a_query_may_be_any_text_of_any_length(run, remember, command, text):
    remember("Tests need a running Redis")
    query = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text

    found = run(*command, "--", query)

    assert found.code == 0
    if command != ["recall"]:  # which says nothing rather than something that may not fit
        assert ("running Redis" in found.out) == ("redis" in query and command == ["search"])


def test_a_reader_that_has_seen_enough_is_no_error(run):
    run("import", "-", stdin='{"content": "Use tabs"}\n' * 40)

    for command in (["list", "-n", "0"], ["list", "--json"], ["export"]):
        writer = subprocess.Popen(
            [sys.executable, "-m", "recollect", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        writer.stdout.close()
        err = writer.stderr.read()
        writer.stderr.close()
        writer.wait()

        assert b"Traceback" not in err
        assert b"BrokenPipe" not in err


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_output_that_finds_no_room_is_told(home, remember):
    remember("Use tabs")
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "recollect", "list"], stdout=full, stderr=subprocess.PIPE
        )

    assert done.returncode == 1
    assert done.stderr == b"Cannot write the output: No space left on device.\n"


def test_closed_streams_are_no_error_and_never_become_the_store(home, remember):
    remember("Use tabs")

    done = subprocess.run(["sh", "-c", '"$0" -m recollect list <&- >&- 2>&-', sys.executable])

    assert done.returncode == 0
    assert (home / "recollect.db").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("command", [["list"], ["remember", "Use tabs"], ["mcp", "--token"]])
def test_a_home_that_nobody_has_is_an_error(recollect, command):
    told = recollect(*command, RECOLLECT_HOME="~nobody-of-this-name/memory")

    assert told.code == 1
    assert told.err.startswith("Cannot resolve ~nobody-of-this-name/memory: the home folder does not exist.")


def test_doctor_says_that_a_user_without_a_home_has_no_hosts(recollect):
    told = recollect("doctor", HOME="~nobody-of-this-name")

    assert "Cannot resolve ~: the home folder does not exist." in told.out
    assert "Traceback" not in told.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_cannot_show_a_character_is_no_crash(recollect, remember, encoding):
    remember("na→ve 😀")

    listed = recollect("list", PYTHONIOENCODING=encoding)
    told = recollect("list", "--json", PYTHONIOENCODING=encoding)
    doctor = recollect("doctor", PYTHONIOENCODING=encoding)

    assert listed.code == 0
    assert told.json["memories"][0]["content"] == "na→ve 😀"
    assert "ok project" in doctor.out


def test_an_interrupt_exits_130_without_a_traceback(home):
    writer = subprocess.Popen(
        [sys.executable, "-m", "recollect", "remember", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # what a shell starts beside it ignores it
    )
    deadline = time.monotonic() + 30
    while not is_ready(home / "recollect.db") and time.monotonic() < deadline:  # then it waits for the text
        time.sleep(0.01)
    writer.send_signal(signal.SIGINT)
    _, err = writer.communicate(timeout=30)

    assert (writer.returncode, err.strip()) == (130, b"")


def is_ready(path):
    """Whether the store is there in its newest shape."""
    if not path.exists():
        return False
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return db.pragma("user_version") == NEWEST
    except apsw.Error:  # just being made
        return False
    finally:
        db.close()


def test_an_error_of_ours_keeps_its_traceback(run, monkeypatch):
    import recollect.engine

    monkeypatch.setattr(recollect.engine.Engine, "stats", lambda self: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        run("stats")


def test_json_is_one_document_also_when_something_is_said_beside_it(recollect):
    said = recollect("remember", "Use tabs", "--json")

    assert json.loads(said.out)["outcome"] == "stored"


@pytest.mark.parametrize(
    "text",
    [
        "--strict is ignored by the linter",
        "-1 comes back from find",
        "-h is help in all of our scripts",
        "--strict\nis ignored by the linter",
    ],
)
def test_a_text_that_begins_with_a_dash_is_taken_for_a_text(run, text):
    kept = run("remember", text, "--kind", "gotcha")

    assert kept.code == 0
    assert [each["content"] for each in run("list", "--json").json["memories"]] == [text]


def test_words_around_a_text_that_begins_with_a_dash_stay_where_they_are(run):
    run("remember", "Here", "--strict is", "ignored by the linter", "--kind", "gotcha")

    (kept,) = run("list", "--json").json["memories"]
    assert kept["content"].split() == "Here --strict is ignored by the linter".split()


def test_an_option_that_does_not_exist_is_still_one(run):
    assert "No such option '--strictly'" in refused(
        run("remember", "--strictly", "a text of its own"), code=2
    )
