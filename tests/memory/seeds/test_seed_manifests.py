import pytest

from recollect.code.modules.module_map import ProjectTools
from recollect.memory.seeds.find import find_seeds
from recollect.memory.seeds.manifests import command_seeds, manifest_seeds
from recollect.memory.seeds.pipelines import pipeline_seeds
from recollect.memory.seeds.readme import readme_seeds


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    "files, expected",
    [
        (
            {
                "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.11"\ndependencies = ["Django>=5", "celery[redis]"]\n'
                '[dependency-groups]\ndev = ["pytest"]\n',
                "uv.lock": "",
            },
            [
                "Python 3.11 or newer is needed.",
                "The frameworks here: Django and Celery.",
                "The tests are written for pytest.",
                "Python dependencies are managed with uv (uv.lock).",
            ],
        ),
        (
            {"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.9"\nflask = "*"\n'},
            [
                "Python 3.9 or newer is needed.",
                "The frameworks here: Flask.",
                "Python dependencies are managed with Poetry.",
            ],
        ),
        (
            {
                "package.json": '{"engines": {"node": ">=20"}, "packageManager": "pnpm@9.1.0", "type": "module",'
                ' "dependencies": {"react": "19", "next": "15"}, "devDependencies": {"vitest": "3"}}',
                "tsconfig.json": '{\n  // all of it\n  "compilerOptions": {"strict": true},\n}',
            },
            [
                "Node.js 20 or newer is needed.",
                "Node packages are installed with pnpm.",
                "The frameworks here: React and Next.js.",
                "The tests are written for Vitest.",
                "TypeScript is checked in strict mode.",
            ],
        ),
        (
            {
                "Cargo.toml": '[package]\nedition = "2021"\nrust-version = "1.75"\n[dependencies]\ntokio = "1"\naxum = { version = "0.7" }\n'
            },
            [
                "Rust 1.75 or newer is needed.",
                "The frameworks here: Tokio and Axum.",
            ],
        ),
        (
            {
                "go.mod": "module x\n\ngo 1.22\n\nrequire (\n\tgithub.com/labstack/echo/v4 v4.11.0\n\tgithub.com/spf13/cobra v1.8.0\n)\n"
            },
            ["The frameworks here: Echo and Cobra."],
        ),
        (
            {"pom.xml": "<java.version>21</java.version><artifactId>spring-boot-starter</artifactId>"},
            ["Java 21 or newer is needed.", "The frameworks here: Spring Boot."],
        ),
        ({"build.gradle.kts": "kotlin { jvmToolchain(17) }"}, ["Java 17 or newer is needed."]),
        (
            {"Gemfile": 'ruby "3.3.0"\ngem "rails", "~> 7"\ngem "rspec-rails"\n'},
            [
                "Ruby 3.3.0 or newer is needed.",
                "The frameworks here: Rails.",
                "The tests are written for RSpec.",
            ],
        ),
        (
            {"composer.json": '{"require": {"php": "^8.2", "laravel/framework": "^11"}}'},
            ["PHP 8.2 or newer is needed.", "The frameworks here: Laravel."],
        ),
        ({"CMakeLists.txt": "set(CMAKE_CXX_STANDARD 20)"}, ["The C++ standard is C++20."]),
    ],
)
def test_manifests_tell_versions_and_frameworks(tmp_path, files, expected):
    write(tmp_path, files)

    assert [seed.content for seed in manifest_seeds(tmp_path)] == expected


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "Cargo.toml", "composer.json", "go.mod"])
@pytest.mark.parametrize("text", ["", "[", '{"dependencies": 3}', "[project]\ndependencies = 3\n", "\x00"])
def test_a_broken_manifest_says_nothing(tmp_path, name, text):
    write(tmp_path, {name: text})

    assert list(manifest_seeds(tmp_path)) == []


def test_the_commands_of_the_whole_project_are_conventions():
    tools = (
        ProjectTools(
            "",
            "make",
            {"test": "make test", "run": "make run", "format": "gofmt -w .", "lint": "golangci-lint run"},
            {
                "test": "Makefile",
                "run": "Makefile",
                "format": "convention of go",
                "lint": "set up in .golangci.yml",
            },
        ),
        ProjectTools("web", "npm", {"test": "npm test"}, {"test": "web/package.json"}),
    )

    assert [(seed.content, seed.source) for seed in command_seeds(tools)] == [
        ("`make test` runs the tests.", "Makefile")
    ]


