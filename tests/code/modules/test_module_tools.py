"""Build, test and lint commands, out of manifests, configs and CI."""

import json

import pytest
from scan_inputs import scan_input

from recollect.code.modules.ecosystems.package_info import known_linters
from recollect.code.modules.module_map import SLOTS
from recollect.code.modules.tools import CommandRun, find_tools


def commands(files, path=""):
    return next(dict(tools.commands) for tools in find_tools(scan_input(files)) if tools.path == path)


PROJECTS = {
    "python with uv": (
        {
            "pyproject.toml": '[project]\nname = "shop"\n[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles = ["src"]\n',
            "uv.lock": "",
            "src/shop/app.py": "",
        },
        "uv",
        {
            "build": "uv build",
            "test": "uv run pytest",
            "lint": "uv run ruff check .",
            "types": "uv run mypy",
        },
    ),
    "python with poetry and tasks": (
        {
            "pyproject.toml": '[tool.poetry]\nname = "shop"\n[tool.poe.tasks]\ntest = "pytest -q"\n[tool.black]\n',
            "shop.py": "",
        },
        "poetry",
        {"build": "poetry build", "test": "poetry run poe test", "format": "poetry run black ."},
    ),
    "python with setup.py": (
        {"setup.py": "", "setup.cfg": "[tool:pytest]\n[flake8]\n", "shop.py": ""},
        "setuptools",
        {"build": "python -m build", "test": "pytest", "lint": "flake8"},
    ),
    "node with yarn": (
        {
            "package.json": '{"scripts": {"build": "tsc -b", "test": "jest", "start": "node ."}, "devDependencies": {"jest": "1", "eslint": "9"}}',
            "yarn.lock": "",
            "src/index.ts": "",
        },
        "yarn",
        {"build": "yarn run build", "test": "yarn test", "lint": "yarn eslint .", "run": "yarn run start"},
    ),
    "node without a test script": (
        {
            "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}, "devDependencies": {"vitest": "1"}}',
            "vitest.config.ts": "",
            "index.js": "",
        },
        "npm",
        {"test": "npx vitest run"},
    ),
    "rust": (
        {
            "Cargo.toml": '[package]\nname = "rg"\n[workspace]\n[lints.clippy]\nall = "warn"\n',
            "src/main.rs": "",
        },
        "cargo",
        {
            "build": "cargo build --workspace",
            "test": "cargo test --workspace",
            "lint": "cargo clippy",
            "run": "cargo run",
        },
    ),
    "go": (
        {"go.mod": "module example.com/shop\n", ".golangci.yml": "", "main.go": ""},
        "go",
        {
            "build": "go build ./...",
            "test": "go test ./...",
            "lint": "golangci-lint run",
            "format": "gofmt -w .",
            "run": "go run .",
        },
    ),
    "java with maven": (
        {
            "pom.xml": "<artifactId>shop</artifactId><plugin>spotless-maven-plugin</plugin>",
            "mvnw": "",
            "src/main/java/A.java": "",
        },
        "maven",
        {
            "build": "./mvnw package",
            "test": "./mvnw test",
            "lint": "./mvnw spotless:check",
            "format": "./mvnw spotless:apply",
        },
    ),
    "java with gradle": (
        {"build.gradle.kts": 'plugins { id("checkstyle") }', "gradlew": "", "src/main/java/A.java": ""},
        "gradle",
        {"build": "./gradlew build", "test": "./gradlew test", "lint": "./gradlew checkstyleMain"},
    ),
    "ruby": (
        {
            "Gemfile": "gem 'rspec'\ngem 'rubocop'\n",
            "Rakefile": "RSpec::Core::RakeTask.new\n",
            ".rubocop.yml": "",
            "lib/shop.rb": "",
        },
        "bundler",
        {"test": "bundle exec rake spec", "lint": "bundle exec rubocop", "format": "bundle exec rubocop -a"},
    ),
    "php": (
        {
            "composer.json": '{"require-dev": {"phpunit/phpunit": "^11", "phpstan/phpstan": "^2"}}',
            "phpunit.xml.dist": "",
            "phpstan.neon": "",
            ".php-cs-fixer.php": "",
            "src/A.php": "",
        },
        "composer",
        {
            "build": "composer install",
            "test": "vendor/bin/phpunit",
            "lint": "vendor/bin/phpstan analyse",
            "format": "php-cs-fixer fix",
        },
    ),
    "c++ with cmake": (
        {"CMakeLists.txt": "enable_testing()\nfind_package(GTest)\n", "src/a.cc": ""},
        "cmake",
        {
            "build": "cmake -S . -B build && cmake --build build",
            "test": "ctest --test-dir build --output-on-failure",
        },
    ),
    "c with make": (
        {"Makefile": "all: a.o\n\ntest: all\n\t./run-tests\n", "a.c": ""},
        "make",
        {"build": "make", "test": "make test"},
    ),
    ".net": (
        {"Shop.sln": "", "src/Shop.csproj": "xunit", "src/A.cs": ""},
        "dotnet",
        {
            "build": "dotnet build",
            "test": "dotnet test",
        },
    ),
}


@pytest.mark.parametrize("files, tool, expected", PROJECTS.values(), ids=PROJECTS)
def test_each_ecosystem_has_its_commands(files, tool, expected):
    tools = find_tools(scan_input(files))[0]

    assert (tools.tool, dict(tools.commands)) == (tool, expected)


def test_the_test_framework_is_named_with_its_config():
    files, *_ = PROJECTS["node without a test script"]

    test = find_tools(scan_input(files))[0].test

    assert (test.tool, test.config_file, test.run_command) == ("vitest", "vitest.config.ts", "npx vitest run")


def workflow(*steps):
    return "jobs:\n  test:\n    steps:\n" + "".join(f"      - run: {step}\n" for step in steps)


GO = {"go.mod": "module m\n", "main.go": ""}


def test_what_ci_runs_wins_over_the_convention():
    files = {**GO, ".github/workflows/ci.yml": workflow("go test -race ./...")}

    assert commands(files)["test"] == "go test -race ./..."


def test_a_task_of_the_plain_name_stands_for_what_ci_runs_of_it():
    scripts = '{"scripts": {"test": "mocha test/", "test-ci": "nyc npm test", "lint": "eslint ."}}'
    files = {
        "package.json": scripts,
        "index.js": "",
        ".github/workflows/ci.yml": workflow("npm run test-ci", "npx eslint src"),
    }

    found = commands(files)

    assert (found["test"], found["lint"]) == ("npm test", "npm run lint")


def test_a_task_that_runs_something_else_than_ci_does_not():
    files = {
        **GO,
        "Makefile": "lint:\n\tgolint ./...\n",
        ".github/workflows/ci.yml": "steps:\n  - uses: golangci/golangci-lint-action@v9\n",
    }

    assert commands(files)["lint"] == "golangci-lint run"


def test_all_linters_that_ci_runs_are_in_the_command():
    steps = workflow("ruff check src", "ruff check src --fix", "ruff format --check src", "flake8")
    files = {"pyproject.toml": "[tool.ruff]\n", "a.py": "", ".github/workflows/ci.yml": steps}

    assert commands(files)["lint"] == "flake8 && ruff check src && ruff format --check src"


def test_what_only_ci_can_fill_in_is_left_out():
    steps = "env:\n  CARGO: cargo\nsteps:\n  - run: ${{ env.CARGO }} test --workspace --target ${{ matrix.target || '' }}\n"
    files = {"Cargo.toml": "[package]", "src/lib.rs": "", ".github/workflows/ci.yml": steps}

    assert commands(files)["test"] == "cargo test --workspace"


def test_workflows_of_releases_say_nothing_of_tests():
    files = {**GO, ".github/workflows/release.yml": workflow("go test -tags release ./...")}

    assert commands(files)["test"] == "go test ./..."


@pytest.mark.parametrize(
    "path, text",
    [
        (".gitlab-ci.yml", "test:\n  script:\n    - go get ./...\n    - go test -short ./...\n"),
        (".travis.yml", "script:\n- go test -short ./...\n"),
        (
            ".circleci/config.yml",
            "steps:\n  - run:\n      command: |\n        go version\n        go test -short ./...\n",
        ),
        ("Jenkinsfile", "stage('test') {\n  sh 'go test -short ./...'\n}\n"),
    ],
)
def test_all_kinds_of_ci_are_read(path, text):
    assert commands({**GO, path: text})["test"] == "go test -short ./..."


def test_a_matrix_runner_leaves_the_short_way_to_the_framework():
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "a.py": "",
        ".github/workflows/ci.yml": workflow("tox run"),
    }

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["test"], tools.test.run_command) == ("tox run", "pytest")


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("Makefile", ".PHONY: test\ntest: build\n\tgo test ./...\n", "make test"),
        ("justfile", "set shell := ['sh']\n\ntest *args: build\n    go test\n", "just test"),
        ("Taskfile.yml", "version: 3\ntasks:\n  test:\n    cmds:\n      - go test\n", "task test"),
    ],
)
def test_the_projects_own_tasks_come_before_the_convention(name, text, line):
    assert commands({**GO, name: text})["test"] == line


