"""Seeds from instructions for agents: each bullet and each imperative sentence is a statement."""

import re
from collections.abc import Iterator
from pathlib import Path

from recollect.code.files import list_files
from recollect.errors import Refused
from recollect.memory.seeds.seed import ProjectFile, Seed, read_first
from recollect.text import block
from recollect.text.lookalikes import has_mark
from recollect.text.sentences import clip, sentences, statement

FILES = (
    "AGENTS.md", "AGENT.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", "QWEN.md", "WARP.md", "CONVENTIONS.md",
    ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".rules", ".junie/guidelines.md",
    ".github/copilot-instructions.md", "CRUSH.md", "replit.md", ".idx/airules.md", ".ai/guidelines.md",
)  # fmt: skip
FOLDERS = (
    ".cursor/rules", ".windsurf/rules", ".clinerules", ".roo/rules", ".github/instructions", ".continue/rules",
    ".kiro/steering", ".amazonq/rules", ".trae/rules", ".augment/rules", ".claude/rules",
    ".aiassistant/rules", ".openhands/microagents",
)  # fmt: skip
_IN_FOLDERS = frozenset(
    {"AGENTS.md", "CLAUDE.md", "GEMINI.md"}
)  # of a part of the project, where hosts read them
_MOST_FILES = 30
_LONGEST = 400  # characters of a statement
_FEWEST_WORDS = 3  # of a statement; a shorter one is combined with its heading

_HEADING = re.compile(r"#{1,6}\s++(.*?)(?<![\s#])[\s#]*+$")
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_LINK = re.compile(r"!?\[([^\]]{0,300})\](?:\([^)]{0,500}\)|\[[^\]]{1,100}\](?!\())")
_ORDER = re.compile(
    r"""(?:(?:always|never|please|only|do\s+not|don't|you\s+(?:must|should|may\s+not)|we\s+(?:always|never|use|prefer)
        |when(?:ever)?\s|if\s|before\s|after\s|all\s|every\s|each\s|no\s|code\s+(?:must|should)
        |add|annotate|ask|avoid|build|call|check|commit|create|declare|define|do|document|ensure|extract|favou?r|follow
        |format|generate|group|handle|import|include|install|keep|leave|limit|log|maintain|make|mark|minimi[sz]e|mock|name
        |order|place|prefer|prefix|preserve|put|raise|rebase|remove|rename|respect|return|run|separate|sort|start|stick|store
        |structure|test|treat|update|use|validate|verify|wrap|write)\b(?!\s?:))""",
    re.VERBOSE | re.IGNORECASE,
)
_KINDS = (
    (
        "negative",
        r"^(?:never|don't|do not|avoid|no )\b|(?<!that )(?<!which )\b(?:must not|mustn't|should not|shouldn't|is forbidden|not allowed)\b",
    ),
    ("decision", r"\b(?:we (?:decided|chose|settled on)|decision)\b"),
    (
        "gotcha",
        r"\b(?:careful|beware|watch out|gotcha|caveat|pitfall|known issue|note that|heads[ -]up|surprising)\b",
    ),
    ("architecture", r"^`?[\w.-]+/[\w./*-]*`?\s*(?:[:(]|->|[-–—→]|\b(?:is|are|has|contains|holds)\b)"),
    ("procedure", r"^`[^`]+`\s*(?:[:#]|->|[-–—→])"),
)
_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|after|before|for|to)\b.{0,150}:$", re.I
)  # of the items below it
_OCCASION = re.compile(  # of the steps below such a heading
    r"(?:adding|changing|creating|debugging|deploying|fixing|implementing|releasing|removing|updating|upgrading) (?:an?|the|new|bugs?)\b",
    re.I,
)
_IF = re.compile(r"(?:if|when|whenever|while|unless|during)\b", re.I)
_ONLY_IF = re.compile(r"\bonly (?:when|if|for)\b", re.I)
_FOR = re.compile(r"for\b", re.I)
_HOLDS_ANYWAY = re.compile(r"(?:always|never|all|every|do\s+not|don't)\b", re.I)
_REVIEW = re.compile(  # of code; a shop has reviews as well
    r"\b(?:code|pr|pull request|peer)[ -]reviews?\b|^review(?:\W*+$|(?:ing|ers?)\b)"
    r"|^reviews? (?:and (?:approv\w+|merge|test)|before|checklist|code|comments?|criteria|etiquette|expectations|feedback|focus|format|guid\w+|instructions"
    r"|of (?:code|changes|prs?|pull)|polic(?:y|ies)|practices?|principles|priorities|process|prs?|pull|requests?|requirements|rules"
    r"|standards?|steps|style|tone|voice|workflow|all|any|each|every|the|your)\b",
    re.I,
)
_OFFER = re.compile(  # before a list of what the project is for, in words that sound like orders
    r"\b(?:jobs?|features?|goals?|purposes?|responsibilit\w+|capabilit\w+|use cases?|helps?|lets|allows?|supports?|provides?|enables?|offers?|can)\b.{0,150}:$",
    re.I,
)
_REFERS_BACK = re.compile(
    r"(?:(?:(?:do not|don't|never|always|please) )?[a-z-]+ (?:it|them)|(?:all|none) (?:of (?:them|these)|(?:two|three|four|five) (?:are|were|must|should|have|run|need))|(?:both|neither) (?:are|is|were|must|should|have|has|run|need|of (?:them|these))|that|these|those|it|they|otherwise|then|also|however|this(?! (?:project|repo\w*|codebase|package|library|crate|module|app\w*)))\b",
    re.I,
)
_ELSEWHERE = re.compile(  # to a text that is not shown with it
    r"\b(?:documented|described|listed|mentioned|defined) (?:there|above|below|in the (?:guidelines|docs|document\w*))\b|\bdone so\b|\bthe (?:above|following)\b"
    r"|\b(?:that|this|these|those) (?:versions?|commands?|options?|settings?|values?|steps?|lists?|cases?|ways?|tools?|scripts?|jobs?|checks?|flags?|particular|one|ones)\b|\bcertain\b|\bthe entry\b|\bthe (?:\w+ )?\w+ (?:above|below)(?! (?:`|the|\d|(?-i:[A-Z])))",
    re.I,
)
_LEAD = re.compile(r"\b(?:you|when|if|it|them|these|following|such)\b.{0,200}:$", re.I)
_RULE = re.compile(  # wherever it stands in a sentence
    r"\b(?:(?:is|are) (?:not (?:allowed|permitted)|forbidden|prohibited)|may not|must not)\b|(?-i:\bMUST\b)",
    re.I,
)
_LABEL = re.compile(r"^\(?(?:important|warning|caution|critical|note)\s?[:!]\s+(?=\S)", re.I)
_NAMES_SOMETHING = re.compile(
    r"`[^`]+`|\w/\w|\b\d+\b|[a-z]_[a-z]|[a-z][A-Z]"
)  # code, a path, a number, a name
_DULL = re.compile(
    r"^(?:see|read|refer|check out|visit|todo|tbd|note|example|e\.g)\b.{0,60}$|best practices?|clean code"
    r"|step by step|self-document|table of contents|be (?:helpful|concise|polite)|you are an? |^focus on\b|\b(?:generic|basic)\b.{0,40}(?:advice|knowledge|tips)|confirmation message"
    r"|^when reviewing\b|^follow (?:the )?existing [\w ]{0,40}\b(?:patterns|conventions|style)\b|\blines? \d+ ?[-–] ?\d|instructions here\b|\bconflicts?\b.{0,60}\bwins\b",
    re.I,
)


