"""A small shop in a real folder, with a real graph and real commits."""

import subprocess

import pytest

from recollect.code.codebase import Codebase

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": '''"""What a customer is about to buy."""

from shop.prices import total_of


class Cart:
    """Lines that were put in, in order."""

    def put(self, line):
        self.lines.append(line)

    def total(self):
        return total_of(self.lines)
''',
    "shop/prices.py": '''"""Prices, discounts and rounding."""


def total_of(lines):
    return sum(discounted(line) for line in lines)


def discounted(line):
    """With the discount of the season."""
    return round(line.price * line.discount, 2)
''',
    "shop/mailing.py": '''"""Letters to customers."""


def send_receipt(customer):
    return f"Dear {customer}, thank you"


def send_reminder(customer):
    return f"Dear {customer}, your cart waits"
''',
    "shop/utils.py": "def slug(text):\n    return text.lower()\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_cart_total_with_discount():\n    assert Cart().total() == 0\n",
}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def graph(root, tmp_path):
    code = Codebase(root, tmp_path / "home" / "code" / "shop.db", None)
    yield code.graph
    code.close()


@pytest.fixture
def git(root):
    def run(*arguments):
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", root, *who, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    run("init", "-q")
    return run


@pytest.fixture
def commit(root, git):
    """Adds a line to each of the files, and commits that."""

    def make(message, *paths):
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            with (root / path).open("a") as file:
                file.write("\n# more\n")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", message)
        return git("rev-parse", "HEAD")

    return make