def test_ci_tells_versions_and_services(tmp_path):
    workflow = """
jobs:
  test:
    strategy:
      matrix:
        python-version: ["3.11", "3.12"]  # all of them
        node:
          - 20
          - 22
    services:
      db:
        image: postgres:16
      cache:
        image: docker.io/library/redis
    steps:
      - uses: actions/setup-python
        with:
          python-version: ${{ matrix.python-version }}
"""
    write(tmp_path, {".github/workflows/test.yml": workflow})

    assert [(seed.content, seed.source) for seed in pipeline_seeds(tmp_path)] == [
        ("CI tests with Python 3.11 and 3.12.", ".github/workflows/test.yml:6"),
        ("CI tests with Node.js 20 and 22.", ".github/workflows/test.yml:7"),
        ("CI starts postgres and redis for the tests.", ".github/workflows/test.yml:10"),
    ]


def test_only_commands_that_set_something_up_are_the_set_up(tmp_path):
    guide = (
        "# Contributing\n\n## Development\n\n```bash\n$ make venv\n$ make pycodestyle\n$ make content\n```\n"
    )
    write(tmp_path, {"CONTRIBUTING.md": guide})

    assert [seed.content for seed in readme_seeds(tmp_path)] == [
        "For development it is set up with `make venv`."
    ]


def test_items_keep_the_condition_that_stands_above_them(tmp_path):
    guide = "# Contributing\n\n## Code style\n\nIf you add an option, you MUST:\n\n- Add your option to `README.md`\n"
    write(tmp_path, {"CONTRIBUTING.md": guide})

    assert [seed.content for seed in readme_seeds(tmp_path)] == [
        "If you add an option, you MUST: Add your option to `README.md`."
    ]


def test_a_rule_that_refers_to_the_sentence_before_it_is_not_told(tmp_path):
    guide = (
        "# Contributing\n\n## Tests\n\nThe function runs in each test. If you don't want this, wrap it in `once()`.\n\n"
        "Otherwise use `twice()`.\n\nAlways use `fixtures/` for data.\n"
    )
    write(tmp_path, {"CONTRIBUTING.md": guide})

    assert [seed.content for seed in readme_seeds(tmp_path)] == ["Always use `fixtures/` for data."]


def test_steps_of_a_procedure_are_not_told_one_by_one(tmp_path):
    guide = "# Contributing\n\n## Tests\n\n1. Go to `website`.\n2. Run `pnpm install` in the `website` folder.\n\n- Never edit `dist/`.\n"
    write(tmp_path, {"CONTRIBUTING.md": guide})

    assert [seed.content for seed in readme_seeds(tmp_path)] == ["Never edit `dist/`."]


def test_a_workflow_that_tests_something_else_is_not_read(tmp_path):
    matrix = "jobs:\n  a:\n    strategy:\n      matrix:\n        php: [{}]\n"
    files = {"laravel.yml": matrix.format("8.9, 9.0"), "tests.yml": matrix.format("8.1, 8.2")}
    write(tmp_path, {f".github/workflows/{name}": text for name, text in files.items()})

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == ["CI tests with PHP 8.1 and 8.2."]


def test_a_version_that_one_job_tests_with_beside_a_matrix_is_told_and_that_of_a_linter_is_not(tmp_path):
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/main.yml").write_text(
        """
jobs:
  coverage:
    steps:
      - uses: setup-php
        with:
          php-version: "7.4"
      - run: "php vendor/bin/phpunit --coverage-clover build/clover.xml"
  tests:
    strategy:
      matrix:
        php-version:
          - "8.0"
          - "8.1"
    steps:
      - with:
          php-version: "${{ matrix.php-version }}"
      - run: "php vendor/bin/phpunit"
  style:
    steps:
      - with:
          php-version: "8.4"
      - run: composer cs
"""
    )

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == ["CI tests with PHP 7.4, 8.0 and 8.1."]


