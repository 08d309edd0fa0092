"""Small projects in real folders, with a shelf on disk."""

from pathlib import Path

import pytest
from sources import ResolvedCodebase, write


@pytest.fixture
def database(tmp_path) -> Path:
    return tmp_path / "home" / "code" / "shop.db"


@pytest.fixture
def open_code(folder, database):
    """Opens the same codebase as often as it is called, as other processes would."""
    opened = []

    def open_one(root=folder, key=None):
        opened.append(ResolvedCodebase(root, database, key))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def code(open_code) -> ResolvedCodebase:
    return open_code()


@pytest.fixture
def shop(folder) -> Path:
    """A project with something of everything."""
    write(
        folder,
        money='''"""Money and what is done with it."""


class Money:
    """An amount."""

    def plus(self, other):
        return Money()


def total(items):
    return Money().plus(items)
''',
        cart="""from money import Money, total
import requests


class Cart(Money):
    def pay(self):
        requests.post("https://bank")
        return total([])


def checkout():
    return Cart().pay()
""",
        page="""import cart


def show():
    cart.checkout()
""",
    )
    return folder
