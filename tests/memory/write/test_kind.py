"""Which kind a person's statement is when none is given."""

import pytest

from recollect.memory.write.forbidden import forbidden_commands
from recollect.memory.write.kind import kind_in


@pytest.mark.parametrize(
    "statement",
    [
        "Use pnpm, not npm",
        "please use pnpm",
        "Answer in British English",
        "Run ruff before committing",
        "Run the linter before you commit",
        "Never use floats for prices",
        "Don't touch the generated files",
        "Do not push to main",
        "Store passwords hashed",
        "Make sure you run the tests",
        "I prefer short functions",
        "No, use pnpm, not npm",
        "actually use 4 spaces, not tabs",
        "From now on, run ruff before committing",
        "No, actually, never use floats for prices",
    ],
)
def test_an_order_is_a_preference(statement: str) -> None:
    assert kind_in(statement) == "preference"


@pytest.mark.parametrize("statement", ["We use black for formatting", "we never merge on a Friday"])
def test_what_we_do_is_a_convention(statement: str) -> None:
    assert kind_in(statement) == "convention"


def test_what_we_decided_is_a_decision() -> None:
    assert kind_in("We decided to keep SQLite") == "decision"


@pytest.mark.parametrize(
    "statement",
    [
        "Tests need a running Redis",
        "Test data is in S3",
        "No, Tom knows the scanner now",
        "No use of globals was found",
        "Actually the cache is Valkey",
        "Instead of Redis there is Valkey",
        "Log files rotate daily",
        "Commit hooks run ruff",
        "Make targets are listed in the README",
        "Use of floats is forbidden in prices",
        "Write access needs a token",
        "We have two databases",
        "The staging database is on port 5433",
        "Release",
        "",
        "'’'",
    ],
)
def test_what_is_no_order_stays_a_fact(statement: str) -> None:
    assert kind_in(statement) == "fact"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Never run git push --force", "git push --force"),
        ("never run `git push --force`, it rewrites what others have", "git push --force"),
        ("Don't run `make deploy`", "make deploy"),
        ("Do not run terraform apply without asking me", "terraform apply"),
        ("Never run rm -rf build because the cache is expensive", "rm -rf build"),
    ],
)
def test_a_rule_forbids_the_command_that_it_names(rule: str, command: str) -> None:
    assert forbidden_commands(rule) == (command,)
    assert kind_in(rule) == "negative"


@pytest.mark.parametrize(
    "rule",
    [
        "Don't run git push --force on main",
        "Never run `docker compose down -v`, unless I ask",
        "Never run the tests in parallel",
        "Never use npm",
        "Never use tabs",
        "Do not use `any`",
        "Never call print() in library code",
        "We never run git push --force",
        "never run " + "git " * 100,
    ],
)
def test_a_rule_that_no_command_line_shows_stops_nobody(rule: str) -> None:
    assert forbidden_commands(rule) == ()