def test_versions_that_a_matrix_includes_or_calls_by_name_are_told(tmp_path):
    workflow = """
jobs:
  test:
    strategy:
      matrix:
        php: [ '8.0', '8.1' ]
        go: [stable, oldstable, "1.24"]
        node: ${{ fromJSON(needs.setup.outputs.node) }}
        java: [17, 21]
        ruby: ["3.3", "3.4", ruby-head, jruby]
        include:  # the newest
          - php: '8.0'
            flags: '--prefer-lowest'
          - php: '8.2'
            experimental: true
  lint:
    steps:
      - uses: shivammathur/setup-php
        with:
          php-version: '7.4'
"""
    write(tmp_path, {".github/workflows/test.yml": workflow})

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == [
        "CI tests with PHP 8.0, 8.1 and 8.2.",
        "CI tests with Go stable, oldstable and 1.24.",
        "CI tests with Java 17 and 21.",
        "CI tests with Ruby 3.3, 3.4, ruby-head and jruby.",
    ]


def test_of_versions_that_are_computed_nothing_is_told(tmp_path):
    workflow = "jobs:\n  a:\n    strategy:\n      matrix:\n        python-version: >-\n          ${{\n            fromJSON(inputs.versions) }}\n"
    workflow += (
        "  b:\n    strategy:\n      matrix:\n        python-version:\n        - pypy-3.11\n        - 3.13\n"
    )
    write(tmp_path, {".github/workflows/ci.yml": workflow})

    assert list(pipeline_seeds(tmp_path)) == []


def test_of_versions_that_cannot_all_be_read_nothing_is_told(tmp_path):
    matrix = "jobs:\n  a:\n    strategy:\n      matrix:\n        java: [{}]\n"
    files = {"test.yml": matrix.format('17, "${{ inputs.java }}"'), "ci.yml": matrix.format("8, 11")}
    write(tmp_path, {f".github/workflows/{name}": text for name, text in files.items()})

    assert list(pipeline_seeds(tmp_path)) == []


README = """# Shop

[![Build](x.svg)](https://ci.example)

**Shop** is a till for small stores that works without a network.

## Install

    pip install shop

## Development

```console
$ git clone https://example.org/shop
$ pip install -e .[dev]  # once
```

### Running the tests

```sh
make test
```
"""


def test_a_readme_tells_how_it_is_worked_on(tmp_path):
    write(
        tmp_path,
        {
            "README.md": README,
            "CONTRIBUTING.md": "- Be kind to everyone here\n- Never commit before `make test` passes\n",
        },
    )

    assert [(seed.content, seed.source) for seed in readme_seeds(tmp_path)] == [
        ("For development it is set up with `pip install -e .[dev]`.", "README.md:11"),
        ("The tests are run with `make test`.", "README.md:18"),
        ("Never commit before `make test` passes.", "CONTRIBUTING.md:2"),
    ]


GUIDE = """Contributing
============

Reporting bugs
--------------

Always add the output of ``shop --version``.

Code conventions
----------------

* Money is a ``Decimal``, you must never use ``float``.
* Try to write clean code, always.
* You should open a pull request for `this <https://example.org>`_.

Set the IDE
~~~~~~~~~~~

For parameter ``Wrap`` choose ``Do not wrap``.
"""


@pytest.mark.parametrize("name", ["CONTRIBUTING.rst", "README.rst"])
def test_sections_about_conventions_are_read_for_rules_that_name_something(tmp_path, name):
    write(tmp_path, {name: GUIDE})

    assert [(seed.content, seed.source) for seed in readme_seeds(tmp_path)] == [
        ("Money is a `Decimal`, you must never use `float`.", f"{name}:12")
    ]


def test_types_that_are_checked_in_part_are_not_called_strict(tmp_path):
    write(
        tmp_path,
        {
            "package.json": "{}",
            "tsconfig.json": '{"compilerOptions": {"strict": true, "noImplicitAny": false}}',
        },
    )

    assert list(manifest_seeds(tmp_path)) == []


