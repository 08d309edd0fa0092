"""What a symbol is called in the graph."""

from collections.abc import Sequence

from recollect.code.facts import FILE, Definition


def symbol_ids(path: str, definitions: Sequence[Definition]) -> list[str]:
    """`path::Outer.inner` for each definition, in order; a second one of that name in its scope ends in `#2`.

    A definition stands after the one it stands in.
    """
    ids: list[str] = []
    seen: dict[str, int] = {}
    for definition in definitions:
        inside = f"{path}::" if definition.scope == FILE else f"{ids[definition.scope]}."
        name = inside + definition.name
        seen[name] = count = seen.get(name, 0) + 1
        ids.append(name if count == 1 else f"{name}#{count}")
    return ids
