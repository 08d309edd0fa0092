"""What a model that reads two statements at once adds to the rules.

Rules know few words. Where they find nothing, the model may know that "keyed by a UUIDv7" contradicts "keys are bigint sequences".
It never acts by itself: it asks. Nothing is merged on its word either, because it takes long statements with a common end for the
same: a merge is proposed. Decision 39 says what the floors come from.
"""

from collections.abc import Sequence

from recollect.context.pair_reader import PairReader, Relatedness
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import differing_words, is_about_another, is_open
from recollect.memory.judgement.comparison import Comparison

CONTRADICTS = 0.9  # probability from which a contradiction is asked about
# …and from which a merge is proposed: of 156 duplicates that the rules left two it proposes 30, with two contradictions and two related
# statements, and four pairs of neighbours among 2,565 memories of nine projects.
SAYS_THE_SAME = 0.3
READ_NEAR = 0.4  # cosine from which a pair is read when one of them is written. From 0.3, a fifth more duplicates are asked about
MOST_READ = 4  # nearest statements that a new one is read with: somebody waits, some 12 ms for each


def read_neighbours(
    reader: PairReader, new: str, judged: Sequence[tuple[str, float | None, Comparison]]
) -> list[Comparison]:
    """Return the comparisons of `new` with older texts, each (text, cosine, comparison), after the nearest were read."""
    wanted = [
        place
        for place, (old, cosine, comparison) in enumerate(judged)
        if (cosine or 0.0) >= READ_NEAR and is_open(comparison, new, old)
    ]
    wanted = sorted(wanted, key=lambda place: -(judged[place][1] or 0.0))[:MOST_READ]
    readings = reader.relate([(judged[place][0], new) for place in wanted]) or ()
    comparisons = [comparison for _, _, comparison in judged]
    for place, reading in zip(wanted, readings, strict=False):
        comparisons[place] = _after_reading(reader, reading, comparisons[place], new, judged[place][0])
    return comparisons


def _after_reading(
    reader: PairReader, reading: Relatedness, comparison: Comparison, new: str, old: str
) -> Comparison:
    if reading.contradiction >= CONTRADICTS:
        relation, read = StatementRelation.CONTRADICTION, f"a contradiction, {reading.contradiction:.0%}"
    elif reading.same >= max(SAYS_THE_SAME, reading.contradiction) and not is_about_another(
        comparison, new, old
    ):
        relation, read = StatementRelation.MERGEABLE, f"the same, {reading.same:.0%}"
    else:
        return comparison
    reason = f"{differing_words(new, old)}, read as {read}".removeprefix(", ")
    return Comparison(relation, reason, certain=False, decided_by=reader.name)
