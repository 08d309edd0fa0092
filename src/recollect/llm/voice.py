"""Someone outside who can be asked in words: a model on a server, or the user's own command."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from recollect.store.ledger import Outcome


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that is sent. `data` are the texts of others, as JSON, apart from what is to be done with them."""

    purpose: str
    instructions: str
    data: str
    schema: Mapping[str, Any]  # JSON Schema of the answer
    most: int  # tokens of the answer


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    tokens_in: int | None = None  # None = nobody counted them but us
    tokens_out: int | None = None


class NoAnswer(Exception):
    """`outcome` says whether it may have been charged for."""

    def __init__(self, why: str, outcome: Outcome = Outcome.SILENT) -> None:
        super().__init__(why)
        self.outcome = outcome


class Voice(Protocol):
    def wording(self, prompt: Prompt) -> str:
        """What would be sent, to be counted and to be shown to people."""

    def ask(self, prompt: Prompt, seconds: float) -> Said:
        """Raises `NoAnswer`, at the latest when the time is over."""
