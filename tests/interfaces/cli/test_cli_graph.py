"""`recollect graph`: the code graph at the command line."""

from pathlib import Path

import pytest

from fakes import FakeEmbedder
from recollect import Engine


@pytest.fixture(autouse=True)
def shop(home) -> Path:
    """The project we stand in."""
    folder = Path.cwd()
    (folder / "lib").mkdir()
    (folder / "lib/money.py").write_text(
        '"""Money."""\n\n\nclass Money:\n    """An amount."""\n\n    def plus(self, other):\n        return self\n\n\n'
        "def total(items):\n    return Money().plus(items)\n"
    )
    (folder / "cart.py").write_text(
        "import requests\nfrom lib.money import total\n\n\ndef checkout(box):\n    requests.post('x')\n"
        "    box.plus(1)\n    return total([])\n"
    )
    return folder


def test_a_file_shows_its_outline(run):
    result = run("graph", "file", "lib/money.py")

    assert result.code == 0
    assert result.out.splitlines() == [
        "lib/money.py  python",
        "Money.",
        "LINES  DEFINITION",
        "4-8    class Money  An amount.",
        "7-8      def plus(self, other)",
        "11-12  def total(items)",
    ]


def test_a_file_is_named_from_here_from_the_root_or_by_its_end(run, shop, monkeypatch):
    monkeypatch.chdir(shop / "lib")

    paths = [run("graph", "file", name, "--project", str(shop), "--json").json["path"] for name in NAMES]

    assert paths == ["lib/money.py"] * len(NAMES)


NAMES = ["money.py", "lib/money.py", "./money.py", "../lib/money.py"]


def test_json_of_a_file_has_its_symbols(run):
    told = run("graph", "file", "lib/money.py", "--json").json

    assert told.keys() == {"path", "language", "doc", "symbols"}
    assert told["symbols"][1] == {
        "id": "lib/money.py::Money.plus",
        "name": "plus",
        "kind": "function",
        "path": "lib/money.py",
        "line": 7,
        "end": 8,
        "signature": "(self, other)",
        "doc": "",
        "exported": True,
    }


def test_a_symbol_says_where_it_is_and_how_much_it_is_used(run):
    result = run("graph", "symbol", "total")

    assert result.out.splitlines() == [
        "KIND      AT               CALLERS  CALLEES  DEFINITION",
        "function  lib/money.py:11  1        2        total(items)",
    ]


def test_callers_are_a_table_with_headers(run):
    result = run("graph", "callers", "total")

    assert result.out.splitlines() == [
        "FROM      AT         HOW    TO                   CERTAINTY",
        "checkout  cart.py:8  calls  lib/money.py::total  0.99 import",
    ]
    assert "One row per caller, at its first call; `--sites` lists all calls." in result.err


@pytest.mark.parametrize(
    "name, text, lines",
    [
        (
            "till.py",
            "from lib.money import total\n\n\ndef close(box):\n    if box:\n        return total(box)\n"
            "    print(total([]), len(box))\n    return total(\n        [1])\n\n\ndef once():\n    return total([])\n",
            {"till.py::close": [6, 7, 8], "till.py::once": [13]},
        ),
        (
            "till.js",
            "function total(items) { return items }\nfunction close(box) {\n  total(box)\n  return total([])\n}\n",
            {"till.js::close": [3, 4]},
        ),
        (
            "till.go",
            "package till\n\nfunc total(items []int) int { return 0 }\n\nfunc close() int {\n\ttotal(nil)\n\treturn total(nil)\n}\n",
            {"till.go::close": [6, 7]},
        ),
    ],
)
def test_every_call_is_listed_on_request(run, shop, name, text, lines):
    (shop / "cart.py").unlink()
    (shop / name).write_text(text)

    result = run("graph", "callers", "total", "--sites")
    sites = {}
    for edge in run("graph", "callers", "total", "--sites", "--code", "--json").json["edges"]:
        sites.setdefault(edge["source"], []).append(edge["line"])
        assert "total(" in edge["code"]

    assert sites == lines
    assert len(result.out.splitlines()) == 1 + sum(map(len, lines.values()))
    assert "One row per line with a call" in result.err


