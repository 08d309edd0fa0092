"""What a person wants from now on, and requests that it bears on.

"Always show the types when I ask about an API" and "I prefer small commits" matter for a later request that shares no word with
them. For a question about what is or was, they are messages like any other.
"""

import re

# The rules below are slow to match, and few messages have one of these.
_CUES = (
    *("always", "never", "from now on", "going forward", "future", "remember", "keep in mind", "prefer"),
    *("rather", "i ask", "we ask"),
)
_BEGIN = r"(?:^|[.!?:;] |[\n\]] ?|[-*] )"  # of a sentence or of a line
_INSTRUCTION = re.compile(
    rf"{_BEGIN}(?:please |also |and )?(?:always|never) \w"
    rf"|{_BEGIN}(?:in (?:the )?future,? |(?:please )?(?:remember|keep in mind) (?:that|to)\b)"
    r"|\bmake sure (?:to|you|that you) (?:always|never)\b"
    r"|\b(?:when|whenever|every time|each time) (?:i|we) ask\b"
    r"|\b(?:from now on|going forward|my preference)\b"
    r"|\bi(?:['’]d| would)? (?:(?:always|usually|generally|really|much|strongly|still) )*(?:prefer|rather)\b"
)
_REQUEST = re.compile(
    r"\b(?:please|help me|suggest|recommend|advice|advise|tips|ideas)\b"
    r"|\b(?:can|could|would|will) you\b"
    r"|\b(?:how|what|where|which \w+) (?:should|do|can|could|would|might) (?:i|we|you)\b|\b(?:should|can|could) (?:i|we)\b"
    r"|\b(?:i['’]m|i am|we['’]re|we are) (?:planning|looking|thinking|trying|going|about)\b"
    r"|\b(?:i|we) (?:want|need|plan|would like)\b|\b(?:i|we)['’]d like\b"
    r"|\bwhat are (?:some|the best|good)\b",
    re.IGNORECASE,
)
LONGEST_REQUEST = 1000  # characters that are read


def gives_instruction(text: str) -> bool:
    """Return whether a person's words say what they want from now on, or prefer."""
    lower = text.lower()
    return any(cue in lower for cue in _CUES) and _INSTRUCTION.search(lower) is not None


def is_request(question: str) -> bool:
    """Return whether a question asks for advice or for something to be done, rather than for what is or was."""
    return _REQUEST.search(question[:LONGEST_REQUEST]) is not None
