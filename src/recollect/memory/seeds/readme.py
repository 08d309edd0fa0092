"""Seeds from README and CONTRIBUTING: how to set the project up and test it, its conventions and pitfalls."""

import re
from collections.abc import Iterator
from pathlib import Path

from recollect.code.modules.commands import slot_of
from recollect.memory.seeds.instructions import kind_of_words, refers_to_heading, statements
from recollect.memory.seeds.seed import ProjectFile, Seed, listed, read_first

_READMES = ("README.md", "README.rst", "README", "README.txt", "Readme.md", "readme.md")
_GUIDES = (
    "CONTRIBUTING.md",
    "CONTRIBUTING.rst",
    "contributing.md",
    ".github/CONTRIBUTING.md",
    ".github/contributing.md",
    "docs/CONTRIBUTING.md",
    "docs/contributing.md",
    "DEVELOPMENT.md",
    "HACKING.md",
)
TESTS_ARE_RUN = "The tests are run with"
_SECTIONS = {
    "For development it is set up with": r"\b(?:develop\w*|contribut\w+|hack\w+|local(?:ly)?)\b",
    TESTS_ARE_RUN: r"\b(?:tests?|testing|running the tests?)\b",
}
_HEADING = re.compile(r"^#{1,6}\s+(.*)|^(.+)\n(?:={3,}|-{3,}|~{3,})$", re.M)
_FENCE = re.compile(
    r"```(?:ba|z)?(?:sh|shell|console|shell-session)?\n(.*?)```|::\n\n((?:[ \t][^\n]*+\n|\n|(?!))++)",
    re.DOTALL,
)
_COMMAND = re.compile(
    r"\s*(?:[$>%]\s+)?((?:pip3?|uv|poetry|pdm|hatch|pipenv|tox|nox|pytest|python3?|npm|npx|pnpm|yarn|bun|make|just|task|cargo|go|mvn|\./\w+|gradle|bundle|rake|rails|composer|php|cmake|ctest|meson|ninja|docker|script/\w+|scripts/\w+)\b[^\n]*)"
)
_SETS_UP = re.compile(
    r"\b(?:install|sync|set-?up|bootstrap|init|venv|virtualenv|restore|develop|create|ci|deps|dependencies|up|env)\b",
    re.I,
)
_FOR_USERS = re.compile(
    r"(?:cargo|go) install\b|(?:npm|pnpm|yarn|bun)\b.*\s(?:-g|--global)\b"
)  # of the program
_MOST_COMMANDS = 4
_MOST_RULES = 6  # of one file: most of it is about conduct
_ORDERS = re.compile(
    r"^(?:add|always|never|avoid|don't|do not|no |use|run|write|keep|follow|update|prefer|put|name|place)\b"
    r"|\b(?:must|never|always|should(?: not|n't)?|required|do not|don't|cannot|instead of|only)\b",
    re.I,
)
_NAMES_SOMETHING = re.compile(
    r"`[^`]+`|\b[\w-]+\.(?:md|rst|py|js|ts|toml|ya?ml|json|go|rs|rb)\b|\b\d+\b|\b[a-z]+_[a-z_]+\b"
    r"|\b(?:CHANGELOG|CHANGES|NEWS|HISTORY|README)\b|\b(?:AI|LLMs?)\b"
)
_RULED = re.compile(
    r"convention|style|coding|guideline|standard|test|lint|format|set.?up|develop|pitfall|gotcha|caveat|troubleshoot"
    r"|known issue|architecture|structure|rules|changelog|commit|documentation|contribut|code\b|hacking|working",
    re.I,
)
_RULED_README = re.compile(
    r"convention|code style|coding|guideline|test|develop|pitfall|gotcha|caveat|contribut|hacking", re.I
)
_OTHERS = re.compile(
    r"report|issue|bug|conduct|secur|licen[cs]e|release|maintain|backport|triage|support|sponsor|translat|question|feature"
    r"|communit|deprecat|stale|merge|review|plugin|getting help|install\b|usage|example|acknowledg|first",
    re.I,
)
# About people and pull requests rather than code, or true of every project.
_GENERAL = re.compile(
    r"pull request|\bPRs?\b|\bissues?\b|\bfork|new branch|your branch|upstream|origin/|git (?:clone|checkout|push|remote|add|commit)"
    r"|https?://|mailing|discord|slack|\blabel|sign(?:ed)?[ -]off|maintainers?|reviewers?|welcome|thank|please (?:open|file)|e\.g\.$"
    r"|\bCLA\b|contributor licen|files changed|we (?:suggest|recommend)|you prefer|leave blank"
    r"|you (?:can|may|might|could)|if you (?:want|like|wish)|\bwe(?:'ll| will)\b|AUTHORS",
    re.I,
)
# To a sentence before it, which is not shown with it.
_REFERS_BACK = re.compile(
    r"^(?:for example|for instance|this|that|these|those|it|they|otherwise|then|also|however|but|and|so|in (?:this|that) case)\b"
    r"|\b(?:want|do|like|need|prefer|avoid|fix|see|change|doing|like) (?:this|that|it|these|those)\b|\b(?:above|below|following)\b",
    re.I,
)