def test_every_creation_of_a_class_is_listed_on_request(run, shop):
    (shop / "till.py").write_text(
        "from lib.money import Money as Coin\n\n\ndef close():\n    a = Coin()\n    b = Coin()\n    return a.plus(b), str(Coin())\n"
    )

    edges = run("graph", "callers", "Money", "--sites", "--json").json["edges"]

    assert [
        edge["line"] for edge in edges if edge["source"] == "till.py::close" and edge["kind"] == "calls"
    ] == [
        5,
        6,
        7,
    ]


def test_the_lines_of_callers_are_shown_on_request(run):
    shown = run("graph", "callers", "total", "--code")
    told = run("graph", "callers", "total", "--code", "--json").json

    assert shown.out.splitlines()[1].endswith("0.99 import  return total([])")
    assert told["edges"][0]["code"] == "return total([])"


def test_callers_of_a_class_create_it_inherit_from_it_or_name_it(run, shop):
    (shop / "cache.py").write_text(
        "class Cache:\n    def __init__(self, limit): ...\n\n\nclass Own(Cache): ...\n\n\n"
        "def make():\n    return Cache(1)\n\n\ndef grow(cache: Cache): ...\n\n\n"
        "def check(value):\n    return isinstance(value, Cache)\n\n\ndef own():\n    return Own(2)\n"
    )

    callers = {
        (edge["source"].partition("::")[2], edge["kind"])
        for edge in run("graph", "callers", "Cache", "--json").json["edges"]
    }
    of_own = run("graph", "callers", "Own", "--json").json["edges"]

    assert callers >= {
        ("make", "calls"),
        ("own", "calls"),
        ("Own", "inherits"),
        ("grow", "references"),
        ("check", "references"),
    }
    assert [(edge["source"], edge["kind"]) for edge in of_own] == [("cache.py::own", "calls")]
    assert "0 callers" not in run("graph", "symbol", "Cache").out


@pytest.mark.parametrize("command", ["callers", "impact"])
def test_people_are_shown_a_screen_at_most(run, shop, command):
    (shop / "many.py").write_text(
        "from lib.money import total\n" + "".join(f"def f{n}(): total({n})\n" for n in range(90))
    )
    about = "total" if command == "callers" else "lib/money.py"

    shown, outline = run("graph", command, about), run("graph", "file", "many.py")
    told = run("graph", command, about, "--json").json

    assert len(shown.out.splitlines()) == 21
    assert len(outline.out.splitlines()) == 22
    assert "more; use `-n 9" in shown.err
    assert len(told.get("edges") or told["reached"]) == 50


def test_json_of_callers(run):
    told = run("graph", "callers", "total", "--json").json

    assert told == {
        "symbols": ["lib/money.py::total"],
        "edges": [
            {
                "source": "cart.py::checkout",
                "kind": "calls",
                "target": "lib/money.py::total",
                "rule": "import",
                "line": 8,
                "confidence": 0.99,
            }
        ],
        "left_off": 0,
    }


def test_what_is_only_possible_is_shown_on_request(run):
    sure = run("graph", "callees", "checkout", "--json").json["edges"]
    possible = run("graph", "callees", "checkout", "--possible", "--json").json["edges"]

    assert [edge["target"] for edge in sure] == ["external:requests.post", "lib/money.py::total"]
    assert {"name"} == {edge["rule"] for edge in possible} - {edge["rule"] for edge in sure}


def test_dependencies_both_ways(run):
    needs = run("graph", "deps", "cart.py")
    needed_by = run("graph", "deps", "lib/money.py", "--reverse")

    assert "imports  lib/money.py" in needs.out
    assert "imports  requests (external)" in needs.out
    assert needed_by.out.splitlines()[1].split() == [
        *("(file)", "cart.py:2", "imports", "lib/money.py", "1.00", "written")
    ]


def test_what_may_break_comes_with_the_reason(run):
    told = run("graph", "impact", "lib/money.py", "--json").json

    assert told.keys() == {"path", "reached", "left_off"}
    assert told["reached"][0] == {
        "id": "cart.py::checkout",
        "path": "cart.py",
        "distance": 1,
        "weight": 0.495,
        "because": {
            "source": "cart.py::checkout",
            "kind": "calls",
            "target": "lib/money.py::total",
            "rule": "import",
            "line": 8,
            "confidence": 0.99,
        },
    }
    assert "calls lib/money.py::total (import 0.99, line 8)" in run("graph", "impact", "money.py").out


