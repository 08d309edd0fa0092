"""How one statement relates to another, and why."""

from recollect.frozen import frozen
from recollect.llm.protocol import StatementRelation

SAME = 0.92  # cosine from which two statements that do not disagree say the same
ALIKE = 0.85  # cosine from which they probably do
AGREED = 0.6  # cosine from which two statements that agree in values, subject and polarity say the same
HOLLOW = 0.7  # the same, if one of them names the sort of a thing besides: "app requests" for "the app"
NEAR = 0.5  # cosine from which they are about the same subject


@frozen
class Comparison:
    """How one statement relates to another, and why."""

    relation: StatementRelation
    reason: str  # a short clause for the user: "port 8080 → 9090"
    certain: bool  # False = a model should decide, if there is one, or a person
    rule: str = ""  # the rule that decided; "" if it was not one of ours
    decided_by: str = "rule"  # or the model that was asked

    @property
    def explanation(self) -> str:
        """Say which words, which rule or model, and how sure: what is stored with a link and asked in review."""
        decided = f"{self.decided_by} {self.rule}".strip()
        return f"{self.reason} ({decided}, {'certain' if self.certain else 'unsure'})"
