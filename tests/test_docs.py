"""What the docs say is there, is there."""

import ast
import re
import shlex
from pathlib import Path

import click
import pytest

from recollect.interfaces.cli.main import cli
from recollect.kinds import ALIASES, KINDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request) -> Path:
    found: Path = request.param
    return found


def test_every_relative_link_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    relative = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]

    assert [target for target in relative if not (page.parent / target).exists()] == []


def test_every_page_is_in_the_navigation_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")}

    assert {page for page in pages if not re.search(rf": {re.escape(page)}$", navigation, re.M)} == set()


# On a line of its own in a console, or between backticks. `from recollect import Engine` is no command.
_NAMED = re.compile(r"(?:^ *(?:\$ )?|\| |`)(?:\.venv/bin/)?recollect ([a-z].*?)(?=`|$)", re.M)


def commands_named_in(page: Path) -> list[str]:
    """What stands behind `recollect`; not the names of commands that CONTRIBUTING.md shows how to add."""
    text = page.read_text(encoding="utf-8")
    return [words for words in _NAMED.findall(text) if (page.name, words) != ("CONTRIBUTING.md", "tags")]


def no_command_of_ours(words: str) -> bool:
    """Whether it names a command, or an action of one (`alias add`), that does not exist."""
    first, second = (*re.split(r"[\s,|]+", words), "", "")[:2]
    command = cli.get_command(click.Context(cli), first)
    if not isinstance(command, click.Group) or first == "links":  # `links ID` has an id there
        return command is None
    return re.fullmatch("[a-z]+", second) is not None and second not in command.commands


def test_every_command_named_is_one(page):
    assert [words for words in commands_named_in(page) if no_command_of_ours(words)] == []


def test_the_commands_are_found_in_the_pages():
    named = {words.split()[0] for page in PAGES for words in commands_named_in(page)}

    assert named >= {"remember", "recall", "search", "init", "encrypt", "alias"}


def test_every_option_named_in_the_readme_is_one():
    lines = [words for words in commands_named_in(ROOT / "README.md") if "--" in words]

    for words in lines:
        name, *rest = shlex.split(words.replace("…", ""))
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        known = {option for param in command.params for option in param.opts}
        assert {word for word in rest if word.startswith("--")} <= known


def test_the_table_of_kinds_is_the_one_in_the_code():
    text = (ROOT / "docs" / "kinds.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "`" in line
    ]
    rows = [row for row in rows if len(row) == 5]

    assert rows == [
        [
            kind.family,
            _name(kind.name),
            _days(kind.half_life, "never"),
            _days(kind.ttl, "–"),
            f"{kind.weight}",
        ]
        for kind in KINDS.values()
    ]


def _name(kind: str) -> str:
    other = [alias for alias, meant in ALIASES.items() if meant == kind]
    return f"`{kind}`" + (f" ({', '.join(other)})" if other else "")


def _days(number: float | None, otherwise: str) -> str:
    return otherwise if number is None else f"{number:g}"


@pytest.mark.parametrize(
    "package",
    sorted(ROOT.glob("src/recollect/**/__init__.py")),
    ids=lambda path: str(path.parent.relative_to(ROOT / "src")),
)
def test_the_overview_of_a_package_names_its_modules(package):
    overview = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in package.parent.glob("*.py")} - {"__init__", "__main__"}

    assert {name for name in modules if not re.search(rf"\b{name}\b", overview)} == set()