def test_a_long_answer_is_cut_and_says_so(run, shop):
    (shop / "many.py").write_text(
        "from lib.money import total\n" + "".join(f"def f{n}(): total({n})\n" for n in range(9))
    )

    shown = run("graph", "callers", "total", "-n", "3")

    assert len(shown.out.splitlines()) == 4
    assert "7 more; use `-n 10` to list all." in shown.err


@pytest.mark.parametrize(
    "arguments, message, hint",
    [
        (("symbol", "totl"), "Unknown symbol 'totl'.", "Did you mean total?"),
        (
            ("callers", "zzzzzz"),
            "Unknown symbol 'zzzzzz'.",
            "Run `recollect graph file PATH` to list what a file defines.",
        ),
        (("file", "lib/mony.py"), "Unknown file 'lib/mony.py'.", "Did you mean lib/money.py?"),
        (("impact", "/etc/passwd"), "Unknown file '/etc/passwd'.", "The graph has no ignored"),
    ],
)
def test_an_unknown_name_is_answered_with_near_ones(run, arguments, message, hint):
    result = run("graph", *arguments)

    assert result.code == 1
    assert message in result.err
    assert hint in result.err


def test_a_file_name_that_fits_several_is_not_guessed(run, shop):
    (shop / "other").mkdir()
    (shop / "other/money.py").write_text("x = 1\n")

    result = run("graph", "file", "money.py")

    assert result.code == 1
    assert "Several files match: lib/money.py, other/money.py." in result.err


def test_nothing_found_is_said_aside(run):
    result = run("graph", "callers", "checkout")

    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[-1] == "No callers found."


def test_what_a_terminal_would_obey_is_not_printed(run, shop):
    (shop / "bad\x1b[31m.py").write_text("def red(): pass\n")

    assert "\x1b[31m" not in run("graph", "symbol", "red").out


def test_relevant_ranks_files_and_shows_the_lines_to_read(run):
    told = run("graph", "relevant", "the total of money is wrong at checkout", "--json").json
    table = run("graph", "relevant", "the", "total", "of", "money").out
    shown = run("graph", "relevant", "the", "total", "of", "money", "--code").out

    assert told.keys() == {"files", "symbols", "snippets", "to_read"}
    assert told["files"][0].keys() == {"path", "score", "why"}
    assert told["snippets"][0].keys() == {"path", "lines", "text", "score", "symbol"}
    assert table.split()[:3] == ["SCORE", "FILE", "WHY"]
    assert "lib/money.py" in table
    assert "return Money().plus(items)" not in table
    assert "return Money().plus(items)" in shown


def test_relevant_ranks_the_files_of_similar_past_tasks(run, shop):
    (shop / "lib.py").write_text("def helper(value):\n    return value\n")
    with Engine.open(shop, embedder=FakeEmbedder()) as engine:
        engine.episodes.start_task("Support vouchers that expire", session="s1")
        engine.episodes.record("Edit", {"file_path": "lib.py"}, session="s1", files=[("lib.py", "edit")])
        engine.episodes.flush()
        engine.episodes.finish_task(outcome="done")

    told = run("graph", "relevant", "Vouchers expire too early", "--json").json

    assert [file["path"] for file in told["files"]] == ["lib.py"]


IPYTHON = """KeyError when a cell is run
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[3], line 1
----> 1 run()

File ~/envs/shop/lib/python3.12/site-packages/cart.py:8, in checkout(box)
      7     box.plus(1)
----> 8     return total([])

File ~/envs/shop/lib/python3.12/site-packages/lib/money.py:12, in total(items)
     11 def total(items):
---> 12     return Money().plus(items)
"""
IPYTHON_7 = """KeyError when a cell is run
<ipython-input-3-1a2b3c> in <module>
----> 1 run()

~/envs/shop/lib/python3.6/site-packages/cart.py in checkout(box)
----> 8     return total([])

~/envs/shop/lib/python3.6/site-packages/lib/money.py in total(items)
---> 12     return Money().plus(items)
"""
COLOURED = "KeyError\n\x1b[0;32m~/shop/cart.py\x1b[0m in \x1b[0;36mcheckout\x1b[0;34m(box)\x1b[0m\n\x1b[0;32m~/shop/lib/money.py\x1b[0m in \x1b[0;36mtotal\x1b[0;34m(items)\x1b[0m\n"
NOTEBOOK = r"""KeyError
   "traceback": [
    "File \u001b[0;32m~/shop/cart.py:8\u001b[0m, in \u001b[0;36mcheckout\u001b[0;34m(box)\u001b[0m\n",
    "File \u001b[0;32m~/shop/lib/money.py:12\u001b[0m, in \u001b[0;36mtotal\u001b[0;34m(items)\u001b[0m\n"
"""


