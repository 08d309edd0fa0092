"""The terms of a question and their weights."""

import re
from collections.abc import Mapping
from math import log

import numpy as np

from recollect.code.relevant.weights import TITLE_SHARE
from recollect.code.terms import count_terms

POSTING = np.dtype([("term", "<u4"), ("count", "<u2")])

# Words of requests for any file: "ok, add a test", "run it again", "why does the test fail?"
_VAGUE = frozenset(
    count_terms(
        "actually add after again also another before better but can change changes check clean code commit continue create do"
        " docs done ensure error errors everything explain fail failing fails failed file files first fix fixed further go good"
        " great help implement improve instead keep last let look make maybe more need new next no now ok okay one please"
        " previous pull push refactor remove rename rest revert review run same should show simplify start still suite sure test"
        " tests then thing things too try undo update use want work works write wrong yes"
    )
)
_IGNORED = re.compile(
    r"<!--(?:(?!<!--).)*?-->|\b\w{1,20}://\S+|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b", re.S
)  # the text of issue templates, links, and hashes of commits
_FENCED = re.compile(r"```.*?```|~~~.*?~~~", re.S)
_CODE = re.compile(
    r"^(?: {4,}|\t|>>>).*"  # indented
    r'|^[ \t]*File [~"/].*'
    r"|^(?: +|-+> ?)\d+ .*"  # numbered, in IPython
    r"|^[ ]*(?:from|import|def|class|return|raise|with|for|if)\b.*[:(=].*",
    re.M,
)
_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033)\[[\d;]{0,20}m|\[(?:0|\d{1,3};[\d;]{1,12})m")
_ESCAPED = re.compile(r"\\u001b\[")  # as in the file of a notebook, where line ends are escaped too


def without_colours(text: str) -> str:
    """Return `text` without the colours of a terminal or notebook, which hide where its lines and paths begin."""
    if _ESCAPED.search(text):
        text = text.replace("\\n", "\n")
    return _COLOUR.sub("", text)


def weigh_question(text: str) -> Mapping[int, float]:
    """Return the `question_terms` of `text`: half by the whole text, half without code, which would drown the words."""
    title, _, rest = text.strip().partition("\n")
    whole = question_terms(text)
    words = question_terms(f"{title}\n{_CODE.sub(' ', _FENCED.sub(' ', rest))}")
    return {term: (weight + words.get(term, 0.0)) / 2 for term, weight in whole.items()}


def question_terms(question: str) -> dict[int, float]:
    """Return the weight of each term; all weights add up to 1. The first line counts more: the rest may digress."""
    text = _IGNORED.sub(" ", question).strip()
    whole = _weights(text)
    title = _weights(text.partition("\n")[0])
    return {
        term: (1 - TITLE_SHARE) * weight + TITLE_SHARE * title.get(term, 0.0)
        for term, weight in whole.items()
    }


def is_vague(question: Mapping[int, float]) -> bool:
    """Return whether each term is a word of requests for any file, so that none can be told from the others."""
    return question.keys() <= _VAGUE


def shared_weight(question: Mapping[int, float], terms: bytes) -> float:
    """Return the share of the question, from 0 to 1, whose terms are among the packed `terms`."""
    return sum(question.get(term, 0.0) for term in np.frombuffer(terms, POSTING)["term"].tolist())


def _weights(text: str) -> dict[int, float]:
    weights = {term: 1 + log(count) for term, count in count_terms(text).items()}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}
