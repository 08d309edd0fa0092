"""Find all seeds of a project: the best statements of its files and history, each once."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.code.modules.ecosystems.package_info import SET_UP
from recollect.code.modules.module_map import ProjectTools
from recollect.errors import Refused
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare
from recollect.memory.seeds.history import history_seeds
from recollect.memory.seeds.instructions import instruction_seeds, is_order
from recollect.memory.seeds.manifests import NODE_PACKAGES, TESTS_ARE_FOR, command_seeds, manifest_seeds
from recollect.memory.seeds.pipelines import pipeline_seeds
from recollect.memory.seeds.readme import TESTS_ARE_RUN, readme_seeds
from recollect.memory.seeds.seed import Seed
from recollect.memory.seeds.styles import style_seeds
from recollect.memory.seeds.truth import ProjectNames, is_true
from recollect.memory.write.limits import refuse_ignored
from recollect.text.sentences import sentences

MOST_SEEDS = 40
FIRST_SEEDS = 15  # of a first `recollect init`: more are not reviewed
_INSTRUCTED = 9  # of the first: the rest is for what nobody has written down for agents
SAME_WORDS = 0.7  # of the words of two seeds: then one of them is enough
FEWEST_WORDS = 6  # of a seed that can be compared so
WORTH = 0.5  # the confidence from which on a seed is offered without being asked for
DESCRIBED = 0.45  # of an item for agents that is no rule: a command or a folder, which a map has too, or a description
_RULES = ("negative", "gotcha", "convention", "decision")
_ORDERS = re.compile(
    r"\b(?:must|never|always|only|required?|not|avoid|instead|prefer|should|don't|cannot|every|all|no|before|after|when|if)\b",
    re.I,
)


def find_seeds(
    root: Path,
    tools: Sequence[ProjectTools] = (),
    symbols: Collection[str] | None = None,
    most: int = MOST_SEEDS,
) -> list[Seed]:
    """Return at most `most` seeds, the best first. Ignored files are not read.

    `symbols` are the names that the code defines: a seed that names another one is out of date, and left out.
    """
    names = ProjectNames(root, symbols)
    written = [seed for seed in _open(root, instruction_seeds(root)) if is_true(seed, names)]
    written = list(_uncontradicted(written))
    written = [seed if _is_rule(seed) else replace(seed, confidence=DESCRIBED) for seed in written]
    written.sort(key=lambda seed: -seed.confidence)
    linters = frozenset(name for each in tools for name in each.linters) if tools else None
    if linters and tools[0].sources.get("types", "").startswith(SET_UP):
        linters -= {"mypy", "pyright"}  # of which there are settings, and nothing runs them
    sources = (
        command_seeds(tools),
        readme_seeds(root),
        manifest_seeds(root),
        style_seeds(root, linters),
        pipeline_seeds(root),
        history_seeds(root),
    )
    found = [seed for source in sources for seed in _open(root, source) if is_true(seed, names)]
    if any(each.commands.get("test") for each in tools):
        found = [
            seed for seed in found if not seed.content.startswith(TESTS_ARE_RUN)
        ]  # the map knows it better
    framework = tools[0].test.tool.lower() if tools and tools[0].test else ""
    if tools:  # what is installed need not be what runs the tests
        found = [
            seed
            for seed in found
            if not seed.content.startswith(TESTS_ARE_FOR) or (framework and framework in seed.content.lower())
        ]
        if not any(each.tool in ("npm", "pnpm", "yarn", "bun") for each in tools):
            found = [seed for seed in found if not seed.content.startswith(NODE_PACKAGES)]  # only of tools
    found.sort(key=lambda seed: -seed.confidence)
    first = [seed for seed in written[:_INSTRUCTED] if seed.confidence > DESCRIBED]
    return _distinct(
        (*first, *sorted((*found, *written[len(first) :]), key=lambda seed: -seed.confidence)), most
    )


_FAILS = re.compile(r"\b(?:(?:does|do|will) not|doesn't|don't|won't) work\W*$", re.I)
_SOMETIMES = re.compile(
    r"\b(?:if|when|while|unless|until|with|without|on|in|for|from|inside|outside)\b", re.I
)


def _uncontradicted(seeds: Sequence[Seed]) -> Iterator[Seed]:
    """Leave out commands with an option of which another line of the same file says that it does not work."""
    failing = {
        (seed.source.partition(":")[0], option)
        for seed in seeds
        for sentence in sentences(seed.content)
        if _FAILS.search(sentence) and not _SOMETIMES.search(sentence)
        for option in re.findall(r"`(-{1,2}[\w-]+)`", sentence)
    }
    for seed in seeds:
        words = {
            word.partition("=")[0]
            for code in re.findall(r"`([^`]+)`", seed.content)
            if code[0] != "-" and not _FAILS.search(seed.content)
            for word in code.split()
        }
        if not any((seed.source.partition(":")[0], word) in failing for word in words):
            yield seed


_GLOSSARY = re.compile(  # "`Order` — what a customer buys", "Order book (`orders.py`): what customers buy"
    r"`[^`]+`(?: ?[/,] ?`[^`]+`){0,5} ?[—–:-] |[A-Z][\w ]{2,40} \(`[^`]+`[^)]{0,120}\) ?[—–:-] "
)
_OPTION = re.compile(r"[^`:]{3,60}: `-[^`]+`\.?")  # "All tests of a class: `--filter Till`"
_MODAL = re.compile(r"\b(?:must|never|always|do not|don't|should|only|required|avoid|instead)\b", re.I)


def _is_rule(seed: Seed) -> bool:
    """Return whether it tells an agent what to do, rather than what there is."""
    if _GLOSSARY.match(seed.content) and not _MODAL.search(seed.content):
        return False
    if _OPTION.fullmatch(seed.content):
        return False
    text = seed.content.partition(": ")[2] if seed.content.startswith("In ") else seed.content
    return seed.kind in _RULES and bool(is_order(text) or _ORDERS.search(re.sub(r"`[^`]*`", "`", text)))


def _distinct(seeds: Iterable[Seed], most: int) -> list[Seed]:
    chosen: list[Seed] = []
    for seed in seeds:
        if len(chosen) < most and not any(_clash(seed, other) for other in chosen):
            chosen.append(seed)
    return chosen


def _clash(seed: Seed, other: Seed) -> bool:
    """Return whether the two would merge or contradict each other: then the surer one is enough."""
    clashing = (StatementRelation.CONTRADICTION, StatementRelation.DUPLICATE)
    words, others = _words(seed.content), _words(other.content)
    if len(words) >= FEWEST_WORDS and len(words & others) >= SAME_WORDS * len(words | others):
        return True  # instructions for several hosts say the same in nearly the same words
    return compare(seed.content, other.content, None).relation in clashing


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


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