def test_parts_of_a_monorepo_have_commands_of_their_own():
    files = {
        "package.json": '{"packageManager": "pnpm@9", "scripts": {"test": "vitest"}}',
        "pnpm-workspace.yaml": "packages: [packages/*]",
        "packages/core/package.json": '{"name": "@shop/core", "scripts": {"test": "vitest"}}',
        "packages/core/index.ts": "",
        "backend/pyproject.toml": "[tool.pytest.ini_options]\n",
        "backend/app.py": "",
        "examples/tiny/package.json": '{"name": "tiny", "scripts": {"test": "vitest"}}',
        "index.ts": "",
    }

    found = {tools.path: tools.commands["test"] for tools in find_tools(scan_input(files))}

    assert found == {
        "": "pnpm test",
        "backend": "cd backend && pytest",
        "packages/core": "pnpm --filter @shop/core run test",
    }


def test_a_project_of_two_languages_has_the_tools_of_both_the_larger_first():
    files = {
        "pyproject.toml": "[tool.ruff]\n",
        "app.py": "x = 1\n" * 100,
        "package.json": '{"scripts": {"test": "qunit"}}',
        "static/app.js": "1",
    }

    assert [tools.tool for tools in find_tools(scan_input(files))] == ["pip", "npm"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"package.json": "{", "index.js": ""},
        {"package.json": "[]", "index.js": ""},
        {"package.json": '{"scripts": [], "bin": 7, "main": {}}', "index.js": ""},
        {"pyproject.toml": "= =", "a.py": ""},
        {"pyproject.toml": "project = 3\ntool = []\n", "a.py": ""},
        {"Cargo.toml": "bin = 3", "a.rs": ""},
        {".github/workflows/ci.yml": "run: |\n\trun:\n- run\n- run:", "a.go": "", "go.mod": ""},
    ],
)
def test_manifests_that_make_no_sense_stop_nothing(files):
    find_tools(scan_input(files))


def test_no_secret_stands_in_a_command():
    token = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    files = {**GO, ".github/workflows/ci.yml": workflow(f"go test -token={token} ./...")}

    assert token not in commands(files)["test"]


def test_a_makefile_that_hands_on_what_it_does_not_know_has_the_tasks_of_the_folder_below():
    files = {
        "Makefile": "SUBDIRS = src\ndefault: all\n.DEFAULT:\n\tfor dir in $(SUBDIRS); do $(MAKE) -C $$dir $@; done\n",
        "src/Makefile": "all: server\ntest: server\n\t@(cd ..; ./runtest)\n",
        "src/server.c": "",
    }

    assert commands(files) == {"build": "make", "test": "make test"}


def test_requirements_alone_are_nothing_to_build():
    files = {"requirements.txt": "pytest\n", "app.py": "", "tests/test_app.py": ""}

    assert "build" not in commands(files)


def test_the_settings_of_a_tool_are_no_part_of_the_project():
    files = {"Makefile": "test:\n\tcheck\n", "src/a.c": "", ".codespell/setup.py": ""}

    assert [tools.path for tools in find_tools(scan_input(files))] == [""]


WORKSPACE = {
    "package.json": '{"name": "shop", "private": true, "workspaces": ["packages/*"]}',
    "packages/api/package.json": '{"name": "api", "scripts": {"test": "jest"}}',
    "packages/api/a.js": "",
}


def test_a_part_is_addressed_from_a_root_that_has_no_tasks_of_its_own():
    assert commands(WORKSPACE, "packages/api")["test"] == "npm run test -w packages/api"


def test_a_part_of_what_is_no_workspace_is_gone_into():
    files = {path: text for path, text in WORKSPACE.items() if path != "package.json"}

    assert commands(files, "packages/api")["test"] == "cd packages/api && npm test"


def test_a_part_whose_tests_no_script_runs_has_them_run_where_it_is():
    files = WORKSPACE | {
        "pnpm-lock.yaml": "",
        "packages/api/package.json": '{"name": "api", "devDependencies": {"vitest": "1"}}',
        "packages/api/a.test.js": "",
    }

    assert commands(files, "packages/api") == {"test": "cd packages/api && pnpm exec vitest run"}


def test_every_row_of_the_table_of_linters_is_complete():
    linters = [linter for ecosystem in ("python", "node", "php") for linter in known_linters(ecosystem)]

    assert len(linters) == 24
    assert all(linter.name and linter.command and linter.slot in SLOTS for linter in linters)
    assert all(linter.files or linter.words for linter in linters)


PYTEST = {
    "pyproject.toml": '[project]\nname = "pytest"\n[tool.uv]\n[tool.ruff]\n[tool.black]\ntarget-version = ["py39"]\n[tool.pytest.ini_options]\n',
    ".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff-check\n  - id: ruff-format\n  - id: blacken-docs\n    additional_dependencies: [black==25.1.0]\n",
    ".github/workflows/update-plugin-list.yml": "jobs:\n  a:\n    steps:\n    - run: tox -e update-plugin-list\n",
    "CONTRIBUTING.rst": "Running tests\n-------------\n\nRun one::\n\n    pytest testing/test_config.py\n\nRun all::\n\n    $ tox -e linting,py313\n",
    "src/app.py": "",
}


def test_a_job_of_tox_that_runs_no_tests_is_no_test_command():
    tools = find_tools(scan_input(PYTEST))[0]

    assert tools.commands["test"] == "tox -e linting,py313"
    assert tools.sources["test"] == "CONTRIBUTING.rst:10"


def test_a_formatter_that_nothing_runs_is_not_named():
    tools = find_tools(scan_input(PYTEST))[0]

    assert "black" not in tools.linters
    assert tools.commands["format"] == "pre-commit run ruff-format --all-files"
    assert tools.sources["format"] == ".pre-commit-config.yaml"


def test_settings_of_a_linter_that_nothing_runs_do_not_name_it():
    files = {
        "setup.py": "",
        "tox.ini": "[flake8]\nignore = E501\n\n[testenv:lint]\ncommands = pre-commit run --all-files\n",
        ".pre-commit-config.yaml": "repos:\n  - repo: https://example.org/ruff\n    hooks:\n      - id: ruff\n",
    }

    assert find_tools(scan_input(files))[0].linters == ("ruff",)


def test_the_types_are_checked_by_the_script_for_it():
    files = {
        "package.json": '{"scripts": {"lint": "xo", "type": "tsd && tsc"}, "devDependencies": {"xo": "1"}}',
        "tsconfig.json": "{}",
        "index.js": "",
    }

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["types"], tools.linters) == ("npm run type", ("xo",))


def test_a_part_without_tests_of_its_own_has_no_test_command():
    files = {
        "Shop.slnx": "",
        "src/Shop/Shop.csproj": "<Project/>",
        "src/Shop/Cart.cs": "",
        "src/Shop.Tests/Shop.Tests.csproj": '<PackageReference Include="xunit" />',
        "src/Shop.Tests/CartTests.cs": "",
    }

    assert {tools.path: tools.commands.get("test") for tools in find_tools(scan_input(files))} == {
        "": "dotnet test",
        "src/Shop.Tests": "cd src/Shop.Tests && dotnet test",
    }


def test_preparing_the_environments_of_tox_runs_no_tests():
    workflow = "jobs:\n  a:\n    steps:\n    - run: tox --notest -p auto\n    - run: tox --skip-pkg-install\n"
    files = {"setup.py": "", "tox.ini": "[tox]\n", "shop.py": "", ".github/workflows/ci.yml": workflow}

    assert find_tools(scan_input(files))[0].commands["test"] == "tox --skip-pkg-install"


def test_a_package_beside_the_root_is_no_workspace_of_it():
    files = {
        "package.json": '{"name": "shop", "scripts": {"test": "npm run unit", "unit": "node -r x --test test/*.js"}}',
        "index.js": "",
        "kiosk/package.json": '{"name": "kiosk", "scripts": {"lint": "eslint ."}}',
        "kiosk/index.js": "",
    }

    root, kiosk = find_tools(scan_input(files))

    assert root.test.tool == "node:test"
    assert kiosk.commands["lint"] == "cd kiosk && npm run lint"


@pytest.mark.parametrize(
    "needs, framework",
    [
        ("<artifactId>junit</artifactId><artifactId>spock-core</artifactId>", "junit"),
        ("<artifactId>spock-core</artifactId>", "spock"),
        ("<artifactId>kotest-runner-junit5</artifactId>", "kotest"),
    ],
)
def test_a_framework_that_few_tests_use_is_not_named(needs, framework):
    files = {"pom.xml": f"<project>{needs}</project>", "src/main/java/Shop.java": ""}

    assert find_tools(scan_input(files))[0].test.tool == framework


