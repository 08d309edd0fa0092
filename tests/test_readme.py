"""Every console block of the README and the docs runs as shown, in the sample project that `recollect demo --keep` leaves."""

import re
from pathlib import Path

import pytest

from doc_blocks import FENCE, Sample, differences, keep_sample, steps_of
from recollect.__main__ import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ANY_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.M | re.S)


def with_blocks() -> list[Path]:
    return [page for page in PAGES if FENCE.search(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("sample")
        patched.setenv("RECOLLECT_HOME", str(folder / "home"))
        return keep_sample(folder)


@pytest.mark.parametrize("page", with_blocks(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_print_what_it_says(source, tmp_path, page):
    assert differences(page.read_text("utf-8"), Sample(source, tmp_path)) == []


# Commands that are shown and not run, with the reason.
NOT_RUN = {
    ("docs/cli.md", "recollect doctor"): "names the agents, the program and the user of a machine",
    ("docs/cli.md", "recollect stats | tail -3"): "needs sessions of an agent, with and without memory",
    (
        "docs/measures.md",
        "recollect stats --explain-saved",
    ): "needs sessions of an agent, with and without memory",
    ("docs/mcp.md", "recollect mcp --http 8765"): "is a server, which runs until it is stopped",
    (
        "docs/window.md",
        'echo "prune_output = 2000" >> ~/.recollect/config.toml',
    ): "needs Claude Code and a daemon",
}


def test_a_block_with_commands_is_run_or_the_reason_is_known():
    shown = {
        (page.relative_to(ROOT).as_posix(), re.search(r"^ *\$ (.*?)(?:  +#.*)?$", body, re.M)[1])
        for page in PAGES
        for language, body in ANY_FENCE.findall(page.read_text("utf-8"))
        if re.search(r"^ *\$ ", body, re.M) and language != "console"
    }

    assert shown == set(NOT_RUN)


def test_the_readme_shows_the_commands_that_people_need():
    lines = " ".join(step.command for block in FENCE.findall(README) for step in steps_of(block))

    assert all(f"recollect {name}" in lines for name in ("init", "remember", "search", "recall", "undo"))


def test_a_kept_sample_is_not_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("recollect-demo").mkdir()

    assert main(["demo", "--keep"]) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["install", "uninstall", "web", "review", "undo"])
def test_commands_that_the_readme_names_exist(name, capsys):
    assert main([name, "--help"]) == 0
