import pytest

from recollect.memory.seeds.find import find_seeds
from recollect.memory.seeds.instructions import instruction_seeds, statements
from recollect.text import block

AGENTS = """# Guide

You are an expert in payments.

## Testing

- Run `make test` before every commit,
  and read what it says.
- Never mock the database in integration tests.
* pytest only
1. Keep the fixtures in `tests/fixtures`.

Always use the factory for orders. It is quick. Why is it quick?

```bash
- rm -rf build
```

| a | - table |

> - quoted advice that is not ours

## Layout

- `src/api/`: the HTTP handlers and nothing else
- **Careful**: the *price* is in [cents](docs/money.md), not euros
- See docs/setup.md
- Follow best practices
"""


def said(root, name="AGENTS.md", text=AGENTS):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    return [(seed.kind, seed.content, seed.source) for seed in instruction_seeds(root)]


def test_bullets_and_orders_are_statements_with_their_kind_and_place(tmp_path):
    assert said(tmp_path) == [
        ("convention", "Run `make test` before every commit, and read what it says.", "AGENTS.md:7"),
        ("negative", "Never mock the database in integration tests.", "AGENTS.md:9"),
        ("convention", "Testing: pytest only.", "AGENTS.md:10"),
        ("convention", "Keep the fixtures in `tests/fixtures`.", "AGENTS.md:11"),
        ("convention", "Always use the factory for orders.", "AGENTS.md:13"),
        ("architecture", "`src/api/`: the HTTP handlers and nothing else.", "AGENTS.md:25"),
        ("gotcha", "Careful: the price is in cents, not euros.", "AGENTS.md:26"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "CLAUDE.md",
        "GEMINI.md",
        ".cursorrules",
        ".cursor/rules/python/style.mdc",
        ".windsurfrules",
        ".windsurf/rules/a.md",
        ".github/copilot-instructions.md",
        ".github/instructions/x.instructions.md",
        ".clinerules",
        ".clinerules/rules.md",
        "CONVENTIONS.md",
    ],
)
def test_every_hosts_instructions_are_read(tmp_path, name):
    found = said(tmp_path, name, "---\nglobs: '*.py'\n---\n- Use tabs for all of it\n")

    assert found == [("convention", "Use tabs for all of it.", f"{name}:4")]


def test_what_recollect_wrote_there_itself_is_left_out(tmp_path):
    text = block.put("- Use tabs for all of it\n", "- The MCP tool `search_memory` searches them")

    assert [content for _, content, _ in said(tmp_path, text=text)] == ["Use tabs for all of it."]


def test_a_briefing_that_recollect_put_into_a_file_is_not_learnt_again(tmp_path):
    assert said(tmp_path, text='<x source="recollect-memory">\n- Use tabs for all of it\n</x>') == []


def test_two_names_of_one_file_are_read_once(tmp_path):
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")

    assert len(said(tmp_path)) == 7


def test_a_link_out_of_the_project_is_not_followed(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "secret.md").write_text("- Use the master password always\n")
    (tmp_path / "shop" / "CLAUDE.md").symlink_to("../secret.md")

    assert list(instruction_seeds(tmp_path / "shop")) == []


def test_instructions_for_a_folder_say_which_one(tmp_path):
    (tmp_path / "AGENTS.md").write_text("- Run `make test` before every commit.\n")
    for folder in ("packages/ui", "node_modules/left-pad"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "CLAUDE.md").write_text("- Never import from the server here.\n")

    found = list(instruction_seeds(tmp_path))

    assert [(seed.content, seed.kind, seed.source) for seed in found] == [
        ("Run `make test` before every commit.", "convention", "AGENTS.md:1"),
        ("In packages/ui: Never import from the server here.", "negative", "packages/ui/CLAUDE.md:1"),
    ]


@pytest.mark.parametrize(
    "text, statements",
    [
        (
            "- `from __future__ import annotations` is *not* needed, nor `**kwargs` or `*args`\n",
            ["`from __future__ import annotations` is not needed, nor `**kwargs` or `*args`."],
        ),
        ("Its three jobs are:\n\n1. Create orders as files\n2. Test them locally\n", []),
        ("The till lets you:\n\n- Add up all prices\n", []),
        (
            "When you add a price:\n\n- Update the table of taxes\n",
            ["When you add a price: Update the table of taxes."],
        ),
        (
            "- That wheel depends only on requests\n- This project has no `src` folder\n",
            ["This project has no `src` folder."],
        ),
    ],
)
def test_a_statement_says_what_the_file_says_and_stands_alone(tmp_path, text, statements):
    assert [content for _, content, _ in said(tmp_path, text=text)] == [each.strip() for each in statements]


def test_a_clause_that_forbids_nothing_does_not_make_a_prohibition(tmp_path):
    text = "- Use `check()` for texts that must not be empty\n- Prices must not be negative\n"

    assert [kind for kind, _, _ in said(tmp_path, text=text)] == ["convention", "negative"]