def instruction_seeds(root: Path) -> Iterator[Seed]:
    seen: set[Path] = set()
    for found in _pages(root):
        file = (root / found.path).resolve()
        if file not in seen:  # one is often a link to another
            seen.add(file)
            where = f"In {found.path.rpartition('/')[0]}: " if _is_of_a_part(found.path) else ""
            for line, text in statements(_own(found.text)):
                if not where and refers_to_heading(text):
                    continue
                sure = 0.95 if _NAMES_SOMETHING.search(text) else 0.9  # the rest holds for many projects
                yield Seed(where + text, kind_of_words(text), found.at(line), sure)


_HERE = re.compile(r"(?<!from )\bhere\b(?![-'’])|`[^`]*`", re.I)


def refers_to_heading(text: str) -> bool:
    """Return whether a statement speaks of "here": the heading above it says where that is."""
    return any(found[0][0] != "`" for found in _HERE.finditer(text))


def is_order(text: str) -> bool:
    """Return whether a statement begins like an order."""
    return bool(_ORDER.match(text))


def kind_of_words(text: str) -> str:
    return next((kind for kind, pattern in _KINDS if re.search(pattern, text, re.I)), "convention")


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield bullets and imperative sentences with their lines, from Markdown or plain text."""
    heading = condition = lead = ""
    is_offer = False
    for line, is_bullet, part in _parts(text):
        if not is_bullet and (match := _HEADING.fullmatch(part)):
            heading, condition, lead, is_offer = _plain(match[1]), "", "", False
            continue
        plain = _plain(part)
        if _REVIEW.search(heading):
            continue  # how to judge the work of others
        if is_bullet:
            short = len(plain.split()) <= _FEWEST_WORDS and heading and plain
            is_step = _OCCASION.match(heading) and plain
            full = (
                f"{condition} {plain}" if condition else f"{heading}: {plain}" if short or is_step else plain
            )
            is_part = (
                bool(lead) and not condition and not _ORDER.match(plain)
            )  # of a sentence that begins above
            is_dull = _DULL.search(plain) or _REFERS_BACK.match(plain) or _ELSEWHERE.search(plain)
            texts = [] if is_offer or is_part or is_dull else [full]
            lead = plain if _LEAD.search(plain) else lead
        else:
            lead = plain if _LEAD.search(plain) else ""
            is_offer = bool(_OFFER.search(plain)) and not _ORDER.match(sentences(plain)[-1])
            condition = plain if _CONDITION.match(plain) else ""
            texts = [
                one
                for one in _unconditional([_LABEL.sub("", each, count=1) for each in sentences(plain)])
                if (_ORDER.match(one) or _RULE.search(one))
                and not _REFERS_BACK.match(one)
                and not _DULL.search(one)
                and not _ELSEWHERE.search(one)
            ]
        for sentence in texts:
            if _is_telling(sentence) and (whole := _whole(sentence)):
                yield line, statement(clip(whole, _LONGEST))


def _unconditional(texts: list[str]) -> list[str]:
    """Return the sentences of a paragraph up to one with a condition, which may hold for those after it as well.

    What is said "for" something may hold up to a sentence that says that it always does.
    """
    kept: list[str] = []
    is_limited = False
    for text in texts:
        is_limited = bool(_FOR.match(text)) or (is_limited and not _HOLDS_ANYWAY.match(text))
        if not is_limited:
            kept.append(text)
        if _IF.match(text) or _ONLY_IF.search(text):
            break
    return kept


def _whole(text: str) -> str:
    """Return as many of its sentences as may be kept; "" if the first is too long."""
    kept = ""
    for sentence in sentences(text) if len(text) > _LONGEST else [text]:
        if len(kept) + len(sentence) >= _LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept


def _is_telling(text: str) -> bool:
    words = re.findall(r"\w+", text)
    return len(words) >= _FEWEST_WORDS and not text.endswith((":", "?")) and not _UNFINISHED.search(text)


_UNFINISHED = re.compile(
    r"\b(?:and|or|then|to|with|by|for|in|of|the|a|an|using|like|such as|as)\W{0,3}$", re.I
)


def _parts(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yield headings, bullets with their continuation, and paragraphs; leaves out code, tables, quotes and comments."""
    line, is_bullet, held = 0, False, list[str]()
    fenced = False
    for number, row in enumerate(text.splitlines(), start=1):
        if row.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            row = ""
        bullet = _BULLET.match(row)
        stripped = row.strip()
        ends = fenced or not stripped or bullet or stripped[0] in "#|><"
        if ends and held:
            yield line, is_bullet, " ".join(held)
            held = []
        if fenced or not stripped or stripped[0] in "|><":
            continue
        if not held:
            line, is_bullet = number, bullet is not None
        held.append(bullet[2].strip() if bullet else stripped)
        if stripped[0] == "#" and not bullet:
            yield line, False, stripped
            held = []
    if held:
        yield line, is_bullet, " ".join(held)


