"""What is kept out of version control, asked of one path: git is the judge."""

import itertools
import os
import subprocess
from time import process_time

import pytest

from recollect.code.files import list_files
from recollect.code.ignore import kept_out_by

NAMES = ("a", "keep", "b.log")
FOLDERS = [
    "",
    *("/".join(parts) + "/" for depth in (1, 2) for parts in itertools.product(NAMES, repeat=depth)),
]
PATHS = [f"{folder}{name}" for folder in FOLDERS for name in ("one.log", "one.py", "kept")]


@pytest.mark.parametrize(
    "files",
    [
        {".gitignore": "*.log\n", "a/.gitignore": "!one.log\n"},
        {".gitignore": "a/\n", "a/.gitignore": "!kept\n"},
        {".gitignore": "a/*\n!a/keep\n"},
        {".gitignore": "a/**\n!a/kept\n!a/keep/\n"},
        {".gitignore": "/keep\n", "a/.gitignore": "/keep/*\n!/keep/a\n"},
        {".gitignore": "*\n!*/\n!kept\n", "keep/.gitignore": "a\n"},
        {".git/info/exclude": "keep\n", "a/.gitignore": "!keep\n"},
        {".gitignore": "!kept\n", ".git/info/exclude": "kept\n"},
        {".gitignore": "**/keep/a\n", "keep/.gitignore": "!a\nb.log/\n"},
        {".gitignore": "a/**/one.py\n*/kept\n/*/*/one.log\n"},
        {".gitignore": "*.log\n!\n", "a/.gitignore": "!\n"},  # lines that are no pattern
    ],
)
def test_git_ignores_the_same(folder, files):
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    kept_out = {path for path in PATHS if kept_out_by(folder, path)}

    asked = ["git", "-c", "core.quotePath=off", "check-ignore", "--no-index", *PATHS]
    told = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
    assert kept_out == set(told.stdout.split())
    assert kept_out.isdisjoint(list_files(folder).files)
    assert {*list_files(folder).files, *kept_out} >= set(PATHS)


def test_it_is_said_which_file_keeps_it_out(folder):
    (folder / "deep").mkdir()
    (folder / "deep/.secretsignore").write_text("*.pem\n")

    assert kept_out_by(folder, "deep/key.pem") == "deep/.secretsignore"
    assert kept_out_by(folder, "key.pem") is None


def test_a_pattern_made_to_be_slow_is_matched_at_once(tmp_path):
    (tmp_path / ".gitignore").write_text("*a" * 200 + "*b\n" + "**/" * 50 + "x*y*z\nlog*\n")

    before = process_time()

    assert kept_out_by(tmp_path, "deep/" * 20 + "a" * 250) is None
    assert kept_out_by(tmp_path, "log.txt") == ".gitignore"
    assert process_time() - before < 5  # by trying every way to match, it would take years


def test_a_pipe_in_place_of_an_ignore_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")

    assert kept_out_by(tmp_path, "log.txt") is None


def test_names_that_are_not_utf8_are_matched(tmp_path):
    (tmp_path / ".gitignore").write_text("*.log\n")

    assert kept_out_by(tmp_path, "caf\udce9.log") == ".gitignore"
