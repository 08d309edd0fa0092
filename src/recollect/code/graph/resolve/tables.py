"""Which resolver for which language. Files of one family see each other, and nothing else."""

from collections.abc import Callable, Collection, MutableMapping
from importlib import import_module

from recollect.code.facts import FileFacts
from recollect.code.graph.resolve.protocol import Resolver

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
    family: str,
    files: MutableMapping[str, FileFacts],
    read: Callable[[str], bytes | None] = lambda path: None,
    digest: bytes = b"",
    stale: Collection[str] = (),
) -> Resolver:
    """`files` are those of the family, by path, and the resolver's from now on; `read` gives the contents of a
    configuration file. With the `digest` of an earlier one not all of them are looked at, but those that are `stale`:
    different since then, new, or gone.
    """
    module, name = _FAMILIES[family]
    make: Callable[..., Resolver]
    make = getattr(import_module(f"recollect.code.graph.resolve.{module}"), name)
    return make(files, read, digest, stale) if digest else make(files, read)