def test_a_runner_of_linters_is_none():
    files = {
        "Gemfile": 'gem "rubocop"\n',
        ".rubocop.yml": "",
        "lib/shop.rb": "",
        ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: bundle exec rake rubocop\n",
    }

    assert find_tools(scan_input(files))[0].linters == ("rubocop",)


def test_of_a_part_only_its_tests_are_guessed():
    files = {
        "go.mod": "module shop\n",
        "shop.go": "package shop\n",
        "till/go.mod": "module shop/till\n",
        "till/till.go": "package till\n",
    }

    assert [tools.path for tools in find_tools(scan_input(files))] == [""]

    tools = find_tools(scan_input({**files, "till/till_test.go": "package till\n"}))[1]

    assert (tools.commands, tools.linters) == ({"test": "cd till && go test ./..."}, ())


@pytest.mark.parametrize(
    "files, command, source",
    [
        ({"CONTRIBUTING.md": "Run `pytest -q` to test.\n"}, "pytest -q", "CONTRIBUTING.md:1"),
        (
            {"README.md": "# Shop\n\n## Testing\n\n```sh\n$ nox -s tests\n```\n"},
            "nox -s tests",
            "README.md:6",
        ),
        ({"README.md": "# Usage\n\n```sh\npytest --x\n```\n"}, "pytest", "tox.ini"),
        ({"CONTRIBUTING.md": "```\npytest tests/test_one.py\n```\n"}, "pytest", "tox.ini"),
        ({"Makefile": "test:\n\tpytest\n"}, "make test", "Makefile"),
        (
            {".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: pytest -n 4\n"},
            "pytest -n 4",
            ".github/workflows/ci.yml",
        ),
    ],
)
def test_a_test_command_has_its_source(files, command, source):
    tools = find_tools(scan_input({"setup.py": "", "tox.ini": "[pytest]\n", "shop.py": "", **files}))[0]

    assert (tools.commands["test"], tools.sources["test"]) == (command, source)


def test_what_failed_whenever_it_was_run_comes_last():
    files = {"setup.py": "", "shop.py": "", "Makefile": "test:\n\tpytest\n", "CONTRIBUTING.md": "`nox`\n"}

    tools = find_tools(scan_input(files), [CommandRun("make test", 0, 2)])[0]

    assert (tools.commands["test"], tools.sources["test"]) == ("nox", "CONTRIBUTING.md:1")


def test_what_passed_when_agents_ran_it_comes_first():
    files = {"setup.py": "", "shop.py": "", "Makefile": "test:\n\tpytest\n"}

    tools = find_tools(scan_input(files), [CommandRun("python -m pytest -x", 5, 1)])[0]

    assert tools.commands["test"] == "python -m pytest -x"
    assert tools.sources["test"] == "passed 5 times when agents ran it"


@pytest.mark.parametrize(
    "files, framework",
    [
        (
            {
                "package.json": '{"scripts": {"test": "npm run unit", "unit": "borp"}, "devDependencies": {"jest": "1", "borp": "1"}}',
                "index.js": "",
            },
            "borp",
        ),
        (
            {
                "Gemfile": 'gem "rspec-mocks"\ngem "minitest"\n',
                "Rakefile": "Rake::TestTask",
                "lib/a.rb": "",
                "test/test_a.rb": "",
            },
            "minitest",
        ),
        ({"Gemfile": 'gem "rspec"\n', "lib/a.rb": "", "spec/a_spec.rb": ""}, "rspec"),
    ],
)
def test_a_test_framework_is_what_runs_not_what_is_installed(files, framework):
    tools = find_tools(scan_input(files))[0]

    assert tools.test.tool == framework


def test_installing_a_linter_is_not_linting():
    workflow = "jobs:\n  a:\n    steps:\n    - run: composer bin psalm update\n    - run: vendor/bin/psalm\n"

    tools = find_tools(
        scan_input({"composer.json": "{}", "src/a.php": "", ".github/workflows/ci.yml": workflow})
    )[0]

    assert tools.commands["lint"] == "vendor/bin/psalm"


def test_a_benchmark_is_no_test_command():
    workflow = "jobs:\n  a:\n    steps:\n    - run: pytest --codspeed bench/\n"

    tools = find_tools(
        scan_input(
            {"setup.py": "", "tox.ini": "[pytest]\n", "a.py": "", ".github/workflows/codspeed.yml": workflow}
        )
    )[0]

    assert tools.commands["test"] == "pytest"


LINTED = {
    "pyproject.toml": "[tool.ruff]\n[tool.mypy]\nstrict = true\n",
    ".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff\n  - id: ruff-format\n  - id: mypy\n",
    "shop.py": "",
}


@pytest.mark.parametrize(
    "files, slot, command, source",
    [
        ({}, "lint", "pre-commit run --all-files", ".pre-commit-config.yaml"),
        ({}, "types", "pre-commit run mypy --all-files", ".pre-commit-config.yaml"),
        ({}, "format", "pre-commit run ruff-format --all-files", ".pre-commit-config.yaml"),
        ({"tox.ini": "[testenv:types]\ncommands = mypy src\n"}, "types", "tox -e types", "tox.ini"),
        (
            {".github/workflows/ci.yml": workflow("ruff format --check .", "tox -e mypy-test")},
            "format",
            "ruff format .",
            "set up in .github/workflows/ci.yml",
        ),
        (
            {".github/workflows/ci.yml": workflow("tox -e mypy-test")},
            "types",
            "pre-commit run mypy --all-files",
            ".pre-commit-config.yaml",
        ),
        ({".pre-commit-config.yaml": ""}, "types", "mypy .", "set up in pyproject.toml"),
        (
            {".pre-commit-config.yaml": "", "CONTRIBUTING.md": "```\nmypy src\n```\n"},
            "types",
            "mypy src",
            "CONTRIBUTING.md:2",
        ),
        (
            {".pre-commit-config.yaml": "", "CONTRIBUTING.md": "We use `mypy`.\n"},
            "types",
            "mypy .",
            "set up in pyproject.toml",
        ),
    ],
)
def test_a_linter_has_the_command_of_what_runs_it(files, slot, command, source):
    tools = find_tools(scan_input({**LINTED, **files}))[0]

    assert (tools.commands[slot], tools.sources[slot]) == (command, source)


@pytest.mark.parametrize("trigger", ["on: [push, pull_request]\n", "on:\n  push:\n  pull_request:\n"])
def test_a_workflow_that_checks_changes_and_releases_counts(trigger):
    files = {**GO, ".github/workflows/build-release.yml": trigger + workflow("go test -race ./...")}

    assert commands(files)["test"] == "go test -race ./..."


def test_what_ci_adds_for_its_logs_and_reports_is_left_out():
    maven = {
        "pom.xml": "<artifactId>shop</artifactId>",
        "src/main/java/A.java": "",
        ".github/workflows/ci.yml": workflow("mvn -X -B verify --file pom.xml -Pfast"),
    }
    python = {
        "pyproject.toml": "[project]\n",
        "shop.py": "",
        ".github/workflows/ci.yml": workflow("pytest --cov=src/shop --cov-branch --junitxml=out.xml -n 4"),
    }

    assert (commands(maven)["test"], commands(python)["test"]) == ("mvn verify -Pfast", "pytest -n 4")


@pytest.mark.parametrize(
    "files",
    [
        {"go.mod": "module m\n", "main.go": ""},
        {"Cargo.toml": "[package]\n", "src/lib.rs": ""},
        {"Shop.sln": "", "Shop.cs": ""},
        {"CMakeLists.txt": "", ".clang-format": "", "a.cc": ""},
        {"package.json": "{}", "tsconfig.json": "{}", "index.ts": ""},
    ],
)
def test_a_check_that_nothing_speaks_for_is_not_named(files):
    tools = find_tools(scan_input(files))

    assert not any(each.commands.get("lint") or each.commands.get("types") for each in tools)
    assert not {"go vet", "rustfmt"} & {name for each in tools for name in each.linters}


def test_a_task_for_what_ci_runs_says_what_that_is():
    files = {
        "composer.json": "{}",
        "src/a.php": "",
        "Makefile": "test: start\n\tvendor/bin/phpunit\n",
        ".github/workflows/ci.yml": workflow(
            "./vendor/bin/phpunit", "vendor/bin/psalm.phar --output-format=github"
        ),
    }

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["test"], tools.sources["test"]) == ("make test", "Makefile, CI runs phpunit")
    assert (tools.commands["lint"], tools.linters) == ("vendor/bin/psalm.phar", ("psalm",))


def test_the_guide_says_how_to_run_the_tests_once():
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "shop.py": "",
        ".github/workflows/ci.yml": workflow("tox -e ${{ matrix.tox }}"),
        "CONTRIBUTING.md": "```\npytest -q\n```\n",
    }

    assert commands(files)["test"] == "pytest -q"


