"""The project that agents work on in the checks: a small shop in Python, with a web front end and a git history."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

FILES: Mapping[str, str] = {
    "README.md": "# Shop\n\nA small shop: a cart, payments, and mails to customers.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "package.json": '{\n  "name": "shop-web",\n  "private": true,\n  "scripts": {"build": "echo built", "test": "echo tested"}\n}\n',
    "src/shop/__init__.py": '"""A small shop."""\n',
    "src/shop/cart.py": '''"""The cart of a customer."""

from shop.discount import discount_for


class Cart:
    """What a customer is about to buy."""

    def __init__(self) -> None:
        self.items: list[tuple[str, int]] = []

    def add(self, name: str, cents: int) -> None:
        self.items.append((name, cents))

    def total_cents(self) -> int:
        """Return the price of all items after the discount."""
        cents = sum(price for _, price in self.items)
        return cents - discount_for(cents)
''',
    "src/shop/discount.py": '''"""Discounts for large orders."""

THRESHOLD_CENTS = 10_000


def discount_for(cents: int) -> int:
    """Return the discount in cents: a tenth of an order above the threshold."""
    return cents // 10 if cents > THRESHOLD_CENTS else 0
''',
    "src/shop/payment.py": '''"""Payments by card, with retries."""


class PaymentRefused(Exception):
    """Raised when the bank refuses a card."""


def charge_card(token: str, cents: int, attempts: int = 3) -> str:
    """Charge a card and return the receipt; a timeout of the bank is tried again."""
    if cents <= 0:
        raise PaymentRefused("nothing to charge")
    return f"receipt-{token}-{cents}-{attempts}"
''',
    "src/shop/mailer.py": '''"""Mails to customers."""


def send_receipt(address: str, receipt: str) -> str:
    """Return the mail that confirms a payment."""
    return f"To: {address}\\n\\nThank you. Your receipt: {receipt}\\n"
''',
    "src/shop/inventory.py": '''"""What is in stock."""


class Inventory:
    """Counts articles in the warehouse."""

    def __init__(self) -> None:
        self.stock: dict[str, int] = {}

    def reserve(self, article: str, count: int) -> bool:
        """Take articles out of the stock; return whether there were enough."""
        if self.stock.get(article, 0) < count:
            return False
        self.stock[article] -= count
        return True
''',
    "tests/test_cart.py": """from shop.cart import Cart


def test_a_large_order_gets_a_discount():
    cart = Cart()
    cart.add("lamp", 20_000)

    assert cart.total_cents() == 18_000
""",
    "tests/test_payment.py": """from shop.payment import charge_card


def test_a_card_is_charged():
    assert charge_card("tok", 500).startswith("receipt-")
""",
    "tests/test_inventory.py": """from shop.inventory import Inventory


def test_what_is_not_in_stock_cannot_be_reserved():
    assert not Inventory().reserve("lamp", 1)
""",
}

# Programs on the user's path besides those of the system.
COMMANDS: Mapping[str, str] = {"pnpm": '#!/bin/sh\necho "pnpm $*"\n'}


def write_project(folder: Path, environment: Mapping[str, str]) -> None:
    """Write the project into a new folder and commit it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Add the shop"]):
        subprocess.run(["git", *words], cwd=folder, env=dict(environment), check=True)
