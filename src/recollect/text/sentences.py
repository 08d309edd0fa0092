"""The sentences of a message, without what is pasted, quoted or fenced."""

from __future__ import annotations

import re

from recollect.text.redact import redact

# Lines that were pasted rather than written: logs, traces, diffs, code, prompts, quotes.
_PASTED = re.compile(
    r"""^(?:
        [>|$%+] | [-+]{2,3}\s | @@ | \s{4,}\S | \t
        | \W*\d{4}-\d\d-\d\d[\sT] | \[?\d\d:\d\d:\d\d
        | \S*(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b[\s:\]]
        | [\w-]+\s(?:ERR!|WARN)\s
        | (?:Traceback\b|\s*File\s"|E\s{2,}|\w+(?:Error|Exception):\s)
        | \s*(?:def|class|function|const|var|public|private|protected|package|\#include)\s+\w++.*[:;{(=]
        | \s*(?:let|val)\s+\w+\s*=
        | (?:import\s+[\w.]+|from\s+[\w.]+\s+import\s.*)$
        | .*[;{}]\s*+$ | .*=>\s*+$
    )""",
    re.VERBOSE,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]{0,40})\b[^<>]{0,300}>(?:(?!<\1\b).)*?</\1>", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_CODE = re.compile(r"`[^`\n]+`")
_END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\.\.)(?<=[.!?])[\"”')]?\s+|\n+")

_QUESTION = re.compile(
    r"""^(?:why|what|what's|how|who|when(?!\s+you\s+\w+)|where|which|is|are|was|were|does|do\s+(?:you|we|they|i|the|these|those|any)|did|can|could|would|should|shall|will|may|have\s+(?:you|we)|has
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
    """Return what the author wrote in `text`: nothing fenced, tagged or pasted. "" if most of it was pasted."""
    bare = _ELEMENT.sub("\n", _FENCE.sub("\n", text.replace("’", "'")))
    lines = [line for line in bare.splitlines() if line.strip()]
    written = [_BULLET.sub("", line).strip() for line in lines if not _PASTED.match(line)]
    return "\n".join(written) if len(written) * 2 >= len(lines) else ""


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of `text`; a full stop within `code` ends none."""
    masked = _CODE.sub(lambda code: "`" * len(code[0]), text)
    begins = [0, *(end.end() for end in _END.finditer(masked))]
    ends = [*begins[1:], len(text)]
    stripped = (" ".join(text[begin:end].split()) for begin, end in zip(begins, ends, strict=True))
    return [sentence for sentence in stripped if sentence]


def is_question(sentence: str) -> bool:
    """Return whether it asks something, with or without a question mark."""
    return sentence.rstrip(" \"')").endswith("?") or bool(_QUESTION.match(sentence))


def is_guess(sentence: str) -> bool:
    """Return whether it is hedged: "maybe", "I think", "should work"."""
    return bool(_HEDGE.search(sentence))


def statement(text: str) -> str:
    """Return `text` with a capital letter and a full stop."""
    text = text.strip().strip(",;:–—- ")
    if not text:
        return ""
    if not re.match(r"[\w-]*[_./(:]|`", text):  # a name in code keeps its case
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?…”" else text + "."


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut between words. Secrets are removed first: half a secret is not recognised."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    text, _ = redact(text)
    return cut_at_word(text, limit)


def cut_at_word(text: str, limit: int) -> str:
    """Return at most `limit` characters of one line, cut between words."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def cut(line: str, limit: int) -> str:
    """Return at most `limit` characters of one line, cut anywhere."""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
