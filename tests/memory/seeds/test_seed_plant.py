from dataclasses import replace

import pytest

import recollect.model as m
from recollect.code.modules.module_map import ProjectTools
from recollect.memory.seeds.find import DESCRIBED, MOST_SEEDS, WORTH, find_seeds
from recollect.memory.seeds.offer import offer_seeds

RULES = "- Use tabs for indentation\n- Never push to main on a Friday\n- Put handlers into `src/api`\n"


@pytest.fixture
def seed(engine, folder, clock):
    """Looks for seeds, and plants them."""

    def seed():
        (folder / "src/api").mkdir(parents=True, exist_ok=True)
        found = find_seeds(folder)
        return offer_seeds(
            engine.store, engine.remember, found, engine.settings.user, engine.project.id, clock()
        )

    return seed


def test_seeds_are_candidates_that_say_where_they_come_from(engine, folder, seed):
    (folder / "AGENTS.md").write_text(RULES)

    planted = seed()

    first = engine.get(planted.new[0])
    assert planted.found == len(planted.new) == 3
    assert (first.content, first.kind) == ("Put handlers into `src/api`.", "convention")
    assert (first.source, first.standing, first.trust) == (m.Source.SEEDED, m.Standing.CANDIDATE, 0.6)
    assert first.provenance[0].snippet == "AGENTS.md:3"


def test_each_seed_waits_for_a_persons_word(engine, folder, seed):
    (folder / "AGENTS.md").write_text(RULES)
    seed()

    asked = engine.questions("seed")
    engine.decide(asked[0].review.id, "accept")

    assert [each.review.reason for each in asked] == [f"found in AGENTS.md:{line}" for line in (3, 1, 2)]
    assert engine.get(asked[0].memories[0].id).standing is m.Standing.CONFIRMED
    assert len(engine.questions("seed")) == 2


def test_a_second_time_adds_nothing_and_offers_nothing_that_was_rejected(engine, folder, seed, clock):
    (folder / "AGENTS.md").write_text(RULES)
    seed()
    for each in engine.questions("seed"):
        engine.decide(each.review.id, "reject")
    clock.advance(days=60)
    engine.care.purge()

    again = seed()

    assert (again.found, again.new) == (3, ())
    assert engine.list() == ()
    assert engine.questions("seed") == ()


def test_what_is_new_is_added_the_next_time(engine, folder, seed):
    (folder / "AGENTS.md").write_text(RULES)
    seed()
    (folder / "AGENTS.md").write_text(RULES + "- Ask before you add a dependency\n")

    again = seed()

    assert [engine.get(name).content for name in again.new] == ["Ask before you add a dependency."]


def test_what_is_known_already_is_not_asked_about(engine, folder, seed):
    engine.remember("Use tabs for indentation.", kind="convention")
    (folder / "AGENTS.md").write_text(RULES)

    planted = seed()

    assert (planted.found, len(planted.new)) == (3, 2)


def test_secrets_are_taken_out_on_the_way(engine, folder, seed):
    (folder / "AGENTS.md").write_text("- Log in with password hunter2-correct-horse on staging\n")

    seed()

    texts = [memory.content for memory in engine.list()]
    assert len(texts) == 1
    assert "hunter2" not in texts[0]


