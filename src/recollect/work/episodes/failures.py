"""Failures reduced to what stays the same from run to run, and how similar two of them are. Pure functions."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from recollect.frozen import frozen
from recollect.text.cuts import end_of, start_of
from recollect.text.redact import redact
from recollect.text.words import STOP_WORDS
from recollect.work.extract.commands import parse
from recollect.work.extract.outcomes import without_label

MOST_LINES = 4
MOST_NAMES = 24
SIMILAR = 0.62  # similarity from which two failures count as the same; measured by bench/failures.py
_LONGEST = 240  # characters of a line; a longer one is data
_READ = 20_000  # characters from each end of an output

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Lines that say what went wrong, the most specific patterns first.
_SPECIFIC = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:E\s+)?(?:Caused by: |Exception in thread \S+ |Uncaught |Unhandled \w+ )?[\w.:$]*(?:Error|Exception|Warning|Exit|Interrupt|NotFound|Refused|Denied)\b(?:\s*+\[?\w*\]?)?\s*+:",
        r"\b(?:error|fatal|ERROR|FATAL|Error|Fatal)(?:\[\w+\]|\s[A-Z]+\d+)?\s*:\s*\S|:\s[A-Z]{1,6}\d{2,5}\s",
        r"panicked at|^panic: |\bSIG[A-Z]+\b|Segmentation fault|\bOOM|out of memory|DATA RACE|no space left",
        r"^E\s{2,}\S|^FAILED \S+ - ",
        r"(?i)\b(?:cannot|can't|could not|couldn't|unable to|not found|no such|does not|doesn't|unknown|undefined|unresolved|unexpected|mismatch|already|refused|denied|rejected|unauthorized|forbidden|conflicts?|incompatible|unsupported|expired|timed out|timeout|missing|required|invalid|illegal|unused|not used|pending|exceeded|ignored|too (?:many|complex|long|large)|violates|has no|not supported|detected)\b",
        r"(?i)\b(?:failed|failure|error|problem)\b",
    )
)
# Lines that any failure prints.
_GENERIC = re.compile(
    r"""(?ix) ^\W*$ | ^Traceback\b | ^(?:npm|yarn|pnpm)\W+ERR!?\s*(?:code|errno|A\scomplete|This\sis\sprobably|path|syscall|signal)\b
        | complete\slog\sof\sthis\srun | ^make(?:\[\d+\])?:\s\*\*\* | exit(?:ed\swith)?\s(?:code|status) | ^ELIFECYCLE | Command\sfailed
        | ^\s*(?:\d+\s)?(?:tests?|passed|warnings?)\b | short\stest\ssummary | ^={3,} | ^-{3,} | ^_{3,} | error:\saborting\sdue | could\snot\scompile
        | ^\s*(?:at|from|in)\s\S+[(:] | BUILD\sFAILED | What\swent\swrong | ^FAIL\s*$ | Found\s\d+\serrors? | ^\d+\sproblems? | Run\swith\s | ^\s*hint: | For\smore\sinformation
        | Execution\sfailed\sfor\stask | ^\*\sTry | ^\s*File\s" | ^error\sCommand | Process\scompleted | Test\sSuites?: | ^Tests: | \bfailed,\s\d+\spassed | ^\d+\sfailed
        | ^error:\srecipe | info\sVisit | errors?\swere\sfound | ^The\scommand\s | To\ssee\s | ^\s*\d+\serrors?\b
    """
)
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]?[\d:.,+Z-]*|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b")
_HEX = re.compile(
    r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b"
)
_URL = re.compile(r"(?<![\w+.-])[a-z][a-z0-9+.-]{0,40}://[^\s'\"`)>,]+")
_PATH = re.compile(
    r"(?:[A-Za-z]:)?[~.]{0,2}(?:[\\/][\w@.+-]+)+[\\/]?(?::\d+)*(?:::[\w\[\].:-]+)?"
    r"|\b[\w@.+-]+(?:/[\w@.+-]+)+(?::\d+)*(?:::[\w\[\].:-]+)?"
    r"|\b[\w-]+\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|cs|swift|scala|ex|exs|sql|toml|json|ya?ml|lock|cfg|ini|txt|md|sh|gradle|xml|html|css|scss|vue|svelte|proto|tf)\b(?:[:(]\d+[:,]?\d*\)?)*"
)
_QUOTED = re.compile(
    r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"|(?<!\w)'([^'\n]{1,120})'(?!\w)|‘([^’\n]{1,120})’|“([^”\n]{1,120})”"
)
_NUMBER = re.compile(r"[-+]?\b\d+(?:[.,]\d+)*(?:\s?(?:ms|s|KB|MB|GB|KiB|MiB|GiB|%))?\b")
_TOKEN = re.compile(r"[^\W\d_](?:[\w.$-]*\w)?|<\w+>")
# An identifier rather than a word: mixed case, or made of parts.
_NAME = re.compile(
    r"[^\W\d_]\w*(?:[._$:-]+\w+)+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]*_[A-Z0-9_]+|@[\w-]+(?:/[\w.-]+)?"
)
_KIND = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt|Panic|Failed|Denied|Refused|Timeout)$")
_REMOTE = re.compile(r"(?<![\w.@-])(?:[\w.-]{1,80}@)?[\w-]{1,80}(?:\.[\w-]{1,80}){1,9}:[\w./-]+\.git\b")
_SHELL = re.compile(r"^(?:/bin/)?(?:ba|z|da|k)?sh: (?:line )?(?:\d+: )?")
_VERSION = re.compile(r"(?:[@^~=<>v-]{1,9})?(?<![\d.])\d{1,40}(?:\.\w{1,40}){0,9}$")


@frozen
class ErrorLine:
    """A normalised line of output and the names in it: `"` precedes a quoted name, `/` a file or test."""

    words: str
    names: frozenset[str]


@frozen
class Failure:
    head: str  # program and verb of the command; "" = not known
    lines: tuple[ErrorLine, ...]  # normalised, the most specific first

    @property
    def name(self) -> str:
        """Return a name that is equal for equal failures."""
        lines = (f"{line.words} {' '.join(sorted(_strong(line)))}" for line in self.lines[:2])
        return "\n".join([self.head.partition(" ")[0], *lines])


def failure_of(output: str, command: str = "") -> Failure | None:
    """Return the failure that `output` describes, or None if no line says what went wrong."""
    lines: dict[str, ErrorLine] = {}
    for text in specific_lines(output):
        line = normalise(redact(text)[0])
        if line.words:
            lines.setdefault(line.words, line)
    return Failure(head_of(command), tuple(lines.values())) if lines else None


def specific_lines(output: str) -> list[str]:
    """Return the lines of `output` that best say what went wrong, best first."""
    if len(output) > 2 * _READ:
        output = start_of(output, _READ) + "\n" + end_of(output, _READ)
    lines = [
        bare
        for line in _ANSI.sub("", output).splitlines()
        if (bare := without_label(line).strip(" \t│┃|>*✖×✗⨯"))
        and len(bare) <= _LONGEST
        and not _GENERIC.search(bare)
    ]
    best: dict[str, None] = {}
    for pattern in _SPECIFIC:
        for index, line in enumerate(lines):
            if pattern.search(line):
                if line.endswith(":") and index + 1 < len(lines):  # the reason is on the next line
                    line = f"{line} {lines[index + 1]}"
                best.setdefault(line)
            if len(best) >= MOST_LINES:
                return list(best)
    return list(best) or [line for line in lines if len(line.split()) >= 5][-2:] or lines[: len(lines) == 1]


def normalise(line: str) -> ErrorLine:
    """Take paths, numbers, times, addresses and names out of the words of a line."""
    names: dict[str, None] = {}
    line = _SHELL.sub("", _TIME.sub(" ", _HEX.sub(" ", _URL.sub(" <url> ", _REMOTE.sub(" <url> ", line)))))

    def quoted(match: re.Match[str]) -> str:
        text = next(group for group in match.groups() if group is not None)
        if _PATH.fullmatch(text) and not (text.count("/") == 1 and text.startswith("@")):
            names.update(dict.fromkeys(_file(text)))
            return " <path> "
        names.update(dict.fromkeys(f'"{name}' for name in _named(text)))
        return " <name> "

    def path(match: re.Match[str]) -> str:
        names.update(dict.fromkeys(_file(match[0])))
        return " <path> "

    line = _NUMBER.sub(" ", _PATH.sub(path, _QUOTED.sub(quoted, line)))
    words = []
    for token in _TOKEN.findall(line):
        if token[0] != "<" and _NAME.fullmatch(token) and not _KIND.search(token):
            names.setdefault(token.lower())
            token = "<name>"
        words.append(token.lower())
    return ErrorLine(" ".join(words)[:_LONGEST], frozenset(list(names)[:MOST_NAMES]))


def _named(text: str) -> Iterator[str]:
    """Yield a quoted text that is one name, or the names in a longer one."""
    text = _VERSION.sub("", text.strip()).strip()
    if 1 < len(text) <= 60 and not re.search(r"\s", text) and re.search(r"[^\W\d_]", text):
        yield text.lower()
        return
    for token in _TOKEN.findall(text):
        if len(token) > 2:
            yield token.lower()


def _file(path: str) -> Iterator[str]:
    """Yield the file name of a path without its folders, and the name of the test in it."""
    file, _, test = path.partition("::")
    if test:
        yield "/" + re.sub(r"\[.*", "", test.rpartition("::")[2]).lower()
    name = re.sub(r"[:(]\d.*$", "", file).replace("\\", "/").rstrip("/").rpartition("/")[2]
    if "." in name.strip(".") and not re.search(r"\d{3,}", name):
        yield f"/{name.lower()}"


def is_about(error: str, text: str) -> bool:
    """Return whether a text in somebody's own words is about this line of output.

    A code in both tells it, unless the text names something else. So do all names that the line quotes, together with
    one of its words. Else the text must say half of what the line says, where a name counts twice. That both say
    "no such" or name the same program tells nothing: another error says it too.
    """
    said = text.lower()
    quoted = _quoted_names(error)
    in_both = {name for name in quoted if _has_name(said, name.lower())}
    if _codes(error) & _codes(text) and (in_both or not quoted or not _quoted_names(text)):
        return True
    line = normalise(error)
    words = {token.lower() for token in _TOKEN.findall(text)}
    telling = set(line.words.split()) - _PLAIN - STOP_WORDS - _SAID_BY_ANY
    if telling & words and in_both == quoted and any(map(_NO_WORD.search, quoted)):
        return True
    names = {name.lstrip('"') for name in _strong(line)}
    shared = len(telling & words) + 2 * sum(
        name in (said if len(name) > _SHORT_NAME else words) for name in names
    )
    return shared > 0 and shared >= _HALF * (len(telling) + 2 * len(names))


def _codes(text: str) -> set[str]:
    return {re.sub(r"\W+", "", match[0]).lower() for match in _CODE.finditer(text)}


def _quoted_names(text: str) -> set[str]:
    """Return the names in quotes and the scoped packages of a text, without the commands that it says to run."""
    names = {
        next(group for group in match.groups() if group is not None)
        for match in _QUOTED.finditer(text)
        if not text[max(match.start() - 9, 0) : match.start()].lower().endswith(_TO_DO)
    }
    names.update(match[0] for match in _PACKAGE.finditer(text))
    return {name for name in names if re.search(r"[^\W\d_]", name) and not re.search(r"\s", name)}


def _has_name(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


@lru_cache(maxsize=512)
def head_of(command: str) -> str:
    heads = parse(command).heads if command.strip() else ()
    return heads[-1] if heads else ""


def similarity(one: Failure, other: Failure) -> float:
    """Return from 0 to 1 how similar the two most similar lines are; less specific lines count less."""
    best = max(
        _line_similarity(mine, theirs) * (1.0 - _LATER * (rank + other_rank))
        for rank, mine in enumerate(one.lines)
        for other_rank, theirs in enumerate(other.lines)
    )
    if not (one.head and other.head) or one.head == other.head:
        return best
    return best * (0.96 if one.head.partition(" ")[0] == other.head.partition(" ")[0] else 0.85)


_LATER = 0.05  # lost per rank down the list
_PLAIN = frozenset(
    "error fatal failed <name> <path> <url> in at of the a an is to e assert assertionerror err exception fail for and or"
    " not be that it".split()
)


def _line_similarity(one: ErrorLine, other: ErrorLine) -> float:
    """Return how similar two lines are: both their words and the names in them must agree."""
    a, b = set(one.words.split()), set(other.words.split())
    mine, theirs = _strong(one), _strong(other)
    a, mine = _with_plain_names(a, mine, theirs)
    b, theirs = _with_plain_names(b, theirs, mine)
    words = len(a & b) / len(a | b)
    if words < _MIN_SHARED:
        return 0.0
    if mine and theirs:
        shared = _weight(mine & theirs)
        same = 0.6 * shared / min(_weight(mine), _weight(theirs)) + 0.4 * shared / _weight(mine | theirs)
    elif mine or theirs:
        same = 0.4
    else:  # no names: many words must agree, or the file must be the same
        same = len((a & b) - _PLAIN) / 4 + (0.3 if one.names & other.names else 0.0)
    return words * (0.3 + 0.7 * min(same, 1.0))


def _with_plain_names(words: set[str], names: set[str], other_names: set[str]) -> tuple[set[str], set[str]]:
    """Take names that only the other line puts in quotes out of the words, as people write them without."""
    plain = {name for name in other_names - names if name.lstrip('"') in words}
    if not plain:
        return words, names
    return words - {name.lstrip('"') for name in plain} | {"<name>"}, names | plain


_SAID_BY_ANY = frozenset("such cannot could named missing found unable unknown invalid".split())
# A code of one error. ENOENT, EACCES and their like are none: they say no more than "no such file".
_CODE = re.compile(
    r"\bSQLSTATE[\s:=(\[]{0,3}[0-9A-Z]{5}\b"
    r"|\b(?!(?:SHA|AES|RSA|ISO|RFC|UTF|CP|ES|HTTP)-?\d)[A-Z]{1,6}-?\d{3,6}\b"
    r"|\bERR_[A-Z][A-Z_]{3,}\b"
    r"|\bE(?:ADDRINUSE|ADDRNOTAVAIL|AI_AGAIN|BADENGINE|CONNREFUSED|CONNRESET|INTEGRITY|LOOP|MFILE|NFILE|NOMEM|NOSPC|OTP"
    r"|PIPE|RESOLVE|ROFS|TIMEDOUT|XDEV)\b"
)
_PACKAGE = re.compile(r"(?<![\w./-])@[\w-]{1,80}/\w[\w-]{0,80}")
_TO_DO = ("run ", "start ", "use ", "add ", "set ", "call ", "install ")
_NO_WORD = re.compile(r"[\W\d_]|[a-z][A-Z]")  # a name that nobody writes by chance
_HALF = 0.5
_SHORT_NAME = 3  # characters; a longer one may be a part of a word, as in `shop.cart`
_MIN_SHARED = 0.4  # share of the words that two lines must have in common


def _strong(line: ErrorLine) -> set[str]:
    return {name for name in line.names if name[0] != "/"}


def _weight(names: set[str]) -> float:
    return sum(2.0 if name[0] == '"' else 1.0 for name in names)


def as_data(failure: Failure) -> dict[str, Any]:
    return {"head": failure.head, "lines": [[line.words, sorted(line.names)] for line in failure.lines]}


def failure_from(data: Mapping[str, Any]) -> Failure:
    lines = tuple(ErrorLine(words, frozenset(names)) for words, names in data["lines"])
    return Failure(str(data["head"]), lines)