CRATES = {
    "Cargo.toml": '[package]\nname = "shop"\n[workspace]\nmembers = ["till"]\nexclude = ["cart", "ci"]\n',
    "src/lib.rs": "",
    **{f"{folder}/Cargo.toml": f'[package]\nname = "{folder}"\n' for folder in ("till", "cart", "ci/probe")},
    **{f"{folder}/src/lib.rs": "#[test]" for folder in ("till", "cart", "ci/probe")},
}


def test_only_members_of_a_workspace_are_addressed_from_the_root():
    files = {**CRATES, ".github/workflows/ci.yml": workflow("cargo test --package shop")}

    found = {tools.path: tools.commands["test"] for tools in find_tools(scan_input(files))}

    assert found == {"": "cargo test --workspace", "till": "cargo test -p till"}


@pytest.mark.parametrize(
    "member, folder",
    [
        ("crates/*/*", "crates/web/shop-till"),
        ("crates/**", "crates/web/shop-till"),
        ("**/shop-*", "crates/web/shop-till"),
        ("./libs/shop-*/", "libs/shop-till"),
        ("*", "shop-till"),
    ],
)
def test_a_member_of_a_workspace_may_be_named_by_a_pattern(member, folder):
    beside = f"{folder}-old"
    files = {
        "Cargo.toml": f'[workspace]\nmembers = ["{member}"]\nexclude = ["{beside}"]\n',
        **{f"{each}/Cargo.toml": '[package]\nname = "till"\n' for each in (folder, beside, "other/a/b/c")},
        **{f"{each}/src/lib.rs": "#[test]" for each in (folder, beside, "other/a/b/c")},
    }

    found = {tools.path: tools.commands["test"] for tools in find_tools(scan_input(files))}

    assert found == {"": "cargo test --workspace", folder: "cargo test -p till"}


def test_tests_that_cmake_builds_on_request_are_asked_for():
    cmake = 'enable_testing()\noption(SHOP_BUILD_TESTS "Build the tests" OFF)\n'
    files = {
        "CMakeLists.txt": cmake,
        "test/gtest/CMakeLists.txt": 'option(gtest_build_tests "Its own" OFF)\n',
        "src/a.cc": "",
        ".github/workflows/ci.yml": workflow("cd build", "ctest --test-dir build -j 4"),
    }

    tools = find_tools(scan_input(files))[0]

    assert tools.commands["build"] == "cmake -S . -B build -D SHOP_BUILD_TESTS=ON && cmake --build build"
    assert (tools.commands["test"], tools.sources["test"]) == (
        "ctest --test-dir build -j 4",
        ".github/workflows/ci.yml",
    )


def test_the_bridge_of_symfony_runs_phpunit():
    files = {
        "composer.json": '{"require-dev": {"symfony/phpunit-bridge": "^7"}}',
        "phpunit.xml.dist": "",
        "src/a.php": "",
        "extra/composer.json": "{}",
        "extra/phpunit.xml.dist": "",
        "extra/b.php": "",
    }
    ci = {
        ".github/workflows/ci.yml": workflow(
            "vendor/bin/simple-phpunit install", "vendor/bin/simple-phpunit -v"
        )
    }

    assert {tools.path: tools.commands.get("test") for tools in find_tools(scan_input(files))} == {
        "": "vendor/bin/simple-phpunit"
    }
    assert commands({**files, **ci})["test"] == "vendor/bin/simple-phpunit -v"


def test_a_task_whose_name_goes_on_does_something_else():
    steps = workflow("make build-docs", "make format-check", "make test-report", "make lint")
    files = {
        **GO,
        "Makefile": "lint:\n\tgolangci-lint run\n",
        ".github/workflows/ci.yml": steps,
    }

    found = commands(files)

    assert (found["build"], found["format"]) == ("go build ./...", "gofmt -w .")
    assert (found["test"], found["lint"]) == ("go test ./...", "make lint")


def test_the_formatters_of_golangci_lint_format_the_code():
    files = {**GO, ".golangci.yml": 'version: "2"\nformatters:\n  enable:\n    - gofumpt\n'}

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["format"], tools.sources["format"]) == (
        "golangci-lint fmt",
        "set up in .golangci.yml",
    )


def test_sorting_imports_is_not_formatting():
    files = {"pyproject.toml": "[tool.isort]\n", "shop.py": ""}

    tools = find_tools(scan_input(files))[0]

    assert ("format" in tools.commands, tools.linters) == (False, ("isort",))


def test_a_recipe_of_just_may_be_indented_by_two_spaces():
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "shop.py": "",
        "Justfile": "@test *options: init\n  uv run pytest {{options}}\n",
        ".github/workflows/test.yml": workflow('pytest -n auto -m "not serial"', 'pytest -m "serial"'),
    }

    assert commands(files)["test"] == "just test"
    assert commands({**files, "Justfile": ""})["test"] == 'pytest -n auto -m "not serial"'


def test_a_test_framework_of_c_is_named_by_a_whole_word():
    files = {"CMakeLists.txt": "enable_testing()\nadd_test(EncodingTest)\nfind_package(Catch2)\n", "a.cc": ""}

    assert find_tools(scan_input(files))[0].test.tool == "Catch2"


def test_a_workflow_for_a_website_says_nothing_of_the_build():
    files = {**GO, ".github/workflows/gh-pages.yml": workflow("go build -tags docs ./...")}

    assert commands(files)["build"] == "go build ./..."


def test_of_two_builds_of_java_the_one_that_ci_runs_counts():
    files = {
        "pom.xml": "<artifactId>shop</artifactId>",
        "build.gradle": "dependencies { testImplementation 'junit' }",
        "gradlew": "",
        "src/main/java/A.java": "",
        "till/build.gradle": "",
        "till/src/main/java/B.java": "",
        "till/src/test/java/BTest.java": "",
    }
    ci = {".github/workflows/ci.yml": workflow("./gradlew build --no-daemon")}

    assert commands(files)["test"] == "mvn test"
    assert commands({**files, **ci})["test"] == "./gradlew test"
    assert commands({**files, **ci}, "till")["test"] == "./gradlew :till:test"


def test_a_linter_in_a_comment_of_ci_is_not_run():
    files = {
        "Cargo.toml": '[package]\nname = "rg"\n',
        ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: cargo test\n      # - run: cargo clippy\n      # - run: cargo fmt --check\n",
        "src/lib.rs": "",
    }

    tools = find_tools(scan_input(files))[0]

    assert tools.linters == ()
    assert set(tools.commands) == {"build", "test"}


def test_commands_in_one_line_are_told_apart():
    files = {
        "build.gradle": "",
        "gradlew": "",
        "src/main/java/App.java": "",
        ".github/workflows/ci.yml": "steps:\n  - run: ./gradlew --stop;./gradlew clean; ./gradlew build\n",
    }

    assert find_tools(scan_input(files))[0].commands["build"] == "./gradlew build"


def test_only_a_project_of_spring_boot_is_run_by_it():
    library = {"build.gradle": "", "src/A.java": "", "starter/build.gradle": "id 'org.springframework.boot'"}
    service = {
        "build.gradle": "plugins {\n  id 'org.springframework.boot' version '3.2'\n}",
        "src/A.java": "",
    }

    assert "run" not in find_tools(scan_input(library))[0].commands
    assert find_tools(scan_input(service))[0].commands["run"] == "gradle bootRun"


def test_a_report_of_checkstyle_is_no_linter():
    plugin = "<plugin><artifactId>maven-checkstyle-plugin</artifactId></plugin>"
    reported = {"pom.xml": f"<project><reporting>{plugin}</reporting></project>", "src/main/java/A.java": ""}
    built = {"pom.xml": f"<project><build>{plugin}</build></project>", "src/main/java/A.java": ""}

    assert "lint" not in find_tools(scan_input(reported))[0].commands
    assert find_tools(scan_input(built))[0].sources["lint"] == "set up in pom.xml"


@pytest.mark.parametrize(
    "rakefile, command",
    [
        ("RSpec::Core::RakeTask.new\n", "bundle exec rake spec"),
        ("RSpec::Core::RakeTask.new do |t|\nend\n", "bundle exec rake spec"),
        ("RSpec::Core::RakeTask.new(:spec)\n", "bundle exec rake spec"),
        ("RSpec::Core::RakeTask.new('spec:unit') do |t|\nend\n", "bundle exec rake spec:unit --trace"),
    ],
)
def test_a_task_of_rake_has_the_name_that_it_is_given(rakefile, command):
    files = {
        "Gemfile": "",
        "Rakefile": rakefile,
        "spec/order_spec.rb": "",
        ".github/workflows/ci.yml": "steps:\n  - run: bundle exec rake spec:unit --trace\n",
    }

    assert find_tools(scan_input(files))[0].commands["test"] == command