def test_there_are_never_more_than_can_be_reviewed(engine, folder, seed):
    (folder / "AGENTS.md").write_text(
        "".join(f"- Use the colour number {each} for shop {each}\n" for each in range(200))
    )
    (folder / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\n')

    found = find_seeds(folder)

    assert len(found) <= MOST_SEEDS
    assert "Python 3.11 or newer is needed." in [each.content for each in found]


def test_what_is_kept_out_of_version_control_is_not_looked_at(folder):
    (folder / "CLAUDE.md").write_text(RULES)
    (folder / ".gitignore").write_text("CLAUDE.md\n")

    assert find_seeds(folder) == []


def test_an_empty_folder_has_no_seeds(folder, seed):
    assert seed().found == 0


def test_of_two_that_cannot_both_be_true_the_surer_is_offered(folder):
    (folder / "ruff.toml").write_text("line-length = 100\n")
    (folder / ".flake8").write_text("[flake8]\nmax-line-length = 79\n")

    assert [each.content for each in find_seeds(folder)] == [
        "The line length of Python is set to 100 (ruff)."
    ]


def test_settings_of_a_type_checker_that_nothing_runs_are_no_convention(folder):
    (folder / "pyproject.toml").write_text("[tool.mypy]\nstrict = true\n")
    tools = ProjectTools(
        "", "uv", {"types": "mypy ."}, {"types": "set up in pyproject.toml"}, None, ("mypy",)
    )
    run = replace(tools, sources={"types": ".github/workflows/ci.yml"})

    assert "mypy checks the types, in strict mode." not in [
        one.content for one in find_seeds(folder, [tools])
    ]
    assert "mypy checks the types, in strict mode." in [one.content for one in find_seeds(folder, [run])]


def test_no_seed_takes_the_place_of_another(engine, folder, seed):
    (folder / "pyproject.toml").write_text(
        '[project]\nrequires-python = ">=3.11"\ndependencies = ["flask"]\n[dependency-groups]\ndev = ["pytest"]\n'
        "[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n[tool.pyright]\n[tool.black]\n"
    )
    (folder / "package.json").write_text(
        '{"engines": {"node": ">=20"}, "packageManager": "pnpm@9", "dependencies": {"vue": "3"}}'
    )
    (folder / "README.md").write_text("# Shop\n\n## Tests\n\n```sh\nmake test\n```\n")

    planted = seed()

    assert len(planted.new) == len(engine.list()) >= 9


def test_what_was_planted_before_an_interrupt_is_asked_about_the_next_time(engine, folder, clock, seed):
    (folder / "AGENTS.md").write_text(RULES)

    def interrupted(*args, **options):
        engine.remember(*args, **options)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        offer_seeds(
            engine.store, interrupted, find_seeds(folder), engine.settings.user, engine.project.id, clock()
        )

    again = seed()

    assert len(engine.list()) == len(again.new) == len(engine.questions("seed")) == 3


@pytest.mark.parametrize(
    "rule, is_kept",
    [
        ("Never edit `src/api/gone.py` by hand", False),
        ("Never edit `src/api/app.py` by hand", True),
        ("Run `make tset` before a commit", False),
        ("Run `make test` before a commit", True),
        ("Call `close_all()` after every test", False),
        ("Call `open_all()` after every test", True),
        ("Name a change `changes/123.bugfix.md`", True),
        ("Copy `<path>/config.yml` into your home", True),
        ("Run `npm test` before a commit", False),
        ("Run `pnpm test` before a commit", True),
    ],
)
def test_a_seed_names_only_what_the_project_has(tmp_path, rule, is_kept):
    (tmp_path / "src/api").mkdir(parents=True)
    (tmp_path / "changes").mkdir()
    (tmp_path / "src/api/app.py").write_text("def open_all(): ...\n")
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n")
    (tmp_path / "pnpm-lock.yaml").touch()
    (tmp_path / "AGENTS.md").write_text(f"- {rule}\n")

    found = find_seeds(tmp_path, symbols={"open_all"})

    assert [seed.content for seed in found] == ([f"{rule}."] if is_kept else [])


def test_the_best_seeds_are_rules_for_agents_then_what_files_say(tmp_path):
    lines = [*(f"- `{number}`: folder number {number}" for number in range(30)), "- Never push to main"]
    (tmp_path / "AGENTS.md").write_text("\n".join(lines))
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\n')

    found = find_seeds(tmp_path, most=15)

    assert len(found) == 15
    assert found[0].content == "Never push to main."
    assert "Python 3.11 or newer is needed." in [seed.content for seed in found]


def test_what_an_item_only_describes_comes_last(tmp_path):
    (tmp_path / "CLAUDE.md").write_text(
        "## Core\n\n- Contains router and middleware stacks\n- Handlers must return an error\n"
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\n')

    found = find_seeds(tmp_path)

    assert [seed.content for seed in found] == [
        "Handlers must return an error.",
        "Python 3.11 or newer is needed.",
        "Contains router and middleware stacks.",
    ]
    assert found[-1].confidence < WORTH


@pytest.mark.parametrize(
    "item, expected",
    [
        ("`Order` — base class for all orders of a shop", False),
        ("`Order` / `Basket<T>` — what every customer fills", False),
        ("All tests of a class: `--filter Order`", False),
        ("`Order` / `Basket` — must never be changed after it was paid", True),
    ],
)
def test_a_glossary_is_no_rule(tmp_path, item, expected):
    (tmp_path / "AGENTS.md").write_text(f"- {item}\n- The price has no tax in it, add it when you show it\n")

    found = find_seeds(tmp_path)

    is_rule = next(seed for seed in found if seed.content == f"{item}.").confidence > DESCRIBED
    assert is_rule is expected


@pytest.mark.parametrize(
    "rule",
    [
        "If you prefer to run `pytest` directly, we suggest to create an environment and",
        "Note that small fixes do not require a CLA, which `LICENSE.md` says",
        "Verify _Files Changed_ shows only `src/` and never `target/*.class`",
        "You should always run `make test` and then",
    ],
)
def test_half_sentences_and_formalities_of_a_guide_are_no_seeds(tmp_path, rule):
    (tmp_path / "CONTRIBUTING.md").write_text(f"# Development\n\n- {rule}\n")

    assert find_seeds(tmp_path) == []