_BARE_COMMAND = re.compile(
    r"(?:please |just |simply |now )?(?:run|use|execute|try|type|call) `[^`]*`(?: \([^)]*\)+)?[.:!)]*", re.I
)  # the sentence before says when


def readme_seeds(root: Path) -> Iterator[Seed]:
    """Yield commands and rules of the README's and the guide's sections about conventions, set-up, tests and pitfalls."""
    for found in (read_first(root, *_READMES), read_first(root, *_GUIDES)):
        if found is None:
            continue
        text = _as_markdown(found.text)
        yield from _commands(ProjectFile(found.path, text))
        rules = list(_rules(text, _RULED if found.path in _GUIDES else _RULED_README))
        for line, rule in rules[:_MOST_RULES]:
            yield Seed(rule, kind_of_words(rule), found.at(line), 0.75)


def _rules(text: str, ruled: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the rules of sections about the work that name something: code, a file, a command or a number."""
    lines = text.splitlines()
    title, level, is_about_work = "", 0, ruled is _RULED
    titles: list[tuple[int, bool]] = []
    for number, line in enumerate(lines, 1):
        if match := _ATX.match(line):
            level, title = len(match[1]), match[2]
            is_about_work = bool(ruled.search(title)) and not _OTHERS.search(title)
            if not is_about_work and not _OTHERS.search(title):
                above = [known for depth, known in titles if depth < level]
                is_about_work = bool(above and above[-1])
            titles = [(depth, known) for depth, known in titles if depth < level] + [(level, is_about_work)]
            lines[number - 1] = ""  # a short item must not be combined with its heading
        elif not is_about_work or _STEP.match(line):
            lines[number - 1] = ""
    for line_number, rule in statements("\n".join(lines)):
        if (
            _ORDERS.search(re.sub(r"`[^`]*`", "`", rule))
            and _NAMES_SOMETHING.search(rule)
            and not _GENERAL.search(rule)
            and not _REFERS_BACK.search(rule)
            and not _BARE_COMMAND.fullmatch(rule)
            and not refers_to_heading(rule)
        ):
            yield line_number, rule


_ATX = re.compile(r"(#{1,6})\s+(.*)")
_STEP = re.compile(r"\s*\d{1,2}[.)]\s")  # of a procedure: it means nothing without the others
_UNDERLINED = re.compile(r"(?m)^(\S[^\n]{0,150})\n([=~^*+#-])\2{2,}[ \t]*$")


def _as_markdown(text: str) -> str:
    """Return reST with the headings, code and links of Markdown; each line keeps its number."""
    levels: dict[str, int] = {}

    def heading(match: re.Match[str]) -> str:
        level = levels.setdefault(match[2], len(levels) + 1)
        return f"{'#' * min(level, 6)} {match[1]}\n"

    text = _UNDERLINED.sub(heading, text)
    text = re.sub(r"``([^`\n]{1,200})``", r"`\1`", text)
    return re.sub(r"`([^`<\n]{1,200}?)\s{0,3}<[^>\n]{1,300}>`__?|:\w{1,20}:(?=`)", r"\1", text)


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
            for line in (fence[1] or fence[2] or "").splitlines()
            if (match := _COMMAND.match(line)) and len(line) <= 120
        ]
        if opening and opening == TESTS_ARE_RUN:
            lines = [line for line in lines if (known := slot_of(line)) and known[1] == "test"]
        elif opening:
            lines = [
                line
                for line in lines
                if slot_of(line) is None and _SETS_UP.search(line) and not _FOR_USERS.match(line)
            ]
        if opening and lines:
            line = found.text.count("\n", 0, head.start()) + 1
            commands = listed(f"`{each}`" for each in dict.fromkeys(lines[:_MOST_COMMANDS]))
            yield Seed(f"{opening} {commands}.", "convention", found.at(line), 0.6)
