"""What scoring all units costs: time and memory, without the store and without embedding the query."""

import os
import statistics
from collections.abc import Callable
from time import perf_counter

import numpy as np

from bench.corpus import sentences
from recollect.memory.index.bm25 import Bm25Index
from recollect.memory.index.messages import MessageFeatures, SessionLayout
from recollect.memory.ranking import MEMORY_MEASURES, MESSAGE_MEASURES, SESSION_MEASURES
from recollect.memory.search.fusion import combine_memory_scores, combine_message_scores

SIZES = (10_000, 100_000)
QUERY = "which scheduler gateway retries tokens of the billing cache before every nightly deploy"  # 10 words that count
SLIPS = "schedler gatewy retris tokns biling"


def measure(size: int) -> dict[str, float]:
    texts = sentences(size)
    before, begin = _resident(), perf_counter()
    memories = Bm25Index(MEMORY_MEASURES)
    memories.add([("content", text)] for text in texts)
    memories.words("scheduler")  # the first look-up sorts
    built, resident = perf_counter() - begin, _resident() - before

    messages = Bm25Index(MESSAGE_MEASURES)
    messages.add([("assistant" if i % 2 else "person", text)] for i, text in enumerate(texts))
    session = np.arange(size, dtype=np.int32) // 20
    begin = perf_counter()
    sessions = SessionLayout(session, np.arange(size, dtype=np.int32))
    arranged = perf_counter() - begin
    assistant = np.arange(size) % 2 == 1
    talk = MessageFeatures(sessions, messages.lengths, ~assistant, assistant, np.arange(size) % 50 == 0)
    cosine = np.random.default_rng(0).standard_normal(size, np.float32)
    words, coverage = memories.words(QUERY), memories.score(memories.words(QUERY)).coverage
    asked = messages.words(QUERY)
    whole = messages.score(asked, groups=session, measures=SESSION_MEASURES).scores

    def append() -> None:
        memories.add([[("content", "The scheduler has one sentence more.")]])
        memories.words("scheduler")

    return {
        "build, s": built,
        "memory, MB": resident,
        "analyse query, ms": _median(lambda: memories.words(QUERY)),
        "analyse five typos, ms": _median(lambda: memories.words(SLIPS)),
        "match memories, ms": _median(lambda: memories.score(words)),
        "match messages, ms": _median(lambda: messages.score(asked)),
        "match sessions, ms": _median(
            lambda: messages.score(asked, groups=session, measures=SESSION_MEASURES)
        ),
        "blend memories, ms": _median(lambda: combine_memory_scores(coverage, cosine).total),
        "blend messages, ms": _median(lambda: combine_message_scores(coverage, cosine, whole, talk)[0].total),
        "arrange sessions, ms": arranged * 1000,
        "append one and look up, ms": _median(append),
    }


def _median(work: Callable[[], object], times: int = 21) -> float:
    taken = []
    for _ in range(times):
        begin = perf_counter()
        work()
        taken.append(perf_counter() - begin)
    return statistics.median(taken) * 1000


def _resident() -> float:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    figures = {size: measure(size) for size in SIZES}
    print(f"{'':28}" + "".join(f"{size:>10,}" for size in SIZES))
    for name in figures[SIZES[0]]:
        print(f"{name:28}" + "".join(f"{figures[size][name]:10.2f}" for size in SIZES))


if __name__ == "__main__":
    main()
