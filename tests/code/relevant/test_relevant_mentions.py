import pytest

from growth import grows_linearly
from recollect.code.nodes import Symbol
from recollect.code.relevant.mentions import MentionIndex

PATHS = (
    "shop/cart.py",
    "shop/prices/__init__.py",
    "shop/prices/tax.py",
    "tests/test_cart.py",
    "web/cart.py",
    "lib/utils.py",
)


def symbol(path, name):
    return Symbol(f"{path}::{name}", name.rpartition(".")[2], "function", path, 1, 2)


OUTLINES = [
    (
        symbol("shop/cart.py", "Cart"),
        symbol("shop/cart.py", "Cart.total"),
        symbol("shop/cart.py", "empty_cart"),
    ),
    (),
    (symbol("shop/prices/tax.py", "rate"), symbol("shop/prices/tax.py", "Tax.total")),
    (),
    (symbol("web/cart.py", "show"),),
    (symbol("lib/utils.py", "rate"),),
]


def symbols_named(name):
    return [
        (file, symbol) for file, outline in enumerate(OUTLINES) for symbol in outline if symbol.name == name
    ]


NAMES = MentionIndex(PATHS, symbols_named, [True, True, True, False, True, True])


def named(text):
    found = {}
    for mention in NAMES.mentioned(text):
        found.setdefault((mention.kind, PATHS[mention.file]), round(mention.weight, 2))
    return found


@pytest.mark.parametrize(
    "text, expected",
    [
        ("it is in shop/cart.py", {("path", "shop/cart.py"): 1.0}),
        (r"in C:\work\shop\cart.py", {("path", "shop/cart.py"): 1.0}),
        ("in site-packages/shop/prices/tax.py", {("path", "shop/prices/tax.py"): 1.0}),
        ("somewhere in cart.py", {("path", "shop/cart.py"): 0.5, ("path", "web/cart.py"): 0.5}),
        ("see shop.prices.tax", {("module", "shop/prices/tax.py"): 1.0}),
        ("`shop.prices` is slow", {("module", "shop/prices/__init__.py"): 1.0}),
        ("Cart.total is wrong", {("member", "shop/cart.py"): 1.0}),
        ("Cart::total is wrong", {("member", "shop/cart.py"): 1.0}),
        ("call empty_cart", {("name", "shop/cart.py"): 1.0}),
        ("`rate` is off", {("name", "shop/prices/tax.py"): 0.5, ("name", "lib/utils.py"): 0.5}),
        ("rate() is off", {("name", "shop/prices/tax.py"): 0.5, ("name", "lib/utils.py"): 0.5}),
        ("show me the rate", {}),
        ("nothing.here and no/such/file.py", {}),
    ],
)
def test_what_a_text_names_is_found(text, expected):
    assert named(text) == expected


def test_a_package_hands_on_what_stands_below_it():
    found = named("shop.prices.rate returns None")

    assert found[("member", "shop/prices/tax.py")] == 1.0
    assert ("member", "lib/utils.py") not in found


def test_the_innermost_frame_of_a_traceback_weighs_most_and_tests_do_not_count():
    found = named(
        'Traceback:\n  File "/home/ada/tests/test_cart.py", line 3, in test\n  File "/x/shop/cart.py", line 9, in total\n'
        '  File "/x/shop/prices/tax.py", line 4, in rate\nTypeError\n'
    )

    assert found[("frame", "shop/prices/tax.py")] == 1.0
    assert found[("frame", "shop/cart.py")] == 0.5
    assert ("frame", "tests/test_cart.py") not in found


def test_a_frame_of_another_language_is_a_frame_and_its_innermost_one_comes_first():
    found = named(
        "Error: boom\n    at rate (/srv/lib/utils.py:3:7)\n    at total (/srv/shop/prices/tax.py:9:1)\n"
    )

    assert found[("frame", "lib/utils.py")] == 1.0
    assert found[("frame", "shop/prices/tax.py")] == 0.5


@pytest.mark.parametrize(
    "text, path",
    [
        ("panic: boom\n\n\t/srv/lib/price.go:12 +0x1d\n", "lib/price.go"),
        ("PHP Fatal error\n#0 /srv/lib/price.php(12): total()\n", "lib/price.php"),
        ("lib/price.rb:3:in `total': boom\n\tfrom lib/cart.rb:9:in `put'\n", "lib/price.rb"),
        ("boom\n   at Shop.Total() in /srv/lib/price.cs:line 12\n", "lib/price.cs"),
    ],
)
def test_frames_of_each_language_are_found(text, path):
    index = MentionIndex([path], lambda name: [], [True])

    assert ("frame", 0, 1.0) in [mention[:3] for mention in index.mentioned(text)]


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a.",
        "a/",
        "A_b",
        "1a",
        "\n",
        "  at a",
        "`",
        "src/blob/",
        "-",
        "a::",
        "File ",
        "~/a.py in ",
        "#1 a.php(",
    ],
)
def test_a_long_text_takes_as_long_as_its_length(unit):
    index = MentionIndex([], lambda name: [], [])

    assert grows_linearly(index.mentioned, unit)
