"""Find all seeds of a project: the best statements of its files and history, each once."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recollect.code.modules.module_map import ProjectTools
from recollect.errors import Refused
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare
from recollect.memory.seeds.history import history_seeds
from recollect.memory.seeds.instructions import instruction_seeds
from recollect.memory.seeds.manifests import command_seeds, manifest_seeds
from recollect.memory.seeds.pipelines import pipeline_seeds
from recollect.memory.seeds.readme import readme_seeds
from recollect.memory.seeds.seed import Seed
from recollect.memory.seeds.styles import style_seeds
from recollect.memory.write.limits import refuse_ignored

MOST_SEEDS = 40
_OF_INSTRUCTIONS = 24  # the rest is for what nobody has written down


def find_seeds(root: Path, tools: Sequence[ProjectTools] = ()) -> list[Seed]:
    """Return at most 40 seeds, the surest first. Ignored files are not read."""
    written = list(_open(root, instruction_seeds(root)))[:_OF_INSTRUCTIONS]
    read = [readme_seeds, manifest_seeds, style_seeds, pipeline_seeds, history_seeds]
    found = [*command_seeds(tools), *(seed for reader in read for seed in _open(root, reader(root)))]
    found.sort(key=lambda seed: -seed.confidence)
    chosen: list[Seed] = []
    for seed in (*written, *found):
        if len(chosen) < MOST_SEEDS and not any(_clash(seed, other) for other in chosen):
            chosen.append(seed)
    return chosen


def _clash(seed: Seed, other: Seed) -> bool:
    """Return whether the two would merge or contradict each other: then the surer one is enough."""
    clashing = (StatementRelation.CONTRADICTION, StatementRelation.DUPLICATE)
    return compare(seed.content, other.content, None).relation in clashing


def _open(root: Path, seeds: Iterable[Seed]) -> Iterator[Seed]:
    """Leave out seeds from ignored files."""
    known: dict[str, bool] = {}
    for seed in seeds:
        path = seed.source.partition(":")[0]
        if path not in known:
            known[path] = _is_open(root, path)
        if known[path]:
            yield seed


def _is_open(root: Path, path: str) -> bool:
    try:
        refuse_ignored((path,), root)
    except Refused:
        return False
    return True
