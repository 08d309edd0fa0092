"""Grammars and queries, loaded when first needed and once per process."""

from functools import cache
from importlib import import_module
from importlib.resources import files

from tree_sitter import Language, Query

from recollect.codebase.parse.languages import LANGUAGES


@cache
def grammar(language: str) -> Language:
    row = LANGUAGES[language]
    return Language(getattr(import_module(row.grammar), row.grammar_function)())


@cache
def query(language: str, name: str) -> Query:
    """What `queries/<language>/<name>.scm` asks of a tree."""
    text = files("recollect.codebase.parse").joinpath("queries", language, f"{name}.scm").read_text("utf-8")
    return Query(grammar(language), text)
