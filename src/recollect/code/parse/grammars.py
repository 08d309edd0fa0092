"""Grammars and queries, loaded when first needed and once per process."""

from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language, Query

from recollect.code.parse.languages import LANGUAGES

_QUERIES = Path(__file__).parent / "queries"


@cache
def grammar(language: str) -> Language:
    row = LANGUAGES[language]
    return Language(getattr(import_module(row.grammar), row.grammar_function)())


@cache
def query(language: str, name: str) -> Query:
    """What `queries/<language>/<name>.scm` asks of a tree."""
    return Query(grammar(language), (_QUERIES / language / f"{name}.scm").read_text("utf-8"))
