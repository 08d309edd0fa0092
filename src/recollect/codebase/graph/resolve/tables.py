"""Which resolver for which language. Files of one family see each other, and nothing else."""

from collections.abc import Callable, Mapping
from importlib import import_module

from recollect.codebase.facts import FileFacts
from recollect.codebase.graph.resolve.protocol import Resolver

_FAMILIES = {
    "python": ("python", "PythonResolver"),
    "script": ("script", "ScriptResolver"),
    "plain": ("plain", "PlainResolver"),
}

# A language that is not here has an outline, and no edges.
FAMILY_OF = {
    "python": "python",
    **dict.fromkeys(("javascript", "typescript", "tsx"), "script"),
    **dict.fromkeys(("go", "rust", "java", "c", "cpp", "ruby", "csharp", "php", "kotlin", "bash"), "plain"),
}


def resolver_for(
    family: str, files: Mapping[str, FileFacts], read: Callable[[str], bytes | None] = lambda path: None
) -> Resolver:
    """`files` are those of the family, by path; `read` gives the contents of a configuration file."""
    module, name = _FAMILIES[family]
    make: Callable[[Mapping[str, FileFacts], Callable[[str], bytes | None]], Resolver]
    make = getattr(import_module(f"recollect.codebase.graph.resolve.{module}"), name)
    return make(files, read)
