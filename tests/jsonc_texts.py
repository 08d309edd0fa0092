"""Configurations as people and programs write them: any indent, line end, comment and trailing comma."""

import json

from hypothesis import strategies as st

WORDS = st.sampled_from(
    ["theme", "env", "a b", "ключ", "//no comment", "/* nor this */", 'quo"te', "{", "hooks"]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-99, 99), WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)
OTHER_HOOKS = st.dictionaries(
    st.sampled_from(["SessionStart", "Stop", "Notification"]),
    st.lists(
        st.builds(
            lambda name: {"matcher": "*", "hooks": [{"type": "command", "command": f"{name} hook"}]},
            st.sampled_from(["other-tool", "/usr/bin/recollector", "my-recollect-like"]),
        ),
        max_size=2,
    ),
    max_size=3,
)
SERVERS = st.dictionaries(
    st.sampled_from(["github", "files"]), st.just({"command": "x", "args": ["mcp"]}), max_size=2
)


@st.composite
def configurations(draw) -> dict:
    data = {f"x{key}": value for key, value in draw(st.dictionaries(WORDS, VALUES, max_size=4)).items()}
    if draw(st.booleans()):
        data["hooks"] = draw(OTHER_HOOKS)
    if draw(st.booleans()):
        data["mcpServers"] = draw(SERVERS)
    names = draw(st.permutations(list(data)))
    return {name: data[name] for name in names}


@st.composite
def texts(draw) -> str:
    """A configuration in some way of writing it."""
    data = draw(configurations())
    if draw(st.booleans()):
        text = json.dumps(data, indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=False) + draw(
            st.sampled_from(["", "\n"])
        )
    else:
        text = _write(draw, data, "", draw(st.sampled_from(["  ", "\t"])))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def _write(draw, value, indent: str, unit: str) -> str:
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    pairs = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    lines = [
        (
            ""
            if key is None
            else json.dumps(key, ensure_ascii=False) + draw(st.sampled_from([": ", ":", " : "]))
        )
        + _write(draw, each, indent + unit, unit)
        for key, each in pairs
    ]
    text = ""
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        before = draw(
            st.sampled_from(
                ["", f"\n{indent}{unit}// a remark, with a comma", f"\n{indent}{unit}/* two\n lines */"]
            )
        )
        between = draw(st.sampled_from(["", "", " /* here */"]))
        after = draw(st.sampled_from(["", "", " // at the end }", " /* done */"]))
        text += f"{before}\n{indent}{unit}{line}{between}{comma}{after}"
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inside = (
        draw(st.sampled_from(["", "\n", " ", "\n// nothing here\n"])) if not lines else f"{text}\n{indent}"
    )
    return opening + inside + closing