@pytest.mark.parametrize("header, framework", [("test/catch.hpp", "Catch2"), ("test/own.hpp", "ctest")])
def test_the_tests_of_cmake_are_named_by_their_framework(header, framework):
    files = {"CMakeLists.txt": "enable_testing()", "src/a.cpp": "", header: ""}

    assert find_tools(scan_input(files))[0].test.tool == framework


def test_tests_with_some_features_are_not_all_tests():
    steps = (
        "steps:\n  - run: cargo test --no-default-features\n  - run: cargo test --workspace --all-features\n"
    )
    files = {"Cargo.toml": "[workspace]", "src/lib.rs": "", ".github/workflows/ci.yml": steps}

    assert find_tools(scan_input(files))[0].commands["test"] == "cargo test --workspace --all-features"


def test_a_build_for_one_target_is_not_the_build():
    steps = "steps:\n  - run: cargo build --target=thumbv6m-none-eabi\n"
    files = {"Cargo.toml": "[package]", "src/lib.rs": "", ".github/workflows/ci.yml": steps}

    assert find_tools(scan_input(files))[0].commands["build"] == "cargo build"


def test_specs_may_be_written_for_minitest():
    files = {"Gemfile": "gem 'minitest'", "Rakefile": "task 'spec' do\nend", "spec/order_spec.rb": ""}

    assert find_tools(scan_input(files))[0].test.tool == "minitest"


def test_the_name_of_a_task_is_no_linter():
    files = {
        "composer.json": '{"scripts": {"phpcs": "php-cs-fixer fix --dry-run"}}',
        "src/A.php": "",
        ".github/workflows/ci.yml": "steps:\n  - run: composer phpcs\n",
    }

    assert "phpcs" not in find_tools(scan_input(files))[0].linters


def test_a_task_that_shows_the_documents_does_not_run_the_project():
    files = {"package.json": '{"scripts": {"start": "cd website && yarn start"}}', "index.js": ""}

    assert all("run" not in each.commands for each in find_tools(scan_input(files)))


def test_what_only_ci_needs_is_not_part_of_a_command():
    line = "dotnet test Shop.csproj -c Release --logger GitHubActions -p:CI=true"
    files = {"Shop.csproj": "xunit", ".github/workflows/ci.yml": f"steps:\n  - run: {line}\n", "A.cs": ""}

    assert find_tools(scan_input(files))[0].commands["test"] == "dotnet test Shop.csproj -c Release"


def test_a_part_for_several_platforms_is_tested_by_its_check():
    files = {
        "settings.gradle.kts": 'include(":shop")',
        "build.gradle.kts": "",
        "shop/build.gradle.kts": 'plugins {\n  kotlin("multiplatform")\n}',
        "shop/src/commonMain/kotlin/A.kt": "",
        "shop/src/commonTest/kotlin/ATest.kt": "",
    }

    assert find_tools(scan_input(files))[1].commands["test"] == "gradle :shop:check"


def test_a_makefile_beside_cmake_does_not_run_the_tests():
    steps = "steps:\n  - run: |\n      cd build\n      cmake ..\n      make\n      make test\n"
    files = {
        "CMakeLists.txt": "enable_testing()",
        "Makefile": "test: demo\n\t./demo\n",
        "json.c": "",
        ".github/workflows/ci.yml": steps,
    }

    assert find_tools(scan_input(files))[0].commands["test"].startswith("ctest ")


def test_the_framework_of_dotnet_is_the_one_that_most_tests_use():
    once, twice = '<PackageReference Include="xunit" />', '<PackageReference Include="NUnit" />' * 2
    files = {"Shop.Tests/Shop.Tests.csproj": once + twice, "Shop.sln": "", "A.cs": ""}

    assert find_tools(scan_input(files))[0].test.tool == "nunit"


@pytest.mark.parametrize("section, is_told", [("[tool.ruff]", False), ("[tool.ruff.format]", True)])
def test_settings_of_a_linter_do_not_make_it_a_formatter(section, is_told):
    files = {"pyproject.toml": f"[project]\nname = 'shop'\n{section}\n", "shop.py": ""}

    assert ("format" in find_tools(scan_input(files))[0].commands) is is_told


@pytest.mark.parametrize(
    "recipe, slot",
    [
        ("\t./test.sh", "test"),
        ("\truff check src", "lint"),
        ("\truff check src tests", "lint"),
        ("\tmypy src", "types"),
        ("\t./deploy --dry-run", None),
    ],
)
def test_what_a_task_called_check_does_is_read(recipe, slot):
    files = {
        "pyproject.toml": "",
        "shop.py": "",
        "Makefile": f"check:\n{recipe}\n",
        ".github/workflows/ci.yml": workflow("make check"),
    }

    commands = find_tools(scan_input(files))[0].commands

    assert [each for each, line in commands.items() if line == "make check"] == ([slot] if slot else [])


def test_ci_decides_between_two_plain_names_of_tasks():
    files = {
        "CMakeLists.txt": "enable_testing()",
        "Makefile": "test: demo\n\t./demo\ncheck: demo\n\t./test.sh\n",
        "redis.c": "",
        ".github/workflows/ci.yml": workflow("make check"),
    }

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["test"], tools.test) == ("make check", None)
    assert tools.sources["test"] == "Makefile, as CI runs it"


def test_an_option_for_some_tests_is_not_the_one_that_builds_them():
    cmake = 'project(shop)\nenable_testing()\nOPTION(ENABLE_SSL_TESTS "Test SSL" OFF)\n'

    tools = find_tools(scan_input({"CMakeLists.txt": cmake, "a.c": ""}))[0]

    assert tools.commands["build"] == "cmake -S . -B build && cmake --build build"


def test_ruby_without_a_task_for_tests_has_no_command_for_them():
    gems = 'gem "minitest"\ngem "rubocop"\n'
    files = {"Gemfile": gems, "lib/shop.rb": "", "test/test_shop.rb": "", ".rubocop.yml": ""}

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands.get("test"), tools.test) == (None, None)


def test_the_files_that_mypy_checks_are_those_of_its_own_section():
    hatch = '[tool.mypy]\nstrict = true\n\n[tool.hatch.build.targets.wheel]\npackages = ["shop"]\n'

    assert commands({"pyproject.toml": hatch, "shop.py": ""})["types"] == "mypy ."
    assert commands({"pyproject.toml": '[tool.mypy]\nfiles = ["shop"]\n', "shop.py": ""})["types"] == "mypy"


def test_words_of_a_recipe_are_no_targets_that_it_calls():
    makefile = "lint:\n\tuv run rumdl check .\nruff:\n\truff check .\ncheck: lint ruff\n"
    files = {
        "pyproject.toml": "",
        "shop.py": "",
        "Makefile": makefile,
        ".github/workflows/ci.yml": workflow("ruff check ."),
    }

    assert find_tools(scan_input(files))[0].commands["lint"] == "ruff check ."


@pytest.mark.parametrize(
    "manifest, line",
    [
        ({"pyproject.toml": "", "a.py": ""}, "ruff format --diff ."),
        ({"package.json": "{}", "a.js": ""}, "npx prettier --check ."),
        (
            {"package.json": '{"scripts": {"format:check": "prettier -c ."}}', "a.js": ""},
            "npm run format:check",
        ),
        ({"Shop.sln": "", "a.cs": ""}, "dotnet format Shop.sln --verify-no-changes"),
    ],
)
def test_a_command_that_only_checks_the_format_is_no_formatter(manifest, line):
    found = find_tools(scan_input({**manifest, ".github/workflows/ci.yml": workflow(line)}))[0].commands

    assert found["lint"] == line
    assert "format" not in found or "check" not in found["format"]


@pytest.mark.parametrize(
    "check, lint",
    [
        ("gts lint && npm run check:js", "npm run check"),
        ("node check.js", None),
        ("eslint . && mocha test", None),
        ("tsc --strict --noEmit", None),
    ],
)
def test_a_script_called_check_lints_if_it_runs_a_linter_and_no_tests(check, lint):
    files = {"package.json": json.dumps({"scripts": {"build": "tsc", "check": check}}), "a.js": ""}

    assert commands(files).get("lint") == lint


def test_a_task_that_has_the_name_of_a_formatter_formats():
    files = {
        "composer.json": "{}",
        "a.php": "",
        ".php-cs-fixer.dist.php": "",
        "Makefile": "php-cs-fixer:\n\tphp tools/vendor/bin/php-cs-fixer fix\n",
    }

    assert commands(files)["format"] == "make php-cs-fixer"


def test_a_task_that_only_checks_the_format_is_no_formatter():
    files = {"package.json": '{"scripts": {"build": "tsc", "format": "prettier --check ."}}', "a.js": ""}

    assert "format" not in commands(files)


def test_a_command_of_which_only_a_part_is_left_is_not_shown():
    line = 'go build -o target/${{ matrix.os }}/shop -ldflags="-w -X main.Version=${{ env.NONE }}" ./cmd/shop'
    files = {**GO, ".github/workflows/ci.yml": workflow(line)}

    assert commands(files)["build"] == "go build ./..."


