"""`recollect map`: the modules and the commands of a project, and corrections to them."""

from pathlib import Path

import pytest


@pytest.fixture
def shop(home):
    texts = {
        "pyproject.toml": '[project]\nname = "shop"\n[tool.pytest.ini_options]\n[tool.ruff]\n',
        "src/shop/auth/__init__.py": '"""Who may do what."""\n',
        "src/shop/auth/login.py": "from shop.auth.tokens import make\n\n\ndef login(name):\n    return make(name)\n",
        "src/shop/auth/tokens.py": "def make(name):\n    return name\n",
        "src/shop/stock/order.py": "def order():\n    pass\n",
        "src/shop/stock/shelf.py": "def put():\n    pass\n",
        "src/shop/stock/count.py": "def count():\n    pass\n",
        "tests/test_login.py": "from shop.auth.login import login\n",
    }
    for path, text in texts.items():
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_map_shows_modules_and_commands(shop, run):
    told = run("map")

    assert told.code == 0
    assert "auth   3 files  shallow  Who may do what." in told.out
    assert "test       pytest" in told.out
    assert "lint       ruff check ." in told.out


def test_map_show_has_all_of_one_module(shop, run):
    told = run("map", "show", "AUTH")

    assert "src/shop/auth/login.py" in told.out
    assert "tests/test_login.py" in told.out


def test_map_in_json_has_stable_keys(shop, run):
    told = run("map", "--json").json

    assert {"modules", "build", "updated_at"} == set(told)
    assert told["modules"][0]["name"] == "auth"
    assert told["modules"][0]["related_modules"] == []
    assert told["build"][0]["commands"]["test"] == "pytest"


def test_a_task_is_told_its_modules(shop, run):
    told = run("map", "--task", "login is broken", "--json").json

    assert [each["module"]["name"] for each in told["modules"]] == ["auth"]


def test_a_task_about_nothing_here_says_so(shop, run):
    told = run("map", "--task", "zebra")

    assert (told.code, told.out) == (0, "")
    assert "No relevant modules found" in told.err


def test_a_correction_holds_through_a_rescan(shop, run):
    run("map", "update", "auth", "--name", "login", "--description", "JWT for 24 hours")

    told = run("map", "--rescan")

    assert "login  3 files  shallow  JWT for 24 hours" in told.out


def test_files_are_moved_split_and_merged(shop, run):
    run("map", "update", "stock", "--add-file", "src/shop/auth/tokens.py")
    split = run(
        "map", "update", "stock", "--split-off", "shelves", "--add-file", "src/shop/stock/shelf.py", "--json"
    ).json
    merged = run("map", "update", "auth", "--merge-with", "stock", "--json").json

    assert split["module"]["core_files"] == ["src/shop/stock/shelf.py"]
    assert "src/shop/stock/order.py" in merged["module"]["core_files"]
    assert [each["name"] for each in run("map", "--json").json["modules"] if each["kind"] == "code"] == [
        "auth",
        "shelves",
    ]


@pytest.mark.parametrize(
    "arguments, code",
    [
        (("show", "nothing"), 1),
        (("update", "auth"), 1),
        (("update", "auth", "--add-file", "none.py"), 1),
        (("--task", "x", "--rescan"), 2),
        (("--rescan", "show", "auth"), 2),
    ],
)
def test_what_cannot_be_done_is_said(shop, run, arguments, code):
    told = run("map", *arguments)

    assert told.code == code
    assert told.err


def test_an_empty_project_says_so(home, run):
    told = run("map")

    assert told.code == 0
    assert "No code found" in told.err
