"""What a memory says of the code, held against the code."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from consolidating import Bench, memory

import recollect.model as m
from recollect.memory.maintenance.consolidate.operations import check_facts, tie_to_code
from recollect.memory.maintenance.consolidate.verifier import ProjectVerifier

ORIGIN = (m.Provenance(m.Source.USER_STATED, datetime(2026, 1, 1, tzinfo=UTC)),)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["celery>=5", "ruamel-yaml"]\n')
    (tmp_path / "api" / "package.json").write_text('{"dependencies": {"@prisma/client": "5"}}')
    (tmp_path / "config.py").write_text(
        "def parse(path, strict=False):\n    return path\n\n\ndef anything(first, **rest):\n    return rest\n"
    )
    return tmp_path


def said(root, text):
    about = memory(text, provenance=ORIGIN)
    return replace(about, anchors=ProjectVerifier(root).tie(about))


@pytest.mark.parametrize(
    "text",
    [
        "Jobs need the package `celery`",
        "The API is built with `@prisma/client`",
        "We depend on `ruamel.yaml`",
        "The `redis` library was removed",
        "Use `redis` for caching",
        "`parse(path, strict=True)` in config.py raises",
        "`parse(name)` in config.py is pure",
        "The `strict` parameter of `parse` in config.py is slow",
        "`anything(1, colour=red)` in config.py ignores colour",
        "`parse()` in `config.py` is pure",
    ],
)
def test_nothing_speaks_against_what_is_there(root, text):
    assert ProjectVerifier(root).check(said(root, text)) is None


@pytest.mark.parametrize(
    "text, why",
    [
        ("Caching needs the package `redis`", "no manifest names redis"),
        ("We depend on `yaml`", "no manifest names yaml"),
        ("The `prism` dependency is pinned", "no manifest names prism"),
        ("`parse(path, lenient=True)` in config.py skips errors", "`parse` has no parameter lenient"),
        ("`parse(path, strict, depth)` in config.py", "`parse` has no parameter depth"),
        ("The `depth` parameter of `parse` in config.py is ignored", "`parse` has no parameter depth"),
        ("`parse` takes `depth`, see config.py", "`parse` has no parameter depth"),
    ],
)
def test_what_is_not_there_speaks_against_it(root, text, why):
    assert ProjectVerifier(root).check(said(root, text)) == why


def test_code_that_changed_speaks_against_what_was_said_of_it(root):
    about = said(root, "`parse` in config.py was made lazy")
    (root / "config.py").write_text("def parse(path, strict=False):\n    return None\n")

    assert ProjectVerifier(root).check(about) == "`parse` in config.py has changed"


def test_older_memories_are_tied_and_asked_about_when_their_code_changes(store, home, root):
    bench = Bench(store, home)
    about = bench.say("`parse` in config.py returns the path")
    other = bench.say("Tests need a running Redis")
    verifiers = {"shop": ProjectVerifier(root)}

    tied = [action.memories for action in tie_to_code(bench.context(verifiers=verifiers), "") if action.do()]
    again = list(tie_to_code(bench.context(verifiers=verifiers), ""))
    (root / "config.py").write_text("def parse(path):\n    return None\n")
    asked = [
        (action.memories, action.why)
        for action in check_facts(bench.context(verifiers={"shop": ProjectVerifier(root)}), "")
    ]

    assert tied == [(about.id,)]
    assert [anchor.symbol for anchor in bench.now(about).anchors] == ["parse"]
    assert bench.now(other).anchors == ()
    assert again == []
    assert asked == [((about.id,), "`parse` in config.py has changed")]