def test_ci_that_tests_part_after_part_leaves_the_whole_to_the_guide():
    steps = workflow("dotnet test test/Shop.Tests", "dotnet test test/Till.Tests -f net8.0")
    files = {
        "Shop.slnx": "",
        "src/a.cs": "",
        ".github/workflows/ci.yml": steps,
        "CLAUDE.md": "# Work\n\n```sh\ndotnet test Shop.slnx\n```\n",
    }

    assert find_tools(scan_input(files))[0].commands["test"] == "dotnet test Shop.slnx"


def test_a_library_that_another_one_needs_is_not_the_test_framework():
    manifest = "module shop\nrequire (\n\tgithub.com/stretchr/testify v1.2.3 // indirect\n)\n"

    assert find_tools(scan_input({"go.mod": manifest, "a.go": ""}))[0].test.tool == "go test"


def test_a_linter_that_a_gem_is_not_needed_for_is_not_named():
    files = {"shop.gemspec": 'f.start_with?("config/rubocop-rspec.yml")', "lib/shop.rb": ""}

    assert find_tools(scan_input(files))[0].linters == ()


def test_a_task_that_watches_the_tests_does_not_run_the_project():
    files = {"package.json": '{"scripts": {"dev": "vitest", "test": "vitest run"}}', "a.js": ""}

    assert "run" not in commands(files)


def test_a_linter_of_php_that_ci_has_replaced_is_not_named():
    files = {
        "composer.json": "{}",
        "src/A.php": "",
        "phpstan.neon": "",
        ".github/workflows/ci.yml": workflow("vendor/bin/psalm"),
    }

    assert find_tools(scan_input(files))[0].linters == ("psalm",)


def test_a_task_that_builds_again_and_again_does_not_run_the_project():
    files = {"package.json": '{"scripts": {"build": "zshy", "dev": "zshy --watch"}}', "a.js": ""}

    assert "run" not in commands(files)


def test_a_part_that_only_names_other_parts_has_no_tests():
    modules = "<modules><module>utils</module></modules>"
    files = {
        "pom.xml": f"<project>{modules}</project>",
        "utils/pom.xml": "<project><packaging>pom</packaging><modules><module>ssl</module></modules></project>",
        "utils/ssl/pom.xml": "<project/>",
        "utils/ssl/src/test/java/ATest.java": "",
        "utils/ssl/src/main/java/A.java": "",
    }

    assert [tools.path for tools in find_tools(scan_input(files)) if "test" in tools.commands] == [
        "",
        "utils/ssl",
    ]


@pytest.mark.parametrize(
    "files, line, expected",
    [
        ({"setup.py": "", "shop.py": ""}, "pytest --cov shop --cov-config .coveragerc", "pytest"),
        ({"setup.py": "", "shop.py": ""}, "pytest --cov --junitxml out.xml tests", "pytest tests"),
        (
            {"shop.sln": "", "a.cs": ""},
            "dotnet test -c Release --no-restore --no-build",
            "dotnet test -c Release",
        ),
    ],
)
def test_a_test_command_is_told_as_it_runs_outside_of_ci(files, line, expected):
    assert commands({**files, ".github/workflows/ci.yml": workflow(line)})["test"] == expected


def test_a_build_with_tags_is_not_how_the_tests_are_run():
    steps = workflow("go test -race -bench . -benchmem -timeout 10m ./...", "go test -tags cbor ./...")

    assert commands({**GO, ".github/workflows/ci.yml": steps})["test"] == "go test -race -timeout 10m ./..."


def test_what_ci_runs_after_going_into_a_folder_is_run_there():
    files = {
        "projects/settings.gradle.kts": "",
        "projects/build.gradle.kts": "junit",
        "projects/gradlew": "",
        "projects/core/build.gradle.kts": "",
        "projects/core/src/main/kotlin/Till.kt": "class Till",
        "projects/core/src/test/kotlin/TillTest.kt": "class TillTest",
        ".github/workflows/ci.yml": workflow("cd projects && ./test.sh", "cd ../x && ./lint.sh"),
    }

    assert commands(files, "projects")["test"] == "cd projects && ./test.sh"
    assert "lint" not in commands(files, "projects")
    assert commands(files, "projects/core")["test"] == "cd projects/core && ../gradlew test"


def test_the_wrapper_of_gradle_at_the_root_runs_the_tests_of_a_part():
    files = {
        "settings.gradle": "include 'core'",
        "build.gradle": "junit",
        "gradlew": "",
        "core/build.gradle": "",
        "core/src/main/java/Till.java": "class Till {}",
        "core/src/test/java/TillTest.java": "class TillTest {}",
    }

    assert commands(files, "core")["test"] == "./gradlew :core:test"


def test_an_option_of_cmake_that_depends_on_others_builds_the_tests():
    text = 'project(SHOP)\ncmake_dependent_option(SHOP_BUILD_TESTS\n  "Build the tests" OFF\n  "BUILD_TESTING" OFF)\nenable_testing()\n'

    build = commands({"CMakeLists.txt": text, "a.cpp": ""})["build"]

    assert build == "cmake -S . -B build -D SHOP_BUILD_TESTS=ON && cmake --build build"


def test_a_script_that_tests_the_types_checks_them():
    scripts = {"test": "vitest", "test:types": "tsc --build"}
    files = {
        "package.json": json.dumps({"scripts": scripts, "devDependencies": {"typescript": "5"}}),
        "tsconfig.json": "{}",
        "index.ts": "",
        ".github/workflows/ci.yml": workflow("npm run test:types", "npm test"),
    }

    assert commands(files)["types"] == "npm run test:types"
    assert commands(files)["test"] == "npm test"


def test_a_file_of_travis_beside_workflows_is_left_over():
    files = {
        **GO,
        ".github/workflows/ci.yml": workflow("go vet ./..."),
        ".travis.yml": "script:\n  - go test -short ./...\n",
    }

    assert commands(files)["test"] == "go test ./..."


def test_tests_without_some_crates_are_not_those_of_the_workspace_and_a_script_of_a_part_stays():
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
        "crates/till/Cargo.toml": '[package]\nname = "till"\n',
        "crates/till/src/lib.rs": "#[test]",
        "crates/till/run-tests.sh": "",
        "crates/shelf/Cargo.toml": '[package]\nname = "shelf"\n',
        "crates/shelf/src/lib.rs": "#[test]",
        ".github/workflows/ci.yml": workflow(
            "cargo test --workspace --exclude shelf", "cd crates/till && ./run-tests.sh"
        ),
    }

    assert commands(files)["test"] == "cargo test --workspace"
    assert commands(files, "crates/till")["test"] == "cd crates/till && ./run-tests.sh"
    assert commands(files, "crates/shelf")["test"] == "cargo test -p shelf"


def test_a_part_that_the_settings_of_gradle_leave_out_has_no_commands():
    part = {
        "build.gradle": "",
        "src/main/java/A.java": "class A {}",
        "src/test/java/ATest.java": "class ATest {}",
    }
    files = {
        "settings.gradle": 'include("till")\ninclude(":shelf")\n',
        "build.gradle": "junit",
        "gradlew": "",
        **{f"{name}/{path}": text for name in ("till", "shelf", "old") for path, text in part.items()},
    }

    paths = [tools.path for tools in find_tools(scan_input(files))]

    assert paths == ["", "shelf", "till"]


def test_what_ci_runs_at_a_root_without_a_manifest_tests_the_whole():
    files = {
        "src/Shop.sln": "",
        "src/Tools.sln": "",
        "src/Shop/Shop.csproj": "",
        "src/Shop/Till.cs": "class Till {}",
        "src/Shop.Tests/Shop.Tests.csproj": '"xunit"',
        "src/Shop.Tests/TillTests.cs": "class TillTests {}",
        ".github/workflows/ci.yml": workflow("dotnet build src/Shop.sln", "dotnet test ./src/Shop.sln"),
    }

    found = {tools.path: tools.commands.get("test") for tools in find_tools(scan_input(files))}

    assert found == {
        "": "dotnet test ./src/Shop.sln",
        "src/Shop.Tests": "cd src/Shop.Tests && dotnet test",
    }


def test_an_archive_of_the_sources_is_not_the_build():
    files = {"pyproject.toml": "[project]\nname = 'shop'\n", "uv.lock": "", "shop.py": "x = 1\n"}
    step = {".github/workflows/test.yml": workflow("python -m build --sdist")}

    assert commands({**files, **step}).get("build") != "python -m build --sdist"


def test_rubocop_that_bundler_does_not_install_is_no_linter():
    files = {"Gemfile": "gem 'rake'\n", ".rubocop.yml": "", "lib/till.rb": "class Till\nend\n"}

    assert find_tools(scan_input(files)) == ()
    assert commands({**files, "Gemfile": "gem 'rubocop-rake'\n"})["lint"] == "bundle exec rubocop"


