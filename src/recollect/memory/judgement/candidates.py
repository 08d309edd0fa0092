"""Which stored statements may concern the same thing as a new one, besides those that are near in meaning or in words.

Opposites can be far apart in both: "the pipelines run on Jenkins" and "CI is GitHub Actions" share no word. They meet
because they name tools of one role, the same path, identifier or command.
"""

from recollect.frozen import frozen
from recollect.memory.judgement.compare import names_of_code
from recollect.memory.judgement.statement import canonical_set
from recollect.memory.judgement.tools import banned_tools, rivals, tools_named

MOST_TERMS = 24  # of one query, which costs about as much as each of its words is common


@frozen
class Subject:
    """What a statement names: its tools, those that have the same role, and the code."""

    tools: frozenset[str]
    banned: frozenset[str]
    rivals: frozenset[str]
    code: frozenset[str]

    @property
    def terms(self) -> str:
        """Return the words by which statements about the same are found; "" if there are none."""
        chosen = dict.fromkeys((*sorted(self.tools), *sorted(self.code, key=len, reverse=True)[:2]))
        chosen |= dict.fromkeys(sorted(self.rivals))
        return " ".join(list(chosen)[:MOST_TERMS])

    def concerns(self, text: str) -> bool:
        """Return whether a statement that was found by the terms names a rival tool or the same code."""
        tools = tools_named(text)
        if self.banned & tools or self.tools & banned_tools(text):
            return True
        if tools & canonical_set(self.rivals) - self.tools:
            return True
        return not self.code.isdisjoint(names_of_code(text))


def subject_of(text: str) -> Subject:
    """Return what `text` names."""
    return Subject(tools_named(text), banned_tools(text), rivals(text), names_of_code(text))
