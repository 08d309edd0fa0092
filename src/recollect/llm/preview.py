"""What would be sent, for an example: the same path as a real question, up to the point where it leaves."""

from collections.abc import Callable, Sequence
from typing import Any

import recollect.model as m
from recollect.config import Settings
from recollect.llm import questions
from recollect.llm.http import HttpVoice
from recollect.llm.open import open_voice
from recollect.llm.protocol import Sketch

REQUEST = "The tests fail on CI with `connection refused`, and the db password is hunter2-correct-horse. Why?"
_EXAMPLES: dict[str, Callable[[Sequence[m.Hit]], questions.Question[Any]]] = {
    "verify": lambda hits: questions.verify(REQUEST, hits),
    "extract": lambda hits: questions.extract(f"1 user: {REQUEST}\n2 assistant: Redis was not running.", []),
    "relate": lambda hits: questions.relate("Tests need Redis 8", "Tests need Redis 7"),
    "classify": lambda hits: questions.classify("src/auth/tokens.py", ["login", "billing"]),
    "modules": lambda hits: questions.name_modules(
        [Sketch("auth", "tokens, login", ("src/auth/tokens.py", "src/auth/login.py"))]
    ),
    "summarise": lambda hits: questions.summarise(REQUEST, 5),
}
PURPOSES = tuple(_EXAMPLES)


def preview(settings: Settings, purpose: str, hits: Sequence[m.Hit]) -> str:
    """As the voice that is set up would word it; where none is, as a server would be asked."""
    voice = open_voice(settings) or HttpVoice("", "")
    return voice.wording(_EXAMPLES[purpose](hits).prompt())