@pytest.mark.parametrize("text", [IPYTHON, IPYTHON_7, COLOURED, NOTEBOOK])
def test_relevant_reads_the_traceback_of_a_notebook(run, text):
    told = run("graph", "relevant", text, "--json").json

    frames = {file["path"]: file["why"].get("frame", 0) for file in told["files"]}
    assert frames["lib/money.py"] == pytest.approx(0.1)
    assert frames["cart.py"] == pytest.approx(0.071, abs=0.001)


COPY = "def voucher_discount(voucher):\n    return voucher.discount\n"


@pytest.mark.parametrize(
    "path, text, attributes",
    [
        ("external/vouchers.py", COPY, ""),
        ("lib/static/jquery-vouchers.js", "function voucherDiscount(voucher) {}\n", ""),
        ("lib/parser.py", f'"""This file was automatically generated."""\n{COPY}', ""),
        ("lib/bundle.js", f"function voucherDiscount(voucher) {{ return {'voucher + ' * 40} 1 }}\n", ""),
        ("lib/copied/vouchers.py", COPY, "lib/copied/** linguist-vendored\n"),
        ("lib/tables.py", COPY, "*.txt eol=lf\nlib/tables.py linguist-generated=true\n"),
    ],
)
def test_relevant_puts_copies_and_generated_files_last(run, shop, path, text, attributes):
    (shop / "vouchers.py").write_text("def check(voucher):\n    return 1\n")
    (shop / path).parent.mkdir(parents=True, exist_ok=True)
    (shop / path).write_text(text)
    (shop / ".gitattributes").write_text(attributes)

    asked = run("graph", "relevant", "The discount of a voucher", "--json").json["files"]
    named = run("graph", "relevant", f"The discount of a voucher in {path}", "--json").json["files"]

    assert [file["path"] for file in asked] == ["vouchers.py", path]
    assert named[0]["path"] == path


def test_relevant_counts_a_copy_that_the_project_calls_its_own(run, shop):
    (shop / "external").mkdir()
    (shop / "external/vouchers.py").write_text(COPY)
    (shop / "external/.gitattributes").write_text("*.py -linguist-vendored\n")
    (shop / "other.py").write_text("def check(voucher):\n    return 1\n")

    asked = run("graph", "relevant", "The discount of a voucher", "--json").json["files"]

    assert asked[0]["path"] == "external/vouchers.py"


def test_relevant_lets_a_path_with_one_word_of_the_text_count_little(run, shop):
    (shop / "letters").mkdir()
    (shop / "letters/blank.py").write_text("def nothing():\n    return None\n")
    words = (
        "remind overdue customers unpaid invoices envelope stamp postage signature deadline penalty interest grace"
        " ledger balance account dunning debtor creditor solicitor court settlement waiver"
    )
    (shop / "mailing.py").write_text(f'def send_reminder():\n    """{words}"""\n')
    text = f"{words}, by letter"

    files = {file["path"]: file for file in run("graph", "relevant", text, "--json").json["files"]}

    assert next(iter(files)) == "mailing.py"
    assert 0 < files["letters/blank.py"]["why"]["folders"] < 0.16


def test_relevant_keeps_to_its_budget(run):
    assert run("graph", "relevant", "total", "--budget", "0", "--json").json["snippets"] == []


def test_relevant_to_nothing_says_so(run):
    result = run("graph", "relevant", "zzzz qqqq")

    assert (result.code, result.out) == (0, "")
    assert "No relevant files found" in result.err
