import gc
import subprocess
import sys

import pytest

from recollect.code.codebase import Codebase
from recollect.code.git_history import read_history
from recollect.code.relevant.search import relevant
from recollect.code.relevant.weights import FILES_READ
from recollect.text import tokens


def paths(found):
    return [file.path for file in found.files]


def score(found, path):
    return next(file.score for file in found.files if file.path == path)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The season's discount is rounded wrongly", "shop/prices.py"),
        ("Customers get no receipt", "shop/mailing.py"),
        ("Cart.put accepts anything", "shop/cart.py"),
        ("fix shop/utils.py", "shop/utils.py"),
        ("sendReminder should be polite", "shop/mailing.py"),
    ],
)
def test_the_file_a_text_is_about_comes_first(graph, root, text, expected):
    found = relevant(graph, root, text)

    assert paths(found)[0] == expected


def test_every_file_says_what_spoke_for_it(graph, root):
    best = relevant(graph, root, "discounted() in shop/prices.py loses cents").files[0]

    assert best.path == "shop/prices.py"
    assert {"topic", "words", "path", "name"} <= best.why.keys()
    assert sum(best.why.values()) == pytest.approx(best.score, abs=0.01)


def test_a_word_that_only_a_path_has_counts_in_full(graph, root):
    found = relevant(graph, root, "mailing the discount")

    folders = {file.path: file.why.get("folders", 0) for file in found.files}
    assert folders["shop/mailing.py"] == pytest.approx(0.16, abs=0.001)


def test_a_function_about_all_of_it_speaks_for_its_file(graph, root):
    found = relevant(graph, root, "total discounted lines")

    passage = {file.path: file.why.get("passage", 0) for file in found.files}
    assert passage["shop/prices.py"] > passage["shop/cart.py"] > 0


def test_tests_stand_back_unless_they_are_asked_for(graph, root):
    work = relevant(graph, root, "the total of a cart with discount")
    tests = relevant(graph, root, "the test of a cart total with discount fails")

    assert paths(work).index("tests/test_cart.py") > paths(work).index("shop/cart.py")
    assert score(tests, "tests/test_cart.py") > 2 * score(work, "tests/test_cart.py")


def test_what_the_best_functions_need_comes_along(graph, root):
    found = relevant(graph, root, "Cart.total")

    called = {file.path: file.why.get("called", 0) for file in found.files}
    assert called["shop/prices.py"] > 0


def test_files_of_a_folder_speak_for_each_other(graph, root):
    found = relevant(graph, root, "discounts of the cart, and reminders")

    beside = {file.path: file.why.get("beside", 0) for file in found.files}
    assert beside["shop/mailing.py"] > 0
    assert "shop/utils.py" not in beside


def test_commits_like_this_vote_for_what_they_touched(graph, root, commit):
    commit("Begin", "shop/cart.py")
    commit("Support vouchers", "shop/utils.py")

    without = relevant(graph, root, "Vouchers expire too early")
    with_history = relevant(graph, root, "Vouchers expire too early", history=read_history(root))

    assert paths(without) == []
    assert paths(with_history) == ["shop/utils.py"]
    assert with_history.files[0].why.keys() == {"history"}


@pytest.mark.parametrize("reference", ["since {commit}", "see #4711", "https://forge.example/pull/4711"])
def test_what_was_touched_in_a_commit_that_is_referred_to_comes_along(graph, root, commit, reference):
    commit("Begin")
    touched = commit("Support vouchers (#4711)", "shop/utils.py")
    text = reference.format(commit=touched)

    found = relevant(graph, root, text, history=read_history(root))

    assert paths(found) == ["shop/utils.py"]
    assert found.files[0].why.keys() == {"commit"}


def test_a_link_into_the_code_leads_there(graph, root):
    link = "https://forge.example/shop/blob/main/shop/utils.py#L2"

    found = relevant(graph, root, f"The discount of the season is wrong, see {link}")

    why = next(file.why for file in found.files if file.path == "shop/utils.py")
    assert {"path", "pointed"} <= why.keys()


def test_files_of_tests_stand_back_whatever_they_are_called(root, tmp_path):
    (root / "checks").mkdir()
    (root / "checks/discounts.py").write_text(
        "def test_discount_of_the_season():\n    assert discount(season)\n"
    )
    code = Codebase(root, tmp_path / "code.db", None)

    found = relevant(code.graph, root, "the discount of the season")
    code.close()

    assert paths(found).index("checks/discounts.py") > paths(found).index("shop/prices.py")


def test_past_work_votes_like_a_commit(graph, root):
    found = relevant(
        graph, root, "Vouchers expire", past_work=[("Support vouchers", ["shop/utils.py", "gone.py"])]
    )

    assert paths(found) == ["shop/utils.py"]