def test_a_guide_says_who_writes_the_changelog_and_whether_agents_may_help(tmp_path):
    guide = """# Contributing

## Pull Requests

Don't update the CHANGELOG or the version. We do that.

## Use of AI

- We do not accept code that was written by AI.
"""
    write(tmp_path, {".github/contributing.md": guide})

    assert [seed.content for seed in readme_seeds(tmp_path)] == [
        "Don't update the CHANGELOG or the version.",
        "We do not accept code that was written by AI.",
    ]


def test_a_standard_that_depends_on_an_option_is_not_told(tmp_path):
    cmake = "if(NEW)\n  set(CMAKE_CXX_STANDARD 20)\nelse()\n  set(CMAKE_CXX_STANDARD 11)\nendif()\n"
    write(tmp_path, {"CMakeLists.txt": cmake})

    assert list(manifest_seeds(tmp_path)) == []


def test_a_standard_for_those_who_choose_none_is_not_told(tmp_path):
    cmake = "if (NOT DEFINED CMAKE_CXX_STANDARD)\n  set(CMAKE_CXX_STANDARD 14)\nendif()\n"
    write(tmp_path, {"CMakeLists.txt": cmake})
    assert list(manifest_seeds(tmp_path)) == []

    write(tmp_path, {"CMakeLists.txt": f"{cmake}target_compile_features(shop INTERFACE cxx_std_11)\n"})
    assert [seed.content for seed in manifest_seeds(tmp_path)] == ["The C++ standard is C++11."]


def test_packages_of_node_are_told_where_the_project_has_code_for_it(tmp_path):
    write(tmp_path, {"package.json": "{}", "package-lock.json": "", "Rakefile": ""})

    assert find_seeds(tmp_path, (ProjectTools("", "bundler", {}, {}),)) == []
    assert [seed.content for seed in find_seeds(tmp_path, (ProjectTools("", "npm", {}, {}),))] == [
        "Node packages are installed with npm."
    ]


def test_versions_that_ci_adds_by_name_are_told_too(tmp_path):
    matrix = """jobs:
  test:
    strategy:
      matrix:
        ruby:
          - "3.3"
          - "3.4"
        include:  # the newest
          - ruby: head
          - ruby: "truffleruby-head"
"""
    write(tmp_path, {".github/workflows/test.yml": matrix})

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == [
        "CI tests with Ruby 3.3, 3.4, head and truffleruby-head."
    ]


def test_a_framework_of_two_packages_is_named_once(tmp_path):
    write(
        tmp_path, {"pyproject.toml": '[dependency-groups]\ntest = ["pytest", "pytest-asyncio", "pytest"]\n'}
    )

    assert [seed.content for seed in manifest_seeds(tmp_path)] == ["The tests are written for pytest."]


def test_many_versions_are_told_by_their_ends_and_a_server_by_its_maker(tmp_path):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    versions = ", ".join(f'"{number}.1"' for number in (9, 10, 0, 4, 5, 6, 7, 8, 3))
    (folder / "ci.yml").write_text(
        "jobs:\n  test:\n    services:\n      db:\n        image: mcr.example.org/mssql/server:2019\n"
        f"    strategy:\n      matrix:\n        node-version: [{versions}]\n"
    )

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == [
        "CI tests with Node.js 0.1 to 10.1 (9 versions).",
        "CI starts mssql server for the tests.",
    ]


@pytest.mark.parametrize(
    "workspaces, is_told",
    [
        ('["packages/shop"]', False),
        ('{"packages": ["packages/shop"]}', False),
        ('["packages/*"]', True),
        ('["a", "b"]', True),
    ],
)
def test_one_package_is_no_workspace_of_several(tmp_path, workspaces, is_told):
    (tmp_path / "package.json").write_text(f'{{"workspaces": {workspaces}}}')

    assert any("workspace" in seed.content for seed in manifest_seeds(tmp_path)) is is_told


def test_a_command_that_checks_the_format_is_not_said_to_lint():
    tools = ProjectTools("", "cargo", {"lint": "cargo fmt -- --check"}, {"lint": ".github/workflows/ci.yml"})

    assert [seed.content for seed in command_seeds([tools])] == [
        "`cargo fmt -- --check` checks the formatting."
    ]


