from recollect.code.codebase import Codebase
from recollect.code.relevant.evidence import FileEvidence, probability, worth_showing
from recollect.code.relevant.search import relevant


def shown(graph, root, text, **options):
    return worth_showing(relevant(graph, root, text, budget=0, **options), graph)


def test_files_are_shown_for_a_task_about_them_with_symbols_and_tests(graph, root):
    first = shown(graph, root, "Cart.total forgets lines that were put in the cart")[0]

    assert first.path == "shop/cart.py"
    assert "total" in first.symbols
    assert first.tests == ("tests/test_cart.py",)


def test_names_that_every_class_has_are_not_shown(root, tmp_path):
    (root / "shop/basket.py").write_text(
        "class Basket:\n    def __init__(self, basket):\n        self.basket = basket\n"
    )
    code = Codebase(root, tmp_path / "code.db", None)
    graph = code.graph

    first = shown(graph, root, "Basket in shop/basket.py keeps the basket it is given")[0]

    code.close()
    assert first.symbols == ("Basket",)


def test_the_tests_of_a_large_file_are_those_of_what_the_text_is_about(root, tmp_path):
    (root / "tests/test_letters.py").write_text(
        "from shop.mailing import send_receipt\n\n\ndef test_letters():\n    assert send_receipt('Ada')\n"
    )
    (root / "tests/test_patience.py").write_text(
        "from shop.mailing import send_reminder\nfrom shop.utils import slug\n\n\n"
        "def test_patience():\n    assert send_reminder(slug('Ada'))\n"
    )
    code = Codebase(root, tmp_path / "code.db", None)
    graph = code.graph

    receipt = shown(graph, root, "send_receipt in shop/mailing.py forgets the customer")[0]
    reminder = shown(graph, root, "send_reminder in shop/mailing.py forgets the customer")[0]

    code.close()
    assert receipt.path == reminder.path == "shop/mailing.py"
    assert receipt.tests[0] == "tests/test_letters.py"
    assert reminder.tests[0] == "tests/test_patience.py"


def test_no_file_is_shown_for_a_text_about_no_file(graph, root):
    assert shown(graph, root, "thanks, please commit and push that") == ()
    assert shown(graph, root, "what is the weather in Tokyo") == ()
    assert shown(graph, root, "") == ()


def test_no_file_is_shown_for_words_that_any_request_may_have(root, tmp_path):
    (root / "shop/checks.py").write_text('"""Add a test, run the test again, and fix what fails."""\n')
    code = Codebase(root, tmp_path / "code.db", None)
    graph = code.graph

    vague = shown(graph, root, "ok do it, add a test and run it again")
    named = shown(graph, root, "ok, add a test to shop/checks.py and run it again")

    code.close()
    assert vague == ()
    assert named[0].path == "shop/checks.py"


def test_a_file_that_is_named_is_shown(graph, root):
    assert shown(graph, root, "shop/utils.py is ugly")[0].path == "shop/utils.py"


def test_past_work_makes_a_file_likelier(graph, root):
    text = "parcels arrive without their invoice"
    alone = relevant(graph, root, f"{text} slug")
    past = relevant(graph, root, f"{text} slug", past_work=[(text, ("shop/utils.py",))])

    assert past.files[0].path == "shop/utils.py"
    assert past.probability > alone.probability


def test_all_evidence_raises_the_probability():
    none = FileEvidence(words=0.0, commits=0.0, named=0.0, past=100)

    assert probability(none) < 0.05
    assert probability(FileEvidence(3.0, 0.0, 0.0, 100)) > probability(none)
    assert probability(FileEvidence(0.0, 3.0, 0.0, 100)) > probability(none)
    assert probability(FileEvidence(0.0, 0.0, 1.0, 100)) > probability(none)


def test_without_history_the_words_decide():
    assert probability(FileEvidence(2.0, 0.0, 0.0, 0)) > probability(FileEvidence(2.0, 0.0, 0.0, 100))


def test_that_no_commit_fits_counts_for_little_in_a_young_project():
    def missed(past: int) -> float:
        return probability(FileEvidence(words=2.0, commits=0.0, named=0.0, past=past))

    assert missed(0) > missed(1) > missed(10) > missed(30) == missed(3000)


def test_an_empty_project_has_nothing_to_show(tmp_path):
    codebase = Codebase(tmp_path, tmp_path / "code.db", None)

    found = codebase.relevant("Cart.total ignores the discount")

    assert found.probability == 0.0
    assert worth_showing(found, codebase.graph) == ()
    codebase.close()