def _plain(text: str) -> str:
    """Remove links and emphasis, but nothing inside code."""
    text = _LINK.sub(r"\1", text)
    code = re.findall(r"`[^`]+`", text)
    text = re.sub(r"`[^`]+`", "`\0`", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.{1,400}?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)(.{1,400}?)(?<=\S)\*(?![\w*])", r"\1", text)
    found = iter(code)
    return " ".join(re.sub("`\0`", lambda _: next(found), text).split())


def _pages(root: Path) -> Iterator[ProjectFile]:
    names = [*FILES]
    for folder in FOLDERS:
        below = root / folder
        if below.is_dir():
            files = sorted(
                each for each in below.rglob("*") if each.suffix in (".md", ".mdc") and each.is_file()
            )
            names += [each.relative_to(root).as_posix() for each in files[:_MOST_FILES]]
    for name in (*names, *_parts_of(root)):
        if found := read_first(root, name):
            yield found


def _parts_of(root: Path) -> list[str]:
    """Return instruction files in sub-folders, those of the larger parts first."""
    found = filter(_is_of_a_part, list_files(root).files)
    return sorted(found, key=lambda path: (path.count("/"), path))[:_MOST_FILES]


def _is_of_a_part(path: str) -> bool:
    return path not in FILES and path.rpartition("/")[2] in _IN_FOLDERS


def _own(text: str) -> str:
    """Remove our own block, injected text, comments and front matter; each line keeps its number."""
    try:
        body = block.body(text)
    except Refused:
        return ""
    if body is not None:
        start = text.index(block.BEGIN)
        end = text.index(block.END)
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end + len(block.END) :]
    if has_mark(text):
        return ""
    if match := re.match(r"---\n.*?\n---\n", text, re.DOTALL):
        text = "\n" * match[0].count("\n") + text[match.end() :]
    return re.sub(
        r"<!--(?:(?!<!--).)*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL
    )
