"""What a text says in words: the code, output and tracebacks between them left out."""

import re
from collections.abc import Mapping

from recollect.code.relevant.terms import asked

_FENCED = re.compile(r"```.*?```|~~~.*?~~~", re.S)
_CODE = re.compile(
    r"^(?: {4,}|\t|>>>).*"  # set in
    r'|^\s*File ".*'
    r"|^[ ]*(?:from|import|def|class|return|raise|with|for|if)\b.*[:(=].*",
    re.M,
)


def question(text: str) -> Mapping[int, float]:
    """What is `asked`: half of it by all of the text, half by the words alone, which code would drown."""
    title, _, rest = text.strip().partition("\n")
    whole = asked(text)
    words = asked(f"{title}\n{_CODE.sub(' ', _FENCED.sub(' ', rest))}")
    return {term: (weight + words.get(term, 0.0)) / 2 for term, weight in whole.items()}