def test_how_users_install_the_program_is_no_set_up_for_development(tmp_path):
    (tmp_path / "README.md").write_text(
        "# Shop\n\n## Development\n\n```sh\ncargo install -f --path shop-cli\n```\n"
    )

    assert not [seed for seed in find_seeds(tmp_path) if "set up with" in seed.content]


def test_an_empty_block_of_code_is_read(tmp_path):
    (tmp_path / "README.md").write_text("# Shop\n\n## Development\n\n```\n```\n\n```sh\nmake venv\n```\n")

    assert [seed.content for seed in readme_seeds(tmp_path)] == [
        "For development it is set up with `make venv`."
    ]


def test_a_standard_in_a_comment_is_no_convention(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("# target_compile_features(shop PUBLIC cxx_std_11)\n")

    assert not list(manifest_seeds(tmp_path))


def test_versions_of_a_file_of_travis_beside_workflows_are_not_told(tmp_path):
    write(
        tmp_path,
        {
            ".github/workflows/ci.yml": "jobs:\n  test:\n    strategy:\n      matrix:\n        python: ['3.12', '3.13']\n",
            ".travis.yml": "python:\n  - 2.7\n  - 3.4\n",
        },
    )

    seeds = [seed.content for seed in pipeline_seeds(tmp_path)]

    assert seeds == ["CI tests with Python 3.12 and 3.13."]


def test_a_long_list_of_crates_is_not_told_in_part(tmp_path):
    members = ", ".join(f'"crates/c{number}"' for number in range(9))
    write(tmp_path, {"Cargo.toml": f"[workspace]\nmembers = [{members}]\n"})

    assert [seed.content for seed in manifest_seeds(tmp_path)] == [
        "The repository is a Cargo workspace (9 crates)."
    ]


def test_a_version_and_its_newest_patch_are_told_once(tmp_path):
    matrix = "jobs:\n  {name}:\n    strategy:\n      matrix:\n        go: [{versions}]\n"
    text = matrix.format(name="test", versions="'1.23', '1.24'") + matrix.format(
        name="windows", versions="1.23.x, 1.24.x"
    )
    write(tmp_path, {".github/workflows/ci.yml": text})

    assert [seed.content for seed in pipeline_seeds(tmp_path)] == ["CI tests with Go 1.23 and 1.24."]


def test_versions_of_which_one_is_an_exception_are_not_told(tmp_path):
    text = """jobs:
  test:
    strategy:
      matrix:
        rust: [nightly, stable, 1.68.0]
    steps:
      - run: cargo test
        if: matrix.rust != '1.68.0'
      - run: cargo check
"""
    write(tmp_path, {".github/workflows/ci.yml": text})

    assert list(pipeline_seeds(tmp_path)) == []


def test_a_command_without_a_word_about_it_is_no_rule(tmp_path):
    guide = "# Contributing\n\n## Style\n\n- New code is formatted. Run `make all`.\n- Run `rake` (No, REALLY :)).\n- Run `make docs` before each release.\n"
    (tmp_path / "CONTRIBUTING.md").write_text(guide)

    assert [seed.content for seed in readme_seeds(tmp_path)] == ["Run `make docs` before each release."]


def test_versions_of_a_linter_are_not_those_of_the_tests(tmp_path):
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "phpmd.yml").write_text(
        "jobs:\n  md:\n    strategy:\n      matrix:\n        php: [7.4, 8.3]\n"
    )
    (workflows / "tests.yml").write_text(
        "jobs:\n  t:\n    strategy:\n      matrix:\n        php: [8.10, 8.2]\n"
    )

    seeds = [(seed.content, seed.source) for seed in pipeline_seeds(tmp_path)]

    assert seeds == [("CI tests with PHP 8.2 and 8.10.", ".github/workflows/tests.yml:5")]


def test_the_root_of_a_cargo_workspace_is_one_of_its_crates(tmp_path):
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "shop"\nrust-version.workspace = true\n\n[workspace]\nmembers = ["till", "."]\n\n'
        '[workspace.package]\nrust-version = "1.85"\n'
    )

    assert [(seed.content, seed.source) for seed in manifest_seeds(tmp_path)] == [
        ("Rust 1.85 or newer is needed.", "Cargo.toml:9"),
        ("The repository is a Cargo workspace (shop and till).", "Cargo.toml:6"),
    ]
