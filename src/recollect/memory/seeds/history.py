"""Seeds from git history: files that change together, and changes that were reverted for a reason."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path, PurePosixPath

from recollect.context.git import Repository
from recollect.frozen import frozen
from recollect.memory.seeds.seed import Seed
from recollect.text.sentences import clip, sentences

SUPPORT = 6  # commits in which two files changed together
CONFIDENCE = 0.6  # of the commits in which one of them changed
OF_CODE, SURE_OF_CODE = 8, 0.65  # the same for two files of code, which a compiler or a test would ask for
USUALLY = 0.8  # of the commits with the rarer file, if the other one changes often without it
HUB = 0.15  # of all commits: that a file changes with one that changes so often says nothing
_FEWEST = 40  # commits from which on a file can be such a hub
_MOST_COMMITS = 2000
_MOST_FILES = 10  # of a commit: a larger one says nothing about any two of them
_MOST_PAIRS = 4
_MOST_REVERTS = 3
LONGEST_AGO = (
    3 * 365 * 24 * 3600
)  # seconds before the newest commit: what has not happened since may no longer be true
_SECONDS = 20
_LOG = (
    "log",
    "--no-merges",
    "--no-renames",
    "--no-show-signature",
    "--name-only",
    "--format=%x1e%h%x1f%s%x1f%b%x1f%ct%x1f",
)

_REVERT = re.compile(r'^(?:Revert|Reapply):?\s+"(.+)"$')
_NUMBER = re.compile(r"\s{0,9}\(?#\d{1,12}\)?$")
_TRAILER = re.compile(
    r"^(?:[\w-]+-by|cc|refs?|fixes|closes|see also|change-id|pull-request|co-authored\S*)\b.*$|^.*https?://\S+$",
    re.I | re.M,
)
_DULL = re.compile(
    r"(?:^|/)releases?/|(?:^|/)(?:change(?:s|log)|history|news|release[-_ ]?notes|readme|authors|contributors|thanks|\.mailmap|citation|[\w-]*version|__version__|__about__)\b"
    r"|\.(?:lock|po|pot|mo|snap|svg|png|jar|bin|dump|min\.js)$|(?:^|/)(?:gradlew|mvnw)|(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum|uv\.lock)$|requirements[\w./-]{0,80}\.txt$",
    re.I,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__)/|(?:^|/)(?:test_|conftest)|_test_[^/]*$|[._-](?:test|spec)s?\.\w+$|Tests?\.(?:php|java|kt|cs|swift|scala)$",
    re.I,
)
_EXAMPLE = re.compile(r"(?:^|/)_?(?:examples?|samples?|demos?|benchmarks?|bench)/", re.I)
# Reasons that say nothing about the change itself: it came at the wrong time, or to the wrong place.
_NO_REASON = re.compile(
    r"accident|by mistake|mistaken|wrong branch|not ready|too early|premature|prematurely|upstream tracking|pushed to|for now"
    r"|until|temporar|release|merge[ds]?\b|this reverts|\bsee\b",
    re.I,
)
_NO_CHANGE = re.compile(r"merge |bump|update|upgrade|release|version", re.I)  # subjects that name no idea
_RELEASE = re.compile(  # which changes files for the version alone
    r"(?:bump|release|prepare|version)\b(?!.*\bdependenc)|v?\d+\.\d+", re.I
)
_TEXTS = ("", ".md", ".rst", ".txt", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".json", ".html", ".css")


@frozen
class Commit:
    name: str
    subject: str
    body: str
    files: tuple[str, ...]
    at: int = 0  # seconds since 1970


def history_seeds(root: Path) -> Iterator[Seed]:
    """Yield nothing if there is no git, or no history."""
    commits = read_commits(root)
    here = [
        replace(each, files=tuple(path for path in each.files if (root / path).is_file())) for each in commits
    ]
    yield from _together(commits, {path for each in here for path in each.files})
    yield from _reverted(here)


def read_commits(root: Path) -> list[Commit]:
    """Return the newest commits first, without merges; none if git fails."""
    repository = Repository.containing(root.resolve())
    head = repository.head() if repository else None
    if repository is None or head is None:
        return []
    within = root.resolve().relative_to(repository.root).as_posix()
    relative = () if within == "." else (f"--relative={within}/",)
    output = repository.output(*_LOG, *relative, f"-n{_MOST_COMMITS}", head, "--", within, seconds=_SECONDS)
    found = []
    for entry in (output or b"").decode("utf-8", "replace").split("\x1e")[1:]:
        name, subject, body, at, files = entry.split("\x1f", 4)
        paths = tuple(line for line in files.splitlines() if line)
        found.append(Commit(name, subject, body, paths, int(at)))
    return found


def _together(commits: Iterable[Commit], there: Collection[str]) -> Iterator[Seed]:
    alone: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    newest_of: dict[tuple[str, str], int] = {}
    total = newest = 0
    for commit in commits:
        total += 1
        newest = max(newest, commit.at)
        files = sorted(path for path in commit.files if not _DULL.search(path) and not _TEST.search(path))
        if len(commit.files) <= _MOST_FILES and not _RELEASE.match(commit.subject):
            alone.update(files)
            pairs_here = list(combinations(files, 2))
            both.update(pairs_here)
            for pair in pairs_here:
                newest_of.setdefault(pair, commit.at)  # the newest commits come first
    pairs = [
        (count / min(alone[one], alone[other]), count, one, other)
        for (one, other), count in both.items()
        if count >= SUPPORT
        and one in there
        and other in there
        and count >= CONFIDENCE * min(alone[one], alone[other])
        and (_is_code(one) or _is_code(other))
        and _stem(one) != _stem(other)
        and (
            not (_is_code(one) and _is_code(other))
            or (count >= OF_CODE and count / min(alone[one], alone[other]) >= SURE_OF_CODE)
        )
        and not (total >= _FEWEST and max(alone[one], alone[other]) > HUB * total)
        and not (_EXAMPLE.search(one) or _EXAMPLE.search(other))
        and newest_of[one, other] >= newest - LONGEST_AGO
    ]
    # A text or a setting that must follow the code is forgotten more often than code that the compiler asks for.
    pairs.sort(key=lambda pair: (_is_code(pair[2]) and _is_code(pair[3]), -pair[0] * pair[1], pair[2:]))
    for sure, count, one, other in pairs[:_MOST_PAIRS]:
        rarer, commoner = (one, other) if alone[one] <= alone[other] else (other, one)
        mixed = not (_is_code(one) and _is_code(other))
        if count >= CONFIDENCE * alone[commoner]:
            content = f"`{one}` and `{other}` change together."
        elif mixed and sure >= USUALLY:
            content = f"When `{rarer}` changes, `{commoner}` usually does too."
        else:
            continue
        source = f"{count} of {alone[rarer]} commits"
        yield Seed(
            content, "dependency_relation", source, round(0.45 + 0.1 * sure + 0.15 * mixed, 2), (one, other)
        )


def _is_code(path: str) -> bool:
    """Return whether it is not a text, a test or a setting."""
    parts = PurePosixPath(path)
    hidden = any(part.startswith(".") or part in ("doc", "docs") for part in parts.parts)
    return parts.suffix not in _TEXTS and not hidden and not _TEST.search(path)


def _stem(path: str) -> str:
    """Return the same for a file and its test, header or style sheet: that these change together is obvious."""
    return re.sub(
        r"^tests?[_-]|[_.-](?:tests?|spec)$", "", PurePosixPath(path).name.split(".")[0].lower()
    ).strip("_")


def _reverted(commits: Sequence[Commit]) -> Iterator[Seed]:
    again = {
        match[1]
        for commit in commits
        if (match := re.match(r'^(?:Reapply|Revert "Revert) "(.+?)(?<!")"+$', commit.subject))
    }
    newest = max((commit.at for commit in commits), default=0)
    found = 0
    for commit in commits:
        match = _REVERT.match(commit.subject)
        if (
            match is None
            or match[1].startswith(("Revert", "Reapply"))
            or match[1] in again
            or not _about(commit)
            or _NO_CHANGE.match(match[1])
            or commit.at < newest - LONGEST_AGO
        ):
            continue
        if found == _MOST_REVERTS:
            return
        why = next(iter(sentences(_prose(re.sub(r"This reverts commit \w+[^.]*\.?", "", commit.body)))), "")
        if len(why.split()) < 5 or _NO_REASON.search(why) or why.rstrip().endswith(":"):
            continue
        found += 1
        subject = clip(_NUMBER.sub("", match[1]).rstrip("."), 150)
        content = f'"{subject}" was tried and reverted: {clip(why, 200).rstrip(".")}.'
        yield Seed(content, "gotcha", f"commit {commit.name}", 0.6, _about(commit))


def _prose(body: str) -> str:
    """Return the paragraphs, each on one line, without trailers and lists."""
    paragraphs = re.split(r"\n\s*\n", _TRAILER.sub("", body))
    return "\n".join(
        " ".join(each.split())
        for each in paragraphs
        if not each.lstrip().startswith(("*", "-", "#", ">", " "))
    )


def _about(commit: Commit) -> tuple[str, ...]:
    """Return the code files it changed."""
    return tuple(filter(_is_code, commit.files))[:3]
