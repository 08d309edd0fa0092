import subprocess

import pytest

from recollect.memory.seeds.history import history_seeds


@pytest.fixture
def repository(tmp_path):
    """Something to call with files and a message; each call is a commit."""
    root = tmp_path / "shop"
    root.mkdir()

    def git(*arguments):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)

    git("init", "-q")
    count = 0

    def commit(message, *files):
        nonlocal count
        for name in files:
            count += 1
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"{count}\n")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message)

    commit.root = root
    return commit


def told(repository):
    return [(seed.kind, seed.content, seed.file_paths) for seed in history_seeds(repository.root)]


def test_files_that_change_together_are_told(repository):
    for number in range(8):
        repository(f"change {number}", "conf/order.toml", "src/price.py")
        repository(f"asked for by a compiler {number}", "src/cart.py", "src/till.py")
    for number in range(8):
        repository(f"price {number}", "src/price.py")
        repository(f"till {number}", "src/till.py")
    for number in range(7):
        repository(f"seldom {number}", "src/a.py", "src/b.py")

    assert told(repository) == [
        (
            "dependency_relation",
            "When `conf/order.toml` changes, `src/price.py` usually does too.",
            ("conf/order.toml", "src/price.py"),
        )
    ]


def test_a_document_that_follows_the_code_is_told_earlier_than_code(repository):
    for number in range(6):
        repository(f"change {number}", "src/order.py", "doc/orders.rst", "examples/order.py")

    assert [text for _, text, _ in told(repository)] == [
        "`doc/orders.rst` and `src/order.py` change together."
    ]


def test_files_that_only_a_new_version_changes_are_not_told(repository):
    for number in range(8):
        repository(f"Bump version: 1.{number} → 1.{number + 1}", "src/__init__.py", "setup.cfg")

    assert told(repository) == []


def test_a_file_that_always_changes_is_not_told(repository):
    for number in range(8):
        repository(f"change {number}", "src/order.py", "src/main.py")
    for number in range(34):
        repository(f"other {number}", "src/main.py")

    assert told(repository) == []


def test_the_words_stay_the_same_when_the_numbers_grow(repository):
    for number in range(8):
        repository(f"change {number}", "src/order.py", "src/price.py")
    before = told(repository)
    for number in range(6):
        repository(f"again {number}", "src/order.py", "src/price.py")

    assert (
        told(repository)
        == before
        == [
            (
                "dependency_relation",
                "`src/order.py` and `src/price.py` change together.",
                ("src/order.py", "src/price.py"),
            )
        ]
    )


def test_what_everyone_knows_to_change_together_is_not_told(repository):
    for number in range(6):
        repository(
            f"change {number}", "src/order.py", "tests/test_order.py", "CHANGELOG.md", "uv.lock", "README.md"
        )
        repository(f"style {number}", "src/till.c", "src/till.h")
        repository(f"large {number}", *(f"src/part{each}.py" for each in range(12)))

    assert told(repository) == []


def test_what_was_reverted_is_told_with_its_reason(repository):
    repository("Use threads", "src/pool.py")
    repository(
        'Revert "Use threads (#12)"\n\nThis reverts commit 1f2e3d4.\n\nThe driver is not safe to share.',
        "src/pool.py",
    )
    repository("Use processes", "src/pool.py")
    repository('Revert "Use processes"\n\nThis reverts commit 1f2e3d4.', "src/pool.py")
    repository('Reapply "Use processes"', "src/pool.py")

    assert told(repository) == [
        (
            "gotcha",
            '"Use threads" was tried and reverted: The driver is not safe to share.',
            ("src/pool.py",),
        )
    ]


@pytest.mark.parametrize(
    "reason", ["", "It was pushed by mistake to main.", "See the discussion in #12 for it."]
)
def test_a_revert_without_a_reason_is_not_told(repository, reason):
    repository("Use threads", "src/pool.py")
    repository(f'Revert "Use threads"\n\nThis reverts commit 1f2e3d4.\n\n{reason}', "src/pool.py")

    assert told(repository) == []


def test_a_bug_that_was_fixed_is_not_told(repository):
    cause = "Orders were lost because the queue drops what it cannot parse."
    repository(f"Fix lost orders (#7)\n\n{cause}\n\nCloses #7", "src/queue.py")

    assert told(repository) == []


def test_there_is_no_history_without_git_or_commits(tmp_path, repository):
    assert list(history_seeds(tmp_path)) == []
    assert told(repository) == []