def test_what_names_something_of_the_project_comes_first(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/till.py").write_text("")
    (tmp_path / "AGENTS.md").write_text(
        "- Build: wheels by hatch\n- Always ask if you are stuck\n- Never open `shop/till.py` twice\n"
    )

    assert [seed.content for seed in find_seeds(tmp_path)] == [
        "Never open `shop/till.py` twice.",
        "Always ask if you are stuck.",
        "Build: wheels by hatch.",
    ]


def test_instructions_for_several_hosts_are_offered_once(tmp_path):
    (tmp_path / "CLAUDE.md").write_text(
        "- New adapters belong in separate gems, NOT in the base repository\n"
    )
    (tmp_path / ".cursorrules").write_text(
        "- New adapters belong in separate gems, NOT in this base repository\n"
    )

    assert [seed.source for seed in find_seeds(tmp_path)] == ["CLAUDE.md:1"]


def test_what_is_said_of_reviews_or_under_a_condition_is_no_rule_for_all_work():
    text = (
        "# Work\n\nWhen you release, ask Ada. Write all notes in French.\n\n"
        "## PR Review Voice\n\nWrite all comments as a pirate.\n\n## Style\n\n- Use tabs for indentation\n"
        "- Do not duplicate instructions here.\n"
    )

    assert [statement for _, statement in statements(text)] == [
        "When you release, ask Ada.",
        "Use tabs for indentation.",
    ]


@pytest.mark.parametrize(
    "heading, is_of_code",
    [
        ("Review", True),
        ("Code review", True),
        ("Reviewing pull requests", True),
        ("PR reviews", True),
        ("Review guidelines", True),
        ("Review the changes", True),
        ("Reviewers:", True),
        ("Reviews", False),
        ("Review service", False),
        ("Reviews and ratings", False),
    ],
)
def test_a_section_about_reviews_of_goods_has_rules(heading, is_of_code):
    found = [
        statement for _, statement in statements(f"# {heading}\n\n- Never call `reviews.db` directly.\n")
    ]

    assert found == ([] if is_of_code else ["Never call `reviews.db` directly."])


def test_a_rule_for_one_thing_does_not_hide_those_for_all():
    text = "For Python, use ruff. Use its defaults. Never commit to main. Always run `make test` before a commit."

    assert [statement for _, statement in statements(text)] == [
        "Never commit to main.",
        "Always run `make test` before a commit.",
    ]


def test_what_agents_may_not_do_is_told_wherever_it_stands_in_a_sentence():
    text = "Agents are not allowed to open pull requests. It must not be merged. A description MUST be written by a person."

    assert [each for _, each in statements(text)] == [
        "Agents are not allowed to open pull requests.",
        "A description MUST be written by a person.",
    ]


def test_a_rule_behind_a_label_is_told_and_one_that_refers_back_is_not():
    text = "(IMPORTANT: you MUST use PHP 7.4 to run `phpcs`. You SHOULD use the `php` service, which uses that version.)"

    assert [each for _, each in statements(text)] == ["You MUST use PHP 7.4 to run `phpcs`."]


def test_what_follows_a_rule_for_one_case_is_not_told_without_it():
    text = "Update `UPGRADING.md` only when a contract breaks. Add a subsection under the version. Keep the entry short."

    assert [each for _, each in statements(text)] == ["Update `UPGRADING.md` only when a contract breaks."]


def test_what_is_said_of_here_is_not_told_without_its_heading(tmp_path):
    text = "## Extras\n\n- Keep odd checks here rather than in `till.py`.\n- Use here-documents in `here.sh` scripts.\n"
    (tmp_path / "AGENTS.md").write_text(text)

    assert [seed.content for seed in instruction_seeds(tmp_path)] == [
        "Use here-documents in `here.sh` scripts."
    ]


def test_a_rule_about_what_only_the_text_before_it_names_is_not_told():
    text = """\
- Never hand-roll it with `sed`: it works on a copy.
- Every way this tool was wrong so far flattered the tests.
- Diagnose a red job from its numbers. The failure above looks like another one.
- Never call the helpers below `SHOP_IMPLEMENT` from a test.
- `README.md` (around lines 206-233): examples of `validate()`.

All three are dead for this repository: read the checks instead.
"""

    assert [each for _, each in statements(text)] == [
        "Never call the helpers below `SHOP_IMPLEMENT` from a test."
    ]


def test_a_link_by_reference_is_told_as_its_words():
    assert [each for _, each in statements("Always follow our [rules for code][rules].")] == [
        "Always follow our rules for code."
    ]


def test_a_step_is_told_with_the_occasion_that_its_heading_names():
    text = "### Adding a New Till\n\n1. Create a project called `Shop.NewTill`\n\n## Rules\n\n- Keep the file `Shop.cs` short\n"

    assert [each for _, each in statements(text)] == [
        "Adding a New Till: Create a project called `Shop.NewTill`.",
        "Keep the file `Shop.cs` short.",
    ]


def test_a_command_with_an_option_that_does_not_work_is_not_told(tmp_path):
    said(
        tmp_path,
        text='- Run all tests: `dotnet test --filter "Speed!=slow"`\n'
        "- Run the fast tests: `dotnet test --fast`\n"
        "- Never use VSTest. Its `--filter` syntax does NOT work.\n"
        "- The option `--fast` does not work on Windows.\n",
    )
    found = [seed.source for seed in find_seeds(tmp_path)]
    assert "AGENTS.md:1" not in found
    assert {"AGENTS.md:2", "AGENTS.md:3"} <= set(found)


def test_a_filter_by_a_trait_that_no_test_has_is_not_told(tmp_path):
    (tmp_path / "TillTests.cs").write_text('[Trait("TestCategory", "Slow")]')
    said(
        tmp_path,
        text='- Always skip slow tests by `-- --filter-not-trait "Slow=true"`\n'
        '- Always leave out unstable tests with `-- --filter-not-trait "TestCategory=Slow"` in CI\n',
    )
    assert [seed.source for seed in find_seeds(tmp_path)] == ["AGENTS.md:2"]
