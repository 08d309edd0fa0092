"""Which files a project is made of."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from recollect.code import files as walking
from recollect.code.files import list_files


def fill(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")


def rules(root: Path, text: str, path: str = ".gitignore") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def found(root: Path) -> set[str]:
    return {path for path in list_files(root).files if not path.endswith("ignore")}


def test_files_are_named_from_the_root_in_order(folder):
    fill(folder, "b.py", "a/z.py", "a/b/c.py")

    assert list_files(folder).files == ("a/b/c.py", "a/z.py", "b.py")


@pytest.mark.parametrize(
    "lines, kept",
    [
        ("*.log", {"a.py", "sub/a.py", "sub/keep.py", "out/a.py"}),
        ("out/", {"a.py", "a.log", "sub/a.py", "sub/keep.py", "sub/b.log"}),
        ("/a.py", {"a.log", "sub/a.py", "sub/keep.py", "sub/b.log", "out/a.py"}),
        ("a.py", {"a.log", "sub/keep.py", "sub/b.log"}),
        ("sub/*\n!sub/keep.py", {"a.py", "a.log", "sub/keep.py", "out/a.py"}),
        ("sub/\n!sub/keep.py", {"a.py", "a.log", "out/a.py"}),
        ("**/b.log", {"a.py", "a.log", "sub/a.py", "sub/keep.py", "out/a.py"}),
        ("*\n!a.py", {"a.py"}),
        ("# a.py\n\n  \n", {"a.py", "a.log", "sub/a.py", "sub/keep.py", "sub/b.log", "out/a.py"}),
        ("[", {"a.py", "a.log", "sub/a.py", "sub/keep.py", "sub/b.log", "out/a.py"}),
    ],
)
def test_ignore_rules_mean_what_they_mean_to_git(folder, lines, kept):
    fill(folder, "a.py", "a.log", "sub/a.py", "sub/keep.py", "sub/b.log", "out/a.py")
    rules(folder, lines)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=folder, capture_output=True, text=True
    )

    files = found(folder)

    assert files == (kept - {"out/a.py"} if lines == "a.py" else kept)
    assert files == {path for path in listed.stdout.split() if not path.endswith("ignore")}


def test_the_nearest_ignore_file_decides(folder):
    fill(folder, "a/one.log", "a/b/one.log", "one.log", "a/b/two.py")
    rules(folder, "*.log")
    rules(folder, "!one.log\n/two.py", "a/b/.gitignore")

    assert found(folder) == {"a/b/one.log"}


def test_what_git_ignores_only_here_and_what_is_secret_is_left_out(folder):
    fill(folder, "a.py", "mine.py", "keys.py", ".env", ".env.local")
    rules(folder, "mine.py", ".git/info/exclude")
    rules(folder, "keys.py", ".secretsignore")

    assert found(folder) == {"a.py"}


def test_what_others_wrote_and_machines_made_is_left_out_and_counted(folder):
    fill(folder, "a.py", "node_modules/x/i.js", "lib/vendor/j.go", "x.egg-info/a", ".git/config")
    fill(folder, "package-lock.json", "app.min.js", "api_pb2.py", "__pycache__/a.pyc")
    fill(folder, "package.json", "dist/app.js", "src/dist/kept.py")

    walked = list_files(folder)

    assert walked.files == ("a.py", "package.json", "src/dist/kept.py")
    assert walked.left_out == {"vendored folder": 3, "lock file": 1, "generated": 2, "built folder": 1}


def test_a_repository_inside_and_a_bare_one_are_left_out(folder):
    fill(folder, "a.py", "sub/.git/HEAD", "sub/b.py", "module/c.py")
    (folder / "module/.git").write_text("gitdir: ../.git/modules/module")
    subprocess.run(["git", "init", "-q", "--bare", "store.git"], cwd=folder, check=True)

    walked = list_files(folder)

    assert walked.files == ("a.py",)
    assert walked.left_out == {"nested repository": 2, "bare repository": 1}


def test_links_are_not_followed_so_there_are_no_loops(folder):
    fill(folder, "a/b.py")
    (folder / "a/up").symlink_to(folder)
    (folder / "a/self").symlink_to("self")
    (folder / "a/other.py").symlink_to("b.py")

    walked = list_files(folder)

    assert walked.files == ("a/b.py",)
    assert walked.left_out == {"symbolic link": 3}


def test_two_hundred_folders_deep_is_not_too_deep(folder):
    deep = "/".join(["d"] * 200) + "/a.py"
    fill(folder, deep)

    assert list_files(folder).files == (deep,)


def test_a_name_that_is_not_utf_8_is_counted(folder):
    fill(folder, "a.py")
    (folder / os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")
    (folder / "café.py").write_text("x = 1\n")

    walked = list_files(folder)

    assert walked.files == ("a.py", "café.py")
    assert walked.left_out == {"name not in UTF-8": 1}


def test_too_many_files_are_counted_and_the_near_ones_kept(folder, monkeypatch):
    fill(folder, "a/b/c.py", "a/b/d.py", "x.py", "a/y.py")
    monkeypatch.setattr(walking, "MOST_FILES", 2)

    walked = list_files(folder)

    assert walked.files == ("a/y.py", "x.py")
    assert walked.left_out == {"too many files": 2}


def test_nothing_there_is_no_files(folder):
    assert list_files(folder / "missing").files == ()


def test_a_pipe_is_no_file(folder):
    os.mkfifo(folder / "pipe.py")

    assert list_files(folder).files == ()


def long_ago(root: Path) -> None:
    for path in [root, *root.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000))


def add(root):
    fill(root, "a/new.py")


def remove(root):
    (root / "a/b.py").unlink()


def change_rules(root):
    rules(root, "*.log")


def remove_folder(root):
    shutil.rmtree(root / "a")


def add_folder(root):
    fill(root, "a/new/c.py", "a/new/c.pyc")


def replace_folder(root):
    shutil.rmtree(root / "a")
    (root / "a").write_text("no folder")


def nest_repository(root):
    fill(root, "a/.git/HEAD")


def change_rules_of_clone(root):
    rules(root, "b.py", ".git/info/exclude")


def change_rules_below(root):
    rules(root, "c.py", "a/.gitignore")


@pytest.mark.parametrize(
    "change",
    [
        add,
        remove,
        change_rules,
        remove_folder,
        add_folder,
        replace_folder,
        nest_repository,
        change_rules_of_clone,
        change_rules_below,
    ],
)
def test_a_listing_that_is_brought_up_to_date_is_that_of_a_new_walk(folder, change):
    fill(folder, "a/b.py", "a/deep/c.py", "d/e.py")
    rules(folder, "*.pyc")
    long_ago(folder)
    walked = list_files(folder)
    before = list_files(folder, walked)

    change(folder)
    after = list_files(folder, walked)

    assert before is walked
    assert after is not walked
    assert (after.files, after.left_out) == (list_files(folder).files, list_files(folder).left_out)


def test_only_the_folders_that_changed_are_read_again(folder, monkeypatch):
    fill(folder, "a/b.py", "a/deep/c.py", "d/e.py")
    rules(folder, "*.pyc")
    long_ago(folder)
    walked = list_files(folder)
    read = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(Path(path)) or scan(path))

    fill(folder, "a/deep/new.py")
    list_files(folder, walked)

    assert read == [folder / "a/deep"]


def test_a_folder_that_has_just_changed_is_not_trusted(folder):
    fill(folder, "a.py")
    now = time.time_ns() + 60_000_000_000  # however slow this test is
    os.utime(folder, ns=(now, now))
    walked = list_files(folder)
    again = list_files(folder, walked)

    fill(folder, "b.py")
    os.utime(folder, ns=(now, now))

    assert again is walked
    assert list_files(folder, walked).files == ("a.py", "b.py")
