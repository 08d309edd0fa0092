"""Add to a new memory: a summary, tags, the parts of a procedure."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from recollect.model import Draft, Procedure
from recollect.text import tokens

SUMMARY_TOKENS = (25, 35)
_INFERRED_TAGS = 4  # more would make every memory a neighbour of every other

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(\[])|\n+")

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".tsx": "typescript", ".go": "go", ".rs": "rust", ".java": "java", ".kt": "kotlin",
    ".rb": "ruby", ".php": "php", ".cs": "csharp", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
    ".hpp": "cpp", ".swift": "swift", ".scala": "scala", ".sh": "shell", ".bash": "shell", ".sql": "sql",
    ".tf": "terraform", ".css": "css", ".scss": "css", ".html": "html", ".vue": "vue", ".md": "docs",
    ".yml": "yaml", ".yaml": "yaml", ".toml": "toml", ".lua": "lua", ".ex": "elixir", ".exs": "elixir",
}  # fmt: skip

# Names that say what a memory is about, in any sentence.
ENTITIES = frozenset(
    """python javascript typescript rust java kotlin ruby php swift terraform docker kubernetes helm postgres
    postgresql mysql sqlite redis mongodb kafka rabbitmq elasticsearch graphql grpc oauth jwt auth django flask
    fastapi rails react vue angular svelte nextjs vite webpack npm pnpm yarn pip poetry uv cargo
    gradle maven pytest jest vitest cypress playwright eslint prettier ruff mypy git github gitlab ci aws gcp
    azure s3 lambda nginx linux macos windows testing deploy migration migrations cache logging security""".split()
)


def normal_tag(tag: str) -> str:
    """Return `tag` in lower case with hyphens, without "#"."""
    if "[REDACTED" in tag:
        return tag.strip()  # the mark must stay recognisable
    return re.sub(r"[\s_]+", "-", tag.strip().lstrip("#").lower())


def infer_tags(content: str, file_paths: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given tags, and a few that the files and the words suggest."""
    tags = dict.fromkeys(normal_tag(tag) for tag in given)
    suggested = [LANGUAGES.get(PurePosixPath(path).suffix.lower(), "") for path in file_paths]
    suggested += [word for word in re.findall(r"[a-z0-9+#]+", content.lower()) if word in ENTITIES]
    new = [tag for tag in dict.fromkeys(suggested) if tag and tag not in tags]
    return tuple(tag for tag in (*tags, *new[:_INFERRED_TAGS]) if tag)


def embedded_text(content: str, tags: Sequence[str], file_paths: Sequence[str]) -> str:
    """Return the text to embed: the content, and what its tags and files add (docs/benchmarks.md)."""
    lowered = content.lower()
    return " ".join([content, *(tag for tag in tags if tag not in lowered), *file_paths])


def embedded_situations(when_needed: Sequence[str]) -> str:
    """Return the text to embed for the situations in which a memory is needed: all in one (docs/benchmarks.md)."""
    return " . ".join(when_needed)


def summarise(content: str) -> str:
    """Return 25 to 35 tokens: all of a short text, else its first sentences, else its beginning.

    Most statements are so short that an estimate shows it: loading the tokenizer takes half as long as the rest of `remember`.
    """
    least, most = SUMMARY_TOKENS
    text = " ".join(content.split())
    if tokens.fits_easily(text, most) or tokens.fits(text, most):
        return text
    summary = ""
    for sentence in _SENTENCE.split(content):
        longer = " ".join(f"{summary} {sentence}".split())
        if not tokens.fits(longer, most):
            break
        summary = longer
    return summary if summary and tokens.count(summary) >= least else tokens.clip(text, most)


def procedure_of(draft: Draft) -> Procedure | None:
    """Return the procedure of a draft, or None if it has no steps."""
    if not (draft.steps or draft.prerequisites or draft.warnings):
        return None
    return Procedure(
        name=draft.content.splitlines()[0][:120],
        trigger=draft.triggers[0] if draft.triggers else "",
        steps=draft.steps,
        prerequisites=draft.prerequisites,
        warnings=draft.warnings,
    )
