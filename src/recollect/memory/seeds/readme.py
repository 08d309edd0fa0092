"""Seeds from README and CONTRIBUTING: what the project is, how to set it up, and how to test it."""

import re
from collections.abc import Iterator
from pathlib import Path

from recollect.memory.seeds.instructions import kind_of_words, statements
from recollect.memory.seeds.seed import ProjectFile, Seed, listed, read_first
from recollect.text.sentences import clip, sentences, statement

_READMES = ("README.md", "README.rst", "README", "README.txt", "Readme.md", "readme.md")
_GUIDES = (
    "CONTRIBUTING.md",
    "CONTRIBUTING.rst",
    ".github/CONTRIBUTING.md",
    "docs/CONTRIBUTING.md",
    "DEVELOPMENT.md",
    "HACKING.md",
)
_SECTIONS = {
    "For development it is set up with": r"\b(?:develop\w*|contribut\w+|hack\w+|from source|local(?:ly)?)\b",
    "The tests are run with": r"\b(?:tests?|testing|running the tests?)\b",
}
_HEADING = re.compile(r"^#{1,6}\s+(.*)|^(.+)\n(?:={3,}|-{3,}|~{3,})$", re.M)
_FENCE = re.compile(
    r"```(?:ba|z)?(?:sh|shell|console|shell-session)?\n(.*?)```|::\n\n((?:[ \t][^\n]*+\n|\n|(?!))++)",
    re.DOTALL,
)
_COMMAND = re.compile(
    r"\s*(?:[$>%]\s+)?((?:pip3?|uv|poetry|pdm|hatch|pipenv|tox|nox|pytest|python3?|npm|npx|pnpm|yarn|bun|make|just|task|cargo|go|mvn|\./\w+|gradle|bundle|rake|rails|composer|php|cmake|ctest|meson|ninja|docker|script/\w+|scripts/\w+)\b[^\n]*)"
)
_MOST_COMMANDS = 4
_MOST_RULES = 6  # of a guide: most of it is about conduct
_ORDERS = re.compile(
    r"^(?:add|always|never|avoid|don't|do not|use|run|write|keep|follow|update|prefer)\b|\b(?:must|never|always)\b",
    re.I,
)
_WORK = re.compile(
    r"\b(?:tests?|code|commits?|changelog|types?|typed|docstrings?|imports?|format\w*|lint\w*|branch\w*|releases?|migrations?)\b",
    re.I,
)
_MARKUP = re.compile(r"^\W*$|^\s*(?:\[?!\[|<|\.\. |:\w+:|=+$|-+$|[>|])")


def readme_seeds(root: Path) -> Iterator[Seed]:
    if found := read_first(root, *_READMES):
        yield from _purpose(found)
        yield from _commands(found)
    if guide := read_first(root, *_GUIDES):
        yield from _commands(guide)
        rules = [
            (line, text)
            for line, text in statements(guide.text)
            if _ORDERS.search(text) and _WORK.search(text)
        ]
        for line, text in rules[:_MOST_RULES]:
            yield Seed(text, kind_of_words(text), guide.at(line), 0.55)


def _purpose(found: ProjectFile) -> Iterator[Seed]:
    """Yield the first sentence of the first paragraph that is prose."""
    for paragraph in re.split(r"\n\s*\n", found.text[:6000]):
        lines = [line for line in paragraph.splitlines() if not _MARKUP.match(line)]
        if not lines or lines[0].startswith("#") or len(lines) < len(paragraph.strip().splitlines()) / 2:
            continue
        text = re.sub(
            r"!?\[([^\]]{0,300})\](?:\([^)]{0,500}\)|\[[^\]]{0,300}\])?|[*_]{2}|`_?_?", r"\1", " ".join(lines)
        )
        for sentence in sentences(text)[:1]:
            if len(sentence.split()) >= 5 and re.search(
                r"\b(?:is|are|provides?|lets|helps|makes|gives|runs|for|that)\b", sentence
            ):
                yield Seed(
                    statement(clip(sentence, 300)), "architecture", found.where(re.escape(lines[0])), 0.7
                )
        return


def _commands(found: ProjectFile) -> Iterator[Seed]:
    """Yield the commands in sections about development and tests."""
    bare = _FENCE.sub(lambda fence: fence[0].replace("#", " "), found.text)  # a comment is no heading
    heads = list(_HEADING.finditer(bare))
    ends = [*(head.start() for head in heads[1:]), len(found.text)]
    for head, end in zip(heads, ends, strict=False):
        title = (head[1] or head[2]).lower()
        section = found.text[head.end() : end]
        opening = next((opening for opening, pattern in _SECTIONS.items() if re.search(pattern, title)), None)
        lines = [
            match[1].split(" #")[0].strip()
            for fence in _FENCE.finditer(section)
            for line in (fence[1] or fence[2]).splitlines()
            if (match := _COMMAND.match(line)) and len(line) <= 120
        ]
        if opening and lines:
            line = found.text.count("\n", 0, head.start()) + 1
            commands = listed(f"`{each}`" for each in dict.fromkeys(lines[:_MOST_COMMANDS]))
            yield Seed(f"{opening} {commands}.", "convention", found.at(line), 0.65)
