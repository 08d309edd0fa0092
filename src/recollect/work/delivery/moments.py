"""What is said at each moment, and in how many tokens: one table."""

from recollect.frozen import frozen
from recollect.memory.briefing.budget import Allocation
from recollect.work.delivery.delivery import Moment


@frozen
class MomentPlan:
    """The content of a moment. A tier without tokens in the budget is left out."""

    budget: Allocation | None  # None = a share of the remaining context
    rules: bool = False  # the user's rules
    project: bool = False  # the project in five lines
    matches: bool = False  # memories, files and findings for the text
    of_files: bool = False  # memories about the files that were opened, which fit the last prompts
    triggers: bool = False  # memories of which the text contains a trigger
    fixes: bool = False
    sessions: int = 0  # summaries, of the last sessions that did something


# 250 tokens is the median aimed at for a prompt; a prompt about which much is known may take more.
PLANS = {
    Moment.START: MomentPlan(
        Allocation(1100, always=420, map=220, task=220, summaries=300), rules=True, project=True, sessions=1
    ),
    Moment.PROMPT: MomentPlan(Allocation(700, files=170, bridge=160, task=560), matches=True, triggers=True),
    Moment.BEFORE_TOOL: MomentPlan(Allocation(300, task=280), triggers=True),
    Moment.FILE_OPENED: MomentPlan(Allocation(250, task=230), of_files=True),
    Moment.AFTER_FAILURE: MomentPlan(Allocation(300, fixes=140, task=280), fixes=True),
    Moment.AFTER_COMPACTION: MomentPlan(
        Allocation(1800, always=420, map=310, files=170, bridge=160, task=900, summaries=300),
        rules=True,
        project=True,
        matches=True,
        triggers=True,
        sessions=1,
    ),
    Moment.TURN_END: MomentPlan(Allocation(0)),  # no memory is shown
    Moment.ON_REQUEST: MomentPlan(None, rules=True, project=True, matches=True, triggers=True, sessions=3),
}