def test_a_result_of_a_linter_that_is_unpacked_is_not_linted():
    files = {"CMakeLists.txt": "project(shop)\n", "till.cpp": "int main() {}\n"}
    step = {".github/workflows/tidy.yml": workflow("unzip clang-tidy-result.zip -d clang-tidy-result")}

    assert "lint" not in commands({**files, **step})


def test_what_ci_runs_for_other_projects_is_not_how_this_one_is_tested():
    files = {**GO, ".github/workflows/test-downstream.yml": workflow("scripts/test")}

    assert commands(files)["test"] == "go test ./..."


def test_ruby_may_be_tested_with_test_unit():
    files = {
        "Gemfile": "gem 'test-unit'\n",
        "Rakefile": "Rake::TestTask.new(:test)\n",
        "lib/shop.rb": "",
        "test/test_shop.rb": "",
    }

    tools = find_tools(scan_input(files))[0]

    assert (tools.commands["test"], tools.test and tools.test.tool) == ("bundle exec rake test", "test-unit")


def test_a_task_that_only_compiles_the_tests_does_not_run_them():
    make = "test: test.c\n\t$(CC) $(CFLAGS) -o $@ test.c\n\n"

    assert "test" not in commands({"Makefile": make, "shop.c": ""})
    assert commands({"Makefile": make.strip() + "\n\t./test\n", "shop.c": ""})["test"] == "make test"


def test_a_look_for_a_program_is_not_a_run_of_it():
    files = {**GO, ".github/workflows/tests.yml": workflow("command -v gotestsum")}

    assert commands(files)["test"] == "go test ./..."


def test_a_script_that_only_checks_types_is_no_linter():
    files = {"package.json": json.dumps({"scripts": {"check": "tsc --strict --noEmit"}}), "a.ts": ""}

    assert commands(files)["types"] == "npm run check"


def test_a_task_that_ci_runs_to_check_the_format_is_no_formatter():
    files = {
        "Cargo.toml": "[package]\nname = 'shop'\n",
        "src/lib.rs": "",
        "justfile": "fmt:\n    cargo fmt --all -- --check\n",
        ".github/workflows/ci.yml": workflow("just fmt"),
    }

    found = commands(files)

    assert (found.get("format"), found["lint"]) == (None, "just fmt")


def test_settings_of_a_type_checker_are_left_over_if_only_other_tools_are_run():
    files = {
        "pyproject.toml": "[project]\nname = 'shop'\n[tool.ruff]\n[tool.mypy]\n",
        "shop.py": "",
        ".github/workflows/ci.yml": workflow("ruff check ."),
    }

    tools = find_tools(scan_input(files))[0]

    assert ("types" in tools.commands, tools.linters) == (False, ("ruff",))


def test_a_workflow_named_for_its_build_tool_comes_before_a_travis_file_that_was_left():
    files = {
        "build.gradle": "",
        "gradlew": "",
        "src/main/java/Shop.java": "",
        ".travis.yml": "script: ./gradlew assemble test\n",
        ".github/workflows/gradle.yml": workflow("./gradlew clean build test"),
    }

    assert commands(files)["test"] == "./gradlew clean build test"


@pytest.mark.parametrize("first, build", [("all", "make"), ("test", None)])
def test_make_builds_if_its_first_target_does(first, build):
    files = {"Makefile": f".PHONY: test\nCC := cc\n{first}: shop.h\n\t./shop\n", "shop.c": ""}

    found = find_tools(scan_input(files))

    assert (found[0].commands.get("build") if found else None) == build


def test_a_gem_below_a_gemfile_is_tested_by_bundler():
    files = {
        "Gemfile": "",
        "shop/shop.gemspec": "Gem::Specification.new { |s| s.summary = %q{Sells things to customers} }",
        "shop/lib/shop.rb": "",
        "shop/spec/shop_spec.rb": "",
    }

    assert commands(files, "shop")["test"] == "cd shop && bundle exec rspec"


def test_a_section_of_tox_for_several_environments_ends_the_one_before():
    tox = "[testenv:tests-main]\ncommands = pytest\n[testenv:lint-{ruff,all}]\ncommands =\n    ruff: ruff check .\n"
    files = {"pyproject.toml": "[project]\nname = 'shop'\n[tool.ruff]\n", "shop.py": "", "tox.ini": tox}

    assert commands(files)["lint"] == "ruff check ."


def test_a_command_in_an_environment_that_ci_has_made_leaves_the_tests_to_the_guide():
    files = {
        "pyproject.toml": "[project]\nname = 'shop'\n",
        "uv.lock": "",
        "shop.py": "",
        "CONTRIBUTING.md": "Run the tests with `uv run pytest`.\n",
        ".github/workflows/ci.yml": workflow(".venv/bin/python -m pytest tests"),
    }

    assert commands(files)["test"] == "uv run pytest"


def test_a_command_that_runs_the_tests_of_a_name_does_not_test_the_crate():
    files = {
        "Cargo.toml": "[package]",
        "src/lib.rs": "",
        ".github/workflows/ci.yml": workflow("cargo test pass", "cargo test fail"),
    }

    assert commands(files)["test"] == "cargo test"


def test_a_task_in_a_wrapper_that_measures_coverage_is_run_without_it():
    files = {
        "package.json": '{"scripts": {"test": "tape tests/*.js"}}',
        "index.js": "",
        ".github/workflows/ci.yml": workflow("nyc --exclude=tests npm test"),
    }

    assert commands(files)["test"] == "npm test"


def test_rake_alone_tests_a_project_whose_tests_are_in_several_tasks():
    tasks = 'RSpec::Core::RakeTask.new("spec")\nRSpec::Core::RakeTask.new("spec:acceptance")\n'
    files = {
        "Gemfile": "gem 'rspec'\n",
        "Rakefile": tasks + "task default: %w[spec spec:acceptance lint]\n",
        "lib/shop.rb": "",
        ".github/workflows/ci.yml": workflow("bundle exec rake"),
    }

    assert commands(files)["test"] == "bundle exec rake"
    assert (
        commands({**files, "Rakefile": tasks + "task default: [:spec]\n"})["test"] == "bundle exec rake spec"
    )


def test_the_format_of_the_reports_for_github_is_left_out():
    files = {
        "Gemfile": "gem 'standard'\n",
        "lib/shop.rb": "",
        ".github/workflows/ci.yml": workflow("bundle exec standardrb --format github --parallel"),
    }

    assert commands(files)["lint"] == "bundle exec standardrb --parallel"


def test_a_task_that_only_looks_counts_before_one_that_mends():
    scripts = '{"scripts": {"lint": "eslint . --fix", "lint:check": "eslint ."}}'

    assert commands({"package.json": scripts, "index.js": ""})["lint"] == "npm run lint:check"


def test_an_option_that_ci_gives_one_value_after_another_is_left_out():
    files = {
        "build.gradle": "plugins { id 'java' }",
        "gradlew": "",
        "src/main/java/A.java": "",
        ".github/workflows/ci.yml": workflow(
            *(f"./gradlew test -PtestOnJava={version} -Dquick=yes" for version in (8, 11, 17))
        ),
    }

    assert commands(files)["test"] == "./gradlew test -Dquick=yes"


def test_ctest_is_named_only_where_the_build_tells_it_of_tests():
    doctest = {"CMakeLists.txt": "project(shop)\nadd_executable(tests doctest.cpp)\n", "shop.cpp": ""}
    told = {**doctest, "CMakeLists.txt": doctest["CMakeLists.txt"] + "enable_testing()\n"}

    assert "test" not in commands(doctest)
    assert commands(told)["test"] == "ctest --test-dir build --output-on-failure"


def test_a_check_that_needs_a_build_which_ci_made_before_is_not_named():
    files = {
        "CMakeLists.txt": "",
        "shop.cpp": "",
        ".github/workflows/ci.yml": workflow("clang-tidy -p build-tidy shop.cpp"),
    }

    assert "lint" not in commands(files)


def test_a_plugin_of_what_runs_the_checks_is_no_linter():
    files = {
        "pyproject.toml": "[project]\n[tool.mypy]\n",
        "shop.py": "",
        ".github/workflows/ci.yml": workflow("uvx --with tox-uv tox run -f typing"),
    }

    tools = find_tools(scan_input(files))[0]

    assert tools.commands["types"] == "uvx --with tox-uv tox run -f typing"
    assert tools.linters == ("mypy",)


def test_a_part_with_benchmarks_is_not_tested_by_itself():
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n[workspace]\nmembers = ["till", "till/benchmarks"]\n',
        "src/lib.rs": "",
        **{
            f"{part}/Cargo.toml": f'[package]\nname = "{part[-4:]}"\n' for part in ("till", "till/benchmarks")
        },
        **{f"{part}/src/lib.rs": "#[test]" for part in ("till", "till/benchmarks")},
    }

    assert [tools.path for tools in find_tools(scan_input(files))] == ["", "till"]


