import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from recollect.interfaces.cli import output

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "ago, said",
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(hours=23), "23 h"),
        (timedelta(days=29), "29 d"),
        (timedelta(days=100), "3 mo"),
        (timedelta(days=800), "2 y"),
    ],
)
def test_ages_are_rough(ago, said):
    assert output.age(NOW - ago, NOW) == said


def test_short_ids_are_as_long_as_tells_them_apart():
    assert output.short_ids(["aaaaaaaaaa123456", "bbbbbbbbbb123456", "cc654321"]) == [
        "a123456",
        "b123456",
        "c654321",
    ]


def test_what_a_terminal_would_obey_is_shown_instead():
    assert output.printable("a\x1b[31mb\x07c\u202ed\ne") == "a\\x1b[31mb\\x07c\\u202ed\ne"


def test_letters_and_emoji_of_all_languages_stay_as_they_are():
    assert output.printable("naïve 漢字 👩‍💻 हिन्दी") == "naïve 漢字 👩‍💻 हिन्दी"


@pytest.mark.parametrize(
    "text, room, shown", [("short", 10, "short"), ("a long text", 7, "a long…"), ("漢字漢字", 5, "漢字…")]
)
def test_a_text_is_cut_to_the_columns_it_has(text, room, shown):
    assert output.cut(text, room) == shown
    assert output.width(shown) <= room


def in_terminal(*arguments: str, errors: bool = False, **variables: str) -> str:
    """Return what a command prints in a terminal: what it reports, or with `errors` what it writes to standard error."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "recollect", *arguments],
        stdin=theirs,
        stdout=subprocess.DEVNULL if errors else theirs,
        stderr=theirs if errors else subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "60", **variables},
        check=True,
    )
    os.close(theirs)
    text = os.read(ours, 100_000).decode()
    os.close(ours)
    return text


def test_a_terminal_gets_colours_and_lines_that_fit(remember):
    remember("word " * 60)

    headers, line = in_terminal("list").strip().splitlines()

    assert headers.split()[1:] == ["KIND", "AGE", "MEMORY\x1b[0m"]
    assert "\x1b[36m" in line
    assert line.endswith("…")
    assert "\x1b" not in in_terminal("list", "--no-color")
    assert "\x1b" not in in_terminal("--no-color", "list")
    assert all(output.width(line) <= 60 for line in in_terminal("list", NO_COLOR="1").splitlines())


def test_output_longer_than_the_screen_goes_through_the_pager(remember):
    for number in range(6):
        remember(f"Shard {number} is in region {number}")

    paged = in_terminal("list", PAGER="sed s/^/paged:/", LINES="5").splitlines()
    short = in_terminal("list", PAGER="sed s/^/paged:/", LINES="30")
    unpaged = in_terminal("list", PAGER="", LINES="5")
    odd = in_terminal("list", PAGER="less '", LINES="5")

    assert len(paged) == 7
    assert all(line.startswith("paged:") for line in paged)
    assert "paged:" not in short + unpaged
    assert odd == unpaged


def test_an_import_shows_its_progress_and_leaves_nothing_of_it(run, remember, tmp_path):
    remember("The port of the shop is 8080")
    remember("Mail is sent by a worker")
    run("export", str(tmp_path / "memories.json"))

    shown = in_terminal(
        "import", str(tmp_path / "memories.json"), "--home", str(tmp_path / "new"), errors=True
    )

    first, *_, last = shown.split("\r")[1:]
    assert first == f"Importing {'.' * 30}   0%"
    assert f"Importing {'#' * 30} 100%" in shown
    assert last == "\x1b[K"


def test_progress_fits_a_narrow_terminal(run, remember, tmp_path):
    remember("The port of the shop is 8080")
    run("export", str(tmp_path / "memories.json"))

    def shown(home, **variables):
        where = str(tmp_path / home)
        return in_terminal(
            "import", str(tmp_path / "memories.json"), "--home", where, errors=True, **variables
        )

    assert shown("narrow", COLUMNS="20").split("\r")[1:3] == ["Importing ....   0%", "Importing #### 100%"]
    assert shown("tiny", COLUMNS="8").split("\r")[1] == "Importi"


def test_a_terminal_that_cannot_overwrite_a_line_shows_no_progress(monkeypatch):
    ours, theirs = pytest.importorskip("pty").openpty()
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "dumb")

        with output.progress("Importing", 3) as advance:
            assert advance is None


def test_a_pipe_gets_the_whole_text_and_no_colours(run, remember):
    remember("word " * 60)

    line = run("list").out

    assert line.endswith("word word\n")
    assert "\x1b" not in line


def test_listing_loads_nothing_heavy(home, remember):
    remember("Use tabs")
    script = (
        "import sys; from recollect.__main__ import main; code = main(sys.argv[1:]);"
        "heavy = {'numpy', 'keyring', 'onnxruntime', 'tokenizers', 'pathspec', 'splintr', 'redact_secret'};"
        "sys.exit(f'loaded: {heavy & set(sys.modules)}' if heavy & set(sys.modules) else code)"
    )

    for arguments in (["list"], ["list", "--json"], ["show", "--help"], ["--help"]):
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)

        assert done.returncode == 0, done.stderr


def test_json_and_exports_have_no_direction_marks(run, remember, tmp_path):
    name = remember("Totals \u202eevil\u202c are \u2066hidden\u2069", "--tag", "a\u202eb")

    for words in (
        ("list", "--json"),
        ("show", name, "--json"),
        ("export",),
        ("links", "export", "--format", "json"),
    ):
        text = run(*words).out

        assert not set(text) & set("\u202e\u202c\u2066\u2069"), words
        assert "\\u202e" in text
    assert "\u202e" in run("show", name, "--json").json["memory"]["content"]