def test_past_work_that_is_hardly_alike_has_no_vote(graph, root):
    text = "Vouchers expire too early when several are used in one order on a Sunday"

    found = relevant(graph, root, text, past_work=[("Print the order", ["shop/utils.py"])])

    assert "shop/utils.py" not in paths(found)


def test_symbols_come_with_the_lines_they_stand_on(graph, root):
    found = relevant(graph, root, "the discount of the season")

    best = found.symbols[0].symbol
    assert (best.id, best.line) == ("shop/prices.py::discounted", 8)


def test_snippets_are_the_lines_of_the_files(graph, root):
    found = relevant(graph, root, "the discount of the season")

    best = found.snippets[0]
    lines = (root / best.path).read_text().splitlines()
    assert best.text.splitlines() == lines[best.lines[0] - 1 : best.lines[1]]
    assert best.symbol == "shop/prices.py::discounted"


@pytest.mark.parametrize("budget", [0, 20, 60, 200, 2000])
def test_snippets_stay_within_the_budget(graph, root, budget):
    found = relevant(graph, root, "cart total discount customer receipt", budget=budget)

    spent = sum(tokens.count(f"{s.path}:{s.lines[0]}-{s.lines[1]}\n{s.text}\n") for s in found.snippets)
    assert spent <= budget


def test_no_more_is_told_than_was_asked_for(graph, root):
    found = relevant(graph, root, "cart total discount customer", limit=2)

    assert len(found.files) == 2
    assert len(found.symbols) <= 2


@pytest.mark.parametrize("text", ["", "zebra", "the of and", "\x00", "(", "`" * 50, "é" * 5000])
def test_a_text_that_is_about_nothing_here_finds_nothing(graph, root, text):
    found = relevant(graph, root, text)

    assert (found.files, found.symbols, found.snippets) == ((), (), ())


def test_a_file_that_went_since_is_still_named(graph, root):
    (root / "shop/prices.py").unlink()

    found = relevant(graph, root, "the discount of the season")

    assert paths(found)[0] == "shop/prices.py"
    assert all(snippet.path != "shop/prices.py" for snippet in found.snippets)


def test_of_two_files_as_likely_the_shorter_is_to_be_read_first(tmp_path):
    refund = "def refund(order):\n    return order.total\n"
    other = "".join(f"def step_{number}(state):\n    return state + {number}\n\n" for number in range(400))
    for name, text in {"desk": refund, "refunds": refund + other}.items():
        (tmp_path / f"{name}.py").write_text(text)
    code = Codebase(tmp_path, tmp_path / "shelf" / "code.db", None)

    found = relevant(code.graph, tmp_path, "refund of an order")

    assert paths(found) == ["refunds.py", "desk.py"]
    assert score(found, "desk.py") > 0.75 * score(found, "refunds.py")
    assert found.to_read == ("desk.py", "refunds.py")


def test_the_first_question_does_not_wait_for_the_garbage_collector(root, tmp_path):
    code = Codebase(root, tmp_path / "code.db", None)
    code.relevant("prices")
    code.close()
    later = Codebase(root, tmp_path / "code.db", None)
    collected = []
    threshold = gc.get_threshold()
    gc.set_threshold(100)
    gc.callbacks.append(collect := lambda phase, info: collected.append(phase))

    try:
        later.relevant("prices")
        during = len(collected)
    finally:
        gc.callbacks.remove(collect)
        gc.set_threshold(*threshold)
        later.close()

    assert during <= 2  # at the end, when it is on again
    assert gc.isenabled()


def test_a_question_for_files_alone_loads_neither_the_tokenizer_nor_the_model_of_memories(root, tmp_path):
    Codebase(root, tmp_path / "code.db", None).refresh()
    program = f"""
import sys
from pathlib import Path
from recollect.code.codebase import Codebase
found = Codebase(Path({str(root)!r}), Path({str(tmp_path / "code.db")!r}), None).relevant("prices", budget=0)
print(len(found.files), sorted({{"splintr", "recollect.model"}} & sys.modules.keys()))
"""

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert printed.stdout.split(maxsplit=1) == ["2", "[]\n"]


def test_a_question_unpacks_no_outline_of_a_file_that_it_neither_names_nor_reads(root, tmp_path):
    for number in range(60):
        (root / f"shop/part{number}.py").write_text(f"def unlike{number}():\n    pass\n")
    code = Codebase(root, tmp_path / "many.db", None)
    graph = code.graph

    found = relevant(graph, root, "`unlike7` loses the receipt")

    unpacked = [path for path, node in graph.nodes.items() if "_outline" in vars(node)]
    assert "shop/part7.py" in paths(found)
    assert len(unpacked) <= FILES_READ
    code.close()
