"""Prose out of a message: its sentences, without what was pasted, quoted or fenced."""

from __future__ import annotations

import re

from recollect.text.redact import redact

# Of a line that someone pasted rather than said: logs, traces, diffs, code, prompts, quotes.
_PASTED = re.compile(
    r"""^(?:
        [>|$%+] | [-+]{2,3}\s | @@ | \s{4,}\S | \t
        | \W*\d{4}-\d\d-\d\d[\sT] | \[?\d\d:\d\d:\d\d
        | \S*(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b[\s:\]]
        | (?:Traceback\b|\s*File\s"|E\s{2,}|\w+(?:Error|Exception):\s)
        | \s*(?:def|class|function|const|var|public|private|protected|package|\#include)\s+\w+.*[:;{(=]
        | \s*(?:let|val)\s+\w+\s*=
        | (?:import\s+[\w.]+|from\s+[\w.]+\s+import\s.*)$
        | .*[;{}]\s*$ | .*=>\s*$
    )""",
    re.VERBOSE,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]*)\b[^>]*>.*?</\1>", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_CODE = re.compile(r"`[^`\n]+`")
_END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\.\.)(?<=[.!?])[\"”')]?\s+|\n+")

_QUESTION = re.compile(
    r"""^(?:why|what|what's|how|who|when|where|which|is|are|was|were|does|do\s+(?:you|we|they|i|the|these|those|any)|did|can|could|would|should|shall|will|may|have\s+(?:you|we)|has
        |isn't|aren't|doesn't|didn't|wasn't|won't|wouldn't|shouldn't|couldn't
        |(?:don't|can't|do\s+not|cannot)\s+(?:you|we|they|i))\b(?!\s*not\s)""",
    re.VERBOSE | re.IGNORECASE,
)
_HEDGE = re.compile(
    r"""\b(?:maybe|perhaps|probably|possibly|presumably|apparently|likely|might|may\s+be|could\s+be|seems?|appears?\s+to
        |(?:i|we)\s+(?:think|guess|suppose|believe|assume|suspect)|not\s+sure|unsure|should\s+(?:now\s+)?(?:be|work|pass|resolve|fix))\b""",
    re.VERBOSE | re.IGNORECASE,
)


def prose(text: str) -> str:
    """What was said in `text`: nothing fenced, tagged or pasted. "" where most of it was pasted."""
    bare = _ELEMENT.sub("\n", _FENCE.sub("\n", text.replace("’", "'")))
    lines = [line for line in bare.splitlines() if line.strip()]
    said = [_BULLET.sub("", line).strip() for line in lines if not _PASTED.match(line)]
    return "\n".join(said) if len(said) * 2 >= len(lines) else ""


def sentences(said: str) -> list[str]:
    """Sentences and lines; a stop within `code` ends none."""
    masked = _CODE.sub(lambda code: "`" * len(code[0]), said)
    begins = [0, *(end.end() for end in _END.finditer(masked))]
    ends = [*begins[1:], len(said)]
    return [
        found for begin, end in zip(begins, ends, strict=True) if (found := " ".join(said[begin:end].split()))
    ]


def is_question(sentence: str) -> bool:
    return sentence.rstrip(" \"')").endswith("?") or bool(_QUESTION.match(sentence))


def is_guess(sentence: str) -> bool:
    return bool(_HEDGE.search(sentence))


def statement(text: str) -> str:
    """`text` with a capital and a full stop."""
    text = text.strip().strip(",;:–—- ")
    if not text:
        return ""
    if not re.match(r"[\w-]*[_./(:]|`", text):  # a name in code keeps its case
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?…”" else text + "."


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words; secrets go first, for half of one is not known as such."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    text, _ = redact(text)
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"
