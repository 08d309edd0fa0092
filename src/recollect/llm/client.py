"""The interface of an LLM client, and the values it is given and returns."""

from collections.abc import Mapping
from typing import Any, Protocol

from recollect.frozen import frozen
from recollect.model import CallOutcome


@frozen
class Prompt:
    """Everything that is sent. `data` holds the texts of others as JSON, apart from the instructions."""

    purpose: str
    instructions: str
    data: str
    schema: Mapping[str, Any]  # JSON Schema of the answer
    max_tokens: int  # of the answer


@frozen
class LlmAnswer:
    """The text a model answered with, and the tokens the server counted; None = it did not count them."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


class LlmError(Exception):
    """Raised when there is no answer. `outcome` says whether the call may have been charged for."""

    def __init__(self, message: str, outcome: CallOutcome = CallOutcome.SILENT) -> None:
        super().__init__(message)
        self.outcome = outcome


class LlmClient(Protocol):
    """Sends prompts to a language model."""

    def render(self, prompt: Prompt) -> str:
        """Return the text that would be sent, to count its tokens or to show it."""

    def ask(self, prompt: Prompt, seconds: float) -> LlmAnswer:
        """Send the prompt and return the answer. Raise `LlmError` if there is none within `seconds`."""
