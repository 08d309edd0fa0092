"""Every command of README.md runs as shown, in the sample project that `recollect demo --keep` leaves."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from recollect.__main__ import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def shown() -> list[tuple[str, str]]:
    """Return the commands of the section *Try it* with the output that follows each."""
    section = README[README.index("## Try it") :]
    block = re.search(r"```console\n(.*?)```", section, re.S)
    assert block
    steps = re.split(r"^\$ ", block[1], flags=re.M)[1:]
    return [(command, output) for command, _, output in (step.partition("\n") for step in steps)]


def call(line: str) -> str:
    import shlex

    words = shlex.split(line)
    assert words[0] == "recollect"
    with CliRunner().isolation() as (out, *_):
        code = main(words[1:])
        printed: str = out.getvalue().decode()
    assert code == 0, printed
    return printed


def comparable(text: str) -> str:
    """Replace what differs from run to run: ids, scores, times and the padding that depends on them."""
    text = re.sub(r"\b1m[0-9a-z]{16}\b", "ID", text)
    text = re.sub(r"(?<![\w.])#?(?=[0-9a-z]*\d|[a-z]{6}\b)[0-9a-hjkmnp-tv-z]{6}(?=  |\n| !)", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", text)
    text = re.sub(r"\d+\.\d+", "N", text)
    return re.sub(r" {2,}", "  ", text).strip()


def test_the_examples_of_the_readme_are_what_it_prints(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    kept = call("recollect demo --keep")
    monkeypatch.chdir(tmp_path / "recollect-demo" / "shop")

    seen = [(line, comparable(call(line))) for line, _ in shown()]

    assert "cd recollect-demo/shop" in kept
    assert seen == [(line, comparable(output)) for line, output in shown()]


def test_the_readme_shows_the_commands_that_people_need():
    lines = " ".join(line for line, _ in shown())

    assert all(f"recollect {name}" in lines for name in ("init", "remember", "search", "recall", "undo"))


def test_a_kept_sample_is_not_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("recollect-demo").mkdir()

    assert main(["demo", "--keep"]) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["install", "uninstall", "web", "review", "undo"])
def test_commands_that_the_readme_names_exist(name, capsys):
    assert main([name, "--help"]) == 0
