from dataclasses import replace
from typing import NamedTuple

import pytest

from recollect.code.git_history import MOST_FILES, History, read_history
from recollect.code.terms import terms_of
from recollect.context.git import Repository


class Change(NamedTuple):
    paths: tuple[str, ...]
    terms: bytes


def changes(history):
    commits, made, file, text = history.commits, [], 0, 0
    for count, size in zip(commits.file_counts, commits.term_bytes, strict=True):
        paths = tuple(commits.paths[number] for number in commits.files[file : file + count])
        made.append(Change(paths, commits.terms[text : text + size]))
        file, text = file + count, text + size
    return made


def test_history_has_what_was_said_and_touched_newest_first(root, commit):
    commit("Begin", "shop/cart.py")
    head = commit("Round prices\n\nCents were lost.\n\nSigned-off-by: Ada", "shop/prices.py", "shop/cart.py")

    history = read_history(root)

    assert history.head == head
    assert next(change.paths for change in changes(history)) == ("shop/cart.py", "shop/prices.py")
    assert changes(history)[0].terms.startswith(terms_of("Round prices\n\nCents were lost.\n\n"))


def test_nothing_after_what_is_checked_out_is_in_it(root, git, commit):
    first = commit("Begin", "shop/cart.py")
    commit("Later", "shop/prices.py")
    git("checkout", "-q", first)

    history = read_history(root)

    assert history.head == first
    assert len(changes(history)) == 1


def test_a_file_that_moved_takes_its_past_with_it(root, git, commit):
    commit("Begin", "shop/cart.py")
    commit("Empty the cart", "shop/cart.py")
    git("mv", "shop/cart.py", "shop/basket.py")
    commit("Rename")

    history = read_history(root)

    assert changes(history)[1].paths == ("shop/basket.py",)


def test_what_is_known_is_not_read_again_but_moves_along(root, git, commit):
    commit("Begin", "shop/cart.py")
    commit("Empty the cart", "shop/cart.py")
    known = read_history(root)
    git("mv", "shop/cart.py", "shop/basket.py")
    commit("Rename")

    later = read_history(root, known)

    assert changes(later) == changes(read_history(root))
    assert read_history(root, later) is later


def test_what_is_known_of_another_branch_is_not_used(root, git, commit):
    first = commit("Begin", "shop/cart.py")
    commit("On a branch", "shop/prices.py")
    known = read_history(root)
    git("checkout", "-q", first)
    commit("On another", "shop/utils.py")

    assert next(change.paths for change in changes(read_history(root, known))) == ("shop/utils.py",)
    assert len(changes(read_history(root, known))) == 2


def test_another_branch_costs_its_own_commits_there_and_back(root, git, commit, monkeypatch):
    commit("Begin", "shop/cart.py")
    shared = commit("Empty the cart", "shop/cart.py")
    git("mv", "shop/cart.py", "shop/basket.py")
    here = commit("Rename")
    known = read_history(root)
    git("checkout", "-q", shared)
    there = commit("On another", "shop/utils.py")
    read = []
    stream = Repository.stream

    def watched(self, *arguments, **options):
        read.append(next(each for each in arguments if shared in each or here in each))
        return stream(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Repository, "stream", watched)
        other = read_history(root, known)
        git("checkout", "-q", here)
        back = read_history(root, History.unpacked(other.packed()))

    assert read == [f"{shared}..{there}", f"{shared}..{here}"]
    assert [change.paths for change in changes(other)[:2]] == [("shop/utils.py",), ("shop/cart.py",)]
    assert changes(back) == changes(known) == changes(read_history(root))


def test_a_commit_that_is_gone_is_no_ground_to_build_on(root, git, commit):
    commit("Begin", "shop/cart.py")
    known = replace(read_history(root), head="0" * 40)

    assert changes(read_history(root, known)) == changes(read_history(root))


def test_a_change_of_very_many_files_speaks_for_none(root, commit):
    commit("Reformat everything", *(f"shop/part{number}.py" for number in range(MOST_FILES + 1)))

    assert changes(read_history(root))[0].paths == ()


@pytest.mark.parametrize("message", ["", "\x01\x02 odd \x1e", "Grüße, 数据", "-n 5"])
def test_any_message_can_be_read(root, commit, message):
    commit("Begin", "shop/cart.py")
    commit(f"x{message}", "shop/prices.py")

    assert next(change.paths for change in changes(read_history(root))) == ("shop/prices.py",)


def test_paths_with_odd_names_are_read(root, commit):
    commit("Begin", "shop/größe und\tmaß.py")

    assert "shop/größe und\tmaß.py" in changes(read_history(root))[0].paths


def test_a_part_of_a_repository_sees_its_own_paths(root, commit):
    commit("Begin", "shop/cart.py", "readme.md")

    assert "cart.py" in changes(read_history(root / "shop"))[0].paths


def test_a_packed_history_is_the_same_again_and_gives_no_message_away(root, commit):
    commit("Secretword", "shop/cart.py")
    history = read_history(root)

    again = History.unpacked(history.packed())

    assert (again.head, changes(again)) == (history.head, changes(history))
    assert all(b"ecretword" not in change.terms for change in changes(again))


def test_without_git_or_commits_there_is_no_history(root, tmp_path):
    assert read_history(tmp_path) is None


def test_before_the_first_commit_there_is_no_history(root, git):
    assert read_history(root) is None