def test_nothing_is_guessed_of_a_second_language_at_the_root():
    files = {
        "pyproject.toml": "[project]\n[build-system]\nbuild-backend = 'maturin'\n[tool.pytest.ini_options]\n",
        "Cargo.toml": '[package]\nname = "shop"\n',
        "shop/till.py": "x = 1\n" * 400,
        "src/lib.rs": "fn a() {}\n",
    }
    checked = {**files, ".github/workflows/ci.yml": workflow("pytest", "cargo clippy")}

    assert [tools.commands["test"] for tools in find_tools(scan_input(files))] == ["pytest"]
    assert [dict(tools.commands) for tools in find_tools(scan_input(checked))][1:] == [
        {"lint": "cargo clippy"}
    ]


def test_a_script_that_checks_the_tests_as_well_lints():
    files = {
        "pyproject.toml": "[project]\n",
        "shop.py": "",
        "scripts/check": 'FILES="shop tests"\nruff check $FILES\nmypy $FILES\n',
        "scripts/test": "pytest\n",
        ".github/workflows/ci.yml": workflow("scripts/check", "scripts/test"),
    }

    assert {slot: commands(files)[slot] for slot in ("lint", "test")} == {
        "lint": "scripts/check",
        "test": "scripts/test",
    }


def test_an_option_for_where_a_library_of_tests_comes_from_does_not_build_them():
    text = (
        'project(shop)\noption(SHOP_BUILD_THIRDPARTY_GTEST "Use the copy of gtest." OFF)\nenable_testing()\n'
    )

    assert (
        commands({"CMakeLists.txt": text, "shop.cpp": ""})["build"]
        == "cmake -S . -B build && cmake --build build"
    )


def test_the_tests_of_one_framework_of_dotnet_are_not_all():
    files = {
        "Shop.sln": "",
        "src/Shop.cs": "",
        ".github/workflows/ci.yml": workflow("dotnet test -f net462 -c Release"),
    }

    assert commands(files)["test"] == "dotnet test -c Release"


def test_a_native_module_without_tests_is_not_tested_by_itself():
    files = {
        "pyproject.toml": "[project]\n[tool.pytest.ini_options]\n",
        "shop/till.py": "x = 1\n" * 400,
        "src/_shop/Cargo.toml": '[package]\nname = "shop"\n',
        "src/_shop/src/lib.rs": "fn a() {}\n",
    }
    tested = {**files, "src/_shop/src/lib.rs": "#[test]\nfn a() {}\n"}

    assert [tools.path for tools in find_tools(scan_input(files))] == [""]
    assert [tools.path for tools in find_tools(scan_input(tested))] == ["", "src/_shop"]


def test_what_prints_a_version_formats_nothing():
    files = {
        "composer.json": "{}",
        "src/a.php": "",
        ".github/workflows/ci.yml": workflow(
            "php-cs-fixer --version", "phpstan analyze --error-format=checkstyle | cs2pr"
        ),
    }

    assert "format" not in commands(files)
    assert commands(files)["lint"] == "phpstan analyze"


@pytest.mark.parametrize(
    "block, line",
    [
        ("    platform darwin -- Python 3.6.5, pytest-3.5.1, py-1.5.3\n    pytest\n", "pytest"),
        ("    $ ./configure\n    tox\n    $ pytest\n", "pytest"),
        ("    $ echo \\\n    pytest\n", "pytest"),
    ],
)
def test_what_a_command_prints_is_no_command(block, line):
    files = {"CONTRIBUTING.md": f"# Tests\n\n{block}", "pyproject.toml": '[project]\nname = "shop"\n'}
    assert commands(files)["test"] == line


def test_a_command_of_a_guide_is_told_without_its_options_for_coverage():
    files = {"CONTRIBUTING.md": "    $ pytest --cov shop --cov-branch\n", "pyproject.toml": ""}
    assert commands(files)["test"] == "pytest"


OTHER_TESTS = """tasks.register("testJdk8", Test) { }
tasks.getByName('test').enabled = false
"""


def test_gradle_checks_where_the_task_for_tests_is_turned_off_for_others():
    files = {
        "build.gradle": "junit",
        "gradlew": "",
        "till/build.gradle": OTHER_TESTS,
        "till/src/test/java/TillTest.java": "",
        "shelf/build.gradle": "",
        "shelf/src/test/java/ShelfTest.java": "",
    }
    assert commands(files)["test"] == "./gradlew check"
    assert commands(files, "till")["test"] == "./gradlew :till:check"
    assert commands(files, "shelf")["test"] == "./gradlew :shelf:test"
    files["till/build.gradle"] = "test { enabled = false }"  # it has none
    assert commands(files)["test"] == "./gradlew test"


@pytest.mark.parametrize(
    "inside, script, is_tested",
    [
        ("src/test/java/TillTest.java", "", True),
        ("src/jvmTest/kotlin/TillTest.kt", "", True),
        ("src/androidTest/java/TillTest.java", "", False),
        ("src/androidTest/java/TillTest.java", "sourceSets { test { java.srcDir 'src/androidTest' } }", True),
        ("java-test/src/test/java/TillTest.java", "", False),
    ],
)
def test_a_part_of_gradle_is_tested_by_itself_if_its_task_has_tests(inside, script, is_tested):
    files = {
        "build.gradle": "junit",
        "gradlew": "",
        "till/build.gradle": script,
        "till/src/main/java/Till.java": "",
        f"till/{inside}": "",
    }
    assert ("till" in {each.path for each in find_tools(scan_input(files))}) is is_tested


@pytest.mark.parametrize(
    "fix, line",
    [
        ("eslint . --fix && prettier -w src test", "npx prettier -w src test"),
        ("prettier --check src", None),
        ("prettier --check .", "npx prettier --write ."),
        ("eslint . --fix", "npx prettier --write ."),
    ],
)
def test_prettier_writes_what_a_script_of_the_project_has_it_write(fix, line):
    manifest = f'{{"scripts": {{"test": "mocha", "mend": "{fix}"}}, "devDependencies": {{"prettier": "3"}}}}'
    files = {"package.json": manifest, ".prettierrc": "", "index.js": "", "package-lock.json": ""}
    assert commands(files).get("format") == line


def test_a_linter_that_an_environment_of_tox_runs_is_run_by_it():
    tox = "[testenv:style]\ncommands=ruff check {toxinidir}/src\ndeps=ruff\n"
    files = {"pyproject.toml": '[project]\nname = "shop"\n[tool.ruff]\n', "tox.ini": tox}
    assert commands(files)["lint"] == "tox -e style"


@pytest.mark.parametrize(
    "repo, lint, program",
    [("builtin", "", "prek"), ("https://x", "prek run", "prek"), ("https://x", "", "pre-commit")],
)
def test_hooks_are_run_by_what_runs_them_in_the_project(repo, lint, program):
    files = {
        "pyproject.toml": '[project]\nname = "shop"\n[tool.ruff.format]\n',
        ".pre-commit-config.yaml": f"repos:\n  - repo: {repo}\n    hooks:\n      - id: ruff-format\n",
        ".github/workflows/ci.yml": workflow(lint) if lint else "",
    }
    assert commands(files)["format"] == f"{program} run ruff-format --all-files"


@pytest.mark.parametrize(
    "text, is_tested",
    [
        ("#[test]\nfn sells() {}", True),
        ("#[tokio::test]\nasync fn sells() {}", True),
        ("/// ```\n/// sell();\n/// ```", True),
        ("fn test_compile() {}", False),
    ],
)
def test_a_crate_without_tests_is_not_tested_by_itself(text, is_tested):
    manifest = '[package]\nname = "{}"\n'
    files = {
        "Cargo.toml": manifest.format("shop") + '[workspace]\nmembers = ["till"]\n',
        "src/lib.rs": "",
        "till/Cargo.toml": manifest.format("till"),
        "till/src/lib.rs": text,
    }
    assert ("till" in {each.path for each in find_tools(scan_input(files))}) is is_tested


@pytest.mark.parametrize(
    "line, root, is_linted",
    [
        ("cargo clippy", "[package]", False),
        ("cargo clippy --workspace", "[package]", True),
        ("cargo clippy -p till", "[package]", True),
        ("cargo clippy", "", True),
    ],
)
def test_clippy_at_a_root_that_is_a_crate_lints_no_other(line, root, is_linted):
    files = {
        "Cargo.toml": f'{root}\nname = "shop"\n[workspace]\nmembers = ["till"]\n',
        "src/lib.rs": "",
        "till/Cargo.toml": '[package]\nname = "till"\n',
        "till/src/lib.rs": "#[test]",
        ".github/workflows/ci.yml": workflow(line),
    }
    till = next(each for each in find_tools(scan_input(files)) if each.path == "till")
    assert ("clippy" in till.linters) is is_linted
