"""What a model that reads two statements at once adds to the rules.

Rules know few words. Where they find nothing, the model may know that "keyed by a UUIDv7" contradicts "keys are bigint sequences":
then somebody is asked. Where they suspect a contradiction without being sure, it may know that both say the same. It supersedes
nothing. What it surely reads as the same, and where no value, name or condition differs, consolidation merges. Decision 43 says what the
floors come from.
"""

from collections.abc import Sequence
from itertools import islice

from recollect.context.pair_reader import PairReader, Relatedness
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import differing_words, is_about_another, is_open, may_say_the_same
from recollect.memory.judgement.comparison import Comparison

READ_AS_SAME = "read as the same"  # reason of the link between two that are to be merged
CONTRADICTS = 0.85  # probability from which a contradiction is asked about…
FAR_CONTRADICTS = 0.95  # …and the same for two that are farther apart than `NEAR`
SAME_AFTER_ALL = 0.3  # that two say the same, from which a contradiction that the rules suspect is none
SAYS_THE_SAME = 0.3  # from which a merge is proposed…
SURELY_THE_SAME = 0.7  # …and from which consolidation merges, if the words agree in all that words can tell
# From here, consolidation also merges what the rules suspect to be a contradiction, or where one of them counts what the other does not.
NO_DOUBT = 0.95
NEAR = 0.4  # cosine
READ_NEAR = 0.25  # cosine from which a pair is read when one of them is written
MOST_READ = 2  # nearest statements that a new one is read with: somebody waits, some 8 ms of CPU for each


def read_neighbours(
    reader: PairReader, new: str, judged: Sequence[tuple[str, float | None, Comparison]]
) -> list[Comparison]:
    """Return the comparisons of `new` with older texts, each (text, cosine, comparison), after the nearest were read."""
    nearest = sorted(range(len(judged)), key=lambda place: -(judged[place][1] or 0.0))
    wanted = list(islice((place for place in nearest if _is_read(new, *judged[place])), MOST_READ))
    readings = reader.relate([(judged[place][0], new) for place in wanted]) or ()
    comparisons = [comparison for _, _, comparison in judged]
    for place, reading in zip(wanted, readings, strict=False):
        old, cosine, comparison = judged[place]
        comparisons[place] = after_reading(reader.name, reading, comparison, new, old, cosine)
    return comparisons


def _is_read(new: str, old: str, cosine: float | None, comparison: Comparison) -> bool:
    return is_suspected(comparison) or ((cosine or 0.0) >= READ_NEAR and is_open(comparison, new, old))


def is_suspected(comparison: Comparison) -> bool:
    """Return whether the rules suspect a contradiction without being sure."""
    return comparison.relation is StatementRelation.CONTRADICTION and not comparison.certain


def after_reading(
    name: str, reading: Relatedness, comparison: Comparison, new: str, old: str, cosine: float | None
) -> Comparison:
    """Return how `new` relates to `old` by the rules' comparison and the reading of the model called `name`."""
    if is_suspected(comparison):
        if reading.same < SAME_AFTER_ALL:
            return comparison
        reason = f"{comparison.reason}, read as the same, {reading.same:.0%}"
        certain = reading.same >= NO_DOUBT and comparison.rule != "revised" and may_say_the_same(new, old)
        return Comparison(StatementRelation.MERGEABLE, reason, certain=certain, decided_by=name)
    certain = False
    if reading.contradiction >= (CONTRADICTS if (cosine or 0.0) >= NEAR else FAR_CONTRADICTS):
        relation, read = StatementRelation.CONTRADICTION, f"a contradiction, {reading.contradiction:.0%}"
    elif reading.same >= max(SAYS_THE_SAME, reading.contradiction) and (
        not is_about_another(comparison, new, old)
        or (reading.same >= NO_DOUBT and may_say_the_same(new, old))
    ):
        relation, read = StatementRelation.MERGEABLE, f"the same, {reading.same:.0%}"
        certain = reading.same >= SURELY_THE_SAME and may_say_the_same(new, old)
    else:
        return comparison
    reason = f"{differing_words(new, old)}, read as {read}".removeprefix(", ")
    return Comparison(relation, reason, certain=certain, decided_by=name)
