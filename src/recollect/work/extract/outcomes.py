"""Whether a command failed, and the line of its output that says why."""

from __future__ import annotations

import re

from recollect.text.sentences import clip
from recollect.work.extract.commands import Command
from recollect.work.transcripts.event import Event

_READ = 40_000  # characters of an output that are read: half from each end
_DUMP = 400  # characters; a longer line is data
_LINE = 160  # characters of the error line

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Nothing was run, or its end is unknown.
_NO_OUTCOME = re.compile(
    r"doesn't want to proceed|was rejected|Sibling tool call errored|tool_use_error|running in background|timed out|TIMED OUT|interrupted|KeyboardInterrupt",
)
_FAILED = re.compile(
    r"""\bcommand\snot\sfound\b | ^Traceback\s\(most\srecent | \b[1-9]\d*\s(?:failed|failures?|errors?)\b | ^(?:npm\sERR!|make(?:\[\d+\])?:\s\*\*\*)
        | ^\S*(?:fatal|error):\s | No\ssuch\sfile(?:\sor\sdirectory)?\s*\)?$ | ^E\s{2,}\w+ | ^\w*(?:Error|Exception):\s | ^Exit\scode\s[1-9]
        | ^FAILED\b | \bBUILD\sFAILED\b""",
    re.VERBOSE | re.MULTILINE,
)
_SUMMARY = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|^Traceback \(most recent|^FAILED\b|\bcommand not found\b|\bBUILD FAILED\b",
    re.MULTILINE,
)
_PASSED = re.compile(r"\b[1-9]\d* passed\b|\b0 failures\b|\bBUILD SUCCESSFUL\b|^OK\b", re.MULTILINE)

# The most specific first.
_ERROR_LINES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:E\s+|\*\*\s*\()?\(?[\w.]*(?:Error|Exception|Exit)\)?\s*[:()]",
        r"\b(?:error|fatal)\b(?:\[\w+\]| [A-Z]+\d+)?\s*:",
        r"^--- FAIL: |^● \S|\bpanicked at\b|^FAILED \S+ - ",
        r"^E:?\s+\w",
        r"\bcommand not found\b|\bNo such file\b|\bcannot\b|\bcan't\b|\bcould(?: not|n't)\b|\bmissing script\b|\bnot established\b|\bunable to\b|\bnot found\b|\bdoes not exist\b|\bunsupported\b",
        r"^\W*\[(?:[A-Z]|FORMAT|ERROR|FAIL)\]|\b(?:refused|denied|ignored by|not allowed|unauthorized|forbidden|is required|required|requires|missing|invalid)\b",
        r"\b(?:failed|failure|error|issues? found)\b",
    )
)  # fmt: skip
_NESTED = re.compile(r"^\* What went wrong:\n((?:(?!\*).+(?:\n|\Z)){1,8})", re.MULTILINE)  # of Gradle
_MARKUP = re.compile(r"\W{0,3}</?[a-zA-Z!]|[{\[]\"")
_NOISE = re.compile(
    r"^(?:Exit code \d+|Traceback\b|hint:|warning:|\d+ (?:failed|passed|tests?)\b|={3,}|_{3,}|\W*$|npm ERR! (?:code|errno|A complete log)|FAILED \S+$|Failure/Error:|Update available|Run with --|npm notice|To see |For more |Get more help|See https?:|Did you mean|Try:)|\b0 (?:errors|failures)\b|\(errors have been logged\)",
    re.IGNORECASE,
)


def failed(answer: Event, command: Command) -> bool | None:
    """Return whether the command failed, or None if that is unknown."""
    output = _ends(answer.text)
    if _NO_OUTCOME.search(output[:600]) and not (_SUMMARY.search(output) or _PASSED.search(output)):
        return None
    if answer.failed:
        return True
    if answer.failed is False:
        return bool(command.piped and _SUMMARY.search(output))
    return bool(_FAILED.search(output))


def error_line(output: str) -> str:
    """Return the line that says best what went wrong, or ""."""
    if nested := _NESTED.search(_ends(output)):
        causes = [" ".join(line.strip(" >").split()) for line in nested[1].splitlines() if line.strip(" >")]
        if causes:  # the first says where, the last why
            where = causes[0].rstrip(".") + ": " if len(causes) > 1 else ""
            return clip(where + causes[-1], _LINE)
    lines = [bare for line in _ends(output).splitlines() if (bare := _bare(line)) and not _NOISE.search(bare)]
    lines = [line for line in lines if len(line) <= _DUMP and not _MARKUP.match(line)]
    for pattern in _ERROR_LINES:
        for index, line in enumerate(lines):
            if pattern.search(line):
                goes_on = line.endswith(":") or line.startswith(("--- FAIL", "●"))
                if goes_on and index + 1 < len(lines):  # "…are ignored by one of your files:"
                    line = f"{line} {lines[index + 1]}"
                return clip(line, _LINE)
    return ""


def _ends(text: str) -> str:
    """Return the output, or the first and last lines of a long one."""
    if len(text) > _READ:
        text = text[: _READ // 2].rpartition("\n")[0] + "\n" + text[-_READ // 2 :].partition("\n")[2]
    return _ANSI.sub("", text).replace("\\n", "\n")


def _bare(line: str) -> str:
    return re.sub(r"^(?:E\s{2,}|[>│┃|]\s*|\*\*\s+|\s+)+", "", without_label(line)).strip()


def without_label(line: str) -> str:
    """Return the line without the word that Gemini CLI puts before the first one of what a command printed."""
    return line.removeprefix("Output: ")
