"""What a question asks for, in the terms that texts are kept as."""

import re
from collections.abc import Mapping
from math import log

import numpy as np

from recollect.code.relevant.postings import counted

POSTING = np.dtype([("term", "<u4"), ("count", "<u2")])

TITLE = 0.2  # how much of a question its first line is, however long the rest

_UNSAID = re.compile(r"<!--.*?-->|\w+://\S+", re.S)  # what a form says, and where else to look


def asked(question: str) -> dict[int, float]:
    """What each term of a question weighs, all together 1. The first line says best what it is about; the rest may stray."""
    said = _UNSAID.sub(" ", question).strip()
    whole = _weighed(said)
    title = _weighed(said.partition("\n")[0])
    return {term: (1 - TITLE) * weight + TITLE * title.get(term, 0.0) for term, weight in whole.items()}


def shared(question: Mapping[int, float], terms: bytes) -> float:
    """How much of what is `asked` stands in a text, as `terms_of` made it: from 0 to 1."""
    return sum(question.get(term, 0.0) for term in np.frombuffer(terms, POSTING)["term"].tolist())


def _weighed(text: str) -> dict[int, float]:
    weights = {term: 1 + log(count) for term, count in counted(text).items()}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}
