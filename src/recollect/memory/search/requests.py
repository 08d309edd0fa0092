"""Requests that need nothing a project remembers: general questions, small talk, and edits that say all there is to know.

Their words occur in memories too ("how do I undo my last commit" in every rule about commits), so that a search finds
something. `usefulness` needs more evidence before it shows any of that.
"""

import re

from recollect.memory.search.activities import activities_in

LONGEST_REQUEST = 2000  # characters that are read
MOST_GREETING_WORDS = 8

_PLEASE = r"^\W*(?:(?:please|hey|ok|so|and|can you|could you|would you)\b\W*)*"
_GENERAL = re.compile(
    _PLEASE + r"(?:what (?:does|do|did)\b.{0,80}\bmean\b"
    r"|what(?:'s|’s| is| are| was| were) (?:the difference|an? [\w-]+\??\s*$)"
    r"|(?:remind me )?(?:what|how) .{0,40}\bdifference between\b"
    r"|explain\b(?! (?:why|our|my|this|to|in the (?:docs|readme)))"
    r"|how (?:do|can|would|should|could) (?:i|you|one)\b(?=.*\b(?:git|commits?|rebase|stash|terminal|bash|zsh|vim|tmux|regex|excel)\b))"
    r"|\bregex(?:p|es)?\b.{0,15}\b(?:for|that|to|matching)\b"
    r"|\b(?:haiku|poem|limerick|sonnet|joke|pun|birthday|job ad|job advert|slogan|icebreaker)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:thanks|thank you|thx|cheers|hello|hi|hey|good (?:morning|evening|night)|bye|cool|great|nice|perfect|awesome)\b",
    re.IGNORECASE,
)
_MECHANICAL = re.compile(
    r"\brename (?:the )?(?:variable|function|method|class|parameter|argument|constant|field|local)\b"
    r"|\brename `?[a-z_]\w{0,80}`? (?:in \S{1,200} )?to\b"
    r"|\balphabetical(?:ly)?\b"
    r"|\bnothing else\b"
    r"|\b(?:re-?format|re-?indent|unindent)\b|\btrailing (?:white ?space|commas?)\b|\blines? up\b"
    r"|\bsort the (?:imports|fields|keys|list)\b"
    r"|\b(?:function|method|class|snippet|code|list|text) below\b"
    r"|\btypo in (?:the |a )?(?:comment|docstring|readme|variable)\b",
    re.IGNORECASE,
)


def is_general(request: str) -> bool:
    """Return whether `request` is small talk or a question that has nothing to do with the project."""
    text = request[:LONGEST_REQUEST]
    if _GREETING.search(text) and len(text.split()) <= MOST_GREETING_WORDS:
        return not activities_in(text)  # "great, now deploy it"
    return _GENERAL.search(text) is not None


def is_mechanical(request: str) -> bool:
    """Return whether `request` is a small edit that says itself what to do: rename this, sort that."""
    return _MECHANICAL.search(request[:LONGEST_REQUEST]) is not None
